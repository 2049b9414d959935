"""The tangent of a tensor at a level: reading it, and giving one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import numpy as np

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.saved import keep_tangent
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.strides import AsStrided, geometry_of
from minigrad.engine.structural import CopyInLayout, Replace
from minigrad.transforms.forward_ad_levels import Level, active_levels

Tangents: TypeAlias = list[Tensor | None]

WHERE: Final = "forward mode"


def tangent_of(tensor: Tensor, level: Level) -> Tensor | None:
    """The tangent of ``tensor`` at ``level``, or None if it is plain there.

    A view may have got one because its base, or another view of it, was changed in
    place; it is then what the view shows of the base's.
    """
    tangents = tensor._tangents
    if tangents is not None and level in tangents:
        return tangents[level]
    base = forward_base_of(tensor)
    whole = None if base is None else tangent_of(base, level)
    if base is None or whole is None:
        return None
    return shown_by(tensor, base, whole, level)


def tangents_of(inputs: Iterable[Any], level: Level) -> Tangents:
    """For each argument its tangent; None for a plain tensor, and for no tensor."""
    return [tangent_of(x, level) if isinstance(x, Tensor) else None for x in inputs]


def shown_by(view: Tensor, base: Tensor, whole: Tensor, level: Level) -> Tensor:
    """Give ``view`` the tangent that it shows of ``whole``, that of its base."""
    tangent: Tensor = AsStrided.apply(whole, geometry_of(view.array, base.array))
    keep_tangent(view, tangent, level)
    return tangent


def forward_base_of(tensor: Tensor) -> Tensor | None:
    """The tensor whose memory this one shows, and whose tangent holds its tangent.

    None for a tensor that stands alone, and for a dual: it shows its primal's memory,
    and has a tangent that the primal has not.
    """
    own = tensor._forward_base
    if own is None:
        return tensor._base
    return None if own is False else own


def forward_root_of(tensor: Tensor) -> Tensor:
    """``forward_base_of``, or the tensor itself if it stands alone."""
    base = forward_base_of(tensor)
    return tensor if base is None else base


def set_tangent(
    tensor: Tensor,
    tangent: Tensor | None,
    level: Level,
    where: str = WHERE,
    maker: Any = None,
    inputs: tuple[Any, ...] = (),
) -> None:
    """Make ``tensor``, made by ``maker`` of ``inputs``, dual at ``level``; it is plain
    there.

    The very ``tangent`` is kept if it lies in memory as the tensor does, else a copy.
    Raises: TangentError if the two do not fit together.
    """
    tangent = fitting(tensor, tangent, level, where)
    if tensor._tangents is not None and level in tensor._tangents:
        raise errors.TangentError.at(
            where,
            "Only inplace operations can re-set the forward grad of a Tensor that "
            "already has one",
            "return a tensor of its own for each output",
            "11",
        )
    if not same_order(tensor, tangent):
        tangent = in_layout_of(tensor, tangent)
    keep_tangent(tensor, tangent, level)
    notify_tangent(tensor, tangent, maker, inputs)


def notify_tangent(
    tensor: Tensor, tangent: Tensor, maker: Any, inputs: tuple[Any, ...]
) -> None:
    """Notify observers that ``tensor`` has a tangent now."""
    observe.notify("tangent_given", tensor, tangent, maker, inputs)


def detached(tensor: Tensor) -> Tensor:
    """The same memory without the graph, and with the tangents of all levels."""
    alias = tensor.detach()
    for level in active_levels():
        tangent = tangent_of(tensor, level)
        if tangent is not None and tangent_of(alias, level) is None:
            keep_tangent(alias, tangent, level)
    return alias


def in_layout_of(tensor: Tensor, tangent: Tensor) -> Tensor:
    """A copy of ``tangent`` whose elements lie in the order of those of ``tensor``."""
    copy: Tensor = CopyInLayout.apply(tangent, tensor.stride())
    return copy


def same_order(tensor: Tensor, tangent: Tensor) -> bool:
    """Whether both step through memory alike, counted in elements."""
    return all(
        [
            length == 1 or a == b
            for length, a, b in zip(
                tensor.shape, tensor.stride(), tangent.stride(), strict=True
            )
        ]
    )


def fitting(tensor: Tensor, tangent: Tensor | None, level: Level, where: str) -> Tensor:
    """``tangent``, if it can be one of ``tensor``.

    Raises: TangentError.
    """
    if (
        tangent is None
        or tangent.dtype.kind not in "fc"
        or tensor.dtype.kind not in "fc"
    ):
        got = "None" if tangent is None else str(tangent.dtype)
        raise errors.TangentError.at(
            where,
            "Expected both tensor and its forward grad to be floating point or "
            f"complex; the tensor is {tensor.dtype}, its forward grad {got}",
            "return a floating-point tangent; zeros where nothing changes",
            "11",
        )
    if tangent.shape != tensor.shape:
        raise errors.TangentError.at(
            where,
            "Trying to set a forward gradient that has a different size than that "
            "of the original Tensor, this is not supported. Tensor is of size "
            f"{list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}.",
            "give a tangent of the tensor's own shape: it is not broadcast",
            "11",
        )
    if tangent_of(tangent, level) is not None:
        raise errors.TangentError.at(
            where,
            "Setting a forward grad that itself has a forward gradient at the same "
            f"level {level.depth} is not supported.",
            "give a plain tensor, for example unpack_dual(tangent).primal",
            "11",
        )
    return tangent


def set_tangent_in_place(
    tensor: Tensor, tangent: Tensor | None, level: Level, where: str = WHERE
) -> None:
    """Make a plain tensor dual because it was changed in place: of a view, the base."""
    base = forward_base_of(tensor)
    if base is None:
        set_tangent(tensor, tangent, level, where)
        return
    tangent = fitting(tensor, tangent, level, where)
    set_tangent(base, Tensor(np.zeros_like(base.array)), level, where)
    part = tangent_of(tensor, level)
    if part is not None:
        overwrite_with(part, tangent)


def overwrite_with(tensor: Tensor, values: Tensor) -> None:
    """Write ``values`` into ``tensor``, recorded if one of them is."""
    apply_in_place(Replace, tensor, values)
