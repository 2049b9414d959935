"""09.1: which versions of one Function the transforms accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import errors, func
from minigrad.course.exercises.ex03_1 import Square


class Split(minigrad.autograd.Function):
    """Its forward takes no ctx."""

    backward = staticmethod(Square.backward)

    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)


class Ruled(Split):
    """Promises that its methods run on a batch as well."""

    generate_vmap_rule = True


def truth() -> dict[str, str]:
    """Each of them is tried; a refusal is an answer as well."""
    x, xs = minigrad.tensor(3.0), minigrad.tensor([1.0, 2.0, 3.0])
    leaf = minigrad.tensor(3.0, requires_grad=True)
    calls: dict[str, Callable[[], Any]] = {
        "a": lambda: Square.apply(leaf).backward(),
        "b": lambda: func.grad(Square.apply)(x),
        "c": lambda: func.grad(Split.apply)(x),
        "d": lambda: func.vmap(Split.apply)(xs),
        "e": lambda: func.vmap(func.grad(Ruled.apply))(xs),
        "f": lambda: func.jvp(Ruled.apply, (x,), (x,)),
    }
    found = dict.fromkeys(calls, "accepted")
    for question, call in calls.items():
        try:
            call()
        except (errors.TransformError, errors.JvpMissingError):
            found[question] = "refused"
    return found
