"""Notes as straight-line Python: one statement for each call, in their order."""

from __future__ import annotations

import keyword
import re
from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad.engine.core.tensor import Tensor
from minigrad.engine.pytree import LEAF, Structure, flatten, unflatten
from minigrad.nn.replaying.alike import refused, same
from minigrad.nn.replaying.calls import run_rule
from minigrad.nn.replaying.noted import Noted
from minigrad.nn.replaying.recording import Note, Recording, Slot


class Results(NamedTuple):
    """What a step leaves behind: what it returned, and the ``.grad`` that changed."""

    returned: list[Any]
    structure: Structure
    grads: list[tuple[Tensor, Any]]


def results_of(recording: Recording, result: Any) -> Results:
    """Each tensor as the slot of its values, if the step has computed them."""
    leaves, structure = flatten(result)
    grads = []
    for known in recording.known.values():
        grad = known.tensor._grad
        if grad is not known.grad:
            grads.append((known.tensor, slot_or_itself(recording, grad)))
    returned = [slot_or_itself(recording, leaf) for leaf in leaves]
    return Results(returned, structure, grads)


def slot_or_itself(recording: Recording, value: Any) -> Any:
    """The slot of a tensor's values; a tensor from outside, or a number, as it is."""
    if type(value) is Noted:
        raise refused(
            recording.name,
            f"it returns an array of shape {value.shape} with recorded values",
            "return the tensor itself",
        )
    is_tensor = isinstance(value, Tensor) and not recording.was_there(value)
    return recording.spec(value.array) if is_tensor else value


class Program:
    """The notes of a recording as a function of the arrays of its inputs.

    ``text`` is its source, to be read.
    """

    def __init__(self, recording: Recording, inputs: int, results: Results) -> None:
        self.recording = recording
        self.results = results
        self._is_made = [isinstance(x, Slot | np.ndarray) for x in results.returned]
        self._constants: dict[str, Any] = {"changed": self._changed, "program": None}
        self._names: dict[int, str] = {}
        lines = []
        wanted = results.returned, [value for _, value in results.grads]
        leaves, structure = flatten(wanted)
        kept = {*map(Slot, range(inputs)), *[x for x in leaves if type(x) is Slot]}
        last = last_uses(recording.notes)
        for number, note in enumerate(recording.notes):
            lines += self._statements(number, note)
            over = [f"v{slot.number}" for slot in last[number] if slot not in kept]
            if over:
                lines.append(f"del {', '.join(over)}")
        lines.append(f"return {self._expression(leaves, structure)}")
        names = ", ".join([f"v{number}" for number in range(inputs)])
        self.text = "\n    ".join([f"def program({names}):", *lines]) + "\n"
        exec(compile(self.text, "<replay>", "exec"), self._constants)
        self._run = self._constants["program"]

    def run(self, arrays: list[Any]) -> Any:
        """Compute ``.grad``, and what the step returned: tensors without a graph."""
        returned, grads = self._run(*arrays)
        results = self.results
        for (leaf, _), value in zip(results.grads, grads, strict=True):
            leaf._grad = as_tensor(value)
        leaves = [
            as_tensor(value) if is_made else without_graph(value)
            for value, is_made in zip(returned, self._is_made, strict=True)
        ]
        return unflatten(leaves, results.structure)

    def _statements(self, number: int, note: Note) -> list[str]:
        """The call, and a look at the shapes of what it gives."""
        call = self._expression(note.leaves, note.structure, is_call=True)
        call = f"{self._constant(note.function)}({call})"
        names = ["_" if slot is None else f"v{slot.number}" for slot in note.slots]
        if set(names) <= {"_"}:
            return [call]
        kinds = {part for part in note.results.parts if part != LEAF}
        if kinds:
            raise refused(
                self.recording.name,
                f"{note.where}: {name_of(note)} makes arrays inside of each other",
                "make them one by one",
            )
        target = names[0] if note.results == LEAF else ", ".join(names) + ","
        lines = [f"{target} = {call}"]
        if note.function is not run_rule:
            for slot, shape in zip(note.slots, note.shapes, strict=True):
                if slot is not None and shape != ():
                    name = f"v{slot.number}"
                    lines.append(
                        f"if {name}.shape != {shape!r}: changed({number}, {name})"
                    )
        return lines

    def _expression(
        self, leaves: list[Any], structure: Structure, is_call: bool = False
    ) -> str:
        """The source of a tree of slots and constants."""
        rest = iter(leaves)
        if is_call:
            args, options = structure.parts
            texts = [self._part(rest, part) for part in args.parts]
            for key, part in zip(options.keys, options.parts, strict=True):
                texts.append(f"{key}={self._part(rest, part)}")
            return ", ".join(texts)
        return self._part(rest, structure)

    def _part(self, rest: Any, structure: Structure) -> str:
        kind = structure.kind
        if kind is None:
            leaf = next(rest)
            return f"v{leaf.number}" if type(leaf) is Slot else self._constant(leaf)
        texts = [self._part(rest, part) for part in structure.parts]
        if issubclass(kind, dict):
            keys = [self._constant(key) for key in structure.keys]
            pairs = zip(keys, texts, strict=True)
            return "{" + ", ".join([f"{key}: {text}" for key, text in pairs]) + "}"
        inside = ", ".join(texts)
        if kind is list:
            return f"[{inside}]"
        if kind is tuple:
            return f"({inside},)" if texts else "()"
        name = self._constant(kind)
        return (
            f"{name}({inside})" if hasattr(kind, "_fields") else f"{name}([{inside}])"
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
            name = f"k{name}_{len(self._constants)}"
        self._constants[name], self._names[id(value)] = value, name
        return name

    def _changed(self, number: int, array: Any) -> NoReturn:
        note = self.recording.notes[number]
        shapes = [shape for shape in note.shapes if shape != array.shape]
        raise refused(
            self.recording.name,
            f"{note.where}: {name_of(note)} gives the shape {array.shape} now and gave "
            f"{shapes[0]} when it was recorded, because it depends on values",
            "call the step itself where shapes depend on values",
        )


def last_uses(notes: list[Note]) -> list[list[Slot]]:
    """For each note the slots that no later one needs: their memory can go."""
    last: dict[Slot, int] = {}
    for number, note in enumerate(notes):
        for leaf in [*note.leaves, *note.slots]:
            if type(leaf) is Slot:
                last[leaf] = number
    over: list[list[Slot]] = [[] for _ in notes]
    for slot, number in last.items():
        over[number].append(slot)
    return over


def without_graph(value: Any) -> Any:
    """A tensor without its graph; anything else as it is."""
    return value.detach() if isinstance(value, Tensor) else value


def as_tensor(value: Any) -> Any:
    """An array as a tensor; what is a tensor, or None, as it is."""
    return Tensor(value) if isinstance(value, np.ndarray | np.generic) else value


def name_of(note: Note) -> str:
    """What a note has called, in messages."""
    called = note.leaves[0] if note.function is run_rule else note.function
    return str(
        getattr(called, "__qualname__", None) or getattr(called, "__name__", called)
    )


def check_alike(one: Program, other: Program) -> None:
    """Refuse a step of which two calls have computed different things.

    Raises: ReplayError with the first difference.
    """
    first, second = one.recording, other.recording
    fix = (
        "give what changes from call to call as an argument, in a tensor; keep what "
        "stays in tensors, and change those in place"
    )
    for a, b in zip(first.notes, second.notes, strict=False):
        if not is_like(first, a, b):
            what = (
                f"{b.where}: {name_of(b)} computes from other numbers or tensors, or "
                f"something else, than in the call before (there {name_of(a)})"
            )
            raise refused(first.name, what, fix)
    if len(first.notes) != len(second.notes):
        counts = f"{len(first.notes)} and then {len(second.notes)}"
        raise refused(first.name, f"two calls computed {counts} arrays", fix)
    if one.text != other.text or not all_same(
        one.results.returned, other.results.returned
    ):
        raise refused(first.name, "two calls return different things", fix)
    then, now = [
        [setting.value for setting in recording.settings.values()]
        for recording in (first, second)
    ]
    if first.settings.keys() != second.settings.keys() or not all_same(then, now):
        raise refused(first.name, "two calls ran differently set modules", fix)
    if first.known.keys() != second.known.keys():
        raise refused(first.name, "two calls used different tensors", fix)


def is_like(recording: Recording, one: Note, other: Note) -> bool:
    """Whether two notes are of the same call."""
    if one.function != other.function or one[2:6] != other[2:6]:
        return False
    state = {id(known.array) for known in recording.known.values()}
    for a, b in zip(one.leaves, other.leaves, strict=True):
        if a is not b and (id(a) in state or not same_spec(a, b)):
            return False
    return True


def all_same(some: list[Any], others: list[Any]) -> bool:
    """Whether values agree pair by pair."""
    return len(some) == len(others) and all(
        [same_spec(a, b) for a, b in zip(some, others, strict=True)]
    )


def same_spec(a: Any, b: Any) -> bool:
    """Whether two arguments of notes are the same."""
    if type(a) is Slot or type(b) is Slot:
        return type(a) is type(b) and bool(a == b)
    return same(a, b)
