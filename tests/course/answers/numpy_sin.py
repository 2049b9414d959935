"""Answers to gym.NumpySin."""

import numpy as np

import minigrad as mg
from minigrad.autograd import Function
from minigrad.autograd.function import once_differentiable
from tests.course.answers.kit import right, wrong


@right()
class SavesTheInput(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * grad_output.numpy())


@right()
class InTwoSteps(Function):
    @staticmethod
    def forward(x):
        return mg.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (mg.from_numpy(g.numpy() * np.cos(x.numpy())),)


@right()
class KeepsTheCosine(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.cosine = np.cos(a)
        return mg.tensor(np.sin(a), dtype=x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * mg.tensor(ctx.cosine)


@right()
class SavesTheCosine(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy().copy()
        ctx.save_for_backward(mg.tensor(np.cos(a)))
        return mg.tensor(np.sin(a))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (cosine,) = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            return cosine * g
        return None


@wrong("D02")
class NotDeclared(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.detach().numpy()) * g.detach().numpy())


@wrong("D02")
class ForwardDeclared(Function):
    @staticmethod
    @once_differentiable
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.detach().numpy()) * g.detach().numpy())


@wrong("D02")
class CosineNotDeclared(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.cosine = np.cos(a)
        return mg.tensor(np.sin(a))

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.cosine)


@wrong("C01")
class CosineAlone(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()))


@wrong("L01")
class MinusCosine(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(-np.cos(x.numpy()) * g.numpy())


@wrong("L05", "S01")
class CosineOfTheResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = mg.tensor(np.sin(x.numpy()))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * g.numpy())


@wrong("A12")
class ReturnsAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return np.cos(x.numpy()) * g.numpy()


@wrong("A17")
class ForwardReturnsAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.sin(x.numpy())

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * g.numpy())


@wrong("A08")
class NoStaticMethods(Function):
    def forward(self, x):
        self.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @once_differentiable
    def backward(self, g):
        (x,) = self.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * g.numpy())


@wrong("A14")
class SavesAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.save_for_backward(np.cos(a))
        return mg.tensor(np.sin(a))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (cosine,) = ctx.saved_tensors
        return mg.tensor(cosine * g.numpy())


@wrong("S08")
class KeepsTheArray(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.a = x.numpy()
        return mg.tensor(np.sin(ctx.a))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return mg.tensor(np.cos(ctx.a) * g.numpy())


@wrong("S06")
class KeepsTheTensor(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return mg.tensor(np.cos(ctx.x.detach().numpy()) * g.numpy())


@wrong("M02")
class OverwritesTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.numpy()
        ctx.cosine = np.cos(a)
        np.sin(a, out=a)
        return mg.tensor(a)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return mg.tensor(ctx.cosine * g.numpy())


@wrong("M01")
class OverwritesUpstream(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        array = g.numpy()
        array *= np.cos(x.numpy())
        return mg.tensor(array)


@wrong("M05")
class OverwritesSaved(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = x.numpy()
        np.cos(slope, out=slope)
        return mg.tensor(slope * g.numpy())


@wrong("T01", "T03")
class ForwardInSinglePrecision(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()), dtype=mg.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * g.numpy())


@wrong("T03", "T01")
class ForwardAlwaysDouble(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy().astype(np.float64)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.tensor(np.cos(x.numpy()) * g.numpy(), dtype=x.dtype)


@wrong("T03")
class BackwardAlwaysDouble(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = np.cos(x.numpy().astype("float64"))
        return mg.tensor(slope * g.numpy())


@wrong()
class CosineOfTheLastMatrix(SavesTheInput):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = np.cos(x.numpy())
        if slope.ndim == 3:
            slope = slope[-1]
        return mg.tensor(slope * g.numpy())


@wrong("M05")
class OverwritesASavedCopy(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        return mg.tensor(np.sin(x.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        slope = ctx.saved_tensors[0].numpy()
        np.cos(slope, out=slope)
        return mg.tensor(slope * g.numpy())


@wrong("T04")
class ReadsTheMemory(SavesTheInput):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if not x.numel():
            return mg.zeros_like(x)
        numbers = np.frombuffer(g.numpy(), x.numpy().dtype)
        return mg.tensor(np.cos(x.numpy()) * numbers.reshape(x.shape))


@wrong("M05")
class OverwritesTheArrayOfTheInput(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x.numpy()
        return mg.tensor(np.sin(ctx.x))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        np.cos(ctx.x, out=ctx.x)
        return mg.tensor(ctx.x * g.numpy())
