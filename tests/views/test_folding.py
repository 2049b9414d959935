"""What the player shows, worked out in Python."""

import math
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.pictures import picture
from minigrad.utils.checkpoint import checkpoint
from minigrad.views import values
from tests.views import folding, stories


def test_position_zero_shows_the_title_and_nothing_else() -> None:
    shown = folding.state_at(stories.mul_constant(), 0)
    assert shown == {
        "position": 0,
        "say": "MulConstant.apply(x, 10), then sum and backward",
        "nodes": {},
        "edges": {},
        "ctx": {"id": None, "entries": {}},
    }


def test_a_gradient_is_active_for_one_event_and_sent_afterwards() -> None:
    data = stories.fan_in()
    at = next(i for i, e in enumerate(data["events"], 1) if e.get("e") == "e2")
    assert folding.state_at(data, at)["edges"]["e2"] == "active"
    assert folding.state_at(data, at + 1)["edges"]["e2"] == "sent"


def test_node_is_seen_then_active_then_done() -> None:
    data = stories.mul_constant()
    shown = (
        folding.state_at(data, i)["nodes"].get("n0")
        for i in range(len(data["events"]) + 1)
    )
    assert list(dict.fromkeys(shown)) == [None, "seen", "active", "done"]


def after_the_inner_backward(data: stories.Json) -> tuple[stories.Json, stories.Json]:
    """What is shown before a backward inside another, and after it."""
    inside = [i for i, e in enumerate(data["events"]) if e.get("inside")]
    kinds = [data["events"][i]["k"] for i in inside]
    assert kinds == ["backward.begin", "backward.end"]
    return folding.state_at(data, inside[0]), folding.state_at(data, inside[1] + 1)


def test_a_backward_inside_another_leaves_what_was_lit() -> None:
    with mg.record(lines=False) as trace:
        x = mg.tensor(2.0, requires_grad=True)
        y = checkpoint(lambda a: a * a, x, use_reentrant=True)
        (y * x).backward()
    before, after = after_the_inner_backward(trace.data)
    assert set(before["nodes"].values()) == {"seen", "active", "done"}
    assert set(before["edges"].values()) == {"seen", "sent"}
    assert {n: after["nodes"][n] for n in before["nodes"]} == before["nodes"]
    assert {e: after["edges"][e] for e in before["edges"]} == before["edges"]
    inner = set(after["nodes"]) - set(before["nodes"])
    assert {after["nodes"][n] for n in inner} <= {"seen"}
    last = folding.state_at(trace.data, len(trace))["nodes"]
    outer = [n for n, lit in before["nodes"].items() if lit != "seen"]
    assert {last[n] for n in outer} == {"done"}


def test_what_waits_is_there_again_after_grad_in_a_hook() -> None:
    def look(given: mg.Tensor) -> None:
        handle.remove()
        mg.autograd.grad(z, x, retain_graph=True)

    with mg.record(lines=False) as trace:
        x = mg.tensor(2.0, requires_grad=True)
        y = x * 3
        z = y * x
        handle = y.register_hook(look)
        z.backward(retain_graph=True)
    inside = [i for i, e in enumerate(trace.data["events"]) if e.get("inside")]
    before = folding.facts_at(trace.data, inside[0])["waiting"]
    assert before
    assert folding.facts_at(trace.data, inside[-1] + 1)["waiting"] == before


def test_a_backward_that_an_error_ended_is_over_when_the_outer_one_goes_on() -> None:
    def fail(given: mg.Tensor) -> None:
        raise ValueError("stop")

    def look(given: mg.Tensor) -> None:
        with mg.enable_grad():
            inner = x * x
            inner.register_hook(fail)
            last = inner * 2
        with pytest.raises(ValueError, match="stop"):
            last.backward()

    with mg.record(lines=False) as trace:
        x = mg.tensor(2.0, requires_grad=True)
        y = x * 3
        y.register_hook(look)
        (y * x).backward()
    before, after = after_the_inner_backward(trace.data)
    assert {n: after["nodes"][n] for n in before["nodes"]} == before["nodes"]
    assert "An error has ended this backward" in after["say"]


def test_a_backward_after_a_failed_one_stands_inside_of_none() -> None:
    def fail(given: mg.Tensor) -> None:
        raise ValueError("stop")

    with mg.record(lines=False) as trace:
        x = mg.tensor(2.0, requires_grad=True)
        y = x * 3
        y.register_hook(fail)
        with pytest.raises(ValueError, match="stop"):
            (y * x).backward()
        (x * x).backward()
    assert not any("inside" in event for event in trace.data["events"])


def test_a_deleted_entry_of_ctx_is_gone() -> None:
    data = stories.mul_constant()
    drop = {"id": "c0", "set": {}, "del": ["saved.0"]}
    at = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    del data["events"][at:]
    data["events"].append({"k": "ctx.free", "say": "", "lvl": 1, "d": 1, "ctx": drop})
    assert "saved.0" in folding.state_at(data, at)["ctx"]["entries"]
    assert "saved.0" not in folding.state_at(data, at + 1)["ctx"]["entries"]


def test_story_level_has_fewer_stops_than_everything() -> None:
    data = stories.mul_constant()
    story, mine, every = (folding.stops_of(data, level) for level in (1, 2, 3))
    assert set(story) < set(mine) < set(every) == set(range(len(data["events"]) + 1))


def test_changed_version_is_said() -> None:
    entries = folding.state_at(stories.grid(), 3)["ctx"]["entries"]
    assert "⚠ saved at version 0, now version 1" in entries["saved.0"]
    assert "now" not in entries["saved.1"]


def test_large_array_shows_its_range_instead_of_numbers() -> None:
    entries = folding.state_at(stories.grid(), 3)["ctx"]["entries"]
    says = "image float32 [20\u00d720] saved at version 0 only a corner is shown"
    assert entries["saved.1"] == f"{says}; all: -1 … 1"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-3.0, "-3"),
        (0.125, "0.125"),
        (2 / 3, "0.6667"),
        (123456.5, "1.23e+5"),
        (0.0005, "5.00e-4"),
        (math.inf, "inf"),
        (None, "nan"),
    ],
)
def test_number_has_at_most_four_digits(value: float | None, text: str) -> None:
    assert values.number(value) == text


def test_what_has_still_to_come_is_counted_down_where_gradients_meet() -> None:
    def program() -> None:
        x = mg.tensor(1.0, requires_grad=True)
        shared = x * 1
        (shared * 2 + shared * 3).backward()

    trace = Trace()
    with Recorder(trace):
        program()
    events = trace.data["events"]
    begins = next(e for e in events if e["k"] == "backward.begin")
    ((join, count),) = begins["awaits"].items()
    assert count == 2
    assert "2 edges lead to shared, so it must wait for 2 gradients." in begins["say"]
    left = [folding.facts_at(trace.data, i)["left"] for i in range(len(events) + 1)]
    counts = [one[join] for one in left if one]
    assert sorted(set(counts), reverse=True) == [2, 1, 0]
    assert counts == sorted(counts, reverse=True)
    assert left[-1] == {}
    sent = [e["say"] for e in events if e.get("n") == join and e["k"] == "grad"]
    assert [s.partition(". ")[2] for s in sent] == [
        "That's 1 of 2: shared waits, or it would pass on too little.",
        "Both are here: 3 + 2 = 5, because shared was used twice.",
    ]


@pytest.mark.parametrize(
    ("numbers", "brief", "words"),
    [
        (np.ones((2, 3)), "[2x3] all 1", "1 1 1 1 1 1"),
        (np.arange(6.0), "[6] 0 … 5", "0 1 2 3 4 5"),
        ([[1, math.nan, 1]], "[1x3] 1 … 1, 1 nan", "1 nan 1 1 nan"),
        ([[2, math.inf], [3, -math.inf]], "[2x2] 2 … 3, 2 inf", "2 inf 3 -inf 2 inf"),
        (
            [[1, math.nan, math.inf]],
            "[1x3] 1 … 1, 1 nan, 1 inf",
            "1 nan inf 1 nan, 1 inf",
        ),
        ([[math.nan] * 3], "[1x3] all nan", "nan nan nan 3 nan"),
        ([[math.inf] * 2], "[1x2] 2 inf", "inf inf 2 inf"),
        ([[math.nan, math.inf]], "[1x2] 1 nan, 1 inf", "nan inf 1 nan, 1 inf"),
        (np.ones((0, 3)), "[0x3] empty", ""),
        (np.ones((2, 0)), "[2x0] empty", ""),
    ],
)
def test_short_text_hides_no_nan_and_no_inf(
    numbers: Any, brief: str, words: str
) -> None:
    data = {"values": {"v": picture(np.asarray(numbers, float))}}
    ref = {"t": "A", "v": "v"}
    assert values.brief_text(data, ref).replace("\u00d7", "x") == brief
    shape = brief.partition("]")[0] + "]"
    whole = folding.value_text(data, ref).replace("\u00d7", "x")
    assert whole == f"float64 {shape} {words}".strip()
