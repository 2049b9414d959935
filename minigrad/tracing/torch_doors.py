"""The places where torch can be heard from Python, each held open for a while."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

MISSING: Final = object()
Heard = Callable[..., None]


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Put ``value`` in the place of an attribute, and take it away again."""
    before = vars(owner).get(name, MISSING)
    setattr(owner, name, value)
    try:
        yield
    finally:
        put_back(owner, name, value, before)


def put_back(owner: Any, name: str, value: Any, before: Any) -> None:
    """Undo that ``owner.name`` became ``value``, unless the program has changed it."""
    if vars(owner).get(name, MISSING) is not value:
        return
    if before is MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)


@contextlib.contextmanager
def next_call_heard(cls: Any, name: str, before: Heard, after: Heard) -> Iterator[None]:
    """Hear the next call of a class's static method in this thread.

    When the method itself begins, the class is as it was.
    """
    original = getattr(cls, name)
    own = vars(cls).get(name, MISSING)
    thread = threading.get_ident()

    @functools.wraps(original)
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return original(*args, **kwargs)
        put_back(cls, name, descriptor, own)
        before(*args)
        result = original(*args, **kwargs)
        after(*args)
        return result

    descriptor = staticmethod(stand_in)
    setattr(cls, name, descriptor)
    try:
        yield
    finally:
        put_back(cls, name, descriptor, own)


def put_first(handle: Any) -> None:
    """Let the hook of ``handle`` be called before those that were there."""
    hooks = handle.hooks_dict_ref()
    # torch goes by the order of insertion, whatever an OrderedDict is told.
    others = [(key, hook) for key, hook in hooks.items() if key != handle.id]
    for key, hook in others:
        del hooks[key]
        hooks[key] = hook


@functools.cache
def mode_class(torch: Any) -> Any:
    """A mode through which each call of torch from Python goes."""

    class HearsCalls(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, heard: Callable[..., Any]) -> None:
            super().__init__()
            self._heard = heard

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            call = functools.partial(func, *args, **(kwargs or {}))
            return self._heard(call, func, args)

    return HearsCalls


def tensors_in(torch: Any, result: Any) -> Iterator[Any]:
    """The tensors that a call returned, alone or in a tuple or list."""
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, (tuple, list)):
        for item in result:
            yield from tensors_in(torch, item)
