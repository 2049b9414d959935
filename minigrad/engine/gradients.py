"""Asking for gradients: ``backward`` and ``grad``, and what they refuse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from minigrad import errors
from minigrad.engine import interpreters
from minigrad.engine.core.backward import GraphTask, Root, run_task
from minigrad.engine.core.node import _FunctionBase
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import running_task
from minigrad.engine.gradient_edge import GradientEdge, info_of, place_of
from minigrad.engine.inspection import OutputInfo

Place: TypeAlias = tuple[_FunctionBase, int]
Ends: TypeAlias = (
    "Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | dict[Any, Tensor]"
)
"""What ``backward`` and ``grad`` start from, or end at."""


def backward(
    tensors: Ends,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Ends | None = None,
) -> None:
    """Add the gradients of ``tensors`` into the ``.grad`` of the leaves below them.

    Shape: each gradient as its tensor; for a tensor of one element it may be left out.
    With ``inputs``, only those accumulate. The saved values are released unless
    ``retain_graph`` (by default: what ``create_graph`` is).

    Raises: GraphError; GradientArgumentError.
    See: torch ``autograd.backward``.
    """
    if interpreters.active and (handler := interpreters.handler_of("backward")):
        handler(backward, (tensors, grad_tensors), {})
        return
    if create_graph is True:
        warnings.warn(
            errors.message(
                "backward",
                "Using backward() with create_graph=True will create a reference cycle "
                "between the parameter and its gradient, which can keep their memory",
                "use minigrad.autograd.grad, or set .grad to None afterwards",
            ),
            UserWarning,
            stacklevel=3,
        )
    roots = roots_of(tensors, grad_tensors, "backward")
    if inputs is None:
        is_plain = retain_graph is None and create_graph is False
        retain = False if is_plain else keep(retain_graph, create_graph)
        traverse(roots, retain, create_graph)
        return

    wanted = inputs_of(inputs, "backward")
    if not wanted:
        raise no_inputs("backward")
    targets = [target_of(tensor, i) for i, tensor in enumerate(wanted)]
    for tensor in wanted:
        if isinstance(tensor, Tensor):
            tensor.retain_grad()
    nodes = frozenset([node for node, _ in targets])
    traverse(roots, keep(retain_graph, create_graph), create_graph, targets, nodes)


def backward_of_tensor(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add d(self)/d(leaf), weighted by ``gradient``, into every leaf's ``.grad``.

    Shape: ``gradient`` as this tensor; for one element, it may be None, which is 1.
    Raises: GraphError without a graph; GradientArgumentError for another shape.
    See: torch ``Tensor.backward``.
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


backward_of_tensor.__name__ = "backward"
backward_of_tensor.__qualname__ = "Tensor.backward"
Tensor.backward = backward_of_tensor


def traverse(
    roots: list[Root],
    retain_graph: bool,
    create_graph: bool,
    targets: list[Place] | None = None,
    runs: frozenset[_FunctionBase] = frozenset(),
    as_tensors: bool = False,
) -> GraphTask:
    """A traversal that has been run; on Tensors if an interpreter sees them."""
    if interpreters.active and (top := interpreters.top()) is not None:
        as_tensors = as_tensors or top.sees_gradients()
    task = GraphTask(roots, retain_graph, create_graph, targets, runs, as_tensors)
    run_task(task)
    return task


@interpreters.dispatched("grad")
def grad(
    outputs: Ends,
    inputs: Ends,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``; no ``.grad`` changes.

    Shape: as the inputs, one each: a tuple, or for a dict of inputs a dict. An input
    that was not used gives an error, None with ``allow_unused``, zeros with
    ``materialize_grads``.

    Raises: GraphError; GradientArgumentError.
    """
    check_options(materialize_grads, allow_unused)
    wanted = some_inputs_of(inputs)
    roots = roots_of(outputs, grad_outputs, "grad")
    targets = [target_of(tensor, i) for i, tensor in enumerate(wanted)]
    task = traverse(roots, keep(retain_graph, create_graph), create_graph, targets)

    results = as_results([task.captured.get(target) for target in targets], roots)
    for index, tensor in enumerate(wanted):
        if results[index] is None and materialize_grads:
            results[index] = zeros_for(tensor, create_graph)
        if results[index] is None and not allow_unused:
            raise unused(index)
    return in_form_of(inputs, tuple(results))


def check_options(materialize_grads: bool, allow_unused: bool | None) -> None:
    """Refuse options that contradict each other.

    Raises: ArgumentValueError.
    """
    if materialize_grads and allow_unused is False:
        raise errors.ArgumentValueError.at(
            "grad",
            "Expected allow_unused to be True or not passed when "
            "materialize_grads=True, but got: allow_unused=False",
            "leave allow_unused out",
        )


def some_inputs_of(inputs: Any) -> list[Tensor | GradientEdge]:
    """The tensors that ``grad`` is asked for.

    Raises: GradientArgumentError if there are none.
    """
    wanted = inputs_of(inputs, "grad")
    if not wanted:
        raise no_inputs("grad")
    return wanted


def in_form_of(inputs: Any, results: tuple[Tensor | None, ...]) -> Any:
    """The results as a tuple, or as a dict if the inputs are one."""
    return dict(zip(inputs, results, strict=True)) if type(inputs) is dict else results


def zeros_for(tensor: Tensor | GradientEdge, requires_grad: bool) -> Tensor:
    """The gradient of an input that was not used.

    Raises: GradientArgumentError for an edge.
    """
    if isinstance(tensor, Tensor):
        return Tensor(np.zeros(tensor.shape, tensor.dtype), requires_grad)
    raise errors.GradientArgumentError.at(
        "grad",
        "materialize_grads cannot be used when the given input is a GradientEdge",
        "give the Tensor itself, or leave materialize_grads out",
    )


def keep(retain_graph: bool | None, create_graph: bool) -> bool:
    """Whether saved values stay: by default only if the backward is recorded."""
    for name, value in (("retain_graph", retain_graph), ("create_graph", create_graph)):
        if value is not None and not isinstance(value, int):
            raise errors.ArgumentTypeError.at(
                name,
                f"'{type(value).__name__}' object cannot be interpreted as an "
                "integer, nor as True or False",
                f"give {name}=True or {name}=False",
            )
    return create_graph if retain_graph is None else retain_graph


def inputs_of(inputs: Any, where: str) -> list[Tensor | GradientEdge]:
    """The tensors whose gradients are asked for, or the edges that stand for them.

    Raises: GradientArgumentError for what is no Tensor, GradientArgumentTypeError for
    what is no sequence nor dict.
    """
    if isinstance(inputs, (Tensor, GradientEdge)):
        return [inputs]
    if type(inputs) is dict:
        inputs = list(inputs.values())
    elif isinstance(inputs, Mapping):
        raise errors.GradientArgumentTypeError.at(
            where,
            f"`inputs` argument to `{where}()` must be a dict, not "
            f"{type(inputs).__name__}. Other Mapping types are not supported.",
            "make a dict of it: dict(inputs)",
        )
    several = isinstance(inputs, Iterable)
    wanted = list(inputs) if several else [inputs]
    for value in wanted:
        if not isinstance(value, (Tensor, GradientEdge)):
            text = errors.message(
                where,
                "all inputs have to be Tensors or GradientEdges, but got "
                f"{type(value).__name__}",
                "give the Tensors whose gradients are wanted",
            )
            if several:
                raise errors.GradientArgumentError(text)
            raise errors.GradientArgumentTypeError(text)
    return wanted


def outputs_of(tensors: Any, where: str) -> list[Tensor | GradientEdge]:
    """The tensors that a traversal starts from, or the edges that stand for them.

    Raises: GradientArgumentTypeError for what is no Tensor.
    """
    if isinstance(tensors, (Tensor, GradientEdge)):
        return [tensors]
    outputs = list(tensors) if isinstance(tensors, Iterable) else [tensors]
    for value in outputs:
        if not isinstance(value, (Tensor, GradientEdge)):
            raise errors.GradientArgumentTypeError.at(
                where,
                "Expected output to be a torch.Tensor, that is a Tensor, but got "
                f"{type(value).__name__}",
                "give the Tensor that the computation ended with",
            )
    return outputs


def as_results(gradients: list[Any], roots: list[Root]) -> list[Tensor | None]:
    """Captured gradients as Tensors; one that came through unchanged is one Tensor.

    So a first gradient may be handed back as the very object that was given, and two
    inputs of a sum share theirs, as in torch. Other memory is copied unless it
    is read-only: it may belong to a tensor that counts its own versions.
    """
    firsts = [first for _, _, first in roots]
    if all([one is None or isinstance(one, Tensor) for one in gradients]):
        return list(gradients)
    known = {id(first.array): first for first in firsts}
    results: list[Tensor | None] = []
    for gradient in gradients:
        if gradient is None or isinstance(gradient, Tensor):
            results.append(gradient)
            continue
        if id(gradient) not in known:
            known[id(gradient)] = Tensor(in_own_memory(gradient))
        results.append(known[id(gradient)])
    return results


def in_own_memory(gradient: Any) -> Any:
    """A copy, unless the memory is read-only anyway."""
    return gradient if 0 in gradient.strides else np.array(gradient)


def target_of(tensor: Tensor | GradientEdge, index: int) -> Place:
    """The place in the graph where the gradient of ``tensor`` arrives."""
    place = place_of(tensor)
    if place is None:
        raise errors.GraphError.at(
            "grad",
            "One of the differentiated Tensors does not require grad: the one at "
            f"index {index}",
            "create it with requires_grad=True",
            "04",
        )
    return place


def roots_of(
    tensors: Ends,
    gradients: Tensor | Sequence[Tensor | None] | None,
    where: str,
) -> list[Root]:
    """Where the traversal starts: the node of each tensor, with its first gradient."""
    if gradients is None and type(tensors) is Tensor and tensors._base is None:
        # The usual thing: one number, which some node has computed.
        node, array = tensors._grad_node, tensors.array
        if node is not None and array.size == 1:
            one = np.empty(array.shape, array.dtype)
            one.fill(1)
            return [(node, tensors.output_nr, Tensor(one))]
    outputs = outputs_of(tensors, where)
    given = gradients_of(outputs, gradients, where)
    roots = []
    for index, (output, gradient) in enumerate(zip(outputs, given, strict=True)):
        first = first_gradient(info_of(output), gradient, index, where)
        place = place_of(output)
        if place is None:
            raise no_graph(index, where)
        roots.append((*place, first))
    return roots


def gradients_of(
    outputs: list[Tensor | GradientEdge], gradients: Any, where: str
) -> list[Tensor | None]:
    """One given gradient, or None, for each output.

    Raises: GradientArgumentError for another number; GradientArgumentTypeError.
    """
    given: list[Any]
    if gradients is None:
        given = [None] * len(outputs)
    else:
        given = list(gradients) if isinstance(gradients, Sequence) else [gradients]
    for gradient in given:
        if gradient is not None:
            check_is_gradient(gradient, where)
    if len(given) != len(outputs):
        raise errors.GradientArgumentError.at(
            where,
            f"got {len(outputs)} tensors and {len(given)} gradients",
            "give one gradient for each tensor, or none at all",
        )
    return given


def first_gradient(
    output: Tensor | OutputInfo, gradient: Tensor | None, index: int, where: str
) -> Tensor:
    """The gradient given for an output, or 1 if it has a single element."""
    if gradient is None:
        if output.requires_grad and output.numel() != 1:
            raise errors.GradientArgumentError.at(
                where,
                "grad can be implicitly created only for scalar outputs; output "
                f"{index} has {output.numel()} elements, shape {tuple(output.shape)}",
                "reduce it first, for example with sum(), or say how much each "
                f"element counts: a gradient of shape {tuple(output.shape)}",
                "01",
            )
        return Tensor(np.ones(output.shape, output.dtype))
    if gradient.shape != output.shape:
        raise errors.GradientArgumentError.at(
            where,
            f"Mismatch in shape: grad_output[{index}] has a shape of "
            f"torch.Size({list(gradient.shape)}) and output[{index}] has a shape "
            f"of torch.Size({list(output.shape)}).",
            f"give a gradient of shape {tuple(output.shape)}: it is not broadcast",
        )
    return gradient.to(output.dtype)


def check_is_gradient(gradient: Any, where: str) -> None:
    """Refuse a first gradient that is neither a Tensor nor None.

    Raises: GradientArgumentTypeError.
    """
    if gradient is not None and not isinstance(gradient, Tensor):
        raise errors.GradientArgumentTypeError.at(
            where,
            "gradients can be either Tensors or None, but got "
            f"{type(gradient).__name__}",
            "wrap the numbers of one gradient: minigrad.tensor([1.0, 2.0])",
        )


def no_graph(index: int, where: str) -> errors.GraphError:
    """The error for a root that nothing was recorded for."""
    return errors.GraphError.at(
        where,
        f"element {index} of tensors does not require grad and does not have a grad_fn",
        "make an input with requires_grad=True, and compute the output outside "
        "no_grad()",
        "01",
    )


def no_inputs(where: str) -> errors.GradientArgumentError:
    """The error for an empty ``inputs``."""
    return errors.GradientArgumentError.at(
        where,
        f"`inputs` argument to `{where}()` cannot be empty.",
        "name at least one tensor, or leave inputs out",
    )


def unused(index: int) -> errors.GraphError:
    """The error for an input that the output does not depend on."""
    return errors.GraphError.at(
        "grad",
        f"The differentiated Tensor at index {index} appears to not have been "
        "used in the graph. Set allow_unused=True if this is the desired behavior.",
        "check that the output was computed from this very tensor, or pass "
        "allow_unused=True to get None for it",
        "05",
    )


def queue_callback(callback: Callable[[], object]) -> None:
    """Call ``callback`` once when the backward that runs now has ended well.

    Raises: GraphError outside of a backward.
    """
    task = running_task()
    if task is None:
        raise no_backward_runs()
    task.callbacks.append(callback)


def no_backward_runs() -> errors.GraphError:
    """The error for a final callback outside of a backward."""
    return errors.GraphError.at(
        "queue_callback",
        "Final callbacks can only be installed during backward pass.",
        "call it from a hook, or from the backward of a Function",
    )
