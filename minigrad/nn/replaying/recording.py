"""What one call of a step computes, noted call by call, with what it began from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad import errors
from minigrad.engine import randomness
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import this_mode
from minigrad.engine.pytree import Structure, flatten, unflatten
from minigrad.nn.replaying.alike import (
    Setting,
    current,
    is_as_set,
    line_of_the_step,
    refused,
    same,
    states_of_other_generators,
)
from minigrad.nn.replaying.noted import Drawn, Noted, real


@dataclass(frozen=True)
class Slot:
    """The number of a value that an input or a noted call gives."""

    number: int


class Number(NamedTuple):
    """A number that a noted call gives, apart from all others of its value."""

    value: Any


class Note(NamedTuple):
    """One call: what was called, its arguments, where its results go, and for whom."""

    function: Any
    leaves: list[Any]
    structure: Structure
    results: Structure
    slots: list[Slot | None]
    shapes: list[Any]
    where: str


class Known(NamedTuple):
    """A tensor that was there before the step, as it was then."""

    tensor: Tensor
    array: Array
    values: Array
    grad: Tensor | None
    requires_grad: bool
    version: int


class Recording:
    """The notes of one call.

    Arrays are known by their identity, and kept, so that none takes another's place.
    """

    def __init__(self, name: str, modes: tuple[Any, ...]) -> None:
        self.name = name
        self.modes = modes
        self.first_gradients: dict[int, Tensor] = {}
        self.notes: list[Note] = []
        self.known: dict[int, Known] = {}
        self.settings: dict[tuple[int, str], Setting] = {}
        self.optimizers: dict[int, tuple[Any, list[int]]] = {}
        self.optimizer_states: list[tuple[Any, Tensor, Any]] = []
        self.read_anew: set[int] = set()
        self.generator: Any = None
        self.refusal: errors.ReplayError | None = None
        self.mode = this_mode()
        self.is_open = False
        self.depth = 0
        self._slots: dict[int, Slot] = {}
        self._fixed: dict[int, tuple[Any, Any]] = {}
        self._made: dict[int, Tensor] = {}
        self._standing: dict[int, Noted] = {}
        self._kept: list[Any] = []
        self._inputs: list[tuple[Tensor, Array, Array]] = []
        self._numbers = randomness.default_generator.numbers
        self._others = states_of_other_generators()

    def is_mine(self) -> bool:
        """Whether the code that runs is the step, and not inside of a noted call."""
        return self.is_open and self.depth == 0 and this_mode() is self.mode

    def refuse(self, what: str, fix: str) -> NoReturn:
        """Say that this step cannot be replayed, and which line of it makes it so."""
        error = refused(self.name, f"{line_of_the_step()}: {what}", fix)
        if self.refusal is None:
            self.refusal = error
        raise error

    def give(self, tensor: Tensor) -> Tensor:
        """An input of the step: another tensor on the same values."""
        array = tensor.array.view()
        self._new_slot(array)
        given = Tensor(array)
        self._made[id(given)] = given
        self._inputs.append((given, array, array.copy()))
        return given

    def note(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call it with the arrays that the arguments stand for, and remember that."""
        if not self.is_mine():
            self.refuse(
                "a value that was noted in a recorded call is used outside of it",
                "return it from the step",
            )
        leaves, structure = flatten((args, options))
        specs = [self.spec(leaf) for leaf in leaves]
        reals = [plain(leaf) for leaf in leaves]
        real_args, real_options = unflatten(reals, structure)
        self.depth += 1
        try:
            result = function(*real_args, **real_options)
        finally:
            self.depth -= 1
        found, results = flatten(result)
        where = line_of_the_step()
        values = [self._result(function, value) for value in found]
        slots = [self._slot_of(value) for value in values]
        shapes = [getattr(value, "shape", ()) for value in found]
        note = Note(function, specs, structure, results, slots, shapes, where)
        self.notes.append(note)
        return unflatten(values, results)

    def spec(self, leaf: Any) -> Any:
        """How an argument, or a part of one, is found again in a replay."""
        value, slot = real(leaf), self._slot_of(leaf)
        if slot is None:
            self._fix(value)
        return value if slot is None else slot

    def _slot_of(self, value: Any) -> Slot | None:
        """A number's own: NumPy has one object for all that are true."""
        if type(value) is Noted and value._slot is not None:
            own: Slot = value._slot
            return own
        return self._slots.get(id(real(value)))

    def _fix(self, value: Any) -> None:
        """An array that no noted call made: state, or what the step takes as given."""
        if id(value) not in self._fixed:
            copy = value.copy() if isinstance(value, np.ndarray) else None
            self._fixed[id(value)] = value, copy

    def _result(self, function: Any, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, np.generic):
            return Noted(self, value, self._new_slot(Number(value)))
        if isinstance(value, np.ndarray):
            if id(value) not in self._slots and id(value) not in self._fixed:
                self._new_slot(value)
            return self._noted(value)
        name = getattr(function, "__name__", repr(function))
        self.refuse(
            f"{name}() reads a value into Python: it returns {type(value).__name__}",
            "return the tensor from the step, and look at it outside",
        )

    def draw(self, function: Callable[[], int]) -> Drawn:
        """A number from the generator that all share: each replay draws the next."""
        if self.generator is None:
            numbers = randomness.default_generator.numbers
            self.generator = numbers.bit_generator.state
        self.depth += 1
        try:
            number = Drawn(function())
        finally:
            self.depth -= 1
        slot = self._new_slot(number)
        nothing, structure = flatten(((), {}))
        where = line_of_the_step()
        alone = flatten(number)[1]
        self.notes.append(
            Note(function, nothing, structure, alone, [slot], [()], where)
        )
        return number

    def _new_slot(self, value: Any) -> Slot:
        slot = self._slots[id(value)] = Slot(len(self._slots))
        self._kept.append(value)
        return slot

    # What the step reads and writes beside its arguments.

    def read(self, tensor: Tensor, array: Array) -> Noted:
        """``tensor.array`` was asked for."""
        if id(tensor) not in self._made:
            self.meet(tensor, array)
            self.read_anew.discard(id(tensor))
        return self._noted(array)

    def _noted(self, array: Array) -> Noted:
        """What stands for an array: always the same object, as that is."""
        if id(array) not in self._standing:
            self._standing[id(array)] = Noted(self, array)
        return self._standing[id(array)]

    def meet(self, tensor: Tensor, array: Array) -> None:
        """Remember a tensor that was there before, if this is the first time."""
        if id(tensor) in self.known:
            return
        copy, version = array.copy(), tensor._seen_version()
        known = Known(tensor, array, copy, tensor._grad, tensor._requires_grad, version)
        self.known[id(tensor)] = known
        self._fixed.setdefault(id(array), (array, copy))

    def written(self, tensor: Tensor, value: Any, before: Any) -> Any:
        """``tensor.array`` is set; the array that it gets."""
        array = plain(value)
        if before is None:
            self._made[id(tensor)] = tensor
        elif id(tensor) not in self._made and array is not before:
            self.refuse(
                f"the values of a tensor of shape {before.shape}, which was there "
                "before, are replaced by others in other memory",
                "write into it: tensor.copy_(values)",
            )
        if id(array) not in self._slots:
            self._fix(array)
        return array

    def accumulate(self, leaf: Tensor) -> None:
        """A gradient arrives at a leaf that has none: had it one before the step?"""
        if leaf._grad is None and id(leaf) in self.known:
            self.first_gradients[id(leaf)] = leaf

    def grads_needed(self) -> list[tuple[Tensor, Tensor | None]]:
        """The leaves whose ``.grad`` the step goes on from, and what that was."""
        needed = []
        for known in self.known.values():
            starts = known.grad is None and id(known.tensor) in self.first_gradients
            if starts or (known.grad is not None and id(known.grad) in self.known):
                needed.append((known.tensor, known.grad))
        return needed

    def was_there(self, tensor: Tensor) -> bool:
        """Whether the tensor is older than the step, as far as that has met it."""
        return id(tensor) in self.known

    def counted_with(self, tensor: Tensor) -> Tensor | None:
        """The older tensor, if there is one, with which its changes are counted."""
        if self.was_there(tensor):
            return tensor
        counter = tensor._version_counter
        for known in self.known.values():
            if counter is not None and known.tensor._version_counter is counter:
                return known.tensor
        return None

    def watch(self, found: Any, name: str, value: Any, of: str) -> None:
        """Remember a value that decides what the step does."""
        self.settings.setdefault((id(found), name), Setting(found, name, value, of))

    def look_at_optimizer(self, optimizer: Any, param: Tensor, group: Any) -> None:
        """Remember what its step is going to change; its options are read anew."""
        counts = [len(group["params"]) for group in optimizer.param_groups]
        self.optimizers[id(optimizer)] = optimizer, counts
        self.watch(group, "maximize", group["maximize"], type(optimizer).__name__)
        state = optimizer.state.get(param)
        kept = None if state is None else (state, dict(state))
        self.optimizer_states.append((optimizer, param, kept))
        for value in (state or {}).values():
            if isinstance(value, Tensor) and not self.was_there(value):
                self.meet(value, value.array)
                self.read_anew.add(id(value))

    def close(self) -> None:
        """See that nothing has changed that a replay would not change.

        Raises: ReplayError.
        """
        if self.refusal is not None:
            raise self.refusal
        for tensor, *_ in self.known.values():
            if tensor._tensor_hooks or tensor._post_accumulate_hooks:
                self.refuse(
                    f"a tensor of shape {tensor.array.shape} has a hook; a replay has "
                    "no graph to call it from",
                    "do what the hook does in the step itself",
                )
        state = {id(known.array) for known in self.known.values()}
        for array, copy in self._fixed.values():
            if copy is not None and id(array) not in state and not same(array, copy):
                self.refuse(
                    f"an array of shape {array.shape} that the step takes as given, or "
                    "makes from Python values, is changed in place",
                    "make it of the inputs, or keep it in a tensor outside of the step",
                )
        for given, array, copy in self._inputs:
            if not same(array, copy) or given._requires_grad:
                how = "made to require grad" if given._requires_grad else "changed"
                self.refuse(
                    f"an input of shape {array.shape} is {how} in place",
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
            if not is_as_set(setting):
                self.refuse(
                    f"{setting.name} of {setting.of} is {current(setting)!r:.60} after "
                    f"the step and was {setting.value!r:.60} before: a replay does not "
                    "run the Python code that changes it",
                    "change it outside of the step",
                )

    def forget(self) -> None:
        """Let go of all values: the program needs none of them."""
        self.known.clear()
        self.optimizer_states.clear()
        self._slots.clear()
        self._fixed.clear()
        self._made.clear()
        self._standing.clear()
        self._kept.clear()
        self._inputs.clear()

    def restore(self) -> None:
        """Put back all values that were there before the step."""
        for tensor, array, values, grad, _, version in self.known.values():
            if not same(array, values):
                array[...] = values
            tensor._grad = grad
            if tensor._seen_version() != version:
                tensor._version_counter.value = version  # type: ignore[union-attr]
        for optimizer, param, kept in self.optimizer_states:
            optimizer.state.pop(param, None)
            if kept is not None:
                state, values = kept
                state.clear()
                state.update(values)
                optimizer.state[param] = state
        if self.generator is not None:
            numbers = randomness.default_generator.numbers
            numbers.bit_generator.state = self.generator


def plain(value: Any) -> Any:
    """What a noted call is given for ``value``."""
    return int(value) if type(value) is Drawn else real(value)
