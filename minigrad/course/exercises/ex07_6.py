"""07.6: a 0/1 mask of floats that was not marked, found and repaired."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Finding

ANSWER = "Keep"

SHIPPED = """\
class Keep(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        mask = (x.abs() <= limit).to(x.dtype)
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g_kept, g_mask):
        (mask,) = ctx.saved_tensors
        return g_kept * mask + g_mask, None
"""
"""The class as the notebook ships it: not tried. A test compares the two."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """The two outputs, then their wires, then the gradients."""
    return next(filter(None, (list(look(answer, random)) for look in LOOKS)), [])


def wrong_outputs(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """What was kept, and a mask of 0 and 1."""
    where = f"{answer.__name__}.forward"
    x, limit = drawn(random)
    outputs = answer.apply(x, limit)
    if not isinstance(outputs, tuple) or len(outputs) != 2:
        hint = "Whoever uses the class wants both: what was kept, and the mask."
        what = "forward no longer returns two tensors"
        yield Finding((), what, where, hint=hint)
        return
    passes = (x.abs() <= limit).numpy()
    names_and_rights = (
        ("what was kept", x.detach().numpy() * passes),
        ("mask", passes),
    )
    for output, (name, right) in zip(outputs, names_and_rights, strict=True):
        if not np.array_equal(output.detach().numpy().astype(float), right):
            what = f"for x = {x.tolist()} and limit = {limit:g}, {name} is "
            what += f"{output.tolist()}"
            hint = "The outputs were right as they were."
            yield Finding((), what, where, hint=hint)
            return


def wrong_wires(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """A gradient comes back through what was kept, and none through the mask."""
    where = f"{answer.__name__}.forward"
    kept, mask = answer.apply(*drawn(random))
    if not kept.requires_grad:
        what = "what was kept does not require grad, although x does"
        yield Finding(("N08",), what, where, hint="Which output did you mark?")
    elif mask.requires_grad:
        looks_like, hint = story_of(answer)
        what = "the mask still requires grad: a wire leads from it to the node"
        yield Finding(("N05",), what, where, looks_like=looks_like, hint=hint)


def story_of(answer: Any) -> tuple[str, str]:
    """How somebody may have tried to cut the wire, and a question about it."""
    names = getattr(answer.forward, "__code__", None)
    called = names.co_names if names else ()
    unties = {"detach": "It is detached", "no_grad": "no_grad stands"}
    unties |= dict.fromkeys(("requires_grad", "requires_grad_"), "requires_grad is set")
    if tried := [words for name, words in unties.items() if name in called]:
        return (
            f"{tried[0]} where nothing is tied yet: forward runs unrecorded, and "
            "apply ties every float output to the node after it.",
            "Who has to be told about the mask, so that apply leaves it alone?",
        )
    if "mark_non_differentiable" in called:
        return (
            "The mark did not reach the tensor that is returned: another one was "
            "marked, or the line with the mark does nothing.",
            "Is what you mark the very object that forward returns? Does the line "
            "stand before the return, with its brackets?",
        )
    return (
        "backward may drop what comes from the mask, but the wire is there: all that "
        "is made of the mask requires grad, and who learns from it learns nothing.",
        "Which method of ctx says that an output has no gradient?",
    )


def wrong_gradients(answer: Any, random: np.random.Generator) -> Iterator[Finding]:
    """Of the mean of squares of what was kept, and of a sum with random weights."""
    where = f"{answer.__name__}.backward"
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
            what = (
                f"for x = {x.tolist()} and limit = {limit:g}, the gradient of {name} "
            )
            what += f"is {short(slope)}; it should be {short(right)}"
            hint = "Where the mask is 0, what should arrive at x? And where it is 1?"
            yield Finding((), what, where, hint=hint)
            return


def short(tensor: Any) -> str:
    """Numbers to four digits."""
    return str([float(f"{number:.4g}") for number in tensor.tolist()])


LOOKS = (wrong_outputs, wrong_wires, wrong_gradients)


def drawn(random: np.random.Generator) -> tuple[Any, float]:
    """Numbers of which two are within the limit, and two are not."""
    sizes = [*random.uniform(0.5, 1.5, 2), *random.uniform(3, 5, 2)]
    signs = random.choice([-1.0, 1.0], 4)
    x = (random.permutation(sizes) * signs).round(2).tolist()
    limit = float(random.choice([1.75, 2.0, 2.5]))
    return minigrad.tensor(x, dtype=minigrad.float64, requires_grad=True), limit
