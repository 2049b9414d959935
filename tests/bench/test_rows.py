"""Tasks and their rows: goals, missing peers, and what bounds a missed goal."""

import re
from typing import Any

import pytest

import minigrad
from minigrad.bench.engine import builtin_chain
from minigrad.bench.harness import Ratio, agree
from minigrad.bench.reasons import profiled, python_calls
from minigrad.bench.rows import Peer, Row, Timed


@pytest.mark.parametrize(
    ("median", "said"),
    [
        (0.39, "0.50 (0.40) met, and the stretch"),
        (0.45, "0.50 (0.40) met"),
        (0.51, "0.50 (0.40) missed"),
    ],
)
def test_goal_is_for_the_ratio(median: float, said: str) -> None:
    ratio = Ratio(median, 0.3, 0.6)
    row = Row("a chain", 9.0, 9.0, "torch", ratio, goal=0.5, stretch=0.4)
    assert str(row).endswith(f"{median:.2f}   0.30   0.60  {said}")


def test_row_without_another_has_a_goal_of_its_own() -> None:
    assert Row("a node", 512, goal=520, unit="B").shown_goal == "520 B met"
    assert Row("a node", 521, goal=520, unit="B").shown_goal == "520 B missed"
    assert Row("a node", 521, unit="B").shown_goal == "-"


def test_peer_that_is_not_installed_is_named_and_has_no_verdict() -> None:
    peers = Peer("no_such_library", 0.5), Peer("NumPy", 1e9, None, lambda _: sum_of_two)
    missing, here = Timed("a sum", lambda _: sum_of_two, peers).rows(quick=True)
    assert missing.note == "no_such_library: not installed"
    assert (missing.ratio, missing.verdict) == (None, "")
    assert missing.ours is not None
    assert (here.note, here.verdict) == ("", "met")


def sum_of_two() -> float:
    return 1.0 + 2.0


@pytest.mark.parametrize(("factor", "fair"), [(1.0, True), (1.1, False)])
def test_peer_that_computes_something_else_has_no_ratio(
    factor: float, fair: bool
) -> None:
    peer = Peer("NumPy", 1e9, None, lambda _: lambda: factor * sum_of_two())
    (row,) = Timed("a sum", lambda _: sum_of_two, (peer,)).rows(quick=True)
    assert (row.ratio is not None) is fair
    assert row.note == ("" if fair else "different results")
    assert row.verdict == ("met" if fair else "")


def test_task_may_compare_results_by_a_measure_of_its_own() -> None:
    peer = Peer("NumPy", None, None, lambda _: lambda: -3.0)
    for same, fair in ((lambda ours, theirs: ours == -theirs, True), (agree, False)):
        task = Timed("a sum", lambda _: sum_of_two, (peer,), same=same)
        assert (task.beside(peer, 0.01).ratio is not None) is fair


@pytest.mark.parametrize("arithmetic", [3, 0])
def test_row_that_misses_its_goal_says_what_bounds_it(arithmetic: int) -> None:
    def make(module: Any) -> Any:
        return builtin_chain(minigrad, 5, 12)

    task = Timed("a chain", make, (Peer("NumPy", 0.0),), 12, arithmetic)
    bound, where = task.beside(task.peers[0], 0.01).note.splitlines()
    functions = r"\d+ Python functions run"
    room = (
        rf"by hand 3 NumPy calls, .* us; around it {functions}, .* each; "
        r"the goal has room for \d+"
    )
    assert re.fullmatch(room if arithmetic else functions, bound)
    assert where.startswith("profiled: ")
    assert task.beside(Peer("NumPy", 1e9), 0.01).note == ""


def test_python_calls_counts_functions_written_in_python() -> None:
    def outer() -> int:
        return inner() + inner()

    def inner() -> int:
        return len([])

    assert python_calls(outer) == 3
    assert python_calls(lambda: None) == 1


def test_profile_names_layers_and_functions_with_their_shares() -> None:
    layers, functions = profiled(builtin_chain(minigrad, 5, 12), runs=1).split("; ")
    assert {"engine", "ops"} <= {one.split()[0] for one in layers.split(", ")}
    for most in (layers, functions):
        shares = [int(share) for share in re.findall(r"(\d+)%", most)]
        assert len(shares) == 4
        assert shares == sorted(shares, reverse=True)
        assert 10 < sum(shares) <= 101
