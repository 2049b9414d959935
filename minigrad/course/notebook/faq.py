"""Search: what people ask, and the cell of a notebook in which the answer happens.

``faq.toml`` holds the questions. A cell of a notebook's source carries the ids of
those that it answers among its tags; ``faq.tsv`` is built from both. ``sections.tsv``
is built, too: the sections of all notebooks with the words in them.
"""

from __future__ import annotations

import csv
import html
import io
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from pathlib import Path

from minigrad.course.notebook.links import link
from minigrad.course.notebook.ranking import Ranking, is_sure, spelled

HERE = Path(__file__).parent
BUILT = "minigrad/course/notebook/faq.tsv"
BUILT_SECTIONS = "minigrad/course/notebook/sections.tsv"
SHOWN = 3
"""How many sections a search shows."""
ROWS_OF_ONE = 2
"""How many of them one question may fill, beside others that fit, too."""
KEPT_IN_TOML = ("question", "original")


@dataclass(frozen=True)
class Question:
    """What is asked: in our words, as people first asked it, and what else finds it.

    ``also``: error messages and names, as one pastes them.
    """

    id: str
    asks: str
    original: str = ""
    also: Sequence[str] = ()


@dataclass(frozen=True)
class Answer:
    """One cell that answers a question: its notebook, section and first line.

    Without a question it is a section that has the words asked for.
    """

    id: str
    notebook: str
    section: str
    cell: str
    question: str = ""
    original: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a notebook: its heading, its first cell, the words in it.

    ``terms``: those in bold; ``code``: words that only its code has.
    """

    notebook: str
    section: str
    cell: str
    terms: str
    words: str
    code: str


class AnswerError(ValueError):
    """The questions and the tags of the cells contradict each other."""


def read_questions() -> dict[str, Question]:
    """What is asked, by the question's id."""
    table = tomllib.loads((HERE / "faq.toml").read_text("utf8"))
    return {row["id"]: Question(**row) for row in table["question"]}


def match(
    questions: Iterable[str], cells: Iterable[tuple[str, str, str, str]]
) -> list[Answer]:
    """The table in the order of the questions; a cell is (id, notebook, section, line).

    Raises: AnswerError for a question without a cell, or a cell without a question.
    """
    asked, found = set(questions), sorted(cells, key=lambda cell: cell[0])
    named = {cell[0] for cell in found}
    for lacking, where in (
        (asked - named, "no cell is tagged with it"),
        (named - asked, "a cell is tagged with it, and nobody asks it"),
    ):
        if lacking:
            raise AnswerError(f"faq.toml, {', '.join(sorted(lacking))}: {where}")
    return [Answer(*cell) for cell in found]


def words_by_place(prose: str, code: str) -> tuple[str, str, str]:
    """The words by which a section is found, each once: in bold, in prose, in code."""
    bold = set(spelled(" | ".join(re.findall(r"\*\*(.+?)\*\*", prose, re.DOTALL))))
    told = set(spelled(prose)) - bold
    rest = set(spelled(code)) - told - bold
    terms, words, names = (" ".join(sorted(each)) for each in (bold, told, rest))
    return terms, words, names


def table_text(rows: Sequence[Answer | Section]) -> str:
    """A built table as text: one line a row, with tabs."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    width = len([one for one in fields(rows[0]) if one.name not in KEPT_IN_TOML])
    writer.writerow([field.name for field in fields(rows[0])][:width])
    writer.writerows([astuple(row)[:width] for row in rows])
    return out.getvalue()


def read_rows(name: str) -> list[list[str]]:
    """The rows of a built table."""
    text = (HERE / name).read_text("utf8")
    return list(csv.reader(text.splitlines()[1:], delimiter="\t"))


def read_table() -> list[Answer]:
    """Every cell that answers a question, in the order of the questions."""
    asked = read_questions()
    rows = [Answer(*row) for row in read_rows("faq.tsv")]
    return [
        replace(row, question=asked[row.id].asks, original=asked[row.id].original)
        for row in rows
    ]


class Answers(list[Answer]):
    """Rows that show themselves as a table, in a notebook and as text."""

    note = ""

    def __repr__(self) -> str:
        lines = [self.note] if self.note else []
        for each in self:
            where = f"{each.notebook}, {each.section}: {each.cell}"
            lines.append(f"{each.question}\n  {where}" if each.question else where)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f"<div style='max-width: 56em'>{note}{''.join(self._entries())}</div>"

    def _entries(self) -> Iterator[str]:
        asked = ""
        for each in self:
            if each.question and each.question != asked:
                title = html.escape(each.original, quote=True)
                yield f"<p title='{title}'><b>{html.escape(each.question)}</b></p>"
            asked = each.question
            book = Path(each.notebook).stem.replace("_", " ")
            name = html.escape(f"{book}: {each.section}")
            where = link(name, each.notebook, each.section)
            yield f"<p style='margin-left: 2em'>{where}<br>"
            hidden = each.cell.startswith("course.predict(")
            cell = f"<code>{html.escape(each.cell)}</code>"
            yield f"{'what you predict there' if hidden else cell}</p>"


def answers(question: object = "") -> Answers:
    """The cells that answer a question: ask in your words, or paste an error message.

    A name from the code works, too (``next_functions``), and so does an exception.
    Without a question: all that people ask.

    >>> minigrad.course.answers("where does ctx come from")[0].section
    'Which line makes ctx?'
    >>> minigrad.course.answers("zebra")
    Nothing found for 'zebra'. Ask in other words, or course.answers() for all.
    """
    question = str(question)
    if not question.strip():
        return Answers(read_table())
    found = index().find(question)
    if not found:
        found.note = (
            f"Nothing found for {question!r}. Ask in other words, or course.answers() "
            "for all."
        )
    return found


@cache
def index() -> Index:
    """All that can be found."""
    sections = [Section(*row) for row in read_rows("sections.tsv")]
    return Index(list(read_questions().values()), read_table(), sections)


class Index:
    """Questions with the cells that answer them, and sections, to be searched."""

    def __init__(
        self,
        asked: Sequence[Question],
        table: Sequence[Answer],
        sections: Sequence[Section],
    ) -> None:
        parts = {(one.notebook, one.section): parts_of(one) for one in sections}
        self.cells: list[Answer] = []
        self.titles: list[str] = []
        texts = []
        also = {each.id: " | ".join(each.also) for each in asked}
        for row in table:
            around = parts.get((row.notebook, row.section), [(row.section, 1.0)])
            near = [(text, weight / 2) for text, weight in around]
            pasted = also[row.id]
            self.cells.append(row)
            self.titles.append(plain(row.question))
            texts.append([(row.question, 3), (row.original, 2), (pasted, 2), *near])
        for one in sections:
            self.cells.append(Answer("", one.notebook, one.section, one.cell))
            self.titles.append(plain(one.section))
            texts.append(parts[one.notebook, one.section])
        self.ranking = Ranking(texts)

    def find(self, question: str) -> Answers:
        """The cells of the questions and sections that fit best.

        What has this very title comes first. Where little of the question is known,
        a note says that the nearest may not answer it.
        """
        found = Answers()
        best = self.ranking.best(question)
        named = [n for n, title in enumerate(self.titles) if title == plain(question)]
        if not named and not is_sure(best[:SHOWN]):
            found.note = f"No sure answer to {question!r}. Perhaps one of these:"
        shown: set[tuple[str, str]] = set()
        for number in dict.fromkeys([*named, *[one.number for one in best]]):
            row = self.cells[number]
            place = row.notebook, row.section
            alike = [one for one in found if row.id and one.id == row.id]
            if place not in shown and (number in named or len(alike) < ROWS_OF_ONE):
                shown.add(place)
                found.append(row)
            if len(found) == SHOWN:
                break
        return found


def parts_of(one: Section) -> list[tuple[str, float]]:
    """What of a section can be found, with what it weighs."""
    lesson = re.sub(r"\d+|_|exercises", " ", Path(one.notebook).stem)
    parts = (one.section, 3), (one.terms, 1), (one.words, 0.7), (one.code, 0.3)
    return [*parts, (lesson, 0.5)]


def plain(title: str) -> str:
    """A title without its number, capitals and last sign.

    >>> plain("06.2 unbroadcast"), plain("The leaf rule?")
    ('unbroadcast', 'the leaf rule')
    """
    return re.sub(r"^\d\d\.\d+ ", "", title).strip(" ?.").casefold()
