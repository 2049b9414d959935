"""Who gets into a room, who sees what, and what is left of it."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import http.client
import json
import os
import select
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

import minigrad
from minigrad import course, errors
from minigrad.course.exercises.messages import sentences
from minigrad.course.room import sender, server, state, words
from minigrad.mistakes import TABLE
from tests.course.room.rooms import (
    Json,
    Running,
    ask,
    joined,
    open_room,
    start_room,
    told,
)

EVENT = {"line": 0, "id": "05.2", "state": "wrong", "mistake": "C06", "minutes": 0}


@pytest.fixture(scope="module")
def open_all_along(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with open_room(tmp_path_factory.mktemp("room") / "room.jsonl") as running:
        yield running


@pytest.fixture
def room(open_all_along: Running) -> Running:
    """The module's room, without what an earlier test left."""
    desk = open_all_along.desk
    desk.tries = server.Tries()
    for member in list(desk.room.learners):
        open_all_along.calls(lambda member=member: desk.forget(member))
    return open_all_along


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def learner(room: Running, name: str = "Ada") -> dict[str, str]:
    return bearer(room.join(name)[1]["token"])


def talk(room: Running, secret: str, *said: Json, **options: Any) -> list[Json]:
    """What a page hears that enters with ``secret`` and then says something."""

    async def page() -> list[Json]:
        url = f"{room.url.replace('http', 'ws')}/live"
        heard: list[Json] = []
        line = await websocket_connect(HTTPRequest(url, **options))
        stream = line.protocol.stream
        try:
            for each in ({"secret": secret}, *said):
                await line.write_message(json.dumps(each))
            while (news := await line.read_message()) is not None:
                heard.append(json.loads(news))
                if "seen" in heard[-1] or "summary" in heard[-1]:
                    break
        finally:
            line.close()
            stream.close()  # at once, as of a tab that is closed
        return heard

    return asyncio.run(asyncio.wait_for(page(), 10))


def test_code_lets_in_and_a_wrong_one_does_not(room: Running) -> None:
    assert ask(f"{room.url}/join", {"code": "12345", "name": ""}) == (
        403,
        {"error": 403},
    )
    came, answer = room.join("Ada")
    assert (came, answer["name"]) == (200, "Ada")
    assert set(answer) == {"name", "token"}


def test_codes_cannot_be_tried_out(room: Running) -> None:
    guesses = [room.ask("join", {"code": f"{n:06}"})[0] for n in range(21)]
    assert guesses == [403] * server.WRONG_CODES + [429]
    assert room.join("late")[0] == 429  # for the right one, too
    room.desk.tries._clock = lambda: time.monotonic() + 61
    assert room.join("later")[0] == 200


def test_wrong_codes_of_many_addresses_count_together() -> None:
    tries = server.Tries(lambda: 0.0)
    for number in range(3 * server.WRONG_CODES):
        assert not tries.too_many("10.0.0.99")
        tries.wrong(f"10.0.0.{number}")
    assert tries.too_many("10.0.0.99")


@pytest.mark.parametrize("path", ["join", "events", "leave", "", "board", "room.js"])
def test_other_sites_and_other_names_are_refused(room: Running, path: str) -> None:
    body = {"code": room.code} if path in ("join", "events", "leave") else None
    assert room.ask(path, body, Origin="http://evil.example")[0] == 403
    assert room.ask(path, body, Origin="null")[0] == 403
    assert room.ask(path, body, Host="evil.example")[0] == 403
    for ours in (room.url, room.url.replace("http", "https")):  # by a hub, https
        assert room.ask("join", {"code": room.code}, Origin=ours)[0] == 200


def test_form_of_another_page_cannot_join(room: Running) -> None:
    text = json.dumps({"code": room.code}).encode()
    assert room.ask("join", text, Content_Type="text/plain")[0] == 400
    assert room.ask("join", text)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_live_page_of_another_site_is_refused(room: Running, origin: str) -> None:
    secret = room.desk.secrets["instructor"]
    with pytest.raises(HTTPClientError, match="403"):
        talk(room, secret, headers={"Origin": origin})
    assert talk(room, secret, headers={"Origin": room.url})[0]["role"] == "board"


def test_no_answer_is_for_other_sites_and_pages_run_only_their_own_script(
    room: Running,
) -> None:
    with urllib.request.urlopen(f"{room.url}/board", timeout=10) as reply:
        headers = {name.lower(): text for name, text in reply.headers.items()}
        page = reply.read().decode()
    assert not [name for name in headers if name.startswith("access-control")]
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    assert "unsafe" not in policy
    assert room.code not in page


def test_secrets_open_their_own_view_and_no_other(room: Running) -> None:
    token = room.join("Quendolin")[1]["token"]
    secrets = room.desk.secrets
    assert talk(room, "guess") == [{"gone": True}]
    assert talk(room, "") == [{"gone": True}]
    assert talk(room, room.code) == [{"gone": True}]
    board = talk(room, secrets["instructor"])
    assert [row["name"] for row in board[-1]["seen"]["rows"]] == ["Quendolin"]
    wall, own = talk(room, secrets["projector"]), talk(room, token)
    assert "Quendolin" not in json.dumps(wall)
    assert secrets["instructor"] not in json.dumps([wall, own, board])
    assert secrets["projector"] not in json.dumps([wall, own])
    assert own[-1]["seen"]["name"] == "Quendolin"


def test_learner_and_wall_command_nothing(room: Running) -> None:
    token = room.join("Ada")[1]["token"]
    for secret in (token, room.desk.secrets["projector"]):
        for order in ({"do": "ask", "choices": 4}, {"do": "close"}):
            talk(room, secret, order)
    assert room.desk.room.on_wall == ""
    assert room.desk.path.exists()
    talk(room, room.desk.secrets["instructor"], {"do": "ask", "choices": 3})
    assert room.desk.room.on_wall.startswith("vote ")
    room.note({"kind": state.OFF})


def test_vote_pressed_for_an_earlier_question_or_round_is_none(room: Running) -> None:
    token = room.join("Ada")[1]["token"]
    asked = {"kind": state.ASKED, "id": "mine", "choices": 3}
    room.note(asked, {"kind": state.CLOSED}, {"kind": state.AGAIN})
    for to in (None, ["mine", 1], ["other", 2]):
        talk(room, token, {"what": "vote", "value": "b", "to": to})
        assert room.desk.room.polls["mine"].rounds[-1] == {}
    talk(room, token, {"what": "vote", "value": "b", "to": ["mine", 2]})
    assert [*room.desk.room.polls["mine"].rounds[-1].values()] == ["b"]
    room.note({"kind": state.OFF})


def test_slides_command_votes_and_nothing_else(room: Running) -> None:
    room.join("Quendolin")
    secret = room.desk.secrets["slides"]
    for order in ({"do": "close"}, {"do": "lesson", "lesson": "07"}):
        assert "Quendolin" not in json.dumps(talk(room, secret, order))
    assert room.desk.path.exists()
    assert room.desk.room.lesson == ""
    talk(room, secret, {"do": "ask", "id": "05.v1", "choices": 3})
    assert room.desk.room.on_wall == "05.v1"
    room.note({"kind": state.OFF})
    assert room.ask("slides/05")[0] == 404


ANSWER = "Expected: b, say the notes"


def fetched(url: str, **headers: str) -> tuple[str, Any]:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as reply:
        return reply.read().decode(), reply.headers


def test_slides_with_answers_and_notes_are_for_their_secret_alone(
    tmp_path: Path,
) -> None:
    file = tmp_path / "05_how.slides.html"
    file.write_text(ANSWER)
    with open_room(tmp_path / "room.jsonl", slides={"05": file}) as room:
        url, secrets = f"{room.url}/slides/05", room.desk.secrets
        token = room.join("Ada")[1]["token"]
        strangers = ["", token, room.code, secrets["projector"], "guess", "\xe9"]
        for each in strangers:
            page, headers = fetched(url, Cookie=f"slides={each}")
            assert ANSWER not in page
            assert "unsafe" not in headers["content-security-policy"]
            assert room.ask("slides/05", {}, **bearer(each))[0] == 403
        assert ANSWER not in fetched(url, **bearer(secrets["slides"]))[0]
        assert room.ask("slides/05", {}, Origin="http://evil.example")[0] == 403
        asked = urllib.request.Request(url, b"{}", bearer(secrets["slides"]))
        with urllib.request.urlopen(asked) as reply:
            cookie = reply.headers["set-cookie"]
        for part in ("HttpOnly", "SameSite=Strict", "Path=/slides"):
            assert part in cookie
        assert fetched(url, Cookie=cookie.partition(";")[0])[0] == ANSWER
        assert room.ask("slides/06", {}, **bearer("guess"))[0] == 403


def test_slides_are_named_by_lessons_or_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("05_how.slides.html", "06_what.slides.html", "07 mine.html"):
        Path(name).touch()
    assert server.slides_here(None) == {}
    assert [*server.slides_here([])] == ["05", "06"]
    named = server.slides_here(["06", "07 mine.html"])
    assert [*named.values()] == [Path("06_what.slides.html"), Path("07 mine.html")]
    file = tmp_path / "06_what.slides.html"
    assert server.slides_here([str(file)]) == {"06": file}
    missing = str(tmp_path / "09.html")
    with pytest.raises(errors.ArgumentValueError, match=f"here of {missing}"):
        server.slides_here([missing])
    with pytest.raises(errors.ArgumentValueError, match=r"08, \*.html"):
        server.slides_here(["05", "08", "*.html"])


def test_room_follows_its_computer_to_another_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "TICK", 0.02)
    now = ["10.0.0.1"]
    monkeypatch.setattr(server, "address_in_lan", lambda: now[0])
    with open_room(tmp_path / "room.jsonl") as room:
        hosts = {"10.0.0.1"}
        room.desk.where = "http://10.0.0.1:8765"

        async def follow() -> None:
            page = await websocket_connect(f"{room.url.replace('http', 'ws')}/live")
            secret = room.desk.secrets["projector"]
            await page.write_message(json.dumps({"secret": secret}))
            following = asyncio.create_task(server.follow_address(room.desk, hosts))
            now[:] = ["127.0.0.1"]  # no network at all: the wall's line may come back
            await asyncio.sleep(0.1)
            assert room.desk.where == "http://10.0.0.1:8765"
            now[:] = ["192.168.7.7"]
            heard: list[str] = []
            while not any(["192.168.7.7" in one for one in heard]):
                heard.append(str(await asyncio.wait_for(page.read_message(), 5)))
            following.cancel()
            stream = page.protocol.stream
            page.close()
            stream.close()

        asyncio.run(follow())
        assert room.desk.where == "http://192.168.7.7:8765"
        assert hosts == {"10.0.0.1", "192.168.7.7"}


def test_learners_see_nothing_of_each_other(room: Running) -> None:
    token = room.join("Ada")[1]["token"]
    others = learner(room, "Bob")
    assert room.ask("events", {"events": [EVENT]}, **others)[0] == 200
    assert "Bob" not in json.dumps(talk(room, token))
    assert room.ask("events", None, **others)[0] == 405
    answers = [room.ask("events", {"events": [EVENT]}, **others)[1], room.join("C")[1]]
    assert "Ada" not in json.dumps(answers)


HOSTILE = [
    {"id": "<img src=x onerror=alert(1)>"},
    {"id": "a" * 41},
    {"id": 5},
    {"state": "my own words"},
    {"state": ["wrong"]},
    {"mistake": 7},
    {"line": -1},
    {"line": True},
    {"line": "0"},
    {"minutes": 1e9},
    {"minutes": 2**80},
    {"code": "def f(): pass"},
]


@pytest.mark.parametrize("change", HOSTILE, ids=str)
def test_event_of_other_than_known_words_is_refused(
    room: Running, change: Json
) -> None:
    token = learner(room)
    assert room.ask("events", {"events": [EVENT | change]}, **token)[0] == 400
    assert room.ask("events", {"events": [EVENT]}, **token)[0] == 200


@pytest.mark.parametrize(
    "body", [b"[]", b"", b"{", b"\xff", b"[" * 50_000, b'{"events": 3}']
)
def test_unreadable_body_is_refused(room: Running, body: bytes) -> None:
    assert room.ask("events", body, **learner(room))[0] == 400


def test_large_body_and_many_events_are_refused(room: Running) -> None:
    token = learner(room)
    many = [EVENT | {"line": number} for number in range(server.MOST_EVENTS + 1)]
    assert room.ask("events", {"events": many}, **token)[0] == 400
    before = len(room.desk.room.learners)
    # The line is cut: whether its end is an answer or an error is a race.
    with contextlib.suppress(OSError):
        large = {"code": room.code, "name": "n" * server.BODY}
        assert room.ask("join", large)[0] == 400
    assert len(room.desk.room.learners) == before
    assert room.join("n" * 1000)[1]["name"] == "n" * state.LONGEST_NAME


def test_stranger_sends_nothing(room: Running) -> None:
    assert room.ask("events", {"events": [EVENT]}, **bearer("guess"))[0] == 410
    assert room.ask("events", {"events": [EVENT]})[0] == 410
    assert room.ask("leave", {}, **bearer("guess"))[0] == 410


def test_mistake_of_a_newer_course_is_a_mistake_without_a_name(room: Running) -> None:
    token = learner(room)
    strange = ("Z99", "05.3/mine", "05.3/early <b>my words", "early", "../early")
    for line, mistake in enumerate((*strange, "05.3/early")):
        body = {"events": [EVENT | {"line": line, "mistake": mistake}]}
        assert room.ask("events", body, **token)[0] == 200
        (one,) = room.desk.room.learners.values()
        assert one.cells["05.2"].mistake == ("" if mistake in strange else mistake)


def test_file_is_its_owners_and_holds_no_token(tmp_path: Path) -> None:
    file = tmp_path / "room.jsonl"
    with open_room(file) as room:
        token = room.join("Ada")[1]["token"]
        room.join("Bob")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert b"Ada" in file.read_bytes()
        assert token.encode() not in file.read_bytes()
        room.ask("leave", {}, **bearer(token))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert b"Ada" not in file.read_bytes()
    with open_room(file) as room:
        names = [one.name for one in room.desk.room.learners.values()]
        assert names == ["Bob"]


def test_line_cut_short_by_a_crash_costs_that_line_only(tmp_path: Path) -> None:
    file = tmp_path / "room.jsonl"
    with open_room(file) as room:
        room.note(joined("a"), told("a", 0, "05.2", "wrong"))
        code = room.code
    with file.open("ab") as lines:
        lines.write(b'{"kind": "told", "memb')
    with open_room(file) as room:
        assert room.code == code
        room.note(told("a", 1, "05.2", "wrong"))
    with open_room(file) as room:
        assert room.desk.room.learners["a"].cells["05.2"].attempts == 2


def test_room_of_yesterday_is_deleted_and_a_new_one_opened(tmp_path: Path) -> None:
    file = tmp_path / "room.jsonl"
    with open_room(file) as room:
        code = room.code
        room.note(joined("a", "Ada"))
    with open_room(file, clock=lambda: time.time() + 11 * 3600) as room:
        assert room.code == code
    with open_room(file, clock=lambda: time.time() + 13 * 3600) as room:
        assert room.code != code
    assert b"Ada" not in file.read_bytes()


def test_closing_deletes_all_and_keeps_the_counts_if_asked(tmp_path: Path) -> None:
    file, counts = tmp_path / "room.jsonl", tmp_path / "counts.csv"
    with open_room(file) as room:
        room.desk.summary = counts
        room.note(joined("a", "Ada"), told("a", 0, "05.2", "wrong", mistake="C06"))
        room.note(told("a", 1, "05.join", "b"))
        room.note(told("a", 2, "05.3", "wrong", mistake="05.3/several_times"))
        page = talk(room, room.desk.secrets["instructor"], {"do": "summary"})
        room.calls(room.desk.close)
    assert [*tmp_path.iterdir()] == [counts]
    assert {"summary": counts.read_text()} in page
    assert [*csv.reader(counts.read_text().splitlines())] == [
        ["what", "id", "detail", "learners"],
        ["room", "", "joined", "1"],
        ["exercise", "05.2", "wrong", "1"],
        ["exercise", "05.3", "wrong", "1"],
        ["last mistake", "05.2", "C06", "1"],
        ["last mistake", "05.3", " ".join(sentences()["05.3/several_times"]), "1"],
        ["vote, round 1", "05.join", "b", "1"],
    ]


def test_words_name_every_mistake_and_the_predictions_of_lessons() -> None:
    known = words.words()
    assert known["mistakes"].keys() == {*TABLE, *sentences()}
    question, choices = known["polls"]["05.join"]
    assert known["polls"]["05.v2"][1][0].startswith("5")
    assert question.startswith("c sends the gradient 2")
    assert choices[:2] == ["with 2, and later with 3", "with 5"]
    assert known["polls"]["05.1.b"][1][1] == "10"
    assert known["exercises"]["05.5"]


def test_command_serves_this_computer_alone_and_survives_a_kill(
    tmp_path: Path,
) -> None:
    """The real process: bound to loopback, killed, started again, closed."""
    port = free_port()
    first, (said, *_) = start_room(tmp_path, port)
    code = said.split()[2]
    url = f"http://127.0.0.1:{port}"
    token = ask(f"{url}/join", {"code": code, "name": "Ada"})[1]["token"]
    assert ask(f"{url}/events", {"events": [EVENT]}, **bearer(token))[0] == 200
    own = server.address_in_lan()
    if own != "127.0.0.1":
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((own, port), timeout=5)
    first.kill()
    first.communicate()
    again, (said, *_) = start_room(tmp_path, port)
    assert said.split()[2:5] == [code, "goes", "on"]
    assert "with 1 learner:" in said
    assert ask(f"{url}/events", {"events": [EVENT]}, **bearer(token))[0] == 200
    (file,) = tmp_path.glob("open_room_*.jsonl")
    assert file.read_text().count('"told"') == 1
    again.send_signal(signal.SIGINT)
    said, _ = again.communicate(timeout=10)
    assert "closed" in said
    assert again.returncode == 0
    assert not [*tmp_path.iterdir()]


class Terminal:
    """The command in a terminal of its own, in which keys are pressed."""

    def __init__(self, folder: Path, patience: float) -> None:
        fcntl, pty = pytest.importorskip("fcntl"), pytest.importorskip("pty")
        termios = pytest.importorskip("termios")
        self.near, far = pty.openpty()
        script = (
            f"from minigrad.course.room import server; server.LONG = {patience}; "
            f"raise SystemExit(server.main(['--port', '{free_port()}']))"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            env=os.environ | {"MINIGRAD_HOME": str(folder / "home")},
            cwd=folder,
            stdin=far,
            stdout=far,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(far)
        self.said = ""

    def says(self, words: str, seconds: float = 30) -> bool:
        until = time.monotonic() + seconds
        while words not in self.said and time.monotonic() < until:
            if select.select([self.near], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):  # the terminal's end
                    self.said += os.read(self.near, 10_000).decode()
        found = words in self.said
        self.said = self.said.partition(words)[2]
        return found

    def types(self, keys: bytes) -> None:
        os.write(self.near, keys)


CTRL_C = b"\x03"


@pytest.fixture
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    (tmp_path / "home").mkdir()
    (tmp_path / "minigrad").symlink_to(Path(minigrad.__file__).parent)
    found = Terminal(tmp_path, getattr(request, "param", server.LONG))
    assert found.says("Ctrl-C asks")
    yield found
    found.process.kill()
    found.process.wait()
    os.close(found.near)


def test_ctrl_c_at_a_terminal_asks_and_the_second_closes(
    terminal: Terminal, tmp_path: Path
) -> None:
    (file,) = (tmp_path / "home").glob("open_room_*")
    for answer in (b"\n", b"what?\n"):
        terminal.types(CTRL_C)
        assert terminal.says("Close the room?")
        terminal.types(answer)
        assert terminal.says("The room goes on.")
    assert file.exists()
    terminal.types(CTRL_C)
    assert terminal.says("Close the room?")
    assert terminal.process.poll() is None
    terminal.types(CTRL_C)
    assert terminal.says("The room is closed")
    assert terminal.process.wait(20) == 0
    assert not file.exists()


def test_ctrl_c_can_save_the_counts_first(terminal: Terminal, tmp_path: Path) -> None:
    terminal.types(CTRL_C)
    assert terminal.says("Close the room?")
    terminal.types(b"s\n")
    assert terminal.says("the counts are in room_")
    assert terminal.process.wait(20) == 0
    (counts,) = tmp_path.glob("room_*.csv")
    assert counts.read_text().startswith("what,id,detail,learners\n")
    assert not [*(tmp_path / "home").iterdir()]


@pytest.mark.parametrize("terminal", [0.5], indirect=True)
def test_ctrl_c_without_an_answer_is_forgotten(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.types(CTRL_C)
    assert terminal.says("Close the room?")
    assert terminal.says("The room goes on.")
    terminal.types(CTRL_C)
    assert terminal.says("Close the room?")
    assert [*(tmp_path / "home").iterdir()]


def test_lan_lets_in_by_one_name_over_https_with_the_given_certificate(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not here")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    make += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make += ["-out", str(certificate), "-keyout", str(key)]
    subprocess.run(make, check=True, capture_output=True)
    port = free_port()
    options = ["--lan", "--address", "localhost", "--certificate"]
    room, lines = start_room(tmp_path, port, *options, str(certificate), str(key))
    code, url = lines[0].split()[2], f"https://localhost:{port}"
    assert f"{url}/board#" in lines[1]
    with pytest.raises(sender.RoomUnreachableError, match="certificate verify failed"):
        course.join(code, url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert "Ada" in repr(course.join(code, url, name="Ada"))
    with pytest.raises(sender.RoomUnreachableError):
        course.join(code, f"http://localhost:{port}")
    # Another address of this computer is bound, too; its name isn't the room's.
    unchecked = ssl._create_unverified_context()
    for host, status in (("localhost", 200), ("127.0.0.2", 403)):
        line = http.client.HTTPSConnection(host, port, timeout=10, context=unchecked)
        line.request("GET", "/board")
        assert line.getresponse().status == status
        line.close()
    room.send_signal(signal.SIGINT)
    room.communicate(timeout=10)
    assert room.returncode == 0


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_taken_port_is_said(room: Running) -> None:
    port = int(room.url.rpartition(":")[2])
    with pytest.raises(errors.ArgumentValueError, match=r"--port 8766"):
        server.bind(port, "127.0.0.1")
