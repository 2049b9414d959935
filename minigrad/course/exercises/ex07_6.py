"""07.6: a 0/1 mask of floats that was not marked, found and repaired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Faults, Finding
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The two outputs, then their wires, then the gradients."""
    for look in LOOKS:
        yield from look(answer, random)


def wrong_outputs(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """What was kept, and a mask of 0 and 1."""
    who = answer.__name__
    x, limit = drawn(random)
    outputs = answer.apply(x, limit)
    if not isinstance(outputs, tuple) or len(outputs) != 2:
        yield say("not_two", answer=who)
    passes = (x.abs() <= limit).numpy()
    names_and_rights = (
        ("what was kept", x.detach().numpy() * passes),
        ("mask", passes),
    )
    for output, (name, right) in zip(outputs, names_and_rights, strict=True):
        if not np.array_equal(output.detach().numpy().astype(float), right):
            yield say("output", got=output, answer=who, x=x, limit=limit, name=name)


def wrong_wires(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """A gradient comes back through what was kept, and none through the mask."""
    kept, mask = answer.apply(*drawn(random))
    if not kept.requires_grad:
        yield say("kept_untied", answer=answer.__name__)
    elif mask.requires_grad:
        yield say(f"mask_tied.{how_tried(answer)}", answer=answer.__name__)


def how_tried(answer: Any) -> str:
    """How somebody may have tried to cut the wire, as the messages call it."""
    names = getattr(answer.forward, "__code__", None)
    called = names.co_names if names else ()
    if "mark_non_differentiable" in called:
        return "marked"
    ways = {"detach", "no_grad", "requires_grad", "requires_grad_"}
    return "early" if ways & {*called} else "not_at_all"


def wrong_gradients(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Of the mean of squares of what was kept, and of a sum with random weights."""
    x, limit = drawn(random)
    weights = minigrad.tensor(random.uniform(1, 2, 4).round(2))
    passes = (x.abs() <= limit).detach()
    kept, mask = answer.apply(x, limit)
    losses = {
        "the mean of the squares of what was kept": (
            (kept * kept).sum() / mask.sum(),
            2 * x * passes / passes.sum(),
        ),
        f"the sum of {weights.tolist()} times what was kept": (
            (answer.apply(x, limit)[0] * weights).sum(),
            weights * passes,
        ),
    }
    for name, (loss, right) in losses.items():
        (slope,) = minigrad.autograd.grad(loss, x, materialize_grads=True)
        assert slope is not None  # zeros stand for a gradient that is missing
        if not np.allclose(slope.numpy(), right.detach().numpy()):
            said = {"x": x, "limit": limit, "name": name, "answer": answer.__name__}
            masked = np.allclose((slope * passes).numpy(), right.detach().numpy())
            message = "slope.unmasked" if masked else "slope"
            yield say(message, got=slope, wanted=right, **said)


LOOKS = (wrong_outputs, wrong_wires, wrong_gradients)


def drawn(random: np.random.Generator) -> tuple[Any, float]:
    """Numbers of which one is within the limit, one is equal to it, and two are not."""
    limit = float(random.choice([1.75, 2.0, 2.5]))
    sizes = [random.uniform(0.5, 1.5), limit, *random.uniform(3, 5, 2)]
    signs = random.choice([-1.0, 1.0], 4)
    x = (random.permutation(sizes) * signs).round(2).tolist()
    return minigrad.tensor(x, dtype=minigrad.float64, requires_grad=True), limit
