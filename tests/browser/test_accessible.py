"""The player for everybody: what axe-core finds in its frame, contrast, narrowness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame

from minigrad.views.comparing import compare
from minigrad.views.recording import Recording
from tests.browser.conftest import ALL_OPEN, READY
from tests.browser.seen import unreadable
from tests.browser.test_player_page import real
from tests.tracing import happenings
from tests.views.test_comparing import Attribute, Saved, recorded

AXE = Path(__file__).parent / "vendored" / "axe-core-4.14.1" / "axe.min.js"
NOTEBOOK = (
    '<!doctype html><html lang="en"><title>Notebook</title>'
    '<body data-jp-theme-light="{light}"><main><h1>Notebook</h1>{output}</main></body>'
)
RUN_AXE = """
async () => {
  for (const animation of document.getAnimations()) animation.finish();
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]);
}
"""
OUTSIDE = """
() => {
  const wide = document.documentElement.clientWidth;
  const parts = document.querySelectorAll(
    "#player button, #player select, #player input, #player .pane, #player summary",
  );
  return [...parts].filter((one) => {
    const box = one.getBoundingClientRect();
    const inPane = one.closest(".body, .help, .chart");
    return one.checkVisibility() && !inPane && (box.right > wide + 1 || box.left < -1);
  }).map((one) => one.outerHTML.slice(0, 80));
}
"""

Framed = Callable[..., Frame]


@pytest.fixture
def framed(browser: Browser, tmp_path: Path) -> Iterator[Framed]:
    """Opens a notebook output; gives the frame with the player."""
    contexts = []

    def opened(
        shown: Any, light: bool = True, width: int = 1400, **options: Any
    ) -> Frame:
        output = shown._repr_mimebundle_()["text/html"]
        path = tmp_path / "notebook.html"
        text = NOTEBOOK.format(light=str(light).lower(), output=output)
        path.write_text(text, encoding="utf-8")
        viewport = {"width": width, "height": 950}
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.goto(path.as_uri())
        frame = page.frames[-1]
        frame.wait_for_function(READY)
        if isinstance(shown, Recording):
            frame.evaluate(ALL_OPEN)
        return frame

    yield opened
    for context in contexts:
        context.close()


def asking() -> Recording:
    """A recording of the engine that asks before x.grad changes."""
    recording = Recording(real())
    choices = ["10", "13"]
    return recording.ask("And x.grad?", choices, "13", before="x.grad was empty")


def violations(frame: Frame) -> Any:
    return frame.evaluate(RUN_AXE)


def saying(recording: Recording, kind: str) -> int:
    events = recording.data["events"]
    return next(i for i, event in enumerate(events, 1) if event["k"] == kind)


@pytest.mark.parametrize(
    ("light", "moves"),
    [
        (True, ("go({saved})", "go(1e6)", "found.open()", "found.search('grad')")),
        (False, ("go({backward})", "toggleHelp()")),
    ],
    ids=["light", "dark"],
)
def test_axe_finds_nothing_in_the_frame_and_all_text_is_readable(
    framed: Framed, light: bool, moves: tuple[str, ...]
) -> None:
    recording = asking()
    places = {
        "saved": saying(recording, "ctx.save"),
        "backward": saying(recording, "grad"),
    }
    frame = framed(recording, light)
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    for move in moves:
        frame.evaluate(f"player.player.{move.format(**places)}")
        assert unreadable(frame, "#player") == {}, move
    assert violations(frame) == []


@pytest.mark.parametrize("program", happenings.PROGRAMS)
def test_axe_finds_nothing_whatever_happens(framed: Framed, program: Any) -> None:
    frame = framed(Recording(happenings.recorded(program).data))
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    frame.evaluate("player.player.go(1e6)")
    assert violations(frame) == []


@pytest.mark.parametrize("light", [True, False], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 944, 1400])
def test_axe_finds_nothing_in_a_comparison_and_all_text_is_readable(
    framed: Framed, light: bool, width: int
) -> None:
    frame = framed(compare(recorded(Saved), recorded(Attribute)), light, width)
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    for move in ("goToDifference()", "goOn()", "goToStop(10)", "setLevel(2)"):
        frame.evaluate(f"player.player.{move}")
        assert unreadable(frame, "#player") == {}, move
        assert frame.evaluate(OUTSIDE) == [], move
    assert violations(frame) == []


FOCUSED = """
() => {
  const now = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(now);
  const name = now.getAttribute("aria-label") || now.textContent;
  return now.closest("#player") && [name, `${outlineStyle} ${outlineWidth}`];
}
"""


def rings(frame: Frame) -> dict[str, str]:
    """The ring of each thing that the Tab key comes to, by its name."""
    frame.locator("#player").focus()
    found = {}
    while True:
        frame.page.keyboard.press("Tab")
        focused = frame.evaluate(FOCUSED)
        if focused is None:
            return found
        found[focused[0]] = focused[1]


def test_whatever_the_tab_key_comes_to_has_a_ring_and_it_comes_out(
    framed: Framed,
) -> None:
    recording = asking()
    frame = framed(recording)
    frame.evaluate(f"player.player.go({saying(recording, 'node.enter')})")
    found = rings(frame)
    assert len(found) > 20
    assert any(name.endswith("SumBackward0: its steps") for name in found)
    assert set(found.values()) == {"solid 2px"}
    frame.add_style_tag(content="#player .hit:focus-visible { outline: none; }")
    assert set(rings(frame).values()) != {"solid 2px"}


def test_planted_violations_are_found(framed: Framed) -> None:
    frame = framed(asking())
    frame.evaluate(AXE.read_text(encoding="utf-8"))
    frame.evaluate(
        """() => {
          const button = document.querySelector(".bar button.icon");
          button.removeAttribute("aria-label");
          button.removeAttribute("title");
          document.querySelector(".say").style.color = "#999";
          document.querySelector(".slider").removeAttribute("aria-label");
        }"""
    )
    found = {name for name, _ in violations(frame)}
    assert found == {"button-name", "color-contrast", "label"}


@pytest.mark.parametrize(
    ("width", "scale"),
    [(800, 1), (640, 2), (390, 2)],
    ids=["800 px", "200 %", "phone"],
)
def test_nothing_is_out_of_reach_on_a_narrow_page(
    framed: Framed, width: int, scale: int
) -> None:
    recording = asking()
    frame = framed(recording, width=width, device_scale_factor=scale)
    for move in ("go(1e6)", "found.open()", "found.search('gradient')"):
        frame.evaluate(f"player.player.{move}")
        assert frame.evaluate(OUTSIDE) == [], move
    wider = "player.querySelector('.settings').style.marginLeft = '3000px'"
    frame.evaluate(wider)
    assert frame.evaluate(OUTSIDE) != []
