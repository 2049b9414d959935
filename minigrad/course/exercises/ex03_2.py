"""03.2: backward twice through one graph, tried with each way of keeping."""

from __future__ import annotations

import minigrad
from minigrad.course.exercises.ex03_1 import Square, SquareByAttribute


def truth() -> dict[str, str]:
    """What the second backward does."""
    with minigrad.teaching(False):
        x = minigrad.tensor(3.0, requires_grad=True)
        y = Square.apply(x)
        kept = minigrad.tensor(3.0, requires_grad=True)
        z = SquareByAttribute.apply(kept)
        z.backward()
        z.backward()
        assert kept.grad is not None
        again = x + x
        return {
            "a": second_of(y),
            "b": str(kept.grad.item()),
            "c": what_is_retained(),
            "d": "it runs" if second_of(again) != RAISES else RAISES,
        }


RAISES = "it raises: a second time"


def second_of(y: minigrad.Tensor) -> str:
    """What a second backward through ``y`` does."""
    y.backward()
    try:
        y.backward()
    except RuntimeError:
        return RAISES
    return "it runs, and x.grad doubles"


def what_is_retained() -> str:
    """What is still there after a backward that retains the graph, and only then."""
    x = minigrad.tensor(3.0, requires_grad=True)
    retained, released = Square.apply(x), Square.apply(x)
    retained.backward(retain_graph=True)
    released.backward()
    assert retained.grad_fn is not None
    assert released.grad_fn is not None
    (saved,) = retained.grad_fn.saved_tensors
    assert saved.item() == 3
    try:
        _ = released.grad_fn.saved_tensors
    except RuntimeError:
        return "what the nodes saved"
    return "nothing"
