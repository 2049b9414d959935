"""The traversal: newest ready node first, gradients added where paths meet."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.grad_mode import set_grad_enabled
from minigrad.engine.node import (
    NOT_A_TENSOR,
    _FunctionBase,
    accumulate_node,
    edge_of,
    needs_gradient,
    split_edge,
)
from minigrad.engine.structural import SumTo, ToCopy, sums_to
from minigrad.engine.tensor import Tensor

Root = tuple[_FunctionBase, int, Any]


class GraphTask:
    """One call of backward: what waits at each node, and which nodes are ready.

    A gradient is an array, or a Tensor with ``create_graph``. ``targets`` are the
    ``(node, output)`` pairs whose gradients are asked for; without any, every leaf
    accumulates its own.
    """

    def __init__(
        self,
        roots: list[Root],
        retain_graph: bool,
        create_graph: bool,
        targets: list[tuple[_FunctionBase, int]] | None = None,
        runs: frozenset[_FunctionBase] = frozenset(),
    ) -> None:
        self.roots = roots
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.waiting: dict[_FunctionBase, list[Any]] = {}
        self.ready: list[tuple[int, int, _FunctionBase]] = []
        self.arrival = itertools.count()  # decides between equal sequence numbers
        self.dependencies = count_dependencies([root[0] for root in roots])
        self.captured: dict[tuple[_FunctionBase, int], Any] = {}
        self.targets = frozenset(targets or ())
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
        _, _, node = heappop(self.ready)
        gradients = self.waiting.pop(node)
        if observe.observer is not None:
            observe.observer.node_picked(self, node, gradients)
        return node, gradients

    def _check_returned(self, node: _FunctionBase, returned: Any) -> list[Any]:
        """One gradient per edge, fitted to the shape and dtype of its receiver."""
        gradients = node._check_returned(returned, self.create_graph)
        for slot, gradient in enumerate(gradients):
            gradients[slot] = None if gradient is None else fit(node, slot, gradient)
        if observe.observer is not None:
            observe.observer.node_returned(self, node, tuple(gradients))
        return gradients

    def _send(self, node: _FunctionBase, slot: int, gradient: Any) -> None:
        """Add ``gradient`` to what waits at the other end of an edge of ``node``."""
        edge = node._edges[slot]
        if edge is None or edge is NOT_A_TENSOR:
            return
        receiver, receiver_slot = split_edge(edge)
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
        if self.targets:
            for slot, gradient in enumerate(self.waiting[node]):
                if (node, slot) in self.targets:
                    self.captured[node, slot] = gradient
        if self.needed is None or self.needed.get(node, False):
            heappush(self.ready, (-node._number, next(self.arrival), node))
        else:
            del self.waiting[node]

    def _on_a_path(self, runs: frozenset[_FunctionBase]) -> dict[_FunctionBase, bool]:
        """The nodes that a wanted gradient passes, and whether they have to run."""
        wanted = {node for node, _ in self.targets}
        lies_on_path: dict[_FunctionBase, bool] = {}
        for node in inputs_first(self.dependencies):
            below = [
                split_edge(edge)[0] for edge in node._edges if needs_gradient(edge)
            ]
            passes = any([child in lies_on_path for child in below])
            if passes or node in wanted:
                lies_on_path[node] = passes or node in runs
        return lies_on_path


def count_dependencies(roots: list[_FunctionBase]) -> dict[_FunctionBase, int]:
    """For each node below ``roots``: how many edges will bring it a gradient."""
    dependencies = dict.fromkeys(roots, 0)
    unseen = list(dependencies)
    while unseen:
        for edge in unseen.pop()._edges:
            if edge is None or edge is NOT_A_TENSOR:
                continue
            node: Any = edge[0] if type(edge) is tuple else edge
            if node in dependencies:
                dependencies[node] += 1
            else:
                dependencies[node] = 1
                unseen.append(node)
    return dependencies


def inputs_first(dependencies: dict[_FunctionBase, int]) -> list[_FunctionBase]:
    """All nodes, each after the nodes it sends gradients to."""
    left = dict(dependencies)
    free = [node for node, count in left.items() if count == 0]
    order = []
    while free:
        node = free.pop()
        order.append(node)
        for edge in node._edges:
            if needs_gradient(edge):
                child = split_edge(edge)[0]
                left[child] -= 1
                if left[child] == 0:
                    free.append(child)
    return order[::-1]


def fit(node: _FunctionBase, slot: int, gradient: Any) -> Any:
    """``gradient`` in the shape and dtype that the receiver's output had.

    A gradient that is larger by broadcasting is summed down. Where no gradient is
    needed, none is checked: the answer is None.
    Raises: GradientShapeError for any other shape.
    """
    edge = node._edges[slot]
    if edge is None or edge is NOT_A_TENSOR:
        return None
    receiver, output_nr = split_edge(edge)
    shape, dtype = receiver._output_metadata[output_nr]
    if gradient.shape != shape:
        if not sums_to(gradient.shape, shape):
            raise wrong_shape(node, slot, gradient.shape, shape)
        gradient = SumTo.of(gradient, shape)
    if gradient.dtype != dtype:
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


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of ``tensors`` into the ``.grad`` of the leaves below them.

    Shape: each gradient as its tensor; for a tensor of one element it may be left out.
    With ``inputs``, only those accumulate. The saved values are released unless
    ``retain_graph`` (by default: what ``create_graph`` is).

    Raises: GraphError; GradientArgumentError.
    See: torch ``autograd.backward``.
    """
    roots = roots_of(tensors, grad_tensors, create_graph, "backward")
    if inputs is None:
        run_task(GraphTask(roots, keep(retain_graph, create_graph), create_graph))
        return

    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not wanted:
        raise no_inputs("backward")
    targets = [target_of(tensor, i) for i, tensor in enumerate(wanted)]
    leaves = frozenset([node for node, _ in targets if not node._edges])
    task = GraphTask(
        roots, keep(retain_graph, create_graph), create_graph, targets, leaves
    )
    run_task(task)
    for tensor, target in zip(wanted, targets, strict=True):
        gradient = task.captured.get(target)
        if not tensor.is_leaf and gradient is not None:
            gradient = as_result(gradient)
            old = tensor._grad
            tensor._grad = gradient if old is None else old + gradient


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``; no ``.grad`` changes.

    Shape: as the inputs, one each. An input that was not used gives an error, None
    with ``allow_unused``, zeros with ``materialize_grads``.

    Raises: GraphError; GradientArgumentError.
    See: torch ``autograd.grad``.

    >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    >>> minigrad.autograd.grad((x * x).sum(), x)
    (tensor([2., 4.]),)
    """
    if materialize_grads and allow_unused is False:
        raise errors.ArgumentValueError(
            errors.message(
                "grad",
                "Expected allow_unused to be True or not passed when "
                "materialize_grads=True, but got: allow_unused=False",
                "leave allow_unused out",
            )
        )
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not wanted:
        raise no_inputs("grad")
    roots = roots_of(outputs, grad_outputs, create_graph, "grad")
    targets = [target_of(tensor, i) for i, tensor in enumerate(wanted)]
    task = GraphTask(roots, keep(retain_graph, create_graph), create_graph, targets)
    run_task(task)

    results: list[Tensor | None] = []
    for index, (tensor, target) in enumerate(zip(wanted, targets, strict=True)):
        gradient = task.captured.get(target)
        if gradient is None and materialize_grads:
            gradient = np.zeros(tensor.shape, tensor.dtype)
        if gradient is None and not allow_unused:
            raise unused(index)
        results.append(None if gradient is None else as_result(gradient))
    return tuple(results)


def run_task(task: GraphTask) -> None:
    """Run the traversal; what the nodes do is recorded only with ``create_graph``."""
    # Slopes may be infinite; torch does not warn of it, and neither do we.
    with set_grad_enabled(task.create_graph), np.errstate(all="ignore"):
        task.start()
        task.run()
    if observe.observer is not None:
        observe.observer.backward_finished(task)


def keep(retain_graph: bool | None, create_graph: bool) -> bool:
    """Whether saved values stay: by default only if the backward is recorded."""
    return create_graph if retain_graph is None else retain_graph


def as_result(gradient: Any) -> Tensor:
    """A gradient of the traversal as a Tensor of its own."""
    return gradient if isinstance(gradient, Tensor) else Tensor(np.array(gradient))


def target_of(tensor: Tensor, index: int) -> tuple[_FunctionBase, int]:
    """The place in the graph where the gradient of ``tensor`` arrives."""
    if not tensor.requires_grad:
        raise errors.GraphError(
            errors.message(
                "grad",
                "One of the differentiated Tensors does not require grad: the one at "
                f"index {index}, of shape {tensor.shape}",
                "create it with requires_grad=True",
                "04",
            )
        )
    node = tensor._grad_fn
    return (accumulate_node(tensor) if node is None else node), tensor.output_nr


def roots_of(
    tensors: Tensor | Sequence[Tensor],
    gradients: Tensor | Sequence[Tensor | None] | None,
    create_graph: bool,
    where: str,
) -> list[Root]:
    """Where the traversal starts: the node of each tensor, with its first gradient."""
    outputs = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    given: list[Any]
    if gradients is None:
        given = [None] * len(outputs)
    else:
        given = list(gradients) if isinstance(gradients, Sequence) else [gradients]
    if len(given) != len(outputs):
        raise errors.GradientArgumentError(
            errors.message(
                where,
                f"got {len(outputs)} tensors and {len(given)} gradients",
                "give one gradient for each tensor, or none at all",
            )
        )
    roots = []
    for index, (tensor, gradient) in enumerate(zip(outputs, given, strict=True)):
        first = first_gradient(tensor, gradient, index, where)
        edge = edge_of(tensor)
        if edge is None:
            raise no_graph(index, where)
        node, slot = split_edge(edge)
        roots.append((node, slot, first if create_graph else first.array))
    return roots


def first_gradient(
    tensor: Tensor, gradient: Tensor | None, index: int, where: str
) -> Tensor:
    """The gradient given for ``tensor``, or 1 if it has a single element."""
    if gradient is None:
        if tensor.requires_grad and tensor.numel() != 1:
            raise errors.GradientArgumentError(
                errors.message(
                    where,
                    "grad can be implicitly created only for scalar outputs; output "
                    f"{index} has {tensor.numel()} elements, shape {tensor.shape}",
                    "reduce it first, for example with sum(), or say how much each "
                    f"element counts: a gradient of shape {tensor.shape}",
                    "01",
                )
            )
        return Tensor(np.ones(tensor.shape, tensor.dtype))
    if not isinstance(gradient, Tensor):
        raise errors.GradientArgumentTypeError(
            errors.message(
                where,
                "gradients can be either Tensors or None, but got "
                f"{type(gradient).__name__}",
                "wrap it: minigrad.tensor(value)",
            )
        )
    if gradient.shape != tensor.shape:
        raise errors.GradientArgumentError(
            errors.message(
                where,
                f"Mismatch in shape: grad_output[{index}] has a shape of "
                f"torch.Size({list(gradient.shape)}) and output[{index}] has a shape "
                f"of torch.Size({list(tensor.shape)}).",
                f"give a gradient of shape {tensor.shape}: it is not broadcast",
            )
        )
    return gradient.to(tensor.dtype)


def no_graph(index: int, where: str) -> errors.GraphError:
    """The error for a root that nothing was recorded for."""
    return errors.GraphError(
        errors.message(
            where,
            f"element {index} of tensors does not require grad and does not have a "
            "grad_fn",
            "make an input with requires_grad=True, and compute the output outside "
            "no_grad()",
            "01",
        )
    )


def no_inputs(where: str) -> errors.GradientArgumentError:
    """The error for an empty ``inputs``."""
    return errors.GradientArgumentError(
        errors.message(
            where,
            f"`inputs` argument to `{where}()` cannot be empty.",
            "name at least one tensor, or leave inputs out",
        )
    )


def unused(index: int) -> errors.GraphError:
    """The error for an input that the output does not depend on."""
    return errors.GraphError(
        errors.message(
            "grad",
            f"The differentiated Tensor at index {index} appears to not have been "
            "used in the graph. Set allow_unused=True if this is the desired behavior.",
            "check that the output was computed from this very tensor, or pass "
            "allow_unused=True to get None for it",
            "05",
        )
    )
