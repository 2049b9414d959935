"""The harness: turns, units and ratios; no time is compared with a limit."""

import time
from typing import Any

import minigrad
from minigrad.bench.harness import Measured, interleaved
from minigrad.bench.programs import builtin_chain, custom_chain, double_backward
from minigrad.bench.rows import memory_row
from minigrad.bench.unheard import ListeningPoints
from minigrad.engine import observe


def test_programs_take_turns() -> None:
    order: list[str] = []
    programs = {name: lambda name=name: order.append(name) for name in "ab"}
    found = interleaved(programs, seconds=0.0, rounds=3)
    assert order == ["a", "b"] * 4
    assert [len(measured.rounds) for measured in found.values()] == [3, 3]


def test_time_is_that_of_one_unit() -> None:
    def busy() -> None:
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass

    found = interleaved({"busy": busy}, units=10, seconds=0.01, rounds=3)
    assert 0.0002 <= found["busy"].median < 0.002


def test_ratio_is_taken_round_by_round() -> None:
    mine, theirs = Measured((1.0, 20.0, 3.0)), Measured((2.0, 40.0, 6.0))
    assert mine.ratio_to(theirs) == (0.5, 0.5, 0.5)
    assert mine.ratio_to(Measured((2.0, 10.0, 3.0))) == (0.5, 1.0, 2.0)


def test_programs_of_the_rows_run() -> None:
    for style in ("combined", "separate"):
        custom_chain(minigrad, style, 1, 3, True)()
    builtin_chain(minigrad, 2, 4, True)()
    for custom in (False, True):
        double_backward(minigrad, 2, custom)()


def test_memory_of_a_node_is_counted() -> None:
    size = int(memory_row().ours.removesuffix(" B"))
    assert 100 < size < 2000


class Ears:
    """A listener that counts what it hears."""

    heard = 0

    def __getattr__(self, name: str) -> Any:
        def hear(*args: Any) -> None:
            self.heard += 1

        return hear


def test_engine_without_listening_points_tells_nobody() -> None:
    points = ListeningPoints()
    program = custom_chain(minigrad, "combined", 1, 3, True)
    observe.observer = ears = Ears()
    points.unheard(program)()
    assert ears.heard == 0
    points.heard(program)()
    assert ears.heard > 3 * 4
