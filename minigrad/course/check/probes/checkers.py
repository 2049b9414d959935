"""An answer that checks a gradient: what it says, and by which calls it found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array
from minigrad.course.check.side_effects import Lent


@dataclass(frozen=True)
class Judged:
    """True, False, or None for nothing; and what was tried until that was said.

    ``asked`` has one row for each input that the function was called with, ``sent`` one
    for each upstream gradient; ``left`` is the input that was given, afterwards, and
    ``changed`` what else is different about it.
    """

    said: bool | None
    asked: Array
    sent: Array
    left: Array
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sloped:
    """A value, the gradient for each input, None where none arrives, and the nodes.

    ``given``: the inputs after backward.
    """

    value: Array
    arrived: tuple[Array | None, ...]
    nodes: tuple[str, ...]
    given: tuple[Array, ...] = ()

    @property
    def slopes(self) -> list[Array]:
        """The gradients; a zero stands for a missing one."""
        return [np.zeros(1) if slope is None else slope for slope in self.arrived]


def judged(answer: Callable[..., Any], function: Any, numbers: Array) -> Judged:
    """Have the answer check this Function, at these numbers; x.grad holds ones."""
    x = minigrad.tensor(numbers, requires_grad=True)
    x.grad = minigrad.ones_like(x).detach()
    asked: list[Array] = []
    sent: list[Array] = []

    def noted(g: Any) -> None:
        if g is not None:
            sent.append(g.detach().numpy().copy())

    def watched(x: Any) -> Any:
        asked.append(x.detach().numpy().copy())
        y = function.apply(x)
        if y.requires_grad:
            y.register_hook(noted)
        return y

    lent = Lent(x=x)
    said = answer(watched, x)
    return Judged(
        said if said is None else bool(said),
        np.array([each.ravel() for each in asked]),
        np.array([each.ravel() for each in sent]),
        x.detach().numpy().ravel(),
        lent.changed(),
    )


def sloped(answer: Any, numbers: tuple[Array, ...], upstream: Array) -> Sloped:
    """Run a Function, or a function of tensors, and backward with this gradient."""
    leaves = [minigrad.tensor(each, requires_grad=True) for each in numbers]
    y = getattr(answer, "apply", answer)(*leaves)
    if y.requires_grad:
        y.backward(minigrad.tensor(upstream))
    nodes = [y.grad_fn] if y.grad_fn else []
    for node in nodes:
        edges = [receiver for receiver, _ in node.next_functions if receiver]
        nodes += [receiver for receiver in edges if receiver not in nodes]
    return Sloped(
        y.detach().numpy(),
        tuple([None if x.grad is None else x.grad.numpy() for x in leaves]),
        tuple([node.name().rpartition("::")[2] for node in nodes]),
        tuple([x.detach().numpy() for x in leaves]),
    )
