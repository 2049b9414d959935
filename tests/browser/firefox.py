"""The saved page in Firefox and in Chromium: ``python -m tests.browser.firefox``.

Each position of each level is shown in both, and what stands on the screen is compared.
Firefox is driven by its own protocol, Marionette; where there is none, this says so.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from minigrad import _bootstrap
from tests.browser.laboratory import FLAGS
from tests.browser.seen import READ_PLAYER
from tests.browser.test_picture import SCENES

SIZE = 976, 900
NEAR = 2.5  # pixels between the places of the same thing in the two
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

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        answer = self("WebDriver:ExecuteScript", script=script, args=list(arguments))
        return answer["value"]

    def _read(self) -> Any:
        size = b""
        while not size.endswith(b":"):
            size += self._stream.read(1)
        return json.loads(self._stream.read(int(size[:-1])))


@contextmanager
def firefox(path: str) -> Iterator[Marionette]:
    """A Firefox with a fresh profile."""
    with tempfile.TemporaryDirectory() as profile, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        preferences = {"marionette.port": port, "ui.prefersReducedMotion": 1}
        lines = [
            f'user_pref("{name}", {value});' for name, value in preferences.items()
        ]
        Path(profile, "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [path, "--marionette", "--headless", "--profile", profile]
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield connected(port)
        finally:
            running.terminate()
            running.wait(30)


def connected(port: int) -> Marionette:
    """Firefox, once it listens."""
    end = time.monotonic() + 60
    while True:
        try:
            return Marionette(port)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def differences(one: Any, other: Any) -> Iterator[str]:
    """What two browsers show differently at a position."""
    if one[0] != other[0]:
        yield f"{one[0]} is {other[0]} there"
    if [text for text, *_ in one[1]] != [text for text, *_ in other[1]]:
        yield f"{one[1]} is {other[1]} there"
        return
    for (text, x, y), (_, left, top) in zip(one[1], other[1], strict=True):
        if max(abs(x - left), abs(y - top)) > NEAR:
            yield f"{text!r} is at {x:.0f}, {y:.0f} and at {left:.0f}, {top:.0f}"


def compare(fox: Marionette, page: Any, file: Path) -> tuple[int, list[str]]:
    """How many positions of a page were compared, and what differs."""
    fox("WebDriver:Navigate", url=file.as_uri())
    page.goto(file.as_uri())
    while not fox.run(READY) or not page.evaluate(f"() => {{{READY}}}"):
        time.sleep(0.05)
    count, found = 0, []
    for level in (0, 2, 3):
        shown = f"([...args]) => (function () {{{SHOWN}}})(...args)"
        stop = 0
        while True:
            here = page.evaluate(shown, [level, stop])
            found += [
                f"{level}/{stop}: {text}"
                for text in differences(here, fox.run(SHOWN, level, stop))
            ]
            count += 1
            stop += 1
            if stop >= page.evaluate("player.player.stops.length"):
                break
    return count, found


def main() -> int:
    """Compare the scenes; 2 where there is no Firefox."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        print("no Firefox found, so nothing was compared: apt-get install firefox-esr")
        return 2
    wrong = 0
    with (
        firefox(path) as fox,
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as folder,
    ):
        chromium = _bootstrap.find_browser(os.environ)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        width, height = SIZE
        page = browser.new_page(
            viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        for name, program in SCENES.items():
            file = program().save_html(Path(folder, f"{name}.html"))
            count, found = compare(fox, page, file)
            print(
                f"{name}: {count} positions, {len(found)} differ",
                *found[:3],
                sep="\n  ",
            )
            wrong += len(found)
        browser.close()
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
