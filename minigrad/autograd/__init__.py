"""torch.autograd's names."""

from minigrad.autograd import anomaly_mode, forward_ad, function, functional, graph
from minigrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.autograd.variable import Variable
from minigrad.engine.function import Function
from minigrad.engine.grad_mode import enable_grad, no_grad, set_grad_enabled
from minigrad.engine.gradients import backward, grad

__all__ = [
    "Function",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
