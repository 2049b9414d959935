"""Who has saved what: the ctxs to look at again when a tensor is changed in place."""

from __future__ import annotations

import weakref
from typing import Any

from minigrad.engine.core.saved import FREED
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import ForeignNode, unheard
from minigrad.tracing.memory import root_of
from minigrad.tracing.nodes import Card
from minigrad.tracing.values import safely


class Savers:
    """For each memory the ctxs that saved a tensor of it; none is kept alive."""

    def __init__(self) -> None:
        self._ctxs: dict[Any, dict[int, weakref.ref[Any]]] = {}

    def add(self, card: Card, tensor: Any) -> None:
        """The ctx of ``card`` has saved ``tensor``."""
        memory = memory_of(tensor)
        if memory is not None:
            self._ctxs.setdefault(memory, {})[id(card)] = card.reference

    def of(self, tensor: Any) -> list[Any]:
        """The ctxs that still hold a tensor in the memory of this one."""
        memory = memory_of(tensor)
        there = self._ctxs.get(memory, {})
        known = {key: reference() for key, reference in there.items()}
        for key, ctx in known.items():
            if ctx is None or is_freed(ctx):
                del there[key]
        return [ctx for key, ctx in known.items() if key in there]


def memory_of(tensor: Any) -> Any:
    """What two tensors have in common if they share memory; None if it is not known."""
    if tensor is None:
        return None
    if type(tensor) is Tensor:
        return id(root_of(tensor.array))
    if isinstance(tensor, Tensor):
        return safely(lambda: id(root_of(tensor.array)), None)
    return safely(lambda: storage_of(tensor), None)


def storage_of(tensor: Any) -> Any:
    """The memory of a tensor of torch's."""
    with unheard():
        return "torch", tensor.untyped_storage()._cdata


def is_freed(ctx: Any) -> bool:
    """Whether backward has taken away what ``ctx`` saved."""
    return ctx.freed if isinstance(ctx, ForeignNode) else ctx._saved is FREED
