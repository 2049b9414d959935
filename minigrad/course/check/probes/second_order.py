"""Answers that differentiate twice: a Hessian times a vector, a gradient penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad import nn
from minigrad.course.check.facts import Array
from minigrad.course.check.side_effects import Lent

NAMES = ("W", "b", "u", "c")


class Mixed:
    """(a . x)³ + b . x³, which counts the backward passes that reach its x.

    And the calls beside the place ``at``.
    """

    def __init__(self, a: Array, b: Array, at: Array) -> None:
        self.a, self.b, self.at, self.passes, self.beside = a, b, at, 0, 0

    def __call__(self, x: Any) -> Any:
        inner = x * 1
        self.beside += not np.array_equal(x.detach().numpy(), self.at)
        if inner.requires_grad:
            inner.register_hook(self._count)
        a, b = minigrad.tensor(self.a), minigrad.tensor(self.b)
        return (a * inner).sum() ** 3 + (b * inner**3).sum()

    def _count(self, gradient: Any) -> None:
        self.passes += 1


@dataclass(frozen=True)
class Product:
    """What was returned, None if it was no tensor but a ``kind``.

    ``changed``: what is different about x, whose .grad held ones, and about v.
    ``passes``: how many backward passes reached x. ``beside``: how often the function
    was asked for its value at another place.
    """

    result: Array | None
    kind: str
    changed: tuple[str, ...]
    passes: int
    beside: int


def product_of(answer: Any, a: Array, b: Array, x: Array, v: Array) -> Product:
    """The Hessian of a mixed function at x times v, as the answer computes it."""
    function, leaf = Mixed(a, b, x), minigrad.tensor(x, requires_grad=True)
    leaf.grad = minigrad.tensor(np.ones_like(x))
    direction = minigrad.tensor(v)
    lent = Lent(x=leaf, v=direction)
    result = answer(function, leaf, direction)
    is_tensor = isinstance(result, minigrad.Tensor)
    return Product(
        result.detach().numpy().copy() if is_tensor else None,
        type(result).__name__,
        lent.changed(),
        function.passes,
        function.beside,
    )


class Critic(nn.Module):
    """tanh(x W' + b) u' + c, one score for each row."""

    def __init__(self, weights: tuple[Array, ...]) -> None:
        super().__init__()
        for name, value in zip(NAMES, weights, strict=True):
            setattr(self, name, nn.Parameter(minigrad.tensor(value)))

    def hidden(self, x: Any) -> Any:
        """What goes into the last layer."""
        return minigrad.tanh(x @ self.W.T + self.b)

    def forward(self, x: Any) -> Any:
        return self.hidden(x) @ self.u.T + self.c

    def slopes(self, x: Any) -> Any:
        """The gradient of each row's score, by a formula: for one backward pass."""
        return (self.u * (1 - self.hidden(x) ** 2)) @ self.W


@dataclass(frozen=True)
class Step:
    """The parameters after it, and what is different about the critic and about x."""

    parameters: Array
    changed: tuple[str, ...]


def stepped(
    answer: Any, weights: tuple[Array, ...], x: Array, rate: float, before: float
) -> Step:
    """A step of a critic whose gradients hold ``before``."""
    critic = Critic(weights)
    for parameter in critic.parameters():
        parameter.grad = minigrad.full_like(parameter, before).detach()
    data = minigrad.tensor(x)
    lent = Lent(x=data, critic=critic)
    answer(critic, data, rate)
    parts = [p.detach().numpy().ravel() for p in critic.parameters()]
    return Step(np.concatenate(parts), lent.changed())
