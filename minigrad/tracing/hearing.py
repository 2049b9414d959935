"""Passing on what the engine tells, to whoever listens to that, in one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from minigrad.engine.observe import RECORDED

Tell = Callable[..., None]
Together = Callable[[list[Tell]], Tell]
"""Makes one call of several."""


def in_turn(listening: list[Tell]) -> Tell:
    """One call for several, in their order."""

    def tell_all(*facts: Any) -> None:
        for tell in listening:
            tell(*facts)

    return tell_all if len(listening) > 1 else listening[0]


class Hearing(threading.local):
    """Passes on what one ``thread`` tells; other threads speak into the void.

    An observer that lacks the method of a moment does not listen to it; those that
    need to hear of built-in operations that join no graph say so. ``spoke`` is called
    once, before the first thing is passed on; ``together`` makes one call of those of
    the observers, and may keep the tracing of lines away from them.
    """

    def __init__(
        self,
        observers: list[Any],
        spoke: Callable[[], None],
        together: Together,
        thread: int,
    ) -> None:
        self._observers = observers
        self.observes = max([observed_by(one) for one in observers])
        self._together = together
        self._spoke: Callable[[], None] | None = spoke
        self._is_heard = threading.get_ident() == thread

    def hears_first(self, observer: Any) -> None:
        """Pass on to ``observer`` before the others; to be said before anything is."""
        self._observers.insert(0, observer)
        self.observes = max(self.observes, observed_by(observer))

    def __getattr__(self, moment: str) -> Tell | None:
        """The method that passes this moment on, made when it first comes.

        None if nobody listens to it.
        """
        if not self._is_heard:
            return None
        heard = [getattr(one, moment, None) for one in self._observers]
        listening = [tell for tell in heard if tell is not None]
        if listening and self._spoke is not None:
            spoke, self._spoke = self._spoke, None
            spoke()
        tell = self._together(listening) if listening else None
        setattr(self, moment, tell)
        return tell


def observed_by(observer: Any) -> int:
    """Which calls an observer wants: those that join a graph, if it does not say."""
    return getattr(observer, "observes", RECORDED)
