"""Programs in which more happens than apply and backward: one for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.autograd import forward_ad
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.tracing import Recorder, Trace
from minigrad.utils import jit
from minigrad.utils.checkpoint import checkpoint


class Cube(mg.autograd.Function):
    """x ** 3, in both modes."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2

    @staticmethod
    def jvp(ctx: Any, x_t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * x_t


class Three(mg.autograd.Function):
    """Twice x, thrice x, and whether it is positive."""

    @staticmethod
    def forward(ctx: Any, x: Any, materialize: bool) -> Any:
        ctx.set_materialize_grads(materialize)
        positive = x > 0
        ctx.mark_non_differentiable(positive)
        return x * 2, x * 3, positive

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        doubled, tripled, _ = [0 if grad is None else grad for grad in grads]
        return doubled * 2 + tripled * 3, None


@jit
def halved(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.size):
        out[i] = x[i] / 2
    return out


def tenfold(grad: Any) -> Any:
    return grad * 10


def look(*anything: Any) -> None:
    return None


def to_half(tensor: Any) -> Any:
    return tensor.numpy().astype(np.float16)


def to_single(array: Any) -> Any:
    return mg.tensor(array.astype(np.float32))


def hooks() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    x.register_hook(tenfold)
    x.register_post_accumulate_grad_hook(look)
    y = x * 3
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(look)
    y.backward()


def saved_hooks() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with saved_tensors_hooks(to_half, to_single):
        y = Cube.apply(x)
    y.sum().backward()


def in_place() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y.mul_(3)
    y.add_(1)
    y.sum().backward()


def changed_after_saving() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y * Cube.apply(y)
    with mg.no_grad():
        y.mul_(3)
    assert z.requires_grad


def zeros_for_unused() -> None:
    x = mg.tensor([1.0, -2.0], requires_grad=True)
    doubled = Three.apply(x, True)[0]
    doubled.sum().backward()


def none_for_unused() -> None:
    x = mg.tensor([1.0, -2.0], requires_grad=True)
    doubled = Three.apply(x, False)[0]
    doubled.sum().backward()


def double_backward() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = Cube.apply(x)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    slope.backward()


def forward_mode() -> None:
    with forward_ad.dual_level():
        x = forward_ad.make_dual(mg.tensor(2.0), mg.tensor(1.0))
        y = Cube.apply(x) * 2
        assert y.item() == 16


def forward_mode_in_a_graph() -> None:
    w = mg.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(mg.tensor(2.0), mg.tensor(1.0))
        y = w * x
        assert y.item() == 6


def recomputed() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = checkpoint(lambda x: (x * x).sin(), x, use_reentrant=False)
    y.backward()


def recomputed_the_old_way() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = checkpoint(
        lambda x: (x * x).sin(), x, use_reentrant=True, preserve_rng_state=False
    )
    y.backward()


def training_step() -> None:
    model = mg.nn.Linear(2, 1)
    with mg.no_grad():
        model.weight.copy_(mg.tensor([[1.0, -1.0]]))
        model.bias.zero_()
    x, target = mg.tensor([[2.0, 1.0]]), mg.tensor([[3.0]])
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    with mg.no_grad():
        for parameter in model.parameters():
            parameter -= 0.5 * parameter.grad
            parameter.grad = None


PROGRAMS: tuple[Callable[[], None], ...] = (
    hooks,
    saved_hooks,
    in_place,
    changed_after_saving,
    zeros_for_unused,
    none_for_unused,
    double_backward,
    forward_mode,
    forward_mode_in_a_graph,
    recomputed,
    recomputed_the_old_way,
    training_step,
)


def recorded(program: Callable[[], None]) -> Trace:
    """The recording of one of them."""
    trace = Trace()
    with Recorder(trace, title=program.__name__, watch=program):
        program()
    return trace


def told() -> str:
    """The stories of all of them, as the golden file has them."""
    parts = []
    for program in PROGRAMS:
        parts += [f"## {program.__name__}", *recorded(program).sentences(level=1), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(told(), end="")
