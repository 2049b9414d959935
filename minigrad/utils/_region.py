"""One checkpointed call: what it would have saved is computed again when needed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from typing import Any, Final
from weakref import ReferenceType, WeakKeyDictionary

from minigrad import errors
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.engine import observe
from minigrad.engine.core.saved import Packed, pack, unpack
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import _this_thread, enable_grad, running_task

MetadataOf = Callable[[Tensor], Any]


class Reading:
    """Stands for the backward that is running when there is none."""


class StopRecomputation(Exception):
    """Ends a recomputation: all that it was for is there. No error."""


class Placeholder:
    """What a node keeps instead of a tensor: where the tensor will be put again.

    ``values`` has the recomputed tensor for each backward that has not read it yet,
    and None once it has.
    """

    __slots__ = ("__weakref__", "values")

    def __init__(self) -> None:
        self.values: WeakKeyDictionary[Any, Tensor | None] = WeakKeyDictionary()

    @property
    def recomputed(self) -> Tensor | None:
        """A tensor that has been put here again, and not been read."""
        values = [value for value in self.values.values() if value is not None]
        return values[0] if values else None


class Region:
    """A checkpointed call: its function, its arguments, and its placeholders.

    A placeholder is held by the node that saved it; when the node is gone, its value
    is not computed again.
    """

    def __init__(
        self,
        rerun: Callable[..., Any],
        args: Iterable[Any],
        early_stop: bool,
        metadata_of: MetadataOf,
        explain: bool,
    ) -> None:
        self.rerun = rerun
        self.args = [Argument(arg) if isinstance(arg, Tensor) else arg for arg in args]
        self.early_stop = early_stop
        self.metadata_of = metadata_of
        self.explain = explain
        self.placeholders: list[ReferenceType[Placeholder]] = []
        self.metadata: list[Any] = []
        self.recomputed: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
        self.is_complete = False

    def saving(self) -> AbstractContextManager[None]:
        """For the first run: save placeholders."""
        return saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, tensor: Tensor) -> Placeholder:
        """Note what the tensor was like; its values go."""
        placeholder = Placeholder()
        self.placeholders.append(weakref.ref(placeholder))
        self.metadata.append(self.metadata_of(tensor))
        return placeholder

    def unpack(self, placeholder: Placeholder) -> Tensor:
        """The value again: the first that a backward asks for recomputes all.

        Raises: CheckpointError if it was read in this backward already, or if the
        recomputation did not go as the first run.
        """
        task = running_task() or Reading()
        if task not in self.recomputed:
            self.recompute(task)
        tensor = placeholder.values.get(task)
        if tensor is None:
            raise errors.CheckpointError.at(
                "torch.utils.checkpoint",
                "Unpack is being triggered for a tensor that was already unpacked "
                "once. If you are calling ctx.saved_tensors in backward, make sure "
                "to do so only once",
                "read them into variables: x, y = ctx.saved_tensors",
                "12",
            )
        placeholder.values[task] = None
        return tensor

    def recompute(self, task: Any) -> None:
        """Run the function again and fill the placeholders for ``task``."""
        args = [arg.get() if isinstance(arg, Argument) else arg for arg in self.args]
        run = Recomputation(self, task)
        with (
            observe.recomputation(),
            suppress(StopRecomputation),
            saved_tensors_hooks(run.pack, keep),
            enable_grad(),
        ):
            self.rerun(*args)
        self.recomputed[task] = True
        run.check()


class Recomputation:
    """One more run of a region: it fills the placeholders in their order."""

    def __init__(self, region: Region, task: Any) -> None:
        self.region = region
        self.task = task
        self.metadata: list[Any] = []
        self.checks = True

    def pack(self, tensor: Tensor) -> Tensor:
        """Put the value into its placeholder; stop after the last."""
        value = tensor.detach() if tensor.requires_grad else tensor
        region = self.region
        place = len(self.metadata)
        if place >= len(region.placeholders):
            return self.surplus(value)
        self.metadata.append(region.metadata_of(value))
        placeholder = region.placeholders[place]()
        if placeholder is not None:
            placeholder.values[self.task] = value
        if region.early_stop and place + 1 == len(region.placeholders):
            raise StopRecomputation
        return value

    def surplus(self, value: Tensor) -> Tensor:
        """One more than the first run has saved: right only while that still runs.

        Raises: CheckpointError.
        """
        if self.region.is_complete:
            raise differs(
                "trying to save more tensors during recomputation than during the "
                "original forward pass."
            )
        self.checks = False
        return value

    def check(self) -> None:
        """Refuse values that cannot be those of the first run.

        Raises: CheckpointError.
        """
        region = self.region
        if not self.checks:
            return
        details = ""
        if region.explain:
            details = (
                "\nDetected non-determinism while running activation checkpointing. "
                "You are seeing this error because you passed `debug=True` to "
                f"checkpoint\n  first run: {region.metadata}\n  "
                f"recomputed: {self.metadata}"
            )
        if len(self.metadata) != len(region.metadata):
            raise differs(
                "A different number of tensors was saved during the original forward "
                "and recomputation.\n"
                f"Number of tensors saved during forward: {len(region.metadata)}\n"
                f"Number of tensors saved during recomputation: {len(self.metadata)}."
                + details
            )
        pairs = zip(region.metadata, self.metadata, strict=True)
        different = [
            f"tensor at position {place}:\nsaved metadata: {first}\n"
            f"recomputed metadata: {again}\n"
            for place, (first, again) in enumerate(pairs)
            if first != again and region.placeholders[place]() is not None
        ]
        if different:
            raise differs(
                "Recomputed values for the following tensors have different metadata "
                f"than during the forward pass.\n{''.join(different)}" + details
            )


class Argument:
    """A tensor that the checkpointed function was called with.

    It is kept as a node keeps what it saves: so a change in place is noticed, and an
    enclosing checkpoint need not keep it.
    """

    def __init__(self, tensor: Tensor) -> None:
        hooks = _this_thread.mode.saved_tensors_hooks
        self.packed: Packed = (
            pack(tensor, None) if hooks is None else hooks.pack(tensor, None)
        )

    def get(self) -> Tensor | None:
        """The tensor, if it is as it was."""
        return unpack(self.packed, None)


def keep(tensor: Tensor) -> Tensor:
    """The unpack hook of a recomputation, whose nodes hold the values themselves."""
    return tensor


def differs(how: str) -> errors.CheckpointError:
    """The error for a function that does not do the same when it runs again."""
    return errors.CheckpointError.at(
        "torch.utils.checkpoint",
        how,
        "let the function do the same each time: nothing may depend on what "
        "changes between forward and backward; debug=True lists what was saved",
        "12",
    )


def shape_and_dtype(tensor: Tensor) -> Any:
    """What has to agree by default."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def nothing(tensor: Tensor) -> Any:
    """What has to agree with ``determinism_check="none"``."""


DETERMINISM_CHECKS: Final[dict[str, MetadataOf]] = {
    "default": shape_and_dtype,
    "none": nothing,
}
