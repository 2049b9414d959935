"""The traversal: newest ready node first, gradients added where paths meet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from functools import partial
from heapq import heappop, heappush
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from minigrad.engine.core.hook_calls import run_after, run_before, run_captured
from minigrad.engine.core.node import NOT_A_TENSOR, _FunctionBase
from minigrad.engine.core.saved import FREED
from minigrad.engine.core.tensor import Gradient, Tensor
from minigrad.engine.core.validate import sums_to, wrong_shape
from minigrad.engine.errstate import NUMPY_WARNINGS, SILENCE
from minigrad.engine.fresh_thread import run_in_fresh_thread
from minigrad.engine.grad_mode import _Mode, _this_thread
from minigrad.engine.observe import notify

if TYPE_CHECKING:
    from minigrad.engine.saved_hooks import HooksInForce

Root = tuple[_FunctionBase, int, Tensor]

Modes: TypeAlias = "tuple[bool, bool, float, HooksInForce | None, str | None]"

first: Any = itemgetter(0)


class GraphTask:
    """One call of backward: what waits at each node, and which nodes are ready.

    A gradient is an array, or a Tensor if the task ``carries_tensors``: with
    ``create_graph``, or because it is asked to.
    ``targets`` are the ``(node, output)`` pairs whose gradients are asked for; without
    any, every leaf accumulates its own.
    """

    modes: Modes
    """The modes in which every node begins."""

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
        self.roots: list[tuple[_FunctionBase, int, Gradient]] = []
        for node, output_nr, gradient in roots:
            carried = gradient if self.carries_tensors else gradient.array
            self.roots.append((node, output_nr, carried))
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.mode = _this_thread.mode
        self.waiting: dict[_FunctionBase, list[Any]] = {}
        self.ready: list[tuple[int, int, _FunctionBase]] = []
        self.arrival = itertools.count()  # decides between equal sequence numbers
        self.dependencies = count_dependencies(list(map(first, roots)))
        self.captured: dict[tuple[_FunctionBase, int], Gradient | None] = {}
        self.hooks_to_run: list[tuple[int, int, _FunctionBase]] = []
        self.received: list[Gradient | None] = []  # by the node that has hooks
        self.running: _FunctionBase | None = None
        self.depth = 0  # how many backwards this one is inside of
        self.callbacks: list[Callable[[], object]] = []
        self.targets = frozenset(targets or ())
        self.target_nodes = frozenset(map(first, self.targets))
        self.needed = None if targets is None else self._on_a_path(runs)

    def run(self) -> None:
        """Visit every node once, each after all nodes that send it a gradient."""
        gradients: Any
        inbox: Any
        checked: Any
        while self.ready:
            # pick the next ready node
            if self.hooks_to_run:
                self._run_hooks_before(self.ready[0])
            node = self.running = heappop(self.ready)[2]
            gradients = self.waiting.pop(node)
            if node._attached is not None:
                gradients = run_before(self, node, gradients)
            observed = self.mode.observed
            if observed:
                notify("node_picked", self, node, gradients)

            # call its backward
            returned = node._run_backward(gradients, self.create_graph)

            # check what it returned
            checked = []
            if node._edges or node._attached is not None:
                checked = self._check_returned(node, returned)
            if observed:
                notify("node_returned", self, node, checked)

            # add into the receivers
            receiver: Any
            for slot, edge in enumerate(node._edges):
                if edge is None or edge is NOT_A_TENSOR:
                    continue
                receiver, output_nr = edge if type(edge) is tuple else (edge, 0)
                if self.needed is not None and receiver not in self.needed:
                    continue
                gradient = checked[slot]
                outputs = len(receiver._output_metadata)
                inbox = self.waiting.setdefault(receiver, [None] * outputs)
                total = inbox[output_nr]
                if gradient is not None:
                    total = gradient if total is None else total + gradient
                    inbox[output_nr] = total
                if observed:
                    self._notify_sent(node, slot, receiver, output_nr, gradient, total)
                self.dependencies[receiver] -= 1
                if self.dependencies[receiver] == 0:
                    place = -receiver._number, next(self.arrival), receiver
                    if self.needed is None:
                        heappush(self.ready, place)
                    else:
                        self._make_ready(place)

            # release
            if not self.retain_graph:
                if observed:
                    self._notify_released(node)
                node._saved = FREED
            # let go of the gradients: who accumulates one counts its holders
            gradients = returned = checked = gradient = inbox = total = None

    def start(self) -> None:
        """Lay the gradients of the roots at their nodes."""
        nodes: dict[_FunctionBase, None] = {}
        for node, output_nr, gradient in self.roots:
            inbox = self.waiting.setdefault(node, [None] * len(node._output_metadata))
            total = inbox[output_nr]
            inbox[output_nr] = gradient if total is None else total + gradient
            nodes[node] = None
        if self.mode.observed:
            notify("backward_started", self)
        for node in nodes:
            if self.dependencies[node] == 0:
                place = -node._number, next(self.arrival), node
                if self.needed is None:
                    heappush(self.ready, place)
                else:
                    self._make_ready(place)

    def _check_returned(
        self, node: _FunctionBase, returned: Any
    ) -> list[Gradient | None]:
        """One gradient per edge, fitted to the shape and dtype of its receiver."""
        if node._is_learners:
            gradients = node._gradients_by_edge(returned, self.carries_tensors)
        else:
            gradients = list(returned)
        attached = node._attached
        unfitted = gradients if attached is None else list(gradients)
        receiver: Any
        values: Any
        for slot, edge in enumerate(node._edges):
            if edge is None or edge is NOT_A_TENSOR:
                gradients[slot] = None
                continue
            gradient = gradients[slot]
            if gradient is None:
                continue
            receiver, output_nr = edge if type(edge) is tuple else (edge, 0)
            shape, dtype = receiver._output_metadata[output_nr]
            values = gradient.array if type(gradient) is Tensor else gradient
            if values.shape != shape or values.dtype is not dtype:
                gradients[slot] = fit(node, slot, gradient)
        if attached is not None:
            return run_after(self, node, unfitted, gradients)
        return gradients

    def _notify_sent(self, node: _FunctionBase, slot: int, *sent: object) -> None:
        notify("gradient_sent", self, node, slot, *sent)

    def _notify_released(self, node: _FunctionBase) -> None:
        dropped, node._saved = node._saved, FREED
        notify("node_released", node, dropped)

    def _make_ready(self, place: tuple[int, int, _FunctionBase]) -> None:
        """Let a node run in its turn; if only its gradient is wanted, keep that."""
        node = place[2]
        if self.needed is None or self.needed.get(node, False):
            if self.targets:
                self._capture(node, self.waiting[node])
            heappush(self.ready, place)
        elif node._attached is None:
            self._capture(node, self.waiting.pop(node))
        else:
            heappush(self.hooks_to_run, place)

    def _capture(self, node: _FunctionBase, gradients: list[Gradient | None]) -> None:
        """Keep what was asked for of the gradients of a node's outputs."""
        if node not in self.target_nodes:
            return
        for output_nr, gradient in enumerate(gradients):
            if (node, output_nr) in self.targets:
                self.captured[node, output_nr] = gradient
                if self.mode.observed:
                    notify("gradient_captured", node, output_nr, gradient)

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

    def leave_open_modes(self) -> None:
        """Leave what a rule or a hook has entered and not left."""
        mode = self.mode
        (
            mode.grad_enabled,
            mode.inference_enabled,
            mode.forward_limit,
            mode.saved_tensors_hooks,
            mode.saved_tensors_hooks_refused,
        ) = self.modes

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

    None, where no gradient goes, counts as a node that is never looked up.
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


def fit(node: _FunctionBase, slot: int, gradient: Gradient) -> Any:
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
    if gradient.shape != shape:
        if not sums_to(gradient.shape, shape):
            tensors = [one for one in node._edges[:slot] if one is not NOT_A_TENSOR]
            raise wrong_shape(node, slot, len(tensors), gradient.shape, shape)
        gradient = Tensor._sum_to(gradient, shape)
    values = gradient.array if type(gradient) is Tensor else gradient
    if dtype is not None and values.dtype != dtype:
        gradient = Tensor._to_dtype(gradient, dtype)
    return gradient


LEVELS_PER_THREAD: Final = 20
"""How many backwards inside one another a thread runs before it is relieved.

Python counts recursion for each thread; twenty levels leave forty calls for each.
"""


def run_task(task: GraphTask) -> None:
    """Run the traversal; what the nodes do is recorded only with ``create_graph``.

    Whatever is raised meanwhile, this thread's modes are afterwards as before. A
    backward inside a backward runs in the same thread, unless many surround it.
    """
    mode = _this_thread.mode
    task.depth = 0 if mode.task is None else mode.task.depth + 1
    if task.depth > 0 and task.depth % LEVELS_PER_THREAD == 0:
        run_in_fresh_thread(partial(run_here, task, mode), mode)
    else:
        run_here(task, mode)
    if mode.observed:
        notify("backward_finished", task)


def run_here(task: GraphTask, mode: _Mode) -> None:
    """Run the traversal in this thread."""
    if mode.stops:
        raise KeyboardInterrupt
    modes_before = modes_of(mode)
    before = mode.grad_enabled, mode.rules_see_tensors, mode.task
    warnings = NUMPY_WARNINGS.get()
    # No `with`: Ctrl-C can come between the end of a block and its __exit__.
    try:
        # Slopes may be infinite; torch does not warn of it, and neither do we.
        NUMPY_WARNINGS.set(SILENCE)
        mode.grad_enabled = bool(task.create_graph)
        mode.rules_see_tensors = task.carries_tensors
        mode.task = task
        task.modes = mode.grad_enabled, *modes_before[1:]
        try:
            task.start()
            task.run()
            if task.hooks_to_run:
                task.finish()
        except BaseException as error:
            notify("backward_raised", task, error)
            raise
        for callback in task.callbacks:
            callback()
    finally:
        mode.grad_enabled, mode.rules_see_tensors, mode.task = before
        task.modes = modes_before
        task.leave_open_modes()
        NUMPY_WARNINGS.set(warnings)


def modes_of(mode: _Mode) -> Modes:
    """The modes that a rule or a hook may enter, and may forget to leave."""
    return (
        mode.grad_enabled,
        mode.inference_enabled,
        mode.forward_limit,
        mode.saved_tensors_hooks,
        mode.saved_tensors_hooks_refused,
    )
