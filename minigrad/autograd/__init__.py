"""torch.autograd's names."""

from typing import TYPE_CHECKING, Any

from minigrad._later import later
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.engine.core.function import Function
from minigrad.engine.grad_mode import enable_grad, no_grad, set_grad_enabled
from minigrad.engine.inference import inference_mode

if TYPE_CHECKING:
    from minigrad.autograd import (
        anomaly_mode,
        forward_ad,
        function,
        functional,
        grad_mode,
        graph,
    )
    from minigrad.autograd._gradients import grad
    from minigrad.autograd._versions import _unsafe_preserve_version_counter
    from minigrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
    from minigrad.autograd.grad_mode import (
        is_multithreading_enabled,
        set_multithreading_enabled,
    )
    from minigrad.autograd.variable import Variable
    from minigrad.engine.gradients import backward

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
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


_FROM = {
    "Variable": ".variable",
    "_unsafe_preserve_version_counter": "._versions",
    "anomaly_mode": ".anomaly_mode",
    "backward": "..engine.gradients",
    "detect_anomaly": ".anomaly_mode",
    "forward_ad": ".forward_ad",
    "function": ".function",
    "functional": ".functional",
    "grad": "._gradients",
    "grad_mode": ".grad_mode",
    "graph": ".graph",
    "is_multithreading_enabled": ".grad_mode",
    "set_detect_anomaly": ".anomaly_mode",
    "set_multithreading_enabled": ".grad_mode",
    "variable": ".variable",
}


def __getattr__(name: str) -> Any:
    """Import what few programs need when it is first used."""
    return later(__name__, name, _FROM)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
