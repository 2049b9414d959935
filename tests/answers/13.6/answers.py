"""Answers to 13.6."""

import minigrad as mg


def differences(f, x):
    u = x.detach().clone().requires_grad_()
    v = mg.randn(x.shape, dtype=x.dtype)
    (back,) = mg.autograd.grad(f(u), u, v)
    for i in range(x.numel()):
        step = mg.zeros(x.shape, dtype=x.dtype)
        step[i] = 1e-6
        slope = (v * (f(u + step) - f(u - step))).sum().item() / 2e-6
        if abs(slope - back[i].item()) > 1e-5 + 1e-3 * abs(slope):
            return False
    return True
