"""11.6: the product of a Hessian with a vector, in three ways."""

from __future__ import annotations

import minigrad
from minigrad import func
from minigrad.course.check import submission
from minigrad.course.exercises.messages import text_of

Square, h, f = submission.shipped_under(
    ["Square", "h", "f"], text_of(__name__)["shipped"]
)


def truth() -> dict[str, str]:
    """Each way is run; the rules are counted."""
    x, v = minigrad.tensor([3.0, 5.0]), minigrad.tensor([1.0, 2.0])
    slope, along = func.jvp(func.grad(h), (x,), (v,))
    assert minigrad.allclose(along, func.hessian(h)(x) @ v)
    is_gradient = minigrad.allclose(slope, func.grad(h)(x))
    twice = func.jvp(lambda x: func.jvp(h, (x,), (v,))[1], (x,), (v,))[1]
    Square.calls = 0
    func.jvp(func.grad(f), (x,), (v,))
    mixed = Square.calls
    func.grad(lambda x: (func.grad(f)(x) * v).sum())(x)
    return {
        "a": "{:g}, {:g}".format(*along.tolist()),
        "b": f"{twice.item():g}",
        "c": "the gradient of h" if is_gradient else "something else",
        "d": str(mixed),
        "e": str(Square.calls - mixed),
    }
