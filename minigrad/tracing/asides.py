"""The sentences of what happens beside apply and backward."""

from __future__ import annotations

from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.messages import in_turn, joined, message
from minigrad.tracing.sentences import bytes_text
from minigrad.tracing.values import brief, safely

MOST_SAVERS = 4
"""Of more nodes than these a sentence gives the number alone."""


def name_of_hook(hook: Any) -> str:
    """A hook by the name it was defined with."""
    name = safely(lambda: str(getattr(hook, "__name__", "")), "")
    return name or f"<{type(hook).__name__}>"


def in_words(value: Any) -> str:
    """A gradient, or several."""
    if isinstance(value, tuple):
        return joined([brief(item) for item in value])
    return brief(value)


def hook(kind: str, name: str, owner: str, given: Any, result: Any) -> str:
    """A hook was called: what went in, and what came out."""
    is_last = kind == "accumulated"
    seen = in_words(given.grad if is_last else given)
    start = message(f"hook.at.{kind}", hook=name, owner=owner, given=seen)
    if is_last:
        return start
    if result is None:
        return in_turn(start, message("hook.returned-none"))
    return in_turn(start, message("hook.returned", value=in_words(result)))


def output_of(node: str, slot: int, outputs: int) -> str:
    """A node's output, by number where it has several."""
    key = "node.output" if outputs > 1 else "node.only-output"
    return message(key, node=node, slot=slot)


def sized(text: str, value: Any) -> str:
    """What is kept, with its bytes where they are known."""
    array = value.array if isinstance(value, Tensor) else value
    size = getattr(array, "nbytes", None)
    if not isinstance(size, int):
        return text
    return message("tensor.sized", tensor=text, bytes=bytes_text(size))


def packed(hook: str, name: str, tensor: Tensor, kept: Any) -> str:
    """A pack hook was called."""
    given, value = sized(name, tensor), sized(brief(kept), kept)
    return message("hook.packed", hook=hook, tensor=given, value=value)


def unpacked(hook: str, owner: str, kept: Any, tensor: Any) -> str:
    """An unpack hook was called."""
    fields = {"value": brief(kept), "tensor": brief(tensor)}
    return message("hook.unpacked", owner=owner, hook=hook, **fields)


def forgotten(name: str) -> str:
    """A checkpoint keeps nothing."""
    return message("checkpoint.forgets", tensor=name)


def remembered(owner: str, tensor: Any) -> str:
    """A checkpoint has recomputed what was asked for."""
    return message("checkpoint.remembers", owner=owner, tensor=brief(tensor))


def rerun_begins() -> str:
    """A checkpointed part starts once more."""
    return message("checkpoint.reruns")


def rerun_ends() -> str:
    """A checkpointed part has run once more."""
    return message("checkpoint.is-back")


def changed_in_place(
    name: str,
    now: int,
    tensor: Any,
    savers: list[tuple[str, int]],
    is_marked: bool,
) -> str:
    """A version went up; ``savers`` had saved what it was, at which version."""
    fields = {"before": now - 1, "now": now, "value": brief(tensor)}
    versions: dict[int, list[str]] = {}
    for saver, version in savers:
        versions.setdefault(version, []).append(saver)
    parts = [
        message("in-place.saver", nodes=several(names), version=version)
        for version, names in versions.items()
    ]
    return in_turn(
        message("in-place.marked" if is_marked else "in-place", tensor=name, **fields),
        message("in-place.savers", savers=joined(parts)) if parts else "",
    )


def several(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = len(names) - MOST_SAVERS
    if more <= 0:
        return joined(names)
    return joined([*names[:MOST_SAVERS], message("list.more", count=more)])


def handle_moved(name: str, old: str, new: str) -> str:
    """A variable has another grad_fn than before."""
    key = "handle.moved.same" if old == new else "handle.moved"
    return message(key, name=name, node=old)


def tangent(
    name: str | None, maker: str | None, tensor: Tensor, tangent: Tensor
) -> str:
    """A tensor got a tangent."""
    told = brief(tangent)
    if name is None and maker:
        return message("tangent.given.maker", maker=maker, tangent=told)
    key = "tangent.given" if name else "tangent.given.value"
    return message(key, tensor=name or brief(tensor), tangent=told)


def module(
    kind: str, name: str | None, nodes: list[str], size: int, result: Any
) -> str:
    """A layer has run."""
    fields = {"nodes": joined(nodes), "bytes": bytes_text(size)}
    key = "module.joined.keep" if size else "module.joined"
    return in_turn(
        message("module.run.named" if name else "module.run", name=name, kind=kind),
        message(key, count=len(nodes), **fields),
        message("module.output", value=brief(result)),
    )


def backward_failed() -> str:
    """A backward inside another one has raised, and the other one goes on."""
    return message("backward.failed.inside")


def advice(what: str) -> str:
    """Something that runs today and will be wrong one day."""
    return message("teaching", what=what.rstrip("."))


def captured(owner: str, gradient: Any) -> str:
    """A gradient that ``grad`` was asked for."""
    return message("captured", gradient=brief(gradient), owner=owner)


def unused(name: str, slot: int, shape: Any) -> str:
    """An output that nobody used; ``shape`` is that of the zeros, False without."""
    if shape is False:
        return message("unused.none", slot=slot, node=name)
    return message("unused.zeros", slot=slot, node=name, shape=tuple(shape))


def second_graph(order: int) -> str:
    """A node made by a backward that is itself recorded."""
    return message("node.second-graph", order=order)
