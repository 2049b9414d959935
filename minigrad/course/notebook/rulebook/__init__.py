"""The rules of torch that the engine keeps, each with the test that shows it.

``rules.tsv`` is written by hand: 377 rules as observed in torch 2.13, and for a rule
that is left out the reason. The tests of all others are filled in by the build, from
the marks ``@pytest.mark.rule("A01")`` of the tests.
"""

from __future__ import annotations

import ast
import html
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from minigrad import errors

ROOT = Path(__file__).resolve().parents[4]
BUILT = "minigrad/course/notebook/rulebook/rules.tsv"


class RuleError(ValueError):
    """The rules and the marks of the tests contradict each other."""


@dataclass(frozen=True)
class Rule:
    """One rule; ``priority`` 1 is the core of the course, 3 is exotic.

    ``proof`` names the tests, or says why there is none.
    """

    id: str
    priority: int
    group: str
    rule: str
    observed: str
    proof: str

    @property
    def is_left_out(self) -> bool:
        """Whether minigrad doesn't keep it."""
        return self.proof.startswith("left out: ")

    @property
    def proofs(self) -> list[str]:
        """The tests, or the sentence that stands in their place."""
        return [self.proof] if self.is_left_out else self.proof.split(" ")


def lines() -> list[str]:
    """The lines of the table; the first has the headings."""
    text = Path(__file__).with_name("rules.tsv").read_text("utf8")
    return text.removesuffix("\n").split("\n")


def read_rules() -> list[Rule]:
    """All rules, in the order of their ids."""
    rows = [line.split("\t") for line in lines()[1:]]
    return [Rule(row[0], int(row[1]), *row[2:]) for row in rows]


def marks(tests: Path) -> dict[str, list[str]]:
    """For each rule id the tests that are marked with it, as pytest names them."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(tests.rglob("test_*.py")):
        name = f"{tests.name}/{path.relative_to(tests).as_posix()}"
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.FunctionDef):
                for identity in marked(node):
                    found[identity].append(f"{name}::{node.name}")
    return found


def marked(test: ast.FunctionDef) -> list[str]:
    """The ids in the test's ``@pytest.mark.rule(...)``."""
    return [
        ast.literal_eval(argument)
        for mark in test.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rule"
        for argument in mark.args
    ]


def proved(rules: Sequence[Rule], found: Mapping[str, list[str]]) -> list[Rule]:
    """The rules, each with its tests, but for those that are left out.

    Raises: RuleError for a mark without a rule, for a rule that is left out and tested,
    and for one that is neither.
    """
    known = {rule.id: rule for rule in rules}
    for identity, tests in found.items():
        if identity not in known:
            raise RuleError(f"{tests[0]} is marked with {identity}, which is no rule")
        if known[identity].is_left_out:
            raise RuleError(f"{identity} is left out, and tested by {tests[0]}")
    for rule in rules:
        if not (rule.is_left_out or found.get(rule.id)):
            raise RuleError(f"{rule.id} has no test, and no reason ('left out: ...')")
    return [
        rule if rule.is_left_out else replace(rule, proof=" ".join(found[rule.id]))
        for rule in rules
    ]


def table_file() -> dict[str, str]:
    """The table with its tests, by its path below the repository."""
    rows = map(astuple, proved(read_rules(), marks(ROOT / "tests")))
    text = "\n".join([lines()[0], *["\t".join(map(str, row)) for row in rows]])
    return {BUILT: text + "\n"}


class RuleTable(list[Rule]):
    """Rows that show themselves as a table, in a notebook and as text."""

    def __repr__(self) -> str:
        lines = []
        for row in self:
            lines.append(f"{row.id}  {row.rule}")
            lines += [f"     {proof}" for proof in row.proofs]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = []
        group = ""
        for row in self:
            if row.group != group:
                group = row.group
                body.append(
                    '<tr><th colspan="3" style="text-align:left">'
                    f"{row.id[0]}. {html.escape(group)}</th></tr>"
                )
            proof = "<br>".join([html.escape(text) for text in row.proofs])
            body.append(
                f'<tr><td style="vertical-align:top">{row.id}</td>'
                f'<td style="text-align:left">{html.escape(row.rule)}</td>'
                f'<td style="text-align:left"><code>{proof}</code></td></tr>'
            )
        head = "<tr><th>id</th><th>rule</th><th>shown by</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def rules(group: str = "") -> RuleTable:
    """The rules of torch that minigrad keeps, with the tests that show it.

    ``group`` is a letter ("H": mark_dirty), the start of an id ("H0") or a word to look
    for ("retain_grad"); without it, all of them.
    Raises: ArgumentValueError if no rule fits.

    >>> minigrad.course.rules("J04")
    J04  Non-tensor outputs get None in either mode.
         tests/engine/test_returned.py::test_...
    """
    table = read_rules()
    chosen = [row for row in table if row.id.startswith(group)] or [
        row for row in table if group.lower() in row.rule.lower()
    ]
    if not chosen:
        raise errors.ArgumentValueError.at(
            "course.rules",
            f"no rule has an id that starts with {group!r}, nor the word in it",
            f"ask for a group, {table[0].id[0]} to {table[-1].id[0]}, or a word",
        )
    return RuleTable(chosen)
