"""A thread that goes on where this one would run out of recursion."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

from minigrad.engine.grad_mode import _Mode, _this_thread


def run_in_fresh_thread(run: Callable[[], None], mode: _Mode) -> None:
    """Call ``run`` in a thread that has all of this one's modes, and wait.

    Ctrl-C while waiting stops it at the next backward that begins in there.
    """
    failures: list[BaseException] = []

    def run_in_mode() -> None:
        _this_thread.mode = mode
        try:
            run()
        except BaseException as error:
            failures.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run_in_mode,), daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        mode.stops = True
        thread.join()
        mode.stops = False
        raise
    if failures:
        error = failures.pop()
        try:
            raise error
        finally:
            del error  # or its traceback would hold it, and it its traceback
