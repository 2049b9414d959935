"""The board, the wall and a learner's page, in a browser."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser, Page

from minigrad.course.author import slides
from minigrad.course.room import state
from tests.browser.seen import unreadable
from tests.browser.test_accessible import AXE, RUN_AXE
from tests.course.room.rooms import Running, joined, middle_of_lesson_05, open_room
from tests.course.room.rooms import told as told_by

Open = Callable[..., Page]
OUTSIDE = """
() => [...document.querySelectorAll("#view *")].filter((one) => {
  const box = one.getBoundingClientRect();
  const cut = one.tagName !== "OPTION" && one.checkVisibility();
  return cut && (box.right > innerWidth + 1 || box.bottom > innerHeight + 1);
}).map((one) => one.outerHTML.slice(0, 80))
"""
SMALLEST = """
() => Math.min(...[...document.querySelectorAll("#view *")]
  .filter((one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
  .map((one) => parseFloat(getComputedStyle(one).fontSize)))
"""
LOWEST = """
() => Math.max(...[...document.querySelectorAll(".votes > *")]
  .map((one) => one.getBoundingClientRect().bottom))
"""
HOSTILE = [
    "<img src=x onerror=hit=1>",
    "<script>hit=1</script>",
    "\"onload='hit=1'",
    "javascript:hit=1",
    "\u202e</b>drow",
]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Running]:
    with open_room(tmp_path / "room.jsonl") as running:
        yield running


@pytest.fixture
def look(browser: Browser, room: Running) -> Iterator[Open]:
    """Opens a page of the room; in the end none of them has thrown an error."""
    contexts, wrong = [], list[str]()

    def opened(kind: str, scheme: str = "light", width: int = 1280) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": width * 9 // 16}, color_scheme=scheme
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(error.message))
        page.goto(room.page(kind) if kind in ("board", "projector") else kind)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def found_by_axe(page: Page) -> Any:
    page.evaluate(AXE.read_text("utf8"))
    return page.evaluate(RUN_AXE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sixty_learners_fit_on_a_laptop_and_can_be_read(
    room: Running, look: Open, scheme: str
) -> None:
    room.note(*middle_of_lesson_05(60, time.time()))
    board = look("board", scheme)
    board.wait_for_selector(".row .cell.solved")
    names = board.locator(".row:not(.head) .name")
    assert names.count() == 60
    assert board.evaluate(OUTSIDE) == []
    cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert names.evaluate_all(cut) == 0
    assert unreadable(board, "#view") == {}
    assert found_by_axe(board) == []
    board.set_viewport_size({"width": 640, "height": 720})
    assert board.evaluate(OUTSIDE) != []  # it would be seen


def test_wall_in_a_vote_is_filled_and_says_how_to_join(
    room: Running, look: Open
) -> None:
    room.note(*middle_of_lesson_05(30, time.time()))
    room.calls(lambda: room.desk.move("http://192.168.1.20:8765"))
    polls = room.desk.words["polls"]
    longest = max(
        polls, key=lambda name: len("".join([polls[name][0], *polls[name][1]]))
    )
    wall = look("projector")
    for name in ("05.join", longest):
        room.note({"kind": state.ASKED, "id": name, "choices": 0})
        wall.get_by_text(polls[name][1][-1], exact=True).wait_for()
        join = wall.locator(".join")
        assert f'course.join("{room.code}", "192.168.1.20:8765")' in join.inner_text()
        assert join.locator("img").bounding_box()
        rounds = [
            (state.CLOSED, ".track"),
            (state.AGAIN, "text=after the discussion: 0 of 30"),
            (state.CLOSED, ".track.second"),
        ]
        for last, shows in rounds:
            assert wall.evaluate(OUTSIDE) == []
            assert wall.evaluate(SMALLEST) >= 24
            low, line = wall.evaluate(LOWEST), join.bounding_box()
            assert line
            assert 0.65 * 720 < low <= line["y"] + 1
            room.note({"kind": last})
            wall.locator(shows).first.wait_for()
        assert wall.locator(".track.second").count() == len(polls[name][1])
        assert wall.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_wall_is_large_whole_and_has_no_names(
    room: Running, look: Open, scheme: str
) -> None:
    room.note(*middle_of_lesson_05(30, time.time()))
    known = room.desk.words["mistakes"]
    longest = sorted(known, key=lambda id: -len(known[id][0] + known[id][2]))[:3]
    for number in range(30):  # the three mistakes of whom most is to be said
        more = {"mistake": longest[number % 3], "at": time.time()}
        room.note(told_by(f"m{number}", 10_000, "05.6", "wrong", **more))
    wall = look("projector", scheme)
    wall.wait_for_selector(".progress")
    text = wall.inner_text("body")
    assert known[longest[0]][0].split("`")[0] in text
    assert "from minigrad import course; course.join(" in text
    assert "On a phone" not in text  # which has no way to this computer
    assert not [
        one.name for one in room.desk.room.learners.values() if one.name in text
    ]
    assert wall.evaluate(OUTSIDE) == []
    assert wall.evaluate(SMALLEST) >= 24
    assert unreadable(wall, "#view") == {}
    assert found_by_axe(wall) == []
    gym = [name for name in room.desk.words["exercises"] if name.startswith("gym.")]
    for name in sorted(gym, key=len):
        came = {"mistake": longest[0], "at": time.time()}
        room.note(told_by(f"m{len(name)}", 20_000, name, "crashed", **came))
    room.note({"kind": state.LESSON, "lesson": "gym"})
    wall.get_by_text("The gym").wait_for()
    assert wall.evaluate(OUTSIDE) == []
    board = look("board", scheme)
    board.wait_for_selector(".row .tall")
    wide = "() => document.documentElement.scrollWidth - innerWidth"
    assert board.evaluate(wide) == 0


def test_vote_from_the_keyboard_in_two_rounds(room: Running, look: Open) -> None:
    room.note(*[joined(f"m{n}", f"learner {n}") for n in range(3)])
    for number, letter in enumerate("abb"):
        room.note(told_by(f"m{number}", 0, "05.join", letter))
        room.note(told_by(f"m{number}", 1, "05.1", "solved"))
    board, wall = look("board"), look("projector")
    board.get_by_role("button", name="On the wall").focus()
    board.keyboard.press("Enter")
    wall.get_by_text("3 of 3 have answered").wait_for()
    assert wall.locator(".track").count() == 0
    board.locator("[aria-keyshortcuts=c]").wait_for()
    board.keyboard.press("c")
    wall.locator(".track").first.wait_for()
    assert wall.locator(".track span").all_inner_texts() == ["1", "2", "0", "0"]
    board.locator("[aria-keyshortcuts=a]").wait_for()
    board.keyboard.press("a")
    wall.get_by_text("after the discussion: 0 of 3 have answered").wait_for()
    for number in range(3):
        said = {"kind": state.SAID, "member": f"m{number}", "what": "vote"}
        room.note(said | {"value": "b"})
    board.get_by_text("3 of 3 have answered").wait_for()
    board.keyboard.press("c")
    wall.locator(".track.second").first.wait_for()
    after = wall.locator(".track.second span").all_inner_texts()
    assert after == ["0", "3", "0", "0"]
    assert unreadable(wall, "#view") == {}
    assert wall.evaluate(OUTSIDE) == []
    board.keyboard.press("x")
    wall.locator(".progress").wait_for()


def test_learner_joins_by_the_code_votes_and_asks_for_help(
    room: Running, look: Open
) -> None:
    mine = look(f"{room.url}/#{room.code}")
    mine.get_by_label("A name").fill("Ada")
    mine.get_by_role("button", name="Join").click()
    mine.get_by_text("No question at the moment").wait_for()
    assert mine.url == f"{room.url}/"
    board = look("board")
    board.get_by_text("1 learner").wait_for()
    assert board.url == f"{room.url}/board"  # a wall shows the address bar, too
    board.keyboard.press("v")
    mine.get_by_role("button", name="c", exact=True).click()
    mine.locator("[data-key='vote c'][aria-pressed=true]").wait_for()
    board.get_by_text("1 of 1 have answered").wait_for()
    mine.get_by_role("button", name="Raise a hand").click()
    mine.get_by_role("button", name="I'm lost").click()
    board.get_by_text("too fast: 0, lost: 1").wait_for()
    board.get_by_text("1. Ada").wait_for()
    assert found_by_axe(mine) == []
    assert unreadable(mine, "#view") == {}
    board.keyboard.press("h")
    mine.get_by_role("button", name="Raise a hand").wait_for()
    board.keyboard.press("c")
    mine.get_by_text("Closed. You said c.").wait_for()


def deck(file: Path) -> Path:
    """Slides with a question, as of a lesson, and with a vote of the notes."""
    asks = (
        "course.predict('05.join', 'What arrives?', ['2, then 3', '5'], then=lambda: 5)"
    )
    cells = [
        new_markdown_cell("# Title", metadata={"tags": ["slide"]}),
        new_code_cell(asks, metadata={"tags": ["slide", "predict"]}),
        new_markdown_cell("## What to remember", metadata={"tags": ["slide"]}),
    ]
    parts = [part for cell in cells for part in slides.question_and_outcome(cell)]
    notes = "45 in a workshop. **Vote 1.** Is it (a) 1, (b) 2, (c) 3. Expected: b."
    file.write_text(slides.page_of(new_notebook(cells=parts), notes, "05"))
    return file


def test_slides_open_the_vote_of_their_question(
    tmp_path: Path, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(20_000)
    said: list[str] = []
    file = deck(tmp_path / "05_how.slides.html")
    with open_room(tmp_path / "room.jsonl", slides={"05": file}) as room:
        for member in "abc":
            room.note(joined(member))
        room.note(told_by("a", 0, "05.join", "b"))
        wall = context.new_page()
        wall.on("console", lambda message: said.append(message.text))
        wall.on("pageerror", lambda error: said.append(error.message))
        wall.goto(f"{room.url}/slides/05#{room.desk.secrets['slides']}")
        wall.wait_for_function("() => window.Reveal?.isReady?.()")
        assert wall.url == f"{room.url}/slides/05"
        wall.keyboard.press("v")
        wall.get_by_text("Vote now: 1 of 3 have answered").wait_for()
        room.note(told_by("b", 0, "05.join", "a"), told_by("c", 0, "05.join", "b"))
        wall.get_by_text("Vote now: 3 of 3 have answered").wait_for()
        assert wall.locator(".counted").count() == 0
        wall.keyboard.press("c")
        wall.locator(".choice.counted").first.wait_for()
        counts = "all => all.map((one) => one.dataset.said)"
        assert wall.locator(".choice").evaluate_all(counts)[:2] == ["1", "2"]
        bars = wall.locator(".choice").nth(1)
        colours = "one => getComputedStyle(one).backgroundImage.match(/rgba?.*?\\)/g)"
        first, none = bars.evaluate(colours)
        heads = wall.locator(".headline")
        assert heads.all_inner_texts() == ["Your votes", "Predict now"]
        wall.keyboard.press("a")
        wall.get_by_text("Vote again: 0 of 3 have answered").wait_for()
        assert heads.first.inner_text() == "Predict now"
        room.note(told_by("a", 1, "05.join", "b"))
        wall.get_by_text("Vote again: 1 of 3 have answered").wait_for()
        wall.keyboard.press("c")
        wall.get_by_text("Your votes: before, after").wait_for()
        both = heads.first.locator("i").evaluate_all(
            "all => all.map((one) => getComputedStyle(one).backgroundColor)"
        )
        assert bars.evaluate(colours) == [both[0], none, both[1], none]
        assert both[0] == first != both[1]
        wall.keyboard.press("ArrowRight")
        wall.keyboard.press("v")
        wall.get_by_text("Vote now: 0 of 3 have answered").wait_for()
        assert room.desk.room.on_wall == "05.v1"
        assert room.desk.room.polls["05.v1"].choices == 3
        assert wall.get_by_text("It's b.").is_hidden()
        wall.keyboard.press(" ")
        wall.get_by_text("It's b.").wait_for()
        assert said == []
    context.close()


def test_hostile_names_are_text(room: Running, look: Open) -> None:
    for name in HOSTILE:
        assert room.join(name)[0] == 200
    board = look("board")
    board.wait_for_selector(".row .name")
    shown = board.locator(".row:not(.head) .name").all_inner_texts()
    kept = [one.name for one in room.desk.room.learners.values()]
    assert sorted(shown) == sorted(kept)
    assert "<script>hit=1</script>" in shown
    inside = "#view :is(script, [onload], [onerror], img:not(.join img))"
    assert board.locator(inside).count() == 0
    assert board.evaluate("() => globalThis.hit") is None
    # And if one got in as markup, the page's policy would not run it.
    board.evaluate("name => (document.body.innerHTML += name)", HOSTILE[0])
    board.wait_for_timeout(50)
    assert board.locator("img[onerror]").count() == 1
    assert board.evaluate("() => globalThis.hit") is None


def test_pages_find_a_server_again_that_was_killed_in_a_vote(
    tmp_path: Path, browser: Browser
) -> None:
    file = tmp_path / "killed.jsonl"
    context = browser.new_context()
    context.set_default_timeout(20_000)
    board, mine = context.new_page(), context.new_page()
    with open_room(file) as room:
        port = int(room.url.rpartition(":")[2])
        token = room.join("Ada")[1]["token"]
        board.goto(room.page("board"))
        mine.goto(f"{room.url}/#{token}")
        board.get_by_text("1 learner").wait_for()
        board.keyboard.press("v")
        mine.get_by_role("button", name="b", exact=True).click()
        board.get_by_text("1 of 1 have answered").wait_for()
    board.get_by_text("can't be reached").wait_for()
    mine.get_by_text("What you press is sent then.").wait_for()
    for letter in "dc":
        mine.get_by_role("button", name=letter, exact=True).click()
    mine.get_by_role("button", name="Raise a hand").click()
    with open_room(file, port) as room:
        board.get_by_text("can't be reached").wait_for(state="hidden")
        mine.locator("[data-key='vote c'][aria-pressed=true]").wait_for()
        board.get_by_text("1. Ada").wait_for()
        board.keyboard.press("c")
        board.locator(".track").first.wait_for()
        assert board.locator(".track span").all_inner_texts() == ["0", "0", "1", "0"]
        mine.get_by_text("Closed. You said c.").wait_for()
        assert json.dumps(room.desk.room.summary()).count("vote, round 1") == 1
    context.close()
