"""What is told of ctx beside its values, and of the memory that is kept alive."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

import minigrad as mg
from minigrad.tracing.values import bytes_text
from minigrad.views.recording import record
from tests.browser.conftest import Open
from tests.browser.seen import unreadable
from tests.browser.test_player_page import real
from tests.tracing import happenings
from tests.tracing.test_advice import advised, keeps, running
from tests.views import stories
from tests.views.folding import bytes_alive, memory_at, stops_of


def told_at(page: Page, position: int) -> Any:
    """The lines below each entry of ctx."""
    return page.evaluate(
        """at => {
          player.player.go(at);
          const rows = [...document.querySelectorAll(".pane.ctx [data-key]")];
          const lines = (row) => [...row.querySelectorAll(".more p")];
          return Object.fromEntries(
            rows.map((row) => [row.dataset.key, lines(row).map((p) => p.textContent)]),
          );
        }""",
        position,
    )


def changed_twice() -> tuple[stories.Json, int]:
    data = stories.mul_constant()
    first = next(i for i, e in enumerate(data["events"]) if e["k"] == "ctx.save")
    again = copy.deepcopy(data["events"][first])
    again["ctx"]["set"] = {"attr.constant": stories.plain("20")}
    again |= {"k": "phase", "say": "The constant changes."}
    data["events"].insert(first + 1, again)
    return data, first + 2


def test_change_of_an_entry_is_shown_as_old_and_new(play: Open) -> None:
    data, at = changed_twice()
    page = play(data)
    assert told_at(page, at)["attr.constant"] == ["changed: 10 → 20"]
    assert told_at(page, at - 1).get("attr.constant", []) == []
    after = next(stop for stop in stops_of(data) if stop > at)
    assert told_at(page, after).get("attr.constant", []) == []


def test_saved_values_are_stale_from_the_very_step_that_changes_them(
    play: Open,
) -> None:
    data = happenings.recorded(happenings.changed_after_saving).data
    (at,) = [i for i, e in enumerate(data["events"], 1) if e["k"] == "inplace"]
    page = play(data, at - 1)
    saved = page.locator('.pane.ctx [data-key^="saved"]')
    assert "now v1" not in " ".join(saved.all_inner_texts())
    page.evaluate("at => player.player.go(at)", at)
    assert "CubeBackward" in page.locator(".pane.ctx .note").inner_text()
    assert "saved at version 0, now version 1" in saved.first.inner_text()
    others = page.evaluate(
        "at => Object.values(player.player.story.stateAt(at).ctxs)"
        ".flatMap(Object.values).filter((ref) => ref?.now === 1).length",
        at,
    )
    assert others == 2


def test_needs_input_grad_is_said_with_the_arguments_of_the_call(play: Open) -> None:
    data = real()
    page = play(data)
    made = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.new")
    says = told_at(page, made)["needs_input_grad"]
    assert says == ["x needs a gradient; 10 needs none"]


def test_saved_entry_says_its_bytes_and_who_let_go(play: Open) -> None:
    data = real()
    page = play(data)
    owner = next(c["node"] for c in data["ctxs"] if c["name"] == "MulConstantBackward")
    kept = freed = 0
    for stop in stops_of(data):
        lines = told_at(page, stop).get("saved.0", [])
        shown = page.locator(".pane.ctx .note").text_content() or ""
        held = memory_at(data, stop).values()
        (item,) = [i for i in held if (i["owner"], i["key"]) == (owner, "saved.0")] or [
            None
        ]
        if item is None or "MulConstantBackward" not in shown:
            continue
        if "until" in item:
            at = stops_of(data).index(item["until"])
            assert f"8 bytes, released at step {at}: {item['by']}" in lines
            freed += 1
        else:
            at = stops_of(data).index(item["at"])
            assert f"keeps 8 bytes alive since step {at}" in lines
            kept += 1
    assert kept
    assert freed


def test_timeline_says_at_every_stop_what_is_alive(play: Open) -> None:
    data = real()
    page = play(data)
    most = 0
    for stop in stops_of(data):
        page.evaluate("at => player.player.go(at)", stop)
        alive = bytes_alive(memory_at(data, stop))
        most = max(most, alive)
        summary = page.locator(".memory summary").inner_text()
        assert (f"so far: {bytes_text(most)}," in summary) == (most > 0)
        total = page.locator(".sums > :first-child").text_content()
        assert total == bytes_text(alive)
        sentence = page.locator(".tracks").get_attribute("aria-label") or ""
        assert f"Now {bytes_text(alive)}: " in sentence
    assert most > 0
    assert (
        f"(the most so far: {bytes_text(most)},"
        in page.locator(".memory summary").inner_text()
    )


def test_timeline_gives_nothing_away_of_what_is_to_come(play: Open) -> None:
    data = real()
    page = play(data)
    owners = page.locator("button.owner")
    names = owners.all_text_contents()
    assert len(names) > 1
    assert (
        page.locator(".memory summary").inner_text()
        == "Memory in boxes and .grad: nothing yet"
    )
    seen = []
    for stop in stops_of(data):
        page.evaluate("at => player.player.go(at)", stop)
        held = memory_at(data, stop).values()
        there = [one.inner_text() for one in owners.all() if one.is_visible()]
        assert set(there) == {item["of"] for item in held}
        seen.append(len(there))
    assert seen[0] == 0
    assert seen[-1] == len(names)


def test_locals_say_of_which_moment_they_are(play: Open) -> None:
    data = real()
    page = play(data)
    summary = page.locator(".locals summary")
    said = set()
    for stop in stops_of(data)[1:]:
        page.evaluate("at => player.player.go(at)", stop)
        event = data["events"][stop - 1]
        if summary.is_hidden() or event["k"] not in ("line", "call", "return"):
            continue
        source = data["sources"][event["s"]]
        words = {
            "line": f"before line {source['first'] + event['l']}",
            "call": "at its start",
            "return": "at its end",
        }
        text = summary.inner_text()
        assert text == f"locals of {source['name']} {words[event['k']]}"
        said.add(event["k"])
    assert "line" in said


def test_variable_is_shown_until_it_is_deleted(play: Open) -> None:
    def program() -> None:
        x = mg.ones(2)
        y = x * 2
        del x
        try:
            y = None
            raise KeyError
        except KeyError as error:
            x = str(error)
        del y
        x.upper()

    trace = mg.step(program)
    page = play(trace.data)
    label = ".pane.ctx .locals dt"
    seen = []
    for at, event in enumerate(trace.data["events"], 1):
        if event["k"] in ("line", "return"):
            page.evaluate("at => player.player.go(at)", at)
            names = " ".join(page.locator(label).all_inner_texts())
            if seen[-1:] != [names]:
                seen.append(names)
    assert seen == ["", "x", "x y", "y", "y error", "y x", "x"]
    page.locator(label).get_by_role("button").click()
    deeds = [
        text.split(" ", 1)[1] for text in page.locator(".found li").all_inner_texts()
    ]
    assert deeds == ["set", "deleted", "set"]


def test_click_on_the_timeline_goes_to_that_step(play: Open) -> None:
    data = real()
    page = play(data)
    box = page.locator(".tracks").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 1, box["y"] + 5)
    assert page.evaluate("player.player.position") == stops_of(data)[-1]
    page.locator(".owner", has_text="x.grad").click()
    assert page.get_by_role("status").text_content() == "Steps of x.grad"
    assert page.locator(".number-box").is_hidden()


def test_recording_without_memory_has_no_timeline(play: Open) -> None:
    data = stories.fan_in()
    for event in data["events"]:
        event.pop("mem", None)
    assert play(data).locator(".memory").is_hidden()


def test_advice_of_teaching_mode_stands_at_its_step_with_the_line(play: Open) -> None:
    trace = advised(running(keeps()))
    data = trace._pictured()
    page = play(data)
    at = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "lint")
    shown = page.locator(".pane.ctx .advice")
    for position, there in ((at - 1, False), (at, True), (at + 1, True), (0, False)):
        page.evaluate("at => player.player.go(at)", position)
        assert shown.is_visible() == there, position
    page.evaluate("at => player.player.go(at)", at)
    number, text = data["events"][at - 1]["advice"]["line"]
    words = shown.inner_text()
    assert "⚠ Keeps.forward: ctx.kept is a Tensor kept as an attribute." in words
    assert f"line {number}: {text}" in words
    assert "fix: use ctx.save_for_backward(kept)" in words
    assert unreadable(page.main_frame, "#player") == {}


def test_recording_without_advice_shows_none(play: Open) -> None:
    data = advised(running(keeps()), mode=False)._pictured()
    page = play(data, len(data["events"]) // 2)
    assert page.locator(".pane.ctx .advice").is_hidden()


GRADIENTS = {
    "nan": ([[1.0, math.nan, -2.0]], 1),
    "inf": ([[1.0, -math.inf, 1.0]], 0),
    "empty": (np.ones((0, 3)), 0),
    "plain": ([[1.0, 2.0, -3.0]], 0),
}


@pytest.mark.parametrize("kind", GRADIENTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_no_number_is_marked_wherever_a_value_is_shown(
    play: Open, kind: str, scheme: Any
) -> None:
    gradient, count = GRADIENTS[kind]

    def program() -> None:
        x = mg.ones(np.shape(gradient), requires_grad=True)
        (x * 1).backward(mg.tensor(np.asarray(gradient)))

    trace = mg.step(program)
    added = next(e for e in trace.data["events"] if e["k"] == "grad.accumulate")
    page = play(trace._pictured(), trace.data["events"].index(added) + 1)
    page.emulate_media(color_scheme=scheme)
    slot = page.locator(".pane.graph .slot")
    said = "\u00d7".join(map(str, np.shape(gradient)))
    assert slot.locator(".value").text_content() == (
        f"1 {kind}" if count or kind == "inf" else said
    )
    assert slot.locator(".odd").count() == (kind in ("nan", "inf"))
    page.locator(".pane.graph .slot .hit").click()
    cells = page.locator(".number-table .cell")
    assert cells.count() == np.size(gradient)
    marked = page.locator(".number-table .cell.nan")
    assert marked.all_inner_texts() == ["nan"] * count
    lines = "el => getComputedStyle(el).backgroundImage"
    drawn = [cell.evaluate(lines) != "none" for cell in cells.all()]
    assert drawn.count(True) == count
    assert unreadable(page, ".number-box") == {}
    page.emulate_media(color_scheme="light")


def test_number_is_written_alike_by_the_sentence_and_by_the_panes(play: Open) -> None:
    factors = mg.tensor([0.015625, -1.0625, 12345.0, 0.00048828125])
    x = mg.tensor([1.0, 1.0, 1.0, 1.0], requires_grad=True)
    with record() as recording:
        (x * factors).sum().backward()
    events = recording.data["events"]
    place = [event["k"] for event in events].index("grad.accumulate") + 1
    written = ["0.01562", "-1.062", "12345", "4.88e-4"]  # ties go to the even digit
    assert events[place - 1]["say"].endswith(f"[{', '.join(written)}].")
    page = play(recording.data, place)
    page.locator(".pane.graph .slot .hit").click()
    assert page.locator(".number-table .cell").all_inner_texts() == written
