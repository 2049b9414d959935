"""The differences from torch that are meant, each with its reason."""

from __future__ import annotations

import re

GRADIENTS = r"(?m)^ *(t\d+, )+= torch.autograd.grad\("

DELIBERATE: list[tuple[str, str, str]] = [
    (
        r"torch RuntimeError.*more than one element of the written-to tensor refers",
        "make_dual",
        "torch cannot give a tangent to memory that an expand repeats; minigrad can",
    ),
    (
        "torch .*INTERNAL ASSERT FAILED",
        "",
        "torch trips over an assertion of its own",
    ),
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
