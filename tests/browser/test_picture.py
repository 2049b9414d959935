"""The picture of a computation: nothing is covered, and the numbers are right."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import minigrad
from minigrad import nn
from minigrad.views import graph
from minigrad.views import page as pages
from minigrad.views.picture import groups_of, pictures_of
from minigrad.views.recording import Recording, record
from minigrad.views.values import brief_text
from tests.browser import scenes
from tests.browser.laboratory import wait_for_player
from tests.browser.seen import READABLE, contrast_on
from tests.tracing import happenings

RANDOM = 200
STOPS = 12  # of a program, spread over it

# Pairs of texts of the picture that cover each other, and texts that are too small, at
# stops over all of a recording.
COVERED = """
(most) => {
  const { player } = document.getElementById("player");
  const last = player.stops.length - 1;
  const found = new Set();
  for (let i = 0; i <= most; i++) {
    const place = Math.round((i * last) / most);
    player.go(player.stops[place]);
    const shown = [...document.querySelectorAll(".scene text")].filter((one) =>
      one.textContent && one.checkVisibility(
        { opacityProperty: true, visibilityProperty: true }));
    const spots = shown.map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return { left, right, top, bottom, words: one.textContent };
    });
    spots.sort((a, b) => a.left - b.left);
    spots.forEach((a, i) => {
      for (const b of spots.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - b.left;
        if (wide < 0) break;
        const tall = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // A letter's box is taller than the letter.
        if (wide > 1 && tall > 4) found.add(`${place}: ${a.words} | ${b.words}`);
      }
    });
    const scale = document.querySelector(".scene").getScreenCTM().a;
    for (const one of shown) {
      const size = parseFloat(getComputedStyle(one).fontSize) * scale;
      if (size < 10.95) found.add(`${place}: ${one.textContent}: ${size}`);
    }
  }
  return [...found].sort();
}
"""
# Another recording in the place of the one that is there: a page takes longer to load
# than to look at.
ANOTHER = """
(text) => {
  const before = document.getElementById("player");
  before.player.listening.abort();
  before.player.edits.box.remove();
  const place = Object.assign(document.createElement("div"), { id: "player" });
  before.replaceWith(place);
  place.player = new before.player.constructor(place, JSON.parse(text));
}
"""


@pytest.fixture(scope="module")
def still(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 976, "height": 800}, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def board(still: Page, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A page in which one player takes the place of another."""
    return opened(still.context.new_page(), diamond(), tmp_path_factory.mktemp("board"))


def opened(page: Page, trace: Any, folder: Path) -> Page:
    page.goto(trace.save_html(folder / "picture.html").as_uri())
    wait_for_player(page)
    return page


def covered(page: Page) -> list[str]:
    """What is covered or too small in a page."""
    found: list[str] = page.evaluate(COVERED, STOPS)
    return found


def covered_in(board: Page, trace: Any) -> list[str]:
    """The same in the picture of a recording."""
    board.evaluate(ANOTHER, json.dumps(pages.played(trace._pictured())))
    return covered(board)


def layers() -> Any:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    data, targets = minigrad.randn(5, 4), minigrad.tensor([0, 1, 2, 0, 1])
    with record("layers") as trace:
        nn.functional.cross_entropy(net(data), targets).backward()
    return trace


def diamond() -> Any:
    x = minigrad.tensor(0.0, requires_grad=True)
    with record("diamond") as trace:
        a = minigrad.exp(x)
        y = a * 3 + a**2
        y.backward()
    return trace


def unrecorded() -> Any:
    """A call of which nothing asks a gradient, and one that reads what it gave."""
    x = minigrad.tensor([2.0, 3.0], requires_grad=True)
    with record("Unrecorded") as trace:
        with minigrad.no_grad():
            fixed = scenes.Mul.apply(x, x)
        (x * fixed).sum().backward()
    return trace


def batch() -> Any:
    """Two examples, side by side in the columns of x; a and b are the same for both."""
    x = minigrad.arange(6.0).reshape(3, 2).requires_grad_()
    a, b = minigrad.tensor([1.0, 2.0, 3.0]), minigrad.tensor([4.0, 5.0, 6.0])
    with record("A batch") as trace:
        y = minigrad.vmap(lambda x: (x * a + b).sum(0), in_dims=1)(x)
        y.sum().backward()
    return trace


def penalty() -> Any:
    """A slope that goes on: what reads the second graph belongs to it."""
    x, w = (minigrad.tensor(one, requires_grad=True) for one in (2.0, 0.5))
    with record("penalty") as trace:
        y = minigrad.exp(x * w)
        (slope,) = minigrad.autograd.grad(y, x, create_graph=True)
        (slope * slope).backward()
    return trace


class Times(scenes.Mul):
    """With a rule for tangents."""

    @staticmethod
    def jvp(ctx: Any, x_t: Any, y_t: Any) -> Any:
        x, y = ctx.saved_tensors
        return x_t * y + x * y_t

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_forward(x, y)
        return x * y


def tangents() -> Any:
    """Forward mode, and nothing that requires a gradient."""
    forward_ad = minigrad.autograd.forward_ad
    with record("tangents") as trace, forward_ad.dual_level():
        x = forward_ad.make_dual(minigrad.tensor(4.0), minigrad.tensor(1.0))
        y = Times.apply(x, minigrad.tensor(0.5))
        z = y**3
        grid = minigrad.ones(2, 3)
        dual = forward_ad.make_dual(grid, minigrad.full((2, 3), -2.0))
        total = (dual * z).sum()
    assert total.shape == ()
    return trace


SCENES: dict[str, Callable[[], Any]] = {
    name: program for name, program, _ in scenes.SCENES if "compare" not in name
}
SCENES |= {
    "layers": layers,
    "diamond": diamond,
    "unrecorded": unrecorded,
    "batch": batch,
}
SCENES |= {"penalty": penalty, "tangents": tangents}


@pytest.mark.parametrize("name", SCENES)
def test_no_two_labels_of_a_scene_cover_each_other(
    still: Page, tmp_path: Path, name: str
) -> None:
    assert covered(opened(still, SCENES[name](), tmp_path)) == []


@pytest.mark.parametrize("program", happenings.PROGRAMS)
def test_no_two_labels_cover_each_other_whatever_happens(
    board: Page, program: Any
) -> None:
    trace = Recording(happenings.recorded(program).data)
    if trace.data["graph"]["nodes"]:
        assert covered_in(board, trace) == []


def drawn_by_lot(seed: int, is_twice: bool = False) -> Any:
    """A program of a few operations on numbers, vectors and matrices.

    Or, with the gradient of its gradients, a smaller one.
    """
    lot = random.Random(seed)
    shape = lot.choice([(), (), (2,), (3, 2), (4, 6)])
    values = [
        minigrad.randn(*shape).requires_grad_()
        if shape
        else minigrad.tensor(
            round(lot.uniform(-3, 3), lot.choice([0, 2])), requires_grad=True
        )
        for _ in range(lot.randint(1, 3))
    ]
    leaves = tuple(values)
    one: list[Callable[[Any], Any]] = [
        minigrad.exp, minigrad.tanh, lambda v: v * 3, lambda v: v**2, lambda v: -v,
        lambda v: v.sum(), scenes.Cube.apply,
    ]  # fmt: skip
    two: list[Callable[[Any, Any], Any]] = [
        lambda v, w: v + w, lambda v, w: v * w, lambda v, w: v - w, scenes.Mul.apply,
    ]  # fmt: skip
    with contextlib.suppress(ValueError, RuntimeError), record(f"{seed}") as trace:
        for _ in range(lot.randint(2, 4 if is_twice else 8)):
            if lot.random() < 0.5:
                values.append(lot.choice(one)(lot.choice(values)))
            else:
                values.append(lot.choice(two)(lot.choice(values), lot.choice(values)))
        total = values[-1].sum()
        if is_twice:
            slopes = minigrad.autograd.grad(
                total, leaves, create_graph=True, allow_unused=True
            )
            total = sum([(one * one).sum() for one in slopes if one is not None])
        total.backward()
    return trace


def test_no_two_labels_of_a_second_graph_cover_each_other(
    board: Page,
) -> None:
    programs = [drawn_by_lot(seed, is_twice=True) for seed in range(30)]
    orders = [{n["order"] for n in one.data["graph"]["nodes"]} for one in programs]
    assert orders.count({1, 2}) > 20
    assert [covered_in(board, one) for one in programs] == [[]] * 30


def test_no_two_labels_of_any_program_cover_each_other(board: Page) -> None:
    found = {seed: covered_in(board, drawn_by_lot(seed)) for seed in range(RANDOM)}
    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}


def test_no_two_labels_cover_each_other_in_plain_columns(
    board: Page, still: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "renderers", list)
    for seed in range(20):
        assert covered_in(board, drawn_by_lot(seed)) == []
    for name, program in SCENES.items():
        trace = program()
        if "edited" in name:  # in a page of its own
            assert covered(opened(still, trace, tmp_path)) == []
        else:
            assert covered_in(board, trace) == []


def test_labels_that_cover_each_other_are_found(still: Page, tmp_path: Path) -> None:
    page = opened(still, diamond(), tmp_path)
    page.add_style_tag(content=".chip .value { transform: translateX(-30px) }")
    page.add_style_tag(content=".scene .title { font-size: 9px }")
    found = " ".join(covered(page))
    assert "exp: 8" in found
    assert "1 | a" in found


@pytest.mark.parametrize("seed", range(6))
def test_numbers_of_the_picture_are_those_of_the_trace(
    still: Page, tmp_path: Path, seed: int
) -> None:
    trace = drawn_by_lot(seed)
    page = opened(still, trace, tmp_path)
    page.evaluate("player.player.go(1e9)")
    checked = 0
    for event in trace.data["events"]:
        if (
            event["k"] == "grad.accumulate"
            and len(brief_text(trace.data, event["new"])) < 9
        ):
            slot = page.locator(f".leaf:has(#mg_{event['n']}) .slot .value")
            assert slot.text_content() == brief_text(trace.data, event["new"])
            checked += 1
        for out in event.get("outs", ()) if event["k"] == "graph.node" else ():
            written = brief_text(trace.data, out["v"])
            if len(written) < 9:
                chip = page.locator(f"#mg_{event['n']} .chip .value").nth(out["nr"])
                assert chip.text_content() == written
                checked += 1
    assert checked or trace.data["values"]


GROUNDS = """
() => [...document.querySelectorAll(".scene text")].flatMap((one) => {
  const sight = { opacityProperty: true, visibilityProperty: true };
  if (!one.textContent || !one.checkVisibility(sight)) return [];
  const body = one.parentElement.querySelector(":scope > .skin, :scope > rect");
  const own = body ? getComputedStyle(body).fill : "none";
  const pane = getComputedStyle(document.querySelector(".pane.graph")).backgroundColor;
  return [[one.textContent, getComputedStyle(one).fill, own === "none" ? pane : own]];
})
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["forward", "layers", "in-place"])
def test_all_text_of_the_picture_is_readable_from_the_first_step(
    still: Page, tmp_path: Path, scheme: Any, name: str
) -> None:
    still.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page = opened(still, SCENES[name](), tmp_path)
    for move in ("go(0)", "go(1e9)"):
        page.evaluate(f"player.player.{move}")
        page.wait_for_timeout(50)
        texts = page.evaluate(GROUNDS)
        assert len(texts) > 5
        pale = [one for one in texts if contrast_on(one[1], [(one[2], 1.0)]) < READABLE]
        assert pale == []
    still.emulate_media(color_scheme="light", reduced_motion="reduce")


def test_a_box_is_made_filled_docked_used_and_released(
    still: Page, tmp_path: Path
) -> None:
    trace = scenes.product()
    page = opened(still, trace, tmp_path)
    node = next(c["node"] for c in trace.data["ctxs"] if c["name"] == "MulBackward")

    def box(kind: str, **wanted: Any) -> set[str]:
        events = trace.data["events"]
        at = next(
            i
            for i, e in enumerate(events, 1)
            if e["k"] == kind and all(e.get(k) == v for k, v in wanted.items())
        )
        page.evaluate("at => player.player.go(at)", at)
        shown = page.locator(f"#mg_{node} .box")
        kinds = set((shown.get_attribute("class") or "").split())
        return kinds | {f"cells {shown.locator('.cell.inside').count()}"}

    page.evaluate("player.player.go(0)")
    assert page.locator(f"#mg_{node} .box.there").count() == 0
    assert box("ctx.new") >= {"there", "open", "cells 0"}
    assert box("graph.node", n=node) >= {"there"}
    assert "open" not in box("graph.node", n=node)
    saved = box("ctx.save")
    assert page.locator(f"#mg_{node} .box .kept").first.text_content() == "x [1, 2]"
    assert saved >= {"cells 2"}
    assert box("node.enter", n=node) >= {"open", "running"}
    assert box("ctx.free", n=node) >= {"freed", "cells 0"}


def readers() -> Any:
    """What blind readers were shown: their own product beside a built-in one."""
    a, w = (minigrad.tensor(one, requires_grad=True) for one in (2.0, 5.0))
    with record("readers") as trace:
        y = scenes.Mul.apply(a, w)
        z = y + w * 3
        z.backward(retain_graph=True)
        z.backward()
    return trace


def test_slot_shows_what_is_on_its_way_into_it(still: Page, tmp_path: Path) -> None:
    page = opened(still, readers(), tmp_path)
    seen = []
    for stop in page.evaluate("player.player.stops"):
        page.evaluate("at => player.player.go(at)", stop)
        leaf = page.locator(".leaf").first
        tray = leaf.locator(".tray.there .sum").all_text_contents()
        kind = page.locator(".slot.coming").count(), page.locator(".slot.full").count()
        now = leaf.locator(".slot .value").text_content(), *tray, kind
        if now not in seen:
            seen.append(now)
    assert seen == [
        ("None", (0, 0)),
        ("\u2190 5", (2, 0)),
        ("5", (0, 2)),
        ("5", "+ 5", (0, 2)),
        ("10", "5 + 5 = 10", (0, 2)),
    ]


def test_gradient_that_is_only_asked_for_goes_into_no_slot(
    still: Page, tmp_path: Path
) -> None:
    x = minigrad.tensor(3.0, requires_grad=True)
    with record("asked") as trace:
        minigrad.autograd.grad(x * 2, x)
    page = opened(still, trace, tmp_path)
    for stop in page.evaluate("player.player.stops"):
        page.evaluate("at => player.player.go(at)", stop)
        assert page.locator(".slot .value").text_content() == "None"


def test_number_in_the_box_of_a_built_in_operation_goes_when_it_is_released(
    still: Page, tmp_path: Path
) -> None:
    page = opened(still, readers(), tmp_path)
    box = page.locator(".box", has_text="MulBackward0")
    place = "player.player.story.events.findIndex(({k}) => k === 'backward.begin')"
    page.evaluate(f"player.player.go({place})")
    assert box.locator(".cell.inside").all_text_contents() == ["3"]
    page.evaluate("player.player.go(1e9)")
    assert "freed" in (box.get_attribute("class") or "")
    assert box.locator(".cell.inside").count() == 0
    assert box.locator(".empty").text_content() == "released"


def test_node_says_that_it_is_yours_beside_a_built_in_one_of_its_name(
    still: Page, tmp_path: Path
) -> None:
    labels = opened(still, readers(), tmp_path).locator(".box .label")
    assert sorted(labels.all_text_contents()) == [
        "AddBackward0",
        "MulBackward0",
        "your MulBackward",
    ]
    labels = opened(still, scenes.product(), tmp_path).locator(".box .label")
    assert "MulBackward" in labels.all_text_contents()


def test_help_names_the_signs_of_the_picture(still: Page, tmp_path: Path) -> None:
    page = opened(still, readers(), tmp_path)
    page.locator("#player").focus()
    page.keyboard.press("?")
    told = page.locator(".sheet").inner_text()
    for sign in ("value", "kept for later", "meet", "Backward0", ".grad \u2190", "v1"):
        assert sign in told
    assert told.index("What you see") < told.index("Keys")
    page.keyboard.press("Escape")


def test_no_step_moves_a_card(still: Page, tmp_path: Path) -> None:
    page = opened(still, diamond(), tmp_path)
    places = set()
    for stop in page.evaluate("player.player.stops"):
        page.evaluate("at => player.player.go(at)", stop)
        places.add(str(page.locator(".op .skin").first.bounding_box()))
    assert len(places) == 1


@pytest.mark.parametrize("width", [944, 1400, 1920])
def test_picture_has_half_of_the_width_or_more(
    still: Page, tmp_path: Path, width: int
) -> None:
    page = opened(still, diamond(), tmp_path)
    page.set_viewport_size({"width": width + 32, "height": 800})
    for show in ("0", "player.player.setLevel(3)"):
        page.evaluate(show)
        box = page.locator(".pane.graph").bounding_box()
        assert box is not None
        assert box["width"] >= width / 2
    page.set_viewport_size({"width": 976, "height": 800})


def test_modules_are_cards_that_open(still: Page, tmp_path: Path) -> None:
    trace = layers()
    assert {one["title"] for one in groups_of(trace.data).values()} == {
        "linear 1",
        "linear 2",
    }
    folded, whole = pictures_of(trace.data)
    assert len(folded["parts"]) < len(whole["parts"])
    page = opened(still, trace, tmp_path)
    assert page.locator(".param").count() == 4
    page.get_by_role("button", name="Open modules").click()
    assert page.locator(".param").count() == 0
    assert page.locator("g.leaf > .slot").count() == 4
    assert covered(page) == []


def test_levels_choose_the_stops_and_code_of_the_engine(
    still: Page, tmp_path: Path
) -> None:
    page = opened(still, scenes.product(), tmp_path)
    assert page.evaluate("player.player.level") == 0
    assert page.evaluate("player.player.stops.length") < 16
    assert page.locator(".card.engine .line.current").count() == 0
    events = page.evaluate("player.player.stops.slice(1).map((at) => at)")
    assert len(events) == len(set(events))
    place = "document.querySelector('#player').player.story.events"
    at = page.evaluate(f"{place}.findIndex(({{k}}) => k === 'ctx.new') + 1")
    page.evaluate("at => player.player.go(at)", at)
    page.locator("#player").focus()
    page.keyboard.press("e")
    line = page.locator(".card.engine .line.current")
    assert line.is_visible()
    assert "ctx" in (line.text_content() or "")
    page.keyboard.press("e")
    assert line.is_hidden()


def test_picture_is_dragged_zoomed_and_fitted(still: Page, tmp_path: Path) -> None:
    page = opened(still, diamond(), tmp_path)
    view = "document.querySelector('.scene').getAttribute('viewBox')"
    whole = page.evaluate(view)
    box = page.locator(".scene").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40)
    page.mouse.up()
    dragged = page.evaluate(view)
    page.locator("#player").focus()
    page.keyboard.press("+")
    zoomed = page.evaluate(view)
    page.keyboard.press("0")
    assert len({whole, dragged, zoomed}) == 3
    assert page.evaluate(view) == whole


def test_call_without_a_gradient_has_a_card_and_its_box_is_thrown_away(
    still: Page, tmp_path: Path
) -> None:
    trace = unrecorded()
    page = opened(still, trace, tmp_path)
    events = trace.data["events"]
    call = next(e for e in events if "ins" in e and "n" not in e)
    box, chip = (f"#mg_{call['cid']} .{kind}" for kind in ("box.there", "chip .value"))

    def shown(at: int) -> tuple[int, str | None]:
        page.evaluate("at => player.player.go(at)", at)
        return page.locator(box).count(), page.locator(chip).text_content()

    made = next(i for i, e in enumerate(events, 1) if e["k"] == "ctx.new")
    assert shown(0) == (0, "?")
    assert shown(made) == (1, "?")
    assert shown(events.index(call) + 1) == (0, "[4, 9]")
    assert page.locator(f"#mg_{call['cid']} .dock").is_hidden()
    page.evaluate("player.player.go(1e9)")
    (read,) = [
        line
        for line in page.evaluate("player.player.graph.picture.lines")
        if line["of"] == call["cid"]
    ]
    assert read["k"] == "value"


def heights(trace: Any) -> tuple[list[float], list[float]]:
    """The lower ends of the parts of the second graph, the upper ones of the first."""
    (picture,) = pictures_of(trace.data)
    nodes = [(node["id"], node["order"]) for node in trace.data["graph"]["nodes"]]
    while nodes[-1][1] == 1:  # made later: they read the second graph
        nodes.pop()
    order = dict(nodes)
    ends: dict[bool, list[float]] = {True: [], False: []}
    for part in picture["parts"]:
        if part["id"] in order:
            spots = [part[k] for k in ("chip", "slot", "card", "box") if k in part]
            spots += [part["tray"], *part.get("chips", ())]
            is_upper = order[part["id"]] > 1
            pick = max if is_upper else min
            ends[is_upper].append(
                pick([y + tall * is_upper for _, y, _, tall in spots])
            )
    return ends[True], ends[False]


@pytest.mark.parametrize("is_drawn_by_graphviz", [True, False])
@pytest.mark.parametrize("program", [scenes.twice, scenes.cubed_twice])
def test_second_graph_stands_above_the_first(
    monkeypatch: pytest.MonkeyPatch, program: Any, is_drawn_by_graphviz: bool
) -> None:
    if not is_drawn_by_graphviz:
        monkeypatch.setattr(graph, "renderers", list)
    trace = program()
    upper, lower = heights(trace)
    assert len(upper) > 1
    assert max(upper) < min(lower)
    monkeypatch.setattr("minigrad.views.picture.Scene.upper", lambda scene: set())
    upper, lower = heights(trace)
    assert max(upper) > min(lower)


def test_what_reads_the_second_graph_stands_above_too() -> None:
    trace = penalty()
    (picture,) = pictures_of(trace.data)
    parts = {part["id"]: part for part in picture["parts"]}
    last = trace.data["graph"]["nodes"][-1]
    assert last["order"] == 1
    leaf = next(part for part in parts.values() if part["k"] == "leaf")
    assert parts[last["id"]]["tray"][1] < leaf["chip"][1]


def test_tangents_are_drawn_where_no_gradient_is_asked_for(
    still: Page, tmp_path: Path
) -> None:
    trace = tangents()
    assert trace.data["graph"]["nodes"] == []
    page = opened(still, trace, tmp_path)
    trays = page.locator(".tray.tangent.there")
    for stop in range(page.evaluate("player.player.stops.length")):
        page.evaluate("at => player.player.go(player.player.stops[at])", stop)
        told = [
            event
            for event in trace.data["events"][: page.evaluate("player.player.position")]
            if event["k"] == "tangent"
        ]
        texts = [text.removeprefix("tangent ") for text in trays.all_text_contents()]
        values = trace.data["values"]
        wanted = [
            "2\u00d73"
            if values[e["g"]["v"]]["shape"]
            else brief_text(trace.data, e["g"])
            for e in told
        ]
        assert sorted(texts) == sorted(wanted)
    assert sorted(texts) == ["-60", "0.5", "1", "2\u00d73", "2\u00d73", "6"]
    names = page.locator(".op .title").all_text_contents()
    assert {"Times", "sum"} < set(names)
    assert page.locator(".flow.tangent").count() == 5
    assert page.locator(".flow:not(.tangent)").count() == 1  # of 0.5
    assert page.locator(".tray.tangent .squares .minus").count() == 2
    assert page.locator(".graph p.empty:not([hidden])").count() == 0
    page.evaluate("player.player.graph.zoom(0.3, 0, 0); player.player.go(0)")
    x = page.evaluate("player.player.graph.view[0]")
    page.evaluate("player.player.go(1e9)")  # brings what is spoken of into view
    assert page.evaluate("player.player.graph.view[0]") > x + 100


def test_sum_stands_in_full_where_gradients_meet(still: Page, tmp_path: Path) -> None:
    with record("Meeting") as trace:
        x = minigrad.tensor(2.0, requires_grad=True)
        shared = x * 1.25
        (shared * 3 + shared * 12.5).backward()
    page = opened(still, trace, tmp_path)
    page.evaluate("player.player.go(1e9)")
    sums = page.locator(".call .tray.there .sum").all_text_contents()
    assert [one for one in sums if "+" in one] == ["12.5 + 3 = 15.5"]


def test_strip_of_memory_is_open_at_once_where_the_recording_asks(
    still: Page, tmp_path: Path
) -> None:
    strip = "player.player.timeline.box.open"
    assert not opened(still, scenes.product(), tmp_path).evaluate(strip)
    page = opened(still, scenes.product().with_memory(), tmp_path)
    assert page.evaluate(strip)
    assert page.locator(".memory .chart").is_visible()
    assert page.evaluate("player.player.isAtRest()")


def test_saved_page_takes_keys_at_once(still: Page, tmp_path: Path) -> None:
    page = opened(still, scenes.product(), tmp_path)
    assert page.evaluate("document.activeElement === document.body")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator(".count").inner_text().startswith("1 /")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_player_plays_at_once_where_it_is_asked_to(
    browser: Browser, tmp_path: Path, motion: Any
) -> None:
    context = browser.new_context(reduced_motion=motion)
    page = opened(context.new_page(), scenes.product().playing(), tmp_path)
    plays = motion != "reduce"
    assert bool(page.evaluate("player.player.playing")) == plays
    assert (page.evaluate("player.player.position") > 0) == plays
    context.close()


def test_examples_of_a_vmap_are_stacks_whose_axis_is_set_apart(
    still: Page, tmp_path: Path
) -> None:
    opened(still, batch(), tmp_path).evaluate("player.player.go(1e9)")
    texts = still.locator(".scene .shape, .scene .slot .value").all_text_contents()
    assert sorted(filter(None, texts)) == [*["3\u00d7[2]"] * 2, *["[2]\u00d73"] * 3]
    stacks = still.locator(".chip:has(.behind)").count()
    assert (stacks, still.locator(".chip").count()) == (5, 8)
    opened(still, layers(), tmp_path)
    assert still.locator(".behind, .between").count() == 0
