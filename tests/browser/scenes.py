"""Scenes of the player: ``python -m tests.browser.scenes FOLDER [WIDTH]``."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import minigrad
from minigrad import _bootstrap
from minigrad.autograd import Function
from minigrad.views import script
from minigrad.views.recording import Recording, record
from minigrad.views.whatif import Edits
from tests.browser.laboratory import FLAGS, wait_for_player


class Mul(Function):
    """x * y, which keeps both."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


class Cube(Function):
    """x cubed."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad_output


class Forgets(Cube):
    """The same, with a mistake in backward."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * grad_output


class Unpacks(Cube):
    """The same, and takes more out of ctx than there is."""

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, y = ctx.saved_tensors
        return 3 * x * y * grad_output


def leaves() -> tuple[Any, Any]:
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = minigrad.tensor([3.0, -1.0], requires_grad=True)
    return x, y


def product(keep_values: bool = False) -> Any:
    """A custom product, a sum, and backward; x is used twice."""
    x, y = leaves()
    with record("A product", keep_values=keep_values) as trace:
        z = Mul.apply(x, y)
        loss = (z + x).sum()
        loss.backward()
    return trace


def in_place() -> Any:
    """A change in place, before the node that needs the old value runs."""
    x, y = leaves()
    with record("In place") as trace:
        product = x * y
        product.mul_(3)
        product.sum().backward()
    return trace


def twice() -> Any:
    """A second graph above the first."""
    x, _ = leaves()
    with record("A second derivative") as trace:
        y = Cube.apply(x).sum()
        (slope,) = minigrad.autograd.grad(y, x, create_graph=True)
        slope.sum().backward()
    return trace


def cubed_twice() -> Any:
    """The same of a built-in power, whose sum of gradients is in the second graph."""
    x, y = leaves()
    with record("A second derivative of a power") as trace:
        (slope,) = minigrad.autograd.grad((x**3 * y).sum(), x, create_graph=True)
        slope.sum().backward()
    return trace


def failing() -> Any:
    """A backward that raises."""
    x, _ = leaves()
    with contextlib.suppress(ValueError), record("An exception") as trace:
        Unpacks.apply(x).sum().backward()
    return trace


def halved(x: Any, times: int) -> Any:
    return x if times == 0 else halved(x / 2, times - 1)


def deep() -> Any:
    """A stack of seven calls."""
    x, _ = leaves()
    with record("Deep", watch=[halved]) as trace:
        halved(x, 6).sum().backward()
    return trace


def of_slope(function: Any) -> Any:
    x, _ = leaves()
    with record(function.__name__) as trace:
        function.apply(x).sum().backward()
    return trace


def two() -> Any:
    """Yours and the reference side by side."""
    return minigrad.compare(of_slope(Forgets), of_slope(Cube))


END = "backward is finished"
READY = "MulBackward is ready"
# Of each kind: the step and the place at which it is typed over, by what; and where the
# picture is taken.
EDITS = (
    ("leaf", END, "node <x>", "[1.0, 5.0]", END),
    ("saved", READY, "entry c0 saved.0", "[1.0, 5.0]", "Edited: saved[0]"),
    ("gradient", READY, "waits <MulBackward> 0", "[1.0, 5.0]", END),
    ("sent", END, "edge e3", "[1.0, 5.0]", END),
    ("grad", END, "grad <x>", "[1.0, 5.0]", END),
)


class Edited:
    """A page on which a value was typed over, as if Python had answered it."""

    def __init__(self, trace: Recording, at: str, what: str, text: str) -> None:
        nodes = trace.data["graph"]["nodes"]
        for name in ("tensor", "label"):
            for node in nodes:
                what = what.replace(f"<{node[name]}>", node["id"])
        says = [event["say"] for event in trace.data["events"]]
        place = next(i for i, say in enumerate(says, 1) if at in say)
        edit = {"what": what, "position": place, "text": text}
        self._trace = trace
        self._run = {"edits": [edit], **Edits(trace).edit({"edits": [edit]})}

    def save_html(self, path: Path) -> Path:
        """Write the page, which shows the edit at once."""
        run = json.dumps([script.code("edits"), self._run]).replace("</", "<\\/")
        text = self._trace.save_html(path).read_text(encoding="utf-8")
        whole = text.replace("</body>", f"<script>({SHOW})({run})</script></body>")
        assert whole != text
        path.write_text(whole, encoding="utf-8")
        return path


# What a page does before its player is there: Python answers, and has run it again.
SHOW = """([code, run]) => Object.defineProperty(HTMLElement.prototype, "player", {
  configurable: true,
  set(player) {
    const main = document.querySelector("main");
    main.edits = async (over) => {
      delete HTMLElement.prototype.player;
      const { port1 } = new MessageChannel();
      player.edits.python = async () => ({ edits: (trace) => over(trace, port1) });
      const edits = await player.edits.connect();
      edits.runs.push(run);
      edits.show();
    };
    main.unpack.run(code);
  },
})"""


def edited(at: str, what: str, text: str) -> Any:
    """The product, with a value that was typed over."""
    return Edited(product(keep_values=True), at, what, text)


def before_and_after() -> Any:
    """What was and what would be, above each other."""
    trace = product(keep_values=True)
    return trace.what_if("MulBackward is ready", saved={0: [1.0, 5.0]})


# Name, what is recorded, and words of the sentence at which the picture is taken.
SCENES: tuple[tuple[str, Callable[[], Any], str], ...] = (
    ("forward", product, "apply runs Mul.forward"),
    ("save", product, "apply takes what was saved"),
    ("backward", product, "what waited at its node"),
    ("fan-in", product, "Both are here"),
    ("in-place", in_place, "product.grad_fn is this node now"),
    ("double", twice, "gets [1, 2]"),
    ("error", failing, "not enough values"),
    ("compare", two, ""),
    *[
        (f"edited-{name}", functools.partial(edited, at, what, text), words)
        for name, at, what, text, words in EDITS
    ],
    ("edited-compare", before_and_after, ""),
)
THEMES = ("light", "dark")

GO_TO_WORDS = """
words => {
  const { player } = document.getElementById("player");
  if (player.goToDifference) return player.goToDifference();
  const place = player.trace.events.findIndex(({ say }) => say.includes(words));
  player.go(place + 1);
  return place;
}
"""


def main(folder: Path, width: int = 1200, zoom: float = 1.0) -> int:
    """Take all pictures."""
    path = _bootstrap.find_browser(os.environ)
    folder.mkdir(parents=True, exist_ok=True)
    room = {"width": int(width / zoom), "height": int(900 / zoom)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for theme in THEMES:
            page = browser.new_page(
                viewport=room, color_scheme=theme, device_scale_factor=zoom
            )
            for name, recorded, words in SCENES:
                page.goto(recorded().save_html(folder / f"{name}.html").as_uri())
                wait_for_player(page)
                assert page.evaluate(GO_TO_WORDS, words) != -1, name
                page.wait_for_timeout(1_200)  # until what flashes and travels is over
                picture = folder / f"{name}-{theme}.png"
                page.locator("#player").screenshot(path=picture)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(float, sys.argv[2:])))
