"""What people write for a call, from the name of its node: ``x * w``, ``exp``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
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
BINDS: Final = {"+": 1, "-": 1, "*": 2, "/": 2, "@": 2, "**": 3}
TIGHT: Final = 4
WORDS: Final = {
    "Addmm": "linear",
    **dict.fromkeys(("Mm", "Bmm", "Mv"), "matmul"),
}
PARTS: Final = ("Select", "Slice", "Index", "CopySlices")
MOST_LETTERS: Final = 22
"""A formula with more is told by its operation alone."""


@cache
def operation_of(label: str) -> str:
    """The operation of a node.

    >>> operation_of("MulBackward0"), operation_of("CubeBackward")
    ('Mul', 'Cube')
    >>> operation_of("ViewBackward0_copy")  # torch.view_copy
    'View'
    """
    return re.sub(r"Backwards?\d*(_copy)?$", "", label)


def titled(
    name: str, is_builtin: bool, ins: Sequence[Any], outs: Sequence[Any]
) -> tuple[str, tuple[str, int]]:
    """What is written for a call of this operation; and inside another call.

    There, the number says how tightly it binds, as ``binds`` does in an argument.

    >>> titled("Mul", True, [{"name": "x"}, {"text": "3"}], [])
    ('x * 3', ('x * 3', 2))
    >>> titled("LogSoftmax", True, [{"name": "x"}], [])
    ('log_softmax', ('log_softmax(x)', 4))
    """
    changed = is_in_place(ins, outs)
    read = ins[1:] if name == "Addmm" else ins  # its bias comes first
    operands = [str(one.get("text") or one.get("name") or "") for one in read[:2]]
    first, second = (*operands, "", "")[:2]
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    word = WORDS.get(name, word) if is_builtin else name
    if is_builtin and name in PARTS and first:
        title = f"set {first}[\u2026]" if changed else f"{first}[\u2026]"
        return title, (first if changed else title, TIGHT)
    if is_builtin and name in INFIX and first and second:
        sign = INFIX[name]
        binds = BINDS[sign]
        if changed:
            formula = f"{first} {sign}= {second}"
        else:
            left, right = ins[1::-1] if name == "Rsub" else ins[:2]
            is_power = sign == "**"
            formula = f"{inside(left, binds + is_power)} {sign} "
            formula += inside(right, binds + (not is_power))
        if len(formula) <= MOST_LETTERS:
            return formula, (first, TIGHT) if changed else (formula, binds)
    call = f"{word}({first})" if first else ""
    in_place = is_builtin and changed and name not in PARTS
    return f"{word}_" if in_place else word, (call, TIGHT)


def inside(one: Mapping[str, Any], binds: int) -> str:
    """An operand of a formula, in parentheses where what is around binds tighter."""
    text = str(one.get("text") or one.get("name"))
    is_negative = "text" in one and text.startswith("-")
    loose = one.get("binds", TIGHT) < binds or is_negative
    return f"({text})" if loose else text


def is_in_place(ins: Sequence[Any], outs: Sequence[Any]) -> bool:
    """Whether a call returned the tensor that it was given."""
    first = (ins[0] if ins else {}).get("t")
    return first is not None and bool(outs) and outs[0].get("t") == first


def name_calls(events: Sequence[dict[str, Any]], nodes: Mapping[str, Any]) -> None:
    """Give each call its ``op``, and a ``label`` that no other node has.

    An argument without a name is written as what made it, if that is short.
    """
    titles: dict[str, str] = {}
    written: dict[tuple[str, int], tuple[str, int]] = {}
    calls = [event for event in events if "ins" in event]
    for event in calls:
        node = event.get("n", "")
        name, is_builtin = event.get("function", ""), False
        if node:
            name = operation_of(nodes[node]["label"])
            is_builtin = "own" not in nodes[node]
        elif "call" in event:
            is_builtin = True
        ins = []
        for one in event["ins"]:
            made = written.get((one.get("n", one.get("t")), one.get("nr", 0)))
            if made and made[0] and one.get("name") is None and "text" not in one:
                one = {**one, "name": made[0], "binds": made[1]}
            ins.append(one)
        event["op"], formula = titled(name, is_builtin, ins, event["outs"])
        if node:
            titles[node] = event["op"]
            written[node, 0] = formula
        elif event["outs"]:
            written[event["outs"][0].get("t"), 0] = formula
    labels = told_apart(titles)
    for event in calls:
        event["label"] = labels.get(event.get("n", ""), event["op"])


def told_apart(titles: Mapping[str, str]) -> dict[str, str]:
    """The titles of nodes by their ids; those that several have are numbered.

    >>> told_apart({"n1": "Square", "n2": "x * w", "n3": "Square", "n4": "exp"})
    {'n1': 'Square 1', 'n2': 'x * w', 'n3': 'Square 2', 'n4': 'exp'}
    """
    counts, seen, told = Counter(titles.values()), Counter[str](), {}
    for node, title in titles.items():
        told[node] = title
        if counts[title] > 1:
            seen[title] += 1
            number = seen[title]
            is_word = title.replace("_", "").isalnum()
            told[node] = f"{title} {number}" if is_word else f"{title} ({number})"
    return told
