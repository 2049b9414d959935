"""The ``with`` blocks that decide how saved tensors are kept."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from types import TracebackType

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.saved_hooks import HooksInForce, PackHook, UnpackHook, check_hooks


class saved_tensors_hooks:
    """Keep ``pack_hook(tensor)`` instead of each tensor that is saved in the block.

    ``unpack_hook`` makes a tensor of it again, every time it is read: then no version
    is checked. Of nested blocks the innermost counts. The hooks of a block hold for
    this thread.
    Raises: SavedHookError where they are disabled, or if pack_hook changes its
    tensor in place; SavedTypeError if unpack_hook returns no Tensor.
    See: torch ``autograd.graph.saved_tensors_hooks``.

    >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    >>> on_disk = []
    >>> def pack(tensor):
    ...     on_disk.append(tensor.tolist())
    ...     return len(on_disk) - 1
    >>> with minigrad.autograd.graph.saved_tensors_hooks(
    ...     pack, lambda place: minigrad.tensor(on_disk[place])
    ... ):
    ...     y = x.exp().sum()
    >>> y.backward()
    >>> x.grad.tolist() == on_disk[0]
    True
    """

    def __init__(self, pack_hook: PackHook, unpack_hook: UnpackHook) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        check_hooks("saved_tensors_hooks", self.pack_hook, self.unpack_hook)
        mode = _this_thread.mode
        if mode.saved_tensors_hooks_refused is not None:
            raise refused(mode.saved_tensors_hooks_refused)
        mode.saved_tensors_hooks = HooksInForce(
            self.pack_hook, self.unpack_hook, mode.saved_tensors_hooks
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        mode = _this_thread.mode
        if mode.saved_tensors_hooks is not None:
            mode.saved_tensors_hooks = mode.saved_tensors_hooks.outer


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU; as all of minigrad is there, nothing is copied.

    See: torch ``autograd.graph.save_on_cpu``.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack_to_cpu(tensor: Tensor) -> tuple[str, Tensor]:
            # Without its history: a saved output would keep its own node alive.
            return "cpu", tensor.detach()

        def unpack_from_cpu(packed: tuple[str, Tensor]) -> Tensor:
            return packed[1]

        super().__init__(pack_to_cpu, unpack_from_cpu)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None, None, None]:
    """Refuse hooks on saved tensors in the block, with this message.

    Raises: SavedHookError if hooks are in force already.
    See: torch ``autograd.graph.disable_saved_tensors_hooks``.
    """
    mode = _this_thread.mode
    if mode.saved_tensors_hooks is not None:
        raise refused(error_message)
    before = mode.saved_tensors_hooks_refused
    mode.saved_tensors_hooks_refused = error_message
    try:
        yield
    finally:
        mode.saved_tensors_hooks_refused = before


def refused(why: str) -> errors.SavedHookError:
    """The error for hooks where ``disable_saved_tensors_hooks`` forbids them."""
    return errors.SavedHookError.at(
        "saved_tensors_hooks",
        why,
        "leave one of the two blocks: this one forbids hooks on saved tensors",
        "12",
    )
