"""A notebook that was tampered with is graded by its code, and by nothing else."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.grade import submissions
from tests.course.grade.attacks import RIGHT
from tests.course.grade.conftest import Grade
from tests.course.grade.made_up_class import EXCHANGED, built

LESSON = "01_where_ctx_comes_from"

Cells = list[dict[str, Any]]


def is_check(cell: dict[str, Any]) -> bool:
    return "check" in cell["metadata"].get("tags", ())


def more_points(cells: Cells) -> Cells:
    for cell in cells:
        cell["metadata"]["nbgrader"] = {
            "grade": True, "grade_id": "exercise-01-4", "locked": False,
            "points": 1000, "schema_version": 3, "solution": False, "task": False,
        }  # fmt: skip
    return cells


def unlocked(cells: Cells) -> Cells:
    for cell in cells:
        cell["metadata"] = {"deletable": True, "editable": True}
    return cells


def without_checks(cells: Cells) -> Cells:
    return [cell for cell in cells if not is_check(cell)]


def checks_twice(cells: Cells) -> Cells:
    return cells + [cell for cell in cells if is_check(cell)]


def checks_retyped(cells: Cells) -> Cells:
    for number, cell in enumerate(cells):
        if is_check(cell):
            cell["cell_type"] = ("markdown", "raw", "heading", None)[number % 4]
    return cells


def checks_emptied(cells: Cells) -> Cells:
    for cell in cells:
        if is_check(cell):
            cell["source"] = 'print("solved: 4 of 4 points")'
    return cells


def scores_in_outputs(cells: Cells) -> Cells:
    said = {"output_type": "execute_result", "execution_count": 1, "metadata": {},
            "data": {"text/plain": "1000", "text/html": "<b>4 of 4</b>"}}  # fmt: skip
    for cell in cells:
        cell |= {"outputs": [said], "execution_count": 1}
    return cells


TAMPERED = (
    more_points,
    unlocked,
    without_checks,
    checks_twice,
    checks_retyped,
    checks_emptied,
    scores_in_outputs,
)


@pytest.mark.parametrize("tampered", TAMPERED)
def test_a_tampered_notebook_has_the_points_of_its_code(
    tampered: Callable[[Cells], Cells], graded: Grade, tmp_path: Path
) -> None:
    for student, change in (("ada", str), ("eve", EXCHANGED)):
        notebook = json.loads(built("solutions", LESSON))
        for cell in notebook["cells"]:
            cell["source"] = change("".join(cell["source"]))
        notebook["cells"] = tampered(notebook["cells"])
        notebook["metadata"] = {"name": "ada", "student_id": "ada", "points": 1000}
        (tmp_path / student).mkdir()
        (tmp_path / student / f"{LESSON}.ipynb").write_text(json.dumps(notebook))
    found = {}
    for submitted in submissions.find(tmp_path):
        for work in submissions.works(submitted):
            if work.exercise == "01.4":
                result = graded("01.4", *work.cells)
                found[work.student] = result.state, result.points, result.of
    assert found == {"ada": ("solved", 4, 4), "eve": ("wrong", 0, 4)}


def test_names_in_a_zip_that_lead_elsewhere_are_nobodys(
    graded: Grade, tmp_path: Path
) -> None:
    archive = tmp_path / "class.zip"
    evil = ["../eve/answer.py", "../../eve.py", "/etc/eve.py", "ada/../eve/a.py"]
    with zipfile.ZipFile(archive, "w") as made:
        for name in evil:
            made.writestr(name, f"{RIGHT}# 'gym.Square'")
        link = zipfile.ZipInfo("mallory/answer.py")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("ada/answer.py", f"{RIGHT}# 'gym.Square'")
    works = [w for s in submissions.find(archive) for w in submissions.works(s)]
    assert [(w.student, w.exercise) for w in works] == [("ada", "gym.Square")]
    assert graded(works[0].exercise, *works[0].cells).points == 2
    assert os.listdir(tmp_path) == ["class.zip"]
