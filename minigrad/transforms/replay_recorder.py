"""The interpreter that notes what one call of a step computes, as it computes it.

It is the lowest of its thread: what the transforms of a step make of a call comes here.
What backward does with arrays it is told as an observer.
"""

from __future__ import annotations

import gc
import operator
import random
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad import errors
from minigrad.engine import interpreters, observe, randomness
from minigrad.engine.builtin import Builtin, BuiltinBackward
from minigrad.engine.core import accumulate
from minigrad.engine.core.backward import GraphTask
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import AccumulateGrad, _FunctionBase
from minigrad.engine.core.saved import Record
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import enable_grad, this_mode
from minigrad.engine.gradients import in_own_memory, inputs_of, target_of
from minigrad.engine.interpreters import (
    Interpreter,
    opened,
    opened_here,
    undispatched,
    with_stack,
)
from minigrad.engine.pytree import mapped
from minigrad.engine.views import CopySlices
from minigrad.transforms.replay_guard import Setting, watched_in
from minigrad.transforms.replay_notes import (
    Applied,
    Note,
    OnTensors,
    Ordered,
    Program,
    Rule,
    Slot,
    add_into,
    array_of,
    bump,
    copied,
    is_alive,
    kept_by,
    line_of_the_step,
    overwrite,
    refused,
    run_node,
    same,
    set_grad,
    taken_over,
)
from minigrad.transforms.transform import apply_of


class Known(NamedTuple):
    """A tensor that no noted call made, as it was when the step met it."""

    tensor: Tensor
    array: Array
    grad: Tensor | None
    requires_grad: bool
    version: int


class Recorder(Interpreter):
    """What a step computes in one call: ``notes``, and what it began from.

    Values are known by the identity of their arrays, which are kept meanwhile.
    """

    kind = "replay"
    is_lowest = True
    observes = observe.RECORDED

    def __init__(self, name: str, modes: tuple[Any, ...]) -> None:
        self.name = name
        self.modes = modes
        self.notes: list[Note] = []
        self.given: dict[int, tuple[Array, Array]] = {}
        self.known: dict[int, Known] = {}
        self.settings: dict[tuple[int, str], Setting] = {}
        self.optimizers: dict[int, tuple[Any, list[int]]] = {}
        self.needed_grads: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.refusal: errors.ReplayError | None = None
        self._slots: dict[int, Slot] = {}
        self._kept: list[Any] = []
        self._inputs: list[tuple[Tensor, Array]] = []
        self._starts: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._restores: list[Callable[[], object]] = []
        self._received: list[Any] = []
        self._waiting: dict[tuple[Any, ...], Any] = {}
        self._task: GraphTask | None = None
        self._alone: Any = None
        self._numbers = randomness.default_generator.numbers
        self._others = states_of_other_generators()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note what this thread computes inside the block."""
        with opened(self):
            observe.add(self)
            try:
                yield
            finally:
                observe.remove(self)

    def below(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``call(*args)``, which nobody notes."""
        return with_stack((), call, *args, **kwargs)

    def is_noting(self) -> bool:
        """Whether this thread runs the step, and not what is noted as a whole."""
        return self in opened_here()

    def refuse(self, what: str, fix: str) -> NoReturn:
        """Say that this step cannot be replayed, and which line of it makes it so."""
        error = refused(self.name, f"{line_of_the_step()}: {what}", fix)
        if self.refusal is None:
            self.refusal = error
        raise error

    # Values, and how a replay finds them again.

    def give(self, tree: Any) -> Any:
        """Inputs of the step: other tensors on the same values."""
        return mapped(self._input, tree)

    def _input(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        given = Tensor(value.array.view())
        self._new_slot(given.array)
        self._inputs.append((given, given.array.copy()))
        return given

    def spec(self, value: Any) -> Any:
        """How an argument, and each part of it, is found in a replay."""
        if isinstance(value, Tensor):
            self.meet(value)
            value = value.array
        if id(value) in self._slots:
            return self._slots[id(value)]
        if isinstance(value, np.ndarray):
            self._meet_array(value)
        if isinstance(value, dict):
            return {name: self.spec(one) for name, one in value.items()}
        if isinstance(value, tuple | list):
            parts, kind = [self.spec(one) for one in value], type(value)
            return kind(*parts) if hasattr(value, "_fields") else kind(parts)
        return value

    def _is_known(self, value: Any) -> bool:
        return id(value) in self._slots or id(value) in self.given

    def meet(self, tensor: Tensor) -> None:
        """Remember what a tensor is like, unless a noted call has made it."""
        if id(tensor.array) in self._slots or id(tensor) in self.known:
            return
        self._meet_array(tensor.array)
        grad, flag = tensor._grad, tensor._requires_grad
        known = Known(tensor, tensor.array, grad, flag, tensor._seen_version())
        self.known[id(tensor)] = known
        if grad is not None:
            self.meet(grad)

    def _meet_array(self, array: Array) -> None:
        if id(array) not in self.given:
            self.given[id(array)] = array, array.copy()

    def _start(self, restoring: Callable[..., Any], *args: Any) -> None:
        """Remember how something is before the step, to put it back."""
        self._starts.append((restoring, args))
        self._restores.append(restoring(*args))

    def _new_slot(self, value: Any) -> Slot:
        slot = self._slots[id(value)] = Slot(len(self._kept))
        self._kept.append(value)
        return slot

    def _result(self, value: Any) -> Slot | None:
        """Where a result goes; nowhere, if it is there already or no value."""
        is_value = isinstance(value, np.ndarray | np.generic | _FunctionBase)
        return None if self._is_known(value) or not is_value else self._new_slot(value)

    def _note(
        self, function: Any, args: tuple[Any, ...], result: Any, shape: Any = None
    ) -> None:
        """Remember a call that was made; ``args`` are as ``spec`` gives them."""
        slots: Any = self._result(result)
        if isinstance(result, tuple | list):
            slots = list(map(self._result, result))
        self.notes.append(Note(function, args, slots, shape, line_of_the_step()))

    # The interpreter: operations, in the order in which the step makes them.

    def apply(self, function: type[Function], inputs: tuple[Any, ...]) -> Any:
        """A Function, whose forward is noted as one call."""
        level = with_stack((), interpreters.top)
        if level is not None:
            return level.apply(function, inputs)
        specs = self.spec(inputs)
        result = self.below(apply_of(function), *inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        arrays = list(map(array_of, outputs))
        if not (isinstance(function, type) and issubclass(function, Builtin)):
            needs = [
                x._requires_grad if isinstance(x, Tensor) else None for x in inputs
            ]
            nodes = [one._grad_fn for one in outputs if isinstance(one, Tensor)]
            node = next((one for one in nodes if isinstance(one, _FunctionBase)), None)
            applied = Applied(function, tuple(needs), node is not None)
            self._note(applied, specs, [node, *arrays])
            return result
        is_ordered = lies_in_another_order(function, inputs)
        forward: Any = Ordered(function) if is_ordered else function.forward
        if isinstance(result, tuple):
            self._note(forward, specs, arrays)
        else:
            shape = arrays[0].shape
            is_fixed = function.elementwise and shape
            self._note(forward, specs, arrays[0], None if is_fixed else shape)
        return result

    def apply_in_place(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """An operation that overwrites a tensor."""
        level = with_stack((), interpreters.top)
        if level is not None:
            return level.apply_in_place(call, args, kwargs)
        operation, tensor, *others = args
        specs, old = self.spec((tensor, *others)), tensor.array.copy()
        if not tensor.array.flags.writeable:
            self.refuse(
                f"a tensor of shape {old.shape} is written that shows the memory of "
                "another several times",
                "write into that other tensor",
            )
        self.below(call, *args)
        changed = tensor if tensor._base is None else tensor._base
        node = changed._grad_fn.inner if is_part(changed) else changed._grad_fn
        for array in () if node is None else arrays_of(node):
            if not self._is_known(array) and same(array, old):
                self._note(copied, (specs[0],), array)
        self._note(overwrite, (operation, *specs), None)
        self._note_change(tensor)
        return tensor

    def change_shape(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A tensor shows its memory in another shape, or order."""
        tensor, _, operation, arguments, given, named = args
        if id(tensor.array) not in self._slots:
            self.exchange_values(call, args, kwargs)
        specs = self.spec(arguments(tensor, *given, **named))
        result = self.below(call, *args)
        self._note(operation.forward, specs, tensor.array)
        return result

    # Other dispatched functions.

    def read_values(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> NoReturn:
        """Refuse to let Python code have values: it does not run in a replay."""
        self.refuse(
            f"{READS.get(call.__name__, call.__name__)}() reads a value of shape "
            f"{tuple(args[0].shape)} into Python; a replay would go on with the value "
            "that it had when the step was recorded",
            "return the tensor from the step, and read it outside; in place of `if`, "
            "use minigrad.where",
        )

    number_in = read_values

    def exchange_values(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse to give a tensor other memory: a replay writes where it has read."""
        self.refuse(
            f"the values of a tensor of shape {args[0].array.shape}, which was there "
            "before, are replaced by others in other memory",
            "write into it: tensor.copy_(values)",
        )

    def from_values(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A function of tensors that is no operation: noted as it is."""
        if opened_here()[-1] is not self:  # under vmap, it comes once more for each
            return undispatched(call)(*args, **kwargs)
        specs = self.spec(args), self.spec(kwargs)
        result = self.below(undispatched(call), *args, **kwargs)
        several = isinstance(result, tuple)
        found: Any = tuple(map(array_of, result)) if several else array_of(result)
        self._note(
            OnTensors(undispatched(call)),
            specs,
            found,
            None if several else found.shape,
        )
        return result

    def draw_seed(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> int:
        """The random number of a dropout: each replay draws the next."""
        generator = randomness.default_generator.numbers.bit_generator
        self._start(restoring_attribute, generator, "state")
        number: int = self.below(undispatched(call))
        slot = self._new_slot(number)
        self.notes.append(Note(undispatched(call), (), slot, None, line_of_the_step()))
        return number

    def random_numbers(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> NoReturn:
        """Refuse all other random numbers."""
        self.refuse(
            "random numbers are drawn, and not by dropout",
            "draw them outside of the step, and give them in a tensor",
        )

    def optimizer_step(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A step of an optimizer: in a replay it is made as always."""
        optimizer = args[0]
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        counts = [len(group["params"]) for group in optimizer.param_groups]
        self.optimizers[id(optimizer)] = optimizer, counts
        for param in [p for group in optimizer.param_groups for p in group["params"]]:
            self.meet(param)
            self._start(restoring_state, optimizer.state, param)
        self.below(undispatched(call), optimizer)
        self._note(undispatched(call), (optimizer,), None)
        return loss

    # The observer: what backward does, and what is done to tensors.

    def module_entered(self, module: Any) -> None:
        """A module may compute otherwise if it is set otherwise."""
        if self.is_noting():
            for setting in watched_in(module):
                self.watch(setting)

    def watch(self, setting: Setting) -> None:
        """Remember a value that decides what the step does."""
        self.settings.setdefault((id(setting.found), setting.name), setting)

    def hook_called(self, kind: str, node: Any, slot: int, hook: Any, *_: Any) -> None:
        """Refuse hooks."""
        if self.is_noting():
            self.refuse(
                f"a hook, {getattr(hook, '__qualname__', hook)}, is called; a replay "
                "has no graph to call it from",
                "do what the hook does in the step itself",
            )

    def grad_assigned(self, tensor: Tensor, value: Tensor | None) -> None:
        """``.grad`` is set: mostly to None."""
        if self.is_noting():
            self.meet(tensor)
            self.needed_grads.setdefault(id(tensor), (tensor, tensor))
            self._note_grad(tensor, value)

    def _note_grad(self, tensor: Tensor, value: Tensor | None) -> None:
        if id(tensor) in self.known:
            self._note(set_grad, (weakref.ref(tensor), self.spec(value)), None)

    def _note_change(self, tensor: Tensor) -> None:
        """Count a change in place, also of the tensor that this one shows."""
        counter = tensor._version_counter
        counters = [one.tensor._version_counter for one in self.known.values()]
        if counter is not None and any([one is counter for one in counters]):
            self._note(bump, (weakref.ref(counter),), None)

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        """A gradient arrives at a leaf."""
        if not self.is_noting():
            return
        if id(leaf) in self.known:
            self.needed_grads.setdefault(id(leaf), (leaf, self.known[id(leaf)].grad))
        values = self.spec(array_of(gradient))
        if not first and not isinstance(gradient, Tensor):
            self._note(add_into, (self.spec(new.array), values), None)
            self._note_change(new)
            return
        if id(new.array) not in self._slots:
            args = values, self.spec(leaf.array)
            shown = [getattr(one, "base", None) is gradient for one in self._kept]
            may = not any(shown) and accumulate.can_be_grad(gradient, leaf.array)
            self._note(taken_over if may else accumulate.copied, args, new.array)
        self._note_grad(leaf, new)

    def backward_started(self, task: GraphTask) -> None:
        """The first gradients wait at their nodes."""
        if not task.carries_tensors and self.is_noting():
            for node, output_nr, gradient in task.roots:
                before = self._waiting.get((task, node, output_nr))
                total = gradient if before is None else before + gradient
                self.gradient_sent(task, None, 0, node, output_nr, gradient, total)
            for (_, node, output_nr), total in self._waiting.items():
                waits = task.waiting[node][output_nr] if node in task.waiting else total
                if id(total) in self._slots and not self._is_known(waits):
                    self._slots[id(waits)] = self._slots[id(total)]
                    self._kept.append(waits)

    def gradient_sent(self, task: GraphTask, node: Any, slot: int, *sent: Any) -> None:
        """Where gradients meet, they are added."""
        receiver, output_nr, gradient, total = sent
        if task.carries_tensors or not self.is_noting() or gradient is None:
            return
        place = task, receiver, output_nr
        if place in self._waiting and not self._is_known(total):
            summands = self.spec(self._waiting[place]), self.spec(gradient)
            self._note(operator.add, summands, total)
        self._waiting[place] = total

    def node_picked(self, task: GraphTask, node: Any, gradients: list[Any]) -> None:
        """A node is about to run: nothing it has kept is unknown."""
        if not self.is_noting() or isinstance(node, AccumulateGrad):
            return
        self._received = list(gradients)
        if id(node) in self._slots and not task.carries_tensors:
            self._alone = node, opened_here()
            this_mode().interpreters = ()
            return
        rule = node.inner if is_part(node) else node
        if isinstance(rule, BuiltinBackward) and any(
            [not isinstance(one, Tensor | Record | None) for one in rule._saved]
        ):  # what is unpacked may be read once only
            values = rule.saved_values
            rule._saved = tuple([None if x is None else Tensor(x) for x in values])
        if not all(map(self._is_known, arrays_of(rule))):
            self.refuse(
                f"the backward goes through {node.name()}, which has kept what no "
                "operation of the step has computed",
                "make the whole graph in the step, and save inputs and outputs alone",
            )

    def node_returned(self, task: GraphTask, node: Any, gradients: list[Any]) -> None:
        """A node has run."""
        if self._alone is not None and self._alone[0] is node:
            this_mode().interpreters, self._alone = self._alone[1], None
            args = self._slots[id(node)], *self.spec(self._received)
            self._note(run_node, args, tuple(gradients))
        elif not task.carries_tensors and self.is_noting() and gradients:
            rule = node.inner if is_part(node) else node
            kept = {name: self.spec(value) for name, value in kept_by(rule).items()}
            called = Rule(node, kept)
            args = self.spec(rule.saved_values), called.varying(kept)
            self._note(called, (*args, *self.spec(self._received)), tuple(gradients))
            if not any(self.notes[-1].result):
                self.notes.pop()  # it hands on what it got

    def sees_gradients(self) -> bool:
        """No: a backward is as it would be without the recording."""
        level = with_stack((), interpreters.top)
        return level is not None and level.sees_gradients()

    def backward_finished(self, task: GraphTask) -> None:
        """What it has found is there."""
        self._task = task

    def grad(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """``autograd.grad``, whose results are copies of what backward has found."""
        found = undispatched(call)(*args, **kwargs)
        wanted = inputs_of(args[1] if len(args) > 1 else kwargs["inputs"], "grad")
        results = found.values() if isinstance(found, dict) else found
        for place, (tensor, result) in enumerate(zip(wanted, results, strict=True)):
            gradient = self._task and self._task.captured.get(target_of(tensor, place))
            if gradient is not None and not self._is_known(result.array):
                self._note(in_own_memory, (self.spec(gradient),), result.array)
        return found

    # The end of the recording.

    def close(self) -> None:
        """See that nothing has changed that a replay would not change.

        Raises: ReplayError.
        """
        if self.refusal is not None:
            raise self.refusal
        for known in self.known.values():
            if known.tensor.array is not known.array:
                self.exchange_values(None, (known.tensor,), {})
        for given, values in self._inputs:
            if not same(given.array, values) or given._requires_grad:
                how = "made to require grad" if given._requires_grad else "changed"
                self.refuse(
                    f"an input of shape {values.shape} is {how} in place",
                    "work on a copy: x.clone()",
                )
        if randomness.default_generator._numbers is not self._numbers:
            self.refuse(
                "the random numbers are begun anew",
                "call minigrad.manual_seed outside of the step",
            )
        if self._others != states_of_other_generators():
            self.refuse(
                "random numbers of Python or NumPy are drawn",
                "draw them outside of the step, and give them in a tensor",
            )
        for setting in self.settings.values():
            if not setting.is_as_it_was():
                self.refuse(
                    f"{setting.name} of {setting.of} is {setting.current()!r:.60} "
                    f"after the step and was {setting.value!r:.60} before: a replay "
                    "does not run the Python code that changes it",
                    "change it outside of the step",
                )

    def program(self, returned: list[Any]) -> Program:
        """The notes as a program; the recording lets go of what the step has made."""
        notes, inputs = self.notes, len(self._inputs)
        known = [(weakref.ref(one.tensor), one[1:]) for one in self.known.values()]
        grads = [(weakref.ref(leaf), grad) for leaf, grad in self.needed_grads.values()]
        self.notes, self.known, self.needed_grads = [], {}, {}
        self._slots, self._kept, self._inputs = {}, [], []
        self._waiting, self._received, self._task = {}, [], None
        gc.collect()  # what is still there is state
        for reference, facts in known:
            if (tensor := reference()) is not None:
                self.known[id(tensor)] = Known(tensor, *facts)
        for reference, grad in grads:
            if (tensor := reference()) is not None:
                self.needed_grads[id(tensor)] = tensor, grad
        lasting = [note for note in notes if all(map(is_alive, note.args))]
        for note in lasting:
            if note.function is bump:
                counter = note.args[0]()
                self._starts.append((restoring_attribute, (counter, "value")))
        return Program(self.name, lasting, inputs, returned)

    def look_again(self) -> None:
        """Another call of the step begins, from other values."""
        for key, (array, _) in self.given.items():
            self.given[key] = array, array.copy()
        for key, one in self.known.items():
            tensor, version = one.tensor, one.tensor._seen_version()
            self.known[key] = one._replace(grad=tensor._grad, version=version)
        self._restores = [restoring(*args) for restoring, args in self._starts]

    def restore(self) -> None:
        """Put back all values that were there before the step."""
        for array, before in reversed(self.given.values()):
            if not same(array, before):
                array[...] = before
        for known in reversed(self.known.values()):
            known.tensor._grad = known.grad
            if known.tensor._seen_version() != known.version:
                counter: Any = known.tensor._version_counter
                counter.value = known.version
        for restore in self._restores:
            restore()

    def values_after(self, returned: list[Any]) -> dict[str, Any]:
        """Copies of all that a step leaves behind."""
        found: dict[str, Any] = {}
        for number, value in enumerate(returned, 1):
            is_tensor = isinstance(value, Tensor)
            found[f"result {number}"] = value.array.copy() if is_tensor else value
        for number, (array, _) in enumerate(self.given.values(), 1):
            found[f"array {number}, of shape {array.shape}"] = array.copy()
        for number, (tensor, array, *_) in enumerate(self.known.values(), 1):
            of = f"of tensor {number}, of shape {array.shape}"
            grad = tensor._grad
            found[f"the gradient {of}"] = None if grad is None else grad.array.copy()
            found[f"the version {of}"] = tensor._seen_version()
        return found


READS = {
    "__bool__": "if, or bool",
    "__index__": "an index, or int",
    "number_in": "an index, or int",
    "__contains__": "in, or any",
    "__reduce_ex__": "copy.copy, or pickle.dumps",
    "__deepcopy__": "copy.deepcopy",
    "__repr__": "print, or repr",
    "__format__": "format",
    "values_of": "minigrad.tensor",
}
"""How messages call what reads a value, where that has no name to be called by."""


def restoring_attribute(owner: Any, name: str) -> Callable[[], None]:
    """What puts back an attribute."""
    value = getattr(owner, name)
    return lambda: setattr(owner, name, value)


def restoring_state(states: Any, param: Tensor) -> Callable[[], None]:
    """What puts back what an optimizer keeps for a parameter."""
    state = states.get(param)
    before = dict(state or {})
    tensors = [one for one in before.values() if isinstance(one, Tensor)]
    values = [(one, one.array.copy(), one._version) for one in tensors]

    def restore() -> None:
        states.pop(param, None)
        if state is not None:
            state.clear()
            state.update(before)
            states[param] = state
        for tensor, array, version in values:
            tensor.array[...] = array
            if tensor._version_counter is not None:
                tensor._version_counter.value = version

    return restore


def lies_in_another_order(function: type[Builtin], inputs: tuple[Any, ...]) -> bool:
    """Whether apply sees to the order of the result's elements in memory."""
    arrays = [one.array for one in inputs if isinstance(one, Tensor)]
    apart = [one for one in arrays if not one.flags.c_contiguous]
    if function.in_rows:
        return bool(apart)
    bases = [base for base in function.__mro__ if base is not Builtin]
    own = any(["_in_memory_order" in vars(base) for base in bases])
    return (function.elementwise or own) and any([one.ndim > 1 for one in apart])


def is_part(value: Any) -> bool:
    """Whether it is, or was made by, the node of a change of a view in place."""
    return isinstance(getattr(value, "_grad_fn", value), CopySlices)


def arrays_of(node: Any) -> Iterator[Array]:
    """What a node has saved, and the arrays among its attributes."""
    kept = kept_by(node) if isinstance(node, BuiltinBackward) else vars(node)
    waiting = [*node._saved, *kept.values()]
    while waiting:
        value = waiting.pop()
        value = array_of(value.tensor if isinstance(value, Record) else value)
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple | list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()


def states_of_other_generators() -> tuple[Any, Any]:
    """Those of Python, and of NumPy, that everybody shares."""
    of_numpy: Any = np.random.get_state()
    name, numbers, *more = of_numpy
    return random.getstate(), (name, bytes(numbers), *more)
