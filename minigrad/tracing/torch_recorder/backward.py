"""One backward of torch's, as the hooks of its nodes tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.tracing.foreign import ForeignNode, seen_torch
from minigrad.tracing.nodes import inputs_first, receivers_of
from minigrad.tracing.torch_recorder.telling import TorchTelling
from minigrad.tracing.values import safely

Root = tuple[ForeignNode, int, Any]


class TorchTask:
    """A call of torch's engine: what the story asks of one, and tells by.

    torch adds up what arrives at a node where nobody sees it. The same sums are made
    here, in the same order; what really arrived is told when the node's turn comes.
    """

    def __init__(
        self,
        telling: TorchTelling,
        roots: list[Root],
        retain_graph: bool,
        create_graph: bool,
        targets: list[ForeignNode],
    ) -> None:
        self.depth = len(telling.tasks)  # how many backwards this one is inside of
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.roots = [(n, slot, self.shown(g)) for n, slot, g in roots]
        self._tell = telling
        self._story = telling.story
        order = inputs_first([node for node, _, _ in roots], below)
        self._arrive = Counter((node, slot) for node, slot, _ in roots)
        self.dependencies: Counter[ForeignNode] = Counter()
        for node in order:
            self._arrive.update([(to, slot) for _, to, slot in receivers_of(node)])
            self.dependencies.update(below(node))
        self._needed = on_a_path(order, targets) if targets else None
        self._waiting: dict[tuple[ForeignNode, int], Any] = {}
        self._had_no_grad = False
        self._for_leaf: Any = None  # what has arrived, and is not told as added yet
        for node, slot, gradient in self.roots:
            self._add(node, slot, gradient)

    def shown(self, gradient: Any) -> Any:
        """A gradient as minigrad tells it: a Tensor only if it has a graph."""
        if gradient is None or self.create_graph:
            return gradient
        return safely(lambda: seen_torch(gradient).array, gradient)

    def before(self, node: ForeignNode, gradients: Iterable[Any]) -> None:
        """A node is about to run, with what has arrived."""
        self._tell.meet_all(gradients)
        told = [self.shown(gradient) for gradient in gradients]
        if node.is_leaf:
            self._had_no_grad = node.variable is None or node.variable.grad is None
            self._for_leaf = told[0]
        self._story.node_picked(self, node, told)

    def returned(self, node: ForeignNode, returned: Iterable[Any]) -> None:
        """A node's rule has returned."""
        self._tell.meet_all(returned)
        self._story.node_returned(self, node, self._by_slot(node, returned))

    def ran(self, node: ForeignNode, returned: Iterable[Any]) -> None:
        """A node has run, and all hooks after it."""
        if node.is_leaf:
            self.leaf_ran(node)
            return
        self._tell.meet_all(returned)
        gradients = self._by_slot(node, returned)
        for slot, to, output in receivers_of(node):
            if self.visits(to):
                gradient = gradients[slot]
                total = self._add(to, output, gradient)
                self._story.gradient_sent(self, node, slot, to, output, gradient, total)
                self.dependencies[to] -= 1
        if not self.retain_graph:
            node.freed = True
            self._story.node_released(node, tuple(node.saved))

    def leaf_ran(self, node: ForeignNode) -> None:
        """A leaf's ``.grad`` is up to date; told once."""
        leaf = node.variable
        self._tell.meet_all(getattr(leaf, "grad", None))
        gradient, self._for_leaf = self._for_leaf, None
        if gradient is None or leaf is None:
            return
        self._story.say_accumulated(node, self._had_no_grad, gradient, leaf.grad)

    def _by_slot(self, node: ForeignNode, returned: Iterable[Any]) -> tuple[Any, ...]:
        """One gradient for each argument; torch leaves out those of no tensor."""
        values = iter(returned)
        gradients: list[Any] = []
        for edge in node._edges:
            value = None if edge is NOT_A_TENSOR else next(values, None)
            gradients.append(None if edge is None else self.shown(value))
        return tuple(gradients)

    def visits(self, node: ForeignNode) -> bool:
        """Whether gradients arrive at ``node`` in this call."""
        return self._needed is None or node in self._needed

    def _add(self, node: ForeignNode, slot: int, gradient: Any) -> Any:
        """What waits at an output of ``node`` now that ``gradient`` has come.

        Only where more than one arrives is there anything to remember.
        """
        place = node, slot
        if self._arrive[place] < 2:
            return gradient
        if gradient is None:
            return self._waiting.get(place)
        plain = seen_torch(gradient).array if self.create_graph else gradient
        before = self._waiting.get(place)
        self._waiting[place] = plain.copy() if before is None else before + plain
        return gradient if before is None else self._waiting[place]


def below(node: ForeignNode) -> list[ForeignNode]:
    """Where the gradients of ``node`` go, one for each edge."""
    return [receiver for _, receiver, _ in receivers_of(node)]


def on_a_path(order: list[ForeignNode], targets: list[ForeignNode]) -> set[ForeignNode]:
    """The nodes that a wanted gradient passes; ``order`` is inputs first."""
    found = set(targets)
    for node in order:
        if not found.isdisjoint(below(node)):
            found.add(node)
    return found
