"""Anomaly mode, an observer: where each node was made, and which one went wrong."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.core.validate import HINT
from minigrad.engine.grad_mode import node_that_runs

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES: Final = (
    os.path.dirname(os.__file__),
    os.path.dirname(os.path.dirname(np.__file__)),
)


class AnomalyMode:
    """Notes at each node which line made it, and tells that line if backward fails.

    One for all threads, as in torch.
    """

    observes = observe.RECORDED
    keeps = False
    comes_last = True
    says = "anomaly mode is on"

    def __init__(self) -> None:
        self.checks_nan = True

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        remember(ctx)

    def node_made(self, node: Any) -> None:
        remember(node)

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if self.checks_nan:
            edges = node._edges
            tensors = [i for i, edge in enumerate(edges) if edge is not NOT_A_TENSOR]
            check_for_nan(node, [array_of(one) for one in gradients], tensors)

    def backward_raised(self, task: Any, error: BaseException) -> None:
        if task.running is not None:
            tell_where(task.running)
        if isinstance(error, errors.SavedModifiedError):
            error.args = tuple([str(text).replace(HINT, FOUND) for text in error.args])


FOUND: Final = (
    "the backtrace further above shows the operation that failed to compute its "
    "gradient. The variable in question was changed in there or anywhere later. Good "
    "luck!"
)
"""What stands in place of the hint to enable anomaly mode."""

_mode: Final = AnomalyMode()


def is_anomaly_enabled() -> bool:
    """Whether nodes remember where they were made, and backward says so."""
    return observe.has(AnomalyMode)


def is_anomaly_check_nan_enabled() -> bool:
    """Whether backward refuses NaN while anomaly mode is on."""
    return _mode.checks_nan


def set_anomaly_enabled(enabled: Any, check_nan: Any = True) -> None:
    """Set both switches.

    Raises: ArgumentTypeError for anything but a bool.
    """
    for name, value in (("enabled", enabled), ("check_nan", check_nan)):
        if not isinstance(value, bool):
            raise errors.ArgumentTypeError.at(
                "set_anomaly_enabled",
                f"argument '{name}' must be bool, not {type(value).__name__}",
                "give True or False",
            )
    (observe.add if enabled else observe.remove)(_mode)
    _mode.checks_nan = check_nan


def array_of(gradient: Any) -> Array | None:
    """The values of a gradient; of one under vmap, those of all examples."""
    if gradient is None:
        return None
    if isinstance(gradient, Tensor):
        gradient = gradient._physical().array
    return np.asarray(gradient)


def remember(node: Any) -> None:
    """Note in ``node.metadata`` which line is making it, and inside which backward."""
    import traceback  # here, so that importing minigrad is quicker

    lines = [
        traceback.FrameSummary(
            frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        )
        for frame in frames_outside()
    ]
    node.metadata["traceback_"] = traceback.StackSummary.from_list(lines).format()
    parent = node_that_runs()
    if parent is not None:
        node.metadata["parent_"] = parent


def frames_outside() -> list[FrameType]:
    """The calls that led here, outermost first, without those inside minigrad.

    Those of other libraries are left out too, unless there is nothing else.
    """
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            frames.append(frame)
        frame = frame.f_back
    own = [frame for frame in frames if not is_library(frame.f_code.co_filename)]
    return (own or frames)[::-1]


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return filename.startswith(("<frozen", *LIBRARIES))


def check_for_nan(
    node: Any, gradients: list[Array | None], arguments: list[int]
) -> None:
    """Refuse a gradient with NaN; ``arguments`` are the slots that hold Tensors.

    Raises: AnomalyError.
    """
    for number, slot in enumerate(arguments):
        array = gradients[slot]
        if array is None:
            continue
        missing = int(np.isnan(array).sum())
        if missing:
            raise errors.AnomalyError.at(
                f"{node.operation_name()}.backward",
                f"Function '{node.name()}' returned nan values in its {number}th "
                f"output. That is the gradient of argument {slot + 1}: {missing} "
                f"of its {array.size} are NaN",
                "look at the values of that forward call: an infinite slope times "
                "a gradient of 0 is NaN",
                "13",
            )


def tell_where(node: Any) -> None:
    """Warn that ``node`` failed: the lines that made it, and those of its parents.

    A parent is the node whose backward made it.
    """
    tell_lines(
        node,
        f"Error detected in {node.name()}. Traceback of forward call that "
        "caused the error:",
    )
    parent = node.metadata.get("parent_")
    while parent is not None:
        tell_lines(
            parent,
            f"Previous calculation was induced by {parent.name()}. Traceback of "
            "forward call that induced the previous calculation:",
        )
        parent = parent.metadata.get("parent_")


def tell_lines(node: Any, what: str) -> None:
    """Warn with the forward lines of ``node``, or that there are none."""
    where = f"{node.operation_name()}.backward"
    lines = node.metadata.get("traceback_")
    if lines is None:
        text = errors.message(
            where,
            f"Error detected in {node.name()}. No forward pass information available. "
            "Enable detect anomaly during forward pass for more information.",
            "put the forward pass inside detect_anomaly() too",
            "13",
        )
    else:
        text = errors.message(
            where,
            f"{what}\n{shown(lines)}",
            "look at this call of forward: its inputs, and what it saved",
            "13",
        )
    frame = frames_outside()[-1]
    try:
        warnings.warn_explicit(
            text, UserWarning, frame.f_code.co_filename, frame.f_lineno
        )
    except UserWarning as warning:
        # Where warnings are errors: the error that is under way is the one to raise.
        print(f"{type(warning).__name__}: {warning}", file=sys.stderr)


def shown(lines: list[str]) -> str:
    """The lines of a traceback, without the line break at the end."""
    return "".join(lines).rstrip("\n")
