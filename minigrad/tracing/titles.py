"""What people write for a call, from the name of its node: ``x * w``, ``exp``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

INFIX: Final = {
    "Add": "+",
    "Sub": "-",
    "Rsub": "-",
    "Mul": "*",
    "Div": "/",
    "Pow": "**",
    **dict.fromkeys(("Mm", "Bmm", "Mv", "Dot", "Matmul"), "@"),
}
WRITTEN: Final = {"Neg": "-", "Addmm": "linear"}
PARTS: Final = {"Select": "", "Slice": "", "Index": "", "CopySlices": " ="}
MOST_LETTERS: Final = 20
"""A formula with more is told by its operation alone."""


def titled(label: str, ins: Sequence[Any], outs: Sequence[Any]) -> str:
    """What is written for the call whose node has this name.

    >>> titled("MulBackward0", [{"name": "x"}, {"text": "3"}], [])
    'x * 3'
    >>> titled("LogSoftmaxBackward0", [], []), titled("CubeBackward", [], [])
    ('log_softmax', 'Cube')
    """
    name, is_builtin = re.subn(r"Backward\d+$", "", label)
    operands = [operand(one) for one in ins[:2]]
    if name in PARTS:
        return f"{operands[0]}[\u2026]{PARTS[name]}"
    if not is_builtin:
        return label.removesuffix("Backward")
    changed = is_in_place(ins, outs)
    sign = INFIX.get(name)
    if sign is not None:
        if name == "Rsub":
            operands.reverse()
        left, right = (*operands, "", "")[:2]
        infix = f"{sign}=" if changed else sign
        if not left or not right or len(left + right) > MOST_LETTERS:
            numbers = [one["text"] for one in ins[:2] if "text" in one]
            first = "text" in ins[0] if ins and numbers else False
            parts = [numbers[0], infix] if first else [infix, *numbers]
            return " ".join(parts)
        return f"{left} {infix} {right}"
    word = WRITTEN.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return f"{word}_" if changed else word


def operand(one: dict[str, Any]) -> str:
    """An argument inside a formula; empty if it has no name."""
    return str(one.get("text") or one.get("name") or "")


def is_in_place(ins: Sequence[Any], outs: Sequence[Any]) -> bool:
    """Whether a call returned the tensor that it was given."""
    first = (ins[0] if ins else {}).get("t")
    return first is not None and bool(outs) and outs[0].get("t") == first


def told_apart(titles: dict[str, str]) -> dict[str, str]:
    """The titles of nodes by their ids; those that several have are numbered.

    >>> told_apart({"n1": "Square", "n2": "x * w", "n3": "Square", "n4": "exp"})
    {'n1': 'Square 1', 'n2': 'x * w', 'n3': 'Square 2', 'n4': 'exp'}
    """
    counts, seen, told = Counter(titles.values()), Counter[str](), {}
    for node, title in titles.items():
        told[node] = title
        if counts[title] > 1:
            seen[title] += 1
            is_word = title[-1:].isalnum() and " " not in title
            number = seen[title]
            told[node] = f"{title} {number}" if is_word else f"{title} ({number})"
    return told
