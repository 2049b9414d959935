"""What rows of 16.3 use."""

from minigrad.autograd import Function


class Times(Function):
    @staticmethod
    def forward(ctx, loss, count):
        ctx.count = count
        return loss * count

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.count, None
