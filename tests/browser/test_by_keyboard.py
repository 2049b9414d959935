"""Lessons 00 and 01 with no mouse; closed and opened again, everything is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.laboratory import Lab, running_lab
from tests.browser.typist import Typist, opened

START = "00_start_here"
CTX = "01_where_ctx_comes_from"

DOUBLE = """\
class Double(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2"""

SCALED = """\
class Scaled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None"""

MUL = """\
class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x"""

CLEAN = SCALED.replace("Scaled", "Clean")
LEAKY = CLEAN.replace("ctx.factor", "Leaky.factor").replace("Clean", "Leaky")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def do_lesson_00(page: Page, lab: Lab) -> None:
    lesson = opened(page, lab, f"notebooks/{START}.ipynb")
    first = lesson.cell_with("course.doctor(quiet=True)")
    lesson.run(first)
    assert not lesson.book.element(first).query_selector("table")
    lesson.run(lesson.cell_with("class Product("))
    lesson.choose(lesson.cell_with('"00.value"'), ["y = 10, gradient 5"])
    order = lesson.cell_with('"00.order"')
    assert not lesson.book.element(order).query_selector("iframe")
    lesson.choose(order, ["the lines of forward again"])
    frame = lesson.book.player(order)
    lesson.tab_to("IFRAME")
    lesson.press("ArrowRight", "ArrowRight")
    start = frame.evaluate(
        "() => Number(document.querySelector('#player').dataset.start)"
    )
    frame.wait_for_function(
        "start => document.querySelector('#player').player.position > start",
        arg=start,
    )
    because = lesson.cell_with("course.because(")
    lesson.run(because)
    lesson.tab_to("Because ...")
    page.keyboard.insert_text("the slopes depend on the inputs")
    lesson.tab_to("Keep")
    lesson.press("Space")
    lesson.book.element(because).wait_for_selector("text=Kept.")


def do_exercises_00(page: Page, lab: Lab) -> None:
    sheet = opened(page, lab, f"exercises/{START}/00_exercises.ipynb")
    assert sheet.checked("00.1") == "not tried"
    sheet.choose(
        sheet.cell_with('exercise("00.1")'),
        ["forward runs", "the result is tied to ctx", "none of them"],
    )
    assert sheet.checked("00.1") == "solved"
    sheet.run(sheet.cell_with("class Double("))
    assert sheet.checked("00.2") == "not tried"
    sheet.write(sheet.cell_with("class Double("), DOUBLE)
    assert sheet.checked("00.2") == "solved"
    sheet.run(sheet.cell_with("class Stretch("))
    panel = sheet.cell_with('exercise("00.3")')
    sheet.run(panel)
    sheet.tab_to("a short answer")
    page.keyboard.insert_text("(2, 3)")
    sheet.tab_to("radio")
    sheet.pick("the ctx of this call")
    sheet.commit(panel)
    assert sheet.state(panel) == "wrong"
    sheet.go_to(panel)
    sheet.tab_to("a short answer")
    sheet.press("ControlOrMeta+a")
    page.keyboard.insert_text("(3,)")
    sheet.commit(panel)
    sheet.book.element(panel).wait_for_selector("[data-state=solved]")
    assert sheet.checked("00.3") == "solved"


def assemble(sheet: Typist, index: int, order: str) -> None:
    """Put the lines of 01.2 into their list, one by one."""
    sheet.run(index)
    for name in order:
        sheet.go_to(index)
        sheet.tab_to("Lines left over")
        sheet.press(name, "Enter")
    sheet.commit(index)


def do_lesson_01(page: Page, lab: Lab) -> None:
    sheet = opened(page, lab, f"exercises/{CTX}/01_exercises.ipynb")
    same = sheet.cell_with('exercise("01.1")')
    sheet.choose(same, ["true", "true", "true", "true", "true"])
    assert sheet.checked("01.1") == "solved"
    lines = sheet.cell_with('exercise("01.2")')
    assemble(sheet, lines, "fmbkchajl")
    sheet.book.element(lines).wait_for_selector("[data-state=solved]")
    assert sheet.checked("01.2") == "solved"
    sheet.run(sheet.cell_with("Scaled.factor = factor"))
    assert sheet.checked("01.3") == "not tried"
    sheet.write(sheet.cell_with("Scaled.factor = factor"), SCALED)
    assert sheet.checked("01.3") == "solved"
    sheet.write(sheet.cell_with("class Mul("), MUL)
    assert sheet.checked("01.4") == "solved"
    sheet.write(sheet.cell_with("class Leaky("), f"{LEAKY}\n\n\n{CLEAN}")
    assert sheet.checked("01.5") == "solved"
    sheet.book.do("docmanager:save")


def kept(lab: Lab) -> list[dict[str, Any]]:
    text = (lab.folder / "progress.jsonl").read_text("utf8")
    return [json.loads(line) for line in text.splitlines()]


def test_lessons_00_and_01_by_keyboard_then_closed_and_opened_again(
    browser: Browser, home: Path
) -> None:
    with running_lab(home) as lab:
        context = browser.new_context(viewport={"width": 1400, "height": 950})
        context.set_default_timeout(30_000)
        page = context.new_page()
        do_lesson_00(page, lab)
        do_exercises_00(page, lab)
        do_lesson_01(page, lab)
        context.close()
        solved = {e["exercise"] for e in kept(lab) if e.get("state") == "solved"}
        assert len(solved) == 8

    with running_lab(home) as lab:
        context = browser.new_context(viewport={"width": 1400, "height": 950})
        context.set_default_timeout(30_000)
        page = context.new_page()
        lesson = opened(page, lab, f"notebooks/{START}.ipynb")
        progress = lesson.cell_with("course.progress(")
        lesson.run(progress)
        shown = lesson.book.html_of(progress)
        assert "3 of 3 exercises solved" in shown
        assert "Next: 02.1" in shown
        lesson.run(lesson.cell_with("class Product("))
        order = lesson.cell_with('"00.order"')
        lesson.run(order)
        cell = lesson.book.element(order)
        cell.wait_for_selector("text=You said: the lines of forward again")
        cell.wait_for_selector("iframe")
        because = lesson.cell_with("course.because(")
        lesson.run(because)
        box = lesson.book.element(because).wait_for_selector("textarea")
        assert box is not None
        assert box.input_value() == "the slopes depend on the inputs"
        sheet = opened(page, lab, f"exercises/{CTX}/01_exercises.ipynb")
        lines = sheet.cell_with('exercise("01.2")')
        sheet.run(lines)
        sheet.book.element(lines).wait_for_selector("[data-state=solved]")
        context.close()
