"""The traversal: newest ready node first, gradients added where paths meet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.function import BackwardCFunction
from minigrad.engine.grad_mode import Entered
from minigrad.engine.hook_calls import run_after, run_before, run_captured
from minigrad.engine.node import (
    NOT_A_TENSOR,
    AccumulateGrad,
    _FunctionBase,
)
from minigrad.engine.own_gradients import note_own, note_own_after_hooks
from minigrad.engine.structural import SumTo, ToCopy, sums_to
from minigrad.engine.tensor import Tensor

Root = tuple[_FunctionBase, int, Any]


class GraphTask:
    """One call of backward: what waits at each node, and which nodes are ready.

    A gradient is an array, or a Tensor if the task ``carries_tensors``: with
    ``create_graph``, or because it is asked to. ``is_watched`` in anomaly mode.
    ``targets`` are the ``(node, output)`` pairs whose gradients are asked for; without
    any, every leaf accumulates its own.
    """

    is_watched = False

    modes: tuple[bool, *Entered]
    """The modes in which every node begins: grad mode, and those of ``entered``."""

    def __init__(
        self,
        roots: list[Root],
        retain_graph: bool,
        create_graph: bool,
        targets: list[tuple[_FunctionBase, int]] | None = None,
        runs: frozenset[_FunctionBase] = frozenset(),
        as_tensors: bool = False,
    ) -> None:
        self.carries_tensors = bool(create_graph or as_tensors)
        self.roots = roots if self.carries_tensors else as_arrays(roots)
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.own: dict[_FunctionBase, Any] = {}
        self.takes_over = not self.carries_tensors and observe.observer is None
        self.waiting: dict[_FunctionBase, list[Any]] = {}
        self.ready: list[tuple[int, int, _FunctionBase]] = []
        self.arrival = itertools.count()  # decides between equal sequence numbers
        self.dependencies = count_dependencies([root[0] for root in roots])
        self.captured: dict[tuple[_FunctionBase, int], Any] = {}
        self.hooks_to_run: list[tuple[int, int, _FunctionBase]] = []
        self.received: tuple[Any, ...] = ()
        self.running: _FunctionBase | None = None
        self.depth = 0  # how many backwards this one is inside of
        self.callbacks: list[Callable[[], object]] = []
        self.targets = frozenset(targets or ())
        self.target_nodes = frozenset([node for node, _ in self.targets])
        self.needed = None if targets is None else self._on_a_path(runs)

    def run(self) -> None:
        """Visit every node once, each after all nodes that send it a gradient."""
        while self.ready:
            # pick the newest ready node
            node, gradients = self._pick_newest_ready()

            # call its backward
            returned = node._run_backward(gradients, self.create_graph)

            # check what it returned
            checked = self._check_returned(node, returned)

            # add into the receivers
            for slot, gradient in enumerate(checked):
                self._send(node, slot, gradient)

            # release
            if not self.retain_graph:
                node._release_saved()

    def start(self) -> None:
        """Lay the gradients of the roots at their nodes."""
        for node, slot, gradient in self.roots:
            self._add(node, slot, gradient)
        if observe.observer is not None:
            observe.observer.backward_started(self)
        for node in dict.fromkeys([root[0] for root in self.roots]):
            if self.dependencies[node] == 0:
                self._make_ready(node)

    def _pick_newest_ready(self) -> tuple[_FunctionBase, list[Any]]:
        """The ready node that was made last, with one gradient per output of it."""
        if self.hooks_to_run:
            self._run_hooks_before(self.ready[0])
        _, _, node = heappop(self.ready)
        self.running = node
        gradients = self.waiting.pop(node)
        if node._attached is not None:
            gradients = run_before(self, node, gradients)
            if type(node) is AccumulateGrad and self.takes_over:
                note_own_after_hooks(self, node, gradients)
        if observe.observer is not None:
            observe.observer.node_picked(self, node, gradients)
        return node, gradients

    def _check_returned(self, node: _FunctionBase, returned: Any) -> list[Any]:
        """One gradient per edge, fitted to the shape and dtype of its receiver."""
        gradients = node._check_returned(returned, self.carries_tensors)
        unfitted = gradients if node._attached is None else list(gradients)
        for slot, gradient in enumerate(gradients):
            gradients[slot] = None if gradient is None else fit(node, slot, gradient)
        if node._attached is not None:
            gradients = run_after(self, node, unfitted, gradients)
        elif isinstance(node, BackwardCFunction) and self.takes_over:
            for edge in node._edges:
                if type(edge) is AccumulateGrad:
                    gradient = None  # note_own counts the references to each
                    note_own(self, node, returned, gradients)
                    break
        if observe.observer is not None:
            observe.observer.node_returned(self, node, tuple(gradients))
        return gradients

    def _send(self, node: _FunctionBase, slot: int, gradient: Any) -> None:
        """Add ``gradient`` to what waits at the other end of an edge of ``node``."""
        edge = node._edges[slot]
        if edge is None or edge is NOT_A_TENSOR:
            return
        receiver: Any
        receiver, receiver_slot = edge if type(edge) is tuple else (edge, 0)
        if self.needed is not None and receiver not in self.needed:
            return
        total = self._add(receiver, receiver_slot, gradient)
        if observe.observer is not None:
            observe.observer.gradient_sent(
                self, node, slot, receiver, receiver_slot, gradient, total
            )
        missing = self.dependencies[receiver] - 1
        self.dependencies[receiver] = missing
        if missing == 0:
            self._make_ready(receiver)

    def _add(self, node: _FunctionBase, slot: int, gradient: Any) -> Any:
        """Add to what waits for output ``slot`` of ``node``; never in place."""
        waiting = self.waiting.get(node)
        if waiting is None:
            waiting = self.waiting[node] = [None] * len(node._output_metadata)
        total = waiting[slot]
        if gradient is not None:
            total = gradient if total is None else total + gradient
            waiting[slot] = total
        return total

    def _make_ready(self, node: _FunctionBase) -> None:
        """Let ``node`` run in its turn; if only its gradient is wanted, keep that."""
        place = (-node._number, next(self.arrival), node)
        if self.needed is None or self.needed.get(node, False):
            if self.targets:
                self._capture(node, self.waiting[node])
            heappush(self.ready, place)
        elif node._attached is None:
            self._capture(node, self.waiting.pop(node))
        else:
            heappush(self.hooks_to_run, place)

    def _capture(self, node: _FunctionBase, gradients: list[Any]) -> None:
        """Keep what was asked for of the gradients of a node's outputs."""
        if node not in self.target_nodes:
            return
        for slot, gradient in enumerate(gradients):
            if (node, slot) in self.targets:
                self.captured[node, slot] = gradient
                if observe.observer is not None:
                    observe.observer.gradient_captured(node, slot, gradient)

    def _run_hooks_before(self, place: tuple[Any, ...]) -> None:
        """Hooks of captured gradients, each when its node would have had its turn."""
        while self.hooks_to_run and self.hooks_to_run[0] < place:
            node = heappop(self.hooks_to_run)[2]
            self.running = node
            gradients = run_captured(self, node, self.waiting.pop(node))
            self._capture(node, gradients)

    def finish(self) -> None:
        """Run what is left when no node is ready any more."""
        self._run_hooks_before((math.inf,))

    def visits(self, node: _FunctionBase) -> bool:
        """Whether gradients arrive at ``node`` in this call."""
        return node in (self.dependencies if self.needed is None else self.needed)

    def _on_a_path(self, runs: frozenset[_FunctionBase]) -> dict[_FunctionBase, bool]:
        """The nodes that a wanted gradient passes, and whether they have to run."""
        senders = senders_of(self.dependencies)
        unseen = [node for node, _ in self.targets if node in self.dependencies]
        lies_on_path = {node: node in runs for node in unseen}
        while unseen:
            for node in senders.pop(unseen.pop(), ()):
                lies_on_path[node] = True
                unseen.append(node)
        return lies_on_path


def as_arrays(roots: list[Root]) -> list[Root]:
    """The roots with the plain values of their gradients."""
    return [(node, slot, gradient.array) for node, slot, gradient in roots]


def count_dependencies(roots: list[_FunctionBase]) -> dict[_FunctionBase, int]:
    """For each node below ``roots``: how many edges will bring it a gradient."""
    dependencies: dict[Any, int] = dict.fromkeys(roots, 0)
    unseen = list(dependencies)
    while unseen:
        for edge in unseen.pop()._edges:
            if edge is None or edge is NOT_A_TENSOR:
                continue
            node = edge[0] if type(edge) is tuple else edge
            if node in dependencies:
                dependencies[node] += 1
            else:
                dependencies[node] = 1
                unseen.append(node)
    return dependencies


def senders_of(nodes: Iterable[_FunctionBase]) -> dict[Any, list[_FunctionBase]]:
    """For each node that gradients go to: the nodes that send them.

    Where no gradient goes there is no node; nobody asks who sends one to None.
    """
    senders: dict[Any, list[_FunctionBase]] = {}
    for node in nodes:
        for edge in node._edges:
            receiver = edge[0] if type(edge) is tuple else edge
            if receiver in senders:
                senders[receiver].append(node)
            else:
                senders[receiver] = [node]
    return senders


def fit(node: _FunctionBase, slot: int, gradient: Any) -> Any:
    """``gradient`` in the shape and dtype that the receiver's output had.

    A gradient that is larger by broadcasting is summed down. Where no gradient is
    needed, none is checked: the answer is None.
    Raises: GradientShapeError for any other shape.
    """
    edge = node._edges[slot]
    if edge is None or edge is NOT_A_TENSOR:
        return None
    receiver: Any
    receiver, output_nr = edge if type(edge) is tuple else (edge, 0)
    shape, dtype = receiver._output_metadata[output_nr]
    values = gradient.array if type(gradient) is Tensor else gradient
    if values.shape != shape:
        if not sums_to(gradient.shape, shape):
            raise wrong_shape(node, slot, gradient.shape, shape)
        gradient = SumTo.of(gradient, shape)
    if values.dtype is not dtype and dtype is not None and values.dtype != dtype:
        gradient = ToCopy.of(gradient, dtype)
    return gradient


def wrong_shape(
    node: _FunctionBase, slot: int, got: tuple[int, ...], wanted: tuple[int, ...]
) -> errors.GradientShapeError:
    """The error for a gradient that is not its input's shape."""
    tensors_before = [e for e in node._edges[:slot] if e is not NOT_A_TENSOR]
    return errors.GradientShapeError(
        errors.message(
            f"{node.operation_name()}.backward",
            f"Function {node.name()} returned an invalid gradient at index "
            f"{len(tensors_before)} - got {list(got)} but expected shape compatible "
            f"with {list(wanted)}",
            f"return a gradient of shape {wanted} for argument {slot + 1}; only a "
            "gradient that is larger by broadcasting is summed down",
            "06",
        )
    )
