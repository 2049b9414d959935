"""How the cost of several sides grows with the work: a plot for each kind of work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minigrad.views.plots import COLOURS, MARKERS


def save_growth(curves: Sequence[Any], path: Path) -> None:
    """Draw them into a file; each has name, sizes, times of each side, and slopes.

    Both axes are logarithmic: time in proportion to the work is a line of slope 1. Each
    line has its name and its slope at its end.
    """
    from matplotlib.figure import Figure

    rows = (len(curves) + 1) // 2
    across = min(2, len(curves))
    figure = Figure(
        figsize=(6.4 * across, 0.4 + 4 * rows), layout="constrained", facecolor="white"
    )
    figure.suptitle("CPU time of one thread; slopes of the upper half of the points")
    grid = figure.subplots(rows, across, squeeze=False).ravel()
    for axes, curve in zip(grid, curves, strict=False):
        draw(axes, curve)
    for axes in grid[len(curves) :]:
        axes.set_axis_off()
    figure.savefig(path, facecolor="white")


def draw(axes: Any, curve: Any) -> None:
    """One kind of work: a line for each side, with its words at the last point."""
    ends = {side: times[-1] for side, times in curve.times.items()}
    highest = max(ends, key=ends.__getitem__)
    styles = zip(COLOURS, MARKERS, strict=True)
    for (side, times), (colour, marker) in zip(
        curve.times.items(), styles, strict=False
    ):
        milliseconds = [seconds * 1e3 for seconds in times]
        axes.plot(curve.sizes, milliseconds, color=colour, marker=marker, markersize=4)
        # Two lines often end close to each other: one has its words above, one below.
        above = side == highest
        axes.annotate(
            f"{side}, slope {curve.slopes[side]:.2f}",
            (curve.sizes[-1], milliseconds[-1]),
            xytext=(0, 8 if above else -9),
            textcoords="offset points",
            ha="right",
            va="bottom" if above else "top",
            color=colour,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.2)
    axes.set_xlabel(curve.name)
    axes.set_ylabel("milliseconds")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
