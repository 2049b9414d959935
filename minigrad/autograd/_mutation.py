"""``allow_mutation_on_saved_tensors``: copy what was saved before it is changed."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from weakref import WeakSet

from minigrad import errors
from minigrad.autograd._saved_tensors import saved_tensors_hooks
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.tensor_memory import VersionCounter


class Kept:
    """What is kept for one saved tensor: its memory, or a copy from before a change."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        # Without its history: a saved output would keep its own node alive.
        self.tensor = tensor.detach()


class SavedValues:
    """All that was saved in one ``allow_mutation_on_saved_tensors`` block.

    Tensors on the same memory count its changes together, so their counter stands
    for the memory.
    """

    def __init__(self) -> None:
        self.kept: dict[VersionCounter, WeakSet[Kept]] = {}
        self.is_open = True

    def pack(self, tensor: Tensor) -> Kept:
        """Keep the tensor's memory, as long as nobody changes it."""
        kept = Kept(tensor)
        counter = kept.tensor._version_counter
        if counter is not None:
            self.kept.setdefault(counter, WeakSet()).add(kept)
        return kept

    def unpack(self, kept: Kept) -> Tensor:
        """The value that was saved.

        Raises: SavedOutsideError when the block has ended.
        """
        if not self.is_open:
            raise errors.SavedOutsideError.at(
                "allow_mutation_on_saved_tensors",
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' "
                "context in which the graph was originally recorded",
                "call backward inside of the with block",
                "08",
            )
        return kept.tensor

    def before_change(self, tensor: Tensor) -> None:
        """Copy what is kept of the tensor's memory, which is about to be written."""
        counter = tensor._version_counter
        if counter is not None:
            for kept in self.kept.pop(counter, ()):
                kept.tensor = Tensor(kept.tensor.array.copy())

    def clear(self) -> None:
        """Let go of everything: the block has ended."""
        self.is_open = False
        self.kept.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Generator[SavedValues, None, None]:
    """Change saved tensors in place, and let backward see what they were.

    The old values are copied when they are overwritten, so backward has to happen in
    the block as well. Writing through ``.data`` or ``.numpy()`` is not noticed.
    Raises: SavedHookError in another such block; SavedOutsideError from a backward
    after the block.
    See: torch ``autograd.graph.allow_mutation_on_saved_tensors``.

    >>> x = minigrad.tensor([2.0], requires_grad=True)
    >>> with minigrad.autograd.graph.allow_mutation_on_saved_tensors():
    ...     h = x * 1
    ...     y = h * h
    ...     _ = h.mul_(10)
    ...     y.backward()
    >>> x.grad
    tensor([4.])
    """
    mode = _this_thread.mode
    if mode.before_change is not None:
        raise errors.SavedHookError.at(
            "allow_mutation_on_saved_tensors",
            "allow_mutation_on_saved_tensors contexts cannot be nested",
            "leave the inner with out: the outer one holds for it too",
            "08",
        )
    values = SavedValues()
    with saved_tensors_hooks(values.pack, values.unpack):
        mode.before_change = values.before_change
        try:
            yield values
        finally:
            mode.before_change = None
            values.clear()
