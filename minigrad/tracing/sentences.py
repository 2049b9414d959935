"""One sentence for each step: what is shown, read out, and kept as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from minigrad.errors import count_of
from minigrad.tracing.foreign import is_tensor
from minigrad.tracing.values import brief, error_text, short_repr

NameOf = Callable[[Any], str | None]


def joined(parts: list[str]) -> str:
    """A list in words: ``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(names: list[str]) -> str:
    """Names in words, each once: ``a twice and b``."""
    times = {name: names.count(name) for name in names}
    words = {1: "", 2: " twice"}
    return joined([name + words.get(n, f" {n} times") for name, n in times.items()])


def called(tensor: Any, name_of: NameOf) -> str:
    """A tensor in a sentence: by its name, else by its shape."""
    name = name_of(tensor)
    if name is not None:
        return name
    if tensor.ndim == 0:
        return f"a tensor of value {brief(tensor)}"
    return f"a tensor of shape {tuple(tensor.shape)}"


def inputs_told(inputs: tuple[Any, ...], name_of: NameOf) -> list[str]:
    """What is said of each argument of apply."""
    seen = []
    for value in inputs:
        if not is_tensor(value):
            seen.append(f"{short_repr(value)} is not a tensor")
        elif value.requires_grad:
            seen.append(f"{called(value, name_of)} requires grad")
        else:
            seen.append(f"{called(value, name_of)} requires none")
    return seen


def collected(seen: list[str], recording: bool) -> str:
    """Apply, phase 1."""
    end = "So this call will be recorded." if recording else "Nothing will be recorded."
    return f"apply collects the inputs: {joined(seen) or 'there are none'}. {end}"


def ctx_created(name: str) -> str:
    """Apply, phase 2."""
    return f"apply creates ctx: a new {name}, made for this one call."


def forward_runs(function: str) -> str:
    """Apply, phase 3."""
    return f"apply runs {function}.forward, with recording switched off."


def saved(to_save: tuple[Any, ...], kept: list[str], name_of: NameOf) -> str:
    """Apply, phase 4; ``kept`` are the attributes of ctx."""
    attributes = [f"ctx.{name}" for name in kept]
    tensors = [
        called(value, name_of) if is_tensor(value) else short_repr(value)
        for value in to_save
    ]
    start = f"apply takes what forward saved: {joined(tensors) or 'nothing'}."
    return f"{start} Also kept: {joined(attributes)}." if attributes else start


def wrapped(outputs: tuple[Any, ...], recording: bool) -> str:
    """Apply, phase 5."""
    shapes = [
        f"a tensor of shape {tuple(value.shape)}"
        if is_tensor(value)
        else short_repr(value)
        for value in outputs
    ]
    start = "The output is" if len(outputs) == 1 else "The outputs are"
    end = "" if recording else " It requires no grad."
    return f"{start} {joined(shapes)}.{end}"


def wired(name: str, receivers: list[str]) -> str:
    """Apply, phase 6, of a call that is recorded."""
    leads = f" Gradients will go on to {counted(receivers)}." if receivers else ""
    return f"ctx becomes the output's grad_fn: {name} joins the graph.{leads}"


def not_wired() -> str:
    """Apply, phase 6, of a call that is not recorded."""
    return "Nothing asks for a gradient: the output gets no grad_fn, and ctx is let go."


def built_in(name: str, receivers: list[str]) -> str:
    """A built-in operation that was recorded."""
    leads = f", and leads to {counted(receivers)}" if receivers else ""
    return f"{name} joins the graph{leads}."


def kept(size: int) -> str:
    """What a node that has joined keeps in memory."""
    return f" It keeps {bytes_text(size)} for backward." if size else ""


def bytes_text(size: int) -> str:
    """A number of bytes, short."""
    if size < 10_000:
        return count_of(size, "byte")
    if size < 10_000_000:
        return f"{size / 1000:.4g} kB"
    return f"{size / 1_000_000:.4g} MB"


def gone(items: list[dict[str, Any]]) -> str:
    """Owners of memory are gone; ``items`` is what they held."""
    owners = list(dict.fromkeys([(item["owner"], item["of"]) for item in items]))
    size = sum({item["buf"]: item["bytes"] for item in items}.values())
    are, them = ("is", "it") if len(owners) == 1 else ("are", "them")
    return (
        f"{joined([label for _, label in owners])} {are} gone: nobody refers to "
        f"{them} any more. Let go: {bytes_text(size)}."
    )


def older_node(name: str) -> str:
    """A node that was there before the recording."""
    return f"{name} was in the graph already."


def leaf_node(tensor: str) -> str:
    """The node of a leaf."""
    return f"AccumulateGrad stands for the leaf {tensor}: its gradient ends there."


MOST_AWAITING = 3
"""Of more nodes than these, the start of backward says only how many they are."""


def backward_begins(
    names: list[str],
    gradients: list[Any],
    create_graph: bool,
    awaiting: list[tuple[str, int]],
) -> str:
    """The start of backward; ``awaiting`` are the nodes where several have to come."""
    first = joined(
        [f"{brief(g)} at {n}" for n, g in zip(names, gradients, strict=True)]
    )
    end = " What it computes is recorded, too." if create_graph else ""
    if awaiting:
        end = f" {awaited(awaiting)}.{end}"
    return f"backward begins with the gradient {first}.{end}"


def awaited(awaiting: list[tuple[str, int]]) -> str:
    """Who waits for how many gradients."""
    if len(awaiting) > MOST_AWAITING:
        return f"At {len(awaiting)} nodes more than one gradient has to come"
    (first, number), *others = awaiting
    parts = [f"{first} waits for {number} gradients"]
    return joined(parts + [f"{name} for {number}" for name, number in others])


def picked(name: str, gradients: list[Any]) -> str:
    """Backward, phase 1."""
    arrived = joined([brief(gradient) for gradient in gradients])
    if len(gradients) == 1:
        return f"{name} is the newest ready node. What waits there: {arrived}."
    return (
        f"{name} is the newest ready node. One gradient waits for each of its "
        f"{len(gradients)} outputs: {arrived}."
    )


def rule_called(function: str) -> str:
    """Backward, phase 2."""
    return (
        f"{function}.backward is called with the ctx of forward and what waited at its "
        "node."
    )


def returned(function: str, gradients: list[Any]) -> str:
    """Backward, phase 3."""
    values = joined([brief(gradient) for gradient in gradients])
    many = count_of(len(gradients), "argument")
    return (
        f"{function}.backward returned {values}: one for each of the {many} of forward."
        if len(gradients) != 1
        else f"{function}.backward returned {values}, for the one argument of forward."
    )


def aside(value: Any) -> str:
    """A value behind the noun it belongs to: a number, or an array between commas."""
    text = brief(value)
    return f", {text}," if text.startswith("an array") else f" {text}"


def sent(receiver: str, gradient: Any, total: Any, left: int | None) -> str:
    """Backward, phase 4; ``total`` is a sum with what waited there, or None.

    ``left``: how many more have to come there, None where only one does.
    """
    more = f" It waits for {left} more." if left else " Nothing more has to come."
    end = "." if left is None else f".{more}"
    if gradient is None:
        return f"No gradient goes to {receiver}{end}"
    if total is None:
        return f"The gradient{aside(gradient)} goes to {receiver}{end}"
    return (
        f"The gradient{aside(gradient)} goes to {receiver} and is added to what "
        f"waits there: now {brief(total)}{end}"
    )


def accumulated(tensor: str, gradient: Any, new: Any, first: bool) -> str:
    """A leaf got its gradient."""
    if first:
        return f"{tensor}.grad was empty. Now it is {brief(new)}."
    return f"{brief(gradient)} is added to {tensor}.grad, which is now {brief(new)}."


def released(name: str, count: int, size: int) -> str:
    """Backward, phase 5."""
    if count == 0:
        return f"{name} is done. It had saved nothing, so there is nothing to release."
    text = f"{name} is done and lets go of its {count_of(count, 'saved tensor')}"
    return f"{text}, {bytes_text(size)}." if size else f"{text}."


def traversal_leaves(name: str) -> str:
    """The end of a node's turn."""
    return f"The traversal leaves {name}."


def cut(left_out: int, kinds: Mapping[str, int], before: int, after: int) -> str:
    """The middle of a recording that was full."""
    lines = sum([kinds.get(kind, 0) for kind in ("call", "line", "return")])
    among = [
        count_of(count, what)
        for count, what in (
            (lines, "line"),
            (kinds.get("graph.node", 0), "new node"),
            (kinds.get("backward.begin", 0), "backward"),
        )
        if count
    ]
    what = f" ({joined(among)} among them)" if among else ""
    return (
        f"The recording is full: {count_of(left_out, 'step')}{what} are left out here, "
        f"between the first {before:,} and the last {after:,}. To see them, record a "
        "smaller part, or with lines=False."
    )


def backward_ends(is_inside: bool) -> str:
    """The end of backward; ``is_inside``: of one that another one called."""
    if is_inside:
        return (
            "No node is ready any more: this backward is finished, and the one around "
            "it goes on."
        )
    return "No node is ready any more: backward is finished."


def line_next(title: str, number: int, text: str) -> str:
    """A line is about to run."""
    return f"{title}, line {number} comes next" + (f": {text}" if text else ".")


def entered(title: str) -> str:
    """A function is called."""
    return f"{title} is called."


def left(title: str, value: Any, items: list[Any] | None) -> str:
    """A function returns; ``items`` are those of a short tuple."""
    if items is not None:
        values = joined([brief(item) for item in items])
        return f"{title} returns {len(items)} values: {values}."
    return f"{title} returns {brief(value)}."


def failed(title: str, number: int, error: BaseException) -> str:
    """A line raised."""
    first = error_text(error).split("\n", 1)[0]
    return f"{title}, line {number} stops with {first}"
