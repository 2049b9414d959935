"""Asking a number in the player: by a click, by keys; the words are those of Python."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Page

import minigrad as mg
from minigrad import errors
from tests.browser.conftest import Open
from tests.browser.seen import unreadable
from tests.browser.test_accessible import AXE, Framed, framed, violations
from tests.views.test_numbers import fan_in, products

__all__ = ["framed"]

SHOWN = """
([node, output, cell]) => {
  const { player } = document.getElementById("player");
  player.numbers.ask(node, output, cell);
  const box = document.querySelector(".number-box");
  const rows = [...box.querySelectorAll("li")].map((row) => [
    row.querySelector(".addend").textContent,
    row.querySelector(".terms")?.textContent || "",
  ]);
  return [box.querySelector(".number-say").textContent, rows];
}
"""


SAID = """
(end) => {
  const said = new Set();
  for (let at = 0; at <= end; at++) {
    player.player.go(at);
    said.add(document.querySelector(".number-say").textContent);
  }
  return [...said];
}
"""


def twice() -> None:
    x = mg.tensor([1.0, -2.0], requires_grad=True)
    one, other = (x * x).split(1)
    y = one * -3 + other / 3
    y.register_hook(lambda g: g * 0.7)
    for _ in range(2):
        y.sum().backward(retain_graph=True)


@pytest.mark.parametrize("program", [fan_in, products, twice])
def test_player_tells_at_the_end_what_python_tells(look: Open, program: Any) -> None:
    trace = mg.step(program)
    page = look(trace._pictured(), len(trace))
    asked = 0
    for node in trace.data["graph"]["nodes"]:
        for output, cell in product(range(node["outputs"]), [None, (0, 0), (0, 1)]):
            try:
                told = trace.explain(node["id"], cell, output=output)
            except errors.ArgumentValueError:
                continue  # it has no such element
            rows = [[f"{one.text} {one.source}", one.said] for one in told.addends]
            shown = page.evaluate(SHOWN, [node["id"], output, cell])
            assert shown == [told.sentence, rows]
            asked += any(said[:1].isdigit() for _, said in rows)
    assert asked > 1


def opened(look: Open) -> tuple[Page, Any]:
    """The product of matrices at the step in which ``a`` gets its gradient."""
    trace = mg.step(products)
    data = trace._pictured()
    at = next(
        i
        for i, event in enumerate(data["events"], 1)
        if event["k"] == "grad.accumulate" and "a.grad" in event["say"]
    )
    return look(data, at), data


def escape(page: Page) -> None:
    """Leave what was asked; the tip of what has the focus goes first."""
    if page.locator(".tip").is_visible():
        page.keyboard.press("Escape")
    page.keyboard.press("Escape")


def focused(page: Page) -> Any:
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_click_on_a_node_tells_its_sum_and_escape_takes_it_away(look: Open) -> None:
    trace = mg.step(fan_in)
    page = look(trace._pictured(), len(trace))
    box = page.locator(".number-box")
    assert box.is_hidden()
    page.locator("g.node", has_text="SquareBackward").click()
    say = box.locator(".number-say")
    assert say.text_content() == trace.explain("SquareBackward").sentence
    assert page.locator(".found").is_visible()
    escape(page)
    assert box.is_hidden()
    assert page.locator(".found").is_visible()
    page.evaluate("player.player.go(0)")
    page.locator("g.node", has_text="SquareBackward").click()
    assert box.is_hidden()


def test_addend_lights_the_consumer_and_the_edge_it_came_by(look: Open) -> None:
    trace = mg.step(fan_in)
    page = look(trace._pictured(), len(trace))
    page.locator("g.node", has_text="SquareBackward").click()
    lit = page.locator(".graph .asked")
    assert lit.count() == 0
    addend = page.locator(".addend", has_text="ExpBackward0")
    addend.hover()
    assert lit.count() == 2
    page.mouse.move(0, 0)
    assert lit.count() == 0
    addend.click()
    page.mouse.move(0, 0)
    assert lit.count() == 2
    assert "ExpBackward0" in " ".join(lit.all_text_contents())
    assert addend.get_attribute("aria-pressed") == "true"
    escape(page)
    assert lit.count() == 0


def test_number_of_a_gradient_is_asked_by_keys_alone(play: Open) -> None:
    page, _ = opened(play)
    before = page.evaluate("player.player.position")
    page.keyboard.press("=")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "element [0, 1]: 11"
    page.keyboard.press("Enter")
    assert page.evaluate("player.player.position") == before
    assert "a[0, 1]: 11, from MmBackward0" in page.locator(".number-say").inner_text()
    assert "11 = 2·1 + 3·3" in page.locator(".terms").inner_text()
    assert focused(page) == "element [0, 1]: 11"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert "a[0, 2]: " in page.locator(".number-say").inner_text()
    assert focused(page).startswith("element [0, 2]")
    escape(page)
    assert page.locator(".number-box").is_hidden()
    assert page.evaluate("document.activeElement.id") == "player"


def test_equals_key_asks_the_node_with_the_focus_or_the_one_spoken_of(
    look: Open,
) -> None:
    page, _ = opened(look)
    page.keyboard.press("=")
    assert "Arrived at AccumulateGrad of a" in page.locator(".number-say").inner_text()
    escape(page)
    assert page.evaluate("document.activeElement.id") == "player"
    page.locator("g.node", has_text="MmBackward0").locator(".hit").focus()
    page.keyboard.press("=")
    assert "Arrived at MmBackward0" in page.locator(".number-say").inner_text()
    escape(page)
    assert "MmBackward0" in focused(page)


def test_panel_goes_on_with_the_steps_and_back(look: Open) -> None:
    trace = mg.step(fan_in)
    page = look(trace._pictured(), len(trace))
    page.locator("g.node", has_text="SquareBackward").click()
    last = page.locator(".number-say").inner_text()
    page.evaluate("player.player.go(0)")
    first = page.locator(".number-say").inner_text()
    assert first == "No gradient has come to SquareBackward so far."
    says = page.evaluate(SAID, len(trace))
    assert says[1:] == [
        "Nothing has arrived at SquareBackward yet. Still to come: what ExpBackward0, "
        "AddBackward0, MulBackward0 will send.",
        "Arrived at SquareBackward until now: 0, from ExpBackward0 alone. "
        "Still to come: what AddBackward0, MulBackward0 will send.",
        "Arrived at SquareBackward until now: 1 = 0 (from ExpBackward0) + 1 (from "
        "AddBackward0). Still to come: what MulBackward0 will send.",
        last,
    ]
    page.keyboard.press("End")
    assert page.locator(".number-say").inner_text() == last


def test_values_that_are_no_gradient_cannot_be_asked(look: Open) -> None:
    page, _ = opened(look)
    page.keyboard.press("=")
    assert page.locator(".number-table button.cell").count() == 6
    assert page.locator(".entries button.cell, .locals button.cell").count() == 0


@pytest.mark.parametrize(("light", "width"), [(True, 1400), (False, 800)])
def test_panel_is_for_everybody(framed: Framed, light: bool, width: int) -> None:
    trace = mg.step(products)
    frame = framed(trace, light, width)
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    frame.evaluate("at => player.player.go(at)", len(trace) - 1)
    node = next(n for n in trace.data["graph"]["nodes"] if n["tensor"] == "a")["id"]
    frame.evaluate(f"player.player.numbers.ask('{node}', 0, [0, 1], true)")
    frame.evaluate("document.querySelector('.addend').click()")
    assert unreadable(frame, "#player") == {}
    assert violations(frame) == []
    box = frame.evaluate(
        "(() => { const b = document.querySelector('.number-box'); "
        "return [b.scrollWidth <= b.clientWidth, b.getBoundingClientRect().right]; })()"
    )
    assert box[0]
    assert box[1] <= width
    frame.evaluate("document.querySelector('.number-say').style.color = '#777'")
    assert "color-contrast" in {name for name, _ in violations(frame)}


def test_tip_does_not_lie_on_the_answer_to_a_click(look: Open) -> None:
    page, _ = opened(look)
    page.evaluate("player.player.go(1e6)")
    page.locator("g.node").first.click()
    tip, said = (page.locator(one).bounding_box() for one in (".tip", ".number-box"))
    assert tip is not None
    assert said is not None
    assert tip["y"] + tip["height"] <= said["y"]
