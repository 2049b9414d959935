"""What recording costs is measured."""

import minigrad
from minigrad.bench.programs import custom_chain
from minigrad.bench.recording import Deaf, costs_of_an_event, floor, seconds_of_a_line


def test_cost_is_that_of_an_event_and_lines_are_events_too() -> None:
    program = custom_chain(minigrad, "combined", 1, 3, True)
    recording, telling, story = costs_of_an_event(program, lines=False, repeats=1)
    _, _, lines = costs_of_an_event(program, lines=True, repeats=1)
    assert 0 < recording < 1
    assert 0 < telling < 1
    assert 20 < story < lines


def test_line_that_is_heard_takes_longer_and_the_floor_names_each_part() -> None:
    assert seconds_of_a_line(Deaf(), 2) > 2 * seconds_of_a_line(None, 2)
    parts = [part.partition(" to ")[2] for part in floor(1).split(", ")]
    assert parts == [
        "hear a line",
        "read its variables",
        "note a tensor",
        "keep an event",
    ]
