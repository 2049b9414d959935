"""What people ask about ctx, and the cell of a notebook in which the answer happens.

``faq.toml`` holds the questions. A cell of a notebook's source carries the ids of
those that it answers among its tags; ``faq.tsv`` is built from both.
"""

from __future__ import annotations

import csv
import html
import io
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from minigrad import errors

HERE = Path(__file__).parent
BUILT = "minigrad/course/notebook/faq.tsv"


@dataclass(frozen=True)
class Answer:
    """One cell that answers a question: its notebook, section and first line."""

    id: str
    question: str
    notebook: str
    section: str
    cell: str


class AnswerError(ValueError):
    """The questions and the tags of the cells contradict each other."""


def read_questions() -> dict[str, str]:
    """What is asked, by the question's id."""
    table = tomllib.loads((HERE / "faq.toml").read_text("utf8"))
    return {row["id"]: row["asks"] for row in table["question"]}


def match(
    questions: dict[str, str], cells: Iterable[tuple[str, str, str, str]]
) -> list[Answer]:
    """The table in the order of the questions; a cell is (id, notebook, section, line).

    Raises: AnswerError for a question without a cell, or a cell without a question.
    """
    found = sorted(cells, key=lambda cell: cell[0])
    named = {cell[0] for cell in found}
    for lacking, where in (
        (questions.keys() - named, "no cell is tagged with it"),
        (named - questions.keys(), "a cell is tagged with it, and nobody asks it"),
    ):
        if lacking:
            raise AnswerError(f"faq.toml, {', '.join(sorted(lacking))}: {where}")
    return [Answer(id, questions[id], *where) for id, *where in found]


def table_text(answers: Sequence[Answer]) -> str:
    """The built table as text: one line a cell, with tabs."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow([field.name for field in fields(Answer)])
    writer.writerows([astuple(answer) for answer in answers])
    return out.getvalue()


def read_table() -> list[Answer]:
    """The built table."""
    text = (HERE / "faq.tsv").read_text("utf8")
    return [Answer(*row) for row in csv.reader(text.splitlines()[1:], delimiter="\t")]


class Answers(list[Answer]):
    """Rows that show themselves as a table, in a notebook and as text."""

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"{each.question}\n  {each.notebook}, {each.section}: {each.cell}"
                for each in self
            ]
        )

    def _repr_html_(self) -> str:
        return f"<table>{''.join(self._rows())}</table>"

    def _rows(self) -> Iterator[str]:
        yield "<tr><th>question</th><th>notebook</th><th>section</th><th>cell</th></tr>"
        asked = ""
        for each in self:
            texts = [each.question, each.notebook, each.section, each.cell]
            question, notebook, section, cell = map(html.escape, texts)
            if each.question == asked:
                question = ""
            asked = each.question
            style = ' style="text-align:left; vertical-align:top"'
            yield (
                f"<tr><td{style}>{question}</td><td{style}>{notebook}</td>"
                f"<td{style}>{section}</td><td{style}><code>{cell}</code></td></tr>"
            )


def answers(word: str = "") -> Answers:
    """What people ask, with the cell to run: all of it, or what has ``word`` in it.

    Raises: ArgumentValueError if nothing has.

    >>> minigrad.course.answers("come from")
    Where does ctx come from, and who makes it?
      notebooks/01_where_ctx_comes_from.ipynb, ...
    """
    table = read_table()
    chosen = [a for a in table if word.lower() in f"{a.question} {a.section}".lower()]
    if not chosen:
        raise errors.ArgumentValueError(
            errors.message(
                "course.answers",
                f"none of {len({a.id for a in table})} questions has {word!r} in it",
                "ask with one word, such as 'memory', or without any for all",
            )
        )
    return Answers(chosen)
