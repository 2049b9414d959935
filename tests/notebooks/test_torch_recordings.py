"""Lesson 17 shows torch beside minigrad: live, or as it was recorded."""

from __future__ import annotations

import pytest

import minigrad
from minigrad import errors
from minigrad.course.notebook import two_engines
from minigrad.views.comparing import compare
from minigrad.views.recording import step
from tests.notebooks.torch_recordings import NAMES, program


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_engines, "has_torch", lambda: False)


@pytest.mark.parametrize("name", NAMES)
def test_recording_is_of_the_program_as_the_lesson_has_it(
    name: str, without_torch: None
) -> None:
    trace = two_engines.in_torch(program(name))()
    assert trace.data["meta"]["engines"] == ["torch"]
    assert trace.data["meta"]["title"] == f"{name} in PyTorch 2.13.0 (recorded)"
    steps = len(trace.sentences(0))
    assert 6 <= steps <= 14


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")  # NumPy's, of torch
@pytest.mark.parametrize("name", NAMES)
def test_recording_tells_what_torch_does_now(name: str) -> None:
    pytest.importorskip("torch")
    now = two_engines.live(program(name))
    shipped = two_engines.recorded(program(name))
    assert compare(now, shipped).difference is None
    assert now.sentences(0) == shipped.sentences(0)


def test_side_by_side_finds_no_difference_and_one(without_torch: None) -> None:
    assert two_engines.side_by_side(program("scale")).difference is None
    found = two_engines.side_by_side(program("seeded")).difference
    assert found is not None
    assert found.what == "x"
    said = "x is [0.637, 0.2698] in minigrad, and [0.4963, 0.7682] in PyTorch 2.13.0"
    assert found.sentence == f"{said} (recorded)."


def test_across_engines_another_number_in_backward_is_a_difference(
    without_torch: None,
) -> None:
    ours = step(program("scale"), minigrad)
    theirs = two_engines.recorded(program("scale"))
    place = next(e for e in theirs.data["events"] if e["k"] == "grad.accumulate")
    theirs.data["values"]["new"] = {
        **theirs.data["values"][place["new"]["v"]],
        "min": 0,
    }
    place["new"]["v"] = "new"
    comparison = compare(ours, theirs)
    assert comparison.difference is not None
    assert comparison.difference.what == "x.grad"
    _, at = comparison.steps[comparison.difference.step]
    assert theirs.data["events"][at - 1] is place


def test_program_that_was_changed_is_refused_without_torch(without_torch: None) -> None:
    def scale(torch: object) -> None:
        """Another program of this name."""

    with pytest.raises(errors.ArgumentValueError, match="no recording has this scale"):
        two_engines.side_by_side(scale)


def test_array_that_comes_first_stops_torch_in_backward_and_minigrad_in_forward(
    without_torch: None,
) -> None:
    theirs = two_engines.in_torch(program("weighted"))()
    ours = step(program("weighted"), minigrad)
    stops = [
        [e["say"].partition(" stops")[0] for e in trace.data["events"] if "err" in e]
        for trace in (ours, theirs)
    ]
    assert stops[0][0].startswith("Weighted.forward, line")
    assert stops[1][0].startswith("Weighted.backward, line")
    assert theirs.data["meta"]["error"].startswith("TypeError: unsupported operand")
