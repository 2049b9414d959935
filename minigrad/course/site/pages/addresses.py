"""Where things are on the website: notebooks with a page, the rest in the edition."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from minigrad.course.notebook import faq


@dataclass(frozen=True)
class Addresses:
    """As seen from a page that is ``up`` from the front page.

    ``lessons``: the title of each lesson that has a page, by its file's name;
    ``exercises``: the names of the exercises' files that have one.
    """

    lessons: Mapping[str, str]
    exercises: Collection[str]
    edition: str
    up: str = "../"

    def in_edition(self, notebook: str) -> str:
        """A notebook in the browser edition."""
        base = self.edition if "://" in self.edition else f"{self.up}{self.edition}"
        path, folder = Path(notebook), "notebooks"
        if "exercises" in path.parts[-3:]:
            folder = f"exercises/{path.parent.name}"
        return f"{base.rstrip('/')}/lab/index.html?path={folder}/{path.name}"

    def of(self, notebook: str) -> str:
        """The page of a notebook, or what has no page in the browser edition."""
        name = Path(notebook).stem
        if name in self.lessons:
            return f"{self.up}lessons/{name}.html"
        if name in self.exercises:
            return f"{self.up}exercises/{name}.html"
        return self.in_edition(notebook)

    def of_section(self, answer: faq.Answer) -> str:
        """The section that answers a question."""
        from docutils.nodes import make_id

        address = self.of(answer.notebook)
        return address if "?" in address else f"{address}#{make_id(answer.section)}"

    def lesson(self, number: str) -> str:
        """A link to a lesson."""
        for stem, title in self.lessons.items():
            if stem.startswith(number):
                text = f"lesson {number}: {html.escape(title)}"
                return f'<a href="{self.of(stem)}">{text}</a>'
        return f"lesson {number}"

    def as_html(self, found: re.Match[str]) -> str:
        """A link of Markdown's to a notebook, as HTML."""
        return f'<a href="{self.of(found[2])}">{found[1]}</a>'
