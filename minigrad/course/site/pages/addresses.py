"""Where things are on the website: lessons have pages, the rest is in the edition."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from minigrad.course.notebook import faq


@dataclass(frozen=True)
class Addresses:
    """As seen from a page that is ``up`` from the front page.

    ``lessons``: the title of each lesson that has a page, by its file's name.
    """

    lessons: Mapping[str, str]
    edition: str
    up: str = "../"

    def in_edition(self, notebook: str) -> str:
        """A notebook in the browser edition."""
        base = self.edition if "://" in self.edition else f"{self.up}{self.edition}"
        return f"{base.rstrip('/')}/lab/index.html?path={notebook}"

    def of(self, notebook: str) -> str:
        """The page of a lesson, or what has no page in the browser edition."""
        path = Path(notebook)
        if path.stem in self.lessons:
            return f"{self.up}lessons/{path.stem}.html"
        folder = (
            "notebooks"
            if "exercises" not in notebook
            else f"exercises/{path.parent.name}"
        )
        return self.in_edition(f"{folder}/{path.name}")

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
