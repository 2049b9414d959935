"""What teaching mode says during a recording: at its step, with the line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import minigrad as mg
from minigrad.lint import TeachingWarning
from minigrad.tracing.happenings import advice_of
from minigrad.views.recording import Recording
from tests.views.folding import facts_at


def keeps() -> Any:
    class Keeps(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.kept = x
            return x * x

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            g.mul_(2)
            return g * ctx.kept

    return Keeps


def running(function: Any) -> Callable[[], None]:
    def run() -> None:
        x = mg.tensor([1.0, 3.0], requires_grad=True)
        (function.apply(x) * 2).sum().backward()

    return run


def advised(run: Callable[[], None], mode: bool = True) -> Recording:
    with warnings.catch_warnings(), mg.teaching(mode):
        warnings.simplefilter("ignore")
        return mg.step(run)


def advice_in(trace: Recording) -> list[Any]:
    return [e["advice"] for e in trace.data["events"] if e["k"] == "lint"]


def test_advice_is_a_step_with_the_line_that_is_meant() -> None:
    trace = advised(running(keeps()))
    forward, backward = advice_in(trace)
    assert (forward["id"], backward["id"]) == ("S06", "M01")
    assert forward["what"].startswith("Keeps.forward: ctx.kept is a Tensor kept as")
    assert forward["rest"][0] == "fix: use ctx.save_for_backward(kept)"
    assert forward["line"][1] == "ctx.kept = x"
    lines = __import__("linecache").getlines(__file__)
    assert lines[forward["line"][0] - 1].strip() == "ctx.kept = x"
    assert backward["line"][1].startswith("def backward(ctx")
    says = [say for say in trace.sentences(1) if say.startswith("Teaching mode: ")]
    assert len(says) == 2


def test_advice_stands_where_it_arose() -> None:
    events = advised(running(keeps())).data["events"]
    told = [event for event in events if event["lvl"] <= 1]
    kinds = [event["k"] for event in told]
    assert told[kinds.index("lint") - 1]["ph"]["name"] == "run forward"
    assert kinds.index("lint") < kinds.index("graph.node") < kinds.index("ctx.save")
    second = len(kinds) - 1 - kinds[::-1].index("lint")
    assert kinds.index("backward.begin") < second
    phases = [event["ph"]["name"] for event in events if event["k"] == "lint"]
    assert phases == ["run forward", "call its backward"]


def test_without_teaching_mode_nothing_is_said() -> None:
    assert advice_in(advised(running(keeps()), mode=False)) == []


def test_good_function_gets_no_advice() -> None:
    class Good(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            return g * 2 * ctx.saved_tensors[0]

    assert advice_in(advised(running(Good))) == []


@pytest.mark.parametrize("reads", [False, True])
def test_recorder_that_looks_on_has_not_read_what_was_saved(reads: bool) -> None:
    class Saves(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            if reads:
                assert len(ctx.saved_tensors) == 1
            g = g * 1
            return g * 2

    found = advice_in(advised(running(Saves)))
    assert [("never read" in one["what"]) for one in found] == ([] if reads else [True])


def test_advice_that_was_shown_before_is_in_the_recording_and_not_shown_again() -> None:
    run = running(keeps())
    assert len(advice_in(advised(run))) == 2
    with warnings.catch_warnings(record=True) as shown, mg.teaching(True):
        warnings.simplefilter("always")
        trace = mg.step(run)
    assert len(advice_in(trace)) == 2
    assert [one for one in shown if one.category is TeachingWarning] == []


def test_advice_belongs_to_the_ctx_it_is_about() -> None:
    function = keeps()

    def run() -> None:
        x = mg.tensor([1.0, 3.0], requires_grad=True)
        (function.apply(function.apply(x)) * 2).sum().backward()

    trace = advised(run)
    made = [e["cid"] for e in trace.data["events"] if e["k"] == "ctx.new"]
    told = facts_at(trace.data, len(trace))["advice"]
    assert set(told) == set(made)
    assert [len(told[ctx]) for ctx in made] == [2, 2]
    first = next(i for i, e in enumerate(trace.data["events"], 1) if e["k"] == "lint")
    assert facts_at(trace.data, first - 1)["advice"] == {}


@pytest.mark.parametrize(
    ("id", "subject", "rule", "line"),
    [
        ("S03", "0", "forward", "ctx.save_for_backward(x)"),
        ("R01", "argument 1 (x)", "backward", "return g"),
        ("S04", "shared", "", None),
    ],
)
def test_line_is_found_by_the_kind_of_advice(
    id: str, subject: str, rule: str, line: str | None
) -> None:
    class Sample(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            return g

    warning = TeachingWarning(f"Sample.{rule}: what" if rule else "Sample: what")
    warning.id = id
    found = advice_of(Sample, subject, warning)["line"]
    assert (found and found[1]) == line
