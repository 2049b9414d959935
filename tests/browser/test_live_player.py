"""The live player in a browser, its widget held by a page that stands for a notebook.

Python is this process: what the widget sends goes to a real ``LivePlayer``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page

import minigrad as mg
from minigrad.views.live_player import LivePlayer, live
from tests.browser.conftest import ALL_OPEN, READY
from tests.browser.seen import unreadable
from tests.browser.test_accessible import AXE, OUTSIDE, RUN_AXE

NOTEBOOK = """<!doctype html><html lang="en"><title>Notebook</title>
<body data-jp-theme-light="true"><main><h1>Notebook</h1>
<div class="jp-Notebook-cell" tabindex="0"><div id="output"></div></div></main>
<script type="module">
WIDGET
const actions = {};
const traits = {};
const fire = (event, value) => actions[event]?.forEach((action) => action(value));
const model = {
  get: (name) => traits[name],
  on: (event, action) => (actions[event] ||= new Set()).add(action),
  off: (event, action) => actions[event].delete(action),
  async answered(asked) {
    await window.open;
    const { shown, said } = await window.toPython(asked);
    if (shown !== traits.shown) {
      traits.shown = shown;
      fire("change:shown");
    }
    for (const one of said) fire("msg:custom", one);
  },
  send(asked) {
    if (!window.alive) throw new Error("Cannot send");
    model.answered(asked);
  },
};
window.model = model;
window.render = render;
const output = document.getElementById("output");
let end = () => {};
window.show = (newest) => {
  end();
  window.open = Promise.resolve();
  window.alive = true;
  output.replaceChildren();
  Object.assign(traits, newest);
  end = render({ model, el: output });
};
</script></body>"""

WIDGET = Path(mg.__file__).parent / "views" / "live_player.js"


class Squared(mg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad_output: mg.Tensor) -> mg.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output


class Notebook:
    """A page that holds the widget of one live player after the other."""

    player: LivePlayer

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.said: list[Any] = []
        page.expose_function("toPython", self._answer)
        widget = WIDGET.read_text(encoding="utf-8")
        widget = widget.replace("export default { render };", "")
        path.write_text(NOTEBOOK.replace("WIDGET", widget), encoding="utf-8")
        page.goto(path.as_uri())

    def show(self, player: LivePlayer) -> None:
        self.player = player
        player.widget.send = self.said.append
        traits = {"page": player.widget.page, "shown": player.widget.shown}
        self.page.evaluate("traits => show(traits)", traits)
        self.wait()
        self.frame.evaluate(ALL_OPEN)

    def _answer(self, asked: Any) -> Any:
        self.said.clear()
        self.player._heard(None, asked, None)
        return {"shown": self.player.widget.shown, "said": self.said}

    @property
    def frame(self) -> Frame:
        return self.page.frames[-1]

    def wait(self) -> None:
        self.frame.wait_for_function(READY)

    def slide(self, name: str, value: object) -> None:
        """Move a slider, as a mouse does; wait until the player is redrawn."""
        self.frame.evaluate(
            """async ([name, value]) => {
                const live = document.getElementById("player").live;
                const before = live.player;
                const { slider } = live.fields.get(name);
                slider.value = value;
                slider.dispatchEvent(new Event("input"));
                const soon = (go) => setTimeout(go, 2);
                while (live.player === before) await new Promise(soon);
            }""",
            [name, str(value)],
        )

    def type(self, name: str, text: str) -> None:
        self.frame.get_by_label(name, exact=True).fill(text)
        self.frame.get_by_label(name, exact=True).press("Enter")

    def go(self, position: int) -> None:
        self.frame.evaluate("at => player.player.go(at)", position)

    @property
    def position(self) -> int:
        return int(self.frame.evaluate("() => player.player.position"))

    @property
    def sentence(self) -> str:
        return self.frame.inner_text(".say")


Opened = Callable[..., Notebook]


@pytest.fixture(scope="module")
def notebook_page(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Notebook:
    return Notebook(page, tmp_path_factory.mktemp("live") / "notebook.html")


@pytest.fixture
def told(notebook_page: Notebook, page: Page) -> Opened:
    """Shows the live player of a function in the notebook."""

    def opened(function: Callable[..., Any], *args: Any, **given: Any) -> Notebook:
        notebook_page.show(live(function, *args, **given))
        return notebook_page

    return opened


def program(x: mg.Tensor, n: int = 1) -> None:
    y = Squared.apply(x)
    for _ in range(n):
        y = y * 2
    if n == 4:
        raise ValueError("four is too many")
    y.sum().backward()


def leaf(value: Any = 3.0) -> mg.Tensor:
    return mg.tensor(value, requires_grad=True)


def on_the_curve(place: int = 1) -> Any:
    mg.tensor([1.0], requires_grad=True).sum().backward()
    curve = mg.plot_lines([1, 4], {"a": [1, 16]}, x="n", y="n * n", says="It grows.")
    return curve.marked(place, place**2)


RING = (
    "[...document.querySelectorAll('.live .drawn use')].at(-1).getBoundingClientRect()"
)


def test_slider_moves_the_ring_on_the_curve_that_the_function_draws(
    told: Opened,
) -> None:
    notebook = told(on_the_curve, place=(1, 4))
    left, low = notebook.frame.evaluate(f"() => [{RING}.x, {RING}.y]")
    notebook.slide("place", 4)
    right, high = notebook.frame.evaluate(f"() => [{RING}.x, {RING}.y]")
    assert right > left + 50
    assert high < low - 50
    picture = notebook.frame.get_by_role("img", name="It grows. The ring is at 4: 16.")
    assert picture.is_visible()
    told(program, x=leaf())
    assert notebook.frame.locator(".drawn").is_hidden()


def test_slider_redraws_the_player_in_its_frame_at_the_same_step(told: Opened) -> None:
    notebook = told(program, x=leaf())
    last = len(notebook.player.recording)
    notebook.go(last)
    notebook.frame.evaluate("() => { window.same = true; }")
    assert "5.0" not in notebook.frame.inner_text("#player .stage")
    notebook.slide("x", 2.5)
    assert notebook.player.arguments["x"].grad.item() == 10.0
    assert notebook.frame.evaluate("() => window.same")
    assert notebook.position == last
    grad = notebook.frame.text_content("#player .pane.graph .slot .value")
    assert grad == "10"


def test_step_keeps_its_place_from_the_start_and_from_the_end(told: Opened) -> None:
    notebook = told(program, x=leaf(), n=(0, 4))
    notebook.go(7)
    early = notebook.sentence
    notebook.slide("n", 0)
    assert (notebook.position, notebook.sentence) == (7, early)
    notebook.go(len(notebook.player.recording) - 2)
    late = notebook.sentence
    notebook.slide("n", 3)
    assert notebook.sentence == late
    assert notebook.position == len(notebook.player.recording) - 2


def test_step_that_is_no_more_becomes_the_first_that_is_another(told: Opened) -> None:
    notebook = told(program, x=leaf(), n=(0, 4))
    events = notebook.player.recording.data["events"]
    line = next(i for i, e in enumerate(events, 1) if "y = y * 2" in e["say"])
    notebook.go(line)
    notebook.slide("n", 0)
    kept = notebook.player.recording.data["events"][: notebook.position]
    assert notebook.position == line
    assert kept[-1]["say"] != events[line - 1]["say"]
    assert [e["k"] for e in kept[:-1]] == [e["k"] for e in events[: line - 1]]


def test_wrong_input_is_said_beside_it_and_the_player_stays(told: Opened) -> None:
    notebook = told(program, x=leaf([1.0, 2.0]))
    notebook.go(5)
    before = notebook.player.recording
    notebook.type("x", "[1, 2")
    problem = notebook.frame.wait_for_selector(".problem:not(:empty)")
    assert problem is not None
    assert "“[1, 2” isn't a list of numbers" in problem.inner_text()
    assert "The last valid value is still used." in problem.inner_text()
    entry = notebook.frame.get_by_label("x", exact=True)
    assert entry.get_attribute("aria-invalid") == "true"
    assert entry.get_attribute("aria-describedby") == problem.get_attribute("id")
    assert (notebook.player.recording, notebook.position) == (before, 5)
    notebook.type("x", "[1, 2, 5]")
    notebook.frame.wait_for_selector(".problem", state="hidden")
    assert entry.get_attribute("aria-invalid") == "false"
    assert notebook.player.arguments["x"].tolist() == [1.0, 2.0, 5.0]


def test_only_the_newest_of_what_was_changed_meanwhile_is_recorded(
    told: Opened,
) -> None:
    recorded: list[float] = []

    def noted(x: float) -> None:
        recorded.append(x)
        (leaf(x) * 2).backward()

    notebook = told(noted, x=(0.0, 10.0))
    notebook.frame.evaluate(
        """async () => {
            let open;
            parent.open = new Promise((go) => { open = go; });
            const { slider } = player.live.fields.get("x");
            for (let value = 1; value <= 9; value++) {
                slider.value = String(value);
                slider.dispatchEvent(new Event("input"));
                await new Promise((go) => setTimeout(go, 5));
            }
            open();
        }"""
    )
    notebook.frame.wait_for_function(
        "() => player.live.waits === null && !player.live.channel.asked.size"
    )
    assert recorded == [5.0, 1.0, 9.0]


def test_exception_is_the_picture_of_any_player_and_is_said(told: Opened) -> None:
    notebook = told(program, x=leaf(), n=(0, 4))
    notebook.go(len(notebook.player.recording))
    notebook.slide("n", 4)
    assert notebook.frame.query_selector("#player .failed .line.failed")
    status = notebook.frame.inner_text(".live .status")
    assert status == "⚠ The run stopped: ValueError: four is too many"
    notebook.slide("n", 1)
    assert notebook.frame.inner_text(".live .status") == ""


def test_keys_move_a_slider_which_keeps_the_focus_and_escape_leaves(
    told: Opened,
) -> None:
    notebook = told(program, x=leaf(), n=(0, 4))
    slider = notebook.frame.get_by_label("n, slider", exact=True)
    slider.press("ArrowRight")
    notebook.frame.wait_for_function("() => player.live.fields.get('n').last === '2'")
    notebook.frame.wait_for_function("() => !player.live.waits")
    assert notebook.player.arguments["n"] == 2
    assert notebook.frame.evaluate("() => document.activeElement.type") == "range"
    slider.press("Tab")
    notebook.page.keyboard.type("3")
    notebook.page.keyboard.press("Enter")
    notebook.frame.wait_for_function("() => !player.live.waits")
    assert notebook.player.arguments["n"] == 3
    assert notebook.frame.evaluate("() => document.activeElement.id") == "input-n"
    notebook.page.keyboard.press("Escape")
    assert notebook.page.evaluate("() => document.activeElement.className") == (
        "jp-Notebook-cell"
    )


def test_screen_reader_hears_the_step_as_it_is_now(told: Opened) -> None:
    notebook = told(program, x=leaf())
    notebook.go(len(notebook.player.recording))
    notebook.slide("x", 1.0)
    heard = "document.querySelector('.live [aria-live]').textContent"
    notebook.frame.wait_for_function(f"() => {heard}")
    assert notebook.frame.evaluate(heard) == f"Recorded again. {notebook.sentence}"


def test_frame_that_starts_anew_shows_the_newest_at_its_place(told: Opened) -> None:
    notebook = told(program, x=leaf(), n=(0, 4))
    notebook.slide("n", 2)
    notebook.go(9)
    notebook.page.evaluate("() => output.append(output.firstChild)")
    notebook.wait()
    assert notebook.position == 9
    assert notebook.frame.input_value("#input-n") == "2"
    notebook.slide("n", 3)
    assert notebook.player.arguments["n"] == 3


def test_second_view_of_the_widget_follows_the_first(told: Opened) -> None:
    notebook = told(program, x=leaf(), n=(0, 4))
    notebook.page.evaluate(
        """() => {
            const el = document.createElement("div");
            output.append(el);
            render({ model, el });
        }"""
    )
    first, second = notebook.page.frames[1:]
    second.wait_for_function(READY)
    second.evaluate("() => { window.before = player.player; }")
    first.get_by_label("n", exact=True).fill("3")
    second.wait_for_function("() => player.player !== window.before")
    assert second.input_value("#input-n") == "3"


def test_without_an_argument_there_is_only_the_player(told: Opened) -> None:
    notebook = told(lambda: program(leaf()))
    assert not notebook.frame.is_visible(".live")
    assert notebook.frame.is_visible("#player .stage")


def test_restarted_kernel_is_said(told: Opened) -> None:
    notebook = told(program, x=leaf())
    notebook.page.evaluate("() => { window.alive = false; }")
    notebook.type("x", "1")
    says = "⚠ Not recorded. Python was restarted: run the cell again."
    notebook.frame.get_by_text(says).wait_for()


@pytest.mark.parametrize("light", [True, False], ids=["light", "dark"])
def test_axe_finds_nothing_all_is_readable_and_fits_into_800_pixels(
    told: Opened, light: bool
) -> None:
    notebook = told(program, x=leaf([1.0, 2.0]), n=(0, 4))
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    notebook.page.evaluate(
        "light => { document.body.dataset.jpThemeLight = light; }", str(light).lower()
    )
    notebook.type("x", "[1, 2")
    notebook.slide("n", 4)
    notebook.go(5)
    notebook.frame.wait_for_selector(".problem:not(:empty)")
    notebook.frame.evaluate(AXE.read_text())
    assert notebook.frame.evaluate(RUN_AXE) == []
    assert unreadable(notebook.frame, "#player") == {}
    assert notebook.frame.evaluate(OUTSIDE) == []
