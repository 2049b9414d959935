"""15.5: what a generated vmap rule needs, and when it is refused."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import errors, vmap
from minigrad.autograd import Function


class Cube(Function):
    """Made of operations on tensors, in the second style."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


def truth() -> dict[str, str]:
    """Each change is tried on four samples of two numbers."""
    shapes = []

    def noting(x: Any) -> Any:
        shapes.append(tuple(x.shape))
        return x**3

    def first_style(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    def with_numpy(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 3 * minigrad.tensor(x.numpy() ** 2)

    outcome(forward=noting)
    return {
        "a": f"{len(shapes)} time, with {shapes[0]}",
        "b": outcome(forward=first_style, setup_context=Function.setup_context),
        "c": outcome(forward=lambda x: x**3 if x.sum() > 0 else x * 0),
        "d": outcome(vmap=lambda info, in_dims, x: (x**3, in_dims[0])),
        "e": outcome(backward=with_numpy),
    }


def outcome(**methods: Any) -> str:
    """Where ``Cube`` with these methods is refused, if it is."""
    body = {name: staticmethod(method) for name, method in methods.items()}
    changed: Any = type("Changed", (Cube,), body)
    x = minigrad.ones(2, 4, requires_grad=True)
    try:
        result = vmap(changed.apply, in_dims=1)(x)
    except (errors.TransformError, errors.NoStorageError):
        return "refused when it's called"
    try:
        result.sum().backward()
    except (errors.TransformError, errors.NoStorageError):
        return "refused in backward"
    return "accepted"
