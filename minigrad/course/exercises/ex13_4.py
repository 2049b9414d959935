"""13.4: two programs of the clinic: a shape and a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Arrays, Finding, crash_of, thrown
from minigrad.course.check.probes import opinions, seen
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "Linear, Gap, passes"


class Doubled(minigrad.autograd.Function):
    """A product whose rule is wrong for its first factor."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return (x * w).sum()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, w = ctx.saved_tensors
        return 2 * grad_output * w, grad_output * x


def look_at(answer: Sequence[Any], random: np.random.Generator) -> list[Finding]:
    """The test first, which nobody was to touch; then each Function."""
    linear, gap, passes = answer
    if seen(opinions.opinion_on, (passes,), Doubled, (2, 3), (2, 3)).said is not False:
        return [say("test")]
    looks = (look_at_linear(linear, random), look_at_gap(gap, random))
    return [finding for findings in looks for finding in findings][:1]


def look_at_linear(linear: Any, random: np.random.Generator) -> Iterator[Finding]:
    """A batch whose sizes are all different, then one where they are all the same."""
    for batch, inputs, outputs in ((4, 3, 2), (3, 3, 3)):
        x, w = numbers(random, batch, inputs), numbers(random, outputs, inputs)
        g = numbers(random, batch, outputs)
        value, found, crash = tried(linear, (x, w), g)
        shapes = {"x": x.shape, "W": w.shape, "g": g.shape}
        if crash:
            yield say("crashed", error=crash, **shapes)
            return
        if not np.allclose(value, x @ w.T):
            yield say("linear.value", **shapes)
        if not np.allclose(found[0], g @ w):
            yield say("linear.x", **shapes)
        if not np.allclose(found[1], g.T @ x):
            reshaped = np.allclose(found[1].ravel(), (x.T @ g).ravel())
            name = "linear.reshaped" if reshaped and outputs != inputs else "linear.w"
            yield say(name, **shapes)


def look_at_gap(gap: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Prediction and target are both inputs; the upstream gradient is not 1."""
    made, wanted = numbers(random, 2, 3), numbers(random, 2, 3)
    g = np.asarray(-1.5)
    value, found, crash = tried(gap, (made, wanted), g)
    if crash:
        yield say("crashed", error=crash, x="", W="", g="")
        return
    if not np.allclose(value, ((made - wanted) ** 2).mean()):
        turned = np.allclose(value, -((made - wanted) ** 2).mean())
        yield say("gap.value.turned" if turned else "gap.value", got=value)
        return
    right = g * 2 * (made - wanted) / made.size
    signs = [sign_of(each, right) for each in found]
    if signs == [1, -1]:
        return
    names = {(-1, 1): "gap.both", (1, 1): "gap.target", (-1, -1): "gap.made"}
    name = names.get((signs[0], signs[1]), "gap.other")
    times = float((found[0] / right).flat[0])
    opposite = np.allclose(found[1], -found[0])
    if name == "gap.other" and opposite and times > 0 and is_times(found[0], right):
        name = "gap.factor"
    said = {"made": found[0], "wanted": found[1], "times": times}
    yield say(name, right=right, **said)


def is_times(found: Array, right: Array) -> bool:
    """Whether one is a number times the other."""
    return np.allclose(found * right.flat[0], right * found.flat[0])


def sign_of(found: Array, right: Array) -> int:
    """1 if these are equal, -1 if one is the other turned round, 0 if neither."""
    same, turned = np.allclose(found, right), np.allclose(found, -right)
    return int(same) - int(turned)


def tried(
    function: Any, inputs: tuple[Array, ...], g: Array
) -> tuple[Array, list[Array], str]:
    """Value, gradients, and what was raised; zeros stand for a missing gradient."""
    leaves = [minigrad.tensor(each, requires_grad=True) for each in inputs]
    try:
        y = function.apply(*leaves)
        found: Arrays = tuple(
            [
                None if each is None else each.numpy()
                for each in minigrad.autograd.grad(
                    y, leaves, minigrad.tensor(g), materialize_grads=True
                )
            ]
        )
    except RuntimeError as error:
        return np.zeros(()), [], thrown(crash_of("", error)).removesuffix(": ")
    return y.detach().numpy(), [each for each in found if each is not None], ""
