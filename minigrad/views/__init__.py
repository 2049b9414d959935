"""Pictures of a recording: the graph, the player and the page that carries it.

Nothing here is loaded before it is used: graphviz, ipywidgets and matplotlib stay
outside ``import minigrad``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad._later import later
from minigrad.views.magics import register_if_ipython, register_magics

if TYPE_CHECKING:
    from minigrad.views.comparing import Comparison, compare
    from minigrad.views.live_player import LivePlayer, live
    from minigrad.views.loss_curve import Training, training
    from minigrad.views.plots import Lines, plot_lines
    from minigrad.views.recording import Recording, load_trace, record, step

__all__ = [
    "Comparison",
    "Lines",
    "LivePlayer",
    "Recording",
    "Training",
    "compare",
    "live",
    "load_trace",
    "plot_lines",
    "record",
    "register_if_ipython",
    "register_magics",
    "step",
    "training",
]

_FROM = {
    **dict.fromkeys(("Comparison", "compare"), ".comparing"),
    **dict.fromkeys(("LivePlayer", "live"), ".live_player"),
    **dict.fromkeys(("Training", "training"), ".loss_curve"),
    **dict.fromkeys(("Lines", "plot_lines"), ".plots"),
    **dict.fromkeys(("Recording", "load_trace", "record", "step"), ".recording"),
}
"""Where the names are that are not loaded before they are used."""


def __getattr__(name: str) -> Any:
    return later(__name__, name, _FROM)
