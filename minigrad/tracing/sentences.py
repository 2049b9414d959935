"""One sentence for each step: what is shown, read out, and kept as text.

What they say stands in the table of messages; here they are given what they speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.foreign import is_tensor
from minigrad.tracing.messages import in_turn, joined, message, word
from minigrad.tracing.values import brief, safely, short_repr

NameOf = Callable[[Any], str | None]


def seen(tensor: Any, name_of: NameOf) -> str | tuple[int, ...]:
    """A tensor by its name, else its shape; or how it is written."""
    if not is_tensor(tensor):
        return short_repr(tensor)
    if name := name_of(tensor):
        return name
    if tensor.ndim == 0:
        return message("tensor.of-value", value=brief(tensor))
    return tuple(tensor.shape)


def called(tensor: str | tuple[int, ...]) -> str:
    """A tensor that was seen in a sentence."""
    if isinstance(tensor, str):
        return tensor
    return message("tensor.of-shape", shape=tensor)


def saved(to_save: list[Any], also: list[str], size: int) -> str:
    """Apply, phase 6: ``also`` are the attributes of ctx; all takes ``size`` bytes."""
    tensors = joined([*map(called, to_save)])
    attributes = joined([f"ctx.{name}" for name in also])
    return in_turn(
        message("saved.taken" if tensors else "saved.nothing", tensors=tensors),
        message("saved.also", attributes=attributes) if attributes else "",
        message("node.keeps", bytes=bytes_text(size)) if size else "",
    )


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


def cut(left_out: int, lines: int, before: int, after: int) -> str:
    """The middle of a recording that was full; ``lines`` of it are lines."""
    # A large number is easier to read in groups.
    count = left_out if left_out < 1000 else f"{left_out:,}"
    return message(
        "cut",
        steps=message("steps", count=count),
        advice=message("cut.advice.lines" if lines else "cut.advice"),
        before=f"{before:,}",
        after=f"{after:,}",
    )


def line_next(event: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]) -> str:
    """A line is about to run; not every line that does is shown."""
    source, line = sources[event["s"]], event["l"]
    shown = source["tokens"][line : line + 1]
    text = "".join([part for tokens in shown for _, part in tokens]).strip()
    key, number = "line.next.text" if text else "line.next", source["first"] + line
    return message(key, function=word(source["name"]), number=number, text=text)


def name_of_hook(hook: Any) -> str:
    """A hook by the name it was defined with."""
    name = safely(lambda: str(getattr(hook, "__name__", "")), "")
    return name or f"<{type(hook).__name__}>"


def sized(text: str, value: Any) -> str:
    """What is kept, with its bytes where they are known."""
    array = value.array if isinstance(value, Tensor) else value
    size = getattr(array, "nbytes", None)
    if not isinstance(size, int):
        return text
    return message("tensor.sized", tensor=text, bytes=bytes_text(size))


def packed(hook: Any, name: str, tensor: Tensor, kept: Any) -> str:
    """A pack hook was called."""
    given, value = sized(name, tensor), sized(brief(kept), kept)
    called = name_of_hook(hook)
    return message("hook.packed", hook=called, tensor=given, value=value)


def tangent(
    name: str | None, maker: str | None, tensor: Tensor, tangent: Tensor
) -> str:
    """A tensor got a tangent."""
    told = brief(tangent)
    if name is None and maker:
        return message("tangent.given.maker", maker=maker, tangent=told)
    key = "tangent.given" if name else "tangent.given.value"
    return message(key, tensor=name or brief(tensor), tangent=told)
