"""05.1: which node runs when, in a graph with a short and a long arm."""

from __future__ import annotations

from functools import partial
from typing import Any

import minigrad

USERS = {"y": "", "b": "y", "d": "y", "c": "d", "a": "bc"}
"""For each letter those whose nodes send a gradient to its node."""


def program() -> dict[str, minigrad.Tensor]:
    """The tensors by their letters."""
    x = minigrad.tensor(1.0, requires_grad=True)
    a = x * 2
    b = a * 3
    c = a * 2
    d = c * 5
    return {"a": a, "b": b, "c": c, "d": d, "y": b + d}


def truth() -> dict[str, str]:
    """Nodes tell when they run."""
    tensors = program()
    order: list[str] = []
    arrived: list[str] = []

    def note(letter: str, _: Any) -> None:
        order.append(letter)

    for letter, tensor in tensors.items():
        node: Any = tensor.grad_fn
        node.register_prehook(partial(note, letter))
    tensors["a"].register_hook(lambda g: arrived.append(f"{g.item():g}"))
    tensors["y"].backward()
    picked = {
        ("y", "d"): "the one that was made last: d",
        ("y", "b"): "the one that was made first: b",
    }
    return {
        "a": " ".join(order),
        "b": ", and later ".join(arrived),
        "c": picked[order[0], order[1]],
    }


def fits(question: str, said: str) -> bool:
    """Whether this is an order in which every node has been sent all before it runs."""
    letters = [letter for letter in said if letter.isalpha()]
    if question != "a" or sorted(letters) != sorted(USERS):
        return False
    return all(
        letters.index(user) < letters.index(letter)
        for letter, users in USERS.items()
        for user in users
    )
