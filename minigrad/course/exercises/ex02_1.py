"""02.1: where three Functions keep what backward needs, read off their ctx."""

from __future__ import annotations

from typing import Any

import minigrad


class Exp(minigrad.autograd.Function):
    """e to the power x, from its result."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (result,) = ctx.saved_tensors
        return grad * result


class SumAlong(minigrad.autograd.Function):
    """The sum along one axis."""

    @staticmethod
    def forward(ctx: Any, x: Any, axis: int) -> Any:
        ctx.shape, ctx.axis = x.shape, axis
        return x.sum(axis)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad.unsqueeze(ctx.axis).expand(ctx.shape), None


class Relu(minigrad.autograd.Function):
    """x where it is above 0, and 0 elsewhere, from its result."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x * (x > 0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (result,) = ctx.saved_tensors
        return grad * (result > 0)


def truth() -> dict[str, str]:
    """The shelf of each thing, found on the ctx of versions whose slopes are right."""
    x = minigrad.tensor([[0.5, -2.0, 1.5]], dtype=minigrad.float64, requires_grad=True)
    calls: list[tuple[Any, tuple[Any, ...]]] = [(Exp, ()), (SumAlong, (1,)), (Relu, ())]
    for function, more in calls:
        assert minigrad.autograd.gradcheck(
            lambda x, f=function, m=more: f.apply(x, *m), x
        )
    exp, along, relu = Exp.apply(x), SumAlong.apply(x, 1), Relu.apply(x)
    return {
        "a": shelf(exp, x),
        "b": shelf(exp, exp),
        "c": shelf(along, x),
        "d": shelf(along, x.shape),
        "e": shelf(along, 1),
        "f": shelf(relu, relu),
        "g": shelf(relu, 0.1),
    }


def shelf(output: Any, thing: Any) -> str:
    """Where the ctx behind ``output`` has something equal to ``thing``."""
    ctx = output.grad_fn
    if any(equal(kept, thing) for kept in ctx.saved_tensors):
        return "saved"
    if any(equal(kept, thing) for kept in vars(ctx).values()):
        return "an attribute"
    return "not kept"


def equal(kept: Any, thing: Any) -> bool:
    """Whether two things have the same kind and value."""
    if isinstance(kept, minigrad.Tensor) and isinstance(thing, minigrad.Tensor):
        same_kind = (kept.shape, kept.dtype) == (thing.shape, thing.dtype)
        return same_kind and kept.tolist() == thing.tolist()
    return type(kept) is type(thing) and bool(kept == thing)
