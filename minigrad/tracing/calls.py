"""Calls: the values that each was given, and those that came out."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import is_tensor
from minigrad.tracing.nodes import Card
from minigrad.tracing.values import ValueStore, brief

Value = dict[str, Any]
End = tuple[int, Card, int]
"""Of an edge: the argument, the receiver's card, and which output of it."""


class Calls:
    """Notes what calls are given and give back, and how each output is called.

    A tensor has one key in all of a recording, ``t``, in whatever calls it takes part.
    """

    def __init__(self, values: ValueStore) -> None:
        self._values = values
        self._keys: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._count = 0
        self._outputs: dict[tuple[str, int], Value] = {}

    def given(self, inputs: Iterable[Any]) -> list[Value]:
        """The arguments of a call that begins."""
        return [self._value(value) for value in inputs]

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
        ins = [] if given is None else given
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
            out = self._value(output)
            out["nr"] = number
            outs.append(out)
            if "needs" in out:
                self._outputs[name, number] = out
        return {"ins": ins, "outs": outs}

    def name_output(self, node: str | None, tensor: Any, name: str) -> None:
        """A variable holds an output of ``node``; its first name stays."""
        if node is not None:
            self._called(node, tensor.output_nr, name)

    def _called(self, node: str, number: int, name: str) -> None:
        out = self._outputs.get((node, number))
        if out is not None and out["name"] is None:
            out["name"] = name

    def _value(self, value: Any) -> Value:
        """A tensor with its numbers; of anything else how it is written."""
        if type(value) is Tensor:
            note = self._values.tensor(value)
            needs = value._requires_grad
        elif is_tensor(value):
            note, needs = self._values.ref(value), bool(value.requires_grad)
        else:
            return {"text": brief(value)}
        key = self._key(value)
        name = self._values.names.of(value)
        return {"name": name, "v": note, "t": key, "needs": needs}

    def _key(self, tensor: Any) -> str:
        known = self._keys.get(id(tensor))
        if known is None or known[0]() is not tensor:
            known = weakref.ref(tensor), f"t{self._count}"
            self._keys[id(tensor)] = known
            self._count += 1
        return known[1]
