"""Home in JupyterLab: a link opens its section, and a path is chosen by keyboard."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

from minigrad.course.notebook.home import NAME, SOURCE
from tests.browser.laboratory import OPEN_NOTEBOOK, Lab, Notebook

# Whether the cell that begins so is near the top edge of the open notebook.
AT_TOP = (
    "source => {"
    + OPEN_NOTEBOOK
    + """
  const isIt = ({model}) => model.sharedModel.getSource().startsWith(source);
  const cell = cells?.find(isIt);
  if (!cell?.node.isConnected || !panel.isVisible) return false;
  const top = panel.content.node.getBoundingClientRect().top;
  return Math.abs(cell.node.getBoundingClientRect().top - top) < 250;
}"""
)


@pytest.fixture
def opened(page: Page, lab: Lab) -> Notebook:
    """Home, run."""
    cell = {"cell_type": "code", "execution_count": None, "id": "home", "metadata": {},
            "outputs": [], "source": SOURCE}  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4,
            "nbformat_minor": 5}  # fmt: skip
    (lab.folder / NAME).write_text(json.dumps(book))
    made = Notebook(page, lab, NAME)
    made.run(0)
    page.wait_for_selector(".minigrad-form")
    return made


def test_link_opens_the_section_also_the_first_time(
    page: Page, opened: Notebook
) -> None:
    page.locator("a:has(span[title^='08.4'])").click()
    page.wait_for_function(AT_TOP, arg="## 08.4 ")
    assert not page.evaluate(AT_TOP, "# Exercises")


def test_found_section_opens_also_the_first_time(page: Page, opened: Notebook) -> None:
    ask = page.locator(".minigrad-form input[type=text]")
    ask.fill(
        "a leaf Variable that requires grad is being used in an in-place operation"
    )
    ask.press("Enter")
    page.get_by_role("link", name="The leaf rule").first.click()
    page.wait_for_function(AT_TOP, arg="## The leaf rule")


def test_path_is_chosen_by_keyboard_and_next_follows(
    page: Page, lab: Lab, opened: Notebook
) -> None:
    page.get_by_role("radio", name="The whole course").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Next: 01.1").wait_for()
    page.get_by_text("Not on your path").wait_for()
    (line,) = (lab.folder / "progress.jsonl").read_text("utf8").splitlines()
    assert json.loads(line)["path"] == "Transforms"
