"""Values edited in the picture: what follows is shown, marked, and can be undone."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Frame, Page

import minigrad as mg
from minigrad.tracing import messages
from minigrad.views import page as views_page
from minigrad.views import whatif
from minigrad.views.recording import Recording
from tests.browser.conftest import Open
from tests.browser.seen import unreadable
from tests.browser.test_accessible import AXE, OUTSIDE, RUN_AXE
from tests.browser.test_live_player import Notebook, leaf, live

NODE = "SquareBackward is ready and runs next"
MOUNTED = """() => {
  const { contentDocument } = document.querySelector("iframe");
  return contentDocument?.getElementById("player")?.player;
}"""
SAYS = messages.in_use.table["page"]
WIRE = Path(mg.__file__).parent / "views" / "wire.js"
PAGE = """<!doctype html><html lang="en"><title>Notebook</title><body>
<script type="module">
WIRE
const heard = new Set();
const model = {
  on: (event, action) => heard.add(action),
  off: (event, action) => heard.delete(action),
  async answered(asked) {
    for (const said of await toPython(asked)) heard.forEach((hear) => hear(said));
  },
  send(asked) {
    if (!window.alive) throw new Error("Cannot send");
    model.answered(asked);
  },
};
window.alive = true;
initialize({ model });
window.show = (srcdoc) => {
  document.querySelector("iframe")?.remove();
  const made = document.createElement("iframe");
  Object.assign(made, { title: "Player", srcdoc });
  made.style = "width: 1200px; height: 700px";
  document.body.append(made);
};
window.isThere = true;
</script></body>"""
# What a place of the picture shows, and how it is marked.
SHOWN = """() => Object.fromEntries(
  [...document.querySelectorAll(".scene [data-place]:not(.edge, .op)")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map((one) => [one.dataset.place, [
      ["text:is(.value, .sum, .kept)", "text"].map((what) => one.querySelector(what))
        .find(Boolean).textContent,
      one.classList.contains("differs"), one.classList.contains("changed"),
    ]])
)"""


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


def program(x: mg.Tensor, w: mg.Tensor) -> None:
    y = Square.apply(x, 2.0)
    (y * w).sum().backward()


class Wired:
    """A page that stands for a notebook with one player, and the wire to Python.

    ``before`` is what Python says before each of its answers.
    """

    before: tuple[Any, ...] = ()

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        page.expose_function("toPython", self._answer)
        text = WIRE.read_text(encoding="utf-8")
        text = text.replace("export default { initialize };", "")
        path.write_text(PAGE.replace("WIRE", text), encoding="utf-8")
        page.goto(path.as_uri())
        page.wait_for_function("() => window.isThere")

    def show(self, recording: Recording, known: bool = True) -> Frame:
        whatif._shown.clear()
        if known:
            whatif._shown["key"] = whatif.Edits(recording).answers()
        shown = views_page.page_of(recording._pictured(), "key")
        self.page.evaluate("shown => show(shown)", shown)
        self.page.wait_for_function(MOUNTED)
        return self.page.frames[-1]

    def _answer(self, asked: Any) -> Any:
        said = [*self.before]
        whatif.heard(SimpleNamespace(send=said.append), asked)
        return said


@pytest.fixture(scope="module")
def notebook(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Notebook:
    page.set_default_timeout(10_000)
    return Notebook(page, tmp_path_factory.mktemp("edits") / "notebook.html")


def opened(notebook: Notebook) -> Frame:
    """A live player at its end, as a picture."""
    notebook.page.set_viewport_size({"width": 1280, "height": 900})
    notebook.show(live(program, x=leaf(3.0), w=leaf(5.0)))
    frame = notebook.frame
    frame.evaluate("player.player.setLevel(0)")
    frame.evaluate("player.player.go(1e6)")
    frame.wait_for_selector(".mg-player.listens")
    return frame


def node_of(data: dict[str, Any], name: str) -> str:
    nodes = data["graph"]["nodes"]
    return str(next(n["id"] for n in nodes if name in (n["label"], n.get("tensor"))))


def drag(page: Page, frame: Frame, place: str, by: int) -> None:
    """Drag what stands at a place to the side, in steps of 3 px."""
    box = frame.locator(f'[data-place="{place}"]').first.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for at in range(3, by + 1, 3):
        page.mouse.move(x + at, y)
    page.wait_for_timeout(300)
    page.mouse.up()


def told(frame: Frame, words: str) -> None:
    frame.locator(".edits .told", has_text=words).wait_for()


def type_over(frame: Frame, what: str, text: str) -> None:
    frame.evaluate("what => player.player.edits.choose(what, what)", what)
    frame.locator(".edits input[type=text]").fill(text)
    frame.locator(".edits input[type=text]").press("Enter")


def test_number_of_a_leaf_is_dragged_and_the_rest_follows(notebook: Notebook) -> None:
    frame = opened(notebook)
    x, w = (node_of(notebook.player.recording.data, name) for name in "xw")
    drag(notebook.page, frame, f"value {x} 0", 60)
    told(frame, "Edited: x is 5, not 3.")
    shown = frame.evaluate(SHOWN)
    assert shown[f"value {x} 0"] == ["5", True, True]
    assert shown[f"grad {x}"] == ["100", True, False]
    assert shown[f"value {w} 0"] == ["5", False, False]
    assert shown[f"grad {w}"][1:] == [True, False]
    assert frame.evaluate("player.player.edits.runs.length") == 2  # one for the gesture
    assert "x.grad is 100 instead of 60" in frame.inner_text(".edits .told")


def test_undo_brings_the_recording_back_to_the_byte(notebook: Notebook) -> None:
    frame = opened(notebook)
    trace = "JSON.stringify(player.player.trace)"
    before, shown = frame.evaluate(trace), frame.evaluate(SHOWN)
    x = node_of(notebook.player.recording.data, "x")
    type_over(frame, f"node {x}", "1.5")
    told(frame, "Edited: x is 1.5, not 3.")
    type_over(frame, f"grad {x}", "7")
    told(frame, "Edited: x is 1.5, not 3. Edited: x.grad is 7, not 30.")
    assert frame.evaluate(trace) != before
    frame.locator(".mg-player").focus()
    notebook.page.keyboard.press("ControlOrMeta+z")
    told(frame, "x.grad is 30 instead of 60")
    frame.locator(".badge").click()
    frame.locator(".badge").wait_for(state="hidden")
    assert frame.evaluate(trace) == before
    assert frame.evaluate(SHOWN) == shown
    assert frame.locator(".edited, .edits .told:not(:empty)").count() == 0


@pytest.mark.parametrize(
    ("what", "text", "says", "mark"),
    [
        ("entry c0 saved.0", "5", "Then x.grad is 100 instead of 60.", "entry"),
        ("entry c0 attr.factor", "1.0", "Then x.grad is 30 instead of 60.", "entry"),
        ("node SquareBackward", "1.0", "Then x.grad is 12 instead of 60.", "waits"),
    ],
)
def test_saved_value_attribute_and_gradient_are_typed_over(
    notebook: Notebook, what: str, text: str, says: str, mark: str
) -> None:
    frame = opened(notebook)
    data = notebook.player.recording.data
    at = next(i for i, e in enumerate(data["events"], 1) if NODE in e["say"])
    notebook.go(at)
    node = node_of(data, "SquareBackward")
    frame.evaluate("player.player.inspect(false)")
    type_over(frame, what.replace("SquareBackward", node), text)
    told(frame, says)
    frame.evaluate("player.player.inspect(true)")
    assert frame.locator(".ctx .row.changed").count() == int(mark == "entry")
    shown = frame.evaluate(SHOWN)
    changed = {place.split()[0] for place, (_, _, is_it) in shown.items() if is_it}
    assert mark in changed
    assert all([differs for _, differs, is_it in shown.values() if is_it])
    assert "Edited: " in notebook.sentence


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("five", "'five' can't be read"),
        ("[1, 2]", "has shape [], and the new one"),
        ("3.00", "That's its value already"),
    ],
)
def test_what_cannot_be_is_said_beside_the_line(
    notebook: Notebook, typed: str, says: str
) -> None:
    frame = opened(notebook)
    x = node_of(notebook.player.recording.data, "x")
    type_over(frame, f"node {x}", typed)
    frame.locator(".edits .note", has_text=says).wait_for()
    assert frame.evaluate("player.player.edits.runs.length") == 1


def twice(x: mg.Tensor) -> None:
    (x * 2).backward()
    (x * 5).backward()


def test_number_of_another_step_and_an_empty_text_are_no_present_value(
    notebook: Notebook,
) -> None:
    notebook.show(live(twice, x=leaf(0.0)))
    frame, data = notebook.frame, notebook.player.recording.data
    x = node_of(data, "x")
    type_over(frame, f"node {x}", "  ")
    frame.locator(".edits .note", has_text="'  ' can't be read").wait_for()
    kinds = [event["k"] for event in data["events"]]
    notebook.go(len(kinds))
    frame.evaluate("what => player.player.edits.choose(what, what)", f"grad {x}")
    typed = frame.locator(".edits input[type=text]")
    typed.wait_for()
    assert typed.input_value() == "7.0"
    notebook.go(kinds.index("grad.accumulate") + 1)
    typed.press("Enter")
    told(frame, "Edited: x.grad is 7, not 2.")
    typed.press("Enter")
    same = SAYS["editing.same"]
    frame.locator(".edits .note", has_text=same).wait_for()


def test_edit_leaves_the_presenter_the_clock_and_what_is_looked_at(
    notebook: Notebook,
) -> None:
    frame = opened(notebook)
    x = node_of(notebook.player.recording.data, "x")
    frame.evaluate("player.player.inspect(false)")
    frame.locator(".say").click()
    notebook.page.keyboard.press("p")
    frame.wait_for_function("() => document.fullscreenElement")
    notebook.page.wait_for_timeout(300)
    frame.evaluate("""() => {
      window.before = document.getElementById("player").player;
      before.presenter.since -= 65_000;
      before.graph.zoom(0.5);
    }""")
    view = frame.evaluate("before.graph.view")
    frame.evaluate("what => player.player.edits.set(what, '4', null)", f"node {x}")
    frame.wait_for_selector(".edited.presenting")
    notebook.page.wait_for_timeout(300)
    assert frame.evaluate("player.player.graph.view") == view
    assert frame.inner_text(".clock").startswith("1:")
    frame.evaluate("before.presenter.clock.textContent = 'left'")
    frame.evaluate("document.exitFullscreen()")
    frame.wait_for_function("() => !player.player.presenter.on")
    assert frame.evaluate("before.presenter.on")
    notebook.page.wait_for_timeout(1_100)
    assert frame.evaluate("before.presenter.clock.textContent") == "left"


def test_change_of_an_input_starts_anew(notebook: Notebook) -> None:
    frame = opened(notebook)
    x = node_of(notebook.player.recording.data, "x")
    type_over(frame, f"node {x}", "1.5")
    told(frame, "Edited: x is 1.5, not 3.")
    frame.locator(".mg-player").press("/")
    notebook.slide("x", 2.5)
    assert frame.locator(".edited").count() == 0
    assert frame.locator(".badge").is_hidden()
    assert frame.locator(".found").is_visible()
    assert frame.evaluate("document.activeElement.type") == "search"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_edits_can_be_read_and_used_by_all(notebook: Notebook, scheme: Any) -> None:
    notebook.page.emulate_media(color_scheme=scheme)
    light = str(scheme == "light").lower()
    theme = "light => { document.body.dataset.jpThemeLight = light; }"
    notebook.page.evaluate(theme, light)
    frame = opened(notebook)
    x = node_of(notebook.player.recording.data, "x")
    type_over(frame, f"node {x}", "1.5")
    told(frame, "Edited: x is 1.5, not 3.")
    assert unreadable(frame, ".edits") == {}
    frame.add_script_tag(path=AXE)
    assert frame.evaluate(RUN_AXE) == []
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    assert frame.evaluate(OUTSIDE) == []


@pytest.fixture(scope="module")
def wired(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Wired:
    made = browser.new_context().new_page()
    made.set_default_timeout(10_000)
    return Wired(made, tmp_path_factory.mktemp("wired") / "page.html")


def recorded(keep_values: bool = True) -> Recording:
    return mg.step(program, leaf(3.0), leaf(5.0), keep_values=keep_values)


def test_any_recording_of_a_notebook_is_edited_over_the_wire(wired: Wired) -> None:
    trace = recorded()
    frame = wired.show(trace)
    frame.wait_for_selector(".mg-player.listens")
    frame.evaluate("player.player.go(1e6)")
    drag(wired.page, frame, f"value {node_of(trace.data, 'w')} 0", 30)
    told(frame, "Edited: w is 6, not 5.")
    now = json.loads(frame.evaluate("JSON.stringify(player.player.trace.meta.edits)"))
    assert [(one["what"], one["new"], one["old"]) for one in now] == [("w", "6", "5")]


def test_answer_to_another_page_of_a_recording_is_not_the_first(wired: Wired) -> None:
    content = {"text": "3"}
    other = {"kind": "answer", "id": "another's 1", "of": "key", "content": content}
    wired.before = (other,)
    frame = wired.show(recorded())
    frame.wait_for_selector(".mg-player.listens")
    wired.before = ()


def test_restarted_kernel_is_said(wired: Wired) -> None:
    trace = recorded()
    frame = wired.show(trace)
    frame.wait_for_selector(".mg-player.listens")
    wired.page.evaluate("() => { window.alive = false; }")
    frame.evaluate("what => player.player.edits.choose(what, '')", "edge e0")
    frame.locator(".edits .note", has_text="Python was restarted").wait_for()
    wired.page.evaluate("() => { window.alive = true; }")


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        ("minigrad", "doesn't have what its program"),
        ("torch", "torch ran, and doesn't"),
    ],
)
def test_recording_that_cannot_run_again_says_why(
    wired: Wired, engine: str, says: str
) -> None:
    trace = recorded(keep_values=engine == "torch")
    trace.data["meta"]["engines"] = [engine]
    frame = wired.show(trace)
    frame.evaluate("player.player.go(1e6)")
    frame.locator(f"#mg_{node_of(trace.data, 'x')} > .hit").click()
    frame.locator(".edits .note", has_text=says).wait_for()
    assert frame.locator(".edits form").is_hidden()
    assert frame.locator(".mg-player.listens").count() == 0


def test_where_python_has_gone_one_sentence_says_so(wired: Wired) -> None:
    trace = recorded()
    says_only(wired.show(trace, known=False), trace, "edit.alone")


def test_saved_page_says_that_it_has_no_python(play: Open) -> None:
    trace = recorded()
    says_only(play(trace._pictured()), trace, "edit.saved")


def says_only(frame: Any, trace: Recording, key: str) -> None:
    """Click on a leaf: there is a sentence, and nothing to type into."""
    frame.evaluate("player.player.go(1e6)")
    frame.locator(f"#mg_{node_of(trace.data, 'x')} > .hit").click()
    frame.locator(".edits .note", has_text=SAYS[key]).wait_for()
    assert frame.locator(".edits form").is_hidden()


def test_saved_page_of_an_edited_run_says_so(play: Open) -> None:
    trace = recorded()
    edited = trace.what_if(leaf={"x": 1.5}).recording
    page = play(edited._pictured())
    page.evaluate("player.player.go(1e6)")
    assert page.inner_text(".edits .told") == "Edited: x is 1.5, not 3."
    assert page.evaluate(SHOWN)[f"value {node_of(edited.data, 'x')} 0"][2] is True
    assert "Edited: x starts as 1.5, not 3." in edited.to_markdown()
