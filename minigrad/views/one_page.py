"""A table that fits one printed page: as SVG in a notebook, as SVG or PDF in a file."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from minigrad import errors
from minigrad.tracing.trace import write_whole
from minigrad.views.plots import INK, svg_of

WIDTH, HEIGHT = 842.0, 595.0
"""A4 on its side, in points."""
MARGIN, GAP, PAD = 30.0, 12.0, 3.6
SIZE, LEADING = 9.0, 11.2
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f7f")
"""Okabe and Ito's and a grey, one for each group; its heading says it in words."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, its share of the width, whether it is code."""

    heading: str
    share: float
    mono: bool = False


@dataclass(frozen=True, repr=False)
class OnePage:
    """A table in groups, with a title above it and a line below."""

    title: str
    columns: Sequence[Column]
    groups: Mapping[str, Sequence[Sequence[str]]]
    below: str

    def __repr__(self) -> str:
        lines = [self.title]
        for group, rows in self.groups.items():
            lines += ["", group]
            for first, *rest in rows:
                lines.append(f"  {first}")
                named = zip(self.columns[1:], rest, strict=True)
                lines += [f"    {c.heading}: {text}" for c, text in named]
        return "\n".join([*lines, "", self.below])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        style = "max-width:76em;color:var(--jp-content-font-color1,inherit)"
        label = html.escape(self.title)
        page = (
            f'<div role="group" aria-label="{label}" style="{style}">{self.svg()}</div>'
        )
        return {"text/plain": repr(self), "text/html": page}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file that ends with .svg or .pdf.

        Raises: ArgumentValueError for another ending.
        """
        kind = Path(path).suffix
        if kind == ".svg":
            return write_whole("save", path, self.svg("#111", "white"))
        if kind != ".pdf":
            raise errors.ArgumentValueError.at(
                "save", f"{os.fspath(path)!r} has the ending {kind!r}", "use .svg, .pdf"
            )
        metadata = {"Title": self.title, "CreationDate": None}
        self.figure("#111").savefig(path, format="pdf", metadata=metadata)
        return Path(path)

    def svg(self, ink: str = INK, paper: str = "none") -> str:
        """The page as SVG: in the colour of the text around it, or on white paper."""
        return svg_of(self.figure(ink), facecolor=paper)

    def figure(self, ink: str) -> Any:
        """The page as matplotlib has it.

        Raises: ArgumentValueError if it's more than a page.
        """
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        axes.axis("off")

        def write(x: float, y: float, text: str, **how: Any) -> None:
            axes.text(x, y, text, color=ink, parse_math=False, font=font(**how))

        y = MARGIN + 14
        write(MARGIN, y, self.title, size=15, bold=True)
        y += 20
        room = WIDTH - 2 * MARGIN - GAP * (len(self.columns) - 1)
        widths = [room * column.share for column in self.columns]
        places = [MARGIN + sum(widths[:i]) + GAP * i for i in range(len(widths))]
        for place, column in zip(places, self.columns, strict=True):
            write(place + PAD, y, column.heading, bold=True)
        y += 5
        above: list[float] = []
        for colour, (group, rows) in zip(cycle(COLOURS), self.groups.items()):
            top = y + 3
            y += 3 + LEADING
            write(MARGIN + 2 * PAD, y, group, bold=True)
            y += 3
            for row in rows:
                above.append(y)
                most = 1
                for text, column, place, wide in zip(
                    row, self.columns, places, widths, strict=True
                ):
                    lines = wrapped(text, wide - 2 * PAD, column.mono)
                    most = max(most, len(lines))
                    indent = 2 * PAD if place == MARGIN else PAD
                    for down, line in enumerate(lines, 1):
                        base = y + LEADING * down - 1
                        write(place + indent, base, line, mono=column.mono)
                y += LEADING * most + 3
            axes.vlines(MARGIN + PAD / 2, top, y, color=colour, linewidth=PAD)
        ends = MARGIN + 2 * PAD, WIDTH - MARGIN
        axes.hlines(above, *ends, color=ink, alpha=0.25, linewidth=0.5)
        y += LEADING + 5
        write(MARGIN, y, self.below)
        if y > HEIGHT - MARGIN / 2:
            raise errors.ArgumentValueError.at(
                "one page", f"the table is {y:.0f} points high", "shorten its texts"
            )
        return figure


def wrapped(text: str, width: float, mono: bool) -> list[str]:
    """The text in lines that are at most so wide."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measured(longer, mono) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@cache
def measured(text: str, mono: bool) -> float:
    """How wide a line is in matplotlib's own font."""
    from matplotlib.textpath import text_to_path

    wide, _, _ = text_to_path.get_text_width_height_descent(
        text, font(mono=mono), False
    )
    return float(wide)


def font(size: float = SIZE, bold: bool = False, mono: bool = False) -> Any:
    """matplotlib's own font, for which a page that hasn't got it takes the next."""
    from matplotlib.font_manager import FontProperties

    family, weight = "monospace" if mono else "sans-serif", "bold" if bold else "normal"
    return FontProperties(family=family, size=size, weight=weight)
