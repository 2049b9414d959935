"""05.6: what two backwards leave in ``.grad``."""

from __future__ import annotations

import warnings

import minigrad


def run(clears: bool = False, retains: bool = False) -> tuple[str, str]:
    """``x.grad`` and ``h.grad`` after the program, in one of its variants."""
    x = minigrad.tensor(2.0, requires_grad=True)
    h = x * 3
    if retains:
        h.retain_grad()
    y = h * h
    y.backward(retain_graph=True)
    if clears:
        x.grad = None
    y.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that h is no leaf
        return value_of(x.grad), value_of(h.grad)


def value_of(gradient: minigrad.Tensor | None) -> str:
    """A gradient as it is asked for."""
    return "None" if gradient is None else str(gradient.item())


def truth() -> dict[str, str]:
    """The program is run, with each change."""
    return {
        "a": run()[0],
        "b": run()[1],
        "c": run(clears=True)[0],
        "d": run(retains=True)[1],
    }
