"""What leaves a learner's machine, and that it arrives once."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad import course, errors
from minigrad.course.exercises.messages import sentences
from minigrad.course.notebook import checking, journal
from minigrad.course.room import sender, server
from tests.course.room.rooms import Json, Running, listening, open_room


def check(state: str = "wrong", name: str = "05.2", **more: Any) -> None:
    journal.note(journal.CHECKED, name, state=state, **{"mistakes": [], **more})


def arrived() -> None:
    """Wait for the sender's thread to have nothing left to do."""
    thread = sender.SENDER._thread
    if thread is not None:
        thread.join(10)
        assert not thread.is_alive(), "something still waits"


def row(room: Running) -> Json:
    """The only row of the board."""
    (found,) = room.calls(lambda: room.desk.room.board(time.time()))["rows"]
    return dict(found)


def test_check_reaches_the_board_with_its_mistake(
    workspace: Path, room: Running
) -> None:
    check("solved", "05.1")  # before joining: nobody's business
    said = course.join(room.code, room.url, name="Ada")
    assert "Ada" in repr(said)
    check(mistakes=["M01", "C06"])
    check(mistakes=["C06"], remarks=["U07"])
    arrived()
    assert row(room)["name"] == "Ada"
    assert row(room)["cells"] == {"05.2": ["wrong", 2, "C06"]}


def twice(root: object, receivers: Any) -> list[object]:
    return [root] + [each for one in receivers(root) for each in twice(one, receivers)]


def test_what_an_exercise_alone_knows_is_a_mistake_with_its_question(
    workspace: Path, room: Running
) -> None:
    course.join(room.code, room.url)
    assert checking.judged("05.3", twice).told == "05.3/several_times"
    arrived()
    (found,) = room.calls(lambda: room.desk.room.mistakes(time.time()))
    _, _, question = room.desk.words["mistakes"][found["id"]]
    assert found["in"] == ["05.3"]
    assert question.startswith("By which question do you find out")
    assert [key for key in sentences() if not sender.KEY.fullmatch(key)] == []


def test_sent_shows_word_for_word_what_arrived(workspace: Path, room: Running) -> None:
    assert repr(course.sent()) == "You're in no room: nothing is sent."
    course.join(room.code, room.url)
    check(mistakes=["C06"])
    arrived()
    shown = course.sent()
    assert [json.loads(line) for line in repr(shown).splitlines()[1:]] == [
        {"line": 0, "id": "05.2", "state": "wrong", "mistake": "C06", "minutes": 0}
    ]


CODE = "this is my own code"
TEXT = "I believe it is the chain rule"


class Mul(minigrad.autograd.Function):
    """Wrong, and with words that have no business elsewhere."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.remark = CODE
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, y = ctx.saved_tensors
        return y, x


SECRETS = (CODE, TEXT, "save_for_backward", "grad_output", "with 5", "my question")


def found(traffic: bytearray) -> list[str]:
    return [each for each in SECRETS if each.encode() in traffic]


def test_captured_traffic_has_no_code_and_no_text(
    workspace: Path, room: Running
) -> None:
    with listening(room.url) as (url, heard):
        course.join(room.code, url, name="Ada")
        course.check("01.4", Mul)
        course.because("01.because", "Why?", TEXT)
        course.predict("05.join", "my question", ["with 2", "with 5"], answer="b")
        course.check("05.1", {"a": "y b a d c", "b": "13", "c": "a"})
        course.predict(TEXT, "my question", ["with 2", "with 5"], answer="b")
        arrived()
        events = course.sent().events
        assert {each["id"] for each in events} == {
            *("01.4", "05.join", "05.1.b", "05.1.c", "05.1")
        }
        assert [each["state"] for each in events if each["id"] == "05.join"] == ["b"]
        assert b'"05.1.b"' in heard  # the tap hears
        assert found(heard) == []
        for each in SECRETS:  # and would find each of them
            sender.answer_of(f"{url}/join", {"code": room.code, "name": each})
        assert found(heard) == [*SECRETS]


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "hinted", "exercise": "05.2"},
        {"kind": "checked", "exercise": "05.2", "state": "not tried"},
        {"kind": "checked", "exercise": "my own words", "state": "wrong"},
        {"kind": "answered", "exercise": "my own words", "choice": "b"},
        {"kind": "answered", "exercise": "05.join", "choice": "with 5"},
        {"kind": "answered", "exercise": "05.join", "answer": "with 5"},
        {"kind": "answered", "exercise": "05.1", "answer": {"a": "no such answers"}},
        {"kind": "because", "exercise": "05.b", "text": "x", "state": "solved"},
        {"kind": "concepts", "exercise": "concepts.a", "code": "x"},
    ],
)
def test_nothing_else_in_the_journal_is_an_event(entry: Json) -> None:
    assert sender.events_of(entry) == []
    control = {"kind": "checked", "exercise": "05.2", "state": "solved"}
    assert sender.events_of(control)


def test_mistake_that_is_none_of_the_table_is_left_out() -> None:
    entry = {"kind": "checked", "exercise": "05.2", "state": "wrong"}
    (event,) = sender.events_of(entry | {"mistakes": ["my words", "C06"]})
    assert event["mistake"] == "C06"


def test_killed_server_loses_and_doubles_nothing(
    workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "room.jsonl"
    with open_room(file) as room:
        code, port = room.code, int(room.url.rpartition(":")[2])
        course.join(code, room.url, name="Ada")
        check()
        arrived()
        room.note({"kind": "asked", "id": "05.join", "choices": 4})
    check()
    course.predict("05.join", "?", ["with 2", "with 5"], answer="b")
    assert course.sent().waiting == 2
    with open_room(file, port) as room:
        arrived()  # nobody did anything
        assert room.code == code
        assert (row(room)["name"], row(room)["cells"]["05.2"][1]) == ("Ada", 2)
        room.note({"kind": "closed"})
        seen = room.desk.room.counts(0.0)["vote"]
        assert seen["bars"] == [[0, 1, 0, 0]]
        assert course.sent().waiting == 0


def test_answer_that_was_lost_is_asked_again_and_counts_once(
    workspace: Path, room: Running
) -> None:
    course.join(room.code, room.url)
    check()
    arrived()
    place = sender.file()
    assert place
    first, *_ = place.read_text().splitlines()
    place.write_text(first + "\n")  # as if the answer had never come
    assert course.sent().waiting == 1
    check()
    arrived()
    assert row(room)["cells"]["05.2"][1] == 2


def test_two_kernels_that_tell_the_same_count_once(
    workspace: Path, room: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "AT_ONCE", 10)
    course.join(room.code, room.url)
    place = sender.file()
    assert place
    journal.listeners.clear()
    for _ in range(25):  # more than two requests carry
        check()
    kernels = [sender.Sender() for _ in range(3)]
    threads = []
    for each in kernels:
        each.look_at(place)
        threads.append(each._thread)
    for thread in threads:
        assert thread
        thread.join(20)
    assert row(room)["cells"]["05.2"][1] == 25
    assert len(course.sent().events) == 25


def test_machine_that_slept_ten_minutes_tells_when_it_was(
    workspace: Path, room: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.join(room.code, room.url)
    earlier = time.gmtime(time.time() - 600)
    then = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", earlier)
    with monkeypatch.context() as asleep:
        asleep.setattr(journal, "listeners", [])
        asleep.setattr(journal, "now", lambda: then)
        check(mistakes=["C06"])
    sender.SENDER.noticed()  # awake again
    arrived()
    assert course.sent().events[0]["minutes"] == 10
    assert row(room)["stuck"] == ["05.2", 10, 1]


def test_check_does_not_wait_for_the_network(
    workspace: Path, room: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.join(room.code, room.url)
    asked, goes = threading.Event(), threading.Event()
    real = sender.answer_of

    def slow(*arguments: Any) -> Any:
        asked.set()
        assert goes.wait(10)
        return real(*arguments)

    monkeypatch.setattr(sender, "answer_of", slow)
    check()
    assert asked.wait(10)
    check()  # returns, though the request before hangs
    assert course.sent().events == ()
    goes.set()
    arrived()
    assert row(room)["cells"]["05.2"][1] == 2


def test_who_leaves_sends_nothing_more_and_is_deleted(
    workspace: Path, room: Running
) -> None:
    course.join(room.code, room.url, name="Ada")
    check()
    arrived()
    assert b"Ada" in room.desk.path.read_bytes()
    assert (workspace / "joined_room.jsonl").exists()
    assert "deleted" in course.leave()
    check()
    arrived()
    assert room.calls(lambda: room.desk.room.board(0.0))["rows"] == []
    assert b"Ada" not in room.desk.path.read_bytes()
    assert not (workspace / "joined_room.jsonl").exists()
    assert course.leave() == "You're in no room: nothing is sent."


def test_room_that_is_gone_is_left(workspace: Path, tmp_path: Path) -> None:
    with open_room(tmp_path / "room.jsonl") as room:
        port = int(room.url.rpartition(":")[2])
        course.join(room.code, room.url)
        room.calls(room.desk.close)
    assert not (tmp_path / "room.jsonl").exists()
    with open_room(tmp_path / "room.jsonl", port):
        check()
        arrived()
        assert repr(course.sent()) == "You're in no room: nothing is sent."


def test_membership_ends_by_itself_after_half_a_day(
    workspace: Path, room: Running
) -> None:
    course.join(room.code, room.url)
    place = sender.file()
    assert place
    member, _ = sender.read(place)
    assert member
    early = {**vars(member), "until": "2026-01-01T00:00:00+00:00"}
    place.write_text(json.dumps(early) + "\n")
    check()
    arrived()
    assert row(room)["cells"] == {}
    assert not place.exists()


def test_cell_that_joins_may_run_again(workspace: Path, room: Running) -> None:
    first = course.join(room.code, room.url)
    assert course.join(room.code, room.url).name == first.name
    assert len(room.desk.room.learners) == 1


def test_page_of_a_learner_is_told_and_shown_as_a_link(
    workspace: Path, room: Running
) -> None:
    said = course.join(room.code, room.url, name="<b>Ada")
    assert said.page.startswith(f"{room.url}/#")
    assert "&lt;b&gt;Ada" in said._repr_html_()
    assert f'href="{said.page}"' in said._repr_html_()


def test_room_at_another_address_knows_who_comes_again_and_gets_what_waited(
    workspace: Path, room: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(room.url) as (old, _):
        course.join(room.code, old, name="Ada")
        check()
        arrived()
    monkeypatch.setattr(journal, "listeners", [])  # and another kernel
    check()  # another network: nobody answers there any more
    assert course.sent().waiting == 1
    with listening(room.url) as (new, heard):
        said = course.join(room.code, new)
        arrived()
        assert said.page.startswith(new)
        monkeypatch.setattr(journal, "listeners", [lambda: sender.SENDER.noticed()])
        assert course.sent().waiting == 0
        check("solved")
        arrived()
        assert b"events" in heard
    assert (row(room)["name"], row(room)["cells"]["05.2"]) == ("Ada", ["solved", 3, ""])
    assert len(course.sent().events) == 3
    assert course.sent().waiting == 0


def test_other_room_with_the_same_code_is_joined_anew(
    workspace: Path, tmp_path: Path
) -> None:
    with open_room(tmp_path / "first.jsonl") as room:
        course.join(room.code, room.url, name="Ada")
    with open_room(tmp_path / "second.jsonl") as other:
        other.desk.secrets["code"] = room.code
        check()
        assert course.join(room.code, other.url, name="Bea").name == "Bea"
        arrived()
        assert (row(other)["name"], row(other)["cells"]["05.2"][1]) == ("Bea", 1)


HUB = "/user/ada/"


@pytest.mark.parametrize(
    ("prefix", "url", "proxy", "page"),
    [
        ("", "http://127.0.0.1:8765", True, "http://127.0.0.1:8765/#T"),
        (HUB, "http://127.0.0.1:8765", True, f"{HUB}proxy/8765/#T"),
        (HUB, "http://127.0.0.1:8765", False, ""),
        (HUB, "https://hub.example:9", False, "https://hub.example:9/#T"),
        ("", "folder:/srv", True, ""),
    ],
)
def test_page_is_where_the_browser_finds_it(
    monkeypatch: pytest.MonkeyPatch, prefix: str, url: str, proxy: bool, page: str
) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", prefix)
    monkeypatch.setattr(sender, "find_spec", lambda name: proxy or None)
    member = sender.Membership(url, "1", "Ada", "T", 0, "")
    assert sender.page_of(member) == page
    said = sender.Joined("Ada", page)
    assert ("<a href" in said._repr_html_()) == bool(page)
    assert repr(said).endswith(page or "show your hand.")


def test_join_says_what_is_wrong(
    workspace: Path, room: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(sender.RoomRefusedError, match="has another code"):
        course.join("000000", room.url)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(sender.RoomUnreachableError, match="no room answers at"):
            course.join(room.code, nobody)
    monkeypatch.setattr(server, "MOST_LEARNERS", 0)
    with pytest.raises(sender.RoomRefusedError, match="the room is full"):
        course.join(room.code, room.url)
    assert repr(course.sent()) == "You're in no room: nothing is sent."


def test_join_outside_a_workspace_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.ArgumentValueError, match="is in no workspace"):
        course.join("123456")
