"""Answers to 12.5."""

import minigrad as mg


class BySetupContext(mg.autograd.Function):
    @staticmethod
    def forward(function, x, state):
        return function(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.function, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, g):
        x, state = ctx.saved_tensors
        later = mg.get_rng_state()
        with mg.enable_grad():
            again = x.detach().requires_grad_()
            mg.set_rng_state(state)
            (ctx.function(again) * g).sum().backward()
        mg.set_rng_state(later)
        return None, again.grad, None


def by_setup_context(function, x):
    return BySetupContext.apply(function, x, mg.get_rng_state())
