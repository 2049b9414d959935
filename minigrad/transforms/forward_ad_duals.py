"""Dual tensors: a value with a tangent at one level."""

from __future__ import annotations

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.structural import MakeDual
from minigrad.transforms.forward_ad_levels import Level, active_levels
from minigrad.transforms.forward_ad_tangents import fitting, set_tangent, tangent_of
from minigrad.transforms.vmap_tensor import (
    BatchedTensor,
    holds_batched,
    levels_of,
    pull_all,
    push_all,
)


def make_dual(primal: Tensor, tangent: Tensor, level: Level) -> Tensor:
    """A new tensor on the memory of ``primal`` that has ``tangent`` at ``level``.

    Raises: TangentError if ``primal`` has one there, or the two do not fit.
    """
    if holds_batched((primal, tangent)):
        vmaps = levels_of([primal, tangent])
        whole, direction = pull_all(primal, vmaps), pull_all(tangent, vmaps)
        return push_all(make_dual(whole, direction, level), vmaps)
    if level in active_levels() and tangent_of(primal, level) is not None:
        raise errors.TangentError.at(
            "make_dual",
            "Making a dual Tensor based on a Tensor that already has a forward "
            f"gradient at the same level {level.depth} is not supported.",
            "start from the plain value: unpack_dual(x).primal",
            "11",
        )
    fitting(primal, tangent, level, "make_dual")
    dual = plain_view(primal, level)
    set_tangent(dual, tangent, level)
    return dual


def check_floating(primal: Tensor, tangent: Tensor) -> None:
    """Refuse integers, which do not change by a little.

    Raises: ArgumentValueError.
    """
    for name, value in (("primal", primal), ("tangent", tangent)):
        if value.dtype.kind not in "fc":
            raise errors.ArgumentValueError.at(
                "make_dual",
                f"Expected {name} to be floating point or complex, but got: "
                f"torch.{value.dtype.name}",
                "make it floating point, for example x.to(minigrad.float32)",
                "11",
            )


def unpack_dual(tensor: Tensor, level: Level) -> tuple[Tensor, Tensor | None]:
    """The value of ``tensor`` without its tangent at ``level``, and that tangent."""
    if isinstance(tensor, BatchedTensor):
        value, tangent = unpack_dual(tensor.value, level)
        if tangent is not None:
            tangent = BatchedTensor(tangent, tensor.transform, tensor.batch_dim)
        return BatchedTensor(value, tensor.transform, tensor.batch_dim), tangent
    tangent = tangent_of(tensor, level) if level in active_levels() else None
    return plain_view(tensor, level), tangent


def plain_view(tensor: Tensor, level: Level) -> Tensor:
    """A view that has the tangents of the levels around ``level``, and no other."""
    view: Tensor = level.below(MakeDual.apply, tensor)
    view._forward_base = False
    return view
