"""The cells that nbgrader sees: plain dictionaries in, plain dictionaries out.

What nbgrader believes about points stands in a notebook's metadata, and a submission
could say anything there. So it is written here, when an assignment is released and
again after it was graded; what came back with a submission is dropped.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from minigrad.course.author import build
from minigrad.course.exercises import catalogue
from minigrad.course.grade import submissions
from minigrad.course.grade.examiner import BY_HAND_STATE, Result, Work
from minigrad.course.grade.pages import number, visible

Cell = dict[str, Any]

SCHEMA = 3
"""The version of the metadata that nbgrader 0.9 reads."""

_CHECK = re.compile(r'check\("([\w.]+)"')


def released(root: Path, lesson: str) -> list[Cell]:
    """The notebook that learners get, with each check worth its exercise's points."""
    source = root / "solutions" / "src" / f"{lesson}.py"
    text = source.read_text(encoding="utf-8")
    cells: list[Cell] = json.loads(build.notebook(text, source.name, solved=False))[
        "cells"
    ]
    for cell in cells:
        found = _CHECK.search("".join(cell["source"]))
        if found and "check" in cell["metadata"].get("tags", ()):
            cell["metadata"]["nbgrader"] = metadata(found[1])
    return cells


def metadata(exercise: str, by_hand: bool = False) -> dict[str, object]:
    """What nbgrader has to know about the cell that an exercise's points stand in.

    An answer that a person has to look at is a solution to nbgrader, with no score yet.
    """
    return {
        "cell_type": "code",
        "grade": True,
        "grade_id": "exercise-" + exercise.replace(".", "-"),
        "locked": not by_hand,
        "points": catalogue.load(exercise).points,
        "schema_version": SCHEMA,
        "solution": by_hand,
        "task": False,
    }


def judged(
    cells: Sequence[Cell], folder: Path, lesson: str, grade: Callable[[Work], Result]
) -> list[Cell]:
    """What was handed in, without its outputs and metadata, and then the results.

    ``folder`` is a student's, in which there may be answers that forms were given.
    """
    bare = [stripped(cell) for cell in cells]
    progress = submissions.reader(folder / lesson / "progress.jsonl")
    submitted = submissions.Submitted(
        folder.name,
        f"{lesson}.ipynb",
        lambda most: json.dumps({"cells": bare}).encode(),
        submissions.InForms([("progress.jsonl", progress)]),
    )
    results = [grade(work) for work in submissions.works(submitted)]
    return [*bare, *[result_cell(result) for result in results]]


def stripped(cell: Cell) -> Cell:
    """A cell with its text, and nothing that could mean anything to nbgrader.

    Markup in words is shown and not followed: nbgrader's pages would run a script.
    """
    bare = {"id": cell["id"]} if "id" in cell else {}
    if cell["cell_type"] == "code":
        code: Cell = {"cell_type": "code", "execution_count": None, "outputs": []}
        return bare | code | {"source": cell["source"], "metadata": {}}
    words = html.escape("".join(cell["source"]), quote=False)
    return bare | {"cell_type": "markdown", "source": words, "metadata": {}}


def result_cell(result: Result) -> Cell:
    """A cell whose output is the points, and before them what there is to say."""
    rows = [("", result.note)] if result.note else []
    rows += result.rows
    said = "\n".join([f"{label}: {text}" if label else text for label, text in rows])
    by_hand = result.state == BY_HAND_STATE
    shown: list[Cell] = [
        {"output_type": "display_data", "metadata": {}, "data": {"text/plain": text}}
        for text in (f"{result.heading}: {result.state}", visible(said))
        if text
    ]
    points = {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/plain": number(result.points)},
    }
    return {
        "cell_type": "code",
        "id": "result-" + result.exercise.replace(".", "-"),
        "metadata": {"nbgrader": metadata(result.exercise, by_hand)},
        "source": f"# the points for {result.exercise}",
        "execution_count": 1,
        "outputs": shown if by_hand else [*shown, points],
    }
