"""How far a class is graded, said while it is."""

from __future__ import annotations

import sys
import time

from minigrad.course.grade.examiner import Result
from minigrad.course.grade.submissions import Left


class Progress:
    """One line with a bar, on a terminal; elsewhere a line now and then.

    ``files`` are all that were handed in, ``begun`` those that were opened so far, and
    ``left`` those of them that nothing could be graded of, ``not_counted`` those that
    were one too many.
    """

    def __init__(self, files: int) -> None:
        self.files = files
        self.begun = 0
        self.left: list[Left] = []
        self.not_counted: list[Left] = []
        # A check drops what is printed while it runs, to any other stream.
        self._stream = sys.stderr
        self._began = self._last = time.monotonic()

    def show(self, count: int, result: Result) -> None:
        """Say how far it is."""
        now = time.monotonic()
        every = 0.1 if self._stream.isatty() else 10.0
        if now - self._last < every:
            return
        self._last = now
        line = self.line(count, now - self._began, result.student)
        end = "\r" if self._stream.isatty() else "\n"
        print(f"{line:<78}", end=end, file=self._stream, flush=True)

    def line(self, count: int, seconds: float, last: str) -> str:
        """How far it is, as it is shown."""
        full = 20 * self.begun // max(self.files, 1)
        rate = count / max(seconds, 1e-9)
        line = (
            f"[{'#' * full:.<20}] {self.begun} of {self.files} files, {count} graded,"
            f" {rate:.1f} a second, {last}"
        )
        return "".join([c if c.isprintable() else "?" for c in line])[:78]

    def end(self) -> None:
        """Leave the line."""
        if self._stream.isatty():
            print(file=self._stream)
