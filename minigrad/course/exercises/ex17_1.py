"""17.1: six programs for either engine: is what they give the same?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad.course.exercises.recorded import in_torch, words_of


def drawn(torch: Any) -> Any:
    """Random numbers from the same seed."""
    torch.manual_seed(0)
    return torch.rand(2)


def written_by_numpy(torch: Any) -> Any:
    """A saved tensor whose memory NumPy changes before backward."""
    array = np.array([2.0, 3.0])
    x = torch.from_numpy(array).requires_grad_()
    y = (x * x).sum()
    array += 1
    y.backward()
    return x.grad


def written_by_a_tensor(torch: Any) -> Any:
    """The same, changed by a tensor's own method."""
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = (x * x).sum()
    x.detach().add_(1)
    y.backward()
    return x.grad


def checked(torch: Any) -> Any:
    """What gradcheck says of a backward that clamps what arrives."""

    class Clamped(torch.autograd.Function):  # type: ignore[misc]  # either engine's
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output.clamp(-1, 1) * 2

    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    return torch.autograd.gradcheck(Clamped.apply, x, raise_exception=False)


def chain(torch: Any) -> Any:
    """The names of the nodes, from the result on."""
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    node, names = (x.softmax(0) * x).sum().grad_fn, []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "a": drawn,
    "b": written_by_numpy,
    "c": written_by_a_tensor,
    "d": lambda torch: np.exp(torch.tensor([0.0, 1.0])),
    "e": checked,
    "f": chain,
}


def results(torch: Any) -> dict[str, str]:
    """What each program gives in an engine, or which exception it raises."""
    found = {}
    for name, program in PROGRAMS.items():
        try:
            value = program(torch)
        except (RuntimeError, TypeError) as error:
            value = error
        found[name] = words_of(torch, value)
    return found


def truth() -> dict[str, str]:
    """Each is run here, and laid beside what torch gave."""
    theirs = in_torch("17.1")
    return {
        name: "the same" if ours == theirs[name] else "different"
        for name, ours in results(minigrad).items()
    }
