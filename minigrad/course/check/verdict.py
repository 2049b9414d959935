"""What a check says: the verdict as data, as plain text and as HTML."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from minigrad.course.check.findings import Evidence, Finding
from minigrad.course.check.questions import Outcome
from minigrad.errors import MinigradError, count_of

NOT_TRIED, CRASHED, WRONG, SOLVED = "not tried", "crashed", "wrong", "solved"

SIGNS = {NOT_TRIED: "○", CRASHED: "!", WRONG: "✗", SOLVED: "✓"}
_COLOURS = {
    NOT_TRIED: "#767676",
    CRASHED: "#d55e00",
    WRONG: "#d55e00",
    SOLVED: "#009e73",
}

Row = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Verdict:
    """The outcome of one check; shows itself in a notebook.

    ``seed`` drew the numbers: ``examine`` with it sees the same ones again.
    ``outcomes`` are the answers to questions; ``half_step`` is shown when the same
    mistake has come back; ``case`` is the number of the one to step through.

    >>> print(Verdict("01.4", "01.4 Mul", "solved", points=4))
    ✓ 01.4 Mul: solved (4 points)
    """

    exercise: str
    heading: str
    state: str
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    points: int = 0
    note: str = ""
    seed: int = 0
    outcomes: tuple[Outcome, ...] = ()
    half_step: str = ""
    case: int | None = None

    @property
    def diagnosis(self) -> str:
        """What the first finding looks like, to tell whether it comes back."""
        if not self.findings:
            return ""
        first = self.findings[0]
        return " ".join(first.ids) or first.story or first.where

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the named mistakes."""
        return tuple(name for finding in self.findings for name in finding.ids)

    @property
    def told(self) -> str:
        """The key of what the first finding looks like, where that has no id."""
        first = self.findings[:1]
        return "".join([f.key for f in first if f.story and not f.ids])

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The elements that show the mistakes, with both values."""
        return tuple(f.evidence for f in self.findings if f.evidence)

    @property
    def headline(self) -> str:
        """The first line: exercise, title and state."""
        state = self.state
        if (
            state == SOLVED
            and self.outcomes
            and not all(o.right for o in self.outcomes)
        ):
            state = "answered"
        line = f"{SIGNS[self.state]} {self.heading}: {state}"
        if self.state != SOLVED or not self.points:
            return line
        return f"{line} ({count_of(self.points, 'point')})"

    @property
    def message(self) -> str:
        """The whole verdict as plain text."""
        lines = [self.headline]
        if self.note:
            lines.append(f"  {self.note}")
        for row in self.rows():
            lines.append(f"  {row[0]}: {row[1]}".replace("\n", "\n    "))
        return "\n".join(lines)

    def rows(self) -> list[Row]:
        """What is said below the headline: a label and a text each."""
        rows = rows_of(self.findings)
        for outcome in self.outcomes:
            sign = "✓" if outcome.right else "✗"
            rows.append((f"{sign} {outcome.question.id}", outcome.text))
        if self.half_step:
            rows.append(("half a step", self.half_step))
        if any(finding.evidence or finding.crashed for finding in self.findings):
            rows.append(("numbers", "new in every check"))
        if self.case is not None:
            call = f'mg.course.step_through("{self.exercise}")'
            rows.append(("see it", f"`{call}` shows this case"))
        for remark in self.remarks:
            said = f"{remark.what}. {remark.story} {remark.next_step}"
            rows.append(("remark", " ".join(said.split())))
        return rows

    def __repr__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        note = html.escape(self.note)
        note = f'<div style="max-width: 37em">{note}</div>' if note else ""
        rows = "".join(
            f'<div style="opacity: 0.75">{html.escape(label)}</div>'
            '<div style="white-space: pre-wrap; max-width: 37em">'
            f"{with_code(text)}</div>"
            for label, text in self.rows()
        )
        return panel(
            self.state,
            f'<div style="font-weight: 600">{html.escape(self.headline)}</div>{note}'
            '<div style="display: grid; grid-template-columns: max-content 1fr;'
            f' gap: 0.25em 1.2em; margin-top: 0.4em">{rows}</div>',
            self.mistakes,
        )


def panel(state: str, inside: str, mistakes: tuple[str, ...] = ()) -> str:
    """The box in which a verdict is shown; its bar has the colour of ``state``."""
    return (
        f'<div class="minigrad-verdict" data-state="{state}"'
        f' data-mistakes="{" ".join(mistakes)}" role="status"'
        f' style="border-left: 4px solid {_COLOURS[state]}; padding: 0.3em 0.9em;'
        ' max-width: 56em; color: var(--jp-ui-font-color1, inherit)">'
        f"{inside}</div>"
    )


def rows_of(findings: tuple[Finding, ...]) -> list[Row]:
    """What is said of each finding: what happened, where, what it looks like, try."""
    rows: list[Row] = []
    for finding in findings:
        rows += [("what happened", finding.what), ("where", finding.where)]
        if finding.story:
            known = f"{finding.name}. {finding.story}" if finding.ids else finding.story
            rows.append(("looks like", known))
        if finding.next_step:
            rows.append(("try", " ".join(finding.next_step.split())))
    return rows


def with_code(text: str) -> str:
    """Text as HTML, with what stands between backticks as code.

    >>> with_code("`x < y`: yes")
    '<code>x &lt; y</code>: yes'
    """
    return re.sub("`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


class CheckFailed(MinigradError, AssertionError):
    """An exercise is not solved yet; ``verdict`` says why."""

    def __init__(self, verdict: Verdict, shown: bool = False) -> None:
        super().__init__(verdict.headline if shown else verdict.message)
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        """One line in a notebook, where the verdict stands right above."""
        return [f"{type(self).__name__}: {self.verdict.headline[2:]}, see above"]
