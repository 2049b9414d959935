"""The learner's side of a room: what is sent there, by whom, and the way out.

What is sent is read from the journal. The file beside it, ``joined_room.jsonl``, holds
the way to the room and each request that arrived, so that another kernel, or this one
after a night without network, goes on where the last one stopped.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from minigrad import errors
from minigrad.course.check import CRASHED, SOLVED, WRONG, answers_of, panel
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import journal
from minigrad.course.room import state
from minigrad.course.room.folder import SCHEME, folder_of, new_member
from minigrad.mistakes import TABLE

PORT = 8765
HOURS = 12
"""How long a membership lasts that nobody ends."""
AT_ONCE = 200
"""How many events one request carries."""
PATIENCE = 5.0
"""Seconds after which a request counts as lost."""
PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds between tries while the room can't be reached; the last one stays."""
KEY = re.compile(r"[\w.]{1,40}/[\w.]{1,80}")
"""What an exercise alone knows of an answer; the room takes what it knows, too."""

Event = dict[str, Any]


class RoomUnreachableError(errors.MinigradError, ConnectionError):
    """No room answers at this address."""


class RoomRefusedError(errors.MinigradError, ValueError):
    """The room is there, and doesn't let you in."""


class RoomClosedError(ConnectionError):
    """The room of a shared folder is no more."""


@dataclass(frozen=True)
class Membership:
    """A room that was joined; ``begun`` is the journal's length then."""

    url: str
    code: str
    name: str
    token: str
    begun: int
    until: str

    def request(self, path: str, body: object) -> Any:
        """What the room answers to a request of this learner.

        A shared folder answers nothing; that it's there says that the room is.
        """
        if not self.url.startswith(SCHEME):
            return answer_of(f"{self.url}/{path}", body, self.token)
        folder = folder_of(self.url, self.code)
        if folder.parent.exists() and not folder.exists():
            raise RoomClosedError
        file = folder / f"{self.token}.jsonl"
        if path == "leave":
            return file.unlink(missing_ok=True)
        return journal.append(file, json.dumps(body))


def answer_of(url: str, body: object, token: str = "") -> Any:
    """What a room answers. The address is near: no proxy is asked.

    Raises: OSError or HTTPException (no answer), HTTPError (a refusal), ValueError.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "minigrad"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asked, timeout=PATIENCE) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as refused:
        with refused:  # its socket, too
            raise


def file() -> Path | None:
    """Where this workspace keeps the way to its room; None outside a workspace."""
    beside = journal.file()
    return None if beside is None else beside.with_name("joined_room.jsonl")


def entries_in(path: Path) -> list[dict[str, Any]]:
    """The lines of a room's file but for one that a crash cut short."""
    found = []
    for line in path.read_bytes().splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


def replace(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Exchange a file's lines in one step; it's readable for its owner alone."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    new.write_text("".join([f"{json.dumps(one)}\n" for one in entries]), "utf-8")
    new.replace(path)


def read(path: Path) -> tuple[Membership | None, list[dict[str, Any]]]:
    """The membership, if it still holds, and each request that arrived."""
    lines = entries_in(path)
    try:
        member = Membership(**lines[0])
    except (IndexError, TypeError):
        return None, []
    if member.until < journal.now():
        path.unlink(missing_ok=True)
        return None, []
    return member, lines[1:]


def last_line(member: Membership, arrived: list[dict[str, Any]]) -> int:
    """Where the journal goes on behind what has arrived."""
    return max([member.begun, *[int(each["to"]) for each in arrived]])


def events_after(offset: int, path: Path) -> Iterator[tuple[int, list[Event]]]:
    """What the whole lines of the journal behind ``offset`` tell a room, line by line.

    With each line's end. ``line``, where it begins, makes an event known again.
    """
    try:
        with path.open("rb") as lines:
            lines.seek(offset)
            for line in lines:
                if not line.endswith(b"\n"):
                    return
                entry = journal.entry_of(line)
                found = [] if entry is None else events_of(entry)
                yield (
                    offset + len(line),
                    [{"line": offset, **one, "minutes": age(entry)} for one in found],
                )
                offset += len(line)
    except FileNotFoundError:
        return


def events_of(entry: journal.Entry) -> list[Event]:
    """What one entry of the journal tells a room: ids, a state, and nothing written.

    >>> events_of({"kind": "because", "exercise": "01.b", "text": "I think"})
    []
    """
    name, kind = str(entry["exercise"]), entry["kind"]
    if kind == journal.CHECKED and is_exercise(name):
        if entry.get("state") not in (SOLVED, WRONG, CRASHED):
            return []
        known = [each for each in entry.get("mistakes", ()) if each in TABLE]
        known += filter(KEY.fullmatch, [str(entry.get("told"))])
        return [event(name, entry["state"], known[0] if known else "")]
    if kind != journal.ANSWERED:
        return []
    if is_exercise(name):
        return predictions(name, entry.get("answer"))
    letter = entry.get("choice")
    named = re.fullmatch(r"\d\d\.[a-z_]{1,24}", name)
    is_letter = isinstance(letter, str) and len(letter) == 1 and letter in state.LETTERS
    return [event(name, str(letter))] if named and is_letter else []


def event(name: str, came: str, mistake: str = "") -> Event:
    """One event, without its line and its age."""
    return {"id": name, "state": came, "mistake": mistake}


@cache
def is_exercise(name: str) -> bool:
    """Whether the course has an exercise of this id."""
    return name in catalogue.names() or name in catalogue.gym_names()


def predictions(name: str, answer: object) -> list[Event]:
    """The choices of a predicting exercise, by their letters; no text is an event."""
    exercise = catalogue.load(name)
    if exercise.kind != "P" or not isinstance(answer, dict):
        return []
    try:
        said = answers_of(exercise, answer)
    except errors.ArgumentValueError:
        return []
    return [
        event(f"{name}.{each.id}", state.LETTERS[each.choices.index(said[each.id])])
        for each in exercise.questions
        if each.choices
    ]


def age(entry: journal.Entry | None) -> int:
    """How many whole minutes ago an entry was written: the room's clock is another."""
    try:
        written = datetime.fromisoformat(str(entry and entry["at"]))
        return max(0, int((datetime.now(UTC) - written).total_seconds() // 60))
    except (TypeError, ValueError):
        return 0


class Sender:
    """The one thread of this process that talks to rooms."""

    def __init__(self) -> None:
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._places: set[Path] = set()

    def noticed(self) -> None:
        """Look at the journal soon. Called by every entry: it only asks for a file."""
        place = file()
        if place is not None and place.exists():
            self.look_at(place)

    def look_at(self, place: Path) -> None:
        """Send what the workspace of ``place`` has to tell, from the thread."""
        with self._lock:
            self._places.add(place)
            self._wake.set()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="minigrad-room", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        tries = 0
        while True:
            with self._lock:
                self._wake.clear()
                places = list(self._places)
            if all([deliver(place) for place in places]):
                with self._lock:
                    if not self._wake.is_set():
                        self._thread = None
                        self._places.clear()
                        return
                tries = 0
                continue
            self._wake.wait(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1


def deliver(place: Path) -> bool:
    """Send what the room of ``place`` does not know; False if it has to wait.

    A request that arrived, and whose answer was lost, is sent again: the room knows its
    events by their lines. A room that is gone is left, with the file.
    """
    member, arrived = read(place)
    if member is None:
        return True
    path = place.with_name("progress.jsonl")
    end = last_line(member, arrived)
    if path.exists() and path.stat().st_size < end:
        end = 0  # another journal: the old one was deleted
    batch: list[Event] = []
    for after, found in events_after(end, path):
        end = after
        batch += found
        if len(batch) >= AT_ONCE:
            break
    if not batch:
        return True
    try:
        member.request("events", {"events": batch})
    except (OSError, HTTPException, ValueError) as error:
        is_gone = isinstance(error, RoomClosedError) or (
            isinstance(error, urllib.error.HTTPError) and error.code in (401, 410)
        )
        if is_gone:
            place.unlink(missing_ok=True)
        return is_gone
    if place.exists():  # nobody has left meanwhile
        journal.append(place, json.dumps({"to": end, "events": batch}))
    return deliver(place) if len(batch) >= AT_ONCE else True


SENDER = Sender()


@dataclass(frozen=True)
class Joined:
    """What is said to somebody who has joined a room."""

    name: str
    page: str

    def __repr__(self) -> str:
        return (
            f"You're in the room as {self.name}. From now on each check and each "
            "prediction sends its id, what came out and which named mistake it was: "
            "never your code, never what you write. course.sent() shows all of it, "
            "course.leave() ends it and deletes it there.\n"
            + ("To vote, or to ask for help: " + (self.page or "show your hand."))
        )

    def _repr_html_(self) -> str:
        first, last = repr(self).split("\n")
        if not self.page:
            return panel(SOLVED, f"<div>{html.escape(first)}</div><div>{last}</div>")
        link = (
            f'<a href="{html.escape(self.page)}" target="_blank" rel="noopener">'
            "Vote, ask for help, or say that it's too fast</a>"
        )
        return panel(SOLVED, f"<div>{html.escape(first)}</div><div>{link}</div>")


def join(code: str, at: str = "127.0.0.1", *, name: str = "") -> Joined:
    """Join your instructor's room: ``course.join("482913", "192.168.1.20")``.

    ``at`` is the address on the wall, or ``"folder:/where/all/can/write"``. Without
    ``name`` you get a made-up one. Has the room moved to another address? Join it
    there: your name, and what waits to be sent, stay.
    Raises: RoomUnreachableError, RoomRefusedError; ArgumentValueError outside a
    workspace.
    """
    place, path = file(), journal.file()
    if place is None or path is None:
        raise errors.ArgumentValueError.at(
            "join",
            f"{Path.cwd()} is in no workspace, so there is nothing to tell a room",
            "open the course with: python3 minigrad lab",
        )
    url = address_of(at)
    code = str(code)
    known, arrived = read(place)
    same = known if known is not None and known.code == code else None
    if same and same.url == url:
        return Joined(same.name, page_of(same))
    member = same and at_other_address(same, url)
    if member is None:
        answer = asked_to_join(url, code, name)
        # What was done before is the learner's own: only what comes now is sent, and
        # what waits for a room that can't be reached any more.
        begun = path.stat().st_size if path.exists() else 0
        if same:
            begun = last_line(same, arrived)
        arrived = []
        until = datetime.now(UTC) + timedelta(hours=HOURS)
        member = Membership(
            url=url,
            code=code,
            name=answer["name"],
            token=answer["token"],
            begun=begun,
            until=until.isoformat(timespec="seconds"),
        )
    replace(place, [vars(member), *arrived])
    SENDER.look_at(place)
    return Joined(member.name, page_of(member))


def at_other_address(member: Membership, url: str) -> Membership | None:
    """The same membership where its room is now; None if that's another room."""
    if any([one.startswith(SCHEME) for one in (member.url, url)]):
        return None  # a folder's file isn't known elsewhere
    moved = Membership(**vars(member) | {"url": url})
    try:
        moved.request("events", {"events": []})
    except (OSError, HTTPException, ValueError):
        return None  # joining it says why
    return moved


def page_of(member: Membership) -> str:
    """The learner's own page of the room, as their browser finds it; or none.

    The room of a hub's machine is for its kernels at 127.0.0.1, which for a browser is
    another machine: there it's found through the learner's own server, if that can.
    """
    url = urlsplit(member.url)
    prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "")
    if url.scheme == "folder":
        return ""
    if not prefix or url.hostname not in ("127.0.0.1", "localhost", "::1"):
        return f"{member.url}/#{member.token}"
    if find_spec("jupyter_server_proxy") is None:
        return ""
    return f"{prefix}proxy/{url.port}/#{member.token}"


def address_of(at: str) -> str:
    """The whole address of a room from what somebody types off a wall.

    >>> address_of("192.168.1.20"), address_of("https://room.example:9000/")
    ('http://192.168.1.20:8765', 'https://room.example:9000')
    """
    url = at.strip().rstrip("/")
    if url.startswith(SCHEME):
        return SCHEME + str(Path(url.removeprefix(SCHEME)).expanduser().resolve())
    if "://" not in url:
        url = f"http://{url}"
    scheme, _, host = url.partition("://")
    has_port = re.search(r":\d+$", host)
    return url if has_port else f"{scheme}://{host}:{PORT}"


def asked_to_join(url: str, code: str, name: str) -> Any:
    """The room's answer to a code; its refusals as errors."""
    where = f'join("{code}")'
    if url.startswith(SCHEME):
        return put_into_folder(url, code, name, where)
    try:
        return answer_of(f"{url}/join", {"code": code, "name": name})
    except urllib.error.HTTPError as refused:
        what, fix = {
            403: (f"the room at {url} has another code", "read it off the wall again"),
            429: (
                "too many wrong codes came from this address",
                "wait a minute, then type the code from the wall",
            ),
            503: ("the room is full", "ask your instructor"),
        }.get(
            refused.code,
            (f"{url} answered {refused.code}", "see that it's the room's address"),
        )
        raise RoomRefusedError.at(where, what, fix) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise RoomUnreachableError.at(
            where,
            f"no room answers at {url} ({reason})",
            f'add the address on the wall: course.join("{code}", "192.168.1.20")',
        ) from None


def put_into_folder(url: str, code: str, name: str, where: str) -> dict[str, str]:
    """A file of one's own in a room's folder, which is its token."""
    folder, token = folder_of(url, code), new_member()
    own = state.pseudonym(name or state.made_up(), ())
    if not folder.is_dir():
        raise RoomRefusedError.at(
            where,
            f"{folder.parent} has no room {code}",
            "see that the code, and the folder, are those on the wall",
        )
    try:
        journal.append(folder / f"{token}.jsonl", json.dumps({"name": own}))
    except OSError as error:
        raise RoomUnreachableError.at(
            where, f"{folder} can't be written to ({error})", "ask your instructor"
        ) from None
    return {"name": own, "token": token}


@dataclass(frozen=True)
class Sent:
    """What this machine has sent, exactly; ``waiting`` has not arrived yet."""

    name: str
    events: tuple[Event, ...]
    waiting: int

    def __repr__(self) -> str:
        if not self.name:
            return "You're in no room: nothing is sent."
        lines = [
            f"Sent as {self.name}: {errors.count_of(len(self.events), 'event')}; "
            "line is the byte of your progress.jsonl at which it begins"
        ]
        lines += [json.dumps(each) for each in self.events]
        if self.waiting:
            lines.append(f"{self.waiting} more wait for the network.")
        return "\n".join(lines)


def sent() -> Sent:
    """Everything that was sent to the room that you're in, word for word."""
    place, path = file(), journal.file()
    member, arrived = read(place) if place else (None, [])
    if member is None or path is None:
        return Sent("", (), 0)
    # Two notebooks may have sent the same lines: the room took them once.
    known = {(e["line"], e["id"]): e for each in arrived for e in each["events"]}
    end = last_line(member, arrived)
    waiting = [one for _, found in events_after(end, path) for one in found]
    return Sent(member.name, tuple(known.values()), len(waiting))


def leave() -> str:
    """Leave the room: nothing more is sent, and your row there is deleted."""
    place = file()
    member, _ = read(place) if place else (None, [])
    if member is None or place is None:
        return "You're in no room: nothing is sent."
    place.unlink(missing_ok=True)
    try:
        member.request("leave", {})
    except (OSError, HTTPException, ValueError):
        return (
            "You've left: nothing more is sent. The room can't be reached now, so what "
            "it has of you is deleted there when it closes."
        )
    return "You've left: nothing more is sent, and your row is deleted."
