"""A Function on a second device, which is made up: what would stay on the cpu?

minigrad has the cpu alone. But what a Function must not do elsewhere can be seen here:
to hand its numbers to NumPy, or to make a tensor without saying on which device.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.heard import calls_of
from minigrad.course.check.spy import crash_of

TAKEN = {
    f"x.{name}()": getattr(minigrad.Tensor, name)
    for name in ("numpy", "__array__", "tolist", "item", "__float__", "__int__")
}
"""Methods of a tensor that need its numbers on the cpu."""

MADE = {
    f"{name}(...)": getattr(minigrad, name)
    for name in (
        *("tensor", "as_tensor", "zeros", "ones", "full", "empty", "eye", "arange"),
        *("linspace", "rand", "randn", "from_numpy"),
    )
}
"""What makes a tensor on the cpu, unless a device is named."""


@dataclass(frozen=True)
class Moved:
    """What one call gave, and, in ``leaves``, what would not have been on the device.

    ``gradients`` has one for each tensor of floats among the inputs.
    """

    value: Array | None = None
    gradients: tuple[Array | None, ...] = ()
    leaves: tuple[str, ...] = ()
    crash: Crash | None = None


def on_second_device(answer: Any, *inputs: Any) -> Moved:
    """Run forward and backward, and note each step that needs the cpu."""
    tensors = [
        minigrad.tensor(v.copy(order="K")) if isinstance(v, np.ndarray) else v
        for v in inputs
    ]
    floats = [
        t.requires_grad_()
        for t in tensors
        if isinstance(t, minigrad.Tensor) and t.is_floating_point()
    ]
    leaves: list[str] = []
    try:
        with noted(leaves):
            made = MINIGRAD.apply(answer, *tensors)
        y = next(t for t in (made if isinstance(made, tuple) else (made,)) if t.grad_fn)
        g = minigrad.ones_like(y)
        with noted(leaves):
            found = minigrad.autograd.grad(y, floats, g, allow_unused=True)
    except Exception as error:
        return Moved(leaves=tuple(leaves), crash=crash_of("", error))
    gradients = [None if each is None else each.detach().numpy() for each in found]
    return Moved(y.detach().numpy(), tuple(gradients), tuple(leaves))


def noted(leaves: list[str]) -> AbstractContextManager[None]:
    """Note calls of what needs the cpu.

    What makes a tensor may be called on a device that was named, and for a single
    number: torch takes those to where the other tensor is.
    """

    def note(name: str, frame: FrameType, made: Any) -> None:
        fits = name in MADE and (
            made is None or made.dim() == 0 or frame.f_locals.get("device") is not None
        )
        if not fits:
            leaves.append(name)

    return calls_of((TAKEN | MADE).items(), note)
