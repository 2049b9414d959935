"""09.1: which versions of one Function the transforms accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import func


class Square(minigrad.autograd.Function):
    """Its forward takes ctx."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """Compute, and fill ctx."""
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """The rule, which all three share."""
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


class Split(Square):
    """Its forward takes no ctx."""

    @staticmethod
    def forward(x: Any) -> Any:
        """Compute."""
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Fill ctx."""
        ctx.save_for_backward(*inputs)


class Ruled(Split):
    """Promises that its methods run on a batch as well."""

    generate_vmap_rule = True


def truth() -> dict[str, str]:
    """Each of them is tried."""
    x, xs = minigrad.tensor(3.0), minigrad.tensor([1.0, 2.0, 3.0])
    leaf = minigrad.tensor(3.0, requires_grad=True)
    return {
        "a": outcome(lambda: Square.apply(leaf).backward()),
        "b": outcome(lambda: func.grad(Square.apply)(x)),
        "c": outcome(lambda: func.grad(Split.apply)(x)),
        "d": outcome(lambda: func.vmap(Split.apply)(xs)),
        "e": outcome(lambda: func.vmap(func.grad(Ruled.apply))(xs)),
        "f": outcome(lambda: func.jvp(Ruled.apply, (x,), (x,))),
    }


def outcome(call: Callable[[], Any]) -> str:
    """Whether it runs; its refusal is an answer as well."""
    try:
        call()
    except (minigrad.errors.TransformError, minigrad.errors.JvpMissingError):
        return "refused"
    return "accepted"
