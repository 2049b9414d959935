"""Exercise 01.4 in a real JupyterLab, from the shipped cell to *solved*."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ALL_OPEN
from tests.browser.laboratory import EXERCISE, Lab, Notebook, go
from tests.browser.seen import brightness, on_screen, unreadable
from tests.browser.told import differences, told, trace_in
from tests.views.folding import stops_of

MUL = """\
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return {gradients}"""

RIGHT = MUL.format(gradients="grad_output * y, grad_output * x")
FORGETS_UPSTREAM = MUL.format(gradients="y, x")


@pytest.fixture(scope="module")
def book(page: Page, lab: Lab, errors_of_module: list[str]) -> Notebook:
    """The exercise as shipped, its first cell run."""
    notebook = Notebook(page, lab, EXERCISE)
    first = next(i for i, c in enumerate(notebook.cells()) if c["type"] == "code")
    notebook.run(first)
    return notebook


@pytest.fixture
def shipped(book: Notebook, lab: Lab) -> Notebook:
    """The exercise with its own cell as it is when nobody has touched it."""
    answer = of_mul(book, "exercise")
    if book.cells()[answer]["source"] != source_in_file(lab):
        book.type_into(answer, source_in_file(lab))
    book.run(answer)
    return book


def source_in_file(lab: Lab) -> str:
    cells = nbformat.read(lab.folder / EXERCISE, as_version=4).cells
    return next(c.source for c in cells if c.source.startswith("class Mul("))


def of_mul(book: Notebook, tag: str) -> int:
    """The index of the cell with ``tag`` that belongs to exercise 01.4."""
    return next(
        index
        for index, cell in enumerate(book.cells())
        if tag in cell["tags"] and "Mul" in cell["source"]
    )


def answer_with(book: Notebook, source: str) -> None:
    answer = of_mul(book, "exercise")
    book.type_into(answer, source)
    book.run(answer)


def verdict(book: Notebook) -> dict[str, str]:
    """Run the check; what its panel says, and to what state it belongs."""
    check = of_mul(book, "check")
    book.run(check)
    panel = book.element(check).wait_for_selector(".minigrad-verdict")
    assert panel is not None
    return {
        "state": panel.get_attribute("data-state") or "",
        "mistakes": panel.get_attribute("data-mistakes") or "",
        "text": panel.inner_text(),
        "output": book.element(check).inner_text(),
    }


def photograph(book: Notebook, name: str, folder: Path) -> None:
    """The panel in both themes, readable in each."""
    check = of_mul(book, "check")
    pictures = []
    for theme in ("Light", "Dark"):
        book.use_theme(theme)
        book.select(check)
        assert unreadable(book.page, ".minigrad-verdict") == {}
        pictures.append(folder / f"exercise-01.4-{name}-{theme.lower()}.png")
        book.page.screenshot(path=pictures[-1])
    light, dark = map(brightness, pictures)
    assert light > 0.7 > 0.4 > dark


def test_shipped_exercise_is_not_tried(shipped: Notebook, screenshots: Path) -> None:
    said = verdict(shipped)
    assert said["state"] == "not tried"
    assert "01.4" in said["text"]
    assert "TODO" in said["text"]
    assert "CheckFailed" not in said["output"]
    assert said["output"].count("not tried") == 1
    photograph(shipped, "not-tried", screenshots)


def test_backward_without_the_upstream_gradient_is_named_and_mended(
    shipped: Notebook, screenshots: Path
) -> None:
    answer_with(shipped, FORGETS_UPSTREAM)
    said = verdict(shipped)
    assert (said["state"], said["mistakes"]) == ("wrong", "C01")
    assert "upstream gradient ignored" in said["text"]
    assert "Traceback" not in said["output"]
    photograph(shipped, "wrong", screenshots)

    answer_with(shipped, RIGHT)
    said = verdict(shipped)
    assert (said["state"], said["mistakes"]) == ("solved", "")
    assert "CheckFailed" not in said["output"]
    photograph(shipped, "solved", screenshots)


def test_hints_come_one_by_one_after_a_check(shipped: Notebook) -> None:
    sources = [cell["source"] for cell in shipped.cells()]
    hint = sources.index('hint("01.4")')

    def said() -> str:
        shipped.run(hint)
        assert shipped.element(hint).wait_for_selector(".jp-OutputArea-output p")
        (output,) = shipped.cells()[hint]["outputs"]
        return str(output["data"]["text/markdown"])

    verdict(shipped)
    first, again = said(), said()
    verdict(shipped)
    second = said()
    assert again.startswith(first)
    assert "check it first" in again
    assert not second.startswith(first)


def test_the_learners_own_class_is_stepped_through(shipped: Notebook) -> None:
    answer_with(shipped, RIGHT)
    step = of_mul(shipped, "step")
    shipped.run(step)
    frame, trace = shipped.player(step), trace_in(shipped.html_of(step))
    frame.evaluate(ALL_OPEN)
    for position in stops_of(trace):
        go(frame, position)
        assert differences(on_screen(frame), told(trace, position)) == []
    told_lines = "".join(event["say"] for event in trace["events"])
    assert "return grad_output * y, grad_output * x" in told_lines
