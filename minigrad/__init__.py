"""A small autograd engine with torch's names, made to be looked into.

``import minigrad as torch`` runs a program that uses torch.autograd. Operations and the
parts for training, recording, drawing and exercises load when they are first used.
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
from minigrad._later import later
from minigrad.engine.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    zeros,
    zeros_like,
)
from minigrad.engine.device import cuda, device
from minigrad.engine.dtypes import (
    DTYPES,
    can_cast,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    set_default_dtype,
)
from minigrad.engine.grad_mode import (
    enable_grad,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from minigrad.engine.inference import inference_mode
from minigrad.engine.promotion import promote_types
from minigrad.engine.tensor_properties import Size
from minigrad.ops import functions

if TYPE_CHECKING:
    from minigrad import course, func, nn, optim, utils
    from minigrad.course import diagnose
    from minigrad.engine.printing import set_printoptions
    from minigrad.engine.randomness import (
        Generator,
        bernoulli,
        default_generator,
        get_rng_state,
        initial_seed,
        manual_seed,
        normal,
        rand,
        rand_like,
        randint,
        randn,
        randn_like,
        randperm,
        seed,
        set_rng_state,
    )
    from minigrad.func import vmap
    from minigrad.lint import TeachingWarning, teaching
    from minigrad.ops.conversion import (
        BoolTensor,
        DoubleTensor,
        FloatTensor,
        LongTensor,
    )
    from minigrad.ops.functions import *  # noqa: F403  the op table says which
    from minigrad.ops.questions import is_tensor, result_type
    from minigrad.utils.serialization import load, save
    from minigrad.views.comparing import compare
    from minigrad.views.live_player import live
    from minigrad.views.loss_curve import training
    from minigrad.views.plots import plot_lines
    from minigrad.views.recording import load_trace, record, step

__version__ = "0.1.0"

__all__ = [
    "BoolTensor",
    "DoubleTensor",
    "FloatTensor",
    "Generator",
    "LongTensor",
    "Size",
    "TeachingWarning",
    "Tensor",
    "arange",
    "as_tensor",
    "autograd",
    "bernoulli",
    "bool",
    "can_cast",
    "compare",
    "course",
    "cuda",
    "default_generator",
    "device",
    "double",
    "dtype",
    "e",
    "empty",
    "empty_like",
    "enable_grad",
    "eye",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "full_like",
    "func",
    "get_default_dtype",
    "get_rng_state",
    "half",
    "iinfo",
    "inf",
    "inference_mode",
    "initial_seed",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "linspace",
    "live",
    "load",
    "diagnose",
    "load_trace",
    "long",
    "manual_seed",
    "nan",
    "nn",
    "no_grad",
    "normal",
    "ones",
    "ones_like",
    "optim",
    "pi",
    "plot_lines",
    "promote_types",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "record",
    "result_type",
    "save",
    "seed",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "short",
    "step",
    "teaching",
    "tensor",
    "training",
    "uint8",
    "utils",
    "vmap",
    "zeros",
    "zeros_like",
    *functions.__all__,
]

uint8 = DTYPES["uint8"]
int8 = DTYPES["int8"]
int16 = short = DTYPES["int16"]
int32 = int = DTYPES["int32"]
int64 = long = DTYPES["int64"]
float16 = half = DTYPES["float16"]
float32 = float = DTYPES["float32"]
float64 = double = DTYPES["float64"]
bool = DTYPES["bool"]

inf = _np.inf
nan = _np.nan
pi = _np.pi
e = _np.e
newaxis = None

_RANDOM = (
    "Generator",
    "bernoulli",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
)

_TYPES = ("BoolTensor", "DoubleTensor", "FloatTensor", "LongTensor")

_FROM = {
    "TeachingWarning": ".lint",
    "compare": ".views.comparing",
    "course": ".course",
    "diagnose": ".course",
    "func": ".func",
    "is_tensor": ".ops.questions",
    "live": ".views.live_player",
    "load": ".utils.serialization",
    "load_trace": ".views.recording",
    "nn": ".nn",
    "optim": ".optim",
    "plot_lines": ".views.plots",
    "record": ".views.recording",
    "result_type": ".ops.questions",
    "save": ".utils.serialization",
    "set_printoptions": ".engine.printing",
    "step": ".views.recording",
    "teaching": ".lint",
    "training": ".views.loss_curve",
    "utils": ".utils",
    "vmap": ".func",
}
_FROM |= dict.fromkeys(_RANDOM, ".engine.randomness")
_FROM |= dict.fromkeys(_TYPES, ".ops.conversion")
_FROM |= dict.fromkeys(functions.__all__, ".ops.functions")


def __getattr__(name: str) -> Any:
    """Operations, and the layers above the engine, load when they are first used."""
    return later("minigrad", name, _FROM)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_ipython = sys.modules.get("IPython")  # which is never imported for this
_shell: Any = _ipython and _ipython.get_ipython()
if _shell:
    importlib.import_module("minigrad.views.magics").register_magics(_shell)
