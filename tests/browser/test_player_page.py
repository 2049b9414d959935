"""The stand-alone page of a recording, driven in a real browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import minigrad
from minigrad.autograd import Function
from minigrad.views.recording import Recording, record, step
from tests.browser.conftest import READY
from tests.browser.seen import on_screen
from tests.views import stories
from tests.views.folding import state_at, stops_of

TIMEOUT = 10_000

Opener = Callable[..., Page]


def real() -> stories.Json:
    """A recording of the engine: two ways lead to x, one through a custom Function."""
    with record("real") as trace:
        x = minigrad.tensor([1.0, -2.5], requires_grad=True)
        y = stories.MulConstant.apply(x, 10)
        (y + x * 3).sum().backward()
    return trace.data


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Opens the page of a trace, or a notebook's page with it as an output.

    At the end there must have been no error on it.
    """
    wrong: list[str] = []
    contexts = []

    def open_page(
        data: stories.Json, notebook: str | None = None, **options: Any
    ) -> Page:
        path = Recording(data).save_html(tmp_path / "player.html")
        if notebook is not None:
            output = Recording(data)._repr_mimebundle_()["text/html"]
            path.write_text(notebook.format(output=output), encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.on(
            "console",
            lambda said: wrong.append(said.text) if said.type == "error" else None,
        )
        page.goto(path.as_uri())
        page.frames[-1].wait_for_function(READY)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def shown(page: Page) -> Any:
    return {name: told for name, told in on_screen(page).items() if name != "line"}


def press(page: Page, key: str) -> Any:
    page.locator("#player").focus()
    page.keyboard.press(key)
    return shown(page)


def position(page: Page) -> int:
    return int(shown(page)["position"])


@pytest.mark.parametrize(
    "make", [stories.mul_constant, stories.fan_in, stories.failing, stories.grid, real]
)
def test_every_stop_forward_and_back_shows_what_the_trace_says(
    opened: Opener, make: Callable[[], stories.Json]
) -> None:
    data = make()
    stops = stops_of(data)
    page = opened(data)
    page.evaluate("player.player.setLevel(2)")
    assert shown(page) == state_at(data, 0)
    for stop in stops[1:]:
        assert press(page, "ArrowRight") == state_at(data, stop)
    for stop in reversed(stops[:-1]):
        assert press(page, "ArrowLeft") == state_at(data, stop)


def test_a_comparison_with_another_position_fails(opened: Opener) -> None:
    data = stories.mul_constant()
    page = opened(data)
    assert press(page, "ArrowRight") != state_at(data, 2)


def test_every_jump_equals_the_folded_state(opened: Opener) -> None:
    data = stories.mul_constant()
    data["events"] = stories.fan_in()["events"] + data["events"]  # past a keyframe
    data["graph"]["nodes"].append(stories.fan_in()["graph"]["nodes"][3])
    data["graph"]["edges"] += stories.fan_in()["graph"]["edges"][2:]
    positions = list(range(len(data["events"]), -1, -1))
    page = opened(data)
    for at in positions:
        page.evaluate("at => player.player.go(at)", at)
        assert shown(page) == state_at(data, at)


@pytest.mark.parametrize("level", [0, 2, 3])
def test_level_decides_where_steps_stop(opened: Opener, level: int) -> None:
    data = stories.mul_constant()
    page = opened(data)
    names = {0: "Picture", 2: "Phases", 3: "Everything"}
    page.get_by_role("button", name=names[level], exact=True).click()
    assert page.evaluate("player.player.stops") == stops_of(data, level)


def test_keys_move_to_the_ends_and_play(opened: Opener) -> None:
    data = stories.fan_in()
    page = opened(data)
    assert press(page, "End")["position"] == len(data["events"])
    assert press(page, "Home")["position"] == 0
    press(page, " ")
    page.wait_for_function("() => player.player.position === 2")
    press(page, " ")
    stopped = position(page)
    page.wait_for_timeout(1600)
    assert position(page) == stopped


def test_help_opens_with_a_key_and_closes_with_escape(opened: Opener) -> None:
    page = opened(stories.fan_in())
    help = page.get_by_role("dialog", name="Help")
    press(page, "?")
    assert help.is_visible()
    page.keyboard.press("Escape")
    assert help.is_hidden()


def test_player_does_not_start_by_itself(opened: Opener) -> None:
    page = opened(stories.fan_in())
    page.wait_for_timeout(1700)
    assert position(page) == 0


def test_failing_line_carries_the_message_to_the_end(opened: Opener) -> None:
    page = opened(stories.failing())
    press(page, "End")
    assert page.locator(".line.failed .text").text_content() == (
        '    raise TypeError("not by <b>ten</b>")'
    )
    assert "<b>" in (page.locator(".said.failed").text_content() or "")
    assert page.locator(".said.failed b").count() == 0


def test_text_of_a_trace_is_never_markup(opened: Opener) -> None:
    evil = "<img src=x onerror=\"document.title='hacked'\">"
    data = stories.mul_constant()
    data["graph"]["nodes"][1]["tensor"] = evil
    data["sources"][0]["tokens"][0] = [["", evil]]
    for event in data["events"]:
        event["say"] = evil
        for ref in event.get("ctx", {}).get("set", {}).values():
            if ref["t"] == "P":
                ref["r"] = evil
    page = opened(data)
    for stop in stops_of(data)[1:]:
        assert press(page, "ArrowRight") == state_at(data, stop)
    assert page.locator("#player img").count() == 0
    assert page.title() != "hacked"


# How far a gradient is from where its wire begins, and at last from where that ends.
FLIES = """
edge => {
  const { graph } = player.player;
  graph.zoom(0.6);
  player.player.step();
  const [ball, ...others] = document.querySelectorAll(".ball");
  const [flight] = ball.getAnimations();
  const line = graph.elementOf(edge).querySelector(".line");
  const ends = [line.getTotalLength(), 0].map((far) => {
    return line.getPointAtLength(far).matrixTransform(line.getScreenCTM());
  });
  flight.pause();
  const off = [0, flight.effect.getTiming().duration - 0.01].map((time, at) => {
    flight.currentTime = time;
    const { x, y, width, height } = ball.getBoundingClientRect();
    return Math.hypot(x + width / 2 - ends[at].x, y + height / 2 - ends[at].y);
  });
  flight.play();
  return [...off, ...others];
}
"""


def test_gradient_travels_with_its_value_and_stays_at_the_receiver(
    opened: Opener,
) -> None:
    data = stories.fan_in()
    meeting = next(i for i, e in enumerate(data["events"], 1) if e.get("e") == "e0")
    page = opened(data)
    page.evaluate(f"player.player.go({meeting - 1})")
    assert page.evaluate(FLIES, "e0") == pytest.approx([0, 0], abs=1)
    page.wait_for_function("() => !document.querySelector('.ball')")
    leaf = data["events"][meeting - 1]["n"]
    tray = page.locator(f".leaf:has(#mg_{leaf}) .tray.whole")
    assert tray.text_content() == "3 + 2 = 5"


def test_tray_counts_down_what_has_still_to_come(opened: Opener) -> None:
    data = real()
    leaf = next(n["id"] for n in data["graph"]["nodes"] if n["kind"] == "accumulate")
    told = ("backward.begin", "grad")
    at = [i for i, e in enumerate(data["events"], 1) if e["k"] in told]
    page, seen = opened(data), []
    for position in at:
        event = data["events"][position - 1]
        page.evaluate(f"player.player.go({position})")
        tray = page.locator(f".leaf:has(#mg_{leaf}) .tray.there")
        if event["k"] == "backward.begin" or event["n"] == leaf:
            seen += tray.all_text_contents()
    assert seen[0] == "0 of 2"
    assert seen[1].endswith("+ \u2026")
    assert not any("\u2026" in text for text in seen[2:])


class Pair(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g_first, g_second):
        return g_first * 2 + g_second * 3


def test_outputs_of_a_node_have_a_chip_each_with_its_name(opened: Opener) -> None:
    def two_outputs() -> None:
        first, second = Pair.apply(minigrad.tensor(1.0, requires_grad=True))
        loss = first * 5 if second is not None else second
        loss.backward()

    trace = step(two_outputs)
    events = trace.data["events"]
    waits = next(
        i for i, e in enumerate(events, 1) if "Arrived for its 2 outputs" in e["say"]
    )
    page = opened(trace.data)
    page.evaluate(f"player.player.go({waits})")
    chips = page.locator("g.node", has_text="PairBackward").locator(".chip")
    assert chips.all_text_contents() == ["first2", "second3"]


def test_pane_promises_no_ctx_where_backward_alone_was_recorded(
    opened: Opener,
) -> None:
    y = stories.MulConstant.apply(minigrad.tensor(2.0, requires_grad=True), 10)
    with record() as backward:
        y.backward()
    for data, words in (
        (real(), "No ctx yet: apply has not created it."),
        (backward.data, "No ctx is in use here."),
    ):
        page = opened(data)
        page.keyboard.press("c")
        assert page.locator(".ctx .empty").inner_text() == words


def test_keys_of_the_picture_do_nothing_where_there_is_none(opened: Opener) -> None:
    with record() as trace:
        sum([1, 2])
    page = opened(trace.data)
    for key in ("+", "-", "0"):
        press(page, key)
    assert page.locator(".graph .empty").is_visible()


def test_reduced_motion_has_no_travelling_ball(opened: Opener) -> None:
    data = stories.fan_in()
    page = opened(data, reduced_motion="reduce")
    for _ in stops_of(data):
        press(page, "ArrowRight")
        assert page.locator(".ball").count() == 0


def test_change_flashes_and_does_not_when_nothing_changed(opened: Opener) -> None:
    data = stories.mul_constant()
    saved = next(i for i, e in enumerate(data["events"], 1) if e["k"] == "ctx.put")
    page = opened(data)
    page.keyboard.press("c")
    page.evaluate(f"player.player.go({saved})")
    assert page.locator(".row.flash dt").all_text_contents() == ["saved[0]"]
    press(page, "ArrowRight")
    assert page.locator(".row.flash dt").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system(opened: Opener, scheme: str) -> None:
    page = opened(stories.fan_in(), color_scheme=scheme)
    dark = page.evaluate("document.documentElement.classList.contains('dark')")
    assert dark is (scheme == "dark")


def test_sentence_is_read_out(opened: Opener) -> None:
    page = opened(stories.fan_in())
    assert page.locator(".say").get_attribute("aria-live") == "polite"


def test_output_of_a_notebook_is_as_high_as_its_player(opened: Opener) -> None:
    page = opened(stories.fan_in(), notebook="<body>{output}</body>")
    frame = page.frames[1]
    height = frame.evaluate("player.getBoundingClientRect().height")
    box = page.locator("[data-minigrad-player]").bounding_box()
    assert box is not None
    assert 0 < box["height"] - height < 16


def test_output_of_a_notebook_follows_its_theme(opened: Opener) -> None:
    notebook = '<body data-jp-theme-light="false">{output}</body>'
    page = opened(stories.fan_in(), notebook=notebook, color_scheme="light")
    page.frames[1].wait_for_selector("html.dark")
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    page.frames[1].wait_for_selector("html:not(.dark)")


def test_output_without_its_frame_shows_words_and_the_graph(opened: Opener) -> None:
    page = opened(stories.fan_in(), notebook="<body>{output}</body>")
    page.evaluate("document.querySelector('iframe').remove()")
    assert page.get_by_alt_text("the graph").is_visible()
    assert page.get_by_text("program returns None.").is_visible()
