"""Run code nobody has vetted: for a bounded time, and with nothing shown."""

from __future__ import annotations

import contextlib
import io
import signal
import threading
import time
import warnings
from collections.abc import Iterator

_TICK = 0.1


class OutOfTimeError(BaseException):
    """The time is used up; no ``except Exception`` of the answer keeps it."""


class Deadline:
    """A time limit for the stretches of code that run inside ``watching()``.

    In the main thread of a POSIX system, where notebooks run their cells, an alarm
    interrupts Python code and waiting calls such as ``time.sleep``. It does not stop
    one long call into compiled code before it returns, nor a loop that catches
    ``BaseException`` and goes on. In other threads and on Windows there is no alarm:
    the time is looked at between two stretches only.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._watching = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Let this stretch be stopped. Raises: OutOfTimeError."""
        if self._is_over():
            raise OutOfTimeError
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Keep the clock; afterwards every signal and timer is as it was before."""
        main = threading.current_thread() is threading.main_thread()
        with self._by_alarm() if main and _HAS_ALARM else contextlib.nullcontext():
            yield

    def _is_over(self) -> bool:
        return time.monotonic() >= self._end

    @contextlib.contextmanager
    def _by_alarm(self) -> Iterator[None]:
        def tick(*_: object) -> None:
            if self._watching and self._is_over():
                raise OutOfTimeError

        began = time.monotonic()
        handler = signal.signal(signal.SIGALRM, tick)
        # It ticks on, since an answer may swallow the first exception.
        delay, interval = signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
            if delay:
                left = max(delay - (time.monotonic() - began), 1e-3)
                signal.setitimer(signal.ITIMER_REAL, left, interval)


_HAS_ALARM = hasattr(signal, "setitimer")


class _Nowhere(io.TextIOBase):
    """A stream that takes everything and keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        return len(text)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Drop what is printed, to stdout or stderr, and what is warned of."""
    with (
        contextlib.redirect_stdout(_Nowhere()),
        contextlib.redirect_stderr(_Nowhere()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
