"""Places in the graph that stand for a tensor: where its gradient arrives."""

from __future__ import annotations

from typing import NamedTuple

from minigrad import errors
from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.engine.core.node import (
    _FunctionBase,
    edge_of,
    split_edge,
)
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import enable_grad
from minigrad.engine.inspection import OutputInfo, input_metadata
from minigrad.engine.structural import Expand


class GradientEdge(NamedTuple):
    """A node and one of its outputs, in the place of the tensor that was made there.

    ``ownership_token`` keeps the graph alive; with minigrad the node does so by itself.
    See: torch ``autograd.graph.GradientEdge``.
    """

    node: _FunctionBase
    output_nr: int
    ownership_token: _FunctionBase | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of ``tensor`` arrives: ``grad`` takes that instead of it.

    Raises: GraphError for a tensor that does not require grad.
    See: torch ``autograd.graph.get_gradient_edge``.
    """
    if not tensor._requires_grad:
        raise errors.GraphError.at(
            "get_gradient_edge",
            "It is not possible to get the gradient edge for a Tensor that does "
            "not require gradients",
            "create it with requires_grad=True",
            "04",
        )
    node, output_nr = split_edge(edge_of(tensor))
    token = None
    if isinstance(node, BackwardCFunction):
        with enable_grad():
            token = Expand.apply(tensor, tensor.array.shape)._grad_node
    return GradientEdge(node, output_nr, token)


def info_of(output: Tensor | GradientEdge) -> Tensor | OutputInfo:
    """What has the shape and dtype of a root.

    Raises: DimensionError for an edge to an output that the node does not have.
    """
    if isinstance(output, Tensor):
        return output
    infos = input_metadata(output.node)
    if output.output_nr >= len(infos):
        raise errors.DimensionError.at(
            "GradientEdge",
            f"tuple index out of range: {output.node.name()} has "
            f"{errors.count_of(len(infos), 'output')}, and no output "
            f"{output.output_nr}",
            "take the edge from a tensor: get_gradient_edge(tensor)",
        )
    return infos[output.output_nr]


def place_of(tensor: Tensor | GradientEdge) -> tuple[_FunctionBase, int] | None:
    """The node and output where the gradient arrives; None if there is no graph."""
    if isinstance(tensor, GradientEdge):
        return tensor.node, tensor.output_nr
    edge = edge_of(tensor)
    return None if edge is None else split_edge(edge)
