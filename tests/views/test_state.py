"""What the player shows, worked out in Python."""

import math

import pytest

from minigrad.views import state
from tests.views import stories


def test_position_zero_shows_the_title_and_nothing_else() -> None:
    shown = state.state_at(stories.mul_constant(), 0)
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
    assert state.state_at(data, at)["edges"]["e2"] == "active"
    assert state.state_at(data, at + 1)["edges"]["e2"] == "sent"


def test_node_is_seen_then_active_then_done() -> None:
    data = stories.mul_constant()
    shown = (state.state_at(data, i)["nodes"].get("n0") for i in range(47))
    assert list(dict.fromkeys(shown)) == [None, "seen", "active", "done"]


def test_a_deleted_entry_of_ctx_is_gone() -> None:
    data = stories.mul_constant()
    drop = {"id": "c0", "set": {}, "del": ["saved.0"]}
    del data["events"][20:]
    data["events"].append({"k": "ctx.free", "say": "", "lvl": 1, "d": 1, "ctx": drop})
    assert "saved.0" in state.state_at(data, 20)["ctx"]["entries"]
    assert "saved.0" not in state.state_at(data, 21)["ctx"]["entries"]


def test_story_level_has_fewer_stops_than_everything() -> None:
    data = stories.mul_constant()
    story, mine, every = (state.stops_of(data, level) for level in (1, 2, 3))
    assert set(story) < set(mine) < set(every) == set(range(47))


def test_changed_version_is_said() -> None:
    entries = state.state_at(stories.grid(), 3)["ctx"]["entries"]
    assert "⚠ saved at v0, now v1" in entries["saved.0"]
    assert "now" not in entries["saved.1"]


def test_large_array_shows_its_range_instead_of_numbers() -> None:
    entries = state.state_at(stories.grid(), 3)["ctx"]["entries"]
    says = "image float32 [20\u00d720] saved at v0 part shown; all: -1 … 1"
    assert entries["saved.1"] == says


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
    assert state.number(value) == text
