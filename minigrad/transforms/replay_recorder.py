"""The interpreter that notes what one call of a step computes, as it computes it.

It is the lowest of its thread: what the transforms of a step make of a call comes here.
What backward does with arrays it is told as an observer.
"""

from __future__ import annotations

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
from minigrad.engine.core.backward import GraphTask, fit
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import AccumulateGrad, _FunctionBase
from minigrad.engine.core.saved import Record
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.geometry import AsStrided, ReplaceShown
from minigrad.engine.grad_mode import enable_grad, this_mode
from minigrad.engine.gradients import in_own_memory, inputs_of, target_of
from minigrad.engine.interpreters import Interpreter, inner, opened, with_stack
from minigrad.engine.structural import CloneInRows
from minigrad.engine.views import CopySlices
from minigrad.transforms.replay_guard import Setting, watched_in
from minigrad.transforms.replay_notes import (
    Applied,
    Given,
    Leaf,
    Note,
    OnTensors,
    Rule,
    Slot,
    add_into,
    array_of,
    bump,
    copied,
    holds_arrays,
    in_order,
    kept_by,
    line_of_the_step,
    overwrite,
    refused,
    run_node,
    same,
    set_grad,
    slots_in,
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
    attends = observe.RECORDED

    def __init__(self, name: str, modes: tuple[Any, ...]) -> None:
        self.name = name
        self.modes = modes
        self.notes: list[Note] = []
        self.given: dict[int, Given] = {}
        self.known: dict[int, Known] = {}
        self.settings: dict[tuple[int, str], Setting] = {}
        self.optimizers: dict[int, tuple[Any, list[int]]] = {}
        self.needed_grads: list[tuple[Tensor, Tensor | None]] = []
        self.refusal: errors.ReplayError | None = None
        self._mode = this_mode()
        self._is_deaf = False
        self._slots: dict[int, Slot] = {}
        self._kept: list[Any] = []
        self._inputs: list[tuple[Tensor, Array]] = []
        self._states: list[tuple[Any, Tensor, Any]] = []
        self._ctx: Any = None
        self._received: list[Any] = []
        self._waiting: dict[tuple[Any, int], Any] = {}
        self._applied: set[Any] = set()
        self._generator: Any = None
        self._assigned: set[int] = set()
        self._counts: list[tuple[Tensor, int]] = []
        self._alone: Any = None
        self._task: Any = None
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

    def is_mine(self) -> bool:
        """Whether the thread of the step runs, and what it does is to be noted."""
        return not self._is_deaf and this_mode() is self._mode

    def refuse(self, what: str, fix: str) -> NoReturn:
        """Say that this step cannot be replayed, and which line of it makes it so."""
        error = refused(self.name, f"{line_of_the_step()}: {what}", fix)
        if self.refusal is None:
            self.refusal = error
        raise error

    # Values, and how a replay finds them again.

    def give(self, tensor: Tensor) -> Tensor:
        """An input of the step: another tensor on the same values."""
        given = Tensor(tensor.array.view())
        self._new_slot(given.array)
        self._inputs.append((given, given.array.copy()))
        return given

    def spec(self, value: Any) -> Any:
        """How an argument, and each part of it, is found in a replay."""
        if isinstance(value, Tensor):
            self.meet(value)
            value = value.array
        slot = self._slots.get(id(value))
        if slot is not None:
            return slot
        if isinstance(value, np.ndarray):
            return self._given(value)
        if isinstance(value, dict):
            return {name: self.spec(one) for name, one in value.items()}
        if isinstance(value, tuple | list):
            parts = [self.spec(one) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value

    def meet(self, tensor: Tensor) -> None:
        """Remember what a tensor is like, unless a noted call has made it."""
        if id(tensor.array) in self._slots or id(tensor) in self.known:
            return
        self._given(tensor.array)
        grad, flag = tensor._grad, tensor._requires_grad
        known = Known(tensor, tensor.array, grad, flag, tensor._seen_version())
        self.known[id(tensor)] = known
        if grad is not None:
            self.meet(grad)

    def _given(self, array: Array) -> Given:
        if id(array) not in self.given:
            self.given[id(array)] = Given(array)
        return self.given[id(array)]

    def _new_slot(self, value: Any) -> Slot:
        slot = self._slots[id(value)] = Slot(len(self._kept))
        self._kept.append(value)
        return slot

    def _result(self, value: Any) -> Slot | None:
        """Where a result goes; nowhere, if it is there already or no array."""
        is_array = isinstance(value, np.ndarray | np.generic | _FunctionBase)
        if not is_array or id(value) in self._slots or id(value) in self.given:
            return None
        return self._new_slot(value)

    def _note(
        self, function: Any, args: tuple[Any, ...], result: Any, shape: Any = None
    ) -> None:
        """Remember a call that was made; ``args`` are as ``spec`` gives them."""
        several = isinstance(result, tuple | list)
        slots = [self._result(one) for one in result] if several else self._result(result)
        self.notes.append(Note(function, args, slots, shape, line_of_the_step()))

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function of arrays, and note it."""
        specs = self.spec(args)
        result = function(*args)
        self._note(function, specs, result)
        return result

    # The interpreter: operations, in the order in which the step makes them.

    def apply(self, function: type[Function], inputs: tuple[Any, ...]) -> Any:
        """A Function, whose forward is noted as one call."""
        level = with_stack((), interpreters.top)
        if level is not None:
            return level.apply(function, inputs)
        if not self.is_mine():
            return self.below(apply_of(function), *inputs)
        specs = self.spec(inputs)
        self._ctx = None
        result = self.below(apply_of(function), *inputs)
        ctx, self._ctx = self._ctx, None
        outputs = result if isinstance(result, tuple) else (result,)
        arrays = list(map(array_of, outputs))
        if not issubclass(function, Builtin) or not self._knows(ctx, arrays):
            self._note_applied(function, inputs, specs, outputs, ctx)
            return result
        checked = None if function.elementwise and arrays[0].ndim else arrays[0].shape
        if isinstance(result, tuple):
            self._note(function.forward, specs, tuple(arrays))
            return result
        if not lies_in_another_order(function, inputs):
            self._note(function.forward, specs, arrays[0], checked)
            return result
        unordered = np.empty(())  # stands for what forward has returned
        self._note(function.forward, specs, unordered)
        operands = [one for one in specs if isinstance(one, Slot | Given)]
        args = function, self._slots[id(unordered)], operands
        self._note(in_order, args, arrays[0], arrays[0].shape)
        return result

    def _knows(self, ctx: Any, outputs: list[Array]) -> bool:
        """Whether a node has kept nothing but what its Function got and gave."""
        if ctx is None:
            return True
        known = self._slots.keys() | self.given.keys() | set(map(id, outputs))
        return {id(one) for one in arrays_of(ctx)} <= known

    def _note_applied(
        self,
        function: Any,
        inputs: tuple[Any, ...],
        specs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        ctx: Any,
    ) -> None:
        """A Function of which the whole apply, and its node, is called again."""
        if not isinstance(function, type):  # vmap has something of its own there
            self.refuse(
                f"{function.function.__name__} runs in a transform that a replay "
                "cannot look into",
                "give the Function a setup_context, or leave out the transform",
            )
        needs = tuple(
            [one._requires_grad if isinstance(one, Tensor) else None for one in inputs]
        )
        made = [one for one in outputs if isinstance(one, Tensor)]
        is_recorded = ctx is not None and any([one._grad_fn is ctx for one in made])
        node = ctx if is_recorded else None
        if is_recorded:
            self._applied.add(ctx)
        applied = Applied(function, needs, is_recorded)
        self._note(applied, specs, [node, *map(array_of, outputs)])

    def apply_in_place(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """An operation that overwrites a tensor."""
        level = with_stack((), interpreters.top)
        if level is not None:
            return level.apply_in_place(call, args, kwargs)
        if not self.is_mine():
            return self.below(call, *args)
        operation, tensor, *others = args
        specs = self.spec((tensor, *others))
        old = tensor.array.copy()
        if not tensor.array.flags.writeable:
            self.refuse(
                f"a tensor of shape {old.shape} is written that shows the memory of "
                "another several times",
                "write into that other tensor",
            )
        self._ctx = None
        self.below(call, *args)
        for array in () if self._ctx is None else arrays_of(self._ctx):
            if id(array) not in self._slots.keys() | self.given.keys():
                if not same(array, old):
                    self.refuse(f"{operation.__name__} keeps values", "call it anew")
                self._note(copied, (specs[0],), array)
        self._note(overwrite, (operation, *specs), None)
        return tensor

    def change_shape(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A tensor shows its memory in another shape, or order."""
        tensor, _, operation, arguments, given, named = args
        specs = self.spec(arguments(tensor, *given, **named))
        if id(tensor) in self.known and self.is_mine():
            self.exchange_values(call, args, kwargs)
        result = self.below(call, *args)
        if self.is_mine():
            self._note(operation.forward, specs, tensor.array)
        return result

    # The doors of other functions.

    def read_values(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse to let Python code have values: it does not run in a replay."""
        if not self.is_mine():
            return inner(call)(*args, **kwargs)
        how = READS.get(call.__name__, f"{call.__name__}()")
        self.refuse(
            f"{how} reads a value of shape {tuple(args[0].shape)} into Python; a "
            "replay would go on with the value that it had when the step was recorded",
            "return the tensor from the step, and read it outside; in place of `if`, "
            "use minigrad.where",
        )

    number_in = read_values

    def exchange_values(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse to give a tensor other memory: a replay writes where it has read."""
        if not self.is_mine():
            return inner(call)(*args, **kwargs)
        self.refuse(
            f"the values of a tensor of shape {args[0].array.shape}, which was there "
            "before, are replaced by others in other memory",
            "write into it: tensor.copy_(values)",
        )

    def from_values(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A function of tensors that is no operation: noted as it is."""
        is_boxed = [type(one).__name__ == "BatchedTensor" for one in args]
        if not self.is_mine() or any(is_boxed):
            return inner(call)(*args, **kwargs)
        specs = self.spec(args), self.spec(kwargs)
        result = self.below(inner(call), *args, **kwargs)
        several = isinstance(result, tuple)
        found = tuple(map(array_of, result)) if several else array_of(result)
        shape = None if several else found.shape
        self._note(OnTensors(inner(call)), specs, found, shape)
        return result

    def draw_seed(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> int:
        """The random number of a dropout: each replay draws the next."""
        if self._generator is None and self.is_mine():
            numbers = randomness.default_generator.numbers
            self._generator = numbers.bit_generator.state
        number: int = self.below(inner(call))
        if self.is_mine():
            slot = self._new_slot(number)
            self.notes.append(Note(inner(call), (), slot, None, line_of_the_step()))
        return number

    def random_numbers(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse all other random numbers."""
        if not self.is_mine():
            return inner(call)(*args, **kwargs)
        self.refuse(
            "random numbers are drawn, and not by dropout",
            "draw them outside of the step, and give them in a tensor",
        )

    def optimizer_step(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A step of an optimizer: in a replay it is made as always."""
        if not self.is_mine():
            return inner(call)(*args, **kwargs)
        optimizer, closure, *_ = (*args, *kwargs.values(), None)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        counts = [len(group["params"]) for group in optimizer.param_groups]
        self.optimizers[id(optimizer)] = optimizer, counts
        for param in [p for group in optimizer.param_groups for p in group["params"]]:
            self.meet(param)
            state = optimizer.state.get(param)
            kept = None if state is None else (state, dict(state))
            self._states.append((optimizer, param, kept))
            for value in (state or {}).values():
                if isinstance(value, Tensor):
                    self._given(value.array)
                    self._counts.append((value, value._seen_version()))
        self._is_deaf = True
        try:
            inner(call)(optimizer)
        finally:
            self._is_deaf = False
        self._note(inner(call), (optimizer,), None)
        return loss

    # The observer: what backward does, and what is done to tensors.

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        """The node of the operation that runs."""
        if self.is_mine():
            self._ctx = ctx

    def module_entered(self, module: Any) -> None:
        """A module may compute otherwise if it is set otherwise."""
        if self.is_mine():
            for setting in watched_in(module):
                self.watch(setting)

    def watch(self, setting: Setting) -> None:
        """Remember a value that decides what the step does."""
        self.settings.setdefault((id(setting.found), setting.name), setting)

    def hook_called(self, kind: str, node: Any, slot: int, hook: Any, *_: Any) -> None:
        """Refuse hooks."""
        if self.is_mine():
            self.refuse(
                f"a hook, {getattr(hook, '__qualname__', hook)}, is called; a replay "
                "has no graph to call it from",
                "do what the hook does in the step itself",
            )

    def changed_in_place(self, tensor: Tensor) -> None:
        """The count of changes goes up, also of the tensor that this one shows."""
        if not self.is_mine():
            return
        counter = tensor._version_counter
        for known in self.known.values():
            if known.tensor is tensor or (
                counter is not None and known.tensor._version_counter is counter
            ):
                self._note(bump, (Leaf(known.tensor),), None)
                return

    def grad_assigned(self, tensor: Tensor, value: Tensor | None) -> None:
        """``.grad`` is set: mostly to None."""
        if self.is_mine():
            self.meet(tensor)
            self._assigned.add(id(tensor))
            self._note_grad(tensor, value)

    def _note_grad(self, tensor: Tensor, value: Tensor | None) -> None:
        if id(tensor) in self.known:
            self._note(set_grad, (Leaf(tensor), self.spec(value)), None)

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        """A gradient arrives at a leaf."""
        if not self.is_mine():
            return
        if id(leaf) in self.known and id(leaf) not in self._assigned:
            self.needed_grads.append((leaf, self.known[id(leaf)].grad))
            self._assigned.add(id(leaf))
        values = self.spec(array_of(gradient))
        if not first and not isinstance(gradient, Tensor):
            self._note(add_into, (self.spec(new.array), values), None)
        elif first and id(new.array) not in self._slots:
            args = values, self.spec(leaf.array)
            self._note(accumulate.copied, args, new.array)
        if first or new is not self.known[id(leaf)].grad:
            self._note_grad(leaf, new)

    def backward_started(self, task: GraphTask) -> None:
        """Roots at the same place are added."""
        if task.carries_tensors or not self.is_mine():
            return
        for node, slot, gradient in task.roots:
            self._add(task, node, slot, gradient)
        for (_, node, slot), total in self._waiting.items():
            if node in task.waiting:
                self._take_for(total, task.waiting[node][slot])

    def _add(self, task: GraphTask, node: Any, slot: int, gradient: Any) -> Any:
        before = self._waiting.get((task, node, slot))
        if gradient is not None:
            total = gradient if before is None else self.call(operator.add, before, gradient)
            self._waiting[task, node, slot] = total
            return total
        return before

    def gradient_sent(
        self,
        task: GraphTask,
        node: Any,
        slot: int,
        receiver: Any,
        receiver_slot: int,
        gradient: Any,
        total: Any,
    ) -> None:
        """Gradients meet."""
        if not task.carries_tensors and self.is_mine() and gradient is not None:
            found = self._add(task, receiver, receiver_slot, gradient)
            self._take_for(found, total)

    def _take_for(self, mine: Any, engines: Any) -> None:
        """What a noted call has given, for what the engine computed at the same time."""
        if engines is None or mine is engines:
            return
        if id(engines) not in self._slots and id(engines) not in self.given:
            self._slots[id(engines)] = self.spec(mine)
            self._kept.append(engines)

    def node_picked(self, task: GraphTask, node: Any, gradients: list[Any]) -> None:
        """A node is about to run."""
        if not self.is_mine() or isinstance(node, AccumulateGrad):
            return
        if task.carries_tensors:
            if node in self._applied and not self._knows(node, []):
                self.refuse(
                    f"{node.name()} is differentiated once more, and has kept what its "
                    "forward computed inside",
                    "let forward save its inputs and outputs alone",
                )
            return
        self._received = list(gradients)
        if node in self._applied:
            self._is_deaf, self._alone = True, node
        elif isinstance(node, BuiltinBackward):
            is_packed = [not isinstance(x, Tensor | Record | None) for x in node._saved]
            if any(is_packed):  # what is unpacked may be read once only
                node._saved = tuple(
                    [None if x is None else Tensor(x) for x in node.saved_values]
                )

    def node_returned(
        self, task: GraphTask, node: Any, gradients: tuple[Any, ...]
    ) -> None:
        """A node has run; the rule of a built-in operation runs again, noted."""
        if self._alone is node:
            self._is_deaf, self._alone = False, None
            args = self._slots[id(node)], *self.spec(self._received)
            self._note(run_node, args, gradients)
        if task.carries_tensors or not self.is_mine() or not gradients:
            return
        if node in self._applied:
            return
        for slot, gradient in enumerate(self._rule(node, self._received)):
            if gradients[slot] is not None:
                self._take_for(self._fitted(node, slot, gradient), gradients[slot])

    def _rule(self, node: Any, gradients: list[Any]) -> list[Any]:
        """Run the rule of a node, and note it."""
        if all([gradient is None for gradient in gradients]):
            return []
        if isinstance(node, CopySlices):
            return self._rule_of_part(node, gradients[0])
        if not isinstance(node, BuiltinBackward):
            self.refuse(
                f"the backward goes through {node.name()}, which was made outside of "
                "the step",
                "make the whole graph in the step",
            )
        kept = {name: (value, self.spec(value)) for name, value in kept_by(node).items()}
        names = tuple([name for name, (_, spec) in kept.items() if holds_arrays(spec)])
        saved = node.saved_values
        rule = Rule(node, names)
        returned = rule(saved, tuple([kept[name][0] for name in names]), *gradients)
        varying = tuple([kept[name][1] for name in names])
        self._note(rule, (self.spec(saved), varying, *self.spec(gradients)), returned)
        if not any(slots_in(self.notes[-1].result)):
            self.notes.pop()  # it hands on what it got
        return list(returned) if isinstance(returned, tuple) else [returned]

    def _rule_of_part(self, node: CopySlices, gradient: Any) -> list[Any]:
        """The rule of a change in place of a view, and what surrounds it."""
        where = node.geometry
        part = self.call(CloneInRows.of, self.call(AsStrided.of, gradient, where))
        found = self._rule(node.inner, [part])
        if found[node.slot] is not None:
            args = gradient, found[node.slot], where
            found[node.slot] = self.call(ReplaceShown.of, *args)
        return found

    def _fitted(self, node: Any, slot: int, gradient: Any) -> Any:
        """A gradient in the shape and dtype that its receiver has."""
        edge = node._edges[slot]
        receiver, output_nr = edge if type(edge) is tuple else (edge, 0)
        shape, dtype = receiver._output_metadata[output_nr]
        if gradient.shape != shape:
            gradient = self.call(Tensor._sum_to, gradient, shape)
        if dtype is not None and gradient.dtype != dtype:
            gradient = self.call(Tensor._to_dtype, gradient, dtype)
        return gradient

    def traversal(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A backward as it would be: on arrays."""
        level = with_stack((), interpreters.top)
        if level is not None:
            return level.traversal(call, args, kwargs)
        self._task = inner(call)(*args, **kwargs)
        return self._task

    def grad(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """``autograd.grad``, whose results are copies of what backward has found."""
        found = inner(call)(*args, **kwargs)
        if not self.is_mine() or self._task.carries_tensors:
            return found
        wanted = inputs_of(args[1] if len(args) > 1 else kwargs["inputs"], "grad")
        results = found.values() if isinstance(found, dict) else found
        for place, (tensor, result) in enumerate(zip(wanted, results, strict=True)):
            gradient = self._task.captured.get(target_of(tensor, place))
            if gradient is not None and id(result.array) not in self._slots:
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

    def restore(self) -> None:
        """Put back all values that were there before the step."""
        for given in reversed(self.given.values()):
            if given.is_changed():
                given.array[...] = given.seen
        counts = [(known.tensor, known.version) for known in self.known.values()]
        for tensor, version in [*counts, *self._counts]:
            if tensor._seen_version() != version:
                tensor._version_counter.value = version  # type: ignore[union-attr]
        for known in self.known.values():
            known.tensor._grad = known.grad
        for optimizer, param, kept in self._states:
            optimizer.state.pop(param, None)
            if kept is not None:
                state, values = kept
                state.clear()
                state.update(values)
                optimizer.state[param] = state
        if self._generator is not None:
            numbers = randomness.default_generator.numbers
            numbers.bit_generator.state = self._generator

    def release(self) -> None:
        """Keep nothing alive: what lives on all the same is state."""
        arrays = [one for one in self._kept if type(one) is np.ndarray]
        self.made = {id(one): weakref.ref(one) for one in arrays}
        known = self.known.items()
        self.tensors = {key: weakref.ref(one.tensor) for key, one in known}
        for given in self.given.values():
            given.array = None
        self._slots, self._kept, self._inputs, self._states = {}, [], [], []
        self.known, self._counts, self._waiting, self._received = {}, [], {}, []
        self.needed_grads, self._applied, self._task, self._ctx = [], set(), None, None


READS = {
    "__bool__": "if, or bool(),",
    "__index__": "an index",
    "number_in": "an index",
    "__contains__": "in",
    "__reduce_ex__": "copy or pickle",
    "__deepcopy__": "copy.deepcopy()",
    "__repr__": "print(), or repr(),",
    "__format__": "format()",
    "values_of": "minigrad.tensor(), or an index,",
}
"""How messages call what reads a value, where that has no name to be called by."""


def lies_in_another_order(function: type[Builtin], inputs: tuple[Any, ...]) -> bool:
    """Whether apply sees to the order of the result's elements in memory."""
    arrays = [one.array for one in inputs if isinstance(one, Tensor)]
    apart = [one for one in arrays if not one.flags.c_contiguous]
    if function.in_rows:
        return bool(apart)
    return function.elementwise and any([one.ndim > 1 for one in apart])


def arrays_of(ctx: Any) -> Iterator[Array]:
    """What a node has saved, and the arrays among its attributes."""
    kept = kept_by(ctx) if isinstance(ctx, BuiltinBackward) else dict(vars(ctx))
    waiting = [*ctx._saved, *kept.values()]
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
