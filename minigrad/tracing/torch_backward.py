"""One backward of torch's, as the hooks of its nodes tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from minigrad.engine.node import NOT_A_TENSOR, split_edge
from minigrad.tracing.foreign import seen_torch
from minigrad.tracing.story import Story
from minigrad.tracing.torch_graph import TorchNode
from minigrad.tracing.values import safely

Root = tuple[TorchNode, int, Any]


class TorchTask:
    """A call of torch's engine: what the story asks of one, and tells by.

    torch adds up what arrives at a node where nobody sees it. The same sums are made
    here, in the same order; what really arrived is told when the node's turn comes.
    """

    def __init__(
        self,
        story: Story,
        roots: list[Root],
        retain_graph: bool,
        create_graph: bool,
        targets: list[TorchNode],
        depth: int = 0,
    ) -> None:
        self.depth = depth  # how many backwards this one is inside of
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.roots = [(n, slot, self.shown(g)) for n, slot, g in roots]
        self._story = story
        order = inputs_first([node for node, _, _ in roots])
        self._arrive = Counter((node, slot) for node, slot, _ in roots)
        self.dependencies: Counter[TorchNode] = Counter()
        for node in order:
            self._arrive.update(receivers(node))
            self.dependencies.update([receiver for receiver, _ in receivers(node)])
        self._needed = on_a_path(order, targets) if targets else None
        self._waiting: dict[tuple[TorchNode, int], Any] = {}
        self._had_no_grad = False
        self._for_leaf: Any = None  # what has arrived, and is not told as added yet
        for node, slot, gradient in self.roots:
            self._add(node, slot, gradient)

    def shown(self, gradient: Any) -> Any:
        """A gradient as minigrad tells it: a Tensor only if it has a graph."""
        if gradient is None or self.create_graph:
            return gradient
        return safely(lambda: seen_torch(gradient).array, gradient)

    def before(self, node: TorchNode, gradients: Iterable[Any]) -> None:
        """A node is about to run, with what has arrived."""
        told = [self.shown(gradient) for gradient in gradients]
        if node.is_leaf:
            self._had_no_grad = node.variable is None or node.variable.grad is None
            self._for_leaf = told[0]
        self._story.node_picked(self, node, told)

    def leaf_ran(self, node: TorchNode) -> None:
        """A leaf's ``.grad`` is up to date; told once."""
        leaf = node.variable
        gradient, self._for_leaf = self._for_leaf, None
        if gradient is None or leaf is None:
            return
        self._story.say_accumulated(node, leaf, self._had_no_grad, gradient, leaf.grad)

    def returned(self, node: TorchNode, returned: Iterable[Any]) -> None:
        """A node's rule has returned."""
        self._story.node_returned(self, node, self._by_slot(node, returned))

    def ran(self, node: TorchNode, returned: Iterable[Any]) -> None:
        """A node has run, and all hooks after it."""
        for slot, gradient in enumerate(self._by_slot(node, returned)):
            self._send(node, slot, gradient)
        if not self.retain_graph:
            node.freed = True
            self._story.node_released(node, tuple(node.saved))

    def _by_slot(self, node: TorchNode, returned: Iterable[Any]) -> tuple[Any, ...]:
        """One gradient for each argument; torch leaves out those of no tensor."""
        values = iter(returned)
        gradients: list[Any] = []
        for edge in node._edges:
            value = None if edge is NOT_A_TENSOR else next(values, None)
            gradients.append(None if edge is None else self.shown(value))
        return tuple(gradients)

    def _send(self, node: TorchNode, slot: int, gradient: Any) -> None:
        edge = node._edges[slot]
        if edge is None or edge is NOT_A_TENSOR:
            return
        receiver, output = split_edge(edge)
        if self._needed is not None and receiver not in self._needed:
            return
        total = self._add(receiver, output, gradient)
        self._story.gradient_sent(self, node, slot, receiver, output, gradient, total)
        self.dependencies[receiver] -= 1

    def visits(self, node: TorchNode) -> bool:
        """Whether gradients arrive at ``node`` in this call."""
        return self._needed is None or node in self._needed

    def _add(self, node: TorchNode, slot: int, gradient: Any) -> Any:
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


def receivers(node: TorchNode) -> list[tuple[TorchNode, int]]:
    """Where the gradients of ``node`` go, one for each edge."""
    edges = [e for e in node._edges if e is not None and e is not NOT_A_TENSOR]
    return [split_edge(edge) for edge in edges]


def inputs_first(roots: list[TorchNode]) -> list[TorchNode]:
    """All nodes below ``roots``, each once, after those it sends gradients to."""
    done: dict[TorchNode, None] = {}
    unseen = list(roots)
    while unseen:
        node = unseen[-1]
        below = [n for n, _ in receivers(node) if n not in done]
        if node in done or not below:
            done.setdefault(node)
            unseen.pop()
        unseen += below if node not in done else []
    return list(done)


def on_a_path(order: list[TorchNode], targets: list[TorchNode]) -> set[TorchNode]:
    """The nodes that a wanted gradient passes; ``order`` is inputs first."""
    found = set(targets)
    for node in order:
        if any([below in found for below, _ in receivers(node)]):
            found.add(node)
    return found
