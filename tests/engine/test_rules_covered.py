"""Each rule of the core that minigrad has to keep is stated by a test."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent

CORE = {
    "A": [*range(1, 9), *range(10, 23), 25, 26, 28, 31],
    "B": [1, 2, 3, 4, 5, 7, 8, 9, 10, 11],
    "C": range(1, 9),
    "E": [*range(1, 13), 14, 15, 16, 17],
    "J": [1, 2, 3],
    "N": [1, 2, 4, 5, 7, 9, 12, 18],
    "P": [1, 2, 3],
}
RULES = [f"{group}{number:02}" for group in CORE for number in CORE[group]]

NEEDS: dict[str, str] = {}
"""Rules that wait for a part of the engine that is not there yet."""

MARK = re.compile(r"@pytest\.mark\.rule\(([^)]*)\)")


def stated() -> set[str]:
    """The ids in the marks of all tests."""
    marks = [
        ids
        for path in TESTS.rglob("test_*.py")
        for ids in MARK.findall(path.read_text(encoding="utf-8"))
    ]
    return {found for ids in marks for found in re.findall(r'"(\w+)"', ids)}


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_a_test_or_waits(rule: str) -> None:
    assert (rule in stated()) != (rule in NEEDS)


def test_unknown_rule_would_be_missed() -> None:
    assert "A99" not in stated()
    assert "A01" in stated()


def test_ids_are_well_formed() -> None:
    assert all(re.fullmatch(r"[A-Z]\d\d", rule) for rule in stated())
