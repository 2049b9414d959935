"""Answers to 13.6."""

import minigrad as mg


def with_x_itself(f, x):
    v = mg.randn(x.shape, dtype=x.dtype) - 0.5
    y = f(x)
    y.backward(v)
    there, back = (v * y).sum().item(), (x.grad * x).sum().item()
    return bool(abs(there - back) < 1e-3 * (v * y).abs().sum().item())


def same_twice(f, x):
    u = mg.randn(x.shape, dtype=x.dtype, requires_grad=True)
    y = f(u)
    (back,) = mg.autograd.grad(y, u, u.detach())
    apart = (u * y).sum() - (back * u).sum()
    return apart.abs().item() <= 1e-3 * (u * y).abs().sum().item()


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


def forward_only(f, x):
    u, v = mg.randn(x.shape), mg.randn(x.shape)
    apart = (f(u) + f(v) - f(u + v)).abs().sum()
    return apart.item() < 1e-3
