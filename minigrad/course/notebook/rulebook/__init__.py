"""The rules of torch that the engine keeps, each with the test that shows it.

``rules.tsv`` is written by hand: 377 rules as observed in torch 2.13, and for a rule
that is left out the reason. ``table.tsv`` is built from it and from the marks
``@pytest.mark.rule("A01")`` of the tests.
"""

from __future__ import annotations

import ast
import csv
import html
import io
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from minigrad import errors

HERE = Path(__file__).parent
BUILT = "minigrad/course/notebook/rulebook/table.tsv"
HEADINGS = ("id", "priority", "group", "rule", "observed", "left out because")


class RuleError(ValueError):
    """The rules and the marks of the tests contradict each other."""


@dataclass(frozen=True)
class Rule:
    """One rule; ``priority`` 1 is the core of the course, 3 is exotic."""

    id: str
    priority: int
    group: str
    rule: str
    observed: str
    left_out: str


@dataclass(frozen=True)
class ProvedRule:
    """One row of the table: ``proof`` names the tests, or says why there is none."""

    id: str
    priority: int
    group: str
    rule: str
    proof: str


def read_rules() -> list[Rule]:
    """All rules, as ``rules.tsv`` states them."""
    rows = rows_of((HERE / "rules.tsv").read_text("utf8"))
    if tuple(rows[0]) != HEADINGS:
        raise RuleError(f"rules.tsv, line 1: expected {HEADINGS}, found {rows[0]}")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(HEADINGS) or row[1] not in ("1", "2", "3"):
            raise RuleError(f"rules.tsv, line {number}: not six columns: {row}")
    rules = [Rule(row[0], int(row[1]), *row[2:]) for row in rows[1:]]
    if len({rule.id for rule in rules}) != len(rules):
        raise RuleError("rules.tsv: an id is there twice")
    return rules


def rows_of(text: str) -> list[list[str]]:
    """The cells of tab-separated text; quotes stand for themselves."""
    return list(csv.reader(io.StringIO(text), "excel-tab", quoting=csv.QUOTE_NONE))


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


def proofs(rules: list[Rule], found: dict[str, list[str]]) -> dict[str, str]:
    """For each rule its tests, or why there is none.

    Raises: RuleError for a mark without a rule, and for a rule that is left out and
    tested.
    """
    known = {rule.id: rule for rule in rules}
    for identity, tests in found.items():
        if identity not in known:
            raise RuleError(f"{tests[0]} is marked with {identity}, which is no rule")
        if known[identity].left_out:
            raise RuleError(f"{identity} is left out, and tested by {tests[0]}")
    return {
        rule.id: " ".join(found.get(rule.id, []))
        or (f"left out: {rule.left_out}" if rule.left_out else "")
        for rule in rules
    }


def table_file(root: Path | None = None) -> dict[str, str]:
    """The built table, by its path below the repository."""
    root = root or HERE.parents[3]
    rules = read_rules()
    proof = proofs(rules, marks(root / "tests"))
    lines = ["\t".join(("id", "priority", "group", "rule", "proof"))]
    for rule in rules:
        cells = (rule.id, str(rule.priority), rule.group, rule.rule, proof[rule.id])
        lines.append("\t".join(cells))
    return {BUILT: "\n".join(lines) + "\n"}


class RuleTable(list[ProvedRule]):
    """Rows that show themselves as a table, in a notebook and as text."""

    def __repr__(self) -> str:
        lines = []
        for row in self:
            lines.append(f"{row.id}  {row.rule}")
            lines += [f"     {proof}" for proof in proofs_in(row)]
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
            proof = "<br>".join([html.escape(text) for text in proofs_in(row)])
            body.append(
                f'<tr><td style="vertical-align:top">{row.id}</td>'
                f'<td style="text-align:left">{html.escape(row.rule)}</td>'
                f'<td style="text-align:left"><code>{proof}</code></td></tr>'
            )
        head = "<tr><th>id</th><th>rule</th><th>shown by</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def proofs_in(row: ProvedRule) -> list[str]:
    """The tests of a row, or the sentence that stands in their place."""
    left_out = row.proof.startswith("left out")
    return [row.proof] if left_out else row.proof.split(" ")


def rules(group: str = "") -> RuleTable:
    """The rules of torch that minigrad keeps, with the tests that show it.

    ``group`` is a letter ("H": mark_dirty), the start of an id ("H0") or a word to look
    for ("retain_grad"); without it, all of them.
    Raises: ArgumentValueError if no rule fits.

    >>> minigrad.course.rules("J04")
    J04  Non-tensor outputs get None in either mode.
         tests/engine/test_returned.py::test_...
    """
    rows = rows_of((HERE / "table.tsv").read_text("utf8"))[1:]
    table = RuleTable([ProvedRule(row[0], int(row[1]), *row[2:]) for row in rows])
    chosen = [row for row in table if row.id.startswith(group)] or [
        row for row in table if group.lower() in row.rule.lower()
    ]
    if not chosen:
        raise errors.ArgumentValueError(
            errors.message(
                "course.rules",
                f"no rule has an id that starts with {group!r}, nor the word in it",
                f"ask for a group, {table[0].id[0]} to {table[-1].id[0]}, or a word",
            )
        )
    return RuleTable(chosen)
