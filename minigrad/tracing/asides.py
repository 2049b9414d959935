"""The sentences of what happens beside apply and backward."""

from __future__ import annotations

from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.messages import message
from minigrad.tracing.sentences import bytes_text
from minigrad.tracing.values import brief, safely


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


def unpacked(hook: Any, owner: str, kept: Any, tensor: Any) -> str:
    """An unpack hook was called."""
    fields = {"value": brief(kept), "tensor": brief(tensor)}
    called = name_of_hook(hook)
    return message("hook.unpacked", owner=owner, hook=called, **fields)


def tangent(
    name: str | None, maker: str | None, tensor: Tensor, tangent: Tensor
) -> str:
    """A tensor got a tangent."""
    told = brief(tangent)
    if name is None and maker:
        return message("tangent.given.maker", maker=maker, tangent=told)
    key = "tangent.given" if name else "tangent.given.value"
    return message(key, tensor=name or brief(tensor), tangent=told)
