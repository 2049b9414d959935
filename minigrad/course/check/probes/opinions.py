"""An answer that says of a Function whether it does what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import minigrad


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
    measure = mock.Mock(wraps=minigrad.autograd.gradcheck)
    with mock.patch.object(minigrad.autograd, "gradcheck", measure):
        try:
            said = answer(function, *given)
        except minigrad.errors.GradcheckError:
            return Opinion(False, True)
        if isinstance(said, minigrad.Tensor) and said.numel() != 1:
            return Opinion(None, False, tuple(said.shape))
        return Opinion(said if said is None else bool(said), measure.called)
