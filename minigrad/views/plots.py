"""Pictures of numbers, each with its sentence, in the colours of the page around it."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from minigrad import errors

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Okabe and Ito's; each line has a marker and its name besides."""

MARKERS: Final = ("o", "s", "^", "D")
INK: Final = "#010203"
"""Stands for the colour of the page's text, which is put in when the page shows it."""

PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Lines:
    """A picture of one or more lines; as text, its sentence and the numbers."""

    across: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    across_name: str
    up_name: str
    sentence: str
    mark: tuple[float, float] | None = None
    """A place that is ringed."""

    def marked(self, x: float, y: float) -> Lines:
        """The same picture with a ring at a place, which its sentence names.

        What a function given to ``minigrad.live`` returns of it is drawn under the
        sliders. Raises: ArgumentValueError for what is no finite number.

        >>> curve = plot_lines([1, 2], {"a": [1, 4]}, x="n", y="a", says="It grows.")
        >>> curve.marked(2, 4).sentence
        'It grows. The ring is at 2: 4.'
        """
        if not (math.isfinite(x) and math.isfinite(y)):
            raise errors.ArgumentValueError.at(
                "marked",
                f"{x}, {y} can't be drawn",
                "give two finite numbers",
            )
        said = f"{self.sentence} The ring is at {short(x)}: {short(y)}."
        return replace(self, sentence=said, mark=(x, y))

    def __repr__(self) -> str:
        rows = [[self.across_name, *self.lines]]
        for place, x in enumerate(self.across):
            rows.append([short(x), *[short(ys[place]) for ys in self.lines.values()]])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join(
                [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            )
            for row in rows
        ]
        return "\n".join([self.sentence, f"({self.up_name})", *table])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.figure()}

    def figure(self) -> str:
        """The drawing with its sentence below it, as HTML."""
        says = html.escape(self.sentence)
        return (
            '<figure style="margin:0;max-width:44em;color:var(--jp-content-font-color1,'
            f'inherit)" role="img" aria-label="{says}">{self.svg()}'
            f'<figcaption style="font-size:0.93em">{says}</figcaption></figure>'
        )

    def svg(self) -> str:
        """The drawing, its text in the colour of the text around it."""
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        settings: Any = {"font.size": 11, "font.family": "sans-serif"}
        with rc_context(settings | {"text.color": INK}):
            figure = Figure(figsize=(7.2, 3.2), layout="constrained")
            self._draw(figure.add_subplot())
            return svg_of(figure, transparent=True)

    def _draw(self, axes: Any) -> None:
        for place, (name, ys) in enumerate(self.lines.items()):
            colour = COLOURS[place % len(COLOURS)]
            marker = MARKERS[place % len(MARKERS)]
            axes.plot(self.across, ys, color=colour, marker=marker, linewidth=2)
            axes.annotate(
                name,
                (self.across[-1], ys[-1]),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                color=INK,
                annotation_clip=False,
            )
        if self.mark:
            axes.axvline(self.mark[0], color=INK, linewidth=1, linestyle=":")
            axes.plot(*self.mark, "o", color=INK, mfc="none", mew=2, ms=15)
        axes.set_xlabel(self.across_name, color=INK)
        axes.set_ylabel(self.up_name, color=INK)
        if all([y >= 0 for ys in self.lines.values() for y in ys]):
            axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: short(value))
        axes.tick_params(colors=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(INK)


def svg_of(figure: Any, **options: Any) -> str:
    """What matplotlib draws, for any width; ``INK`` becomes that of the text around."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": ""}):
        figure.savefig(text, format="svg", metadata={"Date": None}, **options)
    drawn = text.getvalue()[text.getvalue().index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    for side in ("width", "height"):
        drawn = re.sub(rf'(<svg[^>]*?) {side}="[^"]*"', r"\1", drawn, count=1)
    return drawn.replace(INK, "currentColor")


def short(number: float) -> str:
    """A number in few letters.

    >>> short(24), short(8000), short(1_250_000)
    ('24', '8k', '1.25M')
    """
    for size, prefix in PREFIXES:
        if abs(number) >= size:
            return f"{number / size:.3g}{prefix}"
    return f"{number:.3g}"


def plot_lines(
    across: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    x: str,
    y: str,
    says: str,
) -> Lines:
    """Draw one or more lines by name; ``says`` is what the picture shows, in words.

    ``x`` and ``y`` name the axes. Raises: ArgumentValueError for a line with another
    number of points than ``across``, or for none.

    >>> plot_lines([1, 2], {"squares": [1, 4]}, x="n", y="n * n", says="It grows.")
    It grows.
    (n * n)
    n  squares
    1        1
    2        4
    """
    for name, ys in lines.items():
        if len(ys) != len(across):
            raise errors.ArgumentValueError.at(
                "plot_lines",
                f"the line {name!r} has {len(ys)} points, and there are "
                f"{len(across)} places for them",
                "give one value for each place",
            )
    if not lines or not len(across):
        raise errors.ArgumentValueError.at(
            "plot_lines", "there is no line to draw", "give a name and values"
        )
    return Lines(list(across), dict(lines), x, y, says)
