"""One box for all tests that grade; bubblewrap itself, wherever it is installed."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest import mock

import pytest

from minigrad.course.grade import sandbox as boxes
from minigrad.course.grade.confine import BUBBLEWRAP, LANDLOCK, landlock_version
from minigrad.course.grade.examiner import Result, Work, grade
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.resource_usage import consumption
from minigrad.course.grade.sandbox import Box, BoxError, best_mode

Grade = Callable[..., Result]


def assert_are_left(box: Box, processes: int) -> None:
    """So many are left of each fork server: no worker of them any more."""
    started = [each.process for each in box.servers.values() if each.process]
    assert started
    # The keeper has hung up; for a moment it may still be there.
    until = time.monotonic() + 10
    for server in started:
        while consumption(server.pid)[0] > processes and time.monotonic() < until:
            time.sleep(0.02)
        assert consumption(server.pid)[0] == processes


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
