"""What nbgrader reads: our exercises, our judge's points, nothing that was forged."""

import json
from pathlib import Path

import pytest

from minigrad.course.exercises import catalogue
from minigrad.course.grade import gradebook
from minigrad.course.grade.examiner import Result, Work

ROOT = Path(__file__).resolve().parents[3]
LESSON = "01_where_ctx_comes_from"
BUILT = {path.parent.name: path for path in sorted(ROOT.glob("exercises/*/*.ipynb"))}


@pytest.mark.parametrize("lesson", BUILT)
def test_what_is_released_is_our_exercise_notebook_and_its_points(lesson: str) -> None:
    built = json.loads(BUILT[lesson].read_text("utf8"))
    released = gradebook.released(ROOT, lesson)
    theirs = [cell["metadata"].pop("nbgrader", None) for cell in released]
    assert released == built["cells"]
    points = {each["grade_id"]: each["points"] for each in theirs if each}
    number = lesson.split("_")[0]
    names = [*catalogue.names(), *catalogue.gym_names()]
    of_lesson = [name for name in names if name.startswith(f"{number}.")]
    assert points == {
        "exercise-" + name.replace(".", "-"): catalogue.load(name).points
        for name in of_lesson
    }


def graded(work: Work) -> Result:
    solved = work.exercise == "01.4"
    state = {"01.4": "solved", "01.5": "by hand"}.get(work.exercise, "not tried")
    return Result(*work.key, work.file, f"{work.exercise} Title", state,
                  4.0 * solved, 4, (), f"for {work.student}: {work.cells}",
                  (("try", "`x`\x1b[2J"),))  # fmt: skip


def test_the_points_stand_in_cells_of_our_own(tmp_path: Path) -> None:
    forged = gradebook.metadata("01.4") | {"points": 1000}
    output = {"output_type": "execute_result", "data": {"text/plain": "1000"}}
    handed_in = [
        {"cell_type": "code", "id": "a", "source": "1000", "execution_count": 7,
         "metadata": {"nbgrader": forged, "deletable": False}, "outputs": [output]},
        {"cell_type": "markdown", "id": "b", "source": "words", "attachments": {},
         "metadata": {"nbgrader": forged}},
    ]  # fmt: skip
    cells = gradebook.judged(handed_in, tmp_path / "ada", LESSON, graded)
    assert [cell["metadata"] for cell in cells[:2]] == [{}, {}]
    assert cells[0]["outputs"] == []
    assert "attachments" not in cells[1]
    ours = {c["metadata"]["nbgrader"]["grade_id"]: c for c in cells[2:]}
    assert list(ours) == [f"exercise-01-{n}" for n in range(1, 6)]
    assert ours["exercise-01-4"]["metadata"]["nbgrader"]["points"] == 4
    said, points = [o["data"]["text/plain"] for o in ours["exercise-01-4"]["outputs"]][
        1:
    ]
    assert said == "for ada: ('1000',)\ntry: `x`�[2J"
    assert points == "4"
    assert ours["exercise-01-1"]["outputs"][-1]["data"] == {"text/plain": "0"}


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_words_of_a_learner_are_no_markup(kind: str) -> None:
    words = ["<script>alert(1)</script>\n", "2 < 3"]
    cell = {"cell_type": kind, "id": "a", "source": words, "metadata": {"format": "x"}}
    assert gradebook.stripped(cell) == {
        "cell_type": "markdown",
        "id": "a",
        "source": "&lt;script&gt;alert(1)&lt;/script&gt;\n2 &lt; 3",
        "metadata": {},
    }


def test_what_a_person_looks_at_has_no_points_yet(tmp_path: Path) -> None:
    cells = gradebook.judged([], tmp_path, LESSON, graded)
    (by_hand,) = [cell for cell in cells if cell["id"] == "result-01-5"]
    kinds = [output["output_type"] for output in by_hand["outputs"]]
    assert kinds == ["display_data", "display_data"]
    assert by_hand["metadata"]["nbgrader"]["solution"] is True


def test_what_was_chosen_in_a_form_is_graded_too(tmp_path: Path) -> None:
    (tmp_path / "ada" / LESSON).mkdir(parents=True)
    entry = {"kind": "answered", "exercise": "01.1", "answer": ["true"], "at": "now"}
    (tmp_path / "ada" / LESSON / "progress.jsonl").write_text(json.dumps(entry))
    works = []

    def grade(work: Work) -> Result:
        works.append(work)
        return graded(work)

    gradebook.judged([], tmp_path / "ada", LESSON, grade)
    assert {work.exercise: work.said for work in works if work.said} == {
        "01.1": ["true"]
    }
