"""Dual tensors: a value with a tangent at one level."""

from __future__ import annotations

from minigrad import errors
from minigrad.engine.grad_mode import with_forward_limit
from minigrad.engine.levels import Level, active_levels
from minigrad.engine.structural import MakeDual
from minigrad.engine.tangents import fitting, set_tangent, tangent_of
from minigrad.engine.tensor import Tensor


def make_dual(primal: Tensor, tangent: Tensor, level: Level) -> Tensor:
    """A new tensor on the memory of ``primal`` that has ``tangent`` at ``level``.

    Raises: TangentError if ``primal`` has one there, or the two do not fit.
    """
    if level in active_levels() and tangent_of(primal, level) is not None:
        raise errors.TangentError(
            errors.message(
                "make_dual",
                "Making a dual Tensor based on a Tensor that already has a forward "
                f"gradient at the same level {level.depth} is not supported.",
                "start from the plain value: unpack_dual(x).primal",
                "11",
            )
        )
    fitting(primal, tangent, level, "make_dual")
    dual = plain_view(primal, level)
    set_tangent(dual, tangent, level)
    return dual


def unpack_dual(tensor: Tensor, level: Level) -> tuple[Tensor, Tensor | None]:
    """The value of ``tensor`` without its tangent at ``level``, and that tangent."""
    tangent = tangent_of(tensor, level) if level in active_levels() else None
    return plain_view(tensor, level), tangent


def plain_view(tensor: Tensor, level: Level) -> Tensor:
    """A view that has the tangents of the levels around ``level``, and no other."""
    with with_forward_limit(level.number):
        view: Tensor = MakeDual.apply(tensor)
    view._forward_base = False
    return view
