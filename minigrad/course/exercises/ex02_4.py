"""02.4: an attribute and a change in place, found and repaired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding
from minigrad.errors import SavedModifiedError

ANSWER = "Scale"

SHIPPED = """\
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None
"""
"""The class as the notebook ships it; a test compares the two."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The numbers first; then a change of factor between forward and backward."""
    return next(filter(None, (list(look(answer, random)) for look in LOOKS)), [])


def wrong_numbers(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Nobody changes anything: value and gradient have to be right."""
    x, factor, upstream = drawn(random)
    result = answer.apply(x, factor)
    if not np.allclose(result.detach().numpy(), (x * factor).detach().numpy()):
        numbers = [short(tensor.detach().numpy()) for tensor in (result, x, factor)]
        what = "forward gives {} for x = {}, factor = {}".format(*numbers)
        yield Finding((), what, f"{answer.__name__}.forward")
        return
    slope = slope_of(result, x, upstream)
    if not np.allclose(slope, factor.numpy()):
        what = f"nobody changed the factor {short(factor.numpy())}, and the slope is "
        what += short(slope)
        hint = "How fast does x times factor grow, if x grows?"
        yield Finding((), what, f"{answer.__name__}.backward", hint=hint)


def silent_change(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Factor changes before backward: that has to be an error."""
    x, factor, upstream = drawn(random)
    before = factor.numpy().copy()
    result = answer.apply(x, factor)
    factor.add_(1)
    try:
        slope = slope_of(result, x, upstream)
    except SavedModifiedError:
        return
    what = f"forward used {short(before)}, then factor became "
    what += f"{short(factor.numpy())}: the slope is {short(slope)}, and nobody heard "
    what += "of the change"
    where = f"{answer.__name__}, what forward leaves on ctx"
    if np.allclose(slope, before):
        yield Finding(
            ("K01",),
            what,
            where,
            looks_like="A copy was made and called a repair. The number is right, for "
            "twice the memory; whoever changed factor by mistake still does not know.",
            hint="Which way of keeping a tensor notes its version, without a copy?",
        )
        return
    yield Finding(
        ("S06",),
        what,
        where,
        looks_like="ctx has a second name for the tensor, and reads it too late.",
        hint="Which way of keeping a tensor notes its version beside it?",
    )


def remarks_on(answer: Any) -> list[Finding]:
    """A change is noticed, and yet more is on ctx than backward needs."""
    x, factor, _ = drawn(np.random.default_rng(0))
    with minigrad.teaching(False):
        ctx = answer.apply(x, factor).grad_fn
    where = f"{answer.__name__}, what forward leaves on ctx"
    kept = [f"ctx.{n}" for n, v in vars(ctx).items() if isinstance(v, minigrad.Tensor)]
    if kept:
        what = f"the change is noticed, and a tensor is still kept as {kept[0]}"
        return [Finding(("S06",), what, where)]
    count = len(ctx.saved_tensors)
    if count > 1:
        what = f"{count} tensors are saved; backward can do with factor alone"
        return [Finding(("K01",), what, where)]
    return []


def short(numbers: Any) -> str:
    """Numbers to four digits."""
    return str(
        np.array2string(
            numbers, separator=", ", formatter={"float_kind": "{:.4g}".format}
        )
    )


LOOKS = (wrong_numbers, silent_change)


def drawn(random: np.random.Generator) -> tuple[Any, Any, Any]:
    """An input that requires grad, a factor, and an upstream gradient."""
    x, factor, upstream = (
        minigrad.tensor(random.uniform(1, 3, 3).round(2).tolist()) for _ in range(3)
    )
    return x.requires_grad_(), factor, upstream


def slope_of(result: Any, x: Any, upstream: Any) -> Any:
    """The gradient of x, for an upstream gradient of one everywhere."""
    (gradient,) = minigrad.autograd.grad(result, x, upstream, materialize_grads=True)
    assert gradient is not None  # zeros stand for a gradient that is missing
    return gradient.numpy() / upstream.numpy()
