"""One box for all tests that grade; bubblewrap itself, wherever it is installed."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from minigrad.course.grading.bounds import Limits
from minigrad.course.grading.box import Box, best_mode
from minigrad.course.grading.confine import BUBBLEWRAP
from minigrad.course.grading.examiner import Result, Work, grade

Grade = Callable[..., Result]


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """A box of bubblewrap. Where that is installed, it has to work."""
    if shutil.which("bwrap") is None:
        words = "no bubblewrap: submissions are not graded in these tests"
        if os.environ.get("MINIGRAD_REQUIRE_BOX"):
            pytest.fail(words)
        pytest.skip(words)
    box = Box(best_mode(), Limits())
    assert box.mode == BUBBLEWRAP
    yield box
    box.close()


@pytest.fixture
def graded(box: Box) -> Grade:
    """Grade cells as the submission to an exercise."""

    def run(exercise: str, *cells: str, **limits: float) -> Result:
        work = Work("ada", exercise, "0", "a.ipynb", cells)
        return grade(work, box, b"secret", replace(box.limits, **limits))

    return run
