"""Take from the engine in a worker what the exercise asks for."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import minigrad
from minigrad.autograd import forward_ad
from minigrad.course.limits import as_imported
from minigrad.engine.backward import GraphTask
from minigrad.engine.tensor import Tensor
from minigrad.ops import _registry


def take_away(names: Iterable[str]) -> None:
    """No function, method or node with these names computes anything any more."""
    for name in names:
        things = [
            row.function for row in _registry.OPS.values() if row.public_name == name
        ]
        gone: set[int] = {id(t) for t in things if t is not None}
        gone |= {
            id(row.call) for row in _registry.OPS.values() if row.public_name == name
        }
        tables = (_registry.CALLS, _registry.METHODS)
        gone |= {id(table[name]) for table in tables if name in table}
        for module in list(sys.modules.values()):
            if module.__name__.partition(".")[0] == "minigrad":
                own = vars(module)
                gone |= {id(own[name])} if callable(own.get(name)) else set()
        _replace(gone, name, refusing(name))
        for method in (name, name + "_"):
            if hasattr(Tensor, method):
                setattr(Tensor, method, refusing(name))
    # What is put back after each call of an answer is what stands there now.
    places = (np, np.linalg, np.random, math, minigrad.Tensor)
    as_imported.__init__(*places)  # type: ignore[misc]


def _replace(gone: set[int], name: str, refuser: Callable[..., Any]) -> None:
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").partition(".")[0] != "minigrad":
            continue
        for key, value in list(vars(module).items()):
            if id(value) in gone:
                setattr(module, key, refuser)
            elif isinstance(value, dict) and name in value and not key.startswith("_"):
                value.pop(name)


def refusing(name: str) -> Callable[..., Any]:
    """A function that says why it is none."""

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise RuntimeError(
            f"{name} is what this exercise asks for: the engine's own is not there"
            " while an answer is graded"
        )

    return refuse


def refuse_derivatives() -> None:
    """From now on no method of a Function has the engine differentiate for it."""
    guards.append("methods of a Function")
    GraphTask.run = _for_the_judge_only(GraphTask.run)  # type: ignore[method-assign]
    forward_ad.enter_dual_level = _for_the_judge_only(forward_ad.enter_dual_level)


guards: list[str] = []
"""While there is one, no answer may ask for a derivative."""


def _for_the_judge_only(run: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*arguments: Any, **options: Any) -> Any:
        frame = sys._getframe(1) if guards else None
        while frame is not None:
            if frame.f_code.co_filename.startswith("<cell "):
                raise RuntimeError(
                    "the engine was asked for the derivative while an answer ran:"
                    " write the formula"
                )
            frame = frame.f_back
        return run(*arguments, **options)

    return guarded


def of(exercise_id: str) -> tuple[str, ...]:
    """The operations that are not there while this exercise is graded."""
    return _BLANKS.get(exercise_id, ())


_BLANKS: dict[str, tuple[str, ...]] = {
    "03.5": ("relu",),
    "04.2": ("linear",),
    "gym.CrossEntropy": ("cross_entropy", "nll_loss"),
    "gym.Dropout": ("dropout",),
    "gym.Embedding": ("embedding",),
    "gym.LayerNorm": ("layer_norm", "batch_norm"),
    "gym.Linear": ("linear",),
    "gym.LogSoftmax": ("log_softmax", "cross_entropy"),
    "gym.ReLU": ("relu",),
    "gym.Sigmoid": ("sigmoid",),
    "gym.Softmax": ("softmax",),
}
"""Where the engine has the whole rule. What an answer is built from stays: x * y."""
