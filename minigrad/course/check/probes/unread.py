"""What a Function saves and never reads: backward with a hole in what it saved."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array, is_float
from minigrad.course.check.limits import own_random_numbers
from minigrad.course.check.spy import same

STRANGE = np.nan, np.inf, -np.inf, 0.0, 0.5
"""Some on each side of what backward may compare with."""


def unread_by(answer: Any, *inputs: Any) -> list[tuple[int, ...]]:
    """The shapes of the saved tensors of floats whose numbers change no gradient."""
    saved: list[Any] = []
    right = gradients(answer, inputs, saved)
    found = []
    for hole, tensor in enumerate(saved if right else ()):
        if tensor.is_floating_point() and tensor.numel():
            others = [gradients(answer, inputs, [], hole, value) for value in STRANGE]
            if all([same(right, other) for other in others]):
                found.append(tuple(tensor.shape))
    return found


def gradients(
    answer: Any,
    inputs: tuple[Any, ...],
    saved: list[Any],
    hole: int = -1,
    value: float = np.nan,
) -> list[Array | None]:
    """The gradients where the saved tensor at ``hole`` has this value everywhere.

    None where none arrives; an empty list if backward stops.
    """

    def pack(tensor: Any) -> Any:
        saved.append(tensor.detach())
        is_hole = len(saved) - 1 == hole
        return minigrad.full_like(tensor, value) if is_hole else tensor

    given = [
        minigrad.tensor(v, requires_grad=is_float(v))
        if isinstance(v, np.ndarray)
        else v
        for v in inputs
    ]
    leaves = [v for v in given if isinstance(v, minigrad.Tensor)]
    hooks = minigrad.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed)
    with own_random_numbers(0), hooks:
        made = answer.apply(*given)
    results = made if isinstance(made, tuple) else (made,)
    try:
        sum([y.sum() for y in results if y.requires_grad]).backward()
    except Exception:  # what it met there was read
        return []
    return [None if x.grad is None else x.grad.numpy() for x in leaves]
