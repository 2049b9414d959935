"""torch.autograd's names."""

import importlib
from typing import TYPE_CHECKING, Any

from minigrad.autograd import anomaly_mode, forward_ad, function, grad_mode, graph
from minigrad.autograd._versions import _unsafe_preserve_version_counter
from minigrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from minigrad.autograd.grad_mode import set_multithreading_enabled
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.autograd.variable import Variable
from minigrad.engine.function import Function
from minigrad.engine.grad_mode import enable_grad, no_grad, set_grad_enabled
from minigrad.engine.gradients import backward, grad
from minigrad.engine.inference import inference_mode

if TYPE_CHECKING:
    from minigrad.autograd import functional

__all__ = [
    "Function",
    "Variable",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def __getattr__(name: str) -> Any:
    """Load ``functional`` when it is first used."""
    if name == "functional":
        return importlib.import_module("minigrad.autograd.functional")
    raise AttributeError(f"module 'minigrad.autograd' has no attribute {name!r}")
