"""05.2: lines of the traversal in a learner's order, run on random graphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.course.check import Finding
from minigrad.course.exercises import graphs

HEAD = "def backward(root, edges, counts):\n"
WHERE = "your backward"
WHEN_MISSING = (
    "Before the loop: what has to be there? In the loop: take a node, send its parts, "
    "count down, and let who is complete be ready. What has no line yet?"
)


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as ``backward``; what goes wrong, or None."""
    source = HEAD + "\n".join(lines) + "\n"
    names: dict[str, Any] = {}
    try:
        exec(compile(source, WHERE, "exec"), names)
    except SyntaxError as error:
        line = lines[max((error.lineno or 2) - 2, 0)].strip()
        return Finding(
            (),
            # The head, which Python counts, is not among the lines of the list.
            f"Python cannot read it: {re.sub(r' on line [0-9]+$', '', error.msg)}",
            f"near {line!r}",
            looks_like="An indented line needs the right line above it.",
            hint="Three lines end in a colon. Which lines stand under each of them?",
        )
    random = np.random.default_rng(5)
    tried = [(["y", "c", "b", "a"], graphs.DIAMOND)]
    tried += [graphs.drawn(random, size) for size in (2, 8, 40, 200)]
    for order, edges in tried:
        counts = graphs.counts_of(edges)
        try:
            found = names["backward"](order[0], edges, counts)
        except (NameError, KeyError) as error:
            return Finding(
                (),
                f"{type(error).__name__}: {error}",
                f"{WHERE}, while it runs",
                looks_like="A line uses what a later line makes.",
                hint="Look for the name in the message. Which line makes it?",
            )
        wrong = what_is_wrong(order, edges, found)
        if wrong:
            return wrong
    return None


def what_is_wrong(
    order: list[str], edges: graphs.Edges, found: dict[str, float]
) -> Finding | None:
    """Compare what came out with the sums over all paths."""
    right = graphs.gradients(order, edges)
    off = [name for name in order if not np.isclose(found.get(name, 0), right[name])]
    if not off:
        return None
    first = off[0]
    what = (
        f"on a graph of {len(order)} nodes, {found.get(first, 0):g} stands at {first}"
    )
    what += f" in the end; {right[first]:g} should"
    if found.get(order[0]) != 1.0:
        story = "The root has no gradient to begin with, when the loop needs it."
        hint = "Which line gives the root its 1? Before which line has it to stand?"
    elif all(found[name] == 0 for name in order[1:]):
        story = "The loop ran before the root had its gradient, or not at all."
        hint = "Follow the root: when does it get its 1, and when is it taken?"
    else:
        story = "The count is asked before it is counted down: nobody becomes ready."
        hint = "A node waits for one gradient. It comes. What does the `if` see?"
    return Finding((), what, WHERE, looks_like=story, hint=hint)
