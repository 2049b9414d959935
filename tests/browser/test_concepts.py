"""The concept test's page, by keyboard alone and offline, to a file that is graded."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from minigrad.course.grade import concepts as compared
from minigrad.course.notebook import concepts
from tests.browser.laboratory import ROOT


@pytest.fixture
def page(browser: Browser) -> Page:
    return browser.new_context(offline=True, accept_downloads=True).new_page()


@pytest.fixture
def errors_of_module(page: Page) -> list[str]:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.stack or error.message))
    return errors


@pytest.mark.parametrize("form", concepts.FORMS)
def test_page_is_answered_by_keyboard_and_its_file_is_graded(
    form: str, page: Page, tmp_path: Path
) -> None:
    page.goto((ROOT / concepts.BUILT_PAGE).as_uri())
    keys = page.keyboard
    keys.press("Tab")
    if form == "B":
        keys.press("ArrowDown")
    keys.press("Tab")
    keys.press("Control+A")
    keys.type("my-own")
    for item in concepts.items():
        keys.press("Tab")  # the program, which may be wider than the page
        keys.press("Tab")
        wanted = [c.mistake == "" for c in item.shown(form).values()].index(True)
        keys.press("Space")
        for _ in range(wanted):
            keys.press("ArrowDown")
    keys.press("Tab")
    with page.expect_download() as saved:
        keys.press("Enter")
    assert saved.value.suggested_filename == f"concepts-{form}-my-own.json"
    saved.value.save_as(tmp_path / "mine.json")
    result = compared.read(tmp_path / "mine.json")
    assert (result.form, result.code, len(result.right)) == (form, "my-own", 12)
    text = (tmp_path / "mine.json").read_text("utf8")
    assert text == concepts.text_of(concepts.result_of(form, "my-own", result.answers))
    assert page.locator("#text").text_content() == text


def test_answer_that_is_missing_and_a_bad_code_are_said_where_they_are(
    page: Page,
) -> None:
    page.goto((ROOT / concepts.BUILT_PAGE).as_uri())
    assert page.locator("#code").input_value().isalnum()
    page.locator("button").click()
    assert page.locator("#missing").text_content() == "Program 1 has no answer yet."
    assert page.evaluate("document.activeElement.name") == "number"
    page.locator("#code").fill("Ada Lovelace!")
    page.locator("button").click()
    assert "3 to 20 letters" in (page.locator("#missing").text_content() or "")
    assert page.evaluate("document.activeElement.id") == "code"
    assert page.locator("#saved").is_hidden()
