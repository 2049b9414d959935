"""02.4: an attribute and a change in place, found and repaired."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults, Finding
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Factor changes before backward: that has to be an error."""
    x, factor, upstream = drawn(random)
    before = factor.numpy().copy()
    slope_of(answer.apply(x, factor), x, upstream)  # what fails here fails anyway
    result = answer.apply(x, factor)
    factor.add_(1)
    try:
        slope = slope_of(result, x, upstream)
    except Exception:  # the engine's, or one that the learner raises
        if holds_a_copy(answer, random):
            yield say("doubled", answer=answer.__name__)
        return
    kept = [isinstance(v, minigrad.Tensor) for v in vars(result.grad_fn).values()]
    late = "silent.kept" if any(kept) else "silent"
    yield say(
        "silent.copied" if np.allclose(slope, before) else late,
        before=before,
        now=factor,
        slope=slope,
        answer=answer.__name__,
    )


def remarks_on(answer: Any) -> list[Finding]:
    """A change is noticed, and yet more is on ctx than backward needs."""
    x, factor, _ = drawn(np.random.default_rng(0))
    with minigrad.teaching(False):
        ctx = answer.apply(x, factor).grad_fn
    kept = [f"ctx.{n}" for n, v in vars(ctx).items() if isinstance(v, minigrad.Tensor)]
    if kept:
        return [say("kept_too", name=kept[0], answer=answer.__name__)]
    count = len(ctx.saved_tensors)
    if count > 1:
        return [say("saved_too", count=count, answer=answer.__name__)]
    return []


def holds_a_copy(answer: Any, random: np.random.Generator) -> bool:
    """Whether ctx is left the numbers of factor in another memory."""
    x, factor, _ = drawn(random)
    ctx = answer.apply(x, factor).grad_fn
    kept = [*ctx.saved_tensors, *vars(ctx).values()]
    values = [v.array if isinstance(v, minigrad.Tensor) else v for v in kept]
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    lists = [v for v in values if not isinstance(v, np.ndarray)]
    copies = [a for a in arrays if not np.shares_memory(a, factor.array)]
    return any([np.array_equal(each, factor.array) for each in copies + lists])


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
