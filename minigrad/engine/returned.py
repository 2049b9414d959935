"""The two sides of a learner's backward: what it is given, and what it returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.node import NOT_A_TENSOR
from minigrad.engine.tensor import Tensor
from minigrad.engine.validate import not_a_tensor, not_wanted, rule_name


def wrap_gradients(node: Any, gradients: list[Any]) -> list[Tensor | None]:
    """One Tensor for each output; zeros for one that got no gradient.

    An output that is not a Tensor gives None, and so does a missing gradient after
    ``ctx.set_materialize_grads(False)``.
    """
    wrapped: list[Tensor | None] = []
    for output_nr, gradient in enumerate(gradients):
        if gradient is None:
            gradient = missing_gradient(node, output_nr)
        elif not isinstance(gradient, Tensor):
            gradient = Tensor(gradient)
        wrapped.append(gradient)
    return wrapped


def missing_gradient(node: Any, output_nr: int) -> Tensor | None:
    """What backward sees for an output that got no gradient."""
    metadata = node._output_metadata[output_nr]
    if metadata is None or not node._materialize_grads:
        return None
    return Tensor(np.zeros(*metadata))


def check_gradients(node: Any, returned: Any, create_graph: bool) -> list[Any]:
    """One gradient per argument of forward, as the traversal carries it.

    Raises: GradientCountError; GradientKindError for a value in the place of an
    argument that is not a Tensor, or a value that is not a Tensor.
    """
    gradients = returned if isinstance(returned, tuple) else (returned,)
    if len(gradients) != len(node._edges):
        gradients = cut_surplus(node, gradients)

    checked: list[Any] = []
    edges = node._edges
    for position, gradient in enumerate(gradients):
        if isinstance(gradient, Tensor) and edges[position] is not NOT_A_TENSOR:
            checked.append(gradient if create_graph else gradient.array)
        elif gradient is None:
            checked.append(None)
        elif edges[position] is NOT_A_TENSOR:
            raise not_wanted(node, position)
        else:
            raise not_a_tensor(node, position, gradient)
    return checked


def cut_surplus(node: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """As many gradients as forward has arguments, if the rest is only None."""
    wanted = len(node._edges)
    surplus = gradients[wanted:]
    if len(gradients) > wanted and all([value is None for value in surplus]):
        return gradients[:wanted]
    raise errors.GradientCountError(
        errors.message(
            rule_name(node),
            f"function {node.name()} returned an incorrect number of gradients "
            f"(expected {wanted}, got {len(gradients)}); forward was given "
            f"{errors.count_of(wanted, 'argument')}",
            "return one value per argument of forward, in that order, and None for "
            "the ones that need no gradient",
            "04",
        )
    )
