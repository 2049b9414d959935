"""Answers to 13.2."""

import minigrad as mg


def moves_x_itself(f, x, eps=1e-6):
    y = f(x)
    g = mg.rand(y.shape, dtype=mg.float64) * 3 - 1
    y.backward(g)
    found = x.grad.tolist() if x.dim() == 1 else x.grad.flatten().tolist()
    flat = x.detach().view(-1)
    with mg.no_grad():
        for i, slope_found in enumerate(found):
            before = flat[i].item()
            flat[i] = before + eps
            high = (g * f(x)).sum().item()
            flat[i] = before - eps
            low = (g * f(x)).sum().item()
            flat[i] = before
            slope = (high - low) / (2 * eps)
            if not abs(slope - slope_found) <= 1e-5 + 1e-3 * abs(slope):
                return False
    return True


def along_a_direction(f, x):
    y = f(x)
    g = mg.randn(y.shape, dtype=y.dtype)
    (found,) = mg.autograd.grad(y, x, g)
    way = mg.randn(x.shape, dtype=x.dtype)
    step = 1e-6 * way
    slope = ((g * (f(x.detach() + step) - f(x.detach() - step))).sum() / 2e-6).item()
    return abs((found * way).sum().item() - slope) <= 1e-5 + 1e-3 * abs(slope)


def whole_jacobian(f, x):
    y = f(x)
    for j in range(y.numel()):
        g = mg.eye(y.numel(), dtype=y.dtype)[j].reshape(y.shape)
        (found,) = mg.autograd.grad(y, x, g, retain_graph=True)
        for i in range(x.numel()):
            step = mg.eye(x.numel(), dtype=x.dtype)[i].reshape(x.shape) * 1e-6
            slope = (g * (f(x.detach() + step) - f(x.detach() - step))).sum() / 2e-6
            if abs(found.view(-1)[i].item() - slope.item()) > 1e-4:
                return False
    return True
