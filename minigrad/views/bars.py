"""Ratios as bars: how long one side takes, where the other takes 1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from minigrad.views.plots import COLOURS


def save_ratios(ratios: Mapping[str, Any], path: Path) -> None:
    """Draw them into a file; each has low, median, high, and a goal or None."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 1.2 + 0.26 * len(ratios)), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(ratios), 0, -1)
    for place, ratio in zip(places, ratios.values(), strict=True):
        met = ratio.goal is None or ratio.median <= ratio.goal
        # Missed goals differ in shade and in hatching: not in colour alone.
        colour, hatch = (COLOURS[0], "") if met else (COLOURS[1], "//")
        axes.barh(place, ratio.median, 0.7, color=colour, hatch=hatch, edgecolor="w")
        axes.plot([ratio.low, ratio.high], [place, place], color="black", linewidth=1)
        if ratio.goal is not None:
            axes.plot(ratio.goal, place, marker="|", markersize=12, color="black")
    axes.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_yticks(list(places), list(ratios), fontsize=8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("our time over theirs; thin line: quartiles, mark: goal")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
