"""One box for all tests that grade; bubblewrap itself, wherever it is installed."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest import mock

import pytest

from minigrad.course.grade import sandbox as boxes
from minigrad.course.grade.confine import BUBBLEWRAP, LANDLOCK, landlock_version
from minigrad.course.grade.examiner import Result, Work, grade
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.sandbox import Box, BoxError, best_mode

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


@pytest.fixture(scope="session")
def landlocked() -> Iterator[Box]:
    """The second best box; where the kernel has none, that is what is said."""
    if landlock_version() < 6:
        with (
            mock.patch.object(boxes, "bubblewrap_works", return_value=False),
            pytest.raises(BoxError, match="neither bubblewrap nor Landlock"),
        ):
            boxes.best_mode()
        pytest.skip("no Landlock in this kernel: refused, as it should be")
    box = Box(LANDLOCK, Limits())
    yield box
    box.close()


@pytest.fixture
def graded(box: Box) -> Grade:
    """Grade cells as the submission to an exercise."""

    def run(exercise: str, *cells: str, **limits: float) -> Result:
        work = Work("ada", exercise, "0", "a.ipynb", cells)
        return grade(work, box, b"secret", replace(box.limits, **limits))

    return run
