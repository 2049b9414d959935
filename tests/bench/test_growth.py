"""Growth: slopes, and sizes whose two sides differ."""

from typing import Any

import pytest

import minigrad
from minigrad.bench import growth


def test_slope_is_that_of_the_upper_half() -> None:
    sizes = [1, 10, 100, 1000]
    assert growth.slope(sizes, [5.0, 5.0, 1e2, 1e4]) == pytest.approx(2.0)
    assert growth.slope(sizes, [1.0, 99.0, 3.0, 3.0]) == pytest.approx(0.0)


@pytest.mark.parametrize(("factor", "fair"), [(1.0, True), (1.1, False)])
def test_sizes_are_compared_before_they_are_timed(factor: float, fair: bool) -> None:
    def make(torch: Any, size: int) -> Any:
        by = 1.0 if torch is minigrad else factor
        return lambda: sum(range(size)) * by

    sweep = growth.Sweep("numbers", make, (10, 20, 40), lambda size: size * 2)
    (row,) = growth.sweep_rows(sweep, "torch", 0.0, quick=True)
    assert (row.ratio is not None) is fair
    assert (row.growth is not None) is fair
    if row.growth is None:
        assert row.note == "different results"
    else:
        assert row.growth.sizes == [20, 40]
        assert set(row.growth.slopes) == {"minigrad", "torch"}
        assert row.note.startswith("slope: minigrad ")


@pytest.mark.parametrize("sweep", growth.SWEEPS, ids=lambda sweep: sweep.name)
def test_smallest_program_of_each_sweep_runs(sweep: growth.Sweep) -> None:
    assert sweep.make(minigrad, sweep.sizes[0])() is not None
    assert sweep.count(2) > sweep.count(1)
