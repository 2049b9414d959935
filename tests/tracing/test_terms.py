"""The terms of a gradient, against slopes that are measured."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import minigrad as mg
from minigrad.views.recording import Recording

Array = Any
CALLS: list[int] = []
POINTS = np.random.default_rng(4).uniform(0.5, 2.0, (2, 3))
OTHERS = np.random.default_rng(5).uniform(0.5, 2.0, (3, 2))

RULES: dict[str, Callable[[Any], Any]] = {
    "MmBackward0": lambda x: x @ mg.tensor(OTHERS),
    "ExpBackward0": lambda x: x.exp(),
    "SumBackward1": lambda x: x.sum(dim=1, keepdim=True),
    "SoftmaxBackward0": lambda x: x.softmax(1),
    "TBackward0": lambda x: x.t(),
    "AddBackward0": lambda x: x[0] + x,
}


def measured(function: Callable[[Any], Any], at: Array, step: float = 1e-6) -> Array:
    """The slopes of all outputs by all inputs, by central differences."""
    columns = []
    for place in range(at.size):
        nudge = np.zeros(at.size)
        nudge[place] = step
        moved = [at + sign * nudge.reshape(at.shape) for sign in (1, -1)]
        more, less = [function(mg.tensor(one)).numpy() for one in moved]
        columns.append(((more - less) / (2 * step)).ravel())
    return np.array(columns).T


def turns_of(trace: Recording, label: str) -> list[dict[str, Any]]:
    trace.add_terms()
    named = {n["id"] for n in trace.data["graph"]["nodes"] if n["label"] == label}
    events = trace.data["events"]
    return [e for e in events if e["k"] == "node.enter" and e["n"] in named]


def slopes_in(turn: dict[str, Any], slot: int, outputs: int, inputs: int) -> Array:
    """The slopes that a turn was told with, as one table."""
    table = np.zeros((outputs, inputs))
    numbers = turn["terms"][str(slot)]
    for at in range(0, len(numbers), 4):
        element, _, other, slope = numbers[at : at + 4]
        table[other, element] = slope
    return table


@pytest.mark.parametrize("label", RULES)
def test_slopes_of_a_rule_are_those_that_are_measured(label: str) -> None:
    function = RULES[label]

    def program() -> None:
        x = mg.tensor(POINTS, requires_grad=True)
        y = function(x)
        (y * mg.tensor(weights)).sum().backward()

    weights = np.random.default_rng(6).normal(size=function(mg.tensor(POINTS)).shape)
    (turn,) = turns_of(mg.step(program), label)
    slot = 1 if label == "AddBackward0" else 0
    told = slopes_in(turn, slot, weights.size, POINTS.size)
    expected = measured(RULES[label], POINTS)
    if label == "AddBackward0":
        expected = np.eye(POINTS.size)  # the other use of x has a node of its own
    np.testing.assert_allclose(told, expected, rtol=2e-5, atol=1e-8)


def reason(rule: Any, at: Any = (2.0, -1.0), **kept: Any) -> Any:
    """Why the terms of ``rule``, at a value, are not told; or the numbers."""

    class Asked(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.save_for_backward(x)
            for name in kept:
                setattr(ctx, name, kept[name])
            return x * 3

        backward = staticmethod(rule)

    def program() -> None:
        x = mg.tensor(at, requires_grad=True)
        (Asked.apply(x) * mg.tensor([1.0, 5.0])).sum().backward()

    (turn,) = turns_of(mg.step(program), "AskedBackward")
    return turn["terms"]["0"]


def test_terms_of_a_wrong_rule_are_what_it_really_did() -> None:
    assert reason(lambda ctx, g: g * 7) == [0, 0, 0, 7.0, 1, 0, 1, 7.0]
    assert reason(lambda ctx, g: g.flip(0)) == [1, 0, 0, 1.0, 0, 0, 1, 1.0]


def test_rule_that_forgets_what_arrives_is_said() -> None:
    says = reason(lambda ctx, g: ctx.saved_tensors[0] * 3)
    assert says == (
        "the rule returns [6, -3] even where only zeros arrive: it doesn't multiply by "
        "what arrives"
    )


def test_rule_that_is_not_linear_is_said_with_both_numbers() -> None:
    says = reason(lambda ctx, g: g * g.sum())
    assert says == (
        "the rule isn't linear: asked for each term alone it returns 1 in total, not 6"
    )


def test_rule_that_rounds_what_it_takes_away_from_is_linear() -> None:
    x = mg.tensor([2.5, 3.5, 5.9], requires_grad=True)
    with mg.record(keep_values=True) as trace:
        (x.tanh() * 0.37).sum().backward()
    for place in range(3):
        (addend,) = trace.explain("x.grad", (place,)).addends
        assert addend.said.startswith(
            f"{addend.text} \N{ALMOST EQUAL TO} 0.37\N{MIDDLE DOT}"
        )


def test_rule_that_refuses_one_term_alone_is_said() -> None:
    def careful(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        if g[1].item() != 5:
            raise ValueError("what is this?")
        return g

    assert "the rule stops with ValueError: what is this?" in reason(careful)


def test_slope_that_is_infinite_is_said() -> None:
    says = reason(lambda ctx, g: g / (ctx.saved_tensors[0] - 2))
    assert says == "a local derivative is inf or nan"


def test_rule_that_changes_something_outside_is_not_run_again() -> None:
    def counting(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        CALLS.append(1)
        return g

    CALLS.clear()
    says = reason(counting)
    assert says == (
        "the rule uses CALLS, which it could change, so it isn't run again "
        "unless you ask"
    )
    assert CALLS == [1]


def test_rule_with_a_while_loop_is_not_run_again_and_one_with_for_is() -> None:
    def patient(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        while g.abs().sum().item() < 100:
            g = g * 2
        return g

    def quick(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        for factor in (2, 3):
            if factor == 2:
                continue
            g = g * factor
        return sum([g for _ in range(2)])

    says = (
        "the rule has a while loop, which might not end, so it isn't run again "
        "unless you ask"
    )
    assert reason(patient) == says
    assert reason(quick) == [0, 0, 0, 6.0, 1, 0, 1, 6.0]


def test_rule_that_counts_on_its_class_is_not_run_again() -> None:
    class Counting(mg.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            Counting.calls += 1
            return g * 2

    class Noting(Counting):
        notes: ClassVar[list[int]] = []

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            Noting.notes.append(1)
            return g * 2

    x = mg.tensor(1.0, requires_grad=True)
    for function in (Counting, Noting):
        (turn,) = turns_of(
            mg.step(lambda of: of.apply(x).backward(), function),
            f"{function.__name__}Backward",
        )
        assert f"the rule uses {function.__name__}" in turn["terms"]["0"]
    assert (Counting.calls, Noting.notes) == (1, [1])


def test_rule_that_is_run_again_prints_nothing_and_draws_nothing() -> None:
    def talking(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        print("here")
        return g + 0 * np.random.rand() * random.random() * mg.rand(()).item()

    def states() -> tuple[Any, ...]:
        numpys = str(np.random.get_state())
        return numpys, random.getstate(), mg.get_rng_state().tolist()

    class Talking(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            return x * 2

        backward = staticmethod(talking)

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        trace = mg.step(lambda: Talking.apply(x).sum().backward())
        before = states()
        (turn,) = turns_of(trace, "TalkingBackward")
    assert printed.getvalue() == "here\n"
    assert states() == before
    assert turn["terms"]["0"] == [0, 0, 0, 1.0, 1, 0, 1, 1.0]


def test_rule_that_draws_what_it_gives_is_said() -> None:
    says = reason(lambda ctx, g: g * mg.rand(2))
    assert says == "run again, the rule returns something else"


def test_zeros_that_a_rule_is_asked_with_raise_nothing() -> None:
    def divides(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        array = g.numpy()
        return mg.tensor(np.where(array == 0, 0, array * array / array))

    class Divides(mg.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 1)
        backward = staticmethod(divides)

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with np.errstate(all="raise"):
        trace = mg.step(lambda: Divides.apply(x).sum().backward())
        (turn,) = turns_of(trace, "DividesBackward")
    assert turn["terms"]["0"] == [0, 0, 0, 1.0, 1, 0, 1, 1.0]


def test_changed_by_a_hook_is_said() -> None:
    def program() -> None:
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3
        assert y.grad_fn is not None
        y.grad_fn.register_hook(lambda given, arrived: (given[0] * 2, *given[1:]))
        y.sum().backward()

    (turn,) = turns_of(mg.step(program), "MulBackward0")
    assert turn["terms"] == {"0": "a hook has changed what the rule returned"}


def test_large_gradients_have_no_terms_and_small_ones_beside_them_have() -> None:
    def program() -> None:
        x = mg.ones(9, requires_grad=True)
        (x * 2).sum().backward()
        y = mg.ones(8, requires_grad=True)
        (y * 2).sum().backward()

    trace = mg.step(program)
    assert [turn.get("terms") is None for turn in turns_of(trace, "MulBackward0")] == [
        True,
        False,
    ]


def test_recording_that_was_not_asked_to_keeps_nothing() -> None:
    with mg.record() as trace:
        mg.tensor(2.0, requires_grad=True).exp().backward()
    (turn,) = turns_of(trace, "ExpBackward0")
    assert "terms" not in turn
    assert trace.rules is None


def test_kept_values_have_the_same_terms() -> None:
    def program() -> None:
        (mg.tensor(2.0, requires_grad=True) * 3).backward()

    with mg.record(keep_values=True) as trace:
        program()
    kept = turns_of(trace, "MulBackward0")
    assert kept[0]["terms"] == turns_of(mg.step(program), "MulBackward0")[0]["terms"]
    assert kept[0]["terms"]["0"] == [0, 0, 0, 3.0]


def test_rules_asked_for_one_recording_are_so_many_and_no_more() -> None:
    def program() -> None:
        x = mg.ones((8, 8), requires_grad=True)
        y = x
        for _ in range(40):
            y = y * 1
        y.sum().backward()

    with_terms = [
        "terms" in turn for turn in turns_of(mg.step(program), "MulBackward0")
    ]
    assert with_terms[0]
    assert not with_terms[-1]


def test_ctx_may_have_attributes_that_the_engines_own_nodes_have() -> None:
    class Inner(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.inner, ctx.slot, ctx.geometry = x, 1, "flat"
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            return g * (3 if ctx.slot == 1 and ctx.geometry == "flat" else 0)

    x = mg.tensor(2.0, requires_grad=True)
    for keeps in (False, True):
        trace = mg.step(lambda: Inner.apply(x).backward(), keep_values=keeps)
        assert "error" not in trace.data["meta"]
        (turn,) = turns_of(trace, "InnerBackward")
        assert turn["terms"]["0"] == [0, 0, 0, 3.0]
