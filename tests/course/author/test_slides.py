"""Slides from the tagged cells of a lesson: what is on which, and nothing from afar."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from minigrad import errors
from minigrad.course.author import build, slides
from minigrad.course.notebook import faq

ROOT = Path(__file__).resolve().parents[3]


def text_cell(source: str, *tags: str) -> NotebookNode:
    return new_markdown_cell(source, metadata={"tags": list(tags)})


def run_cell(source: str, *tags: str, shows: str = "", html: str = "") -> NotebookNode:
    data = {"text/plain": shows} | ({"text/html": html} if html else {})
    outputs = [new_output("display_data", data)] if shows or html else []
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


def laid_out(*cells: NotebookNode, notes: str = "notes") -> list[tuple[str, str]]:
    """The kind of each part of the slides, with its source or what it shows."""
    found = slides.cells_of_slides(new_notebook(cells=list(cells)), notes, "05")
    return [
        (
            cell.metadata["part"],
            cell.source or cell.outputs[0].data["text/plain"],
        )
        for cell in found
    ]


def test_outcomes_and_explanations_wait_and_players_are_apart() -> None:
    hidden = run_cell("g()", "predict", "slide")
    hidden.metadata["transient"] = {"remove_source": True}
    assert laid_out(
        text_cell("Title", "slide"),
        text_cell("not on a slide"),
        text_cell("Question", "slide"),
        run_cell("f()", "predict", "slide", shows="outcome"),
        hidden,
        text_cell("Because", "explain", "slide"),
        run_cell("mg.step(f)", "step", "slide", shows="player", html="<iframe>"),
        text_cell("Seen", "explain", "slide"),
        run_cell("plain", "slide", shows="at once"),
    ) == [
        ("head", "Title"),
        ("head", "Question"),
        ("code", "f()"),
        ("waits", "outcome"),
        ("waits", "Because"),
        ("code", "mg.step(f)"),
        ("player", "player"),
        ("waits", "Seen"),
        ("code", "plain"),
        ("notes", "notes"),
    ]


def test_error_under_a_player_comes_after_it() -> None:
    failing = run_cell("%%step", "step", "slide", shows="player", html="<iframe>")
    failing.outputs.append(new_output("display_data", {"text/plain": "an error"}))
    assert laid_out(failing) == [
        ("code", "%%step"),
        ("player", "player"),
        ("waits", "an error"),
        ("notes", "notes"),
    ]


def test_bars_that_were_overwritten_and_the_rule_of_a_traceback_are_left_out() -> None:
    ran = run_cell("f()", "slide", shows="done")
    ran.outputs += [
        new_output("stream", text=text) for text in ("\r 0%", "\r 9%\r 10%", "other")
    ]
    ran.outputs.append(new_output("error", traceback=["-" * 75, "f()", "Error"]))
    (part, *_) = slides.cells_of_slides(new_notebook(cells=[ran]), "notes", "05")
    bar, other = [one.text for one in part.outputs if one.output_type == "stream"]
    assert (bar, other) == (" 10%\n", "other")
    assert part.outputs[-1].traceback == ["f()", "Error"]


def test_votes_of_the_notes_come_before_what_to_remember() -> None:
    notes = (
        "**Vote 1.** `x` is (a) 5,\nthen 6, (b) 7. Expected: b; few say it. Twin: no.\n"
    )
    assert laid_out(text_cell("## What to remember", "slide"), notes=notes) == [
        ("head", "## Vote 1"),
        ("asks", "**`x` is**\n\na. 5, then 6\n\nb. 7"),
        ("waits", "It's **b**."),
        ("head", "## What to remember"),
        ("notes", notes),
    ]


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/src/*.instructor.md")))
def test_every_lesson_has_two_votes_and_a_planned_error(path: Path) -> None:
    notes = path.read_text("utf8")
    kinds = [part.metadata["part"] for part in slides.votes(notes, path.name[:2])]
    assert kinds == ["head", "asks", "waits"] * 2
    assert "**Planned error.**" in notes
    assert slides.WORKSHOP.search(notes)


def test_question_is_text_and_its_outcome_is_run() -> None:
    asks = run_cell(
        'course.predict("00.x", "What is x?", ["2", "3"], then=lambda: f(1))',
        "predict",
        "slide",
    )
    question, outcome = slides.question_and_outcome(asks)
    assert question.source == "**What is x?**\n\na. 2\n\nb. 3"
    assert question.metadata["vote"] == "00.x"
    assert outcome.source == "f(1)"
    named = run_cell('course.predict("00.x", "What?", ["2"], then=program)')
    assert slides.question_and_outcome(named)[1].source == "program()"
    set_up = run_cell('x = f()\ncourse.predict("00.x", "What?", ["2"], then=x.g)')
    sources = [cell.source for cell in slides.question_and_outcome(set_up)]
    assert sources == ["x = f()", "**What?**\n\na. 2", "x.g()"]
    asks = run_cell('course.predict("00.x", "What?", ["2"], then=f, so=str)')
    asks.metadata |= build.metadata_of(HIDDEN)
    question, outcome = slides.question_and_outcome(asks)
    assert "transient" not in question.metadata
    assert outcome.source.endswith("so=str, show=True)")
    assert outcome.metadata["transient"] == {"remove_source": True}
    other = run_cell("x = 1")
    assert slides.question_and_outcome(other) == [other]


HIDDEN = build.Cell("x.py", 1, 1, False, ("predict", "hide-input"), ())


def asked_of_the_network(page: str) -> list[str]:
    tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*", page)
    return [t for t in tags if re.search(r"(?:src|href)=[\"']?(?:https?:)?//", t)]


def test_slides_of_a_lesson_are_whole_and_ask_the_network_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    out = tmp_path / "four.html"
    assert slides.main(["04", "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    page = out.read_text("utf8")
    assert "<title>Who needs a gradient?</title>" in page
    assert "expected 2, got 1" in page
    assert "<b>Planned error" in page or "<strong>Planned error" in page
    assert page.count('class="notes"') == 1
    assert asked_of_the_network(page) == []
    far = '<link rel="stylesheet" href="//far.org/a.css"><script src=https://far.org/b>'
    assert len(asked_of_the_network(page + far)) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["four.html"]


def test_several_lessons_land_here_each_in_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(slides, "slides", lambda lesson, theme: lesson.stem)
    assert slides.main(["04", "00"]) == 0
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    names = ["00_start_here", "04_who_needs_a_gradient"]
    assert found == {f"{name}.slides.html": name for name in names}
    with pytest.raises(SystemExit):
        slides.main(["04", "00", "--out", "one.html"])
    assert slides.main(["04", "77"]) == 2


def test_every_lesson_has_slides() -> None:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        book = nbformat.read(path, as_version=4)
        tagged = [c for c in book.cells if "slide" in c.metadata.get("tags", [])]
        assert len(tagged) >= 5, path.name
        whole = "\n".join([faq.unfolded(cell.source) for cell in tagged])
        assert "## What to remember" in whole, path.name
        assert whole.count("<summary>") == 3, path.name


def test_lesson_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert slides.main(["77"]) == 2
    said = capsys.readouterr().err
    assert "there is no lesson '77'" in said
    assert "00, 01, 02" in said
    with pytest.raises(errors.ArgumentValueError):
        slides.lesson_file("4")
