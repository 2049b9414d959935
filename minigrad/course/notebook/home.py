"""Home: every lesson and exercise by name, what is next, what to review, search."""

from __future__ import annotations

import html
import json
from functools import partial
from pathlib import Path
from typing import Any

from minigrad import _workspace
from minigrad.course.check import SIGNS, SOLVED
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import checking, concepts, paths
from minigrad.course.notebook.faq import answers
from minigrad.course.notebook.links import link
from minigrad.course.notebook.progress import (
    GREEN,
    GREY,
    Standing,
    said_of,
    standing_of,
)
from minigrad.course.notebook.spaced_repetition import code, review, text_of
from minigrad.views import forms

NAME = "home.ipynb"
SOURCE = "from minigrad import course\n\ncourse.home()"
GYM = "gym"
LEFT = "style='text-align: left; white-space: nowrap; vertical-align: top'"
BOXES = "style='text-align: left'"
RUN = (
    "<p>Press Shift+Enter to search the course, for your review, and to choose another "
    "path.</p>"
)


class Home:
    """The course at a glance: a page with links and search; as text, what is next."""

    def __init__(self) -> None:
        self.lessons = standing_of(exercises.names())
        self.gym = standing_of(exercises.gym_names())

    @property
    def advice(self) -> str:
        """What to do next, in one line."""
        following = self.lessons.next
        if following is None:
            return "Every exercise of the lessons is solved. The gym is open."
        step = f"Next: {following.heading} (about {following.minutes} minutes)"
        if self.path.leads_to(following.id):
            return step
        return f"Your path is done: {self.path.name}. {step}"

    @property
    def path(self) -> paths.Way:
        """The path that the learner has chosen."""
        return self.lessons.path

    @property
    def rest(self) -> list[str]:
        """The lessons that aren't on the path."""
        return [each for each in paths.WAYS[0].lessons if each not in self.path.lessons]

    def areas(self) -> list[tuple[str, list[Standing]]]:
        """The number of each lesson with its exercises; the gym comes last."""
        by_lesson = (self.lessons.lessons() | self.gym.lessons()).items()
        found = [(name.removeprefix("lesson "), each) for name, each in by_lesson]
        last = [*self.rest, GYM]
        return sorted(found, key=lambda pair: pair[0] in last)

    def __repr__(self) -> str:
        lines = [self.advice, f"Your path: {self.path.label}"]
        for area, standings in self.areas():
            solved = len([one for one in standings if one.state == SOLVED])
            lines.append(f"  {title_of(area)}: {solved} of {len(standings)} solved")
        return "\n".join(lines)

    def head(self) -> str:
        """What to do next as HTML."""
        said = html.escape(self.advice)
        following = self.lessons.next
        if following is not None:
            area = following.id.split(".")[0]
            said = link(said, exercises_of(area), following.heading)
        return f"<p style='font-size: 1.4em'>{said}</p>"

    def table(self) -> str:
        """Lessons and exercises as HTML."""
        rows = []
        for area, standings in self.areas():
            if self.rest[:1] == [area]:
                rows.append(
                    f"<tr><td {LEFT}><i>Not on your path</i></td><td></td></tr>"
                )
            title = link(html.escape(title_of(area)), lesson_of(area))
            boxes = " ".join([box(one) for one in standings])
            rows.append(f"<tr><td {LEFT}>{title}</td><td {BOXES}>{boxes}</td></tr>")
        test = link("the concept test", concepts.NOTEBOOK)
        return (
            f"<table style='line-height: 1.8'>{''.join(rows)}</table>"
            f"<p>Before the course and after it: {test} "
            f"(about {concepts.MINUTES} minutes each time).</p>"
        )

    def page(self) -> str:
        """All that can be shown while no Python runs."""
        path = f"<p>Your path: {html.escape(self.path.label)}</p>"
        return f"{self.head()}{RUN}{path}{self.table()}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if checking.is_without_a_person():
            return {"text/plain": repr(self), "text/html": self.page()}
        ask = "Ask: a question, a name from the code, or an error message"
        about = "Find the cell that answers"
        questions = [{"id": "", "text": ask, "choices": []}]
        search = forms.answering(
            lambda said: ("", answers(said[""])),
            partial(forms.question_form, questions, press="Search", about=about),
        )
        about = "Write a ten-minute notebook of what you missed"
        button = forms.button(
            "Review", about, lambda: forms.page(review()._repr_html_())
        )
        head, table = forms.filled(self.head()), forms.filled(self.table())

        def go(chosen: dict[str, str]) -> str:
            paths.choose(names[chosen[""]])
            anew = Home()
            forms.filled(anew.head(), head)
            forms.filled(anew.table(), table)
            return ""

        names = {way.label: way.name for way in paths.WAYS}
        path = forms.question_form(
            [{"id": "", "text": "Your path", "choices": names}],
            go,
            kept={"": self.path.label},
            press="Choose",
            about="Go on along this path",
        )
        whole = forms.column(head, search, button, path, table)
        return forms.bundle_of(whole, repr(self))


def home(path: str = "") -> Home:
    """Where you are: lessons and exercises to open, what's next, search, review.

    ``path`` chooses one of the paths, such as ``"Transforms"``, for what is next.
    Raises: ArgumentValueError for a name that is none.
    """
    if path:
        paths.choose(path)
    return Home()


def slug_of(area: str) -> str:
    """What a lesson's notebook is called; its number alone outside a workspace."""
    workspace = _workspace.around(Path.cwd())
    found = sorted(workspace.glob(f"notebooks/{area}_*.ipynb")) if workspace else []
    return found[0].stem if found else area


def exercises_of(area: str) -> str:
    """The exercises of a lesson, as a path in the workspace."""
    name = GYM if area == GYM else f"{area}_exercises"
    return f"exercises/{slug_of(area)}/{name}.ipynb"


def lesson_of(area: str) -> str:
    """A lesson, as a path in the workspace; the gym has exercises only."""
    return exercises_of(area) if area == GYM else f"notebooks/{slug_of(area)}.ipynb"


def title_of(area: str) -> str:
    """A lesson's number and title, as its notebook has it."""
    if area == GYM:
        return "Gym: practice Functions"
    workspace = _workspace.around(Path.cwd())
    if workspace is None:
        return f"Lesson {area}"
    try:
        cells = json.loads((workspace / lesson_of(area)).read_text("utf8"))["cells"]
        first = "".join(cells[0]["source"]).splitlines()[0]
    except (OSError, ValueError, LookupError):
        return f"Lesson {area}"  # the learner's own copy may be anything
    return f"{area} {first.removeprefix('# ')}"


def box(one: Standing) -> str:
    """An exercise: its number and state, a link to it, its name as a tooltip."""
    area, _, name = one.exercise.id.partition(".")
    heading = one.exercise.heading
    colour = GREEN if one.state == SOLVED else GREY
    title = html.escape(said_of(one), quote=True)
    text = f"<span title='{title}'>{name} {SIGNS[one.state]}</span>"
    style = (
        f"border-bottom: 3px solid {colour}; margin-right: 0.5em; display: inline-block"
    )
    return link(text, exercises_of(area), "" if area == GYM else heading, style)


def write_home() -> None:
    """Lay home's notebook out in this folder, its page in it; an edited one stays."""
    path = Path.cwd() / NAME
    page = Home()
    output = {
        "output_type": "execute_result",
        "execution_count": None,
        "metadata": {},
        "data": {"text/plain": repr(page), "text/html": page.page()},
    }
    hidden = {"metadata": {"jupyter": {"source_hidden": True}}, "id": "home"}
    if is_ours(path):
        cells = [code(SOURCE) | hidden | {"outputs": [output]}]
        _workspace.write_whole(text_of(cells), path)


def is_ours(path: Path) -> bool:
    """Whether nothing of a learner's is in the file: only our own cell, or no file."""
    try:
        cells = json.loads(path.read_text("utf8"))["cells"]
        return ["".join(cell["source"]) for cell in cells] == [SOURCE]
    except FileNotFoundError:
        return True
    except (OSError, ValueError, LookupError, TypeError):
        return False
