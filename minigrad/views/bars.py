"""Ratios as bars: how long one side takes, where the other takes 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minigrad.views.plots import COLOURS


def save_ratios(rows: Sequence[Any], path: Path) -> None:
    """Draw them into a file; each row has name, against, ratio, and goal or None."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    height = 1.2 + 0.22 * len(rows)
    figure = Figure(figsize=(11, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    places = range(len(rows), 0, -1)
    for place, row in zip(places, rows, strict=True):
        ratio, goal = row.ratio, row.goal
        met = goal is None or ratio.median <= goal
        # Missed goals differ in shade and in hatching: not in colour alone.
        colour, hatch = (COLOURS[0], "") if met else (COLOURS[1], "//")
        # A logarithmic axis has no 0 for bars to begin at; equally fast is at 1.
        length = ratio.median - 1
        axes.barh(place, length, 0.7, 1, color=colour, hatch=hatch, edgecolor="w")
        axes.plot([ratio.min, ratio.max], [place, place], color="black", linewidth=0.7)
        if goal is not None:
            axes.plot(goal, place, marker="|", markersize=11, color="black")
    axes.axvline(1.0, color="black", linewidth=0.8)
    names = [f"{row.name} ({row.against})" for row in rows]
    axes.set_yticks(list(places), names, fontsize=8)
    axes.set_ylim(0.3, len(rows) + 0.7)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(
        "minigrad's time over the other's: to the left of 1, minigrad takes less\n"
        "line: least to most; mark: goal; hatched: goal missed"
    )
    axes.tick_params(labeltop=len(rows) > 40, top=len(rows) > 40)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, facecolor="white")
