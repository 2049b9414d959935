"""What the rows use: places to keep things in, and a class to be changed."""

from typing import Any

import minigrad as mg
from minigrad.autograd import Function

STORE: dict[int, object] = {}


LAST: dict[str, Any] = {}


BUFFERS: dict[tuple[Any, ...], Any] = {}


def buffer(like, key):
    return BUFFERS.setdefault((like.shape, like.dtype, key), mg.zeros_like(like))


class SavesWhatItDoesNotNeed(Function):
    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.calls = 1
        ctx.save_for_backward(x, y, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, y, _ = ctx.saved_tensors
        return g * y, g * x
