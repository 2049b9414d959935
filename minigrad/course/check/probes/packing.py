"""Answers that keep saved tensors in another form: a pair of hooks, or a block."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.lifetimes import watch
from minigrad.course.check.side_effects import Lent
from minigrad.course.check.spy import crash_of


@dataclass(frozen=True)
class Packed:
    """What became of one tensor: ``size`` bytes of tensors and arrays were kept.

    ``keeps``: the tensor itself was still alive then. ``back`` is what the unpack hook
    returned, None if that was no tensor but a ``kind``. ``changed``: what is different
    about the tensor.
    """

    size: int = 0
    keeps: bool = False
    back: Array | None = None
    kind: str = ""
    crash: Crash | None = None
    changed: tuple[str, ...] = ()


def there_and_back(pack: Any, unpack: Any, arrays: tuple[Array, ...]) -> Any:
    """Each array as a tensor that is packed; when all are, each is unpacked; a tuple.

    So a hook that keeps what unpack needs beside its tensors has one place for all.
    """
    kept = [packed_of(pack, array) for array in arrays]
    return tuple([unpacked(unpack, found, packed) for found, packed in kept])


def packed_of(pack: Any, array: Array) -> tuple[Packed, Any]:
    """What is known of one array that was packed, and what the pack hook returned."""
    tensor = minigrad.tensor(array)
    watched, lent = watch(tensor=tensor), Lent(tensor=tensor)
    try:
        packed = pack(tensor)
        changed = lent.changed()
        del tensor, lent
        size = sum({id(each): each.nbytes for each in arrays_in(packed)}.values())
    except Exception as error:
        return Packed(crash=crash_of("hook", error)), None
    return Packed(size, watched.alive()["tensor"], changed=changed), packed


def unpacked(unpack: Any, found: Packed, packed: Any) -> Packed:
    """The same with what the unpack hook returned."""
    if found.crash is not None:
        return found
    try:
        back = unpack(packed)
    except Exception as error:
        return Packed(crash=crash_of("hook", error))
    if not isinstance(back, minigrad.Tensor):
        return replace(found, kind=type(back).__name__)
    return replace(found, back=back.detach().numpy().copy(), kind="Tensor")


def arrays_in(part: Any, depth: int = 4) -> Iterator[Any]:
    """The tensors and arrays that something holds: a list, an object, a function."""
    if isinstance(part, minigrad.Tensor | np.ndarray):
        yield part
    elif depth and not isinstance(part, type):
        shared = [getattr(part, f"__{of}__", None) for of in ("globals", "builtins")]
        for each in gc.get_referents(part):
            if not any([each is other for other in shared]):
                yield from arrays_in(each, depth - 1)


@dataclass(frozen=True)
class Stored:
    """What a block did with what some products save, each a tensor of its own.

    ``files`` and ``size``: what lay in the folder after forward. ``keeps``: one that
    nobody else needs was still alive then. ``first`` and ``second``: the gradients of
    x and of w in two backwards. ``left``: the files after the block; the crash was in
    ``stage``. ``swallowed``: what was raised inside didn't come out. ``changed``: which
    modes are different afterwards.
    """

    files: int = 0
    size: int = 0
    keeps: bool = False
    first: Array | None = None
    second: Array | None = None
    left: int = 0
    swallowed: bool = False
    changed: tuple[str, ...] = ()
    stage: str = ""
    crash: Crash | None = None


FACTORS = tuple(range(3, 11))


class StopHereError(Exception):
    """What the program raises inside the block."""


def stored(answer: Any, x: Array, w: Array, raises: bool) -> Stored:
    """Multiply inside the block, go backward twice, or raise before the first."""
    said: dict[str, Any] = {"stage": "forward"}
    with tempfile.TemporaryDirectory() as folder:
        lent = Lent()
        try:
            inside(answer, folder, x, w, raises, said)
            said["swallowed"] = raises
        except StopHereError:
            pass
        except Exception as error:
            said["crash"] = crash_of("your answer", error)
        said["left"], said["changed"] = len(files_in(folder)), lent.changed()
    return Stored(**said)


def inside(
    answer: Any, folder: str, x: Array, w: Array, raises: bool, said: dict[str, Any]
) -> None:
    """The program; what is seen goes into ``said``."""
    leaf, other = [minigrad.tensor(each, requires_grad=True) for each in (x, w)]
    with answer(Path(folder)):
        result, alive = minigrad.zeros(()), 0
        for factor in FACTORS:
            multiple = leaf * factor
            watched = watch(multiple=multiple)
            result = result + (multiple * other).sum()
            # What comes next may get the place in memory, and so the id, of this one.
            del multiple
            alive += watched.alive()["multiple"]
        files = files_in(folder)
        said["files"] = len(files)
        said["size"] = sum([os.path.getsize(file) for file in files])
        said["keeps"] = alive > 0
        if raises:
            raise StopHereError
        for stage, last in (("first", False), ("second", True)):
            said["stage"] = stage
            leaf.grad = other.grad = None
            result.backward(retain_graph=not last)
            nothing = minigrad.full_like(leaf.detach(), np.nan)
            found = [nothing if t.grad is None else t.grad for t in (leaf, other)]
            said[stage] = np.array([each.numpy() for each in found])
        said["stage"] = "end"
    del result


def kept(answer: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """What backward reads in a block where these are saved."""
    found: list[Array] = []

    class Keep(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, *others: Any) -> Any:
            ctx.save_for_backward(*others)
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            found.extend([each.numpy().copy() for each in ctx.saved_tensors])
            return g, *[None] * len(arrays)

    x = minigrad.ones((), requires_grad=True)
    with tempfile.TemporaryDirectory() as folder, answer(Path(folder)):
        Keep.apply(x, *[minigrad.tensor(each) for each in arrays]).backward()
    return tuple(found)


def files_in(folder: str) -> list[str]:
    """All files below a folder, which may be gone."""
    return [
        os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
    ]
