"""Who has saved what: the ctxs to look at again when a tensor is changed in place."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from minigrad.engine.core.saved import FREED
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import ForeignNode, SavedSeen, unheard
from minigrad.tracing.memory import kept_by, root_of
from minigrad.tracing.nodes import Card
from minigrad.tracing.values import safely

MOST_LATER: Final = 1_000
"""So many nodes may be waiting to be looked at, and not all be alive."""


class Savers:
    """For each memory the ctxs that saved a tensor of it; none is kept alive."""

    def __init__(self) -> None:
        self._cards: dict[Any, dict[int, Card]] = {}
        self._later: list[Card] = []
        self._most = MOST_LATER

    def later(self, card: Card) -> None:
        """The node of ``card`` has saved something: look when it matters."""
        self._later.append(card)
        if len(self._later) > self._most:
            self._later = [one for one in self._later if one() is not None]
            self._most = 2 * len(self._later) + MOST_LATER

    def of(self, tensor: Any) -> list[Card]:
        """The cards of ctxs that still hold a tensor in the memory of this one."""
        later, self._later = self._later, []
        for card in later:
            for value in saved_by(card()):
                memory = memory_of(value)
                if memory is not None:
                    self._cards.setdefault(memory, {})[id(card)] = card
        there = self._cards.get(memory_of(tensor), {})
        for key, card in list(there.items()):
            ctx = card()
            if ctx is None or is_freed(ctx):
                del there[key]
        return list(there.values())


def saved_by(node: Any) -> list[Any]:
    """The tensors or arrays that a node keeps for its backward, if it is there."""
    if isinstance(node, ForeignNode):
        seen = [one for one in node.saved.values() if isinstance(one, SavedSeen)]
        return [one.now() for one in seen]
    packed = () if node is None else tuple.__iter__(node._saved)
    return [kept[1] for kept in map(kept_by, packed) if kept is not None]


def memory_of(tensor: Any) -> Any:
    """What two tensors have in common if they share memory; None if it is not known."""
    if tensor is None:
        return None
    if type(tensor) is np.ndarray:
        return id(tensor if tensor.base is None else root_of(tensor))
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
