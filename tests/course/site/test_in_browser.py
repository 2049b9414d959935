"""The browser edition in Chromium, from the static folder alone.

Pyodide's wheels come from the folder that MINIGRAD_PYODIDE names. All lessons and
exercises: ``python -m tests.browser.browser_edition SITE``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from minigrad.course import site
from tests.browser import conftest
from tests.browser.browser_edition import (
    InBrowser,
    faults,
    refuse_others,
    said_by,
    served,
)
from tests.browser.conftest import ALL_OPEN
from tests.browser.figures import LIVE
from tests.browser.laboratory import EXERCISE, go
from tests.browser.seen import on_screen
from tests.browser.test_exercise_in_lab import (
    FORGETS_UPSTREAM,
    RIGHT,
    answer_with,
    of_mul,
    verdict,
)
from tests.browser.test_live_in_lab import grad_shown, slide
from tests.browser.told import differences, told, trace_in

browser = conftest.browser
page = conftest.page

FOLDER = os.environ.get(site.FOLDER)
pytestmark = pytest.mark.skipif(
    not FOLDER, reason=f"{site.FOLDER} names no folder with Pyodide's wheels"
)

NEVER_ENDS = RIGHT.replace("return x * y", "while True: pass")


@pytest.fixture(scope="module")
def base(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, in a page that may go nowhere else."""
    assert FOLDER is not None
    out = tmp_path_factory.mktemp("browser") / "site"
    site.write_site(out, Path(FOLDER))
    page.set_default_timeout(60_000)
    with served(out) as base:
        yield base


@pytest.fixture(autouse=True)
def stays_here(page: Page, base: str) -> Iterator[None]:
    """Nothing leaves this machine: not one request, and none is tried."""
    asked = refuse_others(page, base)
    yield
    assert asked == []


LESSONS = ["00_start_here", "01_where_ctx_comes_from", "05_how_backward_finds_its_way"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_lesson_runs_to_its_end_and_its_player_plays(
    lesson: str, page: Page, base: str
) -> None:
    if lesson == LESSONS[0]:
        book = InBrowser(page, base)
    else:
        book = InBrowser(page, base, f"notebooks/{lesson}.ipynb")
    book.run_all()
    assert faults(book) == []
    book.assert_lines_of_about_70(least=3)  # the rest is out of view, and not drawn
    for index in book.players()[:1]:
        frame, trace = book.player(index), trace_in(book.html_of(index))
        frame.evaluate(ALL_OPEN)
        for stop in (0, 5, len(trace["events"])):
            go(frame, stop)
            assert differences(on_screen(frame), told(trace, stop)) == []


def test_exercise_fails_then_passes_and_the_browser_keeps_it(
    page: Page, base: str
) -> None:
    book = InBrowser(page, base, EXERCISE)
    book.run(1)
    book.run(of_mul(book, "exercise"))
    assert verdict(book)["state"] == "not tried"
    answer_with(book, FORGETS_UPSTREAM)
    assert verdict(book)["mistakes"] == "C01"
    answer_with(book, NEVER_ENDS)
    assert "still running" in verdict(book)["text"]
    answer_with(book, RIGHT)
    assert verdict(book)["state"] == "solved"
    book.do("docmanager:save")
    book = InBrowser(page, base, EXERCISE)
    answer = of_mul(book, "exercise")
    assert book.cells()[answer]["source"] == RIGHT
    states = said_by(book, answer, JOURNAL)
    assert "'not tried', 'wrong', 'crashed', 'solved'" in states


JOURNAL = """\
from minigrad import course
[entry["state"] for entry in course.notebook.journal.entries(kind="checked")]"""


def test_sliders_of_a_live_player_record_again(page: Page, base: str) -> None:
    book = InBrowser(page, base, "notebooks/00_start_here.ipynb")
    first = next(i for i, cell in enumerate(book.cells()) if cell["type"] == "code")
    book.type_into(first, LIVE)
    book.run(first)
    frame = book.player(first)
    slide(frame, "x", 2)
    go(frame, 1_000)
    assert grad_shown(frame) == "x.grad = 12"
