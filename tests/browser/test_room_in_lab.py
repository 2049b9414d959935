"""Four learners in JupyterLab, and a room that is killed in the middle of a vote."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page

from minigrad import _workspace
from minigrad.course.room import sender
from minigrad.mistakes import TABLE
from tests.browser.laboratory import ROOT, Lab, Notebook, free_port
from tests.course.room.rooms import listening, start_room

CODE = "this is my own code"
TEXT = "I believe it is the chain rule"
SECRETS = (CODE, TEXT, "save_for_backward", "grad_output", "with 5", "my question")
MUL = f"""
import minigrad as mg

class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.remark = "{CODE}"
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return RETURNS

_ = course.check("01.4", Mul)
"""
WRONG = MUL.replace("RETURNS", "y, x")
RIGHT = MUL.replace("RETURNS", "grad_output * y, grad_output * x")
PREDICT = """
_ = course.predict("01.upstream", "my question", ["with 2", "with 5"], answer="{}")
"""
BECAUSE = f"""
_ = course.because("01.because", "Why?", "{TEXT}")
"""
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
NAMES = ("Ada", "Bob", "Cleo", "Dan")
CHOICES = ("a", "b", "b", "b")
WHILE_AWAY = (WRONG, WRONG, RIGHT, RIGHT)
"""What each does as long as the room is away; the last two predict then, too."""


@pytest.fixture
def learners(lab: Lab, browser: Browser) -> Iterator[list[tuple[Notebook, Path]]]:
    """A notebook of each, in a workspace and a tab of their own."""
    context = browser.new_context()
    context.set_default_timeout(120_000)
    found = []
    for name in NAMES:
        folder = lab.folder / name
        _workspace.lay_out(ROOT, folder)
        cells = [new_code_cell("from minigrad import course")]
        book = new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
        nbformat.write(book, folder / "room.ipynb")
        path = f"{name}/room.ipynb"
        found.append((Notebook(context.new_page(), lab, path), folder))
    yield found
    context.close()


def run(notebook: Notebook, source: str) -> None:
    """Type a cell and run it; it has to run well."""
    notebook.page.bring_to_front()
    notebook.type_into(0, f"from minigrad import course\n{source}")
    notebook.run(0)
    outputs = notebook.cells()[0]["outputs"]
    assert not [one for one in outputs if one["output_type"] == "error"], outputs


def journal_says(folder: Path) -> tuple[dict[str, list[Any]], str]:
    """What a journal has, read without the course: checks, and the last choice."""
    cells: dict[str, list[Any]] = {}
    choice = ""
    for line in (folder / "progress.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "checked":
            mistakes = [one for one in entry["mistakes"] if one in TABLE]
            _, attempts, _ = cells.get(entry["exercise"], ["", 0, ""])
            last = [entry["state"], attempts + 1, (mistakes or [""])[0]]
            cells[entry["exercise"]] = last
        elif entry["kind"] == "answered":
            choice = entry["choice"]
    return cells, choice


class Board:
    """The instructor's board in a tab, and the last that it was sent."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.seen: dict[str, Any] = {}
        page.on("websocket", lambda line: line.on("framereceived", self.hear))
        page.goto(address)

    def hear(self, frame: str | bytes) -> None:
        self.seen = json.loads(frame).get("seen", self.seen)

    def has(self, answered: int, checks: int) -> None:
        """Wait until so many have answered, and so many checks are there."""
        for _ in range(600):
            rows = self.seen.get("rows", [])
            cells = [cell for row in rows for cell in row["cells"].values()]
            vote = self.seen.get("vote") or {}
            now = vote.get("answered"), sum(attempts for _, attempts, _ in cells)
            if now == (answered, checks):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"the board has {now}")


def test_board_equals_the_journals_after_a_kill_in_a_vote(
    learners: list[tuple[Notebook, Path]], browser: Browser, tmp_path: Path
) -> None:
    port = free_port()
    first, lines = start_room(tmp_path, port)
    code, address = lines[0].split()[2], lines[1].split()[-1]
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(60_000)
    board = Board(context.new_page(), address)
    with ExitStack() as at_the_end:
        url, heard = at_the_end.enter_context(listening(f"http://127.0.0.1:{port}"))
        at_the_end.callback(first.kill)
        for (notebook, _), name in zip(learners, NAMES, strict=True):
            run(notebook, f'course.join("{code}", "{url}", name="{name}")')
            run(notebook, WRONG)
        run(learners[0][0], PREDICT.format(CHOICES[0]))
        board.page.bring_to_front()
        board.page.get_by_role("button", name="On the wall").click()
        run(learners[1][0], PREDICT.format(CHOICES[1]))
        board.has(answered=2, checks=4)

        first.kill()
        first.communicate()
        for (notebook, _), choice, source in zip(
            learners, CHOICES, WHILE_AWAY, strict=True
        ):
            run(notebook, source + BECAUSE)
            if notebook not in (learners[0][0], learners[1][0]):
                run(notebook, PREDICT.format(choice))
        again, lines = start_room(tmp_path, port)
        at_the_end.callback(again.kill)
        assert (lines[0].split()[2], lines[1].split()[-1]) == (code, address)
        board.has(answered=4, checks=8)  # nobody did anything

        board.page.bring_to_front()
        board.page.keyboard.press("c")
        board.page.locator(".track").first.wait_for()
        bars = board.page.locator(".track span").all_inner_texts()
        journals = [journal_says(folder) for _, folder in learners]
        said = [choice for _, choice in journals]
        assert bars == [str(said.count(letter)) for letter in "abcd"]
        rows = {row["name"]: row["cells"] for row in board.seen["rows"]}
        expected = [cells for cells, _ in journals]
        assert rows == dict(zip(NAMES, expected, strict=True))
        assert rows["Ada"]["01.4"][:2] == ["wrong", 2]
        assert rows["Ada"]["01.4"][2] in TABLE
        assert rows["Cleo"]["01.4"] == ["solved", 2, ""]

        assert b'"01.4"' in heard  # the tap hears
        assert [each for each in SECRETS if each.encode() in heard] == []
        for each in SECRETS:  # and would find each of them
            sender.answer_of(f"{url}/join", {"code": code, "name": each})
        assert [each for each in SECRETS if each.encode() in heard] == [*SECRETS]
        context.close()
        again.send_signal(signal.SIGINT)
        again.communicate(timeout=20)
    assert again.returncode == 0
    assert not [*tmp_path.glob("open_room_*")]
