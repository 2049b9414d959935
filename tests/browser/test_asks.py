"""A question of a recording: the steps wait for the answer, and show it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from minigrad.views.recording import Recording
from tests.browser.conftest import READY, Open
from tests.views import stories

QUESTION = "What will x.grad be?"


def asking() -> tuple[stories.Json, int]:
    """The fan-in with a question before x.grad changes, and where it stands."""
    recording = Recording(stories.fan_in())
    recording.ask(QUESTION, ["2", "3", "5"], "5", before="x.grad was empty")
    kinds = [event["k"] for event in recording.data["events"]]
    return recording.data, kinds.index("ask") + 1


def position(page: Page) -> Any:
    return page.evaluate("player.player.position")


def commit(page: Page, choice: str) -> None:
    page.get_by_role("radio", name=choice).check()
    page.get_by_role("button", name="Commit").click()


def test_no_way_leads_past_a_question_without_an_answer(play: Open) -> None:
    data, place = asking()
    page = play(data)
    page.keyboard.press("End")
    assert position(page) == place
    page.keyboard.press("ArrowRight")
    assert position(page) == place
    assert page.evaluate("document.activeElement.type") == "radio"
    page.evaluate("at => player.player.go(at)", len(data["events"]))
    assert position(page) == place
    page.get_by_role("button", name="Commit").click()
    assert page.get_by_text("Choose an answer first.").is_visible()
    commit(page, "5")
    page.keyboard.press("End")
    assert position(page) == len(data["events"])


def test_playing_stops_at_the_question(play: Open) -> None:
    data, place = asking()
    page = play(data, place - 1)
    page.keyboard.press(" ")
    assert position(page) == place
    assert page.get_by_role("button", name="Play", exact=True).is_visible()


def test_answer_is_committed_by_keyboard_and_shown_beside_the_outcome(
    play: Open,
) -> None:
    data, place = asking()
    page = play(data, place)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    asked = page.locator(".ask")
    assert asked.inner_text().startswith(f"{QUESTION} You said: 3")
    assert "5" not in asked.inner_text()
    page.keyboard.press("ArrowRight")
    assert position(page) == place + 1
    assert "✗ No: 5" in asked.inner_text()
    page.evaluate("player.player.go(1)")
    assert asked.is_hidden()


def test_right_answer_is_said_and_kept_through_a_reload(play: Open) -> None:
    data, place = asking()
    page = play(data, place)
    commit(page, "5")
    page.keyboard.press("ArrowRight")
    page.reload()
    page.wait_for_function(READY)
    assert position(page) == place + 1
    assert "✓ Right: 5" in page.locator(".ask").inner_text()


def test_presenter_asks_a_room_and_hides_an_answer_given_before(play: Open) -> None:
    data, place = asking()
    page = play(data, place)
    commit(page, "2")
    box = page.locator("section.ask")
    assert "You said: 2" in box.inner_text()
    page.keyboard.press("p")
    assert "Predict now" in box.inner_text()
    assert "You said" not in box.inner_text()
    assert box.locator("input, .right").count() == 0
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert position(page) > place
    assert box.locator("li.right").inner_text() == "5"
    page.keyboard.press("p")
    assert "You said: 2" in box.inner_text()


def test_presenter_needs_no_answer_to_go_on_and_leaves_none(play: Open) -> None:
    data, place = asking()
    page = play(data, place)
    page.keyboard.press("p")
    page.keyboard.press("End")
    assert position(page) == len(data["events"])
    assert page.locator(".clock").inner_text().startswith("0:")
    page.keyboard.press("p")
    assert position(page) == place
    assert page.get_by_role("button", name="Commit").is_visible()
