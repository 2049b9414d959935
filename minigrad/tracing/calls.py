"""Calls: the values that each was given, and those that came out."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, Final

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import is_tensor, version_of
from minigrad.tracing.nodes import End
from minigrad.tracing.pictures import MOST_BYTES_TO_KEEP
from minigrad.tracing.values import Note, ValueStore, brief

Value = dict[str, Any]
Fact = str | tuple[Any, ...]
"""What is noted of a value: a tensor's name, numbers, key, whether it needs a gradient
and its version; of anything else how it is written."""
MOST_WRITTEN: Final = 10**9
"""Python refuses to write the longest of numbers, and they take time."""
MOST_OUTPUTS: Final = 10_000
"""The outputs that may still get a name; a long recording makes no end of them."""
IS_NEW: Final = repeat(True)
"""Said of each output: only what was given may have a name by now."""
UNHEARD: Final = object()
"""Stands for an argument of which nothing is known."""


class Key(weakref.ref[Any]):
    """A reference to a tensor, and its key."""

    __slots__ = ("key",)

    key: str


class Calls:
    """Notes what calls are given and give back, and how each output is called.

    A tensor has one key in all of a recording, ``t``, in whatever calls it takes part.
    """

    def __init__(self, values: ValueStore) -> None:
        self._values = values
        self._keys: dict[int, Key] = {}
        self._count = 0
        self._outputs: dict[tuple[str, int], Value] = {}
        self._held: list[tuple[str, int, str]] = []
        self.mapped: dict[str, tuple[int, ...]] = {}
        """By the key of a tensor: its dimensions that count the examples of a vmap."""

    def given(self, inputs: Iterable[Any]) -> tuple[Fact, ...]:
        """What is noted of the arguments of a call that begins."""
        return (*map(self._fact, inputs),)

    def made(self, outputs: Iterable[Any]) -> tuple[Fact, ...]:
        """What is noted of the outputs of a call that ends."""
        return (*map(self._fact, outputs, IS_NEW),)

    def fields(
        self,
        given: Sequence[Fact] | None,
        ends: Sequence[End],
        name: str,
        made: Iterable[Fact],
    ) -> dict[str, Any]:
        """What the event of the node ``name`` has of its call.

        Without ``given`` the call was not heard: then only its edges are known.
        """
        ins = [value_of(fact) for fact in given or ()]
        for slot, end in enumerate(ends):
            if end is None or end[0] is None:
                continue
            _, _, output, receiver, is_leaf = end
            while len(ins) <= slot:
                ins.append({"text": ""})
            one = ins[slot]
            if "needs" not in one:
                known = self._outputs.get((receiver or "", output), {})
                one = ins[slot] = {"name": known.get("name"), "v": known.get("v")}
                one |= {"t": known.get("t"), "needs": True}
            one["leaf" if is_leaf else "n"] = receiver
            if output:
                one["nr"] = output
            if one["name"] is not None and not is_leaf:
                self.name_output(receiver, output, one["name"])
        outs = []
        for number, fact in enumerate(made):
            out = value_of(fact)
            out["nr"] = number
            outs.append(out)
            if "needs" in out:
                self._outputs[(name, number) if name else (out["t"], 0)] = out
        if len(self._outputs) > MOST_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        return {"ins": ins, "outs": outs}

    def look_at_names(self, node_of: Callable[[Any], str | None]) -> None:
        """The recording ends: note which outputs variables hold by now."""
        for name, tensor in self._values.names.held():
            node = node_of(tensor) or self._known(tensor)
            if node is not None:
                self._held.append((node, tensor.output_nr, name))

    def finish(self) -> None:
        """What variables held at the end has their names."""
        for node, number, name in self._held:
            self.name_output(node, number, name)

    def name_output(self, node: str | None, number: int, name: str) -> None:
        """A variable holds an output of ``node``; its first name stays."""
        out = self._outputs.get((node or "", number))
        if out is not None and out["name"] is None:
            out["name"] = name

    def key_of(self, value: Any) -> str:
        """The key of a tensor, which gets one if it has none."""
        return self._known(value) or self._new_key(value).key

    def _known(self, value: Any) -> str | None:
        """The key of a tensor that was met before."""
        known = self._keys.get(id(value))
        return None if known is None or known() is not value else known.key

    def _new_key(self, value: Any) -> Key:
        known = self._keys[id(value)] = Key(value)
        known.key = f"t{self._count}"
        self._count += 1
        return known

    def _fact(self, value: Any, is_new: bool = False) -> Fact:
        """A tensor with its numbers; of anything else how it is written.

        ``is_new``: no variable can hold it yet.
        """
        kind, version = type(value), 0
        if kind is Tensor:
            array, needs = value.array, value._requires_grad
            if value._version_counter is not None:
                version = value._seen_version()
            if array.nbytes <= MOST_BYTES_TO_KEEP:  # as digest_of, without its call
                numbers: Any = array.shape, array.dtype, array.tobytes(), ""
            else:
                numbers = self._values.numbers(array, version)
        elif kind is float or (kind is int and abs(value) < MOST_WRITTEN):
            return repr(value)
        elif is_tensor(value):
            note, needs = self._values.ref(value), bool(value.requires_grad)
            if type(note) is not Note:  # its numbers cannot be read
                return brief(value)
            numbers, version = note[1], version_of(value)
        else:
            return "" if value is UNHEARD else brief(value)
        known = self._keys.get(id(value))
        if known is None or known() is not value:
            known = self._new_key(value)
        else:
            is_new = False  # it was given, and may have changed
        name = None if is_new else self._values.names.of(value)
        return name, numbers, known.key, needs, version


def value_of(fact: Fact) -> Value:
    """A value that was noted, as an event has it."""
    if isinstance(fact, str):
        return {"text": fact}
    name, numbers, key, needs, version = fact
    value = {"name": name, "v": Note(("A", numbers)), "t": key, "needs": needs}
    if version:
        value["ver"] = version
    return value
