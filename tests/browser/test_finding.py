"""Steps that are asked for: by a click, by a key, by words; and values in full."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.browser.test_player_page import real
from tests.views import stories
from tests.views.folding import stops_of


def listed(page: Page) -> list[str]:
    return page.locator(".found li").all_text_contents()


def stop_now(page: Page) -> Any:
    return page.evaluate("player.player.stopNow()")


def test_click_on_a_node_gives_its_steps_and_goes_to_them(look: Open) -> None:
    data = stories.fan_in()
    page = look(data, len(data["events"]))
    page.locator("#mg_n1").click()
    assert page.get_by_role("status").text_content() == "Steps of MulBackward0"
    assert listed(page) == [
        "5 is added to the graph",
        "13 gradient goes",
        "21 runs",
        "23 frees",
        "24 done",
    ]
    page.get_by_role("button", name="21 runs").click()
    assert data["events"][stops_of(data)[stop_now(page)] - 1]["k"] == "node.enter"


def test_what_was_clicked_stays_where_it_is(play: Open) -> None:
    data = stories.fan_in()
    page = play(data, len(data["events"]))
    node, found = page.locator("#mg_n1"), page.locator(".found")
    before = node.bounding_box()
    node.click()
    assert found.is_visible()
    assert node.bounding_box() == before
    for _ in range(3):
        page.keyboard.press("Escape")
    assert found.is_hidden()
    page.keyboard.press("/")
    assert found.is_visible()
    assert node.bounding_box() != before


def test_n_and_its_capital_go_round_the_steps_found(look: Open) -> None:
    page = look(stories.fan_in())
    page.locator("#mg_e0 .hit").dispatch_event("click")
    found = [int(text.split()[0]) for text in listed(page)]
    seen = []
    for key in ["n", "n", "n", "N"]:
        page.keyboard.press(key)
        seen.append(stop_now(page))
    assert seen == [found[0], found[1], found[0], found[1]]
    assert page.locator(".found-marks i").count() == len(found) == 2
    page.keyboard.press("Escape")
    assert page.locator(".found").is_hidden()
    assert page.locator(".found-marks i").count() == 0


def test_question_after_a_grad_finds_only_where_it_changes(play: Open) -> None:
    data = real()
    page = play(data)
    page.keyboard.press("/")
    page.keyboard.type("where does x.grad change?")
    changes = [i for i, e in enumerate(data["events"], 1) if "x.grad" in e["say"]]
    (only,) = [i for i in changes if data["events"][i - 1]["k"] == "grad.accumulate"]
    assert listed(page) == [
        f"{stops_of(data).index(only)} {data['events'][only - 1]['say']}"
    ]
    page.keyboard.press("Enter")
    assert page.evaluate("player.player.position") == only


def test_words_that_no_sentence_has_are_not_found(look: Open) -> None:
    page = look(stories.fan_in())
    page.keyboard.press("/")
    page.keyboard.type("nonsense")
    assert page.get_by_role("status").text_content() == "No step found"
    page.keyboard.press("Enter")
    assert stop_now(page) == 0


def test_search_asks_for_all_words_and_for_beginnings(look: Open) -> None:
    page = look(stories.fan_in())
    found = "words => player.player.index.search(words, 2).map((one) => one.position)"
    sentences = [event["say"].lower() for event in stories.fan_in()["events"]]
    for words in ("ready", "mul ready", "x.grad", "ady"):
        wanted = [
            at
            for at, say in enumerate(sentences, 1)
            if all(f" {word}" in f" {say}" for word in words.split())
        ]
        assert page.evaluate(found, words) == wanted, words
    assert page.evaluate(found, "ready")
    assert not page.evaluate(found, "ady")


def test_search_knows_the_entries_of_ctx_and_what_a_step_does(look: Open) -> None:
    data = real()
    page = look(data)
    found = "words => player.player.index.search(words, 2).map((one) => one.position)"

    def kinds(words: str) -> set[str]:
        return {data["events"][at - 1]["k"] for at in page.evaluate(found, words)}

    assert "ctx.new" in kinds("needs_input_grad")
    assert kinds("which step frees saved[0]?") == {"ctx.free"}
    assert kinds("needs_output_grad") == set()


def test_click_on_a_saved_value_gives_its_steps_as_its_label_does(play: Open) -> None:
    data = stories.mul_constant()
    saved = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    page = play(data, saved)
    seen = []
    for part in (".entry", "dd .cell"):
        page.locator(f"[data-key='saved.0'] {part}").first.click()
        seen.append((page.get_by_role("status").text_content(), listed(page)))
        page.get_by_role("button", name="Close the search").click()
        assert page.locator(".found").is_hidden()
    assert seen[0] == seen[1]
    assert seen[0][0] == "Steps of saved[0]"


def test_keyboard_reaches_nodes_lines_and_entries(play: Open) -> None:
    data = stories.mul_constant()
    saved = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.put")
    page = play(data, saved)
    title = page.get_by_role("status")
    page.locator("button.number[tabindex='0']").focus()
    page.keyboard.press("Enter")
    assert (title.text_content() or "").startswith("Steps of line ")
    page.locator("[data-key='saved.0'] .entry").focus()
    page.keyboard.press("Enter")
    happened = [text.split(" ", 1)[1] for text in listed(page)]
    assert happened == ["set", "changed", "freed"]
    page.locator(".hit[role=button][tabindex='0']").focus()
    first = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label != first
    steps = title.text_content() or ""
    name = steps.removeprefix("Steps of ")
    assert label.removesuffix(": its steps").endswith(name)


def test_entry_keeps_the_focus_while_steps_go_on(play: Open) -> None:
    data = stories.mul_constant()
    saved = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    page = play(data, saved)
    page.locator("[data-key='saved.0'] .entry").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "saved[0]"


def test_value_is_told_in_full_on_focus_and_on_hover(play: Open) -> None:
    data = stories.mul_constant()
    saved = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.save")
    key = data["events"][saved - 1]["ctx"]["set"]["saved.0"]["v"]
    data["values"][key]["rows"] = [[1.23456, 2, 3]]
    page = play(data, saved)
    tip = page.get_by_role("tooltip")
    assert tip.is_hidden()
    page.locator("[data-key='saved.0'] .entry").focus()
    text = tip.inner_text()
    assert "float32 [3], 12 bytes" in text
    assert "min 1, max 3, NaN: 0" in text
    assert "1.23456" in text
    described = page.evaluate("document.activeElement.getAttribute('aria-describedby')")
    assert described == tip.get_attribute("id")
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.locator("[data-key='saved.0'] .heat").hover()
    assert "1.23456" in tip.inner_text()


def test_edge_tells_the_gradient_that_went_along_it(look: Open) -> None:
    data = stories.fan_in()
    page = look(data, len(data["events"]))
    page.locator("#mg_e1 .hit").dispatch_event("pointerover", {"bubbles": True})
    assert "3" in page.locator(".tip-numbers").inner_text().split()
    page.evaluate("player.player.go(4)")
    page.locator("#mg_e1 .hit").dispatch_event("pointerover", {"bubbles": True})
    assert "still to come" in page.get_by_role("tooltip").inner_text()
