"""The words that stand behind ids on the board: titles, mistakes, questions."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from minigrad.course.author import slides
from minigrad.course.exercises import catalogue
from minigrad.mistakes import TABLE

ROOT = Path(__file__).resolve().parents[3]


@cache
def words(root: Path = ROOT) -> dict[str, Any]:
    """Everything that the pages name; predictions as the built lessons ask them.

    Without lessons, outside a clone, predictions have letters alone.
    """
    exercises, polls = {}, {}
    for name in [*catalogue.names(), *catalogue.gym_names()]:
        exercise = catalogue.load(name)
        exercises[name] = exercise.title
        if exercise.kind == "P":
            for each in exercise.questions:
                if each.choices:
                    polls[f"{name}.{each.id}"] = [each.text, [*each.choices]]
    for lesson in sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        for cell in json.loads(lesson.read_text("utf8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "course.predict(" in source:
                label, *asked = slides.prediction_in(source)[2]
                polls[label] = asked
    for notes in sorted((root / "solutions").glob("[0-9][0-9]_*/instructor_notes.md")):
        for name, asks, choices, _ in slides.asked_in(
            notes.read_text("utf8"), notes.parent.name[:2]
        ):
            polls[name] = [asks, choices]
    mistakes = {
        id: [entry.name, entry.looks_like, entry.hint] for id, entry in TABLE.items()
    }
    mistakes |= {
        key: [looks, "", ask] for key, (looks, ask) in catalogue.sentences().items()
    }
    return {"exercises": exercises, "polls": polls, "mistakes": mistakes}
