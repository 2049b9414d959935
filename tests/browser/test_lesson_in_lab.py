"""Lesson 01 in a real JupyterLab: every player shows what its records say."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Frame, Page

from tests.browser.conftest import ALL_OPEN
from tests.browser.laboratory import LESSON, LINES, Lab, Notebook, go
from tests.browser.seen import on_screen, unreadable
from tests.browser.told import Trace, differences, told, trace_in
from tests.views.folding import stops_of

Event = dict[str, Any]

# The lesson's player that opens without a prediction.
BACKWARD = 0


@pytest.fixture(scope="module")
def lesson(page: Page, lab: Lab, errors_of_module: list[str]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = Notebook(page, lab, LESSON)
    notebook.run_all()
    return notebook


def at_start(lesson: Notebook, number: int) -> tuple[Frame, Trace]:
    """The player with this number, all open, at its first position; its recording."""
    index = lesson.players()[number]
    frame = lesson.player(index)
    frame.evaluate(ALL_OPEN)
    go(frame, 0)
    return frame, trace_in(lesson.html_of(index))


def key(name: str) -> Callable[[Frame], None]:
    return lambda frame: frame.press("#player", name)


def button(name: str) -> Callable[[Frame], None]:
    return lambda frame: frame.get_by_role("button", name=name, exact=True).click()


TEN_FORWARD = [key("ArrowRight"), button("Step")] * 5
THREE_BACK = [key("ArrowLeft"), button("Step back"), key("ArrowLeft")]


def test_all_cells_of_the_lesson_run(lesson: Notebook) -> None:
    code = [cell for cell in lesson.cells() if cell["type"] == "code"]
    assert all(cell["count"] for cell in code)
    for cell in code:
        raised = "error" in [output["output_type"] for output in cell["outputs"]]
        assert raised == ("raises-exception" in cell["tags"]), cell["source"]


def test_lines_of_text_have_about_70_characters(lesson: Notebook) -> None:
    lesson.assert_lines_of_about_70()


def test_notebook_that_is_not_of_the_course_keeps_its_lines(
    lesson: Notebook, lab: Lab
) -> None:
    text = nbformat.v4.new_markdown_cell("word " * 99)
    kernel = {"name": "python3", "display_name": "Python 3"}
    book = nbformat.v4.new_notebook(cells=[text], metadata={"kernelspec": kernel})
    nbformat.write(book, lab.folder / "mine.ipynb")
    page = lesson.page.context.new_page()
    widths = Notebook(page, lab, "mine.ipynb").page.evaluate(LINES)
    page.close()
    assert min(widths) > 85


def test_ten_steps_forward_and_three_back_show_what_the_records_say(
    lesson: Notebook,
) -> None:
    frame, trace = at_start(lesson, BACKWARD)
    assert differences(on_screen(frame), told(trace, 0)) == []
    way = [*range(1, 11), 9, 8, 7]
    for move, stop in zip(TEN_FORWARD + THREE_BACK, way, strict=True):
        move(frame)
        position = stops_of(trace)[stop]
        screen = on_screen(frame)
        assert screen["position"] == position
        assert differences(screen, told(trace, position)) == []


def other_sentence(happened: list[Event]) -> None:
    happened[-1]["say"] += " Or not."


def other_node(happened: list[Event]) -> None:
    happened.append({**happened[-1], "k": "node.exit", "n": "n0"})


def other_edge(happened: list[Event]) -> None:
    sent = [event for event in happened if event["k"] == "grad"]
    sent[0]["k"] = "grad.none"


def other_entry(happened: list[Event]) -> None:
    changes = [event["ctx"] for event in happened if "ctx" in event]
    shown = [change for change in changes if change["id"] == happened[-1]["cid"]]
    shown[-1]["set"]["needs_input_grad"] = {"t": "P", "r": "(False,)"}


def other_ctx(happened: list[Event]) -> None:
    happened[-1]["cid"] = "c1"


@pytest.mark.parametrize(
    ("alter", "shows"),
    [
        (other_sentence, "say"),
        (other_node, "nodes"),
        (other_edge, "edges"),
        (other_entry, "ctx"),
        (other_ctx, "ctx"),
    ],
)
def test_an_altered_record_differs_from_the_screen(
    lesson: Notebook, alter: Callable[[list[Event]], None], shows: str
) -> None:
    frame, trace = at_start(lesson, BACKWARD)
    events = trace["events"]
    sent = [event["k"] for event in events].index("grad")
    position = next(
        stop
        for stop in stops_of(trace)
        if stop > sent + 1 and "cid" in events[stop - 1]
    )
    go(frame, position)
    screen = on_screen(frame)
    assert differences(screen, told(trace, position)) == []
    happened = copy.deepcopy(trace["events"][:position])
    alter(happened)
    altered = told({**trace, "events": happened}, len(happened))
    found = [line.split(":")[0] for line in differences(screen, altered)]
    assert shows in found


def test_an_altered_line_differs_from_the_screen(lesson: Notebook) -> None:
    frame, trace = at_start(lesson, BACKWARD)
    lines = [i for i, event in enumerate(trace["events"]) if event["k"] == "line"]
    go(frame, lines[-1] + 1)
    told_of_line: dict[str, Any] = told(trace, lines[-1] + 1)
    assert differences(on_screen(frame), told_of_line) == []
    told_of_line["line"] += "  # or not"
    (found,) = differences(on_screen(frame), told_of_line)
    assert found.startswith("line:")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_sentence_and_code_are_readable_at_every_stop(
    lesson: Notebook, theme: str
) -> None:
    lesson.use_theme(theme)
    frame, trace = at_start(lesson, BACKWARD)
    for stop in stops_of(trace):
        go(frame, stop)
        assert unreadable(frame, "#player p, #player .code .text") == {}
