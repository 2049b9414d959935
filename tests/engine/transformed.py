"""What the programs about function transforms share."""

from typing import Any

BATCH = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def batch(torch: Any) -> Any:
    """Three examples of two numbers."""
    return torch.tensor(BATCH, dtype=torch.float64)


def square(torch: Any, name: str = "Square", **more: Any) -> Any:
    """x * x in the style that transforms need; ``more`` goes into the class."""

    def forward(x: Any) -> Any:
        return x * x

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * grad

    body = {"forward": forward, "setup_context": setup_context, "backward": backward}
    static = {key: staticmethod(value) for key, value in body.items()}
    base = torch.autograd.Function
    return type(base)(name, (base,), {**static, **more})


def vector(torch: Any, *values: float) -> Any:
    """A vector that requires no gradient."""
    return torch.tensor(list(values), dtype=torch.float64)


def number(torch: Any, value: float) -> Any:
    """One number that requires no gradient."""
    return torch.tensor(value, dtype=torch.float64)


def cubes(x: Any) -> Any:
    """The sum of the third powers."""
    return (x * x * x).sum()
