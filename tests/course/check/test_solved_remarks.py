"""A right answer is told what would not count where answers are graded."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad import sigmoid as known_before
from minigrad.course import examine
from minigrad.course.check import Case, Contract, forbidden_api, heard, solved_remarks
from minigrad.kernels import elementwise
from minigrad.kernels._jit import in_numpy
from minigrad.ops.activations import Sigmoid


def made(name: str, forward: Any, backward: Any) -> Any:
    """A Function with these two methods."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(mg.autograd.Function)(name, (mg.autograd.Function,), methods)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + (-x.clamp(-700, 700)).exp())


def answer(value_of: Callable[[Any], Any]) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = value_of(x)
        ctx.save_for_backward(y)
        return y

    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)

    return made("Sigmoid", forward, backward)


WAYS: dict[str, Callable[[Any], Any]] = {
    "a function": lambda x: mg.sigmoid(x),
    "a method": lambda x: x.sigmoid(),
    "a module": lambda x: mg.nn.Sigmoid()(x),
    "a name from before": lambda x: known_before(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_operation_that_is_asked_for_is_remarked(way: str) -> None:
    verdict = examine("gym.Sigmoid", answer(WAYS[way]))
    assert verdict.state == "solved"
    assert "The engine's own `sigmoid` does the work" in verdict.message
    assert "taken away, and this one would stop there" in verdict.message


def test_formula_of_ones_own_has_no_remark_whatever_its_name() -> None:
    assert examine("gym.Sigmoid", answer(sigmoid)).remarks == ()
    assert sys.getprofile() is None


def test_check_under_a_profiler_written_in_c_comes_to_its_end() -> None:
    passed = cProfile.Profile().runcall(examine, "gym.Sigmoid", answer(sigmoid))
    assert passed.state == "solved"
    with cProfile.Profile(), heard.calls_of([], lambda *_: None):
        pass
    assert sys.getprofile() is None


ARGUMENTS = {
    "batch_norm": (mg.ones(2, 3), None, None, None, None, True),
    "cross_entropy": (mg.ones(2, 3), mg.tensor([0, 1])),
    "embedding": (mg.tensor([0, 1]), mg.ones(2, 3)),
    "layer_norm": (mg.ones(2, 3), (3,)),
    "linear": (mg.ones(2, 3), mg.ones(2, 3)),
    "nll_loss": (mg.ones(2, 3), mg.tensor([0, 1])),
    "scaled_dot_product_attention": (mg.ones(2, 3),) * 3,
}


@pytest.mark.parametrize("name", forbidden_api.EVERY)
def test_whatever_is_taken_away_is_remarked(name: str) -> None:
    given = ARGUMENTS.get(name, (mg.ones(2, 3),))
    one = getattr(mg.nn.functional, name, None) or getattr(mg, name)

    def forward(ctx: Any, x: Any) -> Any:
        one(*given)
        return x

    identity = made("Identity", forward, lambda ctx, grad: grad)
    case = Case("a case", (np.ones(2),), np.ones(2))
    used = solved_remarks.used_by(
        identity, Contract("Identity", ("x",)), case, forbidden_api.EVERY
    )
    assert name in used
    assert {*used} <= {name, "nll_loss", "log_softmax", "softmax"}


NAMES = "sigmoid", "relu"


@pytest.mark.parametrize(
    "borrowed",
    [
        lambda ctx, x: mg.nn.functional.silu(x) / x,
        lambda ctx, x: Tensor(elementwise.sigmoid(x.numpy())),
        lambda ctx, x: Tensor(Sigmoid.forward(x.numpy())),
    ],
)
def test_operation_behind_another_or_by_a_side_door_is_remarked(borrowed: Any) -> None:
    sigmoid = made("Mine", borrowed, lambda ctx, grad: grad)
    case = Case("a case", (np.ones(2),), np.ones(2))
    contract = Contract("Mine", ("x",))
    with in_numpy():
        asked = {n: solved_remarks.used_by(sigmoid, contract, case, [n]) for n in NAMES}
    assert asked == {"sigmoid": ["sigmoid"], "relu": []}


def test_derivative_by_the_engine_is_remarked() -> None:
    def asks(ctx: Any, grad: Any) -> Any:
        x, y = [t.detach().requires_grad_() for t in ctx.saved_tensors]
        with mg.enable_grad():
            return mg.autograd.grad(x * y, (x, y), grad)

    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return x * y

    def formula(ctx: Any, grad: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad * y, grad * x

    said = examine("01.4", made("Mul", forward, asks)).message
    assert "A method of the answer has the engine differentiate" in said
    assert examine("01.4", made("Mul", forward, formula)).remarks == ()


CHANGES = {
    "x.add_(1)": False,
    "x += mg.ones_like(x)": False,
    "x[...] = x + 1": False,
    "x.detach().add_(1)": False,
    "x.data.add_(1)": True,
    "x.data += 1": True,
    "x.numpy()[...] += 1": True,
}


@pytest.mark.parametrize(("change", "is_remarked"), CHANGES.items())
def test_change_that_only_its_mark_counts_is_remarked(
    change: str, is_remarked: bool
) -> None:
    scope: dict[str, Any] = {"mg": mg}
    exec(
        f"def forward(ctx, x):\n    {change}\n    ctx.mark_dirty(x)\n    return x",
        scope,
    )
    verdict = examine("08.2", made("AddOne_", scope["forward"], lambda ctx, g: g))
    assert verdict.state == "solved"
    assert ("behind the engine's back" in verdict.message) == is_remarked
