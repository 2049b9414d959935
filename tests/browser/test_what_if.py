"""A value typed over another, and what would be beside what was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page

import minigrad as mg
from minigrad.autograd.graph import saved_tensors_hooks
from tests.browser.conftest import Open
from tests.browser.seen import on_screen, unreadable
from tests.browser.test_accessible import AXE, OUTSIDE, RUN_AXE
from tests.browser.test_live_player import Notebook, leaf, live

NODE = "SquareBackward is ready and runs next"


class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mg.Tensor, factor: float) -> mg.Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * factor

    @staticmethod
    def backward(ctx: Any, grad_output: mg.Tensor) -> tuple[mg.Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x * ctx.factor, None


def program(x: mg.Tensor) -> None:
    y = Square.apply(x, 2.0)
    (y * 3).sum().backward()


@pytest.fixture(scope="module")
def notebook(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Notebook:
    return Notebook(page, tmp_path_factory.mktemp("what if") / "notebook.html")


def step_of(data: dict[str, Any], words: str) -> int:
    return next(i for i, e in enumerate(data["events"], 1) if words in e["say"])


def choose(page: Any, what: str) -> None:
    """Click on an entry of ctx, or on the node that is spoken of."""
    if what != "node":
        page.locator(f'.pane.ctx .entry[data-what="{what}"]').click()
        return
    node = page.evaluate("player.player.view.event.n")
    page.locator(f"#mg_{node} > .hit").dispatch_event("click")


def opened(notebook: Notebook, value: Any, what: str, words: str = NODE) -> Frame:
    """A live player at a step, with something in the ctx pane clicked."""
    notebook.show(live(program, x=leaf(value)))
    notebook.go(step_of(notebook.player.recording.data, words))
    choose(notebook.frame, what)
    return notebook.frame


@pytest.mark.parametrize(
    ("what", "starts", "typed", "says"),
    [
        ("entry c0 saved.0", "3.0", "5", "Then x.grad is 60 instead of 36."),
        ("entry c0 attr.factor", "2.0", "0.5", "Then x.grad is 9 instead of 36."),
        ("node", "3.0", "1.0", "Then x.grad is 12 instead of 36."),
    ],
)
def test_value_typed_over_another_shows_what_would_be(
    notebook: Notebook, what: str, starts: str, typed: str, says: str
) -> None:
    frame = opened(notebook, 3.0, what)
    entry = frame.locator(".what-if input")
    assert entry.input_value() == starts
    entry.fill(typed)
    entry.press("Enter")
    frame.wait_for_selector(".beside .difference")
    assert says in frame.inner_text(".beside .difference")
    titles = frame.locator(".side > .sentence h2").all_inner_texts()
    assert titles == ["the original", "your edit"]
    shown = frame.locator(".side .say").all_inner_texts()
    assert shown[1].startswith("What if: ")
    assert frame.locator(".side .what-if:visible").count() == 0


def test_escape_brings_back_what_was(notebook: Notebook) -> None:
    frame = opened(notebook, 3.0, "entry c0 saved.0")
    before = on_screen(frame)
    frame.locator(".what-if input").fill("5")
    frame.locator(".what-if input").press("Enter")
    frame.wait_for_selector(".beside")
    assert frame.locator(".beside > button").evaluate(
        "button => button === document.activeElement"
    )
    notebook.page.keyboard.press("Escape")
    assert frame.locator(".beside").count() == 0
    assert on_screen(frame) == before
    focused = "document.activeElement.closest('.what-if') !== null"
    assert frame.evaluate(focused)
    notebook.page.mouse.move(0, 0)  # a tip under the pointer would be closed first
    notebook.page.keyboard.press("Escape")
    assert frame.locator(".found").is_hidden()


def test_elements_that_were_not_typed_over_stay_exact(notebook: Notebook) -> None:
    frame = opened(notebook, [1 / 3, 2.0], "entry c0 saved.0")
    entry = frame.locator(".what-if input")
    assert entry.input_value() == "[0.333333, 2.0]"
    entry.fill("[0.333333, 5.0]")
    entry.press("Enter")
    frame.wait_for_selector(".beside")
    said = frame.inner_text(".beside .difference")
    assert "Then x.grad is [4, 60] instead of [4, 24]." in said
    new = notebook.said[-1]["content"]["traces"][1]
    (event,) = [e for e in new["events"] if e["k"] == "grad.accumulate"]
    kept = new["values"][event["new"]["v"]]["rows"][0][0]
    assert kept == 4.0  # 12 times a third, not 12 times 0.333333


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("3.0", "That's its value already"),
        ("five", "'five' can't be read"),
        ("[1, 2]", "has shape [], and the new one [2]"),
    ],
)
def test_what_cannot_be_is_said_beside_the_line(
    notebook: Notebook, typed: str, says: str
) -> None:
    frame = opened(notebook, 3.0, "entry c0 saved.0")
    frame.locator(".what-if input").fill(typed)
    frame.locator(".what-if input").press("Enter")
    frame.locator(".what-if .problem", has_text=says).wait_for()
    assert frame.locator(".beside").count() == 0


def test_change_of_an_input_ends_the_comparison(notebook: Notebook) -> None:
    frame = opened(notebook, 3.0, "entry c0 saved.0")
    frame.locator(".what-if input").fill("5")
    frame.locator(".what-if input").press("Enter")
    frame.wait_for_selector(".beside")
    notebook.slide("x", 2.5)
    assert frame.locator(".beside").count() == 0
    assert frame.locator(".pane.graph").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_if_can_be_read_and_used_by_all(
    notebook: Notebook, scheme: Any, tmp_path: Path
) -> None:
    notebook.page.emulate_media(color_scheme=scheme)
    light = str(scheme == "light").lower()
    theme = "light => { document.body.dataset.jpThemeLight = light; }"
    notebook.page.evaluate(theme, light)
    frame = opened(notebook, 3.0, "entry c0 saved.0")
    assert unreadable(frame, ".what-if") == {}
    frame.locator(".what-if input").fill("5")
    frame.locator(".what-if input").press("Enter")
    frame.wait_for_selector(".beside")
    assert unreadable(frame, ".beside") == {}
    frame.add_script_tag(path=AXE)
    assert frame.evaluate(RUN_AXE) == []
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    assert frame.evaluate(OUTSIDE) == []
    notebook.page.set_viewport_size({"width": 1280, "height": 720})


def test_page_without_python_has_the_line_that_asks(play: Open) -> None:
    x = leaf([1.0, 2.0])
    with mg.record(keep_values=True) as trace:
        program(x)
    at = step_of(trace.data, NODE)
    page = play(trace._drawn())
    page.evaluate("at => player.player.go(at)", at)
    lines = {}
    for what in ("entry c0 saved.0", "entry c0 attr.factor", "node"):
        choose(page, what)
        lines[what] = page.inner_text(".what-if code")
    assert list(lines.values()) == [
        f"trace.what_if({at}, saved={{0: [1.0, 2.0]}})",
        f'trace.what_if({at}, attributes={{"factor": 2.0}})',
        f"trace.what_if({at}, gradient=[3.0, 3.0])",
    ]
    for line in lines.values():
        new = eval(line, {"trace": trace})  # the very line that the page shows
        assert new.outcome == "Then everything ends as it did."


def test_line_names_one_element_of_a_large_array(play: Open) -> None:
    with mg.record(keep_values=True) as trace:
        program(mg.ones(13, requires_grad=True))
    at = step_of(trace.data, NODE)
    page = play(trace._drawn())
    page.evaluate("at => player.player.go(at)", at)
    choose(page, "node")
    line = page.inner_text(".what-if code")
    assert line == f"trace.what_if({at}, gradient={{0: {{0: 3.0}}}})"
    assert eval(line, {"trace": trace}).outcome == "Then everything ends as it did."


def test_freed_value_and_flags_have_no_such_line(play: Open) -> None:
    with mg.record(keep_values=True) as trace:
        program(leaf([1.0, 2.0]))
    page = play(trace._drawn())
    page.evaluate("at => player.player.go(at)", step_of(trace.data, "releases its 1"))
    for what in ("entry c0 saved.0", "entry c0 needs_input_grad"):
        page.locator(f'.pane.ctx .entry[data-what="{what}"]').click()
        assert page.locator(".found").is_visible()
        assert page.locator(".what-if").is_hidden()


def test_value_that_is_kept_packed_can_be_another_until_it_is_read(play: Open) -> None:
    x = leaf(3.0)
    with mg.record() as trace:
        with saved_tensors_hooks(
            lambda t: str(t.item()), lambda s: mg.tensor(float(s))
        ):
            y = Square.apply(x, 2.0)
        y.backward()
    page = play(trace.data, step_of(trace.data, NODE))
    saved = page.locator('.pane.ctx .entry[data-what="entry c0 saved.0"]')
    saved.click()
    line = page.locator(".what-if code").inner_text()
    assert "saved={0: 3.0}" in line
    page.evaluate("at => player.player.go(at)", step_of(trace.data, "reads what it"))
    saved.click()
    assert page.locator(".what-if").is_hidden()
