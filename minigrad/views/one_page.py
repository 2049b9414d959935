"""A table that fits one printed page: as SVG in a notebook, as SVG or PDF in a file."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from minigrad import errors
from minigrad.tracing.trace import write_whole

WIDTH, HEIGHT = 842.0, 595.0
"""A4 on its side, in points."""
MARGIN, GAP, PAD = 30.0, 12.0, 3.6
SIZE, LEADING = 9.0, 11.2
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f7f")
"""Okabe and Ito's and a grey, one for each group; its heading says it in words."""


@dataclass(frozen=True)
class Text:
    """A line of text: where its baseline begins, how large and how wide it is."""

    x: float
    y: float
    text: str
    size: float
    width: float
    bold: bool = False
    mono: bool = False


@dataclass(frozen=True)
class Bar:
    """A filled rectangle; without a colour it has that of the text, faint."""

    x: float
    y: float
    width: float
    height: float
    colour: str = ""


@dataclass(frozen=True)
class Column:
    """A column: its heading, its share of the width, whether it is code."""

    heading: str
    share: float
    mono: bool = False


class OnePage:
    """A table in groups, with a title above it and a line below."""

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        groups: Mapping[str, Sequence[Sequence[str]]],
        below: str,
    ) -> None:
        self.title, self.columns, self.groups = title, columns, groups
        self.below = below

    def __repr__(self) -> str:
        lines = [self.title]
        for group, rows in self.groups.items():
            lines += ["", group]
            for first, *rest in rows:
                lines.append(f"  {first}")
                named = zip(self.columns[1:], rest, strict=True)
                lines += [f"    {c.heading}: {text}" for c, text in named]
        return "\n".join([*lines, "", self.below])

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        style = "max-width:76em;color:var(--jp-content-font-color1,inherit)"
        page = f'<div style="{style}">{self.svg()}</div>'
        return {"text/plain": repr(self), "text/html": page}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file that ends with .svg or .pdf.

        Raises: ArgumentValueError for another ending.
        """
        kind = Path(path).suffix
        if kind == ".svg":
            return write_whole("save", path, self.svg(paper=True))
        if kind != ".pdf":
            raise errors.ArgumentValueError.at(
                "save", f"{os.fspath(path)!r} has the ending {kind!r}", "use .svg, .pdf"
            )
        self._write_pdf(Path(path))
        return Path(path)

    def svg(self, *, paper: bool = False) -> str:
        """The page as SVG: in the colour of the text around it, or on white paper."""
        ground = '<rect width="100%" height="100%" fill="#fff"/>' if paper else ""
        ink = "#111" if paper else "currentColor"
        parts = [_svg_of(item, ink) for item in self.items()]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} '
            f'{HEIGHT:g}" font-family="DejaVu Sans, Verdana, sans-serif" role="group" '
            f'aria-label="{html.escape(self.title)}">{ground}{"".join(parts)}</svg>'
        )

    def _write_pdf(self, path: Path) -> None:
        from matplotlib.backends.backend_pdf import FigureCanvasPdf
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle

        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))
        FigureCanvasPdf(figure)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        axes.axis("off")
        for item in self.items():
            if isinstance(item, Text):
                axes.text(
                    item.x,
                    item.y,
                    item.text,
                    parse_math=False,
                    fontproperties=_font(item.size, item.bold, item.mono),
                )
            else:
                corner, sides = (item.x, item.y), (item.width, item.height)
                colour = item.colour or "#111"
                alpha = 1.0 if item.colour else 0.25
                axes.add_patch(
                    Rectangle(corner, *sides, color=colour, alpha=alpha, linewidth=0)
                )
        metadata = {"Title": self.title, "CreationDate": None}
        figure.savefig(path, format="pdf", metadata=metadata)

    def items(self) -> Iterator[Text | Bar]:
        """All that is on the page, from top to bottom.

        Raises: ArgumentValueError if it's more than a page.
        """
        y = MARGIN + 14
        yield line(MARGIN, y, self.title, 15, bold=True)
        y += 20
        room = WIDTH - 2 * MARGIN - GAP * (len(self.columns) - 1)
        widths = [room * column.share for column in self.columns]
        places = [MARGIN + sum(widths[:i]) + GAP * i for i in range(len(widths))]
        for place, column in zip(places, self.columns, strict=True):
            yield line(place + PAD, y, column.heading, SIZE, bold=True)
        y += 5
        for number, (group, rows) in enumerate(self.groups.items()):
            top = y + 3
            y += 3 + LEADING
            yield line(MARGIN + 2 * PAD, y, group, SIZE, bold=True)
            y += 3
            for row in rows:
                yield Bar(MARGIN + 2 * PAD, y, WIDTH - 2 * (MARGIN + PAD), 0.5)
                cells = [
                    wrapped(text, width - 2 * PAD, column.mono)
                    for text, width, column in zip(
                        row, widths, self.columns, strict=True
                    )
                ]
                for place, lines, column in zip(
                    places, cells, self.columns, strict=True
                ):
                    for down, text in enumerate(lines):
                        base = y + LEADING * (down + 1) - 1
                        indent = 2 * PAD if place == MARGIN else PAD
                        yield line(place + indent, base, text, SIZE, mono=column.mono)
                y += LEADING * max(map(len, cells)) + 3
            colour = COLOURS[number % len(COLOURS)]
            yield Bar(MARGIN, top, PAD, y - top, colour)
        yield line(MARGIN, y + LEADING + 5, self.below, SIZE)
        if y + LEADING + 5 > HEIGHT - MARGIN / 2:
            raise errors.ArgumentValueError.at(
                "one page", f"the table is {y:.0f} points high", "shorten its texts"
            )


def line(
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    bold: bool = False,
    mono: bool = False,
) -> Text:
    """A line of text with its width."""
    return Text(x, y, text, size, measured(text, size, bold, mono), bold, mono)


def wrapped(text: str, width: float, mono: bool) -> list[str]:
    """The text in lines that are at most so wide."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measured(longer, SIZE, False, mono) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@cache
def measured(text: str, size: float, bold: bool, mono: bool) -> float:
    """How wide a line is in matplotlib's own font."""
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(
        text, _font(size, bold, mono), ismath=False
    )
    return float(width)


def _font(size: float, bold: bool, mono: bool) -> Any:
    from matplotlib.font_manager import FontProperties

    family = "DejaVu Sans Mono" if mono else "DejaVu Sans"
    return FontProperties(family=family, size=size, weight="bold" if bold else "normal")


def _svg_of(item: Text | Bar, ink: str) -> str:
    if isinstance(item, Bar):
        fill, opacity = item.colour or ink, "1" if item.colour else ".25"
        return (
            f'<rect x="{item.x:.1f}" y="{item.y:.1f}" width="{item.width:.1f}" '
            f'height="{item.height:.1f}" fill="{fill}" opacity="{opacity}"/>'
        )
    more = ' font-weight="bold"' if item.bold else ""
    more += ' font-family="DejaVu Sans Mono, monospace"' if item.mono else ""
    # With another font a line takes the same room.
    return (
        f'<text x="{item.x:.1f}" y="{item.y:.1f}" font-size="{item.size:g}" '
        f'textLength="{item.width:.1f}" lengthAdjust="spacingAndGlyphs" '
        f'fill="{ink}"{more}>{html.escape(item.text)}</text>'
    )
