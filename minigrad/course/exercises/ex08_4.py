"""08.4: two legal ways to write what the leaf rule refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad import errors
from minigrad.course.check import Faults, Finding, Lent, left_behind
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """First the weight that changes, then the half of it; the first thing wrong."""
    shrink, halved = answer
    yield from look_at_shrink(shrink, random)
    yield from look_at_halved(halved, random)


def look_at_shrink(
    shrink: Callable[..., Any], random: np.random.Generator
) -> Iterator[Finding]:
    """The weight itself changes, stays a leaf that learns, and the change counts."""
    w, before = weight(random)
    result = (w * w).sum()
    w.grad = minigrad.ones(3, dtype=w.dtype)
    lent = Lent(w=w)
    _, stopped = tried(shrink, w)
    if stopped:
        yield stopped
    elif not np.allclose(w.detach().numpy(), before / 2):
        unchanged = np.allclose(w.detach().numpy(), before)
        yield say("shrink.unchanged" if unchanged else "shrink", before=before, now=w)
    elif not w.is_leaf:
        yield say("shrink.no_leaf")
    elif not w.requires_grad:
        yield say("shrink.frozen")
    else:
        changed = tuple([each for each in lent.changed() if each != "w.numbers"])
        yield from filter(None, [left_behind("shrink", changed)])
        yield from not_noticed(result, w, before)


def not_noticed(result: Any, w: Any, before: Any) -> Iterator[Finding]:
    """A result that was made before has to notice that its weight has changed."""
    w.grad = None
    try:
        result.backward()
    except errors.SavedModifiedError:
        return
    yield say("shrink.unnoticed", slope=w.grad, wanted=2 * before)


def look_at_halved(
    halved: Callable[..., Any], random: np.random.Generator
) -> Iterator[Finding]:
    """A half with a history, and a weight as it was."""
    w, before = weight(random)
    upstream = minigrad.tensor(random.uniform(1, 2, 3).round(2))
    lent = Lent(w=w)
    half, stopped = tried(halved, w)
    if stopped:
        yield stopped
    elif not isinstance(half, minigrad.Tensor):
        yield say("halved.no_tensor", kind=type(half).__name__)
    elif not np.allclose(w.detach().numpy(), before):
        yield say("halved.written", before=before, now=w)
    elif not np.allclose(half.detach().numpy(), before / 2):
        yield say("halved.other", before=before, half=half)
    else:
        yield from filter(None, [left_behind("halved", lent.changed())])
        yield from wrong_slope(half, w, upstream)


def wrong_slope(half: Any, w: Any, upstream: Any) -> Iterator[Finding]:
    """The gradient that reaches the weight."""
    slope = None
    if half.requires_grad:
        (slope,) = minigrad.autograd.grad(half, w, upstream, allow_unused=True)
    if slope is None:
        node = half.grad_fn
        name = "halved.cut.leaf" if node or half.requires_grad else "halved.cut"
        yield say(name, node=node.name() if node else "None")
    elif not np.allclose(slope.numpy(), upstream.numpy() / 2):
        yield say("halved.slope", upstream=upstream, slope=slope)
    elif half.dtype != w.dtype:
        got, wanted = [t.detach().numpy().dtype for t in (half, w)]
        yield say("halved.dtype", got=got, wanted=wanted)


def tried(function: Callable[..., Any], w: Any) -> tuple[Any, Finding | None]:
    """What ``function(w)`` returns; a finding if the engine refuses the change."""
    try:
        return function(w), None
    except errors.InplaceError as error:
        who = getattr(function, "__name__", "your function")
        first, *_ = str(error).splitlines()
        kind = type(error).__name__
        return None, say("refused", kind=kind, text=first, function=who)


def weight(random: np.random.Generator) -> tuple[Any, Any]:
    """A leaf that requires grad, and a copy of its numbers."""
    sizes = random.uniform((1, 3, 20), (3, 9, 90))
    numbers = (sizes * random.choice([-1.0, 1.0], 3)).round(2)
    return minigrad.tensor(numbers, requires_grad=True), numbers.copy()
