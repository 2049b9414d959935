"""A whole lesson and all its exercises in JupyterLab, by the keyboard alone."""

from __future__ import annotations

import ast
import json
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page

from minigrad.course.author import build
from minigrad.course.exercises import catalogue
from tests.browser.laboratory import Lab
from tests.browser.typist import Typist, opened

ROOT = Path(__file__).resolve().parents[2]
LESSON = "04_who_needs_a_gradient"


def play_to_the_end(lesson: Typist, index: int) -> None:
    """Into the player by Tab, on by the arrow, to the end, and out by Escape."""
    frame = lesson.book.player(index)
    lesson.tab_to("IFRAME")
    lesson.press("ArrowRight", "ArrowRight", "End")
    frame.wait_for_function(
        "() => document.querySelector('#player').player.position > 2"
    )
    lesson.press("Escape")


def do_lesson(page: Page, lab: Lab) -> None:
    """Run each cell in its order, answer what asks, step through what plays."""
    lesson = opened(page, lab, f"notebooks/{LESSON}.ipynb")
    played = 0
    for index, cell in enumerate(lesson.book.cells()):
        if cell["type"] != "code":
            continue
        source = cell["source"]
        if "course.predict(" in source:
            *_, call = ast.parse(source).body
            choices = ast.literal_eval(call.value.args[2])
            lesson.choose(index, [choices[-1]])
            continue
        lesson.run(index)
        if source.startswith("%%step"):
            play_to_the_end(lesson, index)
            played += 1
        if "course.because(" in source:
            lesson.book.element(index).wait_for_selector("textarea")
            lesson.tab_to("Because ...")
            page.keyboard.insert_text("what lies before it may learn")
            lesson.tab_to("Keep")
            lesson.press("Space")
            lesson.book.element(index).wait_for_selector("text=Kept.")
    assert played


def fill_in(sheet: Typist, index: int, answer: str) -> None:
    """Answer the questions of a panel as the solution's ``check`` line says."""
    (line,) = ast.parse(answer).body
    name, said = map(ast.literal_eval, line.value.args)
    sheet.run(index)
    sheet.book.element(index).wait_for_selector("button:has-text('Commit')")
    said = list(said.values()) if isinstance(said, dict) else said
    for question, choice in zip(catalogue.load(name).questions, said, strict=True):
        if question.choices:
            sheet.tab_to("radio")
            sheet.pick(choice)
        else:
            sheet.tab_to("a short answer")
            sheet.page.keyboard.insert_text(choice)
    sheet.commit(index)


def do_exercises(page: Page, lab: Lab) -> None:
    """Write or choose the right answers, cell by cell, and run every check."""
    sheet = opened(page, lab, f"exercises/{LESSON}/{LESSON[:2]}_exercises.ipynb")
    text = (ROOT / f"solutions/src/{LESSON}.py").read_text("utf8")
    cells = [c for c in build.read_cells(text, LESSON) if not c.markdown]
    answers = {}
    for shipped, solved in pairwise(cells):
        if "solution" in solved.tags:
            answers[build.code(shipped, solved=False)] = build.code(solved, solved=True)
        elif "exercise" in shipped.tags:
            answers[build.code(shipped, solved=False)] = build.code(
                shipped, solved=True
            )
    for index, cell in enumerate(sheet.book.cells()):
        source = cell["source"]
        answer = answers.get(source, source)
        if cell["type"] != "code" or source.startswith("hint("):
            continue
        if source.startswith("exercise("):
            fill_in(sheet, index, answer)
        elif answer != source:
            sheet.write(index, answer)
        else:
            sheet.run(index)


def test_full_lesson_with_its_exercises_by_keyboard(page: Page, lab: Lab) -> None:
    do_lesson(page, lab)
    do_exercises(page, lab)
    lines = (lab.folder / "progress.jsonl").read_text("utf8").splitlines()
    entries = [json.loads(line) for line in lines]
    solved = {e["exercise"] for e in entries if e.get("state") == "solved"}
    assert solved == {n for n in catalogue.names() if n.startswith(LESSON[:2])}
