"""An answer that says of a Function whether it does what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minigrad
from minigrad.course.check.heard import calls_of


@dataclass(frozen=True)
class Opinion:
    """True, False, or None for nothing; ``measured``: gradcheck was asked for slopes.

    ``shape`` is that of a tensor which was returned and is not one answer.
    """

    said: Any
    measured: bool
    shape: tuple[int, ...] = (1,)


def opinion_on(answer: Callable[..., Any], function: Any, *given: Any) -> Opinion:
    """What the answer says of this Function, when it is given that and more."""
    asked: list[str] = []
    measures = [("gradcheck", minigrad.autograd.gradcheck)]
    with calls_of(measures, lambda name, *_: asked.append(name)):
        try:
            said = answer(function, *given)
        except minigrad.errors.GradcheckError:
            return Opinion(False, True)
        if isinstance(said, minigrad.Tensor) and said.numel() != 1:
            return Opinion(None, False, tuple(said.shape))
        return Opinion(said if said is None else bool(said), bool(asked))
