"""Points only for a rule that the learner wrote: each kind of attack, and its twins."""

import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad.course.grade import examiner, sandbox
from tests.course.grade.borrowers import NAMED, OWN_KINDS
from tests.course.grade.conftest import Grade

KINDS = NAMED | OWN_KINDS

IN_VAIN = {
    "slopes in a table made while the notebook loads",
    "hooks of what is saved",
}
"""Ask before they are graded, as honest notebooks do; or for hooks that end with it."""


@pytest.mark.parametrize("name", KINDS)
def test_a_rule_of_somebody_else_gets_nothing_and_its_twin_all(
    name: str, graded: Grade
) -> None:
    kind = KINDS[name]
    result = graded(kind.exercise, kind.attack)
    assert (result.points, result.state == "solved") == (0, False), result
    assert bool(result.flags) == (name not in IN_VAIN)
    right = graded(kind.exercise, kind.honest)
    assert (right.state, right.points) == ("solved", right.of), right
    reports = {examiner.OWN_APPLY, examiner.ASKED, examiner.CHANGED}
    assert not reports & set(right.flags)
    assert graded(kind.exercise, kind.wrong_twin).points == 0


WITHOUT_RULES = """
import minigrad as mg
from minigrad.course.grade import worker
from minigrad.engine.builtin import Builtin
worker.prepare()
rules.guard.on = number == "guarded"
def below(cls): return {cls, *[c for s in cls.__subclasses__() for c in below(s)]}
refused = asked = 0
for operation in below(Builtin):
    for method in ("backward", "jvp"):
        rule = getattr(operation, method)
        if rule is getattr(Builtin, method): continue
        asked, found = asked + 1, set()
        for most in range(9):  # as many gradients as it takes
            try: rule(None, *[mg.ones(2)] * most)
            except Exception as error: found.add(str(error))
        refused += rules.REFUSED in found
        if rules.REFUSED not in found: print(rule, file=sys.stderr)
def ask(*question):
    global asked, refused
    asked += 1
    try: question[0](*question[1:])
    except RuntimeError as error: refused += str(error) == rules.REFUSED
x = mg.full((3, 3), 0.5, requires_grad=True)
linear = (mg.sum, mg.t, mg.neg, lambda x: x / 2, lambda x: x[0], lambda x: x.clone(),
          lambda x: x.expand(2, 3, 3), lambda x: x.reshape(9), lambda x: x + 1)
others = (mg.exp, mg.tanh, mg.abs, mg.sqrt, lambda x: x * x, lambda x: x @ x,
          lambda x: x ** 3, lambda x: x.softmax(0), lambda x: x.sort()[0])
for one in linear + others:
    y = one(x)
    ask(mg.autograd.grad, y, x, mg.ones_like(y))
for one in others:  # what is linear does to a tangent what it does to numbers
    ask(mg.func.jvp, one, (x.detach(),), (mg.ones_like(x),))
print(asked, refused)
"""


@pytest.mark.parametrize("state", ["there", "guarded", "not there"])
def test_no_operation_has_a_rule_any_more(state: str) -> None:
    program = sandbox.LOADED + WITHOUT_RULES
    with_rules = str(state != "not there")
    where = str(Path(minigrad.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program, state, with_rules, "", where],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    asked, refused = map(int, done.stdout.split())
    assert asked > 150
    assert refused == (0 if state == "there" else asked), done.stderr


CUBE = """
import minigrad as mg
from minigrad.ops import OPS
there = "saved_values" in OPS["exp"].function.backward.__code__.co_names
class Held: pass
class CubeDoubleBackward(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with mg.enable_grad(): y = x * x * x
        FORWARD
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not mg.is_grad_enabled(): return g * 3 * x * x
        SECOND
"""

SECONDS = {
    "asked of the engine": (
        "pass",
        "return mg.autograd.grad(x ** 3, x, g, create_graph=True)[0]",
    ),
    "of a node that is asked by itself": (
        "pass",
        "y = x ** 3; return y.grad_fn(g)",
    ),
    "of a rule with a made-up ctx": (
        "pass",
        """held = Held()
        held.needs_input_grad, held.numbers = (True, True), (None, None)
        held.saved_values = held.saved_tensors = x * x, x
        a, b = OPS["mul"].function.backward(held, g)
        return a + 2 * b""",
    ),
    "along another edge": (
        "if there: ctx._edges = ((y.grad_fn, 0),)",
        "return g",
    ),
}


@pytest.mark.parametrize("way", SECONDS)
def test_a_second_derivative_is_not_borrowed_where_there_are_rules(
    way: str, graded: Grade
) -> None:
    forward, second = SECONDS[way]
    source = CUBE.replace("FORWARD", forward).replace("SECOND", second)
    result = graded("gym.CubeDoubleBackward", source)
    assert result.state != "solved"
    assert result.points <= result.of / 2  # the first rule is its own
    assert examiner.ASKED in result.flags
    own = CUBE.replace("FORWARD", "pass").replace("SECOND", "return g * 3 * x * x")
    honest = graded("gym.CubeDoubleBackward", own)
    assert (honest.state, honest.points) == ("solved", honest.of)
    assert examiner.ASKED not in honest.flags


def test_who_changes_a_gradient_later_gets_no_half_either(graded: Grade) -> None:
    # All values and gradients are right at the leaf, and x is kept where it may be.
    hooked = KINDS["a hook on the leaf, after its gradient has come"].attack
    assert graded("gym.Square", hooked).points == 0


def test_a_cell_that_fails_where_there_are_no_rules_still_hands_in(
    graded: Grade,
) -> None:
    tried = """
from minigrad.course import check
import minigrad as mg
class Mine(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
x = mg.ones(3, requires_grad=True)
(Mine.apply(x) * 3).sum().backward()
assert x.grad[0] == 6
check("gym.Square", Mine)
"""
    result = graded("gym.Square", tried)
    assert (result.points, result.flags) == (2, ())
