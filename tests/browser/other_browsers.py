"""The saved page in another browser: ``python -m tests.browser.other_browsers NAME``.

That is ``firefox``, or ``webkit``, the engine of Safari. Each position of each level is
shown there and in Chromium, and what stands on the screen is compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import sync_playwright

from minigrad import _bootstrap
from tests.browser.laboratory import FLAGS, free_port
from tests.browser.seen import READ_PLAYER
from tests.browser.test_picture import SCENES

SIZE = 976, 900
HEADS = {"Content-Type": "application/json"}
READY = "return Boolean(document.getElementById('player')?.player)"
# What is shown: the player's own account, and each text of the picture with its place.
SHOWN = """
const { player } = document.getElementById("player");
player.still = { matches: true };
const [level, stop] = arguments;
if (player.level !== level) player.setLevel(level);
player.go(player.stops[stop]);
for (const one of document.getAnimations()) one.finish();
const sight = { opacityProperty: true, visibilityProperty: true };
const { left, top } = document.getElementById("player").getBoundingClientRect();
const texts = [...document.querySelectorAll(".scene text")].filter((one) =>
  one.textContent && one.checkVisibility(sight));
return [(READ_PLAYER)(), texts.map((one) => {
  const box = one.getBoundingClientRect();
  const middle = [box.left + box.width / 2 - left, box.top + box.height / 2 - top];
  return [one.textContent, ...middle];
})];
""".replace("READ_PLAYER", READ_PLAYER)


class Marionette:
    """Speaks to a Firefox that listens at a port."""

    def __init__(self, port: int) -> None:
        self._stream = socket.create_connection(("127.0.0.1", port), 60).makefile("rwb")
        self._numbers = itertools.count(1)
        self._read()  # its greeting
        self("WebDriver:NewSession")
        width, height = SIZE
        self("WebDriver:SetWindowRect", width=width, height=height + 100)

    def __call__(self, command: str, **parameters: Any) -> Any:
        """What Firefox answers to a command."""
        text = json.dumps([0, next(self._numbers), command, parameters]).encode()
        self._stream.write(b"%d:%b" % (len(text), text))
        self._stream.flush()
        _, _, error, result = self._read()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def goto(self, url: str) -> None:
        """Open a page."""
        self("WebDriver:Navigate", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        answer = self("WebDriver:ExecuteScript", script=script, args=list(arguments))
        return answer["value"]

    def _read(self) -> Any:
        size = b""
        while not size.endswith(b":"):
            size += self._stream.read(1)
        return json.loads(self._stream.read(int(size[:-1])))


class WebDriver:
    """Speaks to a driver of the W3C's protocol that listens at a port."""

    def __init__(self, port: int, options: dict[str, Any]) -> None:
        self._base = f"http://127.0.0.1:{port}/session"
        answer = self("", capabilities={"alwaysMatch": options})
        self._base += f"/{answer['sessionId']}"
        width, height = SIZE
        self("/window/rect", width=width, height=height + 100)

    def __call__(self, command: str, **parameters: Any) -> Any:
        """What the driver answers to a command."""
        asked = urllib.request.Request(
            self._base + command, json.dumps(parameters).encode(), HEADS
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)["value"]

    def goto(self, url: str) -> None:
        """Open a page."""
        self("/url", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self("/execute/sync", script=script, args=list(arguments))


Driven = Marionette | WebDriver
T = TypeVar("T")


@contextmanager
def running(*command: str, **environment: str) -> Iterator[None]:
    """A program that ends when this does."""
    started = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        started.terminate()
        started.wait(30)


def listening(connect: Callable[[], T]) -> T:
    """What connects, once somebody listens."""
    end = time.monotonic() + 60
    while True:
        try:
            return connect()
        except (ConnectionRefusedError, urllib.error.URLError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@contextmanager
def firefox() -> Iterator[Driven]:
    """A Firefox with a fresh profile, by its own protocol."""
    path = shutil.which("firefox-esr") or found("firefox")
    port = free_port()
    preferences = {"marionette.port": port, "ui.prefersReducedMotion": 1}
    lines = [f'user_pref("{name}", {value});' for name, value in preferences.items()]
    with tempfile.TemporaryDirectory() as profile:
        Path(profile, "user.js").write_text("\n".join(lines), encoding="utf-8")
        with running(path, "--marionette", "--headless", "--profile", profile):
            yield listening(lambda: Marionette(port))


@contextmanager
def webkit() -> Iterator[Driven]:
    """WebKitGTK's own small browser, on a screen that nobody sees."""
    driver, screen, port = found("WebKitWebDriver"), found("Xvfb"), free_port()
    browsers = Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")
    options = {"binary": str(max(browsers)), "args": ["--automation"]}
    number = f":{port}"  # of the screen: as free as the port is
    environment = {
        "DISPLAY": number,
        # In a container it can make no sandbox, and has no graphics card.
        "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
    }
    with (
        running(screen, number, "-screen", "0", "1400x1100x24", "-nolisten", "tcp"),
        running(driver, f"--port={port}", **environment),
    ):
        yield listening(lambda: WebDriver(port, {"webkitgtk:browserOptions": options}))


BROWSERS: dict[str, tuple[str, float, Callable[[], AbstractContextManager[Driven]]]]
BROWSERS = {
    "firefox": ("firefox-esr", 2.5, firefox),
    "webkit": ("webkit2gtk-driver xvfb", 7.5, webkit),
}
"""Debian's packages, how it's started, and how many pixels a label may be elsewhere.

WebKit sets the same letters wider or closer, and what is drawn in the middle moves.
"""


def found(program: str) -> str:
    """The path of a program. Raises: FileNotFoundError."""
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(program)
    return path


def differences(one: Any, other: Any, near: float) -> Iterator[str]:
    """What two browsers show differently at a position."""
    if one[0] != other[0]:
        yield f"{one[0]} is {other[0]} there"
    if [text for text, *_ in one[1]] != [text for text, *_ in other[1]]:
        yield f"{one[1]} is {other[1]} there"
        return
    for (text, x, y), (_, left, top) in zip(one[1], other[1], strict=True):
        if max(abs(x - left), abs(y - top)) > near:
            yield f"{text!r} is at {x:.0f}, {y:.0f} and at {left:.0f}, {top:.0f}"


def compare(other: Driven, page: Any, file: Path, near: float) -> tuple[int, list[str]]:
    """How many positions of a page were compared, and what differs."""
    other.goto(file.as_uri())
    page.goto(file.as_uri())
    while not other.run(READY) or not page.evaluate(f"() => {{{READY}}}"):
        time.sleep(0.05)
    count, found = 0, []
    for level in (0, 2, 3):
        shown = f"([...args]) => (function () {{{SHOWN}}})(...args)"
        stop = 0
        while True:
            here = page.evaluate(shown, [level, stop])
            found += [
                f"{level}/{stop}: {text}"
                for text in differences(here, other.run(SHOWN, level, stop), near)
            ]
            count += 1
            stop += 1
            if stop >= page.evaluate("player.player.stops.length"):
                break
    return count, found


def main(name: str, scenes: Sequence[str]) -> int:
    """Compare scenes; 2 where the browser isn't installed."""
    packages, near, started = BROWSERS[name]
    wrong, seen = 0, set[Any]()
    try:
        with (
            started() as other,
            sync_playwright() as playwright,
            tempfile.TemporaryDirectory() as folder,
        ):
            print(other.run("return navigator.userAgent"))
            chromium = _bootstrap.find_browser(os.environ)
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            width, height = SIZE
            page = browser.new_page(
                viewport={"width": width, "height": height}, reduced_motion="reduce"
            )
            for scene in scenes or SCENES:
                program = SCENES[scene]
                if program in seen:
                    continue
                seen.add(program)
                file = program().save_html(Path(folder, f"{scene}.html"))
                count, differ = compare(other, page, file, near)
                said = f"{scene}: {count} positions, {len(differ)} differ"
                print(said, *differ[:3], sep="\n  ", flush=True)
                wrong += len(differ)
            browser.close()
    except FileNotFoundError as missing:
        print(f"there is no {missing} here: apt-get install {packages}")
        return 2
    return bool(wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("browser", choices=BROWSERS)
    parser.add_argument("scenes", nargs="*", help="all, if none is named")
    chosen = parser.parse_args()
    sys.exit(main(chosen.browser, chosen.scenes))
