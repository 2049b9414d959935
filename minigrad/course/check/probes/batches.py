"""Answers that take a batch: a Function with a vmap rule, per-sample gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array
from minigrad.course.check.side_effects import Lent


@dataclass(frozen=True)
class Mapped:
    """What came out of a batch, None if it was no tensor but a ``kind``.

    ``gradients``: of each tensor that was given, where the result has the shape of the
    upstream gradient. ``nodes``: how many the graph of the result has; ``calls``: how
    often the function of one sample was called; ``changed``: what is different about
    the tensors that were given.
    """

    result: Array | None = None
    kind: str = ""
    gradients: tuple[Array | None, ...] = ()
    nodes: int = 0
    calls: int = 0
    changed: tuple[str, ...] = ()


def mapped(
    answer: Any, in_dims: tuple[int | None, ...], given: Sequence[Any], g: Array
) -> Mapped:
    """``vmap(answer.apply)`` of arrays and numbers, and its gradients."""
    inputs = [leaf_of(one) for one in given]
    leaves = [one for one in inputs if isinstance(one, minigrad.Tensor)]
    gradients: tuple[Array | None, ...] = ()
    result = minigrad.vmap(answer.apply, in_dims=in_dims)(*inputs)
    if not isinstance(result, minigrad.Tensor):
        return Mapped(kind=type(result).__name__)
    if result.shape == g.shape and result.requires_grad:
        gradients = gradients_of(result, leaves, g)
    nodes = len(nodes_below(result))
    return Mapped(numbers_of(result), "Tensor", gradients, nodes)


def gradients_of(
    result: Any, leaves: Sequence[Any], g: Array
) -> tuple[Array | None, ...]:
    """What g makes of a result's graph, which is kept; it's the check that asks."""
    found = minigrad.autograd.grad(
        result, leaves, minigrad.tensor(g), retain_graph=True, allow_unused=True
    )
    return tuple([None if one is None else numbers_of(one) for one in found])


def leaf_of(given: Any) -> Any:
    """An array as a leaf that requires grad; anything else as it is."""
    if not isinstance(given, np.ndarray):
        return given
    return minigrad.tensor(given, requires_grad=True)


def numbers_of(tensor: Any) -> Array:
    """A copy of what a tensor holds."""
    return np.array(tensor.detach().numpy())


def nodes_below(result: Any) -> set[Any]:
    """The nodes that backward would run."""
    found, left = set[Any](), [result.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.add(node)
            left += [after for after, _ in node.next_functions]
    return found


def each_gradient(answer: Any, w: Array, x: Array, targets: Array) -> Mapped:
    """The gradients of a squared error, one for each row of x; it counts its calls."""
    calls = [0]

    def loss(w: Any, x: Any, target: Any) -> Any:
        calls[0] += 1
        return ((x * w).sum(0) - target) ** 2

    lent = Lent(
        w=minigrad.tensor(w), X=minigrad.tensor(x), targets=minigrad.tensor(targets)
    )
    result = answer(loss, *lent.things.values())
    if not isinstance(result, minigrad.Tensor):
        return Mapped(kind=type(result).__name__, calls=calls[0])
    numbers, changed = numbers_of(result), lent.changed()
    return Mapped(numbers, "Tensor", calls=calls[0], changed=changed)
