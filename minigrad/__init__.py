"""A small autograd engine with torch's names, made to be looked into.

``import minigrad as torch`` runs a program that uses torch.autograd. The parts for
recording, drawing and exercises load when they are first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036  a bare clone is imported unasked
    raise ImportError(
        "minigrad needs Python 3.11 to 3.14; this is Python "
        f"{sys.version_info[0]}.{sys.version_info[1]}"
    )

try:
    import numpy as _np
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "minigrad needs NumPy, which this Python does not have\n"
        "  fix: in a clone of the course, run: python3 minigrad lab"
    ) from error

from minigrad import autograd
from minigrad.engine.creation import (
    arange,
    as_tensor,
    from_numpy,
    full,
    get_default_dtype,
    manual_seed,
    ones,
    ones_like,
    rand,
    randn,
    set_default_dtype,
    tensor,
    zeros,
    zeros_like,
)
from minigrad.engine.grad_mode import (
    enable_grad,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from minigrad.engine.inference import inference_mode
from minigrad.engine.lint import TeachingWarning, teaching_mode
from minigrad.engine.tensor import Tensor
from minigrad.ops import functions
from minigrad.ops.comparison import allclose, equal
from minigrad.ops.functions import *  # noqa: F403  the op table says which

if TYPE_CHECKING:
    from minigrad import course
    from minigrad.views import load_trace, record, step

__version__ = "0.1.0"

__all__ = [
    "Tensor",
    "TeachingWarning",
    "allclose",
    "arange",
    "as_tensor",
    "autograd",
    "bool",
    "course",
    "enable_grad",
    "equal",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "get_default_dtype",
    "inference_mode",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "load_trace",
    "manual_seed",
    "no_grad",
    "ones",
    "ones_like",
    "rand",
    "randn",
    "record",
    "set_default_dtype",
    "set_grad_enabled",
    "step",
    "teaching_mode",
    "tensor",
    "uint8",
    "zeros",
    "zeros_like",
    *functions.__all__,
]

float16 = _np.dtype("float16")
float32 = _np.dtype("float32")
float64 = _np.dtype("float64")
int32 = _np.dtype("int32")
int64 = _np.dtype("int64")
uint8 = _np.dtype("uint8")
bool = _np.dtype("bool")

_FROM_VIEWS = ("load_trace", "record", "step")


def __getattr__(name: str) -> Any:
    """Load the layers above the engine when one of their names is first used."""
    if name in _FROM_VIEWS:
        return getattr(importlib.import_module("minigrad.views"), name)
    if name == "course":
        return importlib.import_module("minigrad.course")
    raise AttributeError(f"module 'minigrad' has no attribute {name!r}")


def _is_under_ipython() -> Any:
    """Whether a notebook or IPython session is running; never imports IPython."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


if _is_under_ipython():
    importlib.import_module("minigrad.views").register_if_ipython()
