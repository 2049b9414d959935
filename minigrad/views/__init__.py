"""Pictures of a recording: the graph, the player and the page that carries it.

Nothing here is loaded before it is used: graphviz, ipywidgets and matplotlib stay
outside ``import minigrad``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.views.magics import register_if_ipython, register_magics

if TYPE_CHECKING:
    from minigrad.views.comparing import Comparison, compare
    from minigrad.views.live_player import LivePlayer, live
    from minigrad.views.recording import Recording, load_trace, record, step

__all__ = [
    "Comparison",
    "LivePlayer",
    "Recording",
    "compare",
    "live",
    "load_trace",
    "record",
    "register_if_ipython",
    "register_magics",
    "step",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("Comparison", "compare"):
        from minigrad.views import comparing

        return getattr(comparing, name)
    if name in ("LivePlayer", "live"):
        from minigrad.views import live_player

        return getattr(live_player, name)
    from minigrad.views import recording

    return getattr(recording, name)
