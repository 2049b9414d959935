"""Paths through the course: which lessons, in how many minutes, and which is chosen.

``minutes.tsv`` is built from the instructor's notes: a lesson and its minutes without
its exercises, which state their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from minigrad import errors
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import journal

BUILT_MINUTES = "minigrad/course/notebook/minutes.tsv"


@dataclass(frozen=True)
class Way:
    """A path: its name, for whom it is, its lessons; none named means all."""

    name: str
    why: str
    numbers: tuple[str, ...] = ()

    @property
    def lessons(self) -> list[str]:
        """The lessons of it that there are."""
        there = sorted({name.split(".")[0] for name in exercises.names()})
        return [each for each in there if not self.numbers or each in self.numbers]

    @property
    def minutes(self) -> int:
        """What its lessons and their exercises take; the extra ones aren't counted."""
        table = minutes_of_lessons()
        own = [exercises.load(n) for n in exercises.names() if self.leads_to(n)]
        doing = sum([one.minutes for one in own if not one.is_extra])
        return doing + sum([table.get(each, 0) for each in self.lessons])

    @property
    def label(self) -> str:
        """Name, lessons and minutes in one line."""
        lessons = f"all {len(self.lessons)} lessons"
        if self.numbers:
            lessons = f"lessons {' '.join(self.lessons)}"
        return f"{self.name}: {self.why} ({lessons}; about {self.minutes} minutes)"

    def leads_to(self, exercise: str) -> bool:
        """Whether an exercise lies on it."""
        return not self.numbers or exercise.split(".")[0] in self.numbers


WAYS = (
    Way("The whole course", "everything, in order"),
    Way(
        "I write PyTorch Functions",
        "what goes wrong in a Function of your own",
        ("01", "02", "03", "04", "08", "10", "12", "13", "17"),
    ),
    Way(
        "Teach me autograd",
        "how backward works, up to training a model",
        ("00", "01", "02", "03", "04", "05", "06", "13", "16"),
    ),
    Way(
        "Transforms",
        "Functions under grad, jvp and vmap",
        ("01", "02", "09", "11", "15"),
    ),
)


def minutes_of_lessons() -> dict[str, int]:
    """The minutes of each lesson without its exercises."""
    text = (Path(__file__).parent / "minutes.tsv").read_text("utf8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {number: int(minutes) for number, minutes in rows}


def chosen() -> Way:
    """The path that was chosen last; the whole course before that."""
    by_name = {way.name: way for way in WAYS}
    kept = [entry.get("path") for entry in journal.entries(kind=journal.PATH)]
    known = [name for name in kept if name in by_name]
    return by_name[known[-1]] if known else WAYS[0]


def choose(name: str) -> Way:
    """Go on along this path. Raises: ArgumentValueError for a name that is none."""
    found = [way for way in WAYS if way.name.lower() == name.strip().lower()]
    if not found:
        what = f"there is no path of this name; there are {len(WAYS)}"
        fix = "use one of " + ", ".join([repr(way.name) for way in WAYS])
        raise errors.ArgumentValueError.at(f"home({name!r})", what, fix)
    if found[0] != chosen():
        journal.note(journal.PATH, "home", path=found[0].name)
    return found[0]
