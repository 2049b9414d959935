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
    """One kind of work: a line for each side, with its words beside the last point."""
    ends = {side: times[-1] for side, times in curve.times.items()}
    in_order = sorted(ends, key=ends.__getitem__)
    styles = zip(curve.times.items(), COLOURS, MARKERS, strict=False)
    for (side, times), colour, marker in styles:
        milliseconds = [seconds * 1e3 for seconds in times]
        axes.plot(curve.sizes, milliseconds, color=colour, marker=marker, markersize=4)
        # Lines often end close to each other: their words stand one above the other.
        up = 9 if side == in_order[-1] else -9
        axes.annotate(
            f"{side}\nslope {curve.slopes[side]:.2f}",
            (curve.sizes[-1], milliseconds[-1]),
            xytext=(8, up if len(ends) > 1 else 0),
            textcoords="offset points",
            va="bottom" if up > 0 else "top",
            color=colour,
        )
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.25)
    first, last = curve.sizes[0], curve.sizes[-1]
    axes.set_xlim(first * 0.8, last * (last / first) ** 0.28)  # room for the words
    powers = [10**power for power in range(13) if first <= 10**power <= last]
    axes.xaxis.set_major_locator(FixedLocator(powers))
    axes.xaxis.set_minor_locator(NullLocator())
    few = (1, 2, 5) if spread(curve) < 100 else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=few))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter("{x:,.9g}")
    axes.set_xlabel(curve.name)
    axes.set_ylabel("milliseconds")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)


def spread(curve: Any) -> float:
    """The most over the least of all times."""
    times = [seconds for side in curve.times.values() for seconds in side]
    return float(max(times) / min(times))
