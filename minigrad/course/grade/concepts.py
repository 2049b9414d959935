"""``grade --concepts BEFORE AFTER``: what changed between two forms of the test.

People are paired by the code in their files. The interval is a percentile bootstrap:
pairs are drawn anew with a fixed seed, so the same files give the same numbers.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import _workspace, errors
from minigrad.course.grade import pages
from minigrad.course.notebook import concepts
from minigrad.errors import count_of
from minigrad.mistakes import TABLE

DRAWS, SEED, CONFIDENCE = 10_000, 0, 95
FEW = 10
"""Of fewer people, an interval from a bootstrap is too narrow."""

WHERE = "grade --concepts"
CODE = re.compile("[a-z0-9-]{3,20}")


class ConceptsError(ValueError):
    """Results files that can't be compared; says which, and why."""


@dataclass(frozen=True)
class Answered:
    """One results file: who by a code, which form, and what was chosen."""

    file: Path
    form: str
    code: str
    answers: Mapping[str, str]

    @cached_property
    def chosen(self) -> dict[str, concepts.Choice | None]:
        """The choice for each item; None for *I don't know*."""
        return {
            item.id: item.shown(self.form).get(self.answers[item.id])
            for item in concepts.items()
        }

    @cached_property
    def right(self) -> set[str]:
        """The items that were answered right."""
        return {n for n, one in self.chosen.items() if one and not one.mistake}


@dataclass(frozen=True)
class Misconception:
    """One wrong answer of one item, and who gave it before, after, and both times."""

    item: str
    mistake: str
    thinks: str
    before: int
    after: int
    both: int

    @property
    def name(self) -> str:
        """The mistake's id and name."""
        return f"{self.mistake} {TABLE[self.mistake].name}"


def read(path: Path) -> Answered:
    """One results file. Raises: ConceptsError."""
    try:
        found = json.loads(path.read_text("utf8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConceptsError(f"{path}: it can't be read as JSON ({error})") from None
    if not isinstance(found, dict) or found.get("test") != concepts.TEST:
        raise ConceptsError(f"{path}: it isn't a file of the {concepts.TEST}")
    form, code, answers = (found.get(name) for name in ("form", "code", "answers"))
    if form not in concepts.FORMS:
        raise ConceptsError(f"{path}: form {form!r} is neither A nor B")
    if not isinstance(code, str) or not CODE.fullmatch(code):
        what = f"its code is {code!r}, and not 3 to 20 small letters, digits or hyphens"
        raise ConceptsError(f"{path}: {what}")
    if not isinstance(answers, dict):
        raise ConceptsError(f"{path}: it has no answers")
    if problem := concepts.problem_of(form, answers):
        raise ConceptsError(f"{path}: {problem}")
    return Answered(path, form, code, answers)


def files_in(place: Path) -> list[Path]:
    """A file itself, or the results files in a folder and below."""
    return sorted(place.rglob("*.json")) if place.is_dir() else [place]


def read_all(place: Path) -> dict[str, Answered]:
    """Every result in a file or folder, by its code.

    Raises: ConceptsError that names every file with something wrong.
    """
    found: dict[str, Answered] = {}
    wrong = []
    for path in files_in(place):
        try:
            one = read(path)
        except ConceptsError as error:
            wrong.append(str(error))
            continue
        if one.code in found:
            first = found[one.code].file
            wrong.append(f"{path}: the code {one.code} is in {first}, too")
        found.setdefault(one.code, one)
    if not found and not wrong:
        wrong.append(f"{place}: there is no results file (.json) in it")
    if wrong:
        fix = "mend these files, or move them out of the folder"
        raise ConceptsError(errors.message(WHERE, "\n  ".join(wrong), fix))
    return found


class Comparison:
    """The same people before and after."""

    def __init__(
        self, before: Mapping[str, Answered], after: Mapping[str, Answered]
    ) -> None:
        self.codes = sorted(set(before) & set(after))
        self.pairs = [(before[code], after[code]) for code in self.codes]
        self.alone = sorted(set(before) ^ set(after))
        self.count = len(concepts.items())
        scores = [(len(b.right), len(a.right)) for b, a in self.pairs]
        self.scores = np.array(scores, dtype=float).reshape(-1, 2)
        if not self.pairs:
            what = "no code is in both BEFORE and AFTER, so nobody can be compared"
            fix = (
                'look at "code" in the files: before there are '
                f"{', '.join(sorted(before))}; after, {', '.join(sorted(after))}"
            )
            raise ConceptsError(errors.message(WHERE, what, fix))

    @cached_property
    def means(self) -> tuple[float, float]:
        """Right answers of a person, before and after, on average."""
        before, after = self.scores.mean(0)
        return float(before), float(after)

    @property
    def gain(self) -> float:
        """How many more answers of a person are right after than before."""
        return self.means[1] - self.means[0]

    @property
    def normalised(self) -> float | None:
        """The gain as a share of what was wrong before; None if nothing was."""
        before, after = self.means
        return (
            None if before == self.count else (after - before) / (self.count - before)
        )

    @cached_property
    def draws(self) -> Any:
        """The two averages of each draw of as many pairs."""
        drawn = np.random.default_rng(SEED).integers(
            0, len(self.pairs), (DRAWS, len(self.pairs))
        )
        return self.scores[drawn].mean(1)

    def interval(self, normalised: bool = False) -> tuple[float, float] | None:
        """The interval of the gain; None for a single pair, or where it isn't defined.

        A draw in which nothing was wrong before has no normalised gain; if there is
        one, there is no interval.
        """
        if len(self.pairs) < 2:
            return None
        before, after = self.draws.T
        values = after - before
        if normalised:
            if (before == self.count).any():
                return None
            values = values / (self.count - before)
        tail = (100 - CONFIDENCE) / 2
        low, high = np.percentile(values, [tail, 100 - tail])
        return float(low), float(high)

    def items(self) -> Iterator[tuple[concepts.Item, int, int]]:
        """Each item with how many had it right before and after."""
        for item in concepts.items():
            before = sum([item.id in b.right for b, _ in self.pairs])
            yield item, before, sum([item.id in a.right for _, a in self.pairs])

    def misconceptions(self) -> list[Misconception]:
        """Every wrong answer that was given, those that stay first."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        beliefs = {}
        for pair in self.pairs:
            for item in concepts.items():
                wrong = [one.chosen[item.id] for one in pair]
                ids = [one.mistake if one and one.mistake else "" for one in wrong]
                for when, one in zip(("before", "after"), wrong, strict=True):
                    if one and one.mistake:
                        key = item.feature, one.mistake
                        counts.setdefault(key, Counter())[when] += 1
                        beliefs[key] = one.thinks
                if ids[0] and ids[0] == ids[1]:
                    counts[item.feature, ids[0]]["both"] += 1
        found = [
            Misconception(*key, beliefs[key], c["before"], c["after"], c["both"])
            for key, c in counts.items()
        ]
        return sorted(found, key=lambda m: (-m.both, -m.after, -m.before, m.mistake))

    def remarks(self) -> list[str]:
        """What has to be known before a number is believed."""
        said = []
        if self.alone:
            names = ", ".join(self.alone)
            codes = count_of(len(self.alone), "code")
            said.append(f"Not compared, {codes} only on one side: {names}.")
        same = [b.code for b, a in self.pairs if b.form == a.form]
        if same:
            said.append(
                f"The same form twice ({', '.join(same)}): what is remembered counts "
                "as a gain, too."
            )
        people = count_of(len(self.pairs), "learner")
        if len(self.pairs) < 2:
            said.append("One learner: there is no interval.")
        elif len(self.pairs) < FEW:
            said.append(
                f"{people}: that's few. A bootstrap of fewer than {FEW} is too narrow, "
                "and one person moves the numbers. Look at the single rows."
            )
        if self.normalised is not None and self.interval() and not self.interval(True):
            said.append(
                "The normalised gain has no interval: in some of the draws nothing was "
                "wrong before."
            )
        if self.normalised is None:
            said.append("Everything was right before: there was nothing to gain.")
        said.append(LIMITS)
        return said

    def summary(self) -> list[str]:
        """The numbers, one a line."""
        before, after = self.means
        lines = [
            f"{count_of(len(self.pairs), 'learner')}; right of {self.count}: "
            f"{before:.2f} before, {after:.2f} after",
            f"gain: {self.gain:+.2f}{said_of(self.interval())}",
        ]
        if self.normalised is not None:
            interval = said_of(self.interval(normalised=True))
            lines.append(f"normalised gain: {self.normalised:+.2f}{interval}")
        return lines


LIMITS = (
    "These numbers compare answers. They don't say why answers changed: who takes a "
    "second test without any course may have more right, too. And the normalised gain "
    "divides by what was wrong before, so a high score before makes it unsteady."
)


def said_of(interval: tuple[float, float] | None) -> str:
    """An interval in words; empty if there is none."""
    if interval is None:
        return ""
    low, high = interval
    how = f"{CONFIDENCE} % bootstrap over people, {DRAWS} draws, seed {SEED}"
    return f", from {low:+.2f} to {high:+.2f} ({how})"


def text_of(compared: Comparison) -> str:
    """All of a comparison for a terminal."""
    lines = [*compared.summary(), *[f"note: {each}" for each in compared.remarks()]]
    lines += ["", "item: right before, after"]
    for item, before, after in compared.items():
        lines.append(f"  {before:3} {after:3}  {item.feature}")
    lines += ["", "wrong answers: before, after, the same person both times"]
    for m in compared.misconceptions():
        lines.append(f"  {m.before:3} {m.after:3} {m.both:3}  {m.name}")
        lines.append(f"               {m.item}: {m.thinks}")
    return "\n".join(lines)


def page_of(compared: Comparison) -> str:
    """The same as a page."""
    return pages.page(
        "concepts.html",
        "Concept test: before and after",
        summary=compared.summary(),
        remarks=compared.remarks(),
        count=compared.count,
        misconceptions=[
            (m.name, f"{m.item}: {m.thinks}", m.before, m.after, m.both)
            for m in compared.misconceptions()
        ],
        items=[(i.feature, i.lesson, b, a) for i, b, a in compared.items()],
        people=[
            (b.code, f"{b.form}, {a.form}", len(b.right), len(a.right))
            for b, a in compared.pairs
        ],
    )


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    made = argparse.ArgumentParser(
        prog="minigrad grade --concepts",
        description="Compare the results of the concept test before and after.",
    )
    made.add_argument(
        "--concepts",
        nargs=2,
        type=Path,
        required=True,
        metavar=("BEFORE", "AFTER"),
        help="results files, or folders of them",
    )
    made.add_argument("--out", type=Path, help="a folder; concepts.html goes there")
    return made


def main(arguments: Sequence[str]) -> int:
    """Print the comparison; with ``--out`` write it as a page, too."""
    options = parser().parse_args(arguments)
    try:
        before, after = [read_all(place) for place in options.concepts]
        compared = Comparison(before, after)
    except ConceptsError as error:
        print(error, file=sys.stderr)
        return 2
    print(text_of(compared))
    if options.out is not None:
        page = options.out / "concepts.html"
        try:
            _workspace.write_whole(page_of(compared).encode(), page)
        except OSError as error:
            what = f"{page} can't be written ({error.strerror})"
            fix = "choose another --out"
            print(errors.message(WHERE, what, fix), file=sys.stderr)
            return 2
        print(f"\nresults: {page}")
    return 0
