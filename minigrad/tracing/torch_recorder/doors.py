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
        # The program may have put something else there.
        if vars(owner).get(name, MISSING) is value:
            if before is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def heard(original: Callable[..., Any], hear: Callable[..., Any]) -> Any:
    """``original``, called by ``hear``, which is given the call and its arguments."""

    @functools.wraps(original, updated=())
    def heard(*args: Any, **kwargs: Any) -> Any:
        return hear(functools.partial(original, *args, **kwargs), *args)

    return heard


def next_call_heard(
    cls: Any, name: str, before: Heard, after: Heard
) -> contextlib.ExitStack:
    """Hear the next call of a class's static method in this thread.

    When the method itself begins, the class is as it was.
    """
    thread = threading.get_ident()
    door = contextlib.ExitStack()

    def hear(run: Callable[[], Any], *args: Any) -> Any:
        if threading.get_ident() != thread:
            return run()
        door.close()
        before(*args)
        result = run()
        after(*args)
        return result

    stand_in = staticmethod(heard(getattr(cls, name), hear))
    door.enter_context(replaced(cls, name, stand_in))
    return door


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
