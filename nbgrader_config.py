"""nbgrader on this course: its exercises, and our judge in the place of Execute.

Run nbgrader in this folder; what it writes goes to ``grades``. How, from the first
command to the feedback: solutions/GRADING.md.
"""

from pathlib import Path

import nbformat
from nbgrader import preprocessors as theirs

from minigrad.course.grade import command, gradebook, sandbox
from minigrad.course.grade.quotas import Limits

HERE = Path(__file__).resolve().parent
GRADES = HERE / "grades"


class Release(theirs.NbGraderPreprocessor):
    """The learner's form of an exercise notebook, with nbgrader's metadata."""

    def preprocess(self, nb, resources):
        cells = gradebook.released(HERE, resources["nbgrader"]["notebook"])
        nb.cells = [nbformat.from_dict(joined(cell)) for cell in cells]
        return nb, resources


class Strip(theirs.NbGraderPreprocessor):
    """What was handed in, without a word for nbgrader in it."""

    def preprocess(self, nb, resources):
        nb.cells = [nbformat.from_dict(gradebook.stripped(cell)) for cell in nb.cells]
        return nb, resources


class Judge(theirs.NbGraderPreprocessor):
    """Grades each exercise in a box, and adds a cell with its points."""

    def preprocess(self, nb, resources):
        which = resources["nbgrader"]
        how = sandbox.best_mode(), Limits(), command.secret_of(None, GRADES)
        cells = gradebook.judged(
            nb.cells,
            GRADES / "submitted" / which["student"],
            which["notebook"],
            lambda work: command.grade_here(work, *how),
        )
        nb.cells = [nbformat.from_dict(cell) for cell in cells]
        return nb, resources


def joined(cell):
    """The cell with its text in one piece, as nbformat has it in memory."""
    return cell | {"source": "".join(cell["source"])}


c = get_config()  # noqa: F821  nbgrader defines it

GRADES.mkdir(exist_ok=True)
c.CourseDirectory.course_id = "minigrad"
c.CourseDirectory.root = str(GRADES)
c.CourseDirectory.source_directory = str(HERE / "solutions")
# What lies beside a solution is copied to learners, but for what is named here.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "__pycache__", "*.pyc", "*.md"]

c.GenerateAssignment.preprocessors = [
    Release,
    theirs.CheckCellMetadata,
    theirs.ComputeChecksums,
    theirs.SaveCells,
]
c.Autograde.sanitize_preprocessors = [Strip]
c.Autograde.autograde_preprocessors = [
    Judge,
    theirs.SaveAutoGrades,
    theirs.AssignLatePenalties,
]
c.CsvExportPlugin.to = str(GRADES / "grades.csv")
