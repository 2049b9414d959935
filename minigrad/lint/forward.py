"""Teaching mode in forward: what it leaves behind, and the warnings themselves."""

from __future__ import annotations

import inspect
import linecache
import warnings
import weakref
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.mistakes import TABLE


class TeachingWarning(UserWarning):
    """A habit that will lead to a wrong gradient or to lost memory one day.

    ``id`` is that of the mistake in the table, or an empty string.
    """

    id = ""


class Snapshot:
    """The values and the version of a tensor at one moment."""

    __slots__ = ("tensor", "values", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.values = tensor.array.copy()
        self.version = tensor._seen_version()

    def was_changed(self) -> bool:
        """Whether somebody has written into the tensor since."""
        return (
            self.version != self.tensor._seen_version() or self.changed_elements() > 0
        )

    def changed_elements(self) -> int:
        """How many elements are not what they were; NaN is equal to itself."""
        now, then = self.tensor.array, self.values
        if now.shape != then.shape:
            return now.size
        return int(np.sum((now != then) & ~((now != now) & (then != then))))

    def in_numbers(self) -> str:
        """How much has changed, for a message."""
        return (
            f"{self.changed_elements()} of {self.tensor.array.size} elements changed; "
            f"version {self.version} before and {self.tensor._seen_version()} now"
        )


_inputs_before: weakref.WeakKeyDictionary[Any, list[tuple[int, Snapshot]]]
_inputs_before = weakref.WeakKeyDictionary()
_saved_then: weakref.WeakKeyDictionary[Any, list[tuple[int, Snapshot]]]
_saved_then = weakref.WeakKeyDictionary()


def before_call(ctx: Any, inputs: tuple[Any, ...]) -> None:
    """Remember the inputs as they are before forward."""
    _inputs_before[ctx] = snapshots(inputs)


def note_saved(ctx: Any, tensors: tuple[Any, ...]) -> None:
    """Remember the values as they are when forward saves them."""
    _saved_then[ctx] = snapshots(tensors)


def snapshots(values: Sequence[Any]) -> list[tuple[int, Snapshot]]:
    """The tensors among ``values``, each with its place."""
    return [
        (place, Snapshot(value))
        for place, value in enumerate(values)
        if memory(value) is not None
    ]


def memory(value: Any) -> Array | None:
    """The array of a tensor; None if it has none, as under vmap."""
    if not isinstance(value, Tensor):
        return None
    try:
        return value.array
    except errors.NoStorageError:
        return None


def look_at_call(
    function: type[Function], ctx: Any, inputs: tuple[Any, ...], result: Any
) -> None:
    """Warn about what forward left behind: on ctx, on the class, in its result."""
    results = result if isinstance(result, tuple) else (result,)
    look_at_attributes(function, ctx, inputs, results)
    look_at_class(function)
    look_at_result(function, ctx, results)
    look_at_changes(function, ctx)
    if ctx._edges and not is_once_differentiable(function):
        look_for_intermediates(function, ctx, inputs, results)


def look_at_attributes(
    function: type[Function],
    ctx: Any,
    inputs: tuple[Any, ...],
    results: tuple[Any, ...],
) -> None:
    """Warn about tensors on ctx, and arrays that share a tensor's memory."""
    where = f"{function.__name__}.forward"
    for attribute, kept in vars(ctx).items():
        for value in items_of(kept):
            if is_among(value, results):
                what = f"ctx.{attribute} is an output of this call"
                fix = f"use ctx.save_for_backward({attribute})"
                tell(function, "S07", attribute, where, what, fix, "03")
            elif isinstance(value, Tensor):
                verb = "is" if value is kept else "holds"
                what = f"ctx.{attribute} {verb} a Tensor kept as an attribute"
                fix = f"use ctx.save_for_backward({attribute})"
                tell(function, "S06", attribute, where, what, fix, "02")
            elif isinstance(value, np.ndarray):
                for owner in memory_of(value, function, inputs, results):
                    what = f"ctx.{attribute} is a ndarray on the memory of {owner}"
                    fix = "use ctx.save_for_backward with the tensor, or keep a copy"
                    tell(function, "S08", attribute, where, what, fix, "02")


def items_of(value: Any) -> Iterator[Any]:
    """The value, or what a list, tuple or dict holds."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple)):
        yield from value
    else:
        yield value


def memory_of(
    array: Array,
    function: type[Function],
    inputs: tuple[Any, ...],
    results: tuple[Any, ...],
) -> list[str]:
    """The first argument or output whose memory ``array`` uses, in words."""
    named = [(argument(function, i), value) for i, value in enumerate(inputs)]
    named += [(f"output {i}", value) for i, value in enumerate(results)]
    return [name for name, value in named if overlap(array, memory(value))][:1]


def look_at_class(function: type[Function]) -> None:
    """Warn about values on the class, and about rules that are not static."""
    name = function.__name__
    for attribute, value in vars(function).items():
        if isinstance(value, (Tensor, np.ndarray)):
            kind = type(value).__name__
            what = f"{name}.{attribute} is a {kind} on the class: all calls share it"
            fix = f"keep it on ctx, which each call has for itself: {attribute}"
            tell(function, "S04", attribute, name, what, fix, "01")
    plain = [
        method
        for method in ("forward", "setup_context", "backward", "vjp", "jvp", "vmap")
        if not isinstance(inspect.getattr_static(function, method, None), STATIC)
    ]
    if plain:
        what = f"without @staticmethod: {', '.join(plain)}"
        fix = "write @staticmethod above each `def`"
        tell(function, "A08", "", name, what, fix, "01")


STATIC: Final = (staticmethod, type(None))
"""What a rule may be: a static method, or not there at all."""


def look_at_result(
    function: type[Function], ctx: Any, results: tuple[Any, ...]
) -> None:
    """Warn about results that can carry no gradient."""
    no_tensor = any(ctx.needs_input_grad) and not any(
        [isinstance(value, Tensor) for value in results]
    )
    for value in results:
        numbers = isinstance(value, (list, np.ndarray, np.generic))
        if numbers or (no_tensor and not isinstance(value, Tensor)):
            kind = type(value).__name__
            where = f"{function.__name__}.forward"
            what = f"returned a {kind}, which can carry no gradient"
            fix = "return a Tensor, or a tuple of Tensors"
            tell(function, "A17", kind, where, what, fix, "07")


def look_at_changes(function: type[Function], ctx: Any) -> None:
    """Warn about inputs changed unmarked, and values changed after they were saved."""
    where = f"{function.__name__}.forward"
    dirty = [x for x in ctx.dirty_tensors or () if isinstance(x, Tensor)]
    for place, before in _inputs_before.pop(ctx, ()):
        if before.was_changed() and not shares_memory(before.tensor, dirty):
            name = argument(function, place)
            what = f"changed {name} in place: {before.in_numbers()}"
            fix = "work on a copy, or mark_dirty it and return that very tensor"
            tell(function, "M02", name, where, what, fix, "08")
    for place, then in _saved_then.pop(ctx, ()):
        if not then.was_changed():
            continue
        changed = then.in_numbers()
        if shares_memory(then.tensor, dirty):
            what = f"saved value #{place + 1} is marked dirty and changed after: "
            fix = (
                "keep the old value in a tensor of its own if backward needs it; only "
                "if it needs the new one, save after the change"
            )
            tell(function, "M04", str(place), where, what + changed, fix, "08")
        else:
            what = f"saved value #{place + 1} was changed after it was saved: {changed}"
            fix = "save what backward needs when it has its last value, or a copy"
            tell(function, "S03", str(place), where, what, fix, "03")


def look_for_intermediates(
    function: type[Function],
    ctx: Any,
    inputs: tuple[Any, ...],
    results: tuple[Any, ...],
) -> None:
    """Warn about saved tensors that a second derivative cannot see through."""
    for place, tensor in enumerate(ctx.to_save or ()):
        if not isinstance(tensor, Tensor) or tensor.dtype.kind not in "fc":
            continue
        if is_among(tensor, inputs) or is_among(tensor, results):
            continue
        what = (
            f"saved value #{place + 1}, of shape {tuple(tensor.shape)}, is neither an "
            "input nor an output"
        )
        fix = "save inputs and outputs, or mark backward @once_differentiable"
        where = f"{function.__name__}.forward"
        tell(function, "D01", str(place), where, what, fix, "10")


def look_at_packed(pack_hook: Any, tensor: Tensor, packed: Any) -> None:
    """Warn about a pack hook that keeps the memory it was given.

    What hooks have packed has no version to check.
    """
    array = packed if isinstance(packed, np.ndarray) else memory(packed)
    if overlap(array, memory(tensor)):
        tell(
            pack_hook,
            "",
            "",
            "saved_tensors_hooks",
            f"{getattr(pack_hook, '__name__', 'pack_hook')} keeps the memory of the "
            f"tensor it packs, of shape {tuple(tensor.shape)}. Hooks switch off the "
            "check of versions: a later change in place is not noticed, and gives a "
            "wrong gradient",
            "pack a copy, tensor.clone(), or use no hooks here",
            "12",
        )


def is_once_differentiable(function: type[Function]) -> bool:
    """Whether the rule refuses a second derivative itself."""
    rules = (function.backward, function.vjp)
    return any([getattr(rule, "is_once_differentiable", False) for rule in rules])


def is_among(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether this very tensor is among ``values``."""
    return isinstance(value, Tensor) and any([value is other for other in values])


def shares_memory(tensor: Tensor, others: list[Tensor]) -> bool:
    """Whether a change of one of ``others`` may be a change of ``tensor``."""
    return any([overlap(memory(tensor), memory(other)) for other in others])


def overlap(a: Array | None, b: Array | None) -> bool:
    """Whether two arrays may lie in the same memory."""
    return a is not None and b is not None and np.may_share_memory(a, b)


def argument(function: type[Function], place: int) -> str:
    """An argument of forward by its number, and its name where it has one."""
    forward = inspect.unwrap(function.forward)
    code = getattr(forward, "__code__", None)
    takes_ctx = function.setup_context is Function.setup_context
    at = place + 1 if takes_ctx else place
    if code is None or at >= code.co_argcount:
        return f"argument {place + 1}"
    return f"argument {place + 1} ({code.co_varnames[at]})"


_told: weakref.WeakKeyDictionary[Any, set[tuple[str, str]]]
_told = weakref.WeakKeyDictionary()


def tell(
    owner: Any, id: str, subject: str, where: str, what: str, fix: str, lesson: str
) -> None:
    """Show one message of teaching mode, at the learner's own lines.

    Once for each class (or hook), mistake and ``subject``: an attribute, an argument.
    What belongs to this package knows what it does.
    """
    original = getattr(owner, "_made_for", None)
    if original is not None:
        where = where.replace(owner.__name__, original.__name__)
        owner = original
    if str(getattr(owner, "__module__", "")).startswith("minigrad."):
        return
    told = _told.setdefault(owner, set())
    is_known = (id, subject) in told
    told.add((id, subject))
    if id:
        what = f"{what}. {TABLE[id].looks_like}"
    warning = TeachingWarning(errors.message(where, what.rstrip("."), fix, lesson))
    warning.id = id
    observe.notify("advice_given", owner, subject, warning)
    if is_known:
        return
    method = "backward" if where.endswith(".backward") else "forward"
    rule = inspect.unwrap(getattr(owner, method, owner))
    code = getattr(rule, "__code__", None)
    warnings.warn_explicit(
        warning,
        TeachingWarning,
        filename="<unknown>" if code is None else code.co_filename,
        lineno=1 if code is None else line_of_def(code),
    )


def line_of_def(code: CodeType) -> int:
    """Where its ``def`` stands: Python counts from the decorators above it."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return line
