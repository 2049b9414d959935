"""Search: what people ask, and the cell of a notebook in which the answer happens.

``faq.toml`` holds the questions. A cell of a notebook carries the ids of those that it
answers among its tags. The sections of all notebooks are found by their words.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from minigrad import _workspace
from minigrad.course.notebook.links import link
from minigrad.course.notebook.ranking import Ranking, is_sure, spelled

ROOT = Path(__file__).resolve().parents[3]
SHOWN = 3
"""How many sections a search shows."""
ROWS_OF_ONE = 2
"""How many of them one question may fill, beside others that fit, too."""
HEADING = re.compile("^##? (.+)$", re.MULTILINE)
SELDOM_SOUGHT = re.compile(r"\d\d |Now you|What to remember|Form [AB],|For instructors")
"""Headings under which nothing is explained, such as what closes a lesson."""
FOLD = "<details><summary>After your Commit: what happened, in words</summary>\n\n"
UNFOLD = "\n\n</details>"
"""What the build writes around an explanation that gives an answer away."""

Cell = dict[str, Any]
Below = tuple[str, str, list[Cell]]
"""A notebook, a heading in it, and the cells below that."""


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


def read_questions() -> dict[str, Question]:
    """What is asked, by the question's id."""
    table = tomllib.loads(Path(__file__).with_name("faq.toml").read_text("utf8"))
    return {row["id"]: Question(**row) for row in table["question"]}


def notebooks() -> Path:
    """The folder of the notebooks as they were shipped.

    In a browser the package has none: there it's the workspace's.
    """
    root = _workspace.shipped(ROOT)
    workspace = _workspace.around(Path.cwd())
    if workspace is None or (root / "notebooks").is_dir():
        return root
    return workspace / _workspace.SHIPPED


def by_section() -> Iterator[Below]:
    """Each section of each notebook."""
    root = notebooks()
    paths = [path for each in _workspace.PATTERNS for path in sorted(root.glob(each))]
    for path in paths:
        found: list[Below] = []
        try:
            cells = json.loads(path.read_text("utf8"))["cells"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a notebook of somebody's own that is broken, or very old
        for cell in cells:
            if cell["cell_type"] == "markdown":
                for title in HEADING.findall(_workspace.text_of(cell)):
                    found.append((path.relative_to(root).as_posix(), title, []))
            if found:
                found[-1][2].append(cell)
        yield from found


def tags_of(cell: Cell) -> list[str]:
    """The tags of a cell, among them the questions that it answers."""
    tags: list[str] = cell.get("metadata", {}).get("tags", [])
    return tags


def first_line(cell: Cell) -> str:
    """The line by which a cell is known: of a hidden one, the question that is seen."""
    called = "course.predict(" if "hide-input" in tags_of(cell) else ""
    lines = [line for line in _workspace.text_of(cell).splitlines() if line]
    return next((x for x in lines if x[0] not in "#%" and called in x), "")


def read_table() -> list[Answer]:
    """Every cell that answers a question, in the order of the questions."""
    return answers_in(by_section())


def answers_in(sections: Iterable[Below]) -> list[Answer]:
    """The cells of these sections that answer a question."""
    asked = read_questions()
    rows = [
        Answer(tag, book, title, first_line(cell), asked[tag].asks, asked[tag].original)
        for book, title, cells in sections
        for cell in cells
        for tag in tags_of(cell)
        if tag in asked
    ]
    return sorted(rows, key=lambda row: row.id)


def explaining(sections: Iterable[Below]) -> Iterator[Section]:
    """The sections in which something is explained; right below a title nothing is."""
    begun = set()
    for book, title, cells in sections:
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        if book in begun and code and not SELDOM_SOUGHT.match(title):
            told = [told_in(c) for c in cells if c["cell_type"] == "markdown"]
            # An exercise's code is all alike: a class, forward, backward.
            runs = [] if re.match(r"\d\d\.", title) else map(told_in, code)
            parts = words_by_place("\n".join(told), "\n".join(runs))
            yield Section(book, title, first_line(code[0]), *parts)
        begun.add(book)


def told_in(cell: Cell) -> str:
    """A cell's text, without what the build has put before it."""
    text = _workspace.text_of(cell)
    hides = "hide-input" in tags_of(cell)
    return text.partition("\n")[2] if hides else unfolded(text)


def unfolded(text: str) -> str:
    """An explanation as it's written; for a wall, a presenter says when it comes."""
    return text.removeprefix(FOLD).removesuffix(UNFOLD)


def words_by_place(prose: str, code: str) -> tuple[str, str, str]:
    """The words by which a section is found, each once: in bold, in prose, in code."""
    bold = set(spelled(" | ".join(re.findall(r"\*\*(.+?)\*\*", prose, re.DOTALL))))
    told = set(spelled(prose)) - bold
    rest = set(spelled(code)) - told - bold
    terms, words, names = (" ".join(sorted(each)) for each in (bold, told, rest))
    return terms, words, names


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
    if not index().cells:
        found.note = (
            f"{notebooks()} has no notebooks to search. Open the course with "
            "python3 minigrad lab, or in the browser edition."
        )
    elif not found:
        found.note = (
            f"Nothing found for {question!r}. Ask in other words, or course.answers() "
            "for all."
        )
    return found


@cache
def index() -> Index:
    """All that can be found."""
    sections = list(by_section())
    asked = read_questions().values()
    return Index(asked, answers_in(sections), list(explaining(sections)))


class Index:
    """Questions with the cells that answer them, and sections, to be searched."""

    def __init__(
        self,
        asked: Iterable[Question],
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
