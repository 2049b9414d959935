"""``replay``: what a step computes is recorded once, and then run without the graph."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from minigrad import errors
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.interpreters import opened_here
from minigrad.engine.silence import NUMPY_WARNINGS, SILENCE
from minigrad.engine.trees import Structure, flatten, mapped, unflatten
from minigrad.transforms.replay_guard import (
    Arguments,
    Guard,
    modes,
    refuse_listeners,
    settings_of,
)
from minigrad.transforms.replay_notes import (
    OF_TENSORS,
    Given,
    Leaf,
    Note,
    Program,
    Slot,
    name_of,
    refused,
    same,
)
from minigrad.transforms.replay_recorder import Known, Recorder

__all__ = ["Replay", "replay"]


def replay(step: Callable[..., Any]) -> Replay:
    """The step as a function that goes through its calls again, without the graph.

    ``step`` is a whole training step: gradients to None, loss, backward, optimizer. Its
    first call runs as it is; the second and the third are recorded, and compared to the
    bit with what was recorded. Later calls run that: the bodies of the operations and
    of their rules, in the same order, on the arrays of the new arguments. Parameters,
    optimizer states, running statistics, dropout's random numbers, versions and
    ``.grad`` change as in the step. It returns tensors without a graph. The Python code
    of the step does not run: no ``print`` and no count in it.

    Raises: ReplayError while recording, if the step reads a tensor's value into Python,
    changes its inputs, or computes from other numbers than in the call before; and
    later, if an argument has another shape, dtype, memory layout or (being no tensor)
    value, if a tensor of the step was replaced or a module set otherwise, and while
    hooks, a recorder, anomaly mode, forward mode or a transform are to see the graph.
    The options of optimizers may change. What is refused has changed no value.
    Not noticed is what changes only later and stands neither in the code of the step,
    or of a function that it names, nor in a module that it calls: a number that a
    method of an object takes from it, a branch on a clock. Give it as an argument.

    >>> w = minigrad.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = minigrad.optim.SGD([w], lr=0.5)
    >>> def step(x):
    ...     optimizer.zero_grad()
    ...     loss = ((w - x) ** 2).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> fast = minigrad.nn.replay(step)
    >>> [fast(minigrad.tensor([3.0, i])).item() for i in (3.0, 2.0, 2.0, 4.0)]
    [5.0, 1.0, 0.0, 4.0]
    >>> w
    tensor([3., 4.], requires_grad=True)
    """
    return Replay(step)


class Replay:
    """What ``replay`` makes of a step; ``is_recorded`` after its third call.

    ``text`` is then the program that runs in place of the step.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._step = step
        self._name = getattr(step, "__name__", type(step).__name__)
        self._has_run = False
        self._first: tuple[Arguments, Recorder, list[Any]] | None = None
        self._recorded: tuple[Guard, Arguments, Program, Structure] | None = None
        self._lock = threading.RLock()

    @property
    def is_recorded(self) -> bool:
        """Whether calls run what was recorded."""
        return self._recorded is not None

    @property
    def text(self) -> str:
        """The source of the program; nothing before it is recorded."""
        return "" if self._recorded is None else self._recorded[2].text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any([one.kind == "replay" for one in opened_here()]):
            # A part of another step, which is being recorded.
            return mapped(without_graph, self._step(*args, **kwargs))
        with self._lock:
            if self._recorded is not None:
                guard, arguments, program, structure = self._recorded
                guard.check()
                leaves = run(program, arguments.arrays(args, kwargs))
                return unflatten(leaves, structure)
            if self._has_run:
                return mapped(without_graph, self._record(args, kwargs))
            result = self._step(*args, **kwargs)
            self._has_run = True
            return mapped(without_graph, result)

    def _record(self, args: Any, kwargs: Any) -> Any:
        """Run the step once and note it; the second time, compare.

        Raises: ReplayError, after all values are again as they were before.
        """
        refuse_listeners(self._name)
        arguments = Arguments(self._name, args, kwargs)
        if self._first is not None:
            self._first[0].arrays(args, kwargs)
        recorder = Recorder(self._name, modes())
        try:
            result = self._noted(recorder, arguments)
            leaves, structure = flatten(result)
            returned = [recorder.spec(leaf) for leaf in leaves]
            if self._first is None:
                recorder.release()
                self._first = arguments, recorder, [str(structure), *returned]
            else:
                pair = Comparison(self._first[1], recorder)
                pair.check(self._first[2], [str(structure), *returned])
                program = self._tried(pair, arguments, leaves, returned)
                guard = Guard(recorder, pair.state())
                self._recorded = guard, arguments, program, structure
                self._first = None
        except Exception as error:
            refusal = recorder.refusal
            if refusal is not None or isinstance(error, errors.ReplayError):
                recorder.restore()
            if refusal is not None and error is not refusal:
                raise refusal from error  # NumPy or the step has made another of it
            raise
        return result

    def _noted(self, recorder: Recorder, arguments: Arguments) -> Any:
        """Run the step on the arguments; what it computes is noted."""
        for setting in settings_of(self._step):
            recorder.watch(setting)
        leaves = [
            recorder.give(leaf) if isinstance(leaf, Tensor) else leaf
            for leaf in arguments.leaves
        ]
        args, kwargs = unflatten(leaves, arguments.structure)
        with recorder.listening():
            result = self._step(*args, **kwargs)
        recorder.close()
        return result

    def _tried(
        self, pair: Comparison, arguments: Arguments, leaves: list[Any], returned: Any
    ) -> Program:
        """The program, which has run where the step has, and computed the same bits.

        Raises: ReplayError if it has not.
        """
        recorder = pair.second
        known = {id(one.tensor): one.tensor for one in pair.state()}
        specs = [
            known.get(id(leaf), spec)
            for leaf, spec in zip(leaves, returned, strict=True)
        ]
        arrays = [leaf.array for leaf in arguments.leaves if isinstance(leaf, Tensor)]
        program = Program(self._name, pair.notes, len(arrays), specs)
        wanted = values_after(recorder, leaves)
        recorder.restore()
        found = values_after(recorder, run(program, arrays))
        differing = [name for name in wanted if not same(wanted[name], found.get(name))]
        if differing:
            raise refused(
                self._name,
                f"what was recorded computes other values than the step: "
                f"{', '.join(differing)}",
                "write values by operations, not into tensor.array; or call the step "
                "itself, and please report what it does",
            )
        return program


class Comparison:
    """Two recordings of a step, which have to be alike.

    An array that both were given is state. One that each was given for itself is a
    constant, if it has the same values, and nothing else has kept it.
    """

    def __init__(self, first: Recorder, second: Recorder) -> None:
        self.first, self.second = first, second
        self.notes: list[Note] = []
        self._are_alike: dict[Given, bool] = {}

    def check(self, returned: list[Any], again: list[Any]) -> None:
        """Take the notes of the second recording.

        Raises: ReplayError with the first difference.
        """
        first, second = self.first, self.second
        for a, b in zip(first.notes, second.notes, strict=False):
            called = a.function == b.function and a.shape == b.shape
            if not called or not self._alike([a.args, a.result], [b.args, b.result]):
                self._refuse(
                    f"{b.where}: {name_of(b)} computes from other numbers or tensors, "
                    f"or something else, than in the call before (there {name_of(a)})"
                )
            if b.function not in OF_TENSORS or a.args[0].reference() is not None:
                self.notes.append(b)
        counts = len(first.notes), len(second.notes)
        if counts[0] != counts[1]:
            self._refuse(f"two calls computed {counts[0]} and then {counts[1]} arrays")
        if not self._alike(returned, again):
            self._refuse("two calls return different things")
        then, now = [
            {key: setting.value for key, setting in one.settings.items()}
            for one in (first, second)
        ]
        if not same(then, now):
            self._refuse("two calls ran differently set modules")
        for given, is_constant in self._are_alike.items():
            if is_constant and given.is_changed():
                raise refused(
                    first.name,
                    f"an array of shape {given.seen.shape} that the step takes as "
                    "given, or makes from Python values, is changed in place",
                    "make it of the inputs, or keep it in a tensor outside of the step",
                )

    def state(self) -> list[Known]:
        """The tensors that the step found both times."""
        then = self.first.tensors
        known = self.second.known.items()
        return [one for key, one in known if key in then and then[key]() is one.tensor]

    def _refuse(self, what: str) -> NoReturn:
        raise refused(
            self.first.name,
            what,
            "give what changes from call to call as an argument, in a tensor; keep "
            "what stays in tensors, and change those in place",
        )

    def _alike(self, a: Any, b: Any) -> bool:
        """Whether two arguments of notes are the same, or parts of them."""
        if isinstance(a, Given) and isinstance(b, Given):
            return self._are_alike_given(a, b)
        if isinstance(a, Leaf) and isinstance(b, Leaf):
            return a.reference() in (None, b.reference())
        if type(a) is not type(b):
            return False
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(self._alike(a[k], b[k]) for k in a)
        if isinstance(a, tuple | list):
            return len(a) == len(b) and all(map(self._alike, a, b))
        return a == b if isinstance(a, Slot) else same(a, b)

    def _are_alike_given(self, a: Given, b: Given) -> bool:
        if a.reference() is b.array:
            return True
        if b not in self._are_alike:
            if a.reference() is not None:
                gc.collect()
            made = self.first.made.get(id(b.array))
            is_carried = made is not None and made() is b.array
            alone = a.reference() is None and not is_carried
            self._are_alike[b] = alone and same(a.seen, b.seen)
        return self._are_alike[b]


def run(program: Program, arrays: list[Array]) -> list[Any]:
    """Run what was recorded, without NumPy's warnings."""
    warnings = NUMPY_WARNINGS.get()
    try:
        NUMPY_WARNINGS.set(SILENCE)
        return program.run(*arrays)
    finally:
        NUMPY_WARNINGS.set(warnings)


def without_graph(value: Any) -> Any:
    """A tensor without its graph; anything else as it is."""
    return value.detach() if isinstance(value, Tensor) else value


def values_after(recorder: Recorder, returned: list[Any]) -> dict[str, Any]:
    """Copies of all that a step leaves behind."""
    found: dict[str, Any] = {}
    for number, value in enumerate(returned, 1):
        is_tensor = isinstance(value, Tensor)
        found[f"result {number}"] = value.array.copy() if is_tensor else value
    for number, given in enumerate(recorder.given.values(), 1):
        found[f"array {number}, of shape {given.seen.shape}"] = given.kept.copy()
    for number, known in enumerate(recorder.known.values(), 1):
        of = f"of tensor {number}, of shape {known.array.shape}"
        grad = known.tensor._grad
        found[f"the gradient {of}"] = None if grad is None else grad.array.copy()
        found[f"the version {of}"] = known.tensor._seen_version()
    return found
