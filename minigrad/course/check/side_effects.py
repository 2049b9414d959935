"""What a call leaves behind on tensors, arrays and modules of its caller."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import nn
from minigrad.course.check.facts import Array
from minigrad.course.check.findings import UNNAMED, Finding
from minigrad.engine.dtypes import default_dtype
from minigrad.engine.grad_mode import this_mode

WORDS = {
    "numbers": (
        "{name} holds other numbers than before",
        "{name} is the caller's, and something writes into it. (What's moved, and "
        "moved back by adding, may come back with another last digit.)",
        "Which line changes {name} itself? What could it change instead?",
    ),
    "requires_grad": (
        "{name}.requires_grad isn't what it was before",
        "requires_grad_() changes the tensor that it's called on, and that's the "
        "caller's: from now on, whatever is done with it is recorded, or isn't.",
        "What gives you a tensor of your own, with the same numbers and no history?",
    ),
    "grad": (
        "{name}.grad isn't what it was before",
        "Gradients add up in {name}.grad, and that's the caller's: backward() writes "
        "into it, as an assignment does.",
        "Which call returns gradients and leaves .grad alone?",
    ),
    "hooks": (
        "{name} has another number of hooks than before",
        "A hook stays where it was registered, and runs in every later backward.",
        "What does register_hook return, and what can you do with that in the end?",
    ),
    "training": (
        "{name}.training isn't what it was before",
        "train() and eval() set a mode that stays.",
        "Which mode was it in, and which line could bring that back?",
    ),
    "parameters": (
        "{name} has other tensors as its parameters than before",
        "New tensors stand in for the parameters. Whoever holds those of before, as an "
        "optimizer does, now holds something that is used no more.",
        "How can a tensor get new numbers and stay the same tensor?",
    ),
    "saved_hooks": (
        "hooks for saved tensors are still in force, for all that the caller does",
        "The block of hooks was begun, and never ended.",
        "Which statement ends what it began, whatever happens in between?",
    ),
    "grad_mode": (
        "grad mode isn't what it was before",
        "It stays switched: from now on, whatever the caller does is recorded, or "
        "isn't.",
        "Which block switches grad mode, and switches it back when it's left?",
    ),
    "default_dtype": (
        "the default dtype isn't what it was before",
        "set_default_dtype() decides for all who make tensors, and it stays.",
        "Which argument says the dtype of the one tensor that you make?",
    ),
}
"""For each kind: what is different, what it looks like, and what to ask oneself."""


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
        found: dict[str, Any] = {
            "modes.grad_mode": mode.grad_enabled,
            "modes.saved_hooks": mode.saved_tensors_hooks is None,
            "modes.default_dtype": default_dtype(),
        }
        for name, thing in self.things.items():
            parts = parts_of(thing).items()
            found |= {f"{name}.{part}": value for part, value in parts}
        return found

    def changed(self) -> tuple[str, ...]:
        """The names of what isn't as it was."""
        now = self.state()
        return tuple(
            [
                name
                for name, was in self.before.items()
                if was is not now[name] and not same(was, now[name])
            ]
        )


def left_behind(where: str, changed: tuple[str, ...]) -> Finding | None:
    """The first thing that isn't as it was before the call; None if all is."""
    if not changed:
        return None
    name, _, part = changed[0].partition(".")
    what, looks_like, hint = [text.format(name=name) for text in WORDS[part]]
    what, key = f"after the call, {what}", f"side_effects/{part}"
    return Finding(UNNAMED, what, where, looks_like, hint, key=key)


def parts_of(thing: Any) -> dict[str, Any]:
    """What a call can change of a thing that it was given."""
    if isinstance(thing, np.ndarray):
        return {"numbers": thing.copy()}
    if isinstance(thing, nn.Module):
        parameters = list(thing.parameters())
        found = {"training": thing.training, "parameters": [*map(id, parameters)]}
        return found | parts_of(parameters)
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
    return None if tensor is None else tensor.array.copy()


def hooks_of(tensor: Any) -> int:
    """How many hooks wait for its gradient."""
    kinds = tensor._backward_hooks, tensor._post_accumulate_hooks
    return sum([len(hooks) for hooks in kinds if hooks])


def same(was: Any, now: Any) -> bool:
    """Whether a part of the state is as it was."""
    if not (isinstance(was, np.ndarray) and isinstance(now, np.ndarray)):
        return type(was) is type(now) and bool(was == now)
    alike = was.shape == now.shape and was.dtype == now.dtype
    return alike and was.tobytes() == now.tobytes()
