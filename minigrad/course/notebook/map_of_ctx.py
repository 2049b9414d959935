"""ctx on one page: every name, when it may be used, what it does to backward, where.

The page is made from ``map_of_ctx.tsv``, and nothing else.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from minigrad.views.one_page import Column, OnePage

TABLE = Path(__file__).with_name("map_of_ctx.tsv")
TITLE = "ctx on one page"
BELOW = (
    "The same in minigrad and PyTorch 2.13. setup_context(ctx, inputs, output) runs "
    "right after a forward that takes no ctx (lesson 09)."
)


@dataclass(frozen=True)
class Row:
    """What the map says of one name of ctx, or of several."""

    group: str
    name: str
    when: str
    backward: str
    lesson: str


def rows() -> list[Row]:
    """The table, in its order."""
    with TABLE.open(encoding="utf8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file, delimiter="\t")]


def ctx_map() -> OnePage:
    """The map of ctx, to look at or to print: ``course.ctx_map().save("ctx.pdf")``."""
    columns = [
        Column("name", 0.24, mono=True),
        Column("when", 0.33),
        Column("what it does to backward", 0.37),
        Column("lesson", 0.06),
    ]
    groups: dict[str, list[list[str]]] = {}
    for row in rows():
        cells = [row.name, row.when, row.backward, row.lesson]
        groups.setdefault(row.group, []).append(cells)
    return OnePage(TITLE, columns, groups, BELOW)
