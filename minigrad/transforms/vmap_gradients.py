"""Gradients where ``vmap`` is about: of examples, and for a batch of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from minigrad import errors
from minigrad.engine import gradients
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.gradient_edge import GradientEdge, info_of
from minigrad.engine.interpreters import opened_here, stack_of
from minigrad.transforms.vmap_tensor import (
    batched_like,
    holds_batched,
    levels_of,
    physical,
    pull_all,
)

Ends: TypeAlias = Sequence[Tensor | GradientEdge]


def grad(
    plain: Callable[..., Any],
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> Any:
    """``autograd.grad`` inside of a transform; ``plain`` is what it is elsewhere."""
    options: dict[str, Any] = {
        "retain_graph": retain_graph,
        "create_graph": create_graph,
        "allow_unused": allow_unused,
        "materialize_grads": materialize_grads,
    }
    wanted = gradients.inputs_of(inputs, "grad")
    if not holds_batched([outputs, wanted]):
        return plain(outputs, inputs, grad_outputs, **options)
    ends = gradients.outputs_of(outputs, "grad")
    given = gradients.gradients_of(ends, grad_outputs, "grad")
    found = grad_of_examples(*tracked(ends, wanted), given, **options)
    return gradients.in_form_of(inputs, found)


def number_of_gradients(outputs: Ends, grad_outputs: Sequence[Tensor | None]) -> int:
    """How many gradients the batch has."""
    sizes = []
    pairs = zip(outputs, grad_outputs, strict=False)
    for index, (output, gradient) in enumerate(pairs):
        if not isinstance(gradient, Tensor):
            continue
        shape = info_of(output).shape
        if gradient.shape[1:] != shape or gradient.ndim == 0:
            raise errors.GradientArgumentError.at(
                "grad",
                "If `is_grads_batched=True`, we interpret the first dimension of each "
                "grad_output as the batch dimension. The sizes of the remaining "
                "dimensions are expected to match the shape of corresponding output, "
                f"but a mismatch was detected: grad_output[{index}] has a shape of "
                f"torch.Size({list(gradient.shape)}) and output[{index}] has a shape "
                f"of torch.Size({list(shape)})",
                f"give gradients of shape (n, *{tuple(shape)})",
            )
        sizes.append(gradient.shape[0])
    if not sizes:
        raise errors.MappingError.at(
            "grad",
            "vmap: Expected at least one Tensor to vmap over: with "
            "is_grads_batched=True, grad_outputs are the batch",
            "give grad_outputs with a first dimension that counts the gradients",
        )
    if any([size != sizes[0] for size in sizes]):
        raise errors.MappingError.at(
            "grad",
            "vmap: Expected all tensors to have the same size in the mapped "
            f"dimension, got sizes {sizes} for the mapped dimension",
            "give as many gradients for each output",
        )
    return int(sizes[0])


def grad_of_examples(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None],
    **options: Any,
) -> tuple[Tensor | None, ...]:
    """``autograd.grad`` of examples, by that of all of them.

    The graph is that of whole batches. No example depends on another one, so the
    gradient of a batch is the batch of the gradients.
    Raises: GraphError for an input that is the same in every example: the graph does
    not tell apart what each of them adds to its gradient.
    """
    levels = levels_of([*outputs, *inputs])
    firsts = [
        ones_like(output) if gradient is None else gradient
        for output, gradient in zip(outputs, grad_outputs, strict=True)
    ]
    whole_outputs = [pull_all(tensor, levels) for tensor in outputs]
    whole_firsts = [pull_all(tensor, levels) for tensor in firsts]
    for index, tensor in enumerate(inputs):
        if len(levels_of([tensor])) < len(levels):
            raise gradients.unused(index)
    whole_inputs = [physical(tensor) for tensor in inputs]
    with stack_of(tuple([one for one in opened_here() if one not in levels])):
        found = gradients.grad(whole_outputs, whole_inputs, whole_firsts, **options)
    pairs = zip(found, inputs, strict=True)
    return tuple([None if g is None else batched_like(g, x) for g, x in pairs])


def ones_like(tensor: Tensor) -> Tensor:
    """The first gradient of an output that has one element in each example."""
    return Tensor(np.ones(tensor.shape, tensor.dtype))


def tracked(outputs: Ends, inputs: Ends) -> tuple[list[Tensor], list[Tensor]]:
    """The same, if their graph is one that the running function may see.

    Raises: GraphError, also for an edge in place of a Tensor.
    """
    for index, output in enumerate(outputs):
        if not isinstance(output, Tensor) or not output.requires_grad:
            raise gradients.no_graph(index, "grad")
    for index, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            gradients.target_of(Tensor(0.0), index)
    return list(cast("Any", outputs)), list(cast("Any", inputs))


def is_tracked(tensor: Tensor) -> bool:
    """Whether there is a graph below all batching."""
    return physical(tensor)._requires_grad
