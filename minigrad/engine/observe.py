"""The observer protocol: events of apply and backward, and who is notified of them.

Every thread's mode says in ``observed`` which calls they are told of: NOBODY, which is
false, as long as there is no observer. So a call has one flag to test before it
notifies them, and no other module needs to know them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from minigrad.engine.grad_mode import modes

if TYPE_CHECKING:
    from minigrad.engine.core.backward import GraphTask
    from minigrad.engine.core.node import _FunctionBase
    from minigrad.engine.core.tensor import Tensor

NOBODY: Final = 0
FUNCTIONS: Final = 1
RECORDED: Final = 2
EVERYTHING: Final = 3
"""Which calls are observed: none; those of learners' Functions; those of built-in
operations that join a graph, too; or all calls there are."""


class Observer(Protocol):
    """The events of ``apply`` and of backward.

    An observer has a method for each event that it wants. Gradients are arrays; with
    ``create_graph=True`` they are Tensors. None stands for a gradient that did not
    arrive.
    """

    observes: int
    """Which calls it is told of: ``FUNCTIONS``, ``RECORDED`` or ``EVERYTHING``."""

    keeps: bool
    """Whether it may keep the gradients it is told of, so that no leaf takes them."""

    comes_last: bool
    """Whether the others are told first: it may raise, or tell them something."""

    def leaf_created(self, tensor: Tensor) -> None:
        """A tensor was made of numbers, and nobody has read it yet."""

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        """Apply, *create ctx*: ``needs_input_grad`` and the edges are known."""

    def node_made(self, node: _FunctionBase) -> None:
        """A node of no call: an AccumulateGrad, or the new history of a base."""

    def values_saved(self, ctx: Any, tensors: tuple[Any, ...]) -> None:
        """Apply, *run forward*: forward calls ``save_for_backward``."""

    def forward_returned(self, ctx: Any, inputs: tuple[Any, ...], result: Any) -> None:
        """Apply, *run forward*: what forward has left on ctx is still there.

        Of a built-in operation it is told to those alone that observe everything.
        """

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        """Apply, *link outputs*: recorded if an output's ``grad_fn`` is ``ctx``.

        Of a built-in operation: it has saved what it needs, and is done.
        """

    def saved_taken(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        """Apply, *take what was saved*: a recorded ctx keeps these now."""

    def backward_started(self, task: GraphTask) -> None:
        """The gradients of the roots wait at their nodes."""

    def node_picked(
        self, task: GraphTask, node: _FunctionBase, gradients: list[Any]
    ) -> None:
        """Backward, *pick the next ready node*: one gradient per output of it."""

    def rule_called(self, node: _FunctionBase, gradients: list[Any]) -> None:
        """Backward, *call its backward*: a learner's rule gets these Tensors."""

    def rule_returned(self, node: _FunctionBase, returned: Any) -> None:
        """Backward: a learner's rule has returned; nothing is checked yet."""

    def node_returned(
        self, task: GraphTask, node: _FunctionBase, gradients: list[Any]
    ) -> None:
        """Backward, *check what it returned*: one gradient per edge, checked.

        It is the engine's own list: what an observer puts there is sent instead.
        """

    def gradient_sent(
        self,
        task: GraphTask,
        node: _FunctionBase,
        slot: int,
        receiver: _FunctionBase,
        output_nr: int,
        gradient: Any,
        total: Any,
    ) -> None:
        """Backward, *add into the receivers*: ``total`` now waits there."""

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        """A leaf's ``.grad`` is now ``new``; ``first``: it was None before."""

    def node_released(self, node: _FunctionBase, dropped: tuple[Any, ...]) -> None:
        """Backward, *release*: the node no longer has the saved values ``dropped``."""

    def gradient_captured(
        self, node: _FunctionBase, output_nr: int, gradient: Any
    ) -> None:
        """The gradient of an output of ``node`` is one that ``grad`` was asked for."""

    def hook_called(
        self,
        kind: str,
        node: _FunctionBase | None,
        output_nr: int,
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

    def grad_assigned(self, tensor: Tensor, value: Tensor | None) -> None:
        """``tensor.grad`` is about to be set."""

    def tangent_given(
        self, tensor: Tensor, tangent: Tensor, maker: Any, inputs: tuple[Any, ...]
    ) -> None:
        """Forward mode: ``tensor``, an output of the Function ``maker`` or of none, has
        a tangent now; ``inputs`` are those of a built-in operation.
        """

    def tensor_mapped(self, tensor: Any) -> None:
        """vmap: this BatchedTensor stands for one example of the tensor below it."""

    def module_entered(self, module: Any) -> None:
        """A module of ``nn`` is about to run its forward."""

    def module_left(self, module: Any, result: Any) -> None:
        """It has run; ``result`` is None after an exception."""

    def recomputation_started(self) -> None:
        """A checkpointed part runs once more."""

    def recomputation_finished(self, failed: bool) -> None:
        """All that was forgotten is there again, unless an exception ended it."""

    def advice_given(self, owner: Any, subject: str, warning: Any) -> None:
        """Teaching mode finds something, whether or not it has been shown before."""

    def backward_raised(self, task: GraphTask, error: BaseException) -> None:
        """An exception ends the traversal; ``task.running`` is the node it was at."""

    def backward_finished(self, task: GraphTask) -> None:
        """No node is ready any more."""


_observers: tuple[Any, ...] = ()
_changing: Final = threading.RLock()


def notify(event: str, *facts: Any) -> None:
    """Call the method of this event of every observer that has one."""
    for observer in _observers:
        method = getattr(observer, event, None)
        if method is not None:
            method(*facts)


def add(observer: Any) -> None:
    """Notify this observer from now on, in all threads."""
    with _changing:
        remove(observer)
        _set_observers((*_observers, observer))


def remove(observer: Any) -> None:
    """Notify this observer no longer."""
    with _changing:
        _set_observers(tuple([one for one in _observers if one is not observer]))


def has(kind: type[Any]) -> bool:
    """Whether there is an observer of this kind, for those who add them."""
    return any([isinstance(one, kind) for one in _observers])


def may_keep() -> bool:
    """Whether an observer may still hold a gradient after it was told of it."""
    return any([getattr(type(one), "keeps", True) for one in _observers])


def who_observes(least: int) -> str:
    """What an observer says of itself that is told of as many calls as ``least``."""
    for observer in _observers:
        if observer.observes >= least:
            return str(getattr(type(observer), "says", "a recording is running"))
    return ""


def _set_observers(observers: tuple[Any, ...]) -> None:
    global _observers
    last = [one for one in observers if comes_last(one)]
    _observers = (*[one for one in observers if not comes_last(one)], *last)
    modes.set_observed(max([one.observes for one in _observers], default=NOBODY))


def comes_last(observer: Any) -> bool:
    """Whether the other observers are told before this one."""
    return getattr(type(observer), "comes_last", False)


def clear() -> None:
    """Remove all observers."""
    _set_observers(())


@contextmanager
def unobserved() -> Iterator[None]:
    """No observer is notified inside the block."""
    before = _observers
    _set_observers(())
    try:
        yield
    finally:
        _set_observers(before)


@contextmanager
def recomputation() -> Iterator[None]:
    """Notify observers that what runs inside is a checkpointed part, once more."""
    notify("recomputation_started")
    try:
        yield
    except BaseException:
        notify("recomputation_finished", True)
        raise
    notify("recomputation_finished", False)
