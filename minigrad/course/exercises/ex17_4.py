"""17.4: a Function that runs here on float32, and stops on what torch hands it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Faults, Finding
from minigrad.course.check.probes import seen, tried
from minigrad.course.check.probes.devices import on_second_device
from minigrad.course.check.probes.layouts import Laid, laid_out
from minigrad.course.exercises.messages import Messages
from minigrad.course.exercises.recorded import in_torch

say = Messages(__name__)

WEIGHTS = np.array([1.0, 2.0, 4.0])
CASES = (
    ("float32, as it lies", "float32", False, False),
    ("float64", "float64", False, False),
    ("float16", "float16", False, False),
    ("x transposed in memory", "float32", True, False),
    ("grad_output transposed in memory", "float32", False, True),
)
"""What the case is called, its dtype, and whether x or the result is transposed."""


def numbers(dtype: str) -> Array:
    """Eight rows of three, in two groups; float64 holds what float32 can't."""
    x = np.arange(24.0).reshape(2, 4, 3) / 8
    return (x + 1e-9 if dtype == "float64" else x).astype(dtype)


def run(torch: Any, answer: Any, case: tuple[str, str, bool, bool]) -> dict[str, Any]:
    """One case in an engine: value, gradient and both dtypes, as plain data."""
    _, dtype, turned, turns = case
    laid = laid_out(answer, numbers(dtype), turned, turns, engine=torch)
    return {
        "value": laid.value.astype(float).tolist(),
        "slope": laid.slope.astype(float).tolist(),
        "dtypes": [laid.dtype, laid.slope_dtype],
    }


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The recorded cases in their order; then a second device."""
    for case, recorded in zip(CASES, in_torch("17.4"), strict=True):
        name, dtype, *turned = case
        laid = tried(laid_out, (answer,), numbers(dtype), *turned)
        yield fault_in(laid, name, dtype, recorded)
        if isinstance(laid, Laid) and laid.shared:
            yield say("shared", names=", ".join(laid.shared))
    moved = seen(on_second_device, (answer,), numbers("float32"))
    if moved.leaves:
        yield say("device", step=moved.leaves[0])


def fault_in(
    laid: Laid | Crash, name: str, dtype: str, recorded: Any
) -> Finding | None:
    """What is wrong in one case, beside what torch gave."""
    if isinstance(laid, Crash):
        said = {"case": name, "error": laid.text.splitlines()[0]}
        return say.of_crash("stops", laid, **said)
    if laid.dtype != dtype:
        return say("casts", case=name, got=laid.dtype, dtype=dtype)
    close = 1e-2 if dtype == "float16" else 1e-5 if dtype == "float32" else 1e-12
    found = ("value", "forward", laid.value), ("slope", "the gradient", laid.slope)
    for key, part, value in found:
        right, got = np.array(recorded[key]), value.astype(float)
        if not np.allclose(got, right, close, 0):
            digits = np.allclose(got, right, 1e-6)
            off = tuple(np.argwhere(~np.isclose(got, right, close, 0))[0].tolist())
            shown = {"at": off, "got": got[off], "right": right[off]}
            key = "digits" if digits else key
            return say(key, case=name, dtype=dtype, part=part, **shown)
    return None
