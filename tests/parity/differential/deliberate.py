"""The differences from torch that are meant, each with its reason."""

from __future__ import annotations

import re

NOT_YET = r"ours .*Error.*(has no attribute|is not there yet)"

GRADIENTS = r"(?m)^ *(t\d+, )+= torch.autograd.grad\("

DELIBERATE: list[tuple[str, str, str]] = [
    (NOT_YET, "", "a part of minigrad that is not there yet"),
    (
        r"left: t\d+: (grad_fn|next|is a view|base|version): ",
        GRADIENTS,
        "a recorded backward computes the same slope by other operations",
    ),
    (
        r"(grad_fn|next): ours .*FillBackward0.*(Fill|Zero)Backward|note \d+ .posthook",
        r"\.(fill|zero)_\(",
        "one node for fill, in place or not, with a number or a tensor, and for zero_",
    ),
]
"""Pattern of the difference, pattern of the program, and why it is meant."""


def reason_for(found: str, source: str) -> str | None:
    """Why a difference is meant; None if nobody listed it."""
    for difference, program, reason in DELIBERATE:
        if re.search(difference, found) and re.search(program, source):
            return reason
    return None
