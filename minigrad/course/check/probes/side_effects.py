"""What a call leaves behind on tensors, arrays and modules of its caller."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import nn
from minigrad.course.check.facts import Array
from minigrad.engine.grad_mode import this_mode

NEARLY = 1e-10
"""A number that was moved and moved back may have lost its last digits."""


class Lent:
    """What a call is lent, by name: compared with itself as it was before.

    Of a list of leaves and of a module, which may be trained, not the numbers.
    """

    def __init__(self, **things: Any) -> None:
        self.things = things
        self.before = self.state()

    def state(self) -> dict[str, Any]:
        """All that may be found changed, such as ``"x.grad"``."""
        mode = this_mode()
        found: dict[str, Any] = {"modes.grad_mode": mode.grad_enabled}
        found["modes.saved_hooks"] = mode.saved_tensors_hooks is None
        for name, thing in self.things.items():
            parts = parts_of(thing).items()
            found |= {f"{name}.{part}": value for part, value in parts}
        return found

    def changed(self) -> tuple[str, ...]:
        """The names of what isn't as it was."""
        now = self.state()
        return tuple([k for k, was in self.before.items() if not same(was, now[k])])


def parts_of(thing: Any) -> dict[str, Any]:
    """What a call can change of a thing that it was given."""
    if isinstance(thing, np.ndarray):
        return {"numbers": thing.copy()}
    if isinstance(thing, nn.Module):
        return {"training": thing.training, **parts_of(list(thing.parameters()))}
    if isinstance(thing, list):
        needs = [leaf.requires_grad for leaf in thing]
        return {"requires_grad": needs, "hooks": [hooks_of(leaf) for leaf in thing]}
    return {
        "numbers": numbers_of(thing),
        "requires_grad": thing.requires_grad,
        "grad": numbers_of(thing.grad) if thing.is_leaf else None,
        "hooks": hooks_of(thing),
    }


def numbers_of(tensor: Any) -> Array | None:
    """A copy of what a tensor holds, if there is one."""
    return None if tensor is None else tensor.detach().numpy().copy()


def hooks_of(tensor: Any) -> int:
    """How many hooks wait for its gradient."""
    kinds = tensor._backward_hooks, tensor._post_accumulate_hooks
    return sum([len(hooks) for hooks in kinds if hooks])


def same(was: Any, now: Any) -> bool:
    """Whether a part of the state is as it was."""
    if not (isinstance(was, np.ndarray) and isinstance(now, np.ndarray)):
        return type(was) is type(now) and bool(was == now)
    alike = was.shape == now.shape and was.dtype == now.dtype
    return alike and np.allclose(was, now, NEARLY, NEARLY, equal_nan=True)
