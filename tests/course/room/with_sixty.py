"""Sixty learners with twenty checks each: ``python -m tests.course.room.with_sixty``.

Measures from a line in a learner's journal to the board that shows it; then once more,
with the server killed in the middle and started again, and compares board and journals.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClosedError, websocket_connect

from minigrad import _workspace
from minigrad.course.notebook import journal
from minigrad.course.room import sender
from tests.browser.laboratory import free_port

LEARNERS, CHECKS = 60, 20
Key = tuple[str, str, int]


class Learner:
    """A workspace with its own sender, as a kernel has it."""

    def __init__(self, folder: Path, name: str) -> None:
        (folder / _workspace.SHIPPED).mkdir(parents=True)
        self.name, self.folder = name, folder
        self.sender = sender.Sender()
        self.counts: Counter[str] = Counter()

    def join(self, code: str, url: str) -> None:
        os.chdir(self.folder)
        sender.join(code, url, name=self.name)

    def check(self, exercise: str) -> Key:
        entry = {"at": journal.now(), "kind": journal.CHECKED, "exercise": exercise}
        entry |= {"state": "wrong", "mistakes": ["C06"]}
        journal.append(self.folder / "progress.jsonl", json.dumps(entry))
        self.counts[exercise] += 1
        key = self.name, exercise, self.counts[exercise]
        begun[key] = time.monotonic()
        self.sender.look_at(self.folder / "joined_room.jsonl")
        return key


begun: dict[Key, float] = {}
shown: dict[Key, float] = {}
last: dict[str, Any] = {}


def start(port: int, home: Path) -> tuple[subprocess.Popen[str], list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "minigrad", "room", "--port", str(port)],
        env=os.environ | {"MINIGRAD_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    said = [process.stdout.readline().split() for _ in range(2)]
    return process, [said[0][2], said[1][-1].rpartition("#")[2]]


async def watch(port: int, secret: str, ends: threading.Event) -> None:
    """The board, as its page sees it; a lost line is taken up again."""
    while not ends.is_set():
        try:
            line = await websocket_connect(f"ws://127.0.0.1:{port}/live")
            await line.write_message(json.dumps({"secret": secret}))
            while (news := await line.read_message()) is not None:
                take(json.loads(news))
                if ends.is_set():
                    return
        except (OSError, WebSocketClosedError):
            pass
        await asyncio.sleep(0.1)


def take(news: dict[str, Any]) -> None:
    now = time.monotonic()
    for row in news.get("seen", {}).get("rows", ()):
        last[row["name"]] = row["cells"]
        for exercise, (_, attempts, _) in row["cells"].items():
            for number in range(1, attempts + 1):
                shown.setdefault((row["name"], exercise, number), now)


def storm(learners: list[Learner], seconds: float) -> None:
    def work(one: Learner, dice: random.Random) -> None:
        for _ in range(CHECKS):
            time.sleep(dice.uniform(0, 2 * seconds / CHECKS))
            one.check(f"05.{dice.randrange(1, 7)}")

    dice = random.Random(0)
    threads = [
        threading.Thread(target=work, args=(one, random.Random(dice.random())))
        for one in learners
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def settle() -> None:
    """Wait until the board shows all that was checked, or for half a minute."""
    until = time.monotonic() + 30
    while begun.keys() - shown.keys() and time.monotonic() < until:
        time.sleep(0.05)


def report(name: str) -> None:
    took = sorted(shown[key] - begun[key] for key in begun.keys() & shown.keys())
    lost = len(begun.keys() - shown.keys())
    print(
        f"{name}: {len(begun)} checks, {lost} lost; to the board: median "
        f"{1e3 * statistics.median(took):.0f} ms, p99 "
        f"{1e3 * took[int(0.99 * len(took))]:.0f} ms, most {1e3 * took[-1]:.0f} ms"
    )


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        home, port = Path(folder), free_port()
        process, (code, secret) = start(port, home)
        learners = [Learner(home / f"w{n}", f"learner {n:02}") for n in range(LEARNERS)]
        for one in learners:
            one.join(code, f"http://127.0.0.1:{port}")
        ends = threading.Event()
        watching = threading.Thread(
            target=lambda: asyncio.run(watch(port, secret, ends))
        )
        watching.start()
        storm(learners, 10)
        settle()
        report("all well")
        begun.clear()

        storming = threading.Thread(target=storm, args=(learners, 6))
        storming.start()
        time.sleep(3)
        process.kill()
        process.communicate()
        process, again = start(port, home)
        storming.join()
        settle()
        report("killed after 3 s, and started again")
        time.sleep(0.3)
        same = last == {
            one.name: {
                name: ["wrong", count, "C06"] for name, count in one.counts.items()
            }
            for one in learners
        }
        print(f"same code: {again == [code, secret]}; board = journals: {same}")
        ends.set()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        watching.join(10)
        os.chdir("/")
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
