"""12.2: a pair of hooks that keeps saved tensors in half the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, Finding, left_behind
from minigrad.course.check.probes import packing, seen
from minigrad.course.check.probes.packing import Packed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

WITHIN = 1e-3
FACTOR = {"float16": 1, "float32": 2, "float64": 4}


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Tensors of several dtypes, there and back."""
    arrays = dict(tried(random))
    all_seen = seen(packing.there_and_back, tuple(answer), tuple(arrays.values()))
    for (name, array), packed in zip(arrays.items(), all_seen, strict=True):
        yield fault_in(packed, array, name)


def tried(random: np.random.Generator) -> Iterator[tuple[str, Array]]:
    """Tensors by what they are called in a message."""
    dtypes = "float64", "float16", "float32"
    for dtype, shape in (*[(dtype, (3, 4)) for dtype in dtypes], ("float64", ())):
        numbers = random.uniform(0.1, 2000, shape) * random.choice([-1, 1], shape)
        yield f"a {dtype} tensor of shape {shape}", np.asarray(numbers, dtype)
    # Above 2048, a float16 knows even numbers only.
    yield "an int64 tensor of row numbers", 2 * random.integers(1100, 3000, 5) + 1
    yield "a bool tensor, a mask", random.random(6) < 0.5


def fault_in(packed: Packed, array: Array, name: str) -> Finding | None:
    """What is wrong with the way of one tensor there and back; None if nothing is."""
    if packed.crash is not None:
        return say.of_crash("crashed", packed.crash, name=name)
    if packed.changed:
        return left_behind("pack", packed.changed)
    back = packed.back
    if back is None:
        return say("no_tensor", name=name, kind=packed.kind)
    wanted = array.dtype
    shown: dict[str, Any] = {"name": name, "got": f"{back.dtype} of shape {back.shape}"}
    if back.shape != array.shape:
        return say("shape", **shown)
    if wanted.kind != "f":
        if not np.array_equal(back, array):
            return say("whole", was=array, now=back, **shown)
        if back.dtype != wanted:
            return say("dtype.whole", **shown)
        shown |= {"size": packed.size, "most": array.nbytes}
        as_it_is = packed.size in (0, array.nbytes)
        return None if as_it_is else say("size.whole", **shown)
    if back.dtype != wanted:
        kind = "dtype.half" if back.dtype == np.float16 else "dtype"
        return say(kind, **shown)
    if not np.allclose(back, array, rtol=WITHIN):
        return say("values", was=array.flat[:4], now=back.flat[:4], **shown)
    if packed.keeps and FACTOR[wanted.name] > 1:
        return say("keeps", **shown)
    most = array.nbytes // FACTOR[wanted.name]
    if packed.size != most:
        few = "size.none" if packed.size < most else "size"
        return say(few, size=packed.size, most=most, **shown)
    return None
