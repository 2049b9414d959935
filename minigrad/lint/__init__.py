"""Teaching mode: warnings for what runs, and still is not what its writer meant."""

from __future__ import annotations

from typing import Any, Final, Self

from minigrad.engine import observe
from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.lint import backward, forward
from minigrad.lint.forward import TeachingWarning

__all__ = ["TeachingWarning", "is_teaching", "teaching"]


class Lint:
    """The observer that looks at learners' Functions while teaching mode is on."""

    observes = observe.FUNCTIONS
    keeps = False
    comes_last = True

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        if isinstance(ctx, BackwardCFunction):
            forward.before_call(ctx, inputs)

    def values_saved(self, ctx: Any, tensors: tuple[Any, ...]) -> None:
        forward.note_saved(ctx, tensors)

    def forward_returned(self, ctx: Any, inputs: tuple[Any, ...], result: Any) -> None:
        if isinstance(ctx, BackwardCFunction):
            forward.look_at_call(ctx._forward_cls, ctx, inputs, result)
            backward.after_forward(ctx)

    def tensor_packed(self, hook: Any, tensor: Any, packed: Any) -> None:
        forward.look_at_packed(hook, tensor, packed)

    def rule_called(self, node: Any, gradients: list[Any]) -> None:
        backward.before_rule(node, gradients)

    def rule_returned(self, node: Any, returned: Any) -> None:
        backward.after_rule(node, returned)


_lint: Final = Lint()


def is_teaching() -> bool:
    """Whether teaching mode is on."""
    return observe.has(Lint)


class teaching:
    """Warn about habits that run today and hurt later: from now on, or in a block.

    >>> _ = minigrad.teaching(False)
    """

    def __init__(self, mode: bool = True) -> None:
        self._previous = is_teaching()
        switch(mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        switch(self._previous)

    def __repr__(self) -> str:
        return f"teaching mode is {'on' if is_teaching() else 'off'}"


def switch(mode: bool) -> None:
    """Turn teaching mode on or off."""
    (observe.add if mode else observe.remove)(_lint)
