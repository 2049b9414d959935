"""Answers to 01.3."""

from minigrad.autograd import Function


class NotStatic(Function):
    def forward(self, x, factor):
        self.factor = factor
        return x * factor

    def backward(self, grad_output):
        return grad_output * self.factor, None
