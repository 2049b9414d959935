"""The minutes that the instructor's notes give, held against what there is to do.

Nobody was timed. A lesson's minutes are counted from its source: words read at 150 a
minute and lines of code at 12; then for each prediction three quarters of a minute,
for each recording one and a half, two for each Try, one for each Because, half for each
card. A prediction whose player nobody is asked to step through is no recording. The
exercises' minutes are those that each of them states; the extra ones are apart.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from minigrad.course.author import build, slides
from minigrad.course.exercises import catalogue

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks/src").glob("[0-9][0-9]_*.py"))
FOR_EACH = {"predict": 0.75, "step": 1.5, "try": 2.0, "because": 1.0}
NOTE = re.compile(
    r"\*\*Minutes\.\*\* (\d+) alone: (\d+) for the lesson, (\d+) for its exercises"
    r"(?: \(and (\d+) for the extra [\d., ]+\))?;"
)


def minutes_to_read(path: Path) -> float:
    cells = build.read_cells(path.read_text("utf8"), path.name)
    words = sum(len(build.prose(c).split()) for c in cells if c.markdown)
    shown = [c for c in cells if not c.markdown and "hide-input" not in c.tags]
    lines = sum(len([x for x in c.lines if x]) for c in shown)
    doing = sum(FOR_EACH.get(tag, 0.0) for c in cells for tag in c.tags)
    cards = sum(
        build.prose(c).count("<summary>")
        for c in cells
        if "recall" in c.tags and c.markdown
    )
    return words / 150 + lines / 12 + doing + cards / 2


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_minutes_of_the_notes_are_what_the_lesson_and_its_exercises_take(
    path: Path,
) -> None:
    notes = path.with_suffix("").with_suffix(".instructor.md").read_text("utf8")
    found = NOTE.search(notes)
    assert found, "write: **Minutes.** 75 alone: 25 for the lesson, 50 for its ..."
    alone, lesson, exercises, extra = (int(n or 0) for n in found.groups())
    names = [n for n in catalogue.names() if n.startswith(f"{path.stem[:2]}.")]
    own = [catalogue.load(name) for name in names]
    stated, extras = [
        sum(e.minutes for e in own if e.is_extra is asked) for asked in (False, True)
    ]
    assert (exercises, extra, alone) == (stated, extras, lesson + exercises)
    assert lesson == pytest.approx(minutes_to_read(path), abs=2.5)


PLAN = re.compile(r"^\| (?:(\d):(\d\d) \| )?(\d+) \| ([\d, ]*)\|", re.MULTILINE)


def test_plans_of_the_guide_add_up_and_give_lessons_their_minutes() -> None:
    guide = (ROOT / "solutions/TEACHING.md").read_text("utf8")
    half, first, second = re.split(r"\nDay \d, \d+ minutes:\n", guide)
    said = [int(n) for n in re.findall(r"(?:a day: |Day \d, )(\d+) minutes", guide)]
    plans = [PLAN.findall(part) for part in (half, first, second)]
    assert [sum(int(row[2]) for row in plan) for plan in plans] == said
    at = 0
    for hour, minute, minutes, _ in plans[0]:
        assert 60 * int(hour) + int(minute) == at
        at += int(minutes)
    for _, _, minutes, lessons in plans[1] + plans[2]:
        names = lessons.replace(",", " ").split()
        if names and names != ["13"]:  # of 13 only the clinic
            assert int(minutes) == sum(workshop_minutes(name) for name in names)


def workshop_minutes(lesson: str) -> int:
    (notes,) = (ROOT / "notebooks/src").glob(f"{lesson}_*.instructor.md")
    found = slides.WORKSHOP.search(notes.read_text("utf8"))
    assert found
    return int(found[1])
