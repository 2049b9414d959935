"""The tangents that tensors carry along: what forward mode has hung on them."""

from __future__ import annotations

from typing import Any

from minigrad.engine.tensor import Tensor


def keep_tangent(tensor: Tensor, tangent: Tensor, level: Any) -> None:
    """Hang ``tangent`` on ``tensor`` until ``level`` is closed."""
    if tensor._tangents is None:
        tensor._tangents = {}
    tensor._tangents[level] = tangent
    level.duals[id(tensor)] = tensor


def share_tangents(tensor: Tensor, alias: Tensor) -> None:
    """Give another tensor of the same values the same tangents."""
    if tensor._tangents is not None:
        for level, tangent in tensor._tangents.items():
            keep_tangent(alias, tangent, level)
