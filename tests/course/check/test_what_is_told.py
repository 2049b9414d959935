"""What is said of wrong numbers is true of them, whether or not it has a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import examine
from minigrad.course.check import Contract, Verdict
from minigrad.course.check.facts import Array, Case
from minigrad.course.check.heard import calls_of, operations
from minigrad.course.check.judge import judge
from tests.course.check.test_judge import (
    BOTH,
    PRODUCT,
    SCALE,
    SCALES,
    Fake,
    G,
    X,
    exercise,
)

POWERS = [
    Case(f"{n} for {x.shape}", (x, n), np.ones(x.shape))
    for x in (X, np.array([[2.0, -1.5], [0.5, 3.0]]), np.array([1.25, -0.25]))
    for n in (-2, 3, 2)
]
POWER = exercise(
    Contract("Power", ("x", "n")),
    lambda x, n: x ** float(n),
    lambda g, x, n: (g * n * x ** float(n - 1), None),
)
SHIFT = exercise(
    Contract("Shift", ("x", "c")), lambda x, c: x + c, lambda g, x, c: (g, None)
)
SHIFTS = [Case(str(c), (X, c), np.ones(X.shape)) for c in (0.25, 0.5, 0.75)]
SINE = exercise(Contract("Sine", ("x",)), np.sin, lambda g, x: (g * np.cos(x),))
TABLES = [n * X[:, None] + X / n for n in (1.0, 1.5, 2.5)]
SINES = [Case(str(x[0]), (x,), 0.5 + x) for x in TABLES]
PAIRS = [Case(str(x[0]), (x, x[::-1] + 0.3), 0.25 + x) for x in TABLES]


def told(of: Any, cases: Any, backward: Any = None, forward: Any = None) -> str:
    """What the first finding says."""
    first = judge(Fake(of, cases, backward, forward).facts(), of).findings[0]
    return f"{first.story} {first.next_step}"


@pytest.mark.parametrize(
    ("of", "cases", "backward", "words"),
    [
        (
            POWER,
            POWERS,
            lambda g, x, n: (g * n * x ** float(n - 1) * (n > 0), None),
            "It's wrong where n is negative, and right in the others that ran.",
        ),
        (
            POWER,
            POWERS,
            lambda g, x, n: (g * n * np.where(x < 0, np.nan, x) ** float(n - 1), None),
            "It's wrong at each element where x is negative",
        ),
        (
            SCALE,
            SCALES,
            lambda g, x, c: (g * c**3, None),
            "Your gradient is the right one times c ** 2.",
        ),
        (
            SCALE,
            SCALES,
            lambda g, x, c: (g * (1 - c), None),
            "Your gradient would be right if c were 1 - c.",
        ),
        (
            SCALE,
            SCALES,
            lambda g, x, c: (g * abs(c), None),
            "not all of them. Your gradient would be right if c were abs(c)",
        ),
        (PRODUCT, PAIRS, lambda g, x, y: (g / y, g * x), "be right if y were 1 / y."),
        (PRODUCT, PAIRS, lambda g, x, y: (0 * g, g * x), "is zero everywhere."),
        (
            SINE,
            SINES,
            lambda g, x: (g * np.cos(np.minimum(x, 1.7)),),
            "It's wrong at each element where x is 1.75 or more",
        ),
        (SINE, SINES, lambda g, x: (g * np.cos(x) / x.max(),), "one times a number: "),
    ],
)
def test_what_wrong_gradients_have_in_common_is_told(
    of: Any, cases: Any, backward: Callable[..., Any], words: str
) -> None:
    said = told(of, cases, backward)
    assert words in said


@pytest.mark.parametrize(
    ("of", "cases", "forward", "words"),
    [
        (SCALE, SCALES, lambda x, c: x / c, "would be right if c were 1 / c."),
        (SHIFT, SHIFTS, lambda x, c: x, "returned the numbers of x as they came."),
        (
            POWER,
            POWERS,
            lambda x, n: np.where(x < 0, 0.0, x ** float(n)),
            "It's wrong at each element where x is negative",
        ),
    ],
)
def test_what_wrong_results_are_is_told(
    of: Any, cases: Any, forward: Callable[..., Any], words: str
) -> None:
    assert words in told(of, cases, None, forward)


def test_story_of_a_result_does_not_speak_of_a_gradient() -> None:
    verdict = examined("gym.CrossEntropy", "return -logp[rows, target].sum()")
    assert verdict.mistakes == ("R05",)
    assert "Your result, or a part of it, is too large by a factor" in verdict.message


def examined(name: str, returned: str) -> Verdict:
    source = f"""
class CrossEntropy(mg.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        logp, rows = mg.log_softmax(logits, 1), mg.arange(len(target))
        {returned}
    @staticmethod
    def backward(ctx, g):
        return g, None
"""
    names: dict[str, Any] = {"mg": mg}
    exec(source, names)
    return examine(name, names["CrossEntropy"])


def test_numbers_near_a_tie_are_no_tie() -> None:
    class Max(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            most = x.amax(-1, keepdim=True)
            wins = ((x - most).abs() < 1e-3).to(x.dtype)
            ctx.save_for_backward(wins / wins.sum(-1, keepdim=True))
            return most.squeeze(-1)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return ctx.saved_tensors[0] * g.unsqueeze(-1)

    verdict = examine("gym.Max", Max)
    assert verdict.mistakes == ()
    assert "It's wrong where numbers of x are nearly equal" in verdict.message


@pytest.mark.parametrize("place", [0, 1])
def test_hint_is_about_the_gradient_that_is_wrong(place: int) -> None:
    class Mul(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * (y if place else x), g * (y if place else x)

    (finding,) = examine("01.4", Mul).findings
    this, other = "xy"[place], "yx"[place]
    assert finding.arguments == (this,)
    assert f"Take {this} = 1 and {other} = 10. If {this} grows" in finding.next_step


def test_own_words_are_not_replaced_by_a_hint_of_the_exercise() -> None:
    cases = [Case("more", (X,), (G, X)), Case("three", (2 * X,), (X, G))]

    def rule(g_twice: Any, g_square: Any, x: Array) -> tuple[Array, ...]:
        nothing = np.zeros_like(x)
        by_twice = nothing if g_twice is None else 2 * g_twice
        return (by_twice + (nothing if g_square is None else 3 * x * g_square),)

    of = replace(BOTH, mistake_hints={"L02": "Is the factor of twice right?"})
    assert "Use only the output square" in told(of, cases, rule)


def test_work_that_is_thrown_away_is_seen() -> None:
    class Linear(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, W: Any, b: Any) -> Any:
            ctx.save_for_backward(x, W)
            return x @ W.T + b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, W = ctx.saved_tensors
            found = g @ W, g.T @ x, g.sum(0)
            pairs = zip(found, ctx.needs_input_grad, strict=True)
            return tuple([each if need else None for each, need in pairs])

    for name in ("gym.Linear", "04.2"):
        assert examine(name, Linear).mistakes == ("A07",)


def test_operations_of_other_threads_are_not_heard() -> None:
    import threading

    with operations() as ran:
        thread = threading.Thread(target=lambda: mg.ones(2) * 2)
        thread.start()
        thread.join()
        _ = mg.ones(2).exp()
    assert [function.__name__ for function, _ in ran] == ["Exp"]


def test_calls_inside_of_the_engine_are_not_heard() -> None:
    heard: list[str] = []
    functions = [("ones", mg.Tensor.new_ones), ("array", mg.Tensor.__array__)]
    with calls_of(functions, lambda name, *_: heard.append(name)):
        x = mg.ones(2)
        _ = x.new_zeros(2), x.new_ones(2), np.asarray(x), repr(x)
    assert heard == ["ones", "array"]


def numbers() -> Iterator[tuple[list[Array], Array]]:
    random = np.random.default_rng(0)
    for _ in range(4):
        x = random.normal(size=9)
        yield [x], 2 - x**3
