"""15.5: what a generated vmap rule needs, and when it is refused."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import errors, vmap


class Cube(minigrad.autograd.Function):
    """Made of operations on tensors, in the second style."""

    generate_vmap_rule = True
    seen: list[Any] = []  # noqa: RUF012  (a note for the one that asks)

    @staticmethod
    def forward(x: Any) -> Any:
        Cube.seen.append(tuple(x.shape))
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


class FirstStyle(minigrad.autograd.Function):
    """Its forward takes ctx."""

    generate_vmap_rule = True
    backward = staticmethod(Cube.backward)

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3


class Decides(Cube):
    """It looks at a number."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3 if x.sum() > 0 else x * 0


class Both(Cube):
    """A rule of its own beside the generated one."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return Both.apply(x), in_dims[0]


class NumPyInBackward(Cube):
    """forward is made of operations, backward isn't."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 3 * minigrad.tensor(x.numpy() ** 2)


def truth() -> dict[str, str]:
    """Each of them is tried on four samples of two numbers."""
    x = minigrad.ones(2, 4, requires_grad=True)
    Cube.seen.clear()
    vmap(Cube.apply, in_dims=1)(x)
    return {
        "a": f"{len(Cube.seen)} time, with {Cube.seen[0]}",
        "b": outcome(FirstStyle, x),
        "c": outcome(Decides, x),
        "d": outcome(Both, x),
        "e": outcome(NumPyInBackward, x),
    }


def outcome(function: Any, x: Any) -> str:
    """Where it is refused, if it is."""
    try:
        result = vmap(function.apply, in_dims=1)(x)
    except (errors.TransformError, errors.NoStorageError):
        return "refused when it's called"
    try:
        result.sum().backward()
    except (errors.TransformError, errors.NoStorageError):
        return "refused in backward"
    return "accepted"
