"""A Function on a second device, which is made up: what would stay on the cpu?

minigrad has the cpu alone. But what a Function must not do elsewhere can be seen here:
to hand its numbers to NumPy, or to make a tensor without saying on which device.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.spy import crash_of

TO_THE_CPU = ("numpy", "__array__", "tolist", "item", "__float__", "__int__")
"""Methods of a tensor that need its numbers on the cpu."""

MAKES = (
    *("tensor", "as_tensor", "zeros", "ones", "full", "empty", "eye", "arange"),
    *("linspace", "rand", "randn", "from_numpy"),
)
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


@contextlib.contextmanager
def noted(leaves: list[str]) -> Iterator[None]:
    """Note calls of what needs the cpu; they work as always."""
    with contextlib.ExitStack() as stack:
        for name in TO_THE_CPU:
            if hasattr(minigrad.Tensor, name):
                call = noting(getattr(minigrad.Tensor, name), f"x.{name}()", leaves)
                stack.enter_context(mock.patch.object(minigrad.Tensor, name, call))
        for name in MAKES:
            call = noting(getattr(minigrad, name), f"{name}(...)", leaves, makes=True)
            stack.enter_context(mock.patch.object(minigrad, name, call))
        yield


def noting(function: Any, name: str, leaves: list[str], makes: bool = False) -> Any:
    """A call that is noted, unless what it makes fits anywhere.

    It does on a device that was named, and if it's a single number: torch takes those
    to where the other tensor is.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        fits = makes and (kwargs.get("device") is not None or made.dim() == 0)
        if not fits:
            leaves.append(name)
        return made

    return call
