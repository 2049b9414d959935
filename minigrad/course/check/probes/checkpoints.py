"""An answer that runs a function in forward, and once more in backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array
from minigrad.course.check.lifetimes import watch
from minigrad.course.check.side_effects import Lent

LAYERS = 5


@dataclass(frozen=True)
class Checkpointed:
    """What an answer did with a function that drops some of its results at random.

    ``calls``: how often the function ran, ``forward`` of them before backward began.
    ``alive``: how many tensors from its middle were there after forward. ``masks``: a
    row for each call, of what it has kept. ``result``, ``grad_x`` and ``grad_w`` are
    numbers; the function uses w without getting it, and ``grad_w`` is what was added to
    its .grad, which held ones. ``above``: how often the node of the operation that made
    x ran. ``goes_on``: backward has drawn nothing for others; ``drew``: forward has
    drawn for others, too; ``seeded``: but the same again in another checkpoint.
    ``mixed``: the function of another checkpoint ran in its place. ``changed``: what is
    different about x and w, but for .grad.
    """

    calls: int = 0
    forward: int = 0
    alive: int = 0
    masks: Array | None = None
    result: Array | None = None
    grad_x: Array | None = None
    grad_w: Array | None = None
    above: int = 0
    goes_on: bool = True
    drew: bool = True
    seeded: bool = False
    mixed: bool = False
    changed: tuple[str, ...] = ()


class Segment:
    """The function: some layers with one weight, and dropout if it ``drops``."""

    def __init__(self, w: Any, drops: bool) -> None:
        self.w, self.drops = w, drops
        self.masks: list[Array] = []
        self.watched: list[Any] = []

    def __call__(self, x: Any) -> Any:
        """The layers, and then the mask."""
        for _ in range(LAYERS):
            x = (x * self.w).tanh()
            self.watched.append(watch(layer=x))
        drawn = minigrad.rand(x.shape) if self.drops else minigrad.zeros(x.shape)
        mask = drawn < 0.5
        self.masks.append(mask.numpy().copy())
        return x * mask

    def alive(self) -> int:
        """How many results of layers are alive."""
        return sum([watched.alive()["layer"] for watched in self.watched])


def checkpointed(
    answer: Any, x: Array, w: Array, upstream: Array, leaf: bool, drops: bool
) -> Checkpointed:
    """Run the answer on a leaf, or on a product; then backward with ``upstream``."""
    minigrad.manual_seed(int(x.size))
    start = minigrad.tensor(x, requires_grad=True)
    weight = minigrad.tensor(w, requires_grad=True)
    weight.grad = minigrad.ones_like(weight).detach()
    function, runs = Segment(weight, drops), []
    given = start if leaf else start * 1.0
    above: Any = given.grad_fn
    if above is not None:
        above.register_hook(lambda *_: runs.append(1))
    said: dict[str, Any] = {}
    lent, begun = Lent(x=[given], w=[weight]), minigrad.get_rng_state().numpy().copy()
    result = answer(function, given)
    after = minigrad.get_rng_state().numpy().copy()
    said["drew"] = not drops or not np.array_equal(begun, after)
    said["forward"], said["alive"] = len(function.masks), function.alive()
    said["result"] = result.detach().numpy().copy()
    # Somebody else draws, in another checkpoint, before backward runs.
    others = Segment(weight.detach() * 2, True)
    beside = answer(others, minigrad.tensor(x, requires_grad=True) * 1.0)
    state = minigrad.get_rng_state().numpy().copy()
    said["seeded"] = np.array_equal(after, state)
    result.backward(minigrad.tensor(upstream))
    now = minigrad.get_rng_state().numpy()
    said["goes_on"] = bool(np.array_equal(state, now))
    del beside
    said["calls"], said["above"] = len(function.masks), len(runs)
    said["mixed"] = len(others.masks) > 1
    said["changed"] = lent.changed()
    if function.masks:
        said["masks"] = np.array(function.masks)
    if start.grad is not None:
        said["grad_x"] = start.grad.numpy().copy()
    if weight.grad is not None:
        said["grad_w"] = weight.grad.numpy() - 1
    return Checkpointed(**said)
