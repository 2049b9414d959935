"""One sentence for each step: what is shown, read out, and kept as text.

What they say stands in the table of messages; here they are given what they speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.calls import value_of
from minigrad.tracing.foreign import is_tensor
from minigrad.tracing.messages import in_turn, joined, message, word
from minigrad.tracing.pictures import is_told_by_shape
from minigrad.tracing.values import (
    Note,
    brief,
    error_text,
    short_repr,
    text_of_ref,
)

NameOf = Callable[[Any], str | None]
Met = str | tuple[int, ...]
"""The name or the shape of a tensor; of anything else how it is written."""


def counted(receivers: list[tuple[str, str]]) -> str:
    """Nodes in words, each name once: ``a twice and b``; nodes may share a name."""
    nodes: dict[str, list[str]] = {}
    for name, node in receivers:
        nodes.setdefault(name, []).append(node)
    return joined([times(name, which) for name, which in nodes.items()])


def times(name: str, nodes: list[str]) -> str:
    """A name, and how often its node is there, or how many nodes have it."""
    count, different = len(nodes), len(set(nodes))
    if count == 1:
        return name
    if different > 1:
        return message("times.nodes", name=name, count=different)
    return message("times.2" if count == 2 else "times", name=name, count=count)


def called(tensor: Any, name_of: NameOf) -> str:
    """A tensor in a sentence: by its name, else by its shape."""
    return told(met(tensor, name_of))


def met(value: Any, name_of: NameOf) -> Met:
    """What is noted of an argument, an output or a saved value, to be told later."""
    if not is_tensor(value):
        return short_repr(value)
    name = name_of(value)
    if name is not None:
        return name
    shape = shape_of(value)
    return shape or message("tensor.of-value", value=brief(value))


def shape_of(value: Any) -> Any:
    """The shape of a tensor of either engine; of anything else what it looks like."""
    if isinstance(value, Tensor):
        return value.array.shape
    return tuple(value.shape) if is_tensor(value) else short_repr(value)


def told(seen: Met) -> str:
    """A value that was met: by its name, else by its shape."""
    return seen if isinstance(seen, str) else message("tensor.of-shape", shape=seen)


def collected(given: list[Any], recording: bool) -> str:
    """Apply, phase 1: ``given`` are the arguments, as a call notes them."""
    seen = []
    for one in map(value_of, given):
        if "text" in one:
            seen.append(message("input.plain", value=one["text"]))
            continue
        key = "input.needs" if one["needs"] else "input.needs-not"
        tensor = one["name"] or told_by_value(one["v"])
        seen.append(message(key, tensor=tensor))
    return in_turn(
        message("inputs.collected" if seen else "inputs.none", inputs=joined(seen)),
        message("call.recorded" if recording else "call.unrecorded"),
    )


def told_by_value(note: Note) -> str:
    """A tensor without a name."""
    shape = note.shape
    if shape:
        return message("tensor.of-shape", shape=shape)
    return message("tensor.of-value", value=note.text)


def ctx_created(name: str) -> str:
    """Apply, phase 2."""
    return message("ctx.created", node=name)


def forward_runs(function: str) -> str:
    """Apply, phase 3."""
    return message("forward.runs", function=function)


def put(by: str, to_save: list[Met]) -> str:
    """The rule ``by`` calls ``save_for_backward``."""
    tensors = joined([told(one) for one in to_save])
    key = "saved.put" if to_save else "saved.put.none"
    return message(key, by=by, tensors=tensors)


def saved(to_save: list[Met], also: list[str], size: int) -> str:
    """Apply, phase 6: ``also`` are the attributes of ctx; all takes ``size`` bytes."""
    tensors = joined([told(one) for one in to_save])
    attributes = joined([f"ctx.{name}" for name in also])
    return in_turn(
        message("saved.taken" if tensors else "saved.nothing", tensors=tensors),
        message("saved.also", attributes=attributes) if attributes else "",
        kept(size),
    )


def wrapped(outputs: list[Met], recording: bool, plain: list[int]) -> str:
    """Apply, phase 4; through the outputs ``plain`` no gradient comes back.

    Of each output its shape, or what else it is.
    """
    shapes = [told(one) for one in outputs]
    slots = joined([str(slot) for slot in plain])
    return in_turn(
        message("outputs.are", count=len(outputs), outputs=joined(shapes)),
        "" if recording else message("outputs.need-not"),
        message("outputs.no-wire", count=len(plain), slots=slots) if plain else "",
    )


def wired(name: str, receivers: list[tuple[str, str]]) -> str:
    """Apply, phase 5, of a call that is recorded."""
    leads = message("ctx.leads", receivers=counted(receivers)) if receivers else ""
    return in_turn(message("ctx.wired", node=name), leads)


def built_in(name: str, receivers: list[tuple[str, str]]) -> str:
    """A built-in operation that was recorded."""
    key = "node.joins.leads" if receivers else "node.joins"
    return message(key, node=name, receivers=counted(receivers))


def kept(size: int) -> str:
    """What a node that has joined keeps in memory."""
    return message("node.keeps", bytes=bytes_text(size)) if size else ""


def bytes_text(size: int) -> str:
    """A number of bytes, short."""
    if size < 10_000:
        return message("bytes.few", count=size)
    if size < 10_000_000:
        return message("bytes.kilo", count=f"{size / 1000:.4g}")
    return message("bytes.mega", count=f"{size / 1_000_000:.4g}")


def gone(items: list[dict[str, Any]]) -> str:
    """Owners of memory are gone; ``items`` is what they held."""
    owners = list(dict.fromkeys([(item["owner"], item["of"]) for item in items]))
    size = sum({item["buf"]: item["bytes"] for item in items}.values())
    labels = joined([label for _, label in owners])
    fields = {"owners": labels, "bytes": bytes_text(size)}
    return message("owners.gone", count=len(owners), **fields)


def older_node(name: str, size: int) -> str:
    """A node that was there before the recording, and what it keeps."""
    return in_turn(message("node.older", node=name), kept(size))


def leaf_node(tensor: str | None) -> str:
    """The node of a leaf."""
    return message("node.leaf" if tensor else "node.leaf.unnamed", tensor=tensor)


MOST_AWAITING = 3
"""Of more nodes than these, the start of backward says only how many they are."""


def backward_begins(
    names: list[str],
    gradients: list[Any],
    create_graph: bool,
    awaiting: list[tuple[str, int]],
) -> str:
    """The start of backward; ``awaiting`` are the nodes where several have to come."""
    roots = [
        message("backward.root", gradient=text_of_ref(gradient), node=name)
        for name, gradient in zip(names, gradients, strict=True)
    ]
    return in_turn(
        message("backward.begins", gradients=joined(roots)),
        awaited(awaiting) if awaiting else "",
        message("backward.recorded") if create_graph else "",
    )


def awaited(awaiting: list[tuple[str, int]]) -> str:
    """Who waits for how many gradients."""
    if len(awaiting) > MOST_AWAITING:
        return message("backward.awaits.many", count=len(awaiting))
    keys = ["backward.awaits.first", *["backward.awaits.next"] * (len(awaiting) - 1)]
    parts = [
        message(key, node=name, count=count)
        for key, (name, count) in zip(keys, awaiting, strict=True)
    ]
    return message("backward.awaits", nodes=joined(parts))


def picked(name: str, gradients: list[Any], is_leaf: bool) -> str:
    """Backward, phase 1: a leaf goes first, else the newest of the ready nodes."""
    arrived = joined([text_of_ref(gradient) for gradient in gradients])
    key = "node.picked.leaf" if is_leaf else "node.picked"
    return message(key, node=name, count=len(gradients), gradients=arrived)


def rule_called(rule: str) -> str:
    """Backward, phase 2."""
    return message("rule.called", rule=rule)


def returned(rule: str, gradients: list[Any]) -> str:
    """Backward, phase 3."""
    values = joined([text_of_ref(gradient) for gradient in gradients])
    many = len(gradients)
    return message("rule.returned", rule=rule, count=many, gradients=values)


def sent(receiver: str, gradient: Any, total: Any, left: int | None) -> str:
    """Backward, phase 4; ``total`` is a sum with what waited there, or None.

    ``left``: how many more have to come there, None where only one does.
    """
    given = text_of_ref(gradient)
    key = "sent" if total is None else "sent.added"
    if gradient is None:
        key = "sent.none"
    elif is_told_by_shape(given):
        key = f"{key}.array"
    fields = {"gradient": given, "receiver": receiver, "total": text_of_ref(total)}
    end = message("sent.left", count=left) if left else message("sent.all-there")
    return in_turn(message(key, **fields), "" if left is None else end)


def accumulated(tensor: str, gradient: Any, new: Any, first: bool) -> str:
    """A leaf got its gradient."""
    key = "accumulated.first" if first else "accumulated"
    return message(
        key, tensor=tensor, gradient=text_of_ref(gradient), value=text_of_ref(new)
    )


def released(name: str, count: int, size: int) -> str:
    """Backward, phase 5."""
    key = "node.done.bytes" if size else "node.done"
    if count == 0:
        key = "node.done.nothing"
    return message(key, node=name, count=count, bytes=bytes_text(size))


def traversal_leaves(name: str) -> str:
    """The end of a node's turn."""
    return message("node.left", node=name)


def many(key: str, count: int) -> str:
    """How many there are of something: a large number is easier to read in groups."""
    return message(key, count=count if count < 1000 else f"{count:,}")


def cut(left_out: int, kinds: Mapping[str, int], before: int, after: int) -> str:
    """The middle of a recording that was full."""
    lines = sum([kinds.get(kind, 0) for kind in ("call", "line", "return")])
    counts = {
        "lines": lines,
        "new-nodes": kinds.get("graph.node", 0),
        "backwards": kinds.get("backward.begin", 0),
    }
    told = joined([many(key, count) for key, count in counts.items() if count])
    return message(
        "cut.among" if told else "cut",
        steps=many("steps", left_out),
        among=told,
        advice=message("cut.advice.lines" if lines else "cut.advice"),
        before=f"{before:,}",
        after=f"{after:,}",
    )


def line_next(title: str, number: int, text: str) -> str:
    """A line is about to run."""
    key = "line.next.text" if text else "line.next"
    return message(key, function=word(title), number=number, text=text)


def entered(title: str) -> str:
    """A function is called."""
    return message("function.called", function=word(title))


def compiled(name: str) -> str:
    """A kernel is called that Numba has compiled."""
    return message("function.compiled", function=name)


def left(title: str, value: Any, items: list[Any] | None) -> str:
    """A function returns; ``items`` are those of a short tuple."""
    if items is None:
        return message(
            "function.returns", function=word(title), value=text_of_ref(value)
        )
    values = joined([text_of_ref(item) for item in items])
    fields = {"function": word(title), "values": values}
    return message("function.returns.several", count=len(items), **fields)


def failed(title: str, number: int, error: BaseException) -> str:
    """A line raised."""
    first = error_text(error).split("\n", 1)[0]
    return message("line.failed", function=word(title), number=number, error=first)
