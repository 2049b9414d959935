"""What recording costs is measured."""

import minigrad
from minigrad.bench.programs import custom_chain
from minigrad.bench.recording import costs_of_an_event


def test_cost_is_that_of_an_event_and_lines_are_events_too() -> None:
    program = custom_chain(minigrad, "combined", 1, 3, True)
    recording, telling, story = costs_of_an_event(program, lines=False, repeats=1)
    _, _, lines = costs_of_an_event(program, lines=True, repeats=1)
    assert 0 < recording < 1
    assert 0 < telling < 1
    assert 20 < story < lines
