"""A room that a shared folder leads to: what arrives, once, and what is refused."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from minigrad import course
from minigrad.course.room import folder, sender, server
from minigrad.course.room.folder import Folder
from tests.course.room.rooms import Running, start_room
from tests.course.room.test_sender import SECRETS, Mul, arrived, check, row
from tests.course.room.test_server import EVENT, free_port

MEMBER = "0123456789abcdef"


class Shared:
    """A room, and its folder; ``look`` is what the server does now and then."""

    def __init__(self, room: Running, path: Path) -> None:
        self.room, self.at = room, f"folder:{path}"
        self.folder = Folder(folder.folder_of(self.at, room.code))
        self.folder.create()

    def look(self) -> None:
        arrived()
        news = self.folder.news()
        desk = self.room.desk
        self.room.calls(lambda: desk.look_into(self.folder.path, *news))

    def write(self, *lines: object, name: str = f"{MEMBER}.jsonl") -> Path:
        file = self.folder.path / name
        with file.open("a") as text:
            text.writelines([f"{json.dumps(line)}\n" for line in lines])
        return file

    def names(self) -> list[str]:
        return [one.name for one in self.room.desk.room.learners.values()]

    def attempts(self) -> int:
        found = [one.cells for one in self.room.desk.room.learners.values()]
        return sum([cell.attempts for cells in found for cell in cells.values()])


@pytest.fixture
def shared(workspace: Path, room: Running, tmp_path: Path) -> Shared:
    path = tmp_path / "share"
    path.mkdir()
    return Shared(room, path)


def test_checks_arrive_by_the_folder_with_ids_alone(shared: Shared) -> None:
    check("solved", "05.1")  # before joining
    said = course.join(shared.room.code, shared.at, name="Ada")
    assert "show your hand" in repr(said)
    check(mistakes=["M01"])
    course.check("01.4", Mul)
    course.because("01.because", "Why?", SECRETS[1])
    course.predict("05.join", "my question", ["with 2", "with 5"], answer="b")
    shared.look()
    assert row(shared.room)["name"] == "Ada"
    assert row(shared.room)["cells"]["05.2"] == ["wrong", 1, "M01"]
    assert shared.room.desk.room.polls["05.join"].rounds == [{member(shared): "b"}]
    (file,) = shared.folder.path.iterdir()
    assert [one for one in SECRETS if one in file.read_text()] == []
    assert course.sent().waiting == 0
    assert "deleted" in course.leave()
    shared.look()
    assert shared.names() == []
    assert [*shared.folder.path.iterdir()] == []


def member(shared: Shared) -> str:
    (found,) = shared.room.desk.room.learners
    return found


def test_folder_read_once_more_doubles_nothing(shared: Shared) -> None:
    course.join(shared.room.code, shared.at, name="Ada")
    for _ in range(3):
        check()
        shared.look()
    shared.folder = Folder(shared.folder.path)  # as after a restart
    shared.look()
    check()
    shared.look()
    assert (shared.names(), shared.attempts()) == (["Ada"], 4)


def test_writer_that_was_killed_in_a_line_loses_nothing(shared: Shared) -> None:
    course.join(shared.room.code, shared.at, name="Ada")
    check()
    shared.look()
    (file,) = shared.folder.path.iterdir()
    with file.open("a") as text:
        text.write('{"events": [{"line": 1')
    shared.look()
    check()
    shared.look()
    check()
    shared.look()
    assert (shared.names(), shared.attempts()) == (["Ada"], 3)


def test_line_that_is_still_being_written_waits_for_its_end(shared: Shared) -> None:
    file = shared.write({"name": "Ada"})
    line = json.dumps({"events": [EVENT]}).encode() + b"\n"
    for part in (line[:30], line[30:]):
        with file.open("ab") as text:
            text.write(part)
        shared.look()
    assert shared.attempts() == 1


def test_line_that_is_too_long_is_passed_over(shared: Shared) -> None:
    file = shared.write({"name": "Ada"})
    with file.open("ab") as text:
        text.write(b"x" * (2 * folder.AT_ONCE) + b"\n")
    shared.write({"events": [EVENT]})
    for _ in range(4):
        shared.look()
    assert (shared.names(), shared.attempts()) == (["Ada"], 1)


def test_folder_that_is_away_keeps_the_queue_and_a_closed_room_ends_it(
    shared: Shared, tmp_path: Path
) -> None:
    course.join(shared.room.code, shared.at, name="Ada")
    share, away = tmp_path / "share", tmp_path / "away"
    share.rename(away)
    check()
    assert course.sent().waiting == 1
    with pytest.raises(OSError, match="room-"):
        shared.folder.news()
    away.rename(share)
    shared.look()
    assert (shared.names(), shared.attempts()) == (["Ada"], 1)
    for file in shared.folder.path.iterdir():
        file.unlink()
    shared.folder.path.rmdir()
    check()
    arrived()
    assert repr(course.sent()) == "You're in no room: nothing is sent."


def test_join_says_what_is_wrong_with_the_folder(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(sender.RoomRefusedError, match="has no room 000000"):
        course.join("000000", shared.at)
    shared.folder.path.rmdir()
    with pytest.raises(sender.RoomRefusedError, match="has no room"):
        course.join(shared.room.code, shared.at)


HOSTILE = [
    b"[" * 50_000,
    b"\xff\xfe{}",
    b"null",
    b'{"events": {}}',
    b'{"events": [[]]}',
    json.dumps({"events": [EVENT | {"code": "def f(): pass"}]}).encode(),
    json.dumps({"events": [EVENT] * (server.MOST_EVENTS + 1)}).encode(),
    b'{"name": "again"}',
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_line_of_other_than_known_words_changes_nothing(
    shared: Shared, line: bytes
) -> None:
    file = shared.write({"name": "Ada"}, {"events": [EVENT]})
    with file.open("ab") as text:
        text.write(line + b"\n")
    shared.write({"events": [EVENT | {"line": 9}]})
    shared.look()
    assert (shared.names(), shared.attempts()) == (["Ada"], 2)


def test_hostile_files_neither_stop_the_room_nor_get_in(
    shared: Shared, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"name": "secret"}\n')
    path = shared.folder.path
    os.mkfifo(path / f"{'a' * 16}.jsonl")
    (path / f"{'b' * 16}.jsonl").symlink_to(secret)
    (path / f"{'c' * 16}.jsonl").mkdir()
    for name in ("A" * 16 + ".jsonl", "e" * 16, "notes.txt", f"{'f' * 17}.jsonl"):
        shared.write({"name": "other"}, name=name)
    shared.write({"events": [EVENT]}, {"name": "<b>\u202eAda" * 9}, {"events": [EVENT]})
    for _ in range(4):
        shared.look()
    assert shared.names() == [("<b>Ada" * 9)[:24]]
    assert shared.attempts() == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o1777


@pytest.mark.parametrize(("where", "most"), [(folder, "FILES"), (server, "LEARNERS")])
def test_more_files_than_a_class_has_are_not_read(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, where: Any, most: str
) -> None:
    monkeypatch.setattr(where, f"MOST_{most}", 2)
    for number in range(5):
        shared.write({"name": f"n{number}"}, name=f"{number:016}.jsonl")
    shared.look()
    assert shared.names() == ["n0", "n1"]


def test_folders_of_a_room_that_nobody_closed_go_with_it_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, now = tmp_path / "open_room.jsonl", 1_000_000.0
    shares = [tmp_path / "first", tmp_path / "second"]
    desk = server.Desk(kept, lambda: now)
    for share in shares:
        share.mkdir()
        desk.share(share)
    left = [share / f"room-{desk.secrets['code']}" for share in shares]
    again = server.Desk(kept, lambda: now + 3600)
    assert server.folders(again.secrets) == left
    again.share(shares[0])  # once more: it's where to join, and there once
    assert server.folders(again.secrets) == left[::-1]
    assert capsys.readouterr().out == ""
    left[1].rmdir()  # by hand: there is nothing to say of it
    server.Desk(kept, lambda: now + 13 * 3600)
    assert [path for path in left if path.exists()] == []
    said = capsys.readouterr().out
    assert f"The room {desk.secrets['code']} was never closed" in said
    assert [path for path in left if str(path) not in said] == []
    assert "yourself" not in said


def test_command_reads_each_folder_and_deletes_them_at_the_end(
    workspace: Path, tmp_path: Path
) -> None:
    share, other, port = tmp_path / "share", tmp_path / "other", free_port()
    share.mkdir()
    other.mkdir()
    first, lines = start_room(tmp_path / "home", port, "--folder", str(share))
    assert f"Shared folder: {share}/room-" in lines[-2]
    code = lines[0].split()[2]
    course.join(code, f"folder:{share}", name="Ada")
    check()
    kept = tmp_path / f"home/open_room_{port}.jsonl"
    wait_for(kept, 1)
    first.kill()
    first.communicate()
    check()
    arrived()
    # Another folder, on the second day's stick: who writes to the first goes on.
    again, _ = start_room(tmp_path / "home", port, "--folder", str(other))
    second = f"{other}/room-{code}/{MEMBER}.jsonl"
    Path(second).write_text(
        '{"name": "Bob"}\n{"events": [' + json.dumps(EVENT) + "]}\n"
    )
    wait_for(kept, 3)
    time.sleep(3 * server.LOOKS)
    assert kept.read_text().count('"told"') == 3
    assert kept.read_text().count('"joined"') == 2
    again.send_signal(2)
    again.communicate(timeout=20)
    assert again.returncode == 0
    assert [*share.iterdir(), *other.iterdir()] == []


def wait_for(file: Path, told: int) -> None:
    until = time.monotonic() + 20
    while file.read_text().count('"told"') < told:
        assert time.monotonic() < until, file.read_text()
        time.sleep(0.05)
