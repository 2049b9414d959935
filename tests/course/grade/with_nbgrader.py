"""Try nbgrader itself on the course: ``python -m tests.course.grade.with_nbgrader``.

Needs ``pip install nbgrader==0.9.6`` in this environment, and a minute or two. It works
on a copy of the repository: a lesson is released, five learners hand it in, and what
their gradebook and their feedback say is compared with what has to be there.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LESSON = "01_where_ctx_comes_from"
EXPECTED = {"ada": 14.0, "bob": 0.0, "eve": 10.0, "mallory": 0.0, "zoe": 1.0}

FORGED = {"cell_type": "code", "grade": True, "grade_id": "exercise-01-4",
          "locked": False, "points": 1000, "schema_version": 3, "solution": False,
          "task": False}  # fmt: skip


def main() -> None:
    """Release, hand in, grade, give feedback, export; then compare."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "course"
        # Who runs this may have a class of their own in grades.
        ours = shutil.ignore_patterns(".*", "workspace", "grades")
        shutil.copytree(ROOT, copy, ignore=ours)
        grades = copy / "grades"
        nbgrader(copy, "generate_assignment", LESSON)
        released = grades / "release" / LESSON
        assert [path.name for path in released.iterdir()] == [f"{LESSON}.ipynb"]
        assert sources(released) == sources(copy / "exercises" / LESSON)
        for student in EXPECTED:
            hand_in(student, copy, grades / "submitted" / student / LESSON)
        nbgrader(copy, "autograde", LESSON)
        nbgrader(copy, "generate_feedback", LESSON)
        nbgrader(copy, "export")
        with (grades / "grades.csv").open() as file:
            rows = list(csv.DictReader(file))
        found = {row["student_id"]: float(row["score"]) for row in rows}
        assert found == EXPECTED, found
        assert {float(row["max_score"]) for row in rows} == {14.0}
        page = (grades / "feedback" / "eve" / LESSON / f"{LESSON}.html").read_text()
        assert "gradients in each other" in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    print("nbgrader:", found)


def nbgrader(folder: Path, *words: str) -> None:
    """Run it as an instructor does, and stop if it complains."""
    line = [sys.executable, "-m", "nbgrader", *words]
    # It calls alembic by its name.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    subprocess.run(line, cwd=folder, env=environment, check=True, timeout=300)


def sources(folder: Path) -> list[str]:
    """What the cells of the notebook in a folder say."""
    (path,) = folder.glob("*.ipynb")
    notebook = json.loads(path.read_text())
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def hand_in(student: str, copy: Path, folder: Path) -> None:
    """Ada is right, Bob did nothing, Eve errs and forges, Mallory only forges.

    Zoe answered the first exercise in its form, and nothing else.
    """
    folder.mkdir(parents=True)
    place = "solutions" if student in ("ada", "eve") else "grades/release"
    notebook = json.loads((copy / place / LESSON / f"{LESSON}.ipynb").read_text())
    if student in ("eve", "mallory"):
        for cell in notebook["cells"]:
            source = "".join(cell["source"])
            cell["source"] = source.replace(
                "* y, grad_output * x", "* x, grad_output * y"
            )
        notebook["cells"] += [
            {"cell_type": "code", "id": "forged", "source": "1000",
             "metadata": {"nbgrader": FORGED}, "execution_count": 1,
             "outputs": [{"output_type": "execute_result", "execution_count": 1,
                          "metadata": {}, "data": {"text/plain": "1000"}}]},
            {"cell_type": "markdown", "id": "words", "metadata": {},
             "source": "<script>alert(1)</script> <img src=x onerror=alert(1)>"},
        ]  # fmt: skip
    (folder / f"{LESSON}.ipynb").write_text(json.dumps(notebook))
    if student == "zoe":
        answer = ["true"] * 5
        entry = {"kind": "answered", "exercise": "01.1", "answer": answer, "at": ""}
        (folder / "progress.jsonl").write_text(json.dumps(entry))


if __name__ == "__main__":
    main()
