"""torch.autograd.function's names, and ``once_differentiable``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad import errors
from minigrad.engine.core.ctx import BackwardCFunction, FunctionCtx, FunctionMeta
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import FIRST_OF_ALL, NOT_A_TENSOR
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import is_grad_enabled, no_grad
from minigrad.transforms.vmap_gradients import is_tracked
from minigrad.transforms.vmap_tensor import physical, with_physical

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class Error(Function):
    """Lets gradients pass forward, and refuses when backward comes to it."""

    @staticmethod
    def forward(name: str, *gradients: Any) -> Any:
        return tuple([x.detach() if isinstance(x, Tensor) else x for x in gradients])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.marked = inputs[0]
        # A gradient that is None keeps its place among next_functions.
        kept = [None if edge is NOT_A_TENSOR else edge for edge in ctx._edges[1:]]
        ctx._edges = (*ctx._edges[:1], *kept)
        ctx._set_sequence_nr(FIRST_OF_ALL)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        """The same for every example."""
        return Error.apply(*inputs), in_dims[1:]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise errors.OnceDifferentiableError.at(
            ctx.marked,
            "trying to differentiate twice a function that was marked with "
            "@once_differentiable",
            "remove the mark and write backward with operations that are "
            "recorded, or ask for no second derivative",
            "10",
        )


Error._backward_cls.name = lambda node: "torch::autograd::Error"


class InplaceFunction(Function):
    """An old base class, from before ``ctx.mark_dirty``; derive from Function."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a backward whose own derivative must not be asked for.

    It runs without recording; a second derivative through it raises
    OnceDifferentiableError.
    See: torch ``autograd.function.once_differentiable``.
    """

    @functools.wraps(backward)
    def once(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            returned = backward(ctx, *gradients)
        second_order = is_grad_enabled() and any(
            [isinstance(g, Tensor) and is_tracked(g) for g in gradients]
        )
        if not second_order:
            return returned
        values = returned if isinstance(returned, tuple) else (returned,)
        leaves = [as_leaf(value) for value in values]
        name = f"{ctx._forward_cls.__name__}.backward"
        refusing = Error.apply(name, *leaves)
        return refusing if isinstance(returned, tuple) else refusing[0]

    once.is_once_differentiable = True  # type: ignore[attr-defined]  # for the lint
    return once


def as_leaf(value: Any) -> Any:
    """A Tensor as a leaf that requires grad; anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    leaf = physical(value).detach()
    leaf._requires_grad = True
    return with_physical(value, leaf)
