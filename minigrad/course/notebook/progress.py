"""How far a learner has come: what is done, what is next, and how long it may take."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property

from minigrad.course.check import NOT_TRIED, SIGNS, SOLVED, Exercise
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import journal, paths

GREEN, GREY = "#009e73", "#bbbbbb"


@dataclass(frozen=True)
class Standing:
    """One exercise and the best state that it ever reached."""

    exercise: Exercise
    state: str

    @property
    def lesson(self) -> str:
        """What it belongs to: ``lesson 01``, or the gym."""
        area = self.exercise.id.split(".")[0]
        return area if area == "gym" else f"lesson {area}"


class Progress(list[Standing]):
    """The standing of every exercise; shows itself as a picture and as text."""

    @property
    def required(self) -> list[Standing]:
        """The exercises that are not extra."""
        return [one for one in self if not one.exercise.is_extra]

    @property
    def done(self) -> int:
        """How many exercises are solved, apart from the extra ones."""
        return len([one for one in self.required if one.state == SOLVED])

    @property
    def left(self) -> list[Exercise]:
        """What isn't solved, without extra ones; what is on the path comes first."""
        left = [one.exercise for one in self.required if one.state != SOLVED]
        return sorted(left, key=lambda each: not self.path.leads_to(each.id))

    @cached_property
    def path(self) -> paths.Way:
        """The path that the learner has chosen."""
        return paths.chosen()

    @property
    def minutes_left(self) -> int:
        """The minutes that the exercises not yet solved take about."""
        return sum([exercise.minutes for exercise in self.left])

    @property
    def next(self) -> Exercise | None:
        """The first exercise to do that is left; None if all are solved."""
        return self.left[0] if self.left else None

    @property
    def counted(self) -> str:
        """How many are solved, the extra ones apart."""
        line = f"{self.done} of {len(self.required)} exercises solved"
        extra = [one.state == SOLVED for one in self if one.exercise.is_extra]
        return f"{line}, {sum(extra)} of {len(extra)} extra ones" if extra else line

    @property
    def summary(self) -> str:
        """One line: how many, what next, how long."""
        if self.next is None:
            return f"{self.counted}. All done."
        return (
            f"{self.counted}; next: {self.next.heading} "
            f"(about {self.minutes_left} minutes left in all)"
        )

    def lessons(self) -> dict[str, list[Standing]]:
        """The standings by lesson."""
        found: dict[str, list[Standing]] = {}
        for one in self:
            found.setdefault(one.lesson, []).append(one)
        return found

    def __repr__(self) -> str:
        lines = [self.summary]
        for lesson, standings in self.lessons().items():
            solved = [one.state == SOLVED for one in standings]
            bar = "".join(["■" if each else "□" for each in solved])
            lines.append(f"{lesson}  {bar}  {sum(solved)} of {len(solved)}")
            lines += [f"  {line_of(one)}" for one in standings]
        if journal.file() is None:
            lines.append(OUTSIDE)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = []
        for lesson, standings in self.lessons().items():
            cells = "".join([cell_of(one) for one in standings])
            rows.append(
                "<div style='display: flex; flex-wrap: wrap; align-items: center;"
                f" gap: 0.4em'><div style='width: 6em'>{lesson}</div>{cells}</div>"
            )
        outside = f"<p>{OUTSIDE}</p>" if journal.file() is None else ""
        return (
            "<div style='max-width: 56em; line-height: 1.7'>"
            f"<b>{html.escape(self.summary)}</b>{''.join(rows)}{outside}</div>"
        )


class LessonProgress(Progress):
    """The standing of one lesson's exercises, and the next step of the course."""

    def __init__(self, lesson: str, every: Progress) -> None:
        super().__init__([one for one in every if one.lesson == f"lesson {lesson}"])
        self.title = f"Lesson {lesson}"
        self.after = every.next

    def __repr__(self) -> str:
        following = self.next or self.after
        lines = [f"{self.title}: {self.counted}"]
        lines += [f"  {line_of(one)}" for one in self]
        if following:
            minutes = f"about {following.minutes} minutes"
            lines.append(f"Next: {following.heading} ({minutes})")
        lines.append("All lessons: course.home()")
        if journal.file() is None:
            lines.append(OUTSIDE)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *rest = [html.escape(line.strip()) for line in repr(self).split("\n")]
        return (
            f"<div style='line-height: 1.7'><b>{first}</b><br>{'<br>'.join(rest)}</div>"
        )


OUTSIDE = (
    "(This notebook is outside a workspace, so progress lasts until its kernel stops.)"
)


def said_of(one: Standing) -> str:
    """One exercise in words: its title, whether it is extra, its state."""
    extra = " (extra)" if one.exercise.is_extra else ""
    return f"{one.exercise.heading}{extra}: {one.state}"


def line_of(one: Standing) -> str:
    """One exercise as a line, with a sign before it."""
    return f"{SIGNS[one.state]} {said_of(one)}"


def cell_of(one: Standing) -> str:
    """One exercise as a small box: its number, a sign, its state as a tooltip."""
    title = html.escape(said_of(one))
    name = one.exercise.id.removeprefix("gym.")
    colour = GREEN if one.state == SOLVED else GREY
    return (
        f"<div title='{title}' style='border: 1px solid {colour}; border-bottom-width:"
        f" 4px; border-radius: 3px; padding: 0 0.5em'>{name}"
        f" {SIGNS[one.state]}</div>"
    )


def progress(lesson: str = "") -> Progress:
    """What is done, what is next, and about how many minutes are left.

    With a lesson, such as ``"05"``: its exercises alone, in a few lines.
    """
    every = standing_of(exercises.names())
    return LessonProgress(lesson, every) if lesson else every


def gym() -> Progress:
    """The practice Functions, with what was reached in each.

    They need no lesson and no order: ``exercise("gym.Power")`` says what is asked.
    """
    return standing_of(exercises.gym_names())


def standing_of(names: list[str]) -> Progress:
    """The best state that each of these exercises ever reached."""
    best: dict[str, str] = {}
    for entry in journal.entries(kind=journal.CHECKED):
        if best.get(entry["exercise"]) != SOLVED:
            best[entry["exercise"]] = str(entry.get("state", NOT_TRIED))
    return Progress(
        [
            Standing(exercises.load(name), state_of(best.get(name, NOT_TRIED)))
            for name in names
        ]
    )


def state_of(state: str) -> str:
    """A state from the journal; a word that is none counts as not tried."""
    return state if state in SIGNS else NOT_TRIED
