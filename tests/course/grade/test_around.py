"""Ways past the rule of an answer, by what the engine calls of itself."""

import pytest

from minigrad.course.grade import examiner
from minigrad.course.grade.suspicious_names import flags
from tests.course.grade.attacks import RIGHT
from tests.course.grade.conftest import Grade

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
    "an apply for each of its subclasses": square(
        "def __init_subclass__(cls): cls.apply = lambda x: x * x"
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
    assert flags(["type('A', (), {'__init_subclass__': f})"]) == (
        "'__init_subclass__'",
    )
    assert flags(["edges, ctx._kept, x._version = 1, 2, '__'"]) == ()


SOFTMAX = """
import minigrad as mg
class Softmax(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        rows = x.movedim(dim, -1)
        y = HOW.movedim(-1, dim)
        ctx.dim = dim
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return y * (grad - (grad * y).sum(ctx.dim, keepdim=True)), None
"""


def test_attention_of_nothing_but_scores_is_no_softmax(graded: Grade) -> None:
    ones = "mg.eye(rows.shape[-1], dtype=x.dtype)"
    attention = "mg.nn.functional.scaled_dot_product_attention"
    whole = f"{attention}(rows.unsqueeze(-2), {ones}, {ones}, scale=1.0).squeeze(-2)"
    result = graded("gym.Softmax", SOFTMAX.replace("HOW", whole))
    assert (result.state, result.points) == ("crashed", 0)
    formula = "(rows - mg.logsumexp(rows, -1, keepdim=True)).exp()"
    honest = graded("gym.Softmax", SOFTMAX.replace("HOW", formula))
    assert (honest.points, honest.flags) == (honest.of, ())


KEPT = """
import minigrad as mg
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        KEEP
        return y
    @staticmethod
    def backward(ctx, grad):
        return grad * KEPT
"""


def test_what_is_kept_alive_is_seen_past_an_apply_of_its_own(graded: Grade) -> None:
    own = "    @classmethod\n    def apply(cls, x): return x.exp()\n"
    cycle = KEPT.replace("KEEP", "ctx.y = y").replace("KEPT", "ctx.y")
    assert graded("03.3", cycle + own).points == 0
    saved = KEPT.replace("KEEP", "ctx.save_for_backward(y)")
    honest = graded("03.3", saved.replace("KEPT", "ctx.saved_tensors[0]"))
    assert (honest.points, honest.flags) == (honest.of, ())


ENGINES = {
    "kept from before": "GraphTask.run = kept",
    "that nobody observes": "observe.clear()",
}


@pytest.mark.parametrize("way", ENGINES)
def test_who_writes_a_traversal_gets_none(way: str, graded: Grade) -> None:
    source = """
import minigrad as mg
from minigrad.engine import observe
from minigrad.engine.core.backward import GraphTask
kept = GraphTask.run
def backward(root, g):
    WAY
    t = mg.zeros(3, requires_grad=True) * 1
    t._grad_node = root
    mg.autograd.backward(t, g)
"""
    result = graded("05.5", source.replace("WAY", ENGINES[way]))
    assert result.points == 0
    assert (examiner.ASKED in result.flags) == (way == "that nobody observes")
