import minigrad as mg
from minigrad.autograd.function import once_differentiable

ALL = ["yes"] * 9 + ["-"]
HONEST = ["yes"] * 7 + ["no", "yes", "-"]


def example():
    return mg.tensor([0.5, -1.0, 2.0]), 3.0


def one():
    return mg.tensor([0.5, -1.0, 2.0])


class Twice(mg.autograd.Function):
    """2x³: right, and saves an intermediate, so its second derivative is lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * x)
        return 2 * x**3

    @staticmethod
    def backward(ctx, grad_output):
        (square,) = ctx.saved_tensors
        return grad_output * 6 * square


class Refuses(Twice):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return Twice.backward(ctx, grad_output)


class OnCtx(Twice):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2 * ctx.x


class WrongSlope(Twice):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x


class OnTheCpu(WrongSlope):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x * mg.tensor([2.0], dtype=x.dtype)


class Stops(WrongSlope):
    @staticmethod
    def forward(ctx, x):
        return x.no_such_method()


class Corner(WrongSlope):
    """|x|, whose slope at 0 nobody can measure."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.relu()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)


def at_the_corner():
    return mg.tensor([0.0, 1.0])


def not_written():
    raise NotImplementedError("TODO: what Mine.apply takes, a few elements each")


def breaks_off():
    raise ValueError("no inputs today")


class StopsLater(Twice):
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.no_such_method()


class Unwritten(Twice):
    """The Function that is to be written, unwritten."""

    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError("TODO: forward and backward")
