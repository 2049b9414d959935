"""What happened in a room, and what its board says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from minigrad.course.room import state
from tests.course.room.rooms import Json, joined, middle_of_lesson_05, told

NAMES = ["05.1", "05.2", "06.1", "gym.Mul", "gym.Power"]


def room_of(*entries: Json) -> state.Room:
    room = state.Room(NAMES, {"05.join": 4})
    for entry in entries:
        room.hear(entry)
    return room


def cells(room: state.Room, now: float = 0.0) -> dict[str, Any]:
    return {row["id"]: row["cells"] for row in room.board(now)["rows"]}


def said(member: str, what: str, value: object, at: float = 1.0) -> Json:
    entry = {"kind": state.SAID, "member": member, "at": at}
    return entry | {"what": what, "value": value}


def asked(name: str, choices: int = 4) -> Json:
    return {"kind": state.ASKED, "id": name, "choices": choices}


def test_check_fills_the_cell_of_its_learner_alone() -> None:
    room = room_of(joined("a"), joined("b"))
    room.hear(told("a", 0, "05.2", "wrong", mistake="C06"))
    room.hear(told("a", 9, "05.2", "solved"))
    assert cells(room) == {"a": {"05.2": ["solved", 2, ""]}, "b": {}}


def test_event_that_comes_twice_counts_once_and_its_neighbour_counts() -> None:
    twice = told("a", 7, "05.2", "wrong")
    room = room_of(joined("a"), twice, twice, told("a", 8, "05.2", "wrong"))
    assert cells(room)["a"]["05.2"][1] == 2
    assert room.knows(twice)
    assert not room.knows(told("a", 9, "05.2", "wrong"))


def test_older_line_that_comes_late_is_counted_and_changes_no_state() -> None:
    room = room_of(joined("a"), told("a", 50, "05.2", "solved"))
    room.hear(told("a", 10, "05.2", "wrong"))
    assert cells(room)["a"]["05.2"] == ["solved", 2, ""]


def test_events_of_a_stranger_change_nothing() -> None:
    room = room_of(told("x", 0, "05.2", "solved"), said("x", "hand", True))
    assert room.board(0.0)["rows"] == []


def stuck(room: state.Room, minutes: float) -> Any:
    (row,) = room.board(60 * minutes)["rows"]
    return row["stuck"]


def test_over_six_minutes_on_an_unsolved_exercise_is_stuck() -> None:
    room = room_of(joined("a"), told("a", 0, "05.2", "wrong"))
    room.hear(told("a", 1, "05.2", "wrong", at=300.0))
    assert stuck(room, 6.0) is None
    assert stuck(room, 7.5) == ["05.2", 7, 2]
    assert room.counts(450.0)["stuck"] == 1
    assert stuck(room, 36) is None  # a break: nothing for half an hour
    room.hear(told("a", 2, "05.2", "solved", at=451.0))
    assert stuck(room, 8.0) is None


def test_another_exercise_begins_the_six_minutes_anew() -> None:
    room = room_of(joined("a"), told("a", 0, "05.1", "wrong"))
    room.hear(told("a", 1, "05.2", "wrong", at=400.0))
    assert stuck(room, 7.0) is None
    assert stuck(room, 13.0) == ["05.2", 6, 1]


def test_three_mistakes_that_most_learners_have_now_are_shown() -> None:
    room = room_of(*[joined(name) for name in "abcd"])
    for number, (name, mistake) in enumerate(
        zip("abcdabad", ["M1", "M1", "M1", "M2", "M3", "M3", "M4", "M2"], strict=True)
    ):
        where = "05.1" if number < 4 else "05.2"
        room.hear(told(name, number, where, "wrong", mistake=mistake))
    found = [(each["id"], each["learners"]) for each in room.mistakes(60.0)]
    assert found == [("M1", 3), ("M2", 1), ("M3", 1)]
    assert room.mistakes(16 * 60.0) == []
    room.hear(told("a", 99, "05.1", "solved"))
    assert room.mistakes(60.0)[0] == {"id": "M1", "learners": 2, "in": ["05.1"]}


def test_bars_appear_when_the_vote_closes_and_stay_for_the_second_round() -> None:
    room = room_of(joined("a"), joined("b"), told("a", 0, "05.join", "b"))
    room.hear(asked("05.join"))
    room.hear(said("b", "vote", "d"))
    vote = room.counts(0.0)["vote"]
    assert (vote["bars"], vote["answered"], vote["open"]) == ([], 2, True)
    room.hear({"kind": state.CLOSED})
    assert room.counts(0.0)["vote"]["bars"] == [[0, 1, 0, 1]]
    room.hear({"kind": state.AGAIN})
    assert room.counts(0.0)["vote"]["bars"] == []
    room.hear(said("b", "vote", "b"))
    room.hear({"kind": state.CLOSED})
    assert room.counts(0.0)["vote"]["bars"] == [[0, 1, 0, 1], [0, 1, 0, 0]]
    room.hear({"kind": state.OFF})
    assert room.counts(0.0)["vote"] is None


def test_choice_counts_while_the_vote_is_open_and_a_late_prediction_always() -> None:
    room = room_of(joined("a"), joined("b"), asked("05.join"))
    assert [room.is_asked(one) for one in ("d", "e", "", "ab")] == [True] + 3 * [False]
    room.hear(said("a", "vote", "a"))
    room.hear(said("a", "vote", "c"))
    room.hear({"kind": state.CLOSED})
    room.hear(said("a", "vote", "d"))
    assert room.counts(0.0)["vote"]["bars"] == [[0, 0, 1, 0]]
    room.hear(told("b", 0, "05.join", "b"))  # its laptop was asleep
    room.hear(told("a", 0, "05.join", "d"))  # has voted
    assert room.counts(0.0)["vote"]["bars"] == [[0, 1, 1, 0]]


def test_hands_queue_up_and_go_down() -> None:
    room = room_of(joined("a"), joined("b"))
    room.hear(said("b", "hand", True, 5.0))
    room.hear(said("a", "hand", True, 9.0))
    room.hear(said("b", "hand", True, 11.0))
    assert [room.seen_by(one)["before"] for one in "ba"] == [0, 1]
    room.hear({"kind": state.HELPED, "member": "b"})
    assert room.seen_by("a")["before"] == 0
    room.hear(said("a", "hand", False))
    assert room.counts(0.0)["hands"] == 0


def test_pace_is_a_signal_of_the_last_minutes() -> None:
    room = room_of(joined("a"), joined("b"), said("a", "pace", "lost", 0.0))
    room.hear(said("b", "pace", "fast", 200.0))
    assert room.board(250.0)["pace"] == {"fast": 1, "lost": 1}
    assert room.board(400.0)["pace"] == {"fast": 1, "lost": 0}
    room.hear({"kind": state.HEARD})
    assert room.board(250.0)["pace"] == {"fast": 0, "lost": 0}


def test_lesson_is_where_most_are_unless_one_is_chosen() -> None:
    room = room_of(*[joined(name) for name in "abc"])
    assert room.counts(0.0)["lesson"] == ""
    for name, where in zip("abc", ["06.1", "05.2", "05.1"], strict=True):
        room.hear(told(name, 0, where, "solved"))
    counts = room.counts(0.0)
    assert (counts["lesson"], counts["lessons"]) == ("05", ["05", "06"])
    room.hear({"kind": state.LESSON, "lesson": "06"})
    assert [each["id"] for each in room.counts(0.0)["exercises"]] == ["06.1"]


def test_gym_shows_what_was_begun_of_it() -> None:
    room = room_of(joined("a"), told("a", 0, "gym.Power", "wrong"))
    assert room.counts(0.0)["exercises"] == [
        {"id": "gym.Power", "solved": 0, "wrong": 1, "crashed": 0}
    ]


def test_wrong_and_stopped_by_an_error_are_counted_apart() -> None:
    room = room_of(*[joined(name) for name in "abc"])
    for name, came in zip("abc", ["wrong", "crashed", "crashed"], strict=True):
        room.hear(told(name, 0, "05.1", came))
    assert room.counts(0.0)["exercises"][0] == {
        "id": "05.1",
        "solved": 0,
        "wrong": 1,
        "crashed": 2,
    }


@pytest.mark.parametrize(
    ("name", "counted", "choices"),
    [
        ("05.join", 5, 4),  # the course knows it, whatever a slide counted
        ("05.mine", 3, 3),  # of slides of one's own
        ("05.mine", 0, 2),  # put on the wall by its answers alone
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_vote_has_the_choices_that_its_words_have_whatever_came_first(
    name: str, counted: int, choices: int, first: int
) -> None:
    both = [told("a", 0, name, "b"), asked(name, counted)]
    room = room_of(joined("a"), both[first], both[1 - first], {"kind": state.CLOSED})
    vote = room.counts(0.0)["vote"]
    assert (vote["choices"], vote["bars"]) == (choices, [[0, 1, *[0] * (choices - 2)]])


def test_wall_and_summary_have_no_name_and_the_board_has_all() -> None:
    room = state.Room(NAMES, {})
    for entry in middle_of_lesson_05(30, 10_000.0):
        room.hear(entry)
    names = [one.name for one in room.learners.values()]
    wall = json.dumps([room.counts(10_000.0), room.summary()])
    board = json.dumps(room.board(10_000.0))
    assert len(names) == 30
    assert not [name for name in names if name in wall]
    assert not [name for name in names if name not in board]
    assert not [f'"{member}"' for member in room.learners if f'"{member}"' in wall]


def test_learner_sees_nothing_of_another() -> None:
    room = room_of(joined("a", "Ada"), joined("b", "Bob"), asked("vote 1"))
    room.hear(said("b", "vote", "c"))
    room.hear(told("b", 0, "05.1", "wrong", mistake="C06"))
    seen = room.seen_by("a")
    assert seen["name"] == "Ada"
    vote = {"id": "vote 1", "open": True, "choices": 4, "round": 1, "mine": ""}
    assert seen["vote"] == vote
    assert "Bob" not in json.dumps(seen)


def test_who_leaves_takes_row_and_votes_along() -> None:
    room = room_of(joined("a"), joined("b"), told("a", 0, "05.join", "b"))
    room.hear(told("b", 0, "05.join", "c"))
    room.hear({"kind": state.LEFT, "member": "a"})
    room.hear(asked("05.join"))
    room.hear({"kind": state.CLOSED})
    assert [row["id"] for row in room.board(0.0)["rows"]] == ["b"]
    assert room.counts(0.0)["vote"]["bars"] == [[0, 0, 1, 0]]


def test_made_up_names_share_no_word_while_there_are_others() -> None:
    names: list[str] = []
    for _ in state.BEASTS:
        names.append(state.made_up(names))
    assert len({word for name in names for word in name.split()}) == 2 * len(names)
    assert state.made_up(names).split()[1] in state.BEASTS


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("Ada", "Ada"),
        ("  Ada\n\tL. ", "Ada L."),
        ("", "learner"),
        ("\u202eadA", "adA"),
        ("a\u200bb\x00c\u2066", "abc"),
        ("Bob", "Bob 2"),
        ("\uff22\uff2f\uff22", "BOB 2"),
        ("n" * 500, "n" * 24),
        ("e" + "\u0323" * 40, "\u1eb9\u0323\u0323"),
        ("नमस्ते", "नमस्ते"),
        ("<b onmouseover=x>", "<b onmouseover=x>"),
    ],
)
def test_pseudonym_fits_reads_one_way_and_is_nobody_elses(
    wanted: str, name: str
) -> None:
    assert state.pseudonym(wanted, ["bob"]) == name
