"""The bytes that kernels take beside what they are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.facts import Array
from minigrad.course.check.lifetimes import traced_peak


def own_bytes(answer: Any, names: tuple[str, ...], *given: tuple[Any, ...]) -> Array:
    """The most that each of these kernels takes, as written; -1 if there is none.

    They are looked up by their names where the Function's forward would find them.
    """
    there = inspect.unwrap(answer.forward).__globals__
    found = []
    for name, inputs in zip(names, given, strict=True):
        kernel = getattr(there.get(name), "py_func", there.get(name))
        found.append(least_peak(kernel, *inputs) if callable(kernel) else -1)
    return np.array(found)


def peak_of_conv(answer: Any, x: Array, w: Array) -> int:
    """The most bytes alive while the Function runs, and then its backward."""
    return least_peak(forward_and_back, answer, x, w)


def peaks_of_conv(answer: Any, x: Array, w: Array, padding: int) -> Array:
    """The same of forward alone, beside x and w themselves, and of backward alone."""
    leaves = [minigrad.tensor(each, requires_grad=True) for each in (x, w)]
    y = MINIGRAD.apply(answer, *leaves, padding)
    back = least_peak(y.grad_fn.apply, minigrad.ones_like(y))
    return np.array([least_peak(MINIGRAD.apply, answer, *leaves, padding), back])


def forward_and_back(answer: Any, x: Array, w: Array) -> None:
    """One call with padding 1."""
    leaves = [minigrad.tensor(each, requires_grad=True) for each in (x, w)]
    y = MINIGRAD.apply(answer, *leaves, 1)
    y.backward(MINIGRAD.expanded_ones(y))


def least_peak(function: Callable[..., Any], *given: Any) -> int:
    """The bytes of a call; what the first one looks up for good isn't meant."""
    function(*given)
    return min([traced_peak(function, *given) for _ in range(2)])
