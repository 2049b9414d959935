"""Ways past the rule of an answer, by what the engine calls of itself."""

import pytest

from minigrad.course.grading.suspects import flags
from tests.course.grading.attacks import RIGHT
from tests.course.grading.conftest import Grade

SQUARE = """
import functools
import minigrad as mg
class Square(mg.autograd.Function):
    REST
    @staticmethod
    def forward(ctx, x):
        with mg.enable_grad():
            z = x.detach().requires_grad_()
            y = z * z
        FORWARD
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return BACKWARD
"""


def square(rest: str = "", forward: str = "", backward: str = "grad") -> str:
    source = SQUARE.replace("REST", rest or "pass").replace("BACKWARD", backward)
    return source.replace("FORWARD", forward or "pass")


# Nothing of this has a frame of its own, and so none that lies in a cell.
ITERATED = """class Kept(list):
            __iter__ = functools.partial(
                map, mg.autograd.backward, [y], [mg.ones_like(y)])
        ctx.kept, ctx.slope = Kept([1]), lambda: z.grad"""

AROUND = {
    "an apply of its own": square("@classmethod\n    def apply(cls, x): return x * x"),
    "an apply without a frame": square(
        "apply = staticmethod(functools.partial(mg.pow, exponent=2))"
    ),
    "a list that the judge looks into": square("", ITERATED, "grad * ctx.slope()"),
    "the edges of another node": square(
        "", "with mg.enable_grad(): ctx._edges = ((x * x).grad_fn,)"
    ),
}


@pytest.mark.parametrize("way", AROUND)
def test_nothing_goes_past_the_rule_of_an_answer(way: str, graded: Grade) -> None:
    result = graded("gym.Square", AROUND[way])
    assert (result.state != "solved", result.points) == (True, 0), result
    honest = graded("gym.Square", RIGHT)
    assert (honest.points, honest.flags) == (2, ())


def test_who_writes_where_the_engine_does_is_looked_at() -> None:
    assert flags(["ctx._edges = y._grad_fn"]) == ("_edges", "_grad_fn")
    assert flags(["edges, ctx._kept, x._version = 1, 2, 3"]) == ()
