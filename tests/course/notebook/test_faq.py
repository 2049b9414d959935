"""What people ask, and the cells that answer: the table is whole, words find rows."""

from __future__ import annotations

import html
from pathlib import Path

import nbformat
import pytest

from minigrad import errors
from minigrad.course import answers
from minigrad.course.author import build
from minigrad.course.notebook import faq

ROOT = Path(__file__).resolve().parents[3]
QUESTIONS = {"Q01": "Who made it?", "Q02": "Why?"}
HERE = ("notebooks/00.ipynb", "Start", "x = 1")


def test_table_has_a_row_for_each_cell_in_the_order_of_the_questions() -> None:
    cells = [("Q02", *HERE), ("Q01", *HERE), ("Q01", "other.ipynb", "End", "y = 2")]
    table = faq.match(QUESTIONS, cells)
    assert [(a.id, a.question, a.notebook) for a in table] == [
        ("Q01", "Who made it?", "notebooks/00.ipynb"),
        ("Q01", "Who made it?", "other.ipynb"),
        ("Q02", "Why?", "notebooks/00.ipynb"),
    ]


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([("Q01", *HERE)], "Q02: no cell is tagged"),
        ([("Q01", *HERE), ("Q02", *HERE), ("Q03", *HERE)], "Q03: a cell is tagged"),
    ],
)
def test_question_without_a_cell_and_the_reverse_stop_the_build(
    cells: list[tuple[str, str, str, str]], says: str
) -> None:
    with pytest.raises(faq.AnswerError, match=says):
        faq.match(QUESTIONS, cells)


def test_every_row_leads_to_a_cell_of_a_built_notebook() -> None:
    table = faq.read_table()
    assert len({row.id for row in table}) == len(faq.read_questions())
    for row in table:
        book = nbformat.read(ROOT / row.notebook, as_version=4)
        tagged = [c for c in book.cells if row.id in c.metadata.get("tags", [])]
        assert any(row.cell in cell.source for cell in tagged), row
        headings = [c.source for c in book.cells if c.cell_type == "markdown"]
        assert any(f"# {row.section}" in text for text in headings), row


def test_questions_are_found_by_a_word_and_shown_as_text_and_as_a_table() -> None:
    assert len(answers()) == len(faq.read_table())
    (found,) = answers("WHO MAKES")
    assert found.id == "Q42"
    assert "01_where_ctx_comes_from.ipynb" in repr(answers("who makes"))
    shown = answers("incorrect number")._repr_html_()
    assert html.escape('"incorrect number of gradients') in shown
    assert shown.count(html.escape('"incorrect number of gradients')) == 1
    with pytest.raises(errors.ArgumentValueError, match="has 'zebra' in it"):
        answers("zebra")


def test_build_takes_a_question_as_a_tag_and_no_other_word() -> None:
    text = '# %% tags=["{}"]\nx = 1\n'
    (cell,) = build.read_cells(text.format("Q01"), "a.py")
    assert cell.tags == ("Q01",)
    with pytest.raises(build.SourceError, match="unknown tag 'Q1'"):
        build.read_cells(text.format("Q1"), "a.py")
