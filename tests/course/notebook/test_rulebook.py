"""Every rule of torch is shown by a test, or it says why it is left out."""

from pathlib import Path

import pytest

from minigrad.course.notebook import rulebook
from minigrad.course.notebook.rulebook import Rule, RuleError

ROOT = Path(__file__).resolve().parents[3]

RULES = rulebook.proved(rulebook.read_rules(), rulebook.marks(ROOT / "tests"))


def some_rule(proof: str = "") -> Rule:
    return Rule("A01", 1, "group", "a rule", "seen", proof)


@pytest.mark.parametrize(
    "rule", [r for r in RULES if r.priority < 3], ids=lambda r: r.id
)
def test_rule_of_priority_1_or_2_is_shown_by_a_test(rule: Rule) -> None:
    assert rule.proof.startswith("tests/")


@pytest.mark.parametrize(
    "rule", [r for r in RULES if r.priority == 3], ids=lambda r: r.id
)
def test_exotic_rule_is_shown_or_left_out_for_a_reason(rule: Rule) -> None:
    assert rule.proof


def test_most_exotic_rules_are_kept() -> None:
    exotic = [rule for rule in RULES if rule.priority == 3]
    assert len([r for r in exotic if r.proof.startswith("tests/")]) >= 16


def test_all_rules_are_there() -> None:
    counts = [len([r for r in RULES if r.priority == p]) for p in (1, 2, 3)]
    assert counts == [211, 142, 24]
    assert len({rule.id for rule in RULES}) == 377


def test_marks_are_found_with_the_tests_that_bear_them(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    text = '@pytest.mark.rule("A01", "B02")\ndef test_it() -> None: ...\n'
    (tests / "test_one.py").write_text(text + "def test_other() -> None: ...\n")
    shown = ["tests/test_one.py::test_it"]
    assert dict(rulebook.marks(tests)) == {"A01": shown, "B02": shown}


def test_mark_without_a_rule_is_refused() -> None:
    with pytest.raises(RuleError, match="test_x is marked with A99, which is no rule"):
        rulebook.proved([some_rule()], {"A99": ["test_x"]})


def test_rule_both_left_out_and_tested_is_refused() -> None:
    with pytest.raises(RuleError, match="A01 is left out, and tested by test_x"):
        rulebook.proved([some_rule("left out: private")], {"A01": ["test_x"]})


def test_build_fills_in_tests_and_keeps_the_reason_of_what_is_left_out() -> None:
    left_out = some_rule("left out: private")
    assert rulebook.proved([left_out], {}) == [left_out]
    with pytest.raises(RuleError, match="A01 has no test, and no reason"):
        rulebook.proved([some_rule("tests/gone.py::test_x")], {})
    (rule,) = rulebook.proved([some_rule()], {"A01": ["test_x", "test_y"]})
    assert rule.proofs == ["test_x", "test_y"]


def test_table_is_asked_by_group_by_id_and_by_word() -> None:
    assert {row.id[0] for row in rulebook.rules("H")} == {"H"}
    (row,) = rulebook.rules("D04")
    assert "tests/engine/test_outputs.py::" in row.proof
    assert "D04" in [found.id for found in rulebook.rules("unmodified input")]
    with pytest.raises(ValueError, match="no rule has an id that starts with 'zebra'"):
        rulebook.rules("zebra")


def test_table_shows_itself_as_html_without_raw_text() -> None:
    shown = rulebook.rules("R04")._repr_html_()
    assert "&lt;Op&gt;Backward" in shown
    assert "<Op>" not in shown
