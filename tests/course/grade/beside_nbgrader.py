"""Fifty submissions, graded by nbgrader as it comes and by our judge, in one run.

``python -m tests.course.grade.beside_nbgrader``: a few minutes. nbgrader runs what
was handed in as you, so these attacks are chosen to harm nothing: each changes its own
process only, and the last one the gradebook of this run, in a temporary folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from tests.course.grade.attacks import ATTACKS, RIGHT, WRONG

ROOT = Path(__file__).resolve().parents[3]
NBGRADER = "nbgrader==0.9.6"
NAME = "square"
SECONDS = 900
"""For any one command of this run."""

TESTS = (
    """
import numpy as np
x = mg.tensor(np.array([0.5, -1.25, 3.0]), requires_grad=True)
np.testing.assert_allclose(Square.apply(x).detach().numpy(), [0.25, 1.5625, 9.0])
""",
    """
numbers = np.random.default_rng(7).normal(size=(2, 5, 3))
for at, upstream in zip(numbers[0], numbers[1]):
    x = mg.tensor(at, requires_grad=True)
    Square.apply(x).backward(mg.tensor(upstream))
    assert np.allclose(x.grad.numpy(), 2 * at * upstream)
""",
)
"""What an instructor writes for nbgrader: a cell for values, a cell for gradients."""

TWO_STEPS = """
import minigrad as mg
class Square(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, grad_output):
        x, = ctx.saved_tensors
        return grad_output * (x + x)
"""
SAYS_MUCH = RIGHT.replace(
    "(x,) = ctx", "import sys; print('backward!', file=sys.stderr)\n        (x,) = ctx"
)
STYLES = (RIGHT, TWO_STEPS, RIGHT + "print(Square.apply(mg.tensor(3.0)))", SAYS_MUCH)
"""Right answers; the last one prints to where warnings go."""

GRADEBOOK = (
    """
import sqlite3
try:
    book = sqlite3.connect("STOCK/gradebook.db")
    book.execute("update grade set auto_score = 1")
    book.commit()
except sqlite3.Error: pass
try: open("OURS/ours/results.jsonl", "a").write("forged")
except OSError: pass
"""
    + WRONG
)
NEIGHBOUR = (
    WRONG
    + """
import glob, json
for folder in ("STOCK", "OURS"):
    for path in glob.glob(f"{folder}/submitted/right 00/**/*.ipynb", recursive=True):
        exec(json.load(open(path))["cells"][0]["source"])
"""
)
CHOSEN = (
    "redefine bool",
    "patch allclose and testing",
    "transform the source",
    "an array equal to everything",
    "trace the comparer",
    "replace modules",
    "print scores",
    "exit with success",
)
METADATA = "change points in the metadata"
COPY = "hand in what a neighbour wrote"
LAST = "write the gradebook"


def main() -> None:
    """Hand in, grade twice, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    help_text = "keep nbgrader in this folder for the next time"
    parser.add_argument("--environment", type=Path, help=help_text)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        kept = parser.parse_args().environment
        python = provided((kept or folder / "environment").absolute())
        handed_in = submissions(folder / "stock", folder)
        stock, stock_seconds, changed = by_nbgrader(python, folder / "stock", handed_in)
        ours, our_seconds = by_judge(folder, handed_in)
    show(stock, stock_seconds, ours, our_seconds, handed_in)
    print(f"'{LAST}' changed what {changed} others have in nbgrader's gradebook")
    right = [name for name in handed_in if name.startswith("right")]
    assert all(ours[name] == 2 for name in right), ours
    assert not any(points for name, points in ours.items() if name not in right), ours


def provided(folder: Path) -> Path:
    """A Python with nbgrader and NumPy in a folder; made there if it is not."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        run([python, "-m", "pip", "install", "--quiet", NBGRADER, "numpy"], folder)
    return python


def run(line: list[object], folder: Path) -> None:
    """Run it there, bounded in time; its words are shown only if it fails."""
    place = f"{Path(str(line[0])).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": place, "PYTHONPATH": str(ROOT), "MINIGRAD_JIT": "0"}
    done = subprocess.run(
        [str(word) for word in line],
        cwd=folder,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    # nbgrader ends with 1 too when it could not grade one of the class.
    if done.returncode not in ((0, 1) if "autograde" in line else (0,)):
        sys.exit(done.stderr[-3000:])


def submissions(stock: Path, ours: Path) -> dict[str, str]:
    """What each student wrote: 32 right ones, 7 wrong, 11 that attack."""
    made = {f"right {n:02}": STYLES[n % 4] + f"# {n}\n" for n in range(32)}
    made |= {f"wrong {n}": WRONG + f"# {n}\n" for n in range(7)}
    made |= {name: ATTACKS[name] for name in CHOSEN}
    made |= {METADATA: WRONG + "# metadata\n", COPY: NEIGHBOUR, LAST: GRADEBOOK}
    there = {"STOCK": str(stock), "OURS": str(ours)}
    for name in (COPY, LAST):
        for word, path in there.items():
            made[name] = made[name].replace(word, path)
    return made


def notebook(answer: str, points: int = 1) -> str:
    """A notebook with an answer, and a cell of tests for each point."""
    cells = [cell("answer", f'# exercise "gym.Square"\n{answer}')]
    cells += [
        cell(f"test-{n}", source, points) for n, source in enumerate(TESTS, start=1)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
         "nbformat_minor": 5}
    )  # fmt: skip


def cell(name: str, source: str, points: int = 0) -> dict[str, object]:
    """A cell of nbgrader's: an answer, or a test if it has points."""
    own: dict[str, object] = {
        "cell_type": "code", "grade": points > 0, "grade_id": name,
        "locked": points > 0, "schema_version": 3, "solution": points == 0,
        "task": False,
    }  # fmt: skip
    own |= {"points": points} if points else {}
    return {"cell_type": "code", "id": name, "metadata": {"nbgrader": own},
            "source": source, "execution_count": None, "outputs": []}  # fmt: skip


def by_nbgrader(
    python: Path, course: Path, handed_in: dict[str, str]
) -> tuple[dict[str, float], float, int]:
    """The points, the seconds for each, and how many others the last one changed."""
    source = course / "source" / NAME / f"{NAME}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(notebook("### BEGIN SOLUTION\n### END SOLUTION"))
    config = "c = get_config()\nc.CourseDirectory.course_id = 'beside'\n"
    (course / "nbgrader_config.py").write_text(config)
    nbgrader = [python, "-m", "nbgrader"]
    run([*nbgrader, "generate_assignment", NAME], course)
    for student, answer in handed_in.items():
        path = course / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(notebook(answer, 1000 if student == METADATA else 1))
    last = course / "submitted" / LAST
    shutil.move(last, course / LAST)
    began = time.monotonic()
    run([*nbgrader, "autograde", NAME], course)
    seconds = time.monotonic() - began
    before = exported(nbgrader, course)
    shutil.move(course / LAST, last)
    run([*nbgrader, "autograde", NAME, "--student", LAST], course)
    after = exported(nbgrader, course)
    changed = sum(after[student] != points for student, points in before.items())
    return before | {LAST: after[LAST]}, seconds / len(before), changed


def exported(nbgrader: list[object], course: Path) -> dict[str, float]:
    """What the gradebook says, by student."""
    run([*nbgrader, "export"], course)
    with (course / "grades.csv").open() as file:
        return {r["student_id"]: float(r["score"] or 0) for r in csv.DictReader(file)}


def by_judge(folder: Path, handed_in: dict[str, str]) -> tuple[dict[str, float], float]:
    """The points, and the seconds for each submission, one after the other."""
    for student, answer in handed_in.items():
        path = folder / "submitted" / student / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(notebook(answer, 1000 if student == METADATA else 1))
    began = time.monotonic()
    grade = [sys.executable, "-m", "minigrad", "grade", folder / "submitted"]
    run([*grade, "--out", folder / "ours", "--jobs", 1], folder)
    seconds = time.monotonic() - began
    with (folder / "ours" / "results.csv").open() as file:
        found = {r["student"]: float(r["points"]) for r in csv.DictReader(file)}
    return found, seconds / len(found)


def show(
    stock: dict[str, float],
    stock_seconds: float,
    ours: dict[str, float],
    our_seconds: float,
    handed_in: dict[str, str],
) -> None:
    """One table: the seconds for a submission, and the points, of two."""
    print(f"{'points, of 2':<44}{'nbgrader':>10}{'minigrad':>10}")
    rows = {
        "right, 24 in three styles": [n for n in handed_in if n in styled(0, 1, 2)],
        "right, 8 that print to stderr": [n for n in handed_in if n in styled(3)],
        "wrong gradients of right values, 7": [
            n for n in handed_in if n.startswith("wrong")
        ],
    }
    rows |= {name: [name] for name in (*CHOSEN, METADATA, COPY, LAST)}
    for said, names in rows.items():
        means = [sum(p[n] for n in names) / len(names) for p in (stock, ours)]
        print(f"{said:<44}{means[0]:>10.2f}{means[1]:>10.2f}")
    said = "seconds for a submission, start included"
    print(f"{said:<44}{stock_seconds:>10.2f}{our_seconds:>10.2f}")


def styled(*styles: int) -> list[str]:
    """The right ones of these styles."""
    return [f"right {n:02}" for n in range(32) if n % 4 in styles]


if __name__ == "__main__":
    main()
