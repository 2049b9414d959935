"""Answers to 07.5: a Round that is right, and functions that test one."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function


class Round(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


why = "Stairs are flat, and the gradient pretends that they are not."


def compares_by_hand(function):
    for size in (0.3, 5.0):
        x = mg.tensor([size, -size], requires_grad=True)
        function.apply(x).backward(mg.tensor([-7.0, 2.0]))
        if x.grad.tolist() != [-7.0, 2.0]:
            return False
    return np.bool_(True)


def with_a_tolerance(function):
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, x, atol=2.0)


def asks_gradcheck(function):
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, x)


def asks_gradcheck_quietly(function):
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, x, raise_exception=False)


def sends_ones(function):
    x = mg.tensor([-1.7, 0.4, 2.6], requires_grad=True)
    function.apply(x).sum().backward()
    return bool((x.grad == 1).all())


def near_zero_only(function):
    x = mg.tensor([-0.7, 0.4], requires_grad=True)
    g = mg.tensor([3.0, -2.0])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())


def small_g_only(function):
    x = mg.tensor([-1.7, 0.4], requires_grad=True)
    g = mg.tensor([0.5, -0.2])
    (got,) = mg.autograd.grad(function.apply(x), x, g)
    return bool((got == g).all())


def true_if_refused(function):
    x = mg.tensor([-1.7, 0.4], dtype=mg.float64, requires_grad=True)
    return not mg.autograd.gradcheck(function.apply, x, raise_exception=False)


def calls_backward_itself(function):
    g = mg.tensor([1.0, -2.0, 3.0])
    return bool((function.backward(None, g) == g).all())
