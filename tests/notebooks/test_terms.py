"""No lesson leans on a word of a later one: the terms, held against the texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from minigrad import errors
from minigrad.course import terms
from minigrad.course.author import build
from minigrad.course.notebook import glossary
from minigrad.course.notebook.glossary import Term

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    [*(ROOT / "notebooks/src").glob("*.py"), *(ROOT / "solutions/src").glob("0*.py")]
)


def paragraphs(path: Path) -> Iterator[str]:
    """Each paragraph of words, and each cell of code."""
    for cell in build.read_cells(path.read_text("utf8"), path.name):
        if cell.markdown:
            yield from build.prose(cell).split("\n\n")
        else:
            yield build.code(cell, solved=True)


def forward_references(texts: Iterator[str], lesson: str) -> list[str]:
    """Words of later lessons, where the paragraph does not say which lesson it is."""
    return [
        f"{term.word} (lesson {term.lesson}): {' '.join(text.split())[:70]}"
        for text in texts
        for term in glossary.read()
        if term.first > lesson
        and re.search(term.pattern, text, re.IGNORECASE)
        and f"lesson {term.lesson}" not in text
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: f"{p.parts[-3]}-{p.stem}")
def test_no_lesson_uses_a_word_of_a_later_one(path: Path) -> None:
    assert forward_references(paragraphs(path), path.stem[:2]) == []


def test_word_of_a_later_lesson_is_found_unless_its_lesson_is_named() -> None:
    def found(text: str, lesson: str) -> list[str]:
        return forward_references(iter([text]), lesson)

    assert found("Call mark_dirty here.", "07") == [
        "mark_dirty (lesson 08): Call mark_dirty here."
    ]
    assert found("Call mark_dirty here.", "08") == []
    assert found("Call mark_dirty here (lesson 08 explains it).", "02") == []


def test_lesson_has_four_new_words_at_most() -> None:
    every = Counter([term.lesson for term in glossary.read()])
    new = Counter([term.lesson for term in glossary.read() if not term.known])
    assert max(new.values()) == 4
    assert every["00"] == new["00"] + 3 == 7  # what is known would be seen


def texts_of(lesson: str) -> str:
    paths = [path for path in SOURCES if path.stem[:2] == lesson]
    return "\n".join([path.read_text("utf8") for path in paths])


@pytest.mark.parametrize("term", glossary.read(), ids=lambda term: term.word)
def test_lesson_that_introduces_a_word_uses_it(term: Term) -> None:
    for lesson in {term.lesson, term.first}:
        text = texts_of(lesson)
        assert not text or re.search(term.pattern, text, re.IGNORECASE)


def test_terms_are_found_by_a_part_of_the_word_and_shown() -> None:
    assert [term.word for term in terms("dirty")] == ["mark_dirty"]
    assert repr(terms("dirty")).startswith("mark_dirty (lesson 08): Says that")
    assert "<dt><b>mark_dirty</b> (lesson 08)</dt>" in terms("dirty")._repr_html_()
    assert len(terms()) == len(glossary.read())
    with pytest.raises(errors.ArgumentValueError, match="has 'zebra' in it"):
        terms("zebra")
