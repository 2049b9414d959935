"""What the engine tells a listener: set ``observer`` to hear it, None for silence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from minigrad.engine.backward import GraphTask
    from minigrad.engine.node import _FunctionBase
    from minigrad.engine.tensor import Tensor


class Observer(Protocol):
    """The moments of ``apply`` and of backward that can be listened to.

    Gradients are arrays; with ``create_graph=True`` they are Tensors. None stands for
    a gradient that did not arrive.
    """

    hears_unrecorded: bool
    """Whether it is told of built-in operations, too, that join no graph."""

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        """Apply, *create ctx*: ``needs_input_grad`` and the edges are known."""

    def saved_taken(self, ctx: Any, result: Any) -> None:
        """Apply, *take what was saved*: forward has returned ``result``."""

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        """Apply, *wire edges*: recorded if an output's ``grad_fn`` is ``ctx``."""

    def backward_started(self, task: GraphTask) -> None:
        """The gradients of the roots wait at their nodes."""

    def node_picked(
        self, task: GraphTask, node: _FunctionBase, gradients: list[Any]
    ) -> None:
        """Backward, *pick the newest ready node*: one gradient per output of it."""

    def node_returned(
        self, task: GraphTask, node: _FunctionBase, gradients: tuple[Any, ...]
    ) -> None:
        """Backward, *check what it returned*: one gradient per edge, checked."""

    def gradient_sent(
        self,
        task: GraphTask,
        node: _FunctionBase,
        slot: int,
        receiver: _FunctionBase,
        receiver_slot: int,
        gradient: Any,
        total: Any,
    ) -> None:
        """Backward, *add into the receivers*: ``total`` now waits at the receiver."""

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        """A leaf's ``.grad`` is now ``new``; ``first``: it was None before."""

    def node_released(self, node: _FunctionBase, dropped: tuple[Any, ...]) -> None:
        """Backward, *release*: the node no longer has the saved values ``dropped``."""

    def gradient_captured(self, node: _FunctionBase, slot: int, gradient: Any) -> None:
        """The gradient of an output of ``node`` is one that ``grad`` was asked for."""

    def hook_called(
        self,
        kind: str,
        node: _FunctionBase | None,
        slot: int,
        hook: Any,
        given: Any,
        result: Any,
    ) -> None:
        """A hook has returned; ``kind``: tensor, pre, post or accumulated."""

    def tensor_packed(self, hook: Any, tensor: Tensor, packed: Any) -> None:
        """A pack hook has made ``packed`` of a tensor that is saved."""

    def tensor_unpacked(
        self, hook: Any, node: _FunctionBase | None, packed: Any, tensor: Any
    ) -> None:
        """An unpack hook has made a tensor of what ``node`` keeps."""

    def changed_in_place(self, tensor: Tensor) -> None:
        """The version of ``tensor`` has gone up by one."""

    def tangent_given(self, tensor: Tensor, tangent: Tensor, maker: Any) -> None:
        """Forward mode: ``tensor``, an output of the Function ``maker`` or of none, has
        a tangent now.
        """

    def module_entered(self, module: Any) -> None:
        """A layer of ``nn`` is about to run its forward."""

    def module_left(self, module: Any, result: Any) -> None:
        """It has run; ``result`` is None after an exception."""

    def recomputation_started(self) -> None:
        """A checkpointed part runs once more."""

    def recomputation_finished(self, failed: bool) -> None:
        """All that was forgotten is there again, unless an exception ended it."""

    def advice_given(self, owner: Any, subject: str, warning: Any) -> None:
        """Teaching mode finds something, whether or not it has been shown before."""

    def backward_finished(self, task: GraphTask) -> None:
        """No node is ready any more."""


observer: Observer | None = None


@contextmanager
def recomputation() -> Iterator[None]:
    """Tell the listener that what runs inside is a checkpointed part, once more."""
    listener = observer
    if listener is None:
        yield
        return
    listener.recomputation_started()
    try:
        yield
    except BaseException:
        listener.recomputation_finished(failed=True)
        raise
    listener.recomputation_finished(failed=False)
