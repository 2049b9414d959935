"""What is measured in a process of its own."""

import minigrad
from minigrad.bench import starts
from minigrad.bench.training import step_of


def test_import_is_timed_and_what_it_loads_is_named() -> None:
    times, loaded = starts.import_times(["numpy", "minigrad"], rounds=1)
    assert len(times["minigrad"].rounds) == 1
    # Which takes longer is not sure: the first import may compile NumPy's files.
    assert times["minigrad"].median > 0
    assert times["numpy"].median > 0
    assert loaded == set()
    code = starts.IMPORTS.format(module="minigrad.views.plots", others=("minigrad",))
    assert starts.printed_by(code).split()[1:] == ["minigrad"]


def test_neighbour_is_gone_afterwards() -> None:
    busy, alone = starts.slowed_by_a_neighbour(step_of(minigrad, batch=1), rounds=1)
    assert busy.ratio_to(alone).median > 0
