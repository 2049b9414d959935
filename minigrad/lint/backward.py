"""Teaching mode in backward: what a rule is given, reads, writes and returns."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from minigrad.engine.core.node import needs_gradient, split_edge
from minigrad.engine.core.saved import Record
from minigrad.engine.core.tensor import Tensor
from minigrad.lint.forward import Snapshot, argument, memory, snapshots, tell


class Watched(tuple[Any, ...]):
    """What a node saved, noting whether its rule reads it."""

    was_read = False

    def __iter__(self) -> Any:
        self.was_read = True
        return super().__iter__()

    def __getitem__(self, place: Any) -> Any:
        self.was_read = True
        return super().__getitem__(place)


_given: weakref.WeakKeyDictionary[Any, tuple[int, list[tuple[int, Snapshot]]]]
_given = weakref.WeakKeyDictionary()
_sums: weakref.WeakKeyDictionary[Any, list[int | None]] = weakref.WeakKeyDictionary()


def after_forward(ctx: Any) -> None:
    """Remember a checksum of each value that forward has saved."""
    if ctx._edges and ctx.to_save:
        _sums[ctx] = [checksum(value) for value in ctx.to_save]


def checksum(value: Any) -> int | None:
    """A number that changes with the values of a tensor; None if it has none."""
    import zlib  # the lint alone needs it

    array = memory(value)
    return None if array is None else zlib.crc32(array.tobytes())


def before_rule(node: Any, gradients: list[Any]) -> None:
    """Remember the gradients, and put what was saved under watch."""
    look_at_saved(node)
    arrived = sum([gradient is not None for gradient in gradients])
    _given[node] = arrived, snapshots(gradients)
    if type(node._saved) is tuple and node._saved:
        node._saved = Watched(node._saved)


def after_rule(node: Any, returned: Any) -> None:
    """Warn about what the rule has done, and about each gradient it returned."""
    arrived, given = _given.pop(node, (0, []))
    look_at_writes(node, given)
    tensors = [metadata for metadata in node._output_metadata if metadata is not None]
    look_at_reads(node, arrived == len(tensors) and None not in node._edges)
    gradients = returned if isinstance(returned, tuple) else (returned,)
    if len(gradients) >= len(node._edges):
        for place in range(len(node._edges)):
            look_at_gradient(node, place, gradients[place], arrived > 0)


def look_at_saved(node: Any) -> None:
    """Warn about saved values that have changed while their version stood still.

    A version that has moved on needs no warning: reading the value is an error then.
    """
    function = node._forward_cls
    for place, (then, kept) in enumerate(
        zip(_sums.get(node, ()), node._saved, strict=False)
    ):
        tensor = kept.tensor if isinstance(kept, Record) else kept
        version = kept.version if isinstance(kept, Record) else 0
        now = checksum(tensor)
        if now is None or now == then or tensor._version != version:
            continue
        tell(
            function,
            "",
            f"unseen {place}",
            f"{function.__name__}.backward",
            f"saved value #{place + 1} holds other numbers than forward saved, and is "
            f"still at version {version}: nobody counted the change, so no error stops "
            "this gradient",
            "change the tensor itself, not its .data and not an array on its memory",
            "08",
        )


def look_at_writes(node: Any, given: list[tuple[int, Snapshot]]) -> None:
    """Warn about a rule that writes into the gradients it is given."""
    function = node._forward_cls
    for place, before in given:
        if before.was_changed():
            tell(
                function,
                "M01",
                str(place),
                f"{function.__name__}.backward",
                f"wrote into grad_output {place + 1}: {before.in_numbers()}",
                "make a new tensor: write grad_output * 2, not grad_output *= 2 or "
                "grad_output.mul_(2)",
                "08",
            )


def look_at_reads(node: Any, all_wanted: bool) -> None:
    """Warn about saved tensors that the rule did not read.

    Only where all was wanted: every gradient came, and every input requires grad.
    """
    function = node._forward_cls
    watched = node._saved
    if type(watched) is not Watched:
        return
    node._saved = tuple(tuple.__iter__(watched))
    if all_wanted and not watched.was_read:
        count = len(watched)
        tell(
            function,
            "",
            "unread",
            f"{function.__name__}.backward",
            f"never read ctx.saved_tensors, where forward saved {count} of them: they "
            "take memory until backward, for nothing",
            "save only what backward reads",
            "02",
        )


def look_at_gradient(node: Any, place: int, gradient: Any, arrived: bool) -> None:
    """Warn about one returned gradient: missing, too large, or of another dtype."""
    edge = node._edges[place]
    if not needs_gradient(edge):
        return
    receiver, output_nr = split_edge(edge)
    metadata = receiver._output_metadata[output_nr]
    shape, dtype = tuple(metadata[0]), metadata[1]
    function = node._forward_cls
    where = f"{function.__name__}.backward"
    name = argument(function, place)
    if gradient is None and arrived:
        what = f"returned None for {name}, which requires grad"
        fix = f"return a gradient of shape {shape} for {name}"
        tell(function, "A05", name, where, what, fix, "04")
    if not isinstance(gradient, Tensor):
        return
    got = tuple(gradient.shape)
    if got != shape and is_broadcast(shape, got):
        what = f"returned shape {got} for {name} of shape {shape}"
        fix = "sum over the copied axes in backward"
        tell(function, "R01", name, where, what, fix, "06")
    if dtype is not None and precision(gradient.dtype.dtype) < precision(dtype):
        what = f"returned {gradient.dtype.name} for {name}, which is {dtype}"
        fix = f"compute in {dtype} all the way"
        tell(function, "T03", name, where, what, fix, "04")


def is_broadcast(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether ``small`` stretches to ``large``."""
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def precision(dtype: Any) -> int:
    """How many bits a floating-point dtype keeps; none for other numbers."""
    return int(np.finfo(dtype).nmant) if dtype.kind in "fc" else 0
