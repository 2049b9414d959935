"""Look over an answer's shoulder: a subclass that hands on every call unchanged."""

from __future__ import annotations

import contextlib
import inspect
import linecache
import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

import minigrad
from minigrad import errors
from minigrad.course.check.engines import MINIGRAD, Engine, engine_of
from minigrad.course.check.facts import Array, Crash, Returned
from minigrad.course.check.limits import Deadline, OutOfTimeError, as_imported

Kept = dict[str, list[object]]

TOO_DEEP = "maximum recursion depth exceeded"
"""Python says more, such as "in comparison", by chance: by where the calls ended."""

_OURS = tuple(str(Path(f).parent) + os.sep for f in (minigrad.__file__, os.__file__))
"""Where this package is, and Python's own modules."""


class Watch:
    """Runs an answer and notes what it calls, so that nothing of it is patched.

    ``raw`` is what backward returned last, ``returned`` a copy of it from that moment,
    ``finished`` whether it came to its end, ``received`` what it was given.
    """

    def __init__(
        self,
        answer: type[Any],
        deadline: Deadline,
        before_forward: Callable[[], None] | None = None,
    ) -> None:
        self.answer = answer
        self.before_forward = before_forward or (lambda: None)
        self.engine: Engine = engine_of(answer) or MINIGRAD
        self.deadline = deadline
        self.phase = ""
        self.function = self._subclass()
        self.reset()

    def reset(self) -> None:
        """Forget what was seen before the next forward or backward."""
        self.raw: object = None
        self.returned: tuple[Returned, ...] = (Returned("NoneType", None),)
        self.finished = False
        self.received: tuple[str, ...] = ()
        self.upstream_changed = False
        self.save_calls = 0
        self.given: tuple[object, ...] = ()
        self.for_forward: tuple[object, ...] = ()
        self.at_call: tuple[Array | None, ...] = ()
        self.materialize_grads = True
        self.dirty: tuple[object, ...] = ()
        self.marked: tuple[object, ...] = ()

    @contextlib.contextmanager
    def phase_of(self, phase: str, crashes: list[Crash]) -> Iterator[None]:
        """Run code of the answer; what it raises is noted in ``crashes``.

        Except KeyboardInterrupt (the learner's own wish to stop) and the deadline.
        """
        self.phase = phase
        try:
            with self.deadline.watching():
                yield
        except (KeyboardInterrupt, OutOfTimeError):
            raise
        except BaseException as error:
            crashes.append(crash_of(phase, error))
        finally:
            as_imported.restore()

    def class_state(self) -> dict[str, object]:
        """Everything stored on the class, and on the class of its ctx."""
        nodes: dict[str, object] = dict(vars(self.function._backward_cls))
        own = dict(vars(self.answer._backward_cls)) | dict(vars(self.answer))
        return {f"ctx class.{name}": value for name, value in nodes.items()} | own

    def contents_of_class(self) -> dict[str, object]:
        """The same for comparison: of a list, dict or set what it holds."""
        return {name: held(value) for name, value in self.class_state().items()}

    def kept_elsewhere(self) -> tuple[Kept, Kept]:
        """Tensors and arrays kept on the class, and in variables its code shares."""
        name = self.answer.__name__
        on_class = {
            f"{name}.{key.removeprefix('ctx class.')}": _arrays_in(self.engine, value)
            for key, value in self.class_state().items()
        }
        shared: Kept = {}
        for value in vars(self.answer).values():
            function = inspect.unwrap(getattr(value, "__func__", value))
            if inspect.isfunction(function):
                try:
                    variables = inspect.getclosurevars(function)
                except ValueError:  # a variable of an outer function, not set yet
                    continue
                for key, item in {**variables.globals, **variables.nonlocals}.items():
                    shared[key] = _arrays_in(self.engine, item)
                for key, item in vars(function).items():
                    shared[f"{function.__name__}.{key}"] = _arrays_in(self.engine, item)
        return on_class, shared

    def _subclass(self) -> type[Any]:
        answer = self.answer
        methods = [
            m
            for m in ("backward", "vjp")
            if getattr(answer, m) is not getattr(self.engine.function, m)
        ]
        namespace: dict[str, Any] = {"__module__": answer.__module__}
        if len(methods) == 1:
            namespace[methods[0]] = staticmethod(
                self._seen(getattr(answer, methods[0]))
            )
        function: Any = type(answer.__name__, (answer,), namespace)
        node = answer._backward_cls
        # A ctx is an instance of the answer's own ctx class, as the answer may ask.
        body = {
            "__module__": node.__module__,
            "_forward_cls": function,
            "save_for_backward": self._save_for_backward,
            "save_for_forward": self._save_for_forward,
            "mark_dirty": self._mark_dirty,
            "mark_non_differentiable": self._mark_non_differentiable,
            "set_materialize_grads": self._set_materialize_grads,
        }
        for name in tuple(body)[2:]:
            body[name] = _handed_on(body[name], getattr(node, name))
        function._backward_cls = type(node.__name__, (node,), body)
        return cast(type[Any], function)

    def copy_of(self, value: object) -> Array | None:
        """The numbers of a tensor, array or number, as they are now; else None."""
        if self.engine.is_tensor(value):
            return self.engine.memory(value).copy()
        if isinstance(value, np.ndarray | np.generic | int | float):
            return np.array(value)
        return None

    def _as_returned(self, value: object) -> Returned:
        return Returned(self.engine.kind_of(value), self.copy_of(value))

    def _save_for_backward(self, *tensors: Any) -> None:
        self.save_calls += 1
        self.given = tensors
        self.at_call = tuple(self.copy_of(t) for t in tensors)

    def _save_for_forward(self, *tensors: Any) -> None:
        self.for_forward = tensors

    def _mark_dirty(self, *tensors: Any) -> None:
        self.dirty = tensors

    def _mark_non_differentiable(self, *tensors: Any) -> None:
        self.marked = tensors

    def _set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value

    def _seen(self, own: Callable[..., Any]) -> Callable[..., Any]:
        def backward(ctx: Any, *upstreams: Any) -> Any:
            before = [self.copy_of(g) for g in upstreams]
            self.received = tuple(type(g).__name__ for g in upstreams)
            try:
                self.raw = own(ctx, *upstreams)
                self.returned = tuple(map(self._as_returned, listed(self.raw)))
                self.finished = True
            finally:
                as_imported.restore()
                self.upstream_changed = not same(
                    before, [self.copy_of(g) for g in upstreams]
                )
            return self.raw

        # The marks of a decorator such as once_differentiable.
        backward.__dict__.update(vars(own))
        return backward


def _handed_on(
    note: Callable[..., None], own: Callable[..., Any]
) -> Callable[..., Any]:
    def method(ctx: Any, *arguments: Any) -> Any:
        note(*arguments)
        return own(ctx, *arguments)

    return method


def listed(value: object) -> list[object]:
    """What backward returned, as a list whatever it was."""
    return list(value) if isinstance(value, tuple | list) else [value]


def held(value: object) -> object:
    """A value by itself, a container by what is in it now."""
    if isinstance(value, dict):
        return [*map(id, value), *map(id, value.values())]
    return [*map(id, value)] if isinstance(value, (list, set)) else id(value)


def grown(before: Kept, after: Kept) -> tuple[str, ...]:
    """The names that hold an array which they did not hold before."""
    old = {id(a) for arrays in before.values() for a in arrays}
    return tuple(
        sorted(
            name
            for name, arrays in after.items()
            if any(id(a) not in old for a in arrays)
        )
    )


def same(a: list[Array | None], b: list[Array | None]) -> bool:
    """Whether two lists hold the same numbers, NaN being like itself."""
    return len(a) == len(b) and all(
        (x is None and y is None) or (x is not None and y is not None and equal(x, y))
        for x, y in zip(a, b, strict=True)
    )


def equal(a: Array, b: Array) -> bool:
    """Whether two arrays hold the same numbers, NaN being like itself."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    # The same bytes are the usual case, and quick to see; there are two zeros.
    return a.tobytes() == b.tobytes() or np.array_equal(
        a, b, equal_nan=a.dtype.kind in "fc"
    )


def _arrays_in(engine: Engine, value: object, depth: int = 3) -> list[object]:
    """The tensors and arrays that ``value`` is, or holds in containers."""
    if isinstance(value, np.ndarray) or engine.is_tensor(value):
        return [value]
    if isinstance(value, Mapping):
        items = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        items = list(value)
    else:
        return []
    return [a for i in items for a in _arrays_in(engine, i, depth - 1)] if depth else []


def crash_of(stage: str, error: BaseException) -> Crash:
    """Describe ``error`` by the last frame of it that is not ours."""
    # Only the last frames are looked at: a recursion has a thousand of them.
    frames = traceback.extract_tb(error.__traceback__, limit=-200)
    theirs = [
        f
        for f in frames
        if not f.filename.startswith(_OURS) and "site-packages" not in f.filename
    ]
    kinds = tuple(k.__name__ for k in type(error).__mro__)
    try:
        text = errors.in_words(str(error))
    except Exception:  # the text of an exception is code of the answer, too
        text = "(its text can't be read)"
    if text.startswith(TOO_DEEP):
        text = TOO_DEEP
    if not theirs:
        return Crash(stage, kinds, text, inside=False)
    last = theirs[-1]
    line = last.line or linecache.getline(last.filename, last.lineno or 0).strip()
    return Crash(stage, kinds, text, True, line, last.lineno or 0)
