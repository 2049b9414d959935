"""torch.autograd.grad_mode's names."""

from minigrad.engine.grad_mode import enable_grad, no_grad, set_grad_enabled
from minigrad.engine.inference import inference_mode

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
