"""Calls: the values that each was given, and those that came out."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import is_tensor, version_of
from minigrad.tracing.nodes import Card
from minigrad.tracing.pictures import MOST_BYTES_TO_KEEP, digest_of
from minigrad.tracing.values import Note, ValueStore, brief

Value = dict[str, Any]
End = tuple[int, Card, int]
"""Of an edge: the argument, the receiver's card, and which output of it."""


MOST_WRITTEN: Final = 10**9
"""Python refuses to write the longest of numbers, and they take time."""


MOST_OUTPUTS: Final = 10_000
"""The outputs that may still get a name; a long recording makes no end of them."""
UNHEARD: Final = object()
"""Stands for an argument of which nothing is known."""


class Calls:
    """Notes what calls are given and give back, and how each output is called.

    A tensor has one key in all of a recording, ``t``, in whatever calls it takes part.
    """

    def __init__(self, values: ValueStore) -> None:
        self._values = values
        self._keys: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._count = 0
        self._outputs: dict[tuple[str, int], Value] = {}
        self.mapped: dict[str, tuple[int, ...]] = {}
        """By the key of a tensor: its dimensions that count the examples of a vmap."""

    def given(self, inputs: Iterable[Any]) -> list[Value]:
        """The arguments of a call that begins."""
        values = []
        for value in inputs:
            values.append(self._value(value))
        return values

    def fields(
        self,
        given: list[Value] | None,
        ends: Sequence[End],
        name: str,
        outputs: Iterable[Any],
    ) -> dict[str, Any]:
        """What the event of the node ``name`` has of its call.

        Without ``given`` the call was not heard: then only its edges are known.
        """
        ins = given or []
        for slot, receiver, output in ends:
            while len(ins) <= slot:
                ins.append({"text": ""})
            one = ins[slot]
            if "needs" not in one:
                known = self._outputs.get((receiver.node or "", output), {})
                one = ins[slot] = {"name": known.get("name"), "v": known.get("v")}
                one |= {"t": known.get("t"), "needs": True}
            one["leaf" if receiver.is_leaf else "n"] = receiver.node
            if output:
                one["nr"] = output
            if one["name"] is not None and not receiver.is_leaf:
                self._called(receiver.node or "", output, one["name"])
        outs = []
        for number, output in enumerate(outputs):
            out = self._value(output, is_new=True)
            out["nr"] = number
            outs.append(out)
            if "needs" in out:
                self._outputs[(name, number) if name else (out["t"], 0)] = out
        if len(self._outputs) > MOST_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        return {"ins": ins, "outs": outs}

    def name_output(self, node: str | None, tensor: Any, name: str) -> None:
        """A variable holds an output of ``node``; its first name stays."""
        if node is not None:
            self._called(node, tensor.output_nr, name)

    def name_outputs(self, node_of: Callable[[Any], str | None]) -> None:
        """The recording ends: what variables hold by now has their names."""
        for name, tensor in self._values.names.held():
            self.name_output(node_of(tensor) or self._known(tensor), tensor, name)

    def _called(self, node: str, number: int, name: str) -> None:
        out = self._outputs.get((node, number))
        if out is not None and out["name"] is None:
            out["name"] = name

    def key_of(self, value: Any) -> str:
        """The key of a tensor, which gets one if it has none."""
        return self._known(value) or self._new_key(value)

    def _known(self, value: Any) -> str | None:
        """The key of a tensor that was met before."""
        known = self._keys.get(id(value))
        return None if known is None or known[0]() is not value else known[1]

    def _new_key(self, value: Any) -> str:
        key = f"t{self._count}"
        self._keys[id(value)] = weakref.ref(value), key
        self._count += 1
        return key

    def _value(self, value: Any, is_new: bool = False) -> Value:
        """A tensor with its numbers; of anything else how it is written.

        ``is_new``: no variable can hold it yet.
        """
        kind = type(value)
        if kind is Tensor:
            version = 0 if value._version_counter is None else value._seen_version()
            array, needs = value.array, value._requires_grad
            if array.nbytes <= MOST_BYTES_TO_KEEP:
                numbers: Any = digest_of(array)
            else:
                numbers = self._values.numbers(array, version)
        elif kind is float or (kind is int and abs(value) < MOST_WRITTEN):
            return {"text": repr(value)}
        elif is_tensor(value):
            note, needs = self._values.ref(value), bool(value.requires_grad)
            if type(note) is not Note:  # its numbers cannot be read
                return {"text": brief(value)}
            numbers, version = note[1], version_of(value)
        else:
            return {"text": "" if value is UNHEARD else brief(value)}
        known = self._keys.get(id(value))
        if known is None or known[0]() is not value:
            key = self._new_key(value)
        else:
            key = known[1]
            is_new = False  # it was given, and may have changed
        name = None if is_new else self._values.names.of(value)
        passed: Value = {"name": name, "v": Note(("A", numbers)), "t": key}
        passed["needs"] = needs
        if version:
            passed["ver"] = version
        return passed

    def note_mapped(self, tensor: Any, dims: tuple[int, ...]) -> None:
        """A vmap has its examples along these dimensions."""
        self.mapped[self.key_of(tensor)] = dims
