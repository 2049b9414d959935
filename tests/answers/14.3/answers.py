"""Answers to 14.3, and what other rows use."""

import math

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.utils import jit


@jit
def everything_of(logits, target, slopes):
    """The loss, and its slopes at once: what a fused kernel may do in forward."""
    loss, rows = 0.0, logits.shape[0]
    for i in range(rows):
        largest = logits[i, 0]
        for j in range(logits.shape[1]):
            if logits[i, j] > largest:
                largest = logits[i, j]
        total = 0.0
        for j in range(logits.shape[1]):
            slopes[i, j] = math.exp(logits[i, j] - largest)
            total += slopes[i, j]
        for j in range(logits.shape[1]):
            slopes[i, j] /= total * rows
        slopes[i, target[i]] -= 1 / rows
        loss += (largest + math.log(total) - logits[i, target[i]]) / rows
    return loss


class SlopesInForward(Function):
    @staticmethod
    def forward(ctx, logits, target):
        slopes = mg.empty_like(logits)
        loss = everything_of(
            logits.detach().numpy(), target.numpy(), slopes.detach().numpy()
        )
        ctx.save_for_backward(slopes)
        return mg.tensor(loss, dtype=logits.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        (slopes,) = ctx.saved_tensors
        return slopes * grad_output, None


class BySetupContext(Function):
    @staticmethod
    def forward(logits, target):
        z = logits.detach().numpy()
        loss = everything_of.py_func(z, target.numpy(), np.empty_like(z))
        return mg.tensor(loss, dtype=logits.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        slopes = np.empty(logits.shape, logits.detach().numpy().dtype)
        everything_of(logits.detach().numpy(), target.numpy(), slopes)
        return mg.from_numpy(slopes * grad_output.detach().numpy()), None
