"""Lines put into order: dragged, by keys alone, by buttons; what is committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from minigrad.views import forms

SCRIPT = """
async ([source, styles, spec]) => {
  document.body.innerHTML = "";
  const style = document.createElement("style");
  style.textContent = styles;
  const el = document.createElement("div");
  document.body.append(style, el);
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  window.sent = [];
  const traits = { spec, outcome: "", locked: false };
  const model = {
    get: (name) => traits[name],
    on() {},
    off() {},
    send: (said) => { if (said.answer) window.sent.push(said.answer); },
  };
  widget.render({ model, el });
}
"""


@pytest.fixture
def show(page: Page) -> Any:
    """Show the form with lines a, b and c, of which ``kept`` are in the program."""

    def show(kept: list[str]) -> Page:
        lines = [{"id": name, "text": f"line {name}"} for name in "abc"]
        spec = {
            "key": "1",
            "kind": "order",
            "text": "Order them.",
            "lines": lines,
            "kept": kept,
            "press": "Commit",
            "about": "",
        }
        here = Path(forms.__file__).parent
        texts = [(here / f"forms.{kind}").read_text("utf8") for kind in ("js", "css")]
        page.evaluate(SCRIPT, [*texts, spec])
        return page

    return show


def committed(page: Page) -> list[str]:
    page.click("text=Commit")
    answers: list[list[str]] = page.evaluate("window.sent")
    return answers[-1]


def drag(page: Page, name: str, to: str, y: float) -> None:
    """Drag a line to the place ``y`` (0 top, 1 bottom) of what ``to`` selects."""
    box = page.locator(to).bounding_box()
    assert box is not None
    page.drag_and_drop(
        f"#minigrad-1-{name}",
        to,
        target_position={"x": 20, "y": 4 + y * (box["height"] - 8)},
    )


PROGRAM, REST = "ul[aria-label='Your program']", "ul[aria-label='Lines left over']"


def test_line_is_dragged_into_the_program_to_its_place_and_out(show: Any) -> None:
    page = show(["a", "b"])
    drag(page, "c", "#minigrad-1-b", 0.1)
    assert committed(page) == ["a", "c", "b"]
    drag(page, "a", PROGRAM, 1)
    assert committed(page) == ["c", "b", "a"]
    drag(page, "b", REST, 1)
    assert committed(page) == ["c", "a"]
    drag(page, "a", REST, 1)
    drag(page, "c", REST, 0)
    assert committed(page) == []
    drag(page, "b", PROGRAM, 0.5)
    assert committed(page) == ["b"]


def test_line_dropped_outside_the_lists_stays_where_it_was(show: Any) -> None:
    page = show(["a"])
    drag(page, "a", ".minigrad-head", 0.5)
    assert committed(page) == ["a"]


def test_keys_alone_move_lines_over_up_and_down(show: Any) -> None:
    page = show([])
    page.focus(REST)
    for _ in range(3):
        page.keyboard.press("Enter")
    assert committed(page) == ["a", "b", "c"]
    page.focus(PROGRAM)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    chosen = page.locator("li[aria-selected=true]")
    first = chosen.inner_text().split()[0]
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    assert committed(page)[0] == first
    active = page.get_attribute(PROGRAM, "aria-activedescendant")
    assert active == f"minigrad-1-{first}"
    page.focus(PROGRAM)
    page.keyboard.press("Enter")
    assert first not in committed(page)


def test_letter_chooses_its_line(show: Any) -> None:
    page = show([])
    page.focus(REST)
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    assert committed(page) == ["c", "b"]


def test_buttons_move_the_chosen_line(show: Any) -> None:
    page = show(["a"])
    page.click("#minigrad-1-b")
    page.click("text=Add")
    page.click("text=Earlier")
    assert committed(page) == ["b", "a"]
    page.click("text=Later")
    page.click("text=Remove")
    assert committed(page) == ["a"]
    page.dblclick("#minigrad-1-c")
    assert committed(page) == ["a", "c"]
