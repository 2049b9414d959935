"""A Function on a second device, which is made up: what would stay on the cpu?

minigrad has the cpu alone. But what a Function must not do elsewhere can be seen here:
to hand its numbers to NumPy, or to make a tensor without saying on which device.
"""

from __future__ import annotations

import dis
import inspect
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import CodeType, FrameType
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

PLACES = (minigrad.Tensor, minigrad.device, str)
"""By what ``to`` is told a device, whatever its name."""


@dataclass(frozen=True)
class Moved:
    """What one call gave, and, in ``leaves``, what would not have been on the device.

    ``gradients`` has one for each tensor of floats among the inputs. ``bound``: names
    in its methods that are this engine's, wherever ``torch`` leads.
    """

    value: Array | None = None
    gradients: tuple[Array | None, ...] = ()
    leaves: tuple[str, ...] = ()
    crash: Crash | None = None
    bound: tuple[str, ...] = ()


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
    bound = tuple(sorted(names_of_ours(answer)))
    return Moved(y.detach().numpy(), tuple(gradients), tuple(leaves), bound=bound)


def names_of_ours(answer: Any) -> set[str]:
    """Global names in its methods, and in functions they call, that are minigrad's."""
    found, codes = set[str](), list[tuple[CodeType, dict[str, Any]]]()

    def add(function: Any) -> None:
        own = inspect.unwrap(function)
        if inspect.isfunction(own):
            codes.append((own.__code__, own.__globals__))

    for each in vars(answer).values():
        if isinstance(each, staticmethod):
            add(each.__func__)
    for code, names in codes:  # which grows meanwhile
        codes += [(c, names) for c in code.co_consts if isinstance(c, CodeType)]
        for step in dis.get_instructions(code):
            if step.opname not in ("LOAD_GLOBAL", "IMPORT_NAME"):
                continue
            value = names.get(step.argval)
            module = getattr(value, "__module__", None) or step.argval
            if value is minigrad or module.partition(".")[0] == minigrad.__name__:
                found.add(step.argval)
            elif inspect.isfunction(value) and value.__code__ not in dict(codes):
                add(value)
    return found - {"torch"}


def noted(leaves: list[str]) -> AbstractContextManager[None]:
    """Note calls of what needs the cpu.

    What makes a tensor may be called on a device that was named, and for a single
    number: torch takes those to where the other tensor is. And it may be moved ``to``
    a device, or to that of a tensor.
    """
    here: list[tuple[Any, str]] = []

    def note(name: str, frame: FrameType, made: Any) -> None:
        given = frame.f_locals
        if name == "to":
            places = [v for v in given["what"] if isinstance(v, PLACES)]
            for tensor, maker in here:
                if tensor is given["input"] and (places or given["device"] is not None):
                    leaves.remove(maker)
            return
        fits = name in MADE and (
            made is None or made.dim() == 0 or given.get("device") is not None
        )
        if not fits:
            leaves.append(name)
            here.append((made, name))

    watched = TAKEN | MADE | {"to": minigrad.Tensor.to}
    return calls_of(watched.items(), note)
