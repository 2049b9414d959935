"""Running a traversal: in which modes, in which thread, and what comes after it."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Final

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.backward import GraphTask
from minigrad.engine.grad_mode import _Mode, _this_thread, running_task, this_mode
from minigrad.engine.silence import NUMPY_WARNINGS, SILENCE

LEVELS_PER_THREAD: Final = 20
"""How many backwards inside one another a thread runs before it is relieved.

Python counts recursion for each thread; twenty levels leave forty calls for each.
"""


def run_task(task: GraphTask) -> None:
    """Run the traversal; what the nodes do is recorded only with ``create_graph``.

    Whatever is raised meanwhile, this thread's modes are afterwards as before. A
    backward inside a backward runs in the same thread, unless many surround it.
    """
    mode = this_mode()
    task.depth = 0 if mode.task is None else mode.task.depth + 1
    if task.depth > 0 and task.depth % LEVELS_PER_THREAD == 0:
        run_in_fresh_thread(task, mode)
    else:
        run_here(task, mode)
    if observe.observer is not None:
        observe.observer.backward_finished(task)


def run_here(task: GraphTask, mode: _Mode) -> None:
    """Run the traversal in this thread."""
    if mode.stops:
        raise KeyboardInterrupt
    entered = mode.entered()
    before = mode.grad_enabled, mode.rules_see_tensors, mode.task
    warnings = NUMPY_WARNINGS.get()
    # No `with`: Ctrl-C can come between the end of a block and its __exit__.
    try:
        # Slopes may be infinite; torch does not warn of it, and neither do we.
        NUMPY_WARNINGS.set(SILENCE)
        mode.grad_enabled = bool(task.create_graph)
        mode.rules_see_tensors = task.carries_tensors
        task.modes = mode.grad_enabled, *entered
        mode.task = task
        task.start()
        task.run()
        task.finish()
        for callback in task.callbacks:
            callback()
    finally:
        mode.grad_enabled, mode.rules_see_tensors, mode.task = before
        mode.leave(entered)
        NUMPY_WARNINGS.set(warnings)


def run_in_fresh_thread(task: GraphTask, mode: _Mode) -> None:
    """Run the traversal in a thread that has all of this one's modes, and wait.

    Ctrl-C while waiting stops it at the next backward in there.
    """
    failures: list[BaseException] = []

    def run() -> None:
        _this_thread.mode = mode
        try:
            run_here(task, mode)
        except BaseException as error:
            failures.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), daemon=True)
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


def queue_callback(callback: Callable[[], object]) -> None:
    """Call ``callback`` once when the backward that runs now has ended well.

    Raises: GraphError outside of a backward.
    """
    task = running_task()
    if task is None:
        raise errors.GraphError(
            errors.message(
                "queue_callback",
                "Final callbacks can only be installed during backward pass.",
                "call it from a hook, or from the backward of a Function",
            )
        )
    task.callbacks.append(callback)
