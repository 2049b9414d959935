"""Random functions under random nests of transforms: minigrad and torch agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad

Mapped = Callable[[Any], Any]

WEIGHTS = np.array([[0.5, -1.0, 0.25], [1.5, 0.5, -0.5], [0.0, 1.0, 0.75]])
TRANSFORMS = ("grad", "vjp", "jacrev", "jacfwd", "jvp", "vmap", "vmap of number")
FORWARD = ("jacfwd", "jvp")


def functions(torch: Any) -> dict[str, Any]:
    """Custom Functions with a generated rule, and with one of their own."""

    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * x * x, 3 * x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0], output[1])
            ctx.save_for_forward(inputs[0], output[1])

        @staticmethod
        def backward(ctx: Any, grad: Any, grad_of_slope: Any) -> Any:
            x, slope = ctx.saved_tensors
            return grad * slope + grad_of_slope * 6 * x

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            x, slope = ctx.saved_tensors
            return tangent * slope, tangent * 6 * x

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

        @staticmethod
        def jvp(ctx: Any, x_t: Any, y_t: Any) -> Any:
            x, y = ctx.saved_tensors
            return x_t * y + x * y_t

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
            first = [
                value.expand(info.batch_size, *value.shape)
                if dim is None
                else value.transpose(0, dim)
                for value, dim in zip((x, y), in_dims, strict=True)
            ]
            return Product.apply(*first), 0

    return {"cube": Cube.apply, "product": Product.apply}


def steps(torch: Any, custom: bool) -> dict[str, Mapped]:
    """What one step of a random function can do with a vector of three."""
    weights = torch.tensor(WEIGHTS)
    found: dict[str, Mapped] = {
        "tanh": lambda x: x.tanh(),
        "sin": lambda x: x.sin() * x,
        "linear": lambda x: weights @ x,
        "quadratic": lambda x: x * x.sum(),
        "shift": lambda x: (x - x.mean()).exp(),
        "reshape": lambda x: (x.reshape(1, 3) * x.reshape(3, 1)).sum(0),
        "cut": lambda x: x * x.detach(),
    }
    if custom:
        own = functions(torch)
        found["cube"] = lambda x: own["cube"](x * 0.5)[0] + own["cube"](x * 0.5)[1]
        found["product"] = lambda x: own["product"](x, x.cos())
    return found


def transformed(torch: Any, name: str, h: Mapped) -> Mapped:
    """``h`` under one more transform."""
    func = torch.func
    direction = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    numbers = torch.tensor([1.0, -0.5], dtype=torch.float64)
    columns = torch.tensor(WEIGHTS[:, :2])

    def pulled_back(x: Any) -> Any:
        out, back = func.vjp(h, x)
        return back(out)[0]

    return {
        "grad": lambda: func.grad(lambda x: (h(x) * h(x)).sum() * 0.25),
        "vjp": lambda: pulled_back,
        "jacrev": lambda: func.jacrev(h),
        "jacfwd": lambda: func.jacfwd(h),
        "jvp": lambda: lambda x: func.jvp(h, (x,), (direction,))[1],
        "vmap": lambda: (
            lambda x: func.vmap(lambda e: h(x * e), in_dims=1, out_dims=-1)(columns)
        ),
        "vmap of number": lambda: lambda x: func.vmap(lambda n: h(x * n))(numbers),
    }[name]()


def program(torch: Any, seed: int) -> list[Any]:
    """A random function's value, its gradient from outside, and it on a batch."""
    numbers = np.random.default_rng(seed)
    nest = list(numbers.choice(TRANSFORMS, numbers.integers(1, 4)))
    # torch drops the outer tangents of what a jvp reads from ctx, and gets 0.
    custom = sum([name in FORWARD for name in nest]) < 2
    chosen = steps(torch, custom)
    names = numbers.choice(list(chosen), numbers.integers(1, 4))

    def h(x: Any) -> Any:
        for name in names:
            x = chosen[name](x)
        return x

    f: Mapped = h
    for name in nest:
        f = transformed(torch, name, f)

    x = torch.tensor(numbers.uniform(-1.0, 1.0, 3), requires_grad=bool(seed % 2))
    y = f(x)
    facts = [nest, list(names), tuple(y.shape), y.detach().clone().tolist()]
    # torch records some results that do not depend on x; their gradient is 0.
    if y.requires_grad:
        (slope,) = torch.autograd.grad((y * y).sum(), x, materialize_grads=True)
        facts.append(slope.tolist())
    else:
        facts.append([0.0, 0.0, 0.0])
    outer = torch.vmap(f, in_dims=1)(torch.tensor(numbers.uniform(-1.0, 1.0, (3, 2))))
    facts.append(outer.clone().tolist())
    return facts


def close(a: Any, b: Any) -> bool:
    """The same facts, numbers to about ten digits."""
    if isinstance(a, (list, tuple)):
        pairs = zip(a, b, strict=True)
        return len(a) == len(b) and all([close(x, y) for x, y in pairs])
    if isinstance(a, float):
        return bool(np.isclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))
    return bool(a == b)


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_random_functions_agree_under_random_transforms(torch: Any, start: int) -> None:
    for seed in range(start, start + 10):
        ours, theirs = program(minigrad, seed), program(torch, seed)
        assert close(ours, theirs), (seed, ours, theirs)
