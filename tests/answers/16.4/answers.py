"""Other ways to keep less, and ways that break."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function


class BitReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.bits, ctx.shape = np.packbits(x.numpy() > 0), x.shape
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        mask = np.unpackbits(ctx.bits, count=grad_output.numel()).reshape(ctx.shape)
        return grad_output * mg.tensor(mask.astype(bool))


class PoppingReLU(BitReLU):
    @staticmethod
    def backward(ctx, grad_output):
        gradient = BitReLU.backward(ctx, grad_output)
        del ctx.bits
        return gradient


kept = []


class SharedReLU(BitReLU):
    @staticmethod
    def forward(ctx, x):
        result = BitReLU.forward(ctx, x)
        kept.append(ctx.bits)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        ctx.bits = kept.pop()
        return BitReLU.backward(ctx, grad_output)


def to_half(tensor):
    is_leaf = tensor.is_leaf or not tensor.is_floating_point()
    return tensor if is_leaf else tensor.to(mg.float16)


def from_half(packed):
    return packed.to(mg.float32) if packed.dtype == mg.float16 else packed
