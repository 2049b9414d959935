"""What is measured in a process of its own, and what recording costs."""

import minigrad
from minigrad.bench import recording, starts
from minigrad.bench.engine import custom_chain


def test_import_is_timed_and_what_it_loads_is_named() -> None:
    times, loaded = starts.import_times(["numpy", "minigrad"], rounds=1)
    # Which takes longer is not sure: the first import may compile NumPy's files.
    assert [len(own) for own in times.values()] == [1, 1]
    assert times["minigrad"][0] > 0
    assert loaded == set()
    code = starts.IMPORTS.format(module="minigrad.views.plots", others=("minigrad",))
    assert starts.printed_by(code).split()[1:] == ["minigrad"]


def test_neighbour_is_gone_afterwards() -> None:
    step = custom_chain(minigrad, length=3)
    busy, alone = starts.slowed_by_a_neighbour(step, rounds=1)
    assert busy.ratio_to(alone).median > 0


def test_cost_is_that_of_an_event_and_lines_are_events_too() -> None:
    program = custom_chain(minigrad, size=1, length=3)
    taken, telling, story = recording.costs_of_an_event(program, False, repeats=1)
    _, _, lines = recording.costs_of_an_event(program, True, repeats=1)
    assert 0 < taken < 1
    assert 0 < telling < 1
    assert 20 < story < lines


def test_recording_that_misses_its_goal_says_how_many_functions_run() -> None:
    program = custom_chain(minigrad, size=1, length=3)
    said = recording.bound(program, lines=False, events=30)
    functions, where = said.split(": ", 1)
    assert functions.endswith(" Python functions an event")
    assert "tracing" in where
