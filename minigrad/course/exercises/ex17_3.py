"""17.3: eight of torch's messages: programs that raise them, and what repairs them.

Each program gets the engine and the letter of a repair, and is wrong with "". What
repairs it is found out by running: no error, and the value that is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad.course.exercises import catalogue

Program = Callable[[Any, str], Any]


def function(torch: Any, forward: Any, backward: Any) -> Any:
    """A Function of either engine with these two methods."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Own", (torch.autograd.Function,), body)


def leaf(torch: Any, *numbers: float) -> Any:
    """A tensor that requires grad."""
    return torch.tensor(list(numbers), requires_grad=True)


def no_history(torch: Any, repair: str) -> Any:
    """A result that was made anew from plain numbers."""
    x = leaf(torch, 1.0, 2.0)
    y = x * 3
    if repair != "b":
        y = torch.tensor(y.tolist())
    if repair == "a":
        y.requires_grad_()
    if repair == "c":
        y = y.clone()
    y.sum().backward()
    return x.grad


def second_time(torch: Any, repair: str) -> Any:
    """A state that leads back into the graph of the round before."""
    w = torch.tensor(0.5, requires_grad=True)
    h = torch.tensor(1.0)
    for _ in range(3):
        h = (w * h + 1).tanh()
        (h * h).backward(retain_graph=repair == "a")
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None if repair != "c" else torch.zeros(())
        if repair == "b":
            h = h.detach()
    return w


def modified(torch: Any, repair: str) -> Any:
    """A result that its own node has saved, changed in place."""
    x = leaf(torch, 1.0, 2.0)
    y = (x.clone() if repair == "a" else x).exp()
    if repair == "b":
        with torch.no_grad():
            y += 1
    elif repair == "c":
        y = y + 1
    else:
        y += 1
    y.sum().backward()
    return x.grad


def leaf_in_place(torch: Any, repair: str) -> Any:
    """Two steps of training by hand."""
    w = leaf(torch, 1.0, 2.0)
    for _ in range(2):
        (w * w).sum().backward()
        if repair == "a":
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
        elif repair == "b":
            w = w - 0.1 * w.grad
        else:
            w = w.detach() if repair == "c" else w
            w -= 0.1 * w.grad
    return w


def too_few(torch: Any, repair: str) -> Any:
    """A Function of a tensor and a number."""

    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.factor = factor
        return (x * factor, x * 0) if repair == "a" else x * factor

    def backward(ctx: Any, grad_output: Any, *more: Any) -> Any:
        slope = grad_output * ctx.factor
        return {"b": (slope, slope), "c": (slope, None)}.get(repair, slope)

    x = leaf(torch, 1.0, 2.0)
    y = function(torch, forward, backward).apply(x, 10.0)
    (y[0] if repair == "a" else y).sum().backward()
    return x.grad


def to_numpy(torch: Any, repair: str) -> Any:
    """NumPy in a backward that is recorded; right are the slope and an error."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        if repair == "c":
            return grad_output * 3 * x**2
        x = x.detach() if repair else x
        return grad_output * torch.from_numpy(3 * x.numpy() ** 2)

    x = leaf(torch, 2.0)
    y = function(torch, forward, backward).apply(x)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    if repair == "b":
        slope.requires_grad_()
    (x.sum() * 0 + slope.sum()).backward()
    return x.grad


def viewed(torch: Any, repair: str) -> Any:
    """A backward that flattens what arrives, from a transposed tensor."""

    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    def backward(ctx: Any, grad_output: Any) -> Any:
        g = grad_output.t() if repair == "a" else grad_output
        flat = g.reshape(-1) if repair in ("a", "b") else g.view(-1)
        return (flat * 2).view(2, 3)

    x = torch.ones(2, 3, requires_grad=True)
    y = function(torch, forward, backward).apply(x)
    y = y.contiguous() if repair == "c" else y
    (y.t() * torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    return x.grad


def two_dtypes(torch: Any, repair: str) -> Any:
    """Weights that come from NumPy; right is a float32 result."""
    x = leaf(torch, 1.0, 2.0).view(2, 1)
    weights = torch.from_numpy(np.array([[2.0, 3.0]]))
    if repair == "a":
        weights = weights.to(x.dtype)
    if repair == "b":
        x = x.double()
    if repair == "c":
        weights = weights.contiguous()
    return (weights @ x).dtype


A_VARIABLE = "one of the variables needed for gradient computation"

PROGRAMS: dict[str, tuple[Program, str, Any]] = {
    "a": (no_history, "element 0 of tensors does not require grad", [3, 3]),
    "b": (second_time, "Trying to backward through the graph a second time", 0.3991),
    "c": (modified, f"{A_VARIABLE} has been modified by an inplace", np.exp([1, 2])),
    "d": (leaf_in_place, "a leaf Variable that requires grad is being", [0.64, 1.28]),
    "e": (too_few, "function OwnBackward returned an incorrect number of", [10, 10]),
    "f": (to_numpy, "Can't call numpy() on Tensor that requires grad", [12]),
    "g": (viewed, "view size is not compatible", [2, 6, 10, 4, 8, 12]),
    "h": (two_dtypes, "expected m1 and m2 to have the same dtype", "float32"),
}
"""Each program, the beginning of what it raises in either engine, and what is right."""


def works(torch: Any, name: str, repair: str) -> bool:
    """Whether a program with a repair gives what is right."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a .grad that is no leaf's
            value = PROGRAMS[name][0](torch, repair)
    except (RuntimeError, TypeError):
        return False
    right = PROGRAMS[name][2]
    if isinstance(right, str):
        return str(value).endswith(right)
    if value is None:
        return False
    return np.allclose(value.detach().reshape(-1).tolist(), right, atol=1e-4)


def repairs(torch: Any) -> dict[str, str]:
    """The letters of the repairs that work, of each program."""
    return {n: "".join(r for r in "abc" if works(torch, n, r)) for n in PROGRAMS}


def truth() -> dict[str, str]:
    """Which choice repairs each program, as a run says."""
    found = repairs(minigrad)
    questions = catalogue.load("17.3").questions
    return {q.id: q.choices["abc".index(found[q.id])] for q in questions}
