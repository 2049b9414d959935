"""Ten questions about a Function of one's own, answered by a run where one can answer.

``diagnose`` looks, and a run on a device that isn't there says what would leave it;
what no run can say is asked of the reader.
"""

from __future__ import annotations

import csv
import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import minigrad
from minigrad.course.check.diagnosis import diagnose
from minigrad.course.check.engines import MINIGRAD, engine_of
from minigrad.course.check.findings import Finding
from minigrad.course.check.probes.devices import on_second_device
from minigrad.course.check.probes.unread import unread_by
from minigrad.course.check.verdict import with_code

# Read at once: in a judge's box there are no files later.
_TABLE = Path(__file__).with_name("ten_questions.tsv").read_text("utf8")
YES, NO, ASKED, STOPPED = "yes", "no", "you say", "not run"
RUNS, GRADIENT, DEVICE = 0, 1, 8
"""The questions to which what has no name belongs, and what leaves the device."""


@dataclass(frozen=True)
class Asked:
    """A question, the mistakes that say no to it, and what no run can tell.

    A mistake is given by its id, or by the letter of its family.
    """

    question: str
    mistakes: tuple[str, ...]
    yourself: str
    lesson: str


@dataclass(frozen=True)
class Answer:
    """The answer to one question: yes, no, or that it's for the reader to say."""

    asked: Asked
    says: str
    because: str = ""
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class SelfReview:
    """Ten answers about one Function."""

    name: str
    answers: tuple[Answer, ...]

    def __repr__(self) -> str:
        lines = [f"Self-review of {self.name}"]
        for number, answer in enumerate(self.answers, 1):
            lines.append(f"{number:2}. {answer.asked.question} {answer.says}")
            lines += [f"    {text}" for text in texts_of(answer)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = []
        for answer in self.answers:
            texts = "".join(f"<br>{with_code(text)}" for text in texts_of(answer))
            rows.append(
                f"<li>{html.escape(answer.asked.question)} <b>{answer.says}</b>"
                f'<span style="opacity:0.8">{texts}</span></li>'
            )
        head = html.escape(f"Self-review of {self.name}")
        return (
            '<div class="minigrad-review" style="max-width:37em"><b>'
            f"{head}</b><ol>{''.join(rows)}</ol></div>"
        )


def texts_of(answer: Answer) -> list[str]:
    """What is said below an answer."""
    no = [f"{answer.because} (lesson {answer.asked.lesson})"] if answer.because else []
    own = answer.asked.yourself if answer.says == ASKED else ""
    return [*no, *([f"For you: {own}."] if own else [])]


@cache
def questions() -> tuple[Asked, ...]:
    """The ten questions."""
    return tuple(
        Asked(r["question"], tuple(r["mistakes"].split()), r["yourself"], r["lesson"])
        for r in csv.DictReader(_TABLE.splitlines(), delimiter="\t")
    )


def self_review(function: Any, *example_inputs: Any) -> SelfReview:
    """Ask the ten questions about a Function, on inputs that ``apply`` takes.

    A yes means that no run found the opposite; what an error has kept from running is
    called not run. It takes torch's Functions, too; what
    would leave a device is then for you to look for.
    Raises: what ``diagnose`` raises for inputs that can't be used.
    """
    found = diagnose(function, *example_inputs)
    leaves: Sequence[str] = ()
    unread: Sequence[tuple[int, ...]] = ()
    if engine_of(function) is MINIGRAD and not any([f.crashed for f in found.findings]):
        arrays = [
            MINIGRAD.memory(v) if MINIGRAD.is_tensor(v) else v for v in example_inputs
        ]
        with minigrad.teaching(False):
            leaves = on_second_device(function, *arrays).leaves
            unread = unread_by(function, *arrays)
    return SelfReview(
        found.name,
        tuple(answers_to((*found.findings, *found.remarks), leaves, unread)),
    )


def answers_to(
    found: Sequence[Finding], leaves: Sequence[str], unread: Sequence[tuple[int, ...]]
) -> list[Answer]:
    """The ten answers, for what was found, would leave the device, or isn't read."""
    asked = questions()
    against: dict[int, Answer] = {}
    for finding in found:
        for place in {place_of(id) for id in finding.ids} or {unnamed(finding)}:
            because = f"{finding.what[:1].upper()}{finding.what[1:]}. {finding.story}"
            against.setdefault(
                place, Answer(asked[place], NO, because.strip(), finding.ids)
            )
    if leaves:
        because = f"On another device than the cpu it would stop at {leaves[0]}"
        against.setdefault(DEVICE, Answer(asked[DEVICE], NO, because))
    for shape in unread:
        because = f"Whatever numbers the saved tensor of shape {shape} holds, backward "
        because += "returns the same"
        kept = place_of("K01")
        against.setdefault(kept, Answer(asked[kept], NO, because, ("K01",)))
    otherwise = STOPPED if any([finding.crashed for finding in found]) else YES
    return [
        against.get(place, Answer(each, ASKED if each.yourself else otherwise))
        for place, each in enumerate(asked)
    ]


def place_of(mistake: str) -> int:
    """The question to which a mistake says no: by its id, else by its family."""
    for name in (mistake, mistake[0]):
        for place, each in enumerate(questions()):
            if name in each.mistakes:
                return place
    return GRADIENT


def unnamed(finding: Finding) -> int:
    """The question for what has no name: does it run, or is its gradient right?"""
    return RUNS if finding.crashed else GRADIENT
