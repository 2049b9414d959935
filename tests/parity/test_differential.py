"""Random programs on both engines; `python -m tests.parity.differential` runs more."""

import random
from typing import Any

import pytest

import minigrad
from tests.parity.differential.deliberate import reason_for
from tests.parity.differential.run import Outcome, cause, difference, run
from tests.parity.differential.shrink import shrink
from tests.parity.differential.statements import write_program

SHARE = 40
"""Groups of programs that CI runs; their seeds never change."""


@pytest.mark.parametrize("group", range(SHARE))
def test_random_programs_end_alike(torch: Any, group: int) -> None:
    for seed in range(25 * group, 25 * (group + 1)):
        source = write_program(seed).source
        found = difference(run(source, minigrad), run(source, torch))
        assert found is None or reason_for(found, source), f"{found}\n\n{source}"


def test_program_is_decided_by_its_seed() -> None:
    random.seed(1)
    first = write_program(7).source
    random.seed(2)
    assert write_program(7).source == first
    assert write_program(8).source != first


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ("a = torch.tensor(1.0)", "a = torch.tensor(2.0)", "a: value"),
        ("a = torch.tensor(1.0)", "a = torch.ones(1)", "a: value"),
        ("a = torch.ones(1)", "a = torch.ones(1).to(torch.float64)", "a: value"),
        ("a = torch.ones(1)", "a = torch.ones(1, requires_grad=True)", "requires_grad"),
        ("a = torch.ones(1).add_(1)", "a = torch.ones(1) + 1", "version"),
        ("a = torch.ones(1); b = a", "a = torch.ones(1); b = a.clone()", "object"),
        ("note('x', 1)", "note('x', 2)", "note 0 'x'"),
        ("note('x', 1)", "pass", "only ours has"),
        ("raise Boom('x')", "pass", "torch no exception"),
        ("raise Boom('x')", "raise ValueError('x')", "ValueError"),
        ("pass\nraise Boom('x')", "raise Boom('x')", "line 2"),
        ("torch.set_grad_enabled(False)", "pass", "grad mode"),
    ],
)
def test_comparison_sees_a_difference(ours: str, theirs: str, says: str) -> None:
    same = run(ours, minigrad), run(ours, minigrad)
    assert difference(*same) is None
    found = difference(run(ours, minigrad), run(theirs, minigrad))
    assert found
    assert says in found


def test_our_exception_may_be_a_subclass_and_not_the_other_way_round() -> None:
    def ended(kind: type[Exception]) -> Outcome:
        return Outcome(error=(kind, 1, "text"))

    assert difference(ended(IndexError), ended(LookupError)) is None
    assert difference(ended(LookupError), ended(IndexError))


def test_shortest_program_still_shows_the_difference() -> None:
    statements = ["a = 1", "with open(a):\n    b = 2\n    c = 3", "d = 4", "e = 5"]
    lines = shrink(statements, lambda source: "c = 3" in source and "d" in source)
    assert lines == ["    c = 3", "d = 4"]


def test_one_cause_has_one_name() -> None:
    first = cause("left: t4: version: ours 0, torch 1")
    assert first == cause("left: t17: version: ours 2, torch 13")
    assert first != cause("left: t4: is_leaf: ours True, torch False")
