"""A room that runs in a thread of the tests, and a made-up class for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer

from minigrad.course.room import server, state

Json = dict[str, Any]


@dataclass
class Running:
    """A room with its address; ``calls`` runs something in the server's thread."""

    url: str
    desk: server.Desk
    loop: asyncio.AbstractEventLoop

    def calls(self, action: Callable[[], Any]) -> Any:
        async def there() -> Any:
            return action()

        return asyncio.run_coroutine_threadsafe(there(), self.loop).result(10)

    def note(self, *entries: Json) -> None:
        self.calls(lambda: self.desk.note(*entries))

    @property
    def code(self) -> str:
        return str(self.desk.secrets["code"])

    def page(self, kind: str) -> str:
        role = {"board": "instructor"}.get(kind, kind)
        return f"{self.url}/{kind}#{self.desk.secrets[role]}"

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status and the answer to a request, whatever they are."""
        return ask(f"{self.url}/{path}", body, **headers)

    def join(self, name: str = "", **headers: str) -> tuple[int, Any]:
        return self.ask("join", {"code": self.code, "name": name}, **headers)


def ask(url: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    usual = {"Content-Type": "application/json"}
    sent = usual | {name.replace("_", "-"): text for name, text in headers.items()}
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, sent)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as reply:
            return reply.status, json.loads(reply.read() or "null")
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read() or "null")


@contextlib.contextmanager
def open_room(
    file: Path, port: int = 0, slides: dict[str, Path] | None = None, **options: Any
) -> Iterator[Running]:
    """A room on a port of its own; leaving this is a server that was killed."""
    ready, ends = threading.Event(), threading.Event()
    found: list[Running] = []

    async def serve() -> None:
        listening = server.bind(port, "127.0.0.1")
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        desk = server.Desk(file, **options)
        desk.where = url
        running = HTTPServer(
            server.application(desk, server.LOOPBACK, slides), max_body_size=server.BODY
        )
        running.add_socket(listening)
        found.append(Running(url, desk, asyncio.get_running_loop()))
        ready.set()
        await asyncio.to_thread(ends.wait)
        running.stop()
        for page in list(desk.pages):
            page.close()
        await asyncio.sleep(0.02)
        await running.close_all_connections()
        await settled()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(20)
        yield found[0]
    finally:
        ends.set()
        thread.join(10)
        assert not thread.is_alive()


def start_room(
    home: Path, port: int, *options: str
) -> tuple[subprocess.Popen[str], list[str]]:
    """The real command as a process of its own, and what it prints once it is open."""
    process = subprocess.Popen(
        [sys.executable, "-m", "minigrad", "room", "--port", str(port), *options],
        env=os.environ | {"MINIGRAD_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    lines: list[str] = []
    while not lines or not lines[-1].startswith("Ctrl-C"):
        lines.append(process.stdout.readline())
        assert lines[-1], "the room did not open"
    return process, lines


@contextlib.contextmanager
def listening(target: str) -> Iterator[tuple[str, bytearray]]:
    """A tap in front of a server: its address, and every byte that passes there."""
    host, port = target.removeprefix("http://").split(":")
    heard = bytearray()
    tap = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def carry(source: socket.socket, to: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                heard.extend(data)
                to.sendall(data)
        with contextlib.suppress(OSError):
            to.shutdown(socket.SHUT_WR)

    def joined_up(near: socket.socket) -> None:
        # As long as the server is away, whoever calls is sent away, too.
        with near, contextlib.suppress(ConnectionRefusedError):
            far = socket.create_connection((host, int(port)))
            back = threading.Thread(target=carry, args=(far, near))
            back.start()
            carry(near, far)
            back.join()
            far.close()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = tap.accept()
                threads.append(threading.Thread(target=joined_up, args=(near,)))
                threads[-1].start()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{tap.getsockname()[1]}", heard
    finally:
        tap.shutdown(socket.SHUT_RDWR)
        tap.close()
        for each in (thread, *threads):
            each.join(10)


async def settled() -> None:
    """Wait for what else runs in this loop: it may be about to close a socket."""
    await asyncio.sleep(0.02)
    until = time.monotonic() + 2
    while len(asyncio.all_tasks()) > 1 and time.monotonic() < until:
        await asyncio.sleep(0.01)


def joined(member: str, name: str = "") -> Json:
    return {"kind": state.JOINED, "member": member, "name": name or member, "key": ""}


def told(member: str, line: int, name: str, came: str, **more: Any) -> Json:
    entry = {"kind": state.TOLD, "member": member, "line": line, "id": name}
    return entry | {"state": came, "mistake": "", "at": 0.0} | more


def middle_of_lesson_05(learners: int, now: float) -> list[Json]:
    """A class as it may be half an hour into lesson 05, the same each time."""
    dice, entries = random.Random(5), list[Json]()
    names = [f"{a} {b}" for a in state.NAMES for b in state.BEASTS]
    mistakes = {"05.2": ["C06", "M01"], "05.3": [""], "05.5": ["M01", "C06", "U07"]}
    mistakes |= {"05.4": ["U06", ""], "05.6": ["U07"]}
    for number, name in enumerate(names[:learners]):
        member, line, at = f"m{number}", 0, now - 30 * 60
        entries.append(joined(member, name))
        for label in ("05.calls", "05.join", "05.1.b", "05.1.c"):
            came = dice.choice("abbc")
            entries.append(told(member, line := line + 1, label, came, at=at))
        done = dice.randrange(1, 6)
        for place in range(1, min(done + 2, 7)):
            exercise, at = f"05.{place}", now - 60 * dice.randrange(6)
            is_last = place == done + 1
            tries = 0 if place == 1 else dice.choice([0, 0, 1, 3]) + is_last
            for number in range(tries):
                mistake = dice.choice(mistakes.get(exercise, [""]))
                came = dice.choice(["wrong", "wrong", "wrong", "crashed"])
                line, when = line + 1, at - 90 * (tries - number)
                entries.append(
                    told(member, line, exercise, came, at=when, mistake=mistake)
                )
            if not is_last:
                line += 1
                entries.append(told(member, line, exercise, "solved", at=at))
        if dice.random() < 0.12:
            said = {"kind": state.SAID, "member": member, "at": now - 60}
            entries.append(said | {"what": "hand", "value": True})
        if dice.random() < 0.15:
            said = {"kind": state.SAID, "member": member, "at": now - 60}
            entries.append(
                said | {"what": "pace", "value": dice.choice(["fast", "lost"])}
            )
    return entries
