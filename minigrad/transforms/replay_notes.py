"""The calls of a recorded step, and the program that they make: straight-line Python.

A note is one call on arrays. Its arguments stand as they will be found in a replay: a
``Slot`` is what an input or an earlier call gives, an array is one that no call of the
step made, a weak reference is to a tensor or its count of changes; anything else is a
constant.
"""

from __future__ import annotations

import keyword
import linecache
import re
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin, BuiltinBackward
from minigrad.engine.core import accumulate
from minigrad.engine.core.backward import fit
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import NOT_A_TENSOR, split_edge
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import set_grad_enabled
from minigrad.engine.strides import AsStrided, ReplaceShown
from minigrad.engine.structural import CloneInRows
from minigrad.engine.tensor_memory import VersionCounter
from minigrad.transforms.transform import apply_of

SIMPLE = (int, float, complex, str, bytes, slice, np.generic, np.dtype, type(None))
"""Of these types are values that say themselves whether they are still the same."""


@dataclass(frozen=True)
class Slot:
    """The number of a value that an input or a noted call gives."""

    number: int


class Note(NamedTuple):
    """One call, where its results go, and the line of the step that made it.

    ``shape`` is that of the result where values may decide it, else None.
    """

    function: Any
    args: tuple[Any, ...]
    result: Any
    shape: tuple[int, ...] | None
    where: str


def same(one: Any, other: Any) -> bool:
    """Whether two values of a kind that can be compared are the same, to the bit."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, np.generic):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, SIMPLE):
        return bool(one == other) or repr(one) == repr(other)
    return callable(one) and bool(one == other)


def refused(name: str, what: str, fix: str) -> errors.ReplayError:
    """The error for a step that cannot be recorded, or a call that is not like it."""
    return errors.ReplayError.at(f"replay({name})", what, fix)


INSIDE = "minigrad.", "numpy.", "contextlib", "functools"


def line_of_the_step() -> str:
    """File, number and text of the innermost line that is not of a package."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith(INSIDE):
            path, number = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(path, number).strip()
            return f"line {number} of {path.rpartition('/')[2]}, `{text}`"
        frame = frame.f_back
    return "the step"


# What notes call, where that is no plain function of arrays.


class Rule:
    """``backward`` of a built-in operation, with what its node has kept.

    What varies from call to call is given: saved values, and some attributes. It gives
    the gradients as the receivers want them. For a change of a view in place, the
    rule is about the part of the gradient that the view shows.
    """

    def __init__(self, node: Any, kept: dict[str, Any]) -> None:
        self._part = (node.geometry, node.slot) if hasattr(node, "inner") else None
        rule = node.inner if self._part else node
        self.__qualname__ = f"{rule._forward_cls.__name__}.backward"
        self._backward = rule._forward_cls.backward
        self._names = [name for name, value in kept.items() if holds_arrays(value)]
        self._kept = {k: v for k, v in kept.items() if k not in self._names}
        self._kept["needs_input_grad"] = rule.needs_input_grad
        self._ctx = type(type(rule).__name__, (), self._kept)
        self._receivers = receivers_of(node)
        self._unfit: list[int] = []
        self._is_tried = False

    def varying(self, kept: dict[str, Any]) -> tuple[Any, ...]:
        """The attributes that vary."""
        return tuple([kept[name] for name in self._names])

    def __call__(self, saved: Any, varying: tuple[Any, ...], *gradients: Any) -> Any:
        ctx = self._ctx()
        ctx.saved_values = saved
        if varying:
            vars(ctx).update(zip(self._names, varying, strict=True))
        if self._part is None:
            found = self._backward(ctx, *gradients)
        else:
            found = self._of_part(ctx, gradients[0], *self._part)
        if not self._is_tried or self._unfit:
            found = list(found) if type(found) is tuple else [found]
            self._fit(found)
            return found
        return found if type(found) is tuple else (found,)

    def _fit(self, found: list[Any]) -> None:
        """Fit the gradients that need it: the same ones in each call."""
        receivers = self._receivers
        if not self._is_tried:
            pairs = [(slot, g) for slot, g in enumerate(found) if g is not None]
            self._unfit = [
                slot for slot, g in pairs if fit(receivers, slot, g) is not g
            ]
            self._is_tried = True
        for slot in self._unfit:
            found[slot] = fit(receivers, slot, found[slot])

    def _of_part(self, ctx: Any, gradient: Array, where: Any, slot: int) -> Any:
        part = CloneInRows.forward(AsStrided.forward(gradient, where))
        found = self._backward(ctx, part)
        found = list(found) if type(found) is tuple else [found]
        if found[slot] is not None:
            found[slot] = ReplaceShown.forward(gradient, found[slot], where)
        return tuple(found)


def receivers_of(node: Any) -> Any:
    """What stands for a node in ``fit``: of what shape and dtype its receivers are."""
    edges = []
    for edge in node._edges:
        is_one = edge is not None and edge is not NOT_A_TENSOR
        receiver, output_nr = split_edge(edge) if is_one else (None, 0)
        known = SimpleNamespace(
            _output_metadata=getattr(receiver, "_output_metadata", ())
        )
        edges.append((known, output_nr) if is_one else None)
    return SimpleNamespace(_edges=edges)


def kept_by(node: Any) -> dict[str, Any]:
    """The attributes of a built-in operation's node, with those of its class."""
    found: dict[str, Any] = {}
    for kind in reversed(type(node).__mro__):
        if issubclass(kind, BuiltinBackward):
            for name, value in vars(kind).items():
                if value is None or isinstance(value, bool | int | tuple):
                    found[name] = value
    found |= vars(node)
    return {name: value for name, value in found.items() if name[0] != "_"}


@dataclass
class Applied:
    """``apply`` of a Function that makes a node, as its own code says.

    ``needs`` says of each argument whether it requires grad; None: it is no tensor.
    It gives the node, and then the outputs.
    """

    function: type[Function]
    needs: tuple[bool | None, ...]
    is_recorded: bool

    def __post_init__(self) -> None:
        self.__qualname__ = f"{self.function.__name__}.apply"

    def __call__(self, *values: Any) -> list[Any]:
        inputs = [
            value if need is None else Tensor(value, need)
            for value, need in zip(values, self.needs, strict=True)
        ]
        with set_grad_enabled(self.is_recorded):
            result = apply_of(self.function)(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        made = [one for one in outputs if isinstance(one, Tensor)]
        node = next((one._grad_fn for one in made if one._grad_fn is not None), None)
        return [node, *map(array_of, outputs)]


def run_node(node: Any, *gradients: Any) -> list[Any]:
    """The gradients of a node's inputs, checked and fitted as in any backward."""
    with set_grad_enabled(False):
        returned = node._gradients_by_edge(
            node._run_backward(list(gradients), False), False
        )
    return [
        None if gradient is None else fit(node, slot, gradient)
        for slot, gradient in enumerate(returned)
    ]


@dataclass(frozen=True)
class OnTensors:
    """A function of tensors, as a function of their arrays; it makes no graph."""

    function: Callable[..., Any]

    def __call__(self, args: Any, options: Any) -> Any:
        def wrapped(value: Any) -> Any:
            return Tensor(value) if isinstance(value, np.ndarray) else value

        options = {name: wrapped(value) for name, value in options.items()}
        result = self.function(*map(wrapped, args), **options)
        if isinstance(result, tuple):
            return tuple(map(array_of, result))
        return array_of(result)


def array_of(value: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return value.array if isinstance(value, Tensor) else value


def copied(array: Array) -> Array:
    """The values before a change in place, for a rule that needs them."""
    return array.copy()


def overwrite(operation: type[Builtin], memory: Array, *args: Any) -> None:
    """The operation in place."""
    memory[...] = operation.forward(memory, *args)


@dataclass
class Ordered:
    """Forward of an operation that sees to the order of the elements in memory."""

    function: type[Builtin]

    def __post_init__(self) -> None:
        self.__qualname__ = f"{self.function.__name__}.forward"

    def __call__(self, *args: Any) -> Any:
        arrays = [one for one in args if isinstance(one, np.ndarray)]
        return self.function._in_memory_order(self.function.forward(*args), arrays)


def taken_over(gradient: Array, leaf: Array) -> Array:
    """The first gradient of a leaf: a copy, unless the step needs it for nothing else.

    Backward cannot know that in advance.
    """
    return accumulate.copied(gradient, leaf)


def add_into(memory: Array, gradient: Any) -> None:
    """A gradient that arrives at a leaf which has one."""
    np.add(memory, gradient, out=memory)


def set_grad(leaf: Tensor, value: Any) -> None:
    """``.grad`` of a leaf is exchanged."""
    leaf._grad = None if value is None else Tensor(value)


def bump(counter: VersionCounter) -> None:
    """A change in place is counted."""
    counter.value += 1


class Program:
    """The notes of a recording as a function of the arrays of its inputs.

    ``text`` is its source, to be read.
    """

    def __init__(
        self,
        name: str,
        notes: list[Note],
        inputs: int,
        returned: list[Any],
    ) -> None:
        self._name = name
        self._notes = notes
        uses = Counter(slots_in([*[note.args for note in notes], *returned]))
        self._used_once = {slot for slot, count in uses.items() if count == 1}
        self._constants: dict[str, Any] = {
            "Tensor": Tensor,
            "asarray": np.asarray,
            "changed": self._changed,
        }
        self._names: dict[int, str] = {}
        names = ", ".join([f"v{number}" for number in range(inputs)])
        lines = [f"def program({names}):"]
        kept = {*map(Slot, range(inputs)), *slots_in(returned)}
        last: dict[Slot, int] = {}
        for number, note in enumerate(notes):
            last |= dict.fromkeys(slots_in((note.args, note.result)), number)
        over: dict[int, list[str]] = {}
        for slot, number in last.items():
            if slot not in kept:
                over.setdefault(number, []).append(f"v{slot.number}")
        for number, note in enumerate(notes):
            lines += self._statements(number, note)
            if number in over:
                lines.append(f"del {', '.join(over[number])}")
        lines.append(f"return [{', '.join(map(self._tensor, returned))}]")
        self.text = "\n    ".join(lines) + "\n"
        exec(compile(self.text, "<replay>", "exec"), self._constants)
        self.run: Callable[..., list[Any]] = self._constants["program"]

    def _tensor(self, value: Any) -> str:
        """The source of what is returned: tensors without a graph."""
        source = self._source(value)
        return f"Tensor({source})" if isinstance(value, Slot | np.ndarray) else source

    def _statements(self, number: int, note: Note) -> list[str]:
        """The call, and a look at the shape of what it gives."""
        args = ", ".join(map(self._source, note.args))
        call = f"{self._constant(note.function)}({args})"
        if note.function is set_grad:
            leaf, value = map(self._source, note.args)
            value = value if value == "None" else f"Tensor({value})"
            return [f"{leaf}._grad = {value}"]
        if note.function is taken_over and note.args[0] in self._used_once:
            return [f"v{note.result.number} = v{note.args[0].number}"]
        slots = list(slots_in(note.result))
        if not slots:
            return [call]
        if note.shape == ():
            call = f"asarray({call})"
        if isinstance(note.result, Slot):
            target = f"v{note.result.number}"
        else:
            names = ["_" if s is None else f"v{s.number}" for s in note.result]
            target = ", ".join(names) + ","
        lines = [f"{target} = {call}"]
        if note.shape:
            test = f"if {target}.shape != {note.shape}"
            lines.append(f"{test}: changed({number}, {target})")
        return lines

    def _source(self, value: Any) -> str:
        if isinstance(value, Slot):
            return f"v{value.number}"
        if isinstance(value, weakref.ref):
            return self._constant(value())
        if isinstance(value, np.ndarray):
            return self._constant(value)
        if not holds_arrays(value):
            return "()" if type(value) is tuple and not value else self._constant(value)
        if isinstance(value, dict):
            pairs = [f"{key!r}: {self._source(one)}" for key, one in value.items()]
            return "{" + ", ".join(pairs) + "}"
        inside = ", ".join(map(self._source, value))
        if isinstance(value, list):
            return f"[{inside}]"
        is_named = hasattr(value, "_fields")
        return (
            f"{self._constant(type(value))}({inside})" if is_named else f"({inside},)"
        )

    def _constant(self, value: Any) -> str:
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        known = self._names.get(id(value))
        if known is not None:
            return known
        name = re.sub(r"\W+", "_", getattr(value, "__qualname__", "k")).strip("_")
        is_free = name.isidentifier() and not keyword.iskeyword(name)
        if not is_free or name in self._constants or re.fullmatch(r"v\d+", name):
            name = f"{name.strip('k')}k{len(self._constants)}"
        self._constants[name], self._names[id(value)] = value, name
        return name

    def _changed(self, number: int, array: Array) -> NoReturn:
        note = self._notes[number]
        raise refused(
            self._name,
            f"{note.where}: {name_of(note)} gives the shape {array.shape} now and gave "
            f"{note.shape} when it was recorded, because it depends on values",
            "call the step itself where shapes depend on values",
        )


def is_alive(value: Any) -> bool:
    """Whether what a note is about is there after the step, if it is no array."""
    return not isinstance(value, weakref.ref) or value() is not None


def holds_arrays(value: Any) -> bool:
    """Whether a part of an argument is another in each replay, or an array."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return any(map(holds_arrays, value))
    return isinstance(value, Slot | np.ndarray | weakref.ref)


def slots_in(value: Any) -> Iterator[Slot]:
    """Every slot in an argument, or in what a note gives."""
    if isinstance(value, Slot):
        yield value
    elif isinstance(value, dict):
        yield from slots_in(list(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from slots_in(one)


def name_of(note: Note) -> str:
    """What a note has called, in messages."""
    return str(getattr(note.function, "__qualname__", note.function))
