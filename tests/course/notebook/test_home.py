"""Home: the whole course with links, what is next, and a notebook that holds it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from minigrad import _workspace
from minigrad.course import home
from minigrad.course.check import SOLVED
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import journal, write_home
from minigrad.course.notebook.links import link

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _workspace.lay_out(ROOT, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_newcomer_is_sent_to_the_first_exercise(workspace: Path) -> None:
    assert repr(home()).startswith("Next: 00.1 Which step is next? (about ")
    assert "00 Start here" in repr(home())


def test_next_is_the_first_that_is_not_solved(workspace: Path) -> None:
    journal.note(journal.CHECKED, "00.1", state=SOLVED)
    journal.note(journal.CHECKED, "gym.Exp", state=SOLVED)
    assert repr(home()).startswith("Next: 00.2 ")
    assert "Gym: practice Functions: 1 of" in repr(home())
    for name in catalogue.names():
        journal.note(journal.CHECKED, name, state=SOLVED)
    assert repr(home()).startswith("Every exercise of the lessons is solved.")


def test_every_link_leads_to_a_notebook_and_to_a_heading_of_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace / "notebooks")
    addresses = [
        html.unescape(found) for found in re.findall(r"href='([^']*)'", home().page())
    ]
    assert len(addresses) > len(catalogue.names()) + len(catalogue.gym_names())
    for address in addresses:
        name, _, heading = address.partition("#")
        cells = json.loads((workspace / "notebooks" / name).read_text("utf8"))["cells"]
        found = [c for c in cells if heading == f"cell-id={c['id']}"]
        assert not heading or "".join(found[0]["source"]).startswith("## ")


def test_link_to_a_heading_names_its_cell_and_else_the_heading(
    workspace: Path,
) -> None:
    (path,) = workspace.glob("notebooks/08_*.ipynb")
    name = str(path.relative_to(workspace))
    cells = json.loads(path.read_text("utf8"))["cells"]
    (leaf,) = [c for c in cells if "## The leaf rule\n" in c["source"]]
    assert f"{name}#cell-id={leaf['id']}'" in link("x", name, "The leaf rule")
    assert f"{name}#The-leaf'" in link("x", name, "The leaf")
    for broken in ("no notebook", '{"cells": 3}', '{"cells": [{"source": "## x"}]}'):
        path.write_text(broken)
        assert f"{name}#The-leaf-rule'" in link("x", name, "The leaf rule")
    path.unlink()
    assert f"{name}#The-leaf-rule'" in link("x", name, "The leaf rule")


def test_outside_a_workspace_there_are_names_and_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "href" not in home().page()
    assert "Lesson 01" in home().page()


def test_lesson_that_the_learner_has_broken_keeps_its_number(workspace: Path) -> None:
    next(workspace.glob("notebooks/01_*.ipynb")).write_text("not a notebook")
    assert "  Lesson 01: 0 of 5 solved" in repr(home())


def test_notebook_of_home_holds_the_page_and_is_renewed(workspace: Path) -> None:
    write_home()
    first = (workspace / "home.ipynb").read_text("utf8")
    assert "Next: 00.1" in first
    journal.note(journal.CHECKED, "00.1", state=SOLVED)
    write_home()
    book = json.loads((workspace / "home.ipynb").read_text("utf8"))
    assert "Next: 00.2" in book["cells"][0]["outputs"][0]["data"]["text/html"]


@pytest.mark.parametrize("kept", ["my notes", '{"cells": [{"source": "x = 1"}]}'])
def test_notebook_of_home_that_was_edited_stays(workspace: Path, kept: str) -> None:
    (workspace / "home.ipynb").write_text(kept)
    write_home()
    assert (workspace / "home.ipynb").read_text("utf8") == kept
