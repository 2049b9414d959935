"""Small programs that the tests of this folder record."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.tracing import Recorder, Trace


class Scale(mg.autograd.Function):
    """x * factor; keeps x, which it does not need, and the factor."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * ctx.factor, None


class Breaks(mg.autograd.Function):
    """Fails in forward or in backward, as it is told."""

    @staticmethod
    def forward(ctx: Any, x: Any, where: str) -> Any:
        if where == "forward":
            raise KeyError("no such thing")
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        raise KeyError("nor here")


def record_scale(lines: bool = True) -> Trace:
    """One custom call, a product with itself, a sum, and backward."""
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    trace = Trace()
    with Recorder(trace, title="scale", lines=lines):
        y = Scale.apply(x, 10)
        (y * y).sum().backward()
    return trace


def record_failure(where: str) -> Trace:
    """A call that raises in ``where``; the exception is kept, not passed on."""
    x = mg.tensor(1.0, requires_grad=True)
    trace = Trace()
    try:
        with Recorder(trace, title="failure"):
            Breaks.apply(x, where).backward()
    except KeyError:
        pass
    return trace


def events_of(trace: Trace, *kinds: str) -> list[dict[str, Any]]:
    """The events of some kinds."""
    return [event for event in trace.data["events"] if event["k"] in kinds]


def shown_locals(trace: Trace, name: str) -> list[dict[str, Any]]:
    """What the lines showed of one local variable, in order."""
    return [e["loc"][name] for e in trace.data["events"] if name in e.get("loc", {})]
