"""The live player without a browser: recording again, answers, what it refuses."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest

import minigrad as mg
from minigrad import errors
from minigrad.views import graph
from minigrad.views.live_player import LivePlayer, live


class Doubled(mg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad_output: mg.Tensor) -> mg.Tensor:
        return grad_output * 2


class Shifted(mg.autograd.Function):
    @staticmethod
    def forward(x: mg.Tensor, by: float) -> mg.Tensor:
        return x + by

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad_output: mg.Tensor) -> tuple[mg.Tensor, None]:
        return grad_output, None


def program(x: mg.Tensor, n: int = 2, name: str = "a") -> None:
    print(name, n)
    for _ in range(n):
        x = x * 2
    if n == 5:
        raise ValueError("five is too many")
    x.sum().backward()


def leaf(value: Any = 1.5) -> mg.Tensor:
    return mg.tensor(value, requires_grad=True)


def shown(player: LivePlayer) -> Any:
    return json.loads(player.widget.shown)


def multiplications(player: LivePlayer) -> int:
    nodes = shown(player)["trace"]["graph"]["nodes"]
    return [node["label"] for node in nodes].count("MulBackward0")


class Page:
    """What a page says to a player, and what it hears."""

    def __init__(self, player: LivePlayer) -> None:
        self.player = player
        self.heard: list[Any] = []
        player.widget.send = self.heard.append

    def ask(self, kind: str, content: Any) -> Any:
        asked = {"kind": kind, "id": str(len(self.heard)), "content": content}
        self.player._heard(None, asked, None)
        reply = self.heard[-1]
        assert (reply["kind"], reply["id"]) == ("answer", asked["id"])
        return reply

    def type(self, by: str = "me 1", **values: Any) -> Any:
        return self.ask("inputs", {"values": values, "by": by})


def test_change_records_again_with_new_leaves() -> None:
    player = live(program, x=leaf())
    first, x = player.recording, player.arguments["x"]
    Page(player).type(n="3")
    assert player.recording is not first
    assert multiplications(player) == 3
    assert player.arguments["x"] is not x
    assert (x.grad.item(), player.arguments["x"].grad.item()) == (4.0, 8.0)


def test_all_arguments_with_a_default_have_an_input_and_others_must_be_given() -> None:
    player = live(program, leaf())
    assert repr(player) == "<LivePlayer program(x='1.5', n='2', name='a')>"
    with pytest.raises(errors.ArgumentTypeError, match="missing a required argument"):
        live(program)
    with pytest.raises(errors.ArgumentTypeError, match="unexpected keyword"):
        live(program, x=1.0, m=2)


def test_default_is_where_a_slider_with_given_ends_starts() -> None:
    player = live(program, x=leaf(), n=(0, 4))
    assert shown(player)["values"]["n"] == "2"
    assert shown(player)["inputs"]["n"] == {
        "kind": "slider",
        "low": 0,
        "high": 4,
        "step": 1,
    }


def test_default_that_is_a_tuple_is_no_range() -> None:
    def shaped(shape: tuple[int, int] = (3, 2)) -> None:
        (mg.ones(shape, requires_grad=True) * 2).sum().backward()

    assert repr(live(shaped)).endswith("shaped()>")


def test_function_class_takes_the_arguments_of_its_forward() -> None:
    assert repr(live(Doubled, leaf())) == "<LivePlayer Doubled(x='1.5')>"
    shifted = live(Shifted, leaf(), by=(0.0, 1.0))
    assert repr(shifted) == "<LivePlayer Shifted(x='1.5', by='0.5')>"


def test_argument_may_be_called_function() -> None:
    def called(function: str, self: float = 1.0) -> None:
        (leaf() * self).backward()

    assert repr(live(called, function="relu")).endswith(
        "(function='relu', self='1.0')>"
    )


def test_arguments_without_a_name_are_refused() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="takes any number of arguments"):
        live(lambda *arguments: None, 1.0)


def test_wrong_input_is_said_and_the_last_good_recording_stays() -> None:
    player = live(program, x=leaf([1.0, 2.0]))
    page = Page(player)
    before = player.recording
    page.type(x="[1, 2", n="2", name="a")
    assert player.recording is before
    assert "isn't a list of numbers" in shown(player)["problems"]["x"]
    assert shown(player)["values"]["x"] == "[1, 2"


def test_other_inputs_work_on_beside_a_wrong_one_with_its_last_good_value() -> None:
    player = live(program, x=leaf([1.0, 2.0]))
    page = Page(player)
    page.type(x="[3.0, 4.0]", n="2", name="a")
    page.type(x="[3.0,", n="4", name="a")
    assert multiplications(player) == 4
    assert player.arguments["x"].tolist() == [3.0, 4.0]
    page.type(x="[3.0]", n="4", name="a")
    assert shown(player)["problems"] == {}
    assert player.arguments["x"].tolist() == [3.0]


def test_what_is_shown_names_the_change_that_led_to_it() -> None:
    player = live(program, x=leaf())
    Page(player).type(by="this page 7", x="1", n="1", name="a")
    assert shown(player)["by"] == "this page 7"


def test_exception_of_the_function_is_recorded_as_in_any_player() -> None:
    player = live(program, x=leaf())
    Page(player).type(x="1.5", n="5", name="a")
    assert shown(player)["trace"]["meta"]["error"] == "ValueError: five is too many"
    assert "exception" in [event["k"] for event in shown(player)["trace"]["events"]]


def test_what_the_function_prints_is_shown_and_goes_nowhere_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    player = live(program, x=leaf())
    Page(player).type(name="b")
    assert shown(player)["printed"] == "b 2\n"
    assert capsys.readouterr().out == ""


def test_picture_that_the_function_returns_is_shown_and_nothing_else() -> None:
    def draws(n: int = 1) -> Any:
        x = mg.tensor(3.0, requires_grad=True)
        y = x * n
        curve = mg.plot_lines([0, 9], {"a": [0, 9]}, x="x", y="y", says="It grows.")
        return curve.marked(y.item(), n) if n < 3 else y

    player = live(draws, n=(1, 3))
    assert "The ring is at 3: 1." in shown(player)["drawn"]
    Page(player).type(n=2)
    assert "The ring is at 6: 2." in shown(player)["drawn"]
    Page(player).type(n=3)
    assert shown(player)["drawn"] == ""


def test_every_question_is_answered() -> None:
    page = Page(live(program, x=leaf()))
    what = {"what": "node nowhere", "position": 1, "text": "2"}
    assert "it can't be changed" in page.ask("edit", {"edits": [what]})["refused"]
    assert page.ask("nobody", {})["refused"] == "KeyError: 'nobody'"
    assert page.type(y="1")["refused"].startswith("KeyError")


def test_picture_that_was_laid_out_is_not_laid_out_again() -> None:
    player = live(program, x=leaf())
    Page(player).type(n="3")
    laid_out = graph.run.cache_info().misses
    for count in ("2", "3", "2"):
        Page(player).type(n=count)
    assert graph.run.cache_info().misses <= laid_out + 2  # of 2 calls, and its drawing
    assert shown(player)["trace"]["graph"]["pictures"]


def test_bundle_has_the_widget_and_words_and_never_html() -> None:
    player = live(program, x=leaf())
    bundle = player._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    assert ".recording is the player without them" in bundle["text/plain"]
    assert "<iframe" in player.recording._repr_mimebundle_()["text/html"]


def test_without_anywidget_it_is_said_how_to_get_it_and_what_to_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *rest: None if name == "anywidget" else find(name, *rest),
    )
    with pytest.raises(ModuleNotFoundError, match="pip install anywidget") as caught:
        live(program, x=leaf())
    assert "minigrad.step(function, ...)" in str(caught.value)


def test_anywidget_is_loaded_by_the_first_live_player_only() -> None:
    program = """
import sys, minigrad
minigrad.live
print("anywidget" in sys.modules)
minigrad.live(lambda x: minigrad.tensor(x) * 2, 1.0)
print("anywidget" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "True"]
