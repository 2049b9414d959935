"""The room's own web server, on the instructor's laptop: ``python -m minigrad room``.

All that happens goes through ``Desk.note``: into a file first, then into the state. A
server that was killed reads the file and goes on, with the same code and addresses.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import hashlib
import hmac
import io
import json
import os
import re
import secrets
import shutil
import signal
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import segno
from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketHandler

from minigrad import _workspace, errors
from minigrad.course.check import CRASHED, SOLVED, WRONG
from minigrad.course.exercises import catalogue
from minigrad.course.room import state
from minigrad.course.room.folder import SCHEME, Folder, folder_of
from minigrad.course.room.sender import HOURS, PORT, entries_in, replace
from minigrad.course.room.words import ROOT, words

PAGES = Path(__file__).parent / "pages"
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_LEARNERS = 300
MOST_EVENTS = 500
BODY = 100_000
"""Bytes of the largest request that is read."""
ROLES = {"board": "instructor", "projector": "projector", "slides": "slides"}
"""Pages that aren't a learner's, and whose secret opens them."""
VOTING = ("ask", state.CLOSED, state.AGAIN, state.OFF)
"""What slides may command."""
WRONG_CODES = 20
"""How many wrong codes a minute one address has; all together, three times as many."""
MINUTE = 60.0
LONG = 10.0
"""Seconds for the second Ctrl-C, or an answer."""
QUESTION = (
    "Close the room? What it kept{} is deleted. Ctrl-C again: close. s and Enter: save "
    "the counts, without names, then close. Enter, or nothing for 10 seconds: go on."
)
SOON = 0.1
"""Seconds for which news is gathered before the pages hear it."""
LOOKS = 0.5
"""Seconds between two looks into a shared folder."""
TICK = 5.0
"""Seconds after which the board is drawn anew although nothing came: minutes pass."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


SLIDES = HEADERS | {
    # One file of the instructor's, with script, style and players in it; the notes'
    # window shows it in frames.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data: blob:; font-src data:; frame-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
}


class CtrlC:
    """At a terminal Ctrl-C asks; the second closes the room, as the first elsewhere."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._loop = asyncio.get_running_loop()
        self._asked: asyncio.TimerHandle | None = None
        self._reads = False
        signal.signal(
            signal.SIGINT, lambda *_: self._loop.call_soon_threadsafe(self._pressed)
        )

    def _pressed(self) -> None:
        if self._asked or not sys.stdin.isatty():
            self._desk.close()
            return
        shared = folders(self._desk.secrets)
        print(f"\n{QUESTION.format(also(shared))}", flush=True)
        self._asked = self._loop.call_later(LONG, self._answered, "")
        if not self._reads:
            self._reads = True
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        # sys.stdin has a lock, which a thread that waits would keep at the end.
        said = os.read(sys.stdin.fileno(), 100).decode(errors="replace")
        self._reads = False
        self._loop.call_soon_threadsafe(self._answered, said.strip().lower())

    def _answered(self, said: str) -> None:
        if self._asked is None:
            return
        self._asked.cancel()
        self._asked = None
        if said == "s":
            stamp = time.strftime("%Y-%m-%d_%H%M")
            self._desk.summary = self._desk.summary or Path(f"room_{stamp}.csv")
            self._desk.close()
        else:
            print("The room goes on.", flush=True)


class Tries:
    """Wrong codes of the last minute, by the address that they came from."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: list[tuple[float, str]] = []

    def too_many(self, address: str) -> bool:
        """Whether this address, or all together, have to wait."""
        begun = self._clock() - MINUTE
        self._wrong = [one for one in self._wrong if one[0] >= begun]
        own = len([one for _, one in self._wrong if one == address])
        return own >= WRONG_CODES or len(self._wrong) >= 3 * WRONG_CODES

    def wrong(self, address: str) -> None:
        """Count one."""
        self._wrong.append((self._clock(), address))


class Desk:
    """The room with its file, its secrets and the pages that look at it."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self.words = words()
        self.tries = Tries()
        self.pages: set[Live] = set()
        self.closing = asyncio.Event()
        self.summary: Path | None = None
        self.where = ""
        self.is_told = False
        choices = {name: len(it[1]) for name, it in self.words["polls"].items()}
        self.room = state.Room([*self.words["exercises"]], choices)
        kept = entries_in(path)
        if kept and clock() - (old := kept[0])["at"] > HOURS * 3600:
            print(
                f"The room {old['code']} was never closed: what it kept"
                f"{also(folders(old))} is deleted now.",
                flush=True,
            )
            delete_shared(old)
            kept = []
        kept = kept or [new_secrets(clock())]
        replace(path, kept)
        self.secrets, *heard = kept
        self.goes_on = bool(heard)
        self.keys: dict[str, str] = {}  # a token's hash, or the path of a folder
        for entry in heard:
            self._hear(entry)

    def note(self, *entries: dict[str, Any]) -> None:
        """Keep what is new, then take it in, and tell the pages soon."""
        now = self.clock()
        fresh = [{"at": now, **one} for one in entries if not self.room.knows(one)]
        if fresh:
            # It need not be on the disk: a killed process loses nothing of it, and
            # pages would wait for a slow one.
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join([f"{json.dumps(one)}\n" for one in fresh]))
            for one in fresh:
                self._hear(one)
            self.tell_soon()

    def share(self, folder: Path) -> None:
        """Have a folder in a shared one, too: the last of them is where to join.

        An earlier one stays the room's: whoever writes there goes on.
        """
        url = f"{SCHEME}{folder.resolve()}"
        Folder(folder_of(url, self.secrets["code"])).create()
        others = [one for one in self.secrets.get("shared_in", []) if one != url]
        self.secrets["shared_in"] = [*others, url]
        replace(self.path, [self.secrets, *entries_in(self.path)[1:]])

    def _hear(self, entry: dict[str, Any]) -> None:
        self.room.hear(entry)
        if entry["kind"] == state.JOINED:
            self.keys[entry["member"]] = entry["key"]

    def join(self, member: str, wanted: str, key: str) -> str:
        """Let somebody in, who is known by ``key``: the name on the board."""
        taken = [one.name for one in self.room.learners.values()]
        name = state.pseudonym(wanted or state.made_up(taken), taken)
        self.note({"kind": state.JOINED, "member": member, "name": name, "key": key})
        return name

    def take(self, member: str, events: object) -> None:
        """Note what a machine tells.

        Raises: HTTPError for anything but a list of events.
        """
        if not isinstance(events, list) or len(events) > MOST_EVENTS:
            raise HTTPError(400)
        now = self.clock()
        self.note(*[told(member, one, now) for one in events])

    def look_into(
        self, path: Path, there: set[str], lines: Sequence[tuple[str, bytes]]
    ) -> None:
        """Take in what came by a shared folder; whose file is gone has left."""
        for member, line in lines:
            try:
                body = json.loads(line)
                if member in self.room.learners:
                    self.take(member, body["events"])
                elif len(self.room.learners) < MOST_LEARNERS:
                    self.join(member, str(body["name"]), str(path))
            except (HTTPError, KeyError, TypeError, ValueError, RecursionError):
                continue  # not of ours, or the name, read once more after a restart
        by_folder = {one for one, key in self.keys.items() if key == str(path)}
        for member in by_folder - there:
            self.forget(member)

    def forget(self, member: str) -> None:
        """Somebody leaves: the file goes on without a line of theirs."""
        kept = [one for one in entries_in(self.path) if one.get("member") != member]
        self.room.hear({"kind": state.LEFT, "member": member})
        self.keys.pop(member, None)
        replace(self.path, kept)
        self.tell_soon()

    def member(self, token: str) -> str:
        """Who has this token; empty for nobody."""
        known = hashed(token)
        return next((one for one, key in self.keys.items() if key == known), "")

    def tell_soon(self) -> None:
        """Draw the pages anew, once for all that comes within a moment."""
        if not self.is_told:
            self.is_told = True
            asyncio.get_running_loop().call_later(SOON, self.tell)

    def tell(self) -> None:
        """Draw the pages anew."""
        self.is_told = False
        now = self.clock()
        counts = self.room.counts(now)
        seen = {"board": self.room.board(now), "projector": counts, "slides": counts}
        for page in list(self.pages):
            page.show(seen)

    def move(self, where: str) -> None:
        """This computer has another address: board and wall say where to join."""
        self.where = where
        for page in list(self.pages):
            page.greet()

    def close(self) -> None:
        """Delete what the room kept; the summary alone may stay."""
        if self.summary:
            self.summary.write_text(self.summary_text(), encoding="utf-8")
        self.path.unlink(missing_ok=True)
        for page in list(self.pages):
            page.send({"gone": True})
        self.closing.set()

    def summary_text(self) -> str:
        """The counts as a table for a spreadsheet."""
        text, known = io.StringIO(), catalogue.sentences()
        rows = csv.writer(text, lineterminator="\n")
        for what, id, detail, learners in self.room.summary():
            rows.writerow([what, id, " ".join(known.get(detail, [detail])), learners])
        return text.getvalue()

    def hello(self) -> dict[str, Any]:
        """What an instructor's page has to know once."""
        code = self.secrets["code"]
        link = segno.make(f"{self.where}/#{code}", error="m")
        return {
            "words": self.words,
            "code": code,
            "where": self.where,
            "folder": self.secrets.get("shared_in", [""])[-1],
            "qr": link.svg_data_uri(scale=8, border=2, dark="#000", light="#fff"),
            "projector": f"/projector#{self.secrets['projector']}",
        }


def new_secrets(now: float) -> dict[str, Any]:
    """The first line of a room's file."""
    return {
        "at": now,
        "code": f"{secrets.randbelow(900_000) + 100_000}",
        "instructor": secrets.token_urlsafe(18),
        "projector": secrets.token_urlsafe(18),
        "slides": secrets.token_urlsafe(18),
    }


def folders(room: Mapping[str, Any]) -> list[Path]:
    """The shared folders of the room whose file begins with this."""
    return [folder_of(url, room["code"]) for url in room.get("shared_in", [])]


def also(paths: Sequence[Path]) -> str:
    """These folders, as a sentence on what is deleted goes on."""
    return "".join([f", and {path}," for path in paths])


def delete_shared(room: Mapping[str, Any]) -> None:
    """Delete the shared folders of the room whose file begins with this."""
    for path in folders(room):
        if path.parent.exists() and not path.exists():
            continue  # deleted by hand
        try:
            shutil.rmtree(path)
        except OSError as error:
            print(f"Delete {path} yourself: it can't be reached now ({error}).")


def hashed(token: str) -> str:
    """What the file keeps of a token: whoever reads it can't send with it."""
    return hashlib.sha256(token.encode()).hexdigest()


class Guarded:
    """What every request has to pass: the names of this server, and its own pages."""

    request: Any
    settings: Any

    @property
    def desk(self) -> Desk:
        desk: Desk = self.settings["desk"]
        return desk

    def is_ours(self) -> bool:
        """Whether it was meant for this server, by a page of it or by no page.

        The name of the host counts, too: another site can point its own name here.
        """
        host = urlsplit(f"//{self.request.host}").hostname
        if host not in self.settings["hosts"]:
            return False
        # Not the scheme: what a hub serves by https comes here by http.
        origin = self.request.headers.get("Origin")
        return origin is None or urlsplit(origin).netloc == self.request.host

    def prepare(self) -> None:
        if not self.is_ours():
            raise HTTPError(403)


class Handler(Guarded, RequestHandler):
    """A request that was let in."""

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        self.finish({"error": status_code})

    def body(self) -> dict[str, Any]:
        """The body, an object of JSON: no form of another site can send one."""
        kind = self.request.headers.get("Content-Type", "")
        try:
            found = json.loads(self.request.body)
        except (ValueError, RecursionError):
            found = None
        if kind != "application/json" or not isinstance(found, dict):
            raise HTTPError(400)
        return found

    def bearer(self) -> str:
        """The token that came with this."""
        given = str(self.request.headers.get("Authorization", ""))
        return given.removeprefix("Bearer ")

    def member(self) -> str:
        """Who sends this; 410 for those that no room of ours knows."""
        found = self.desk.member(self.bearer())
        if not found:
            raise HTTPError(410)
        return found


class Page(Handler):
    """One of three files, which hold nothing of the room."""

    def get(self, name: str) -> None:
        name = name if "." in name else "room.html"
        self.set_header("Content-Type", f"{KINDS[name.split('.')[1]]}; charset=utf-8")
        self.finish((PAGES / name).read_bytes())


class Slides(Handler):
    """The slides of a lesson, with answers and notes, for those who have their secret.

    It's behind the # of their address, which a browser keeps to itself. So the page
    that comes first sends it, and gets a cookie: with it this address gives the slides.
    """

    def get(self, number: str) -> None:
        path: Path | None = self.settings["slides"].get(number)
        if path is None:
            raise HTTPError(404)
        known = self.is_known(self.get_cookie("slides") or "")
        for name, value in SLIDES.items() if known else ():
            self.set_header(name, value)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish((path if known else PAGES / "room.html").read_bytes())

    def post(self, number: str) -> None:
        secret = self.bearer()
        if not self.is_known(secret):
            raise HTTPError(403)
        https = self.request.protocol == "https"
        self.set_cookie(
            *("slides", secret),
            path="/slides",
            httponly=True,
            secure=https,
            samesite="Strict",
        )
        self.finish({})

    def is_known(self, secret: str) -> bool:
        right = self.desk.secrets["slides"]
        return hmac.compare_digest(secret.encode(), right.encode())


class Join(Handler):
    """A code, and a token for it."""

    def post(self) -> None:
        desk, address = self.desk, self.request.remote_ip
        if desk.tries.too_many(address):
            raise HTTPError(429)
        body = self.body()
        code, name = str(body.get("code", "")), str(body.get("name", ""))
        if not hmac.compare_digest(code.encode(), desk.secrets["code"].encode()):
            desk.tries.wrong(address)
            raise HTTPError(403)
        if len(desk.room.learners) >= MOST_LEARNERS:
            raise HTTPError(503)
        token = secrets.token_urlsafe(18)
        name = desk.join(secrets.token_hex(4), name, hashed(token))
        self.finish({"name": name, "token": token})


class Events(Handler):
    """What a learner's machine tells."""

    def post(self) -> None:
        self.desk.take(self.member(), self.body().get("events"))
        self.finish({})


def told(member: str, event: Any, now: float) -> dict[str, Any]:
    """An event as the room keeps it: of known words alone.

    Raises: HTTPError for anything else.
    """
    match event:
        case {
            "line": int(line),
            "id": str(name),
            "state": str(came),
            "mistake": str(mistake),
            "minutes": int(minutes),
            **more,
        } if (
            not more
            and re.fullmatch(r"[\w.]{1,40}", name, re.ASCII)
            and came in (SOLVED, WRONG, CRASHED, *state.LETTERS)
            and all(type(one) is int and 0 <= one < 2**40 for one in (line, minutes))
        ):
            # A learner's course may be newer than this one.
            known = mistake if mistake in words()["mistakes"] else ""
            told = {"kind": state.TOLD, "member": member, "line": line, "id": name}
            at = now - 60 * min(minutes, 60 * HOURS)
            return told | {"state": came, "mistake": known, "at": at}
    raise HTTPError(400)


class Leave(Handler):
    """A learner goes, and takes along what was kept."""

    def post(self) -> None:
        self.desk.forget(self.member())
        self.finish({})


class Live(Guarded, WebSocketHandler):
    """A page that is open; its first message says by a secret what it may see."""

    role = ""
    seen: object = None

    def check_origin(self, origin: str) -> bool:
        return self.is_ours()

    def on_message(self, message: str | bytes) -> None:
        try:
            said = json.loads(message)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            self.close(1008)
        elif not self.role:
            self.enter(str(said.get("secret", "")))
        elif self.role == "board" or (
            self.role == "slides" and said.get("do") in VOTING
        ):
            self.command(said)
        elif self.role not in ("projector", "slides"):
            self.say(said)

    def enter(self, secret: str) -> None:
        """Find out who this is; a stranger is sent away."""
        desk = self.desk
        for role, name in ROLES.items():
            if hmac.compare_digest(secret.encode(), desk.secrets[name].encode()):
                self.role = role
        self.role = self.role or desk.member(secret)
        if not self.role:
            self.send({"gone": True})
            self.close(1008)
            return
        desk.pages.add(self)
        self.greet()
        desk.tell_soon()

    def greet(self) -> None:
        """Send who this page is, and what it has to know once."""
        hello = {}
        if self.role in ("board", "projector"):
            hello["hello"] = self.desk.hello()
        if self.role == "projector":
            hello["hello"].pop("projector")
        self.send(hello | {"role": self.role if self.role in ROLES else "learner"})

    def say(self, said: dict[str, Any]) -> None:
        """A learner pressed a button."""
        room, what, value = self.desk.room, str(said.get("what")), said.get("value")
        if self.role not in room.learners:
            return
        right = {
            "hand": isinstance(value, bool),
            "pace": value in ("", "fast", "lost"),
            # Pressed while the room was away, it's for the question that was there.
            "vote": said.get("to") == room.asks()
            and isinstance(value, str)
            and room.is_asked(value),
        }
        if right.get(what):
            entry = {"kind": state.SAID, "member": self.role}
            self.desk.note(entry | {"what": what, "value": value})

    def command(self, said: dict[str, Any]) -> None:
        """The instructor pressed a button."""
        desk, kind = self.desk, said.get("do")
        if kind == "ask":
            polls = desk.room.polls
            number = len([name for name in polls if name.startswith("vote ")]) + 1
            name = str(said.get("id") or f"vote {number}")[:40]
            choices = min(max(int(said.get("choices") or 0), 0), len(state.LETTERS))
            desk.note({"kind": state.ASKED, "id": name, "choices": choices})
        elif kind in (state.CLOSED, state.AGAIN, state.OFF, state.HEARD):
            desk.note({"kind": kind})
        elif kind == state.HELPED:
            desk.note({"kind": kind, "member": str(said.get("member"))})
        elif kind == state.LESSON:
            desk.note({"kind": kind, "lesson": str(said.get("lesson"))[:3]})
        elif kind == "summary":
            self.send({"summary": desk.summary_text()})
        elif kind == "close":
            desk.close()

    def show(self, seen: dict[str, Any]) -> None:
        """Send what this page may see, if it is another than before."""
        room = self.desk.room
        if self.role in seen:
            news = {"seen": seen[self.role]}
        elif self.role in room.learners:
            mine = room.seen_by(self.role)
            if mine["vote"]:
                polls = self.desk.words["polls"]
                mine["vote"]["words"] = polls.get(mine["vote"]["id"], ["", []])
            news = {"seen": mine}
        else:
            news = {"gone": True}
        if news != self.seen:
            self.seen = news
            self.send(news)

    def send(self, news: object) -> None:
        """Send, unless the page has just gone."""
        if self.ws_connection is not None and not self.ws_connection.is_closing():
            self.write_message(json.dumps(news))

    def on_close(self) -> None:
        self.desk.pages.discard(self)


def application(
    desk: Desk, hosts: Container[str], slides: Mapping[str, Path] | None = None
) -> Application:
    """The server's addresses; ``slides`` are files by the number of their lesson."""
    return Application(
        [
            (r"/((?:board|projector)?|room\.(?:js|css))", Page),
            (r"/slides/(room\.(?:js|css))", Page),
            (r"/slides/([\w.-]+)", Slides),
            (r"/join", Join),
            (r"/events", Events),
            (r"/leave", Leave),
            (r"/live", Live),
        ],
        desk=desk,
        hosts=hosts,
        slides=slides or {},
        log_function=lambda handler: None,
        websocket_max_message_size=10_000,
        websocket_ping_interval=20,
    )


def address_in_lan() -> str:
    """This computer's address on its network; connecting a UDP socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return LOOPBACK[0]


def main(argv: Sequence[str]) -> int:
    """``python -m minigrad room``: serve the board until Ctrl-C closes the room."""
    chosen = parser().parse_args(list(argv))
    try:
        asyncio.run(serve(chosen))
    except (errors.ArgumentValueError, OSError, ssl.SSLError) as error:
        sys.stderr.write(f"minigrad room: {error}\n")
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    found = argparse.ArgumentParser(
        prog="python -m minigrad room",
        description="Show a class on one board: who has solved what, which mistakes "
        "are made now, votes. Learners join with course.join(code).",
        epilog="Ctrl-C, twice, closes the room and deletes what it kept. If the "
        "computer stops instead, the same command goes on where it was.",
    )
    found.add_argument(
        "--lan",
        action="store_true",
        help="let the network in; else only this computer is served",
    )
    found.add_argument("--port", type=int, default=PORT, help=f"default: {PORT}")
    found.add_argument(
        "--certificate",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="serve https: a certificate, and its key where it's another file",
    )
    found.add_argument(
        "--address",
        help="the name under which learners reach this computer, or its hub; "
        "default: its own address",
    )
    found.add_argument(
        "--summary", type=Path, help="where the counts go, without names, at the end"
    )
    found.add_argument(
        "--folder",
        type=Path,
        metavar="SHARED",
        help="a folder that all reach, for those who can't reach this computer",
    )
    found.add_argument(
        "--slides",
        nargs="*",
        metavar="LESSON",
        help="serve slides, whose questions then open votes: numbers or files; "
        "without any, all that are here; see minigrad slides",
    )
    return found


async def serve(chosen: argparse.Namespace) -> None:
    """Serve until the room closes."""
    folder = _workspace.folder(ROOT, os.environ)
    folder.mkdir(parents=True, exist_ok=True)
    protocol = None
    if chosen.certificate:
        protocol = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        protocol.load_cert_chain(*chosen.certificate[:2])
    near = address_in_lan() if chosen.lan else LOOPBACK[0]
    own = (chosen.address if chosen.lan or protocol else None) or near
    scheme = "https" if protocol else "http"
    listening = bind(chosen.port, "" if chosen.lan else LOOPBACK[0])
    desk = Desk(folder / f"open_room_{chosen.port}.jsonl")
    desk.summary, desk.where = chosen.summary, f"{scheme}://{own}:{chosen.port}"
    if chosen.folder:
        desk.share(chosen.folder)
    shared = folders(desk.secrets)
    slides = slides_here(chosen.slides)
    hosts = {*LOOPBACK, own.lower(), (chosen.address or own).lower()}
    app = application(desk, hosts, slides)
    server = HTTPServer(app, ssl_options=protocol, max_body_size=BODY)
    server.add_socket(listening)
    # A name on a certificate is not 127.0.0.1; without one nothing leaves the laptop.
    near = desk.where if protocol else f"{scheme}://{LOOPBACK[0]}:{chosen.port}"
    begun = f"is open at {desk.where}"
    if desk.goes_on:
        there = errors.count_of(len(desk.room.learners), "learner")
        begun = f"goes on at {desk.where} with {there}: they have nothing to do."
    ends = time.strftime(
        "%d %B, %H:%M", time.localtime(desk.secrets["at"] + HOURS * 3600)
    )
    lines = [
        f"The room {desk.secrets['code']} {begun}",
        f"Your board, with names: {near}/board#{desk.secrets['instructor']}",
        f"For the wall:           {near}/projector#{desk.secrets['projector']}",
        *[
            f"Slides, with votes:     {near}/slides/{name}#{desk.secrets['slides']}"
            for name in slides
        ],
        *[
            f"Shared folder: {path}. Closing the room deletes it; if you never do, the "
            f"first room on this port after {ends} does."
            for path in shared
        ],
        "Ctrl-C asks, then closes the room and deletes what it kept.",
    ]
    CtrlC(desk)
    print("\n".join(lines), flush=True)
    tasks = [asyncio.create_task(tick(desk))]
    if chosen.lan and not chosen.address:
        tasks.append(asyncio.create_task(follow_address(desk, hosts)))
    tasks += [asyncio.create_task(watch(desk, Folder(path))) for path in shared]
    await desk.closing.wait()
    for task in tasks:
        task.cancel()
    delete_shared(desk.secrets)
    server.stop()
    await asyncio.sleep(SOON)
    await server.close_all_connections()
    kept = f"; the counts are in {desk.summary}" if desk.summary else ""
    print(f"The room is closed, and what it kept is deleted{kept}.")


def slides_here(named: Sequence[str] | None) -> dict[str, Path]:
    """Files of slides by their lessons; ``named`` are numbers or files, none is all.

    Raises: ArgumentValueError for one that isn't here: better now than in class.
    """
    if named is None:
        return {}
    found: list[Path] = []
    for one in map(Path, named or ["[0-9][0-9]"]):
        here = sorted(one.parent.glob(f"{one.name}_*.slides.html"))
        found += [one] if one.is_file() or not here else here
    if missing := [str(path) for path in found if not path.is_file()]:
        raise errors.ArgumentValueError.at(
            "--slides",
            f"no slides here of {', '.join(missing) if named else 'any lesson'}",
            "write them in this folder: python3 minigrad slides 05",
        )
    return {path.stem.partition("_")[0]: path for path in found}


def bind(port: int, address: str) -> socket.socket:
    """The socket to listen on.

    Raises: ArgumentValueError if another program has the port.
    """
    try:
        listening = socket.create_server((address, port), backlog=128)
    except OSError as error:
        raise errors.ArgumentValueError.at(
            f"--port {port}",
            f"it can't be opened ({error.strerror})",
            "close the other room, or name another port, such as --port 8766",
        ) from None
    listening.setblocking(False)
    return listening


async def follow_address(desk: Desk, hosts: set[str]) -> None:
    """Serve under the address that this computer has now: a laptop changes networks."""
    while True:
        await asyncio.sleep(TICK)
        url = urlsplit(desk.where)
        own = address_in_lan()
        if own not in (url.hostname, LOOPBACK[0]):
            hosts.add(own)
            desk.move(f"{url.scheme}://{own}:{url.port}")
            print(
                f"The room is at {desk.where} now. Let everyone type the wall's new "
                "line: their rows, and what waits, go on.",
                flush=True,
            )


async def watch(desk: Desk, folder: Folder) -> None:
    """Take in what the shared folder has; one that is away is asked again."""
    while True:
        await asyncio.sleep(LOOKS)
        with contextlib.suppress(OSError):
            desk.look_into(folder.path, *await asyncio.to_thread(folder.news))


async def tick(desk: Desk) -> None:
    """Draw the pages now and then: minutes pass without a message, too."""
    while True:
        await asyncio.sleep(TICK)
        desk.tell()
