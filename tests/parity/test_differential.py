"""Random programs on both engines; `python -m tests.parity.differential` runs more."""

import importlib
import random
from functools import cache
from typing import Any

import pytest

import minigrad
from tests.engine import test_mutants as mutants
from tests.parity.differential.deliberate import reason_for
from tests.parity.differential.run import SHARED, Outcome, cause, difference, run
from tests.parity.differential.shrink import shrink
from tests.parity.differential.statements import write_program

SHARE = 40
"""Groups of 25 programs that CI runs; their seeds never change."""


@cache
def with_torch(seed: int) -> tuple[str, Outcome]:
    """The source of a program, and what torch says to it."""
    source = write_program(seed).source
    return source, run(source, importlib.import_module("torch"))


def difference_of(seed: int) -> str | None:
    """How a program ends differently, unless that is meant; with its source."""
    source, theirs = with_torch(seed)
    found = difference(run(source, minigrad), theirs)
    if found is None or reason_for(found, source):
        return None
    return f"{found}\n\n{source}"


@pytest.mark.parametrize("group", range(SHARE))
def test_random_programs_end_alike(group: int) -> None:
    for seed in range(25 * group, 25 * (group + 1)):
        assert difference_of(seed) is None


PLANTED = [
    mutants.overwrite_in_grad,
    mutants.oldest_first,
    mutants.leaves_last,
    mutants.no_version_check,
    mutants.one_ctx_for_a_class,
    mutants.no_zeros_for_missing_gradients,
    mutants.zeros_always,
    mutants.needs_input_grad_follows_grad_mode,
    mutants.any_number_of_gradients,
    mutants.small_gradients_are_broadcast,
    mutants.nothing_is_released,
    mutants.recorded_under_no_grad,
    mutants.returned_input_as_itself,
    mutants.second_save_appends,
    mutants.dirty_inputs_keep_their_version,
    mutants.versions_checked_when_the_node_runs,
]
"""Mistakes that random programs have to find; others are as easy for them."""


@pytest.mark.parametrize("mutate", PLANTED, ids=lambda mutate: mutate.__name__)
def test_planted_mistake_is_found_within_500_programs(
    mutate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert any(difference_of(seed) for seed in range(500))


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


def test_two_leaves_have_two_grads_where_torch_gives_them_one_memory(
    torch: Any,
) -> None:
    source = "\n".join(
        [
            "a, b = [torch.ones(3, requires_grad=True) for _ in range(2)]",
            "(a.view(1, 3) + b.view(1, 3)).mul(2).sum().backward()",
            "(a * 3).sum().backward()",
        ]
    )
    ours, theirs = run(source, minigrad), run(source, torch)
    assert ours.left["b"]["grad"][0].tolist() == [2.0, 2.0, 2.0]
    assert theirs.left["b"]["grad"] is SHARED
    assert difference(ours, theirs) is None
    assert difference(ours, run(source + "\nb.grad = None", minigrad))


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


@pytest.mark.parametrize(
    ("views", "meant"),
    [
        ("t1 = t0.transpose(0, 1)[2:] * 2; t2 = t1.view(1, 2)", True),
        ("t1 = t0[0, 1:]; t2 = t0[0, :2]", False),
    ],
)
def test_overlap_is_meant_only_for_dimensions_of_length_1(
    views: str, meant: bool
) -> None:
    source = f"t0 = torch.ones(2, 3)\n{views}\nt1.add_(t2)\n"
    theirs = run(source, importlib.import_module("torch"))
    found = difference(Outcome(), theirs)
    assert found
    assert bool(reason_for(found, source)) == meant
    assert (difference(run(source, minigrad), theirs) is not None) == meant


def test_only_how_a_recorded_gradient_was_computed_is_left_out() -> None:
    program = """
t0 = torch.tensor([1.0, 2.0], requires_grad=True)
{}, = torch.autograd.grad((t0 * t0).sum(), [t0], create_graph=True)
t1 = {}
t2 = t1[1:].exp()
"""

    def found(name: str, other: str) -> str | None:
        outcomes = [run(program.format(name, x), minigrad) for x in ("t0 * 2", other)]
        return difference(*outcomes)

    assert found("t1", "t0 + t0") is None
    assert found("t1", "(t0 * 2).view(2)") is None
    assert "t1: value" in (found("t1", "t0 * 3") or "")
    assert "t1: grad_fn" in (found("t9", "t0 + t0") or "")
