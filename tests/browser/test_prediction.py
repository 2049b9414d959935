"""A prediction in JupyterLab: nothing given away, one answer, the deciding step."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page

from tests.browser.laboratory import Lab, Notebook, wait_for_player
from tests.browser.seen import brightness, unreadable
from tests.browser.typist import ACTIVE, Typist

LESSON = "notebooks/05_how_backward_finds_its_way.ipynb"
ANSWER = "2 + 3 = 5"
SEEN = "box => { const {top, bottom} = box.getBoundingClientRect();"
SEEN += " return top >= 0 && top < innerHeight / 2 && bottom < innerHeight; }"


@pytest.fixture(scope="module")
def lesson(page: Page, lab: Lab, errors_of_module: list[str]) -> Typist:
    """The lesson, all its cells run at once, and nothing answered."""
    typist = Typist(Notebook(page, lab, LESSON))
    typist.book.run_all()
    return typist


def join(lesson: Typist) -> int:
    return lesson.cell_with('"05.join"')


def player(lesson: Typist) -> Frame:
    frame_of = lesson.book.element(join(lesson)).wait_for_selector("iframe")
    assert frame_of is not None
    frame = frame_of.content_frame()
    assert frame is not None
    wait_for_player(frame)
    return frame


def photographed(lesson: Typist, name: str, folder: Path) -> None:
    pictures = []
    for theme in ("Light", "Dark"):
        lesson.book.use_theme(theme)
        lesson.page.wait_for_timeout(500)
        assert unreadable(lesson.page, ".minigrad-form :is(label, legend, div)") == {}
        pictures.append(folder / f"prediction-{name}-{theme.lower()}.png")
        lesson.page.screenshot(path=pictures[-1])
    light, dark = map(brightness, pictures)
    assert light > 0.7 > 0.4 > dark
    lesson.book.use_theme("Light")
    lesson.page.wait_for_timeout(500)
    lesson.book.do("notebook:enter-command-mode")


def test_before_commit_the_answer_is_not_on_the_screen(
    lesson: Typist, screenshots: Path
) -> None:
    index = join(lesson)
    lesson.book.select(index - 2)
    text = lesson.book.element(index).inner_text()
    assert "with 2, and later with 3" in text
    assert "waits until" not in text
    assert "ExpBackward0" not in text
    assert lesson.book.element(index).query_selector("iframe") is None
    after = lesson.book.element(index + 1)
    assert "5 = 2 + 3" not in after.inner_text()
    photographed(lesson, "before", screenshots)


def test_shift_enter_leads_on_from_a_form_that_waits(lesson: Typist) -> None:
    index = join(lesson)
    count = lesson.book.cells()[index]["count"]
    lesson.go_to(index)
    lesson.tab_to("radio")
    lesson.press("Shift+Enter")
    assert lesson.page.evaluate(ACTIVE) == index + 1
    assert lesson.book.cells()[index]["count"] == count


def test_commit_shows_the_outcome_with_the_player_at_the_deciding_step(
    lesson: Typist, screenshots: Path
) -> None:
    index = join(lesson)
    lesson.choose(index, ["with 2, and later with 3"])
    cell = lesson.book.element(index)
    cell.wait_for_selector(
        "text=You said: with 2, and later with 3. The run says: with 5"
    )
    cell.wait_for_selector("text=The node waits until both gradients are there")
    says = player(lesson).evaluate(
        "() => document.querySelector('#player .say').innerText"
    )
    assert ANSWER in says
    outcome = cell.wait_for_selector(".minigrad-outcome")
    assert outcome is not None
    lesson.page.wait_for_function(SEEN, arg=outcome)
    assert lesson.page.evaluate(SEEN, cell.query_selector("[data-minigrad-player]"))
    assert not cell.query_selector("button:visible")
    assert all(box.is_disabled() for box in cell.query_selector_all("input"))
    photographed(lesson, "after", screenshots)


def test_shift_enter_leads_on_from_the_outcome_and_from_the_player(
    lesson: Typist,
) -> None:
    index = join(lesson)
    lesson.book.element(index).query_selector(".minigrad-outcome").focus()
    lesson.press("Shift+Enter")
    assert lesson.page.evaluate(ACTIVE) == index + 1
    frame = player(lesson)
    frame.press("#player", "Shift+Enter")
    assert lesson.page.evaluate(ACTIVE) == index + 1
    lesson.press("Shift+Enter")
    assert lesson.page.evaluate(ACTIVE) == index + 2


def test_shift_enter_leads_on_from_a_live_player_and_from_a_box(
    lesson: Typist,
) -> None:
    live = lesson.cell_with("mg.live(fork")
    frame = lesson.book.player(live)
    frame.get_by_label("left", exact=True).press("Shift+Enter")
    assert lesson.page.evaluate(ACTIVE) == live + 1
    because = lesson.cell_with('"05.because"')
    lesson.go_to(because)
    lesson.tab_to("Because ...")
    lesson.press("Shift+Enter")
    assert lesson.page.evaluate(ACTIVE) == because + 1


def test_cell_run_again_comes_back_locked_with_its_outcome(lesson: Typist) -> None:
    index = join(lesson)
    lesson.run(index)
    cell = lesson.book.element(index)
    cell.wait_for_selector(
        "text=You said: with 2, and later with 3. The run says: with 5"
    )
    says = player(lesson).evaluate(
        "() => document.querySelector('#player .say').innerText"
    )
    assert ANSWER in says
    assert not cell.query_selector("button:visible")
