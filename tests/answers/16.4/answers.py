"""Other ways to keep less, and ways that break."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function


class MaskReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x > 0)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (mask,) = ctx.saved_tensors
        return grad_output * mask


class BitReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.bits, ctx.shape = np.packbits(x.numpy() > 0), x.shape
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        count = grad_output.numel()
        mask = np.unpackbits(ctx.bits, count=count).reshape(ctx.shape)
        return grad_output * mg.tensor(mask.astype(bool))


kept = {}


class SharedReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.place = kept["next"] = kept.get("next", -1) + 1
        kept[ctx.place % 6] = np.packbits(x.numpy() > 0)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        count = grad_output.numel()
        mask = np.unpackbits(kept[ctx.place % 6], count=count)
        return grad_output * mg.tensor(mask.reshape(grad_output.shape).astype(bool))


class PoppingReLU(BitReLU):
    @staticmethod
    def backward(ctx, grad_output):
        gradient = BitReLU.backward(ctx, grad_output)
        del ctx.bits
        return gradient


class LeakyInBackward(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * (result >= 0)


def to_half(tensor):
    is_leaf = tensor.is_leaf or not tensor.is_floating_point()
    return tensor if is_leaf else tensor.to(mg.float16)


def from_half(packed):
    return packed.to(mg.float32) if packed.dtype == mg.float16 else packed


def layer_of(x, W, b):
    return (x @ W.T + b).relu()


def in_pairs(x, y, layers):
    def two(x, first, second):
        return layer_of(layer_of(x, *first), *second)

    for i in range(0, 6, 2):
        x = mg.utils.checkpoint.checkpoint(
            two, x, *layers[i : i + 2], use_reentrant=False
        )
    W, b = layers[-1]
    return mg.nn.functional.cross_entropy(x @ W.T + b, y)
