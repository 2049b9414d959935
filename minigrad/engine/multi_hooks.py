"""Hooks that wait for the gradients of several tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, Self

from minigrad import errors
from minigrad.engine.core.backward import GraphTask
from minigrad.engine.core.node import accumulate_node
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import this_mode
from minigrad.engine.hooks import RemovableHandle


class MultiHandle:
    """Removes the hooks that were registered together."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Unregister the hook from every tensor."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all"
) -> MultiHandle:
    """Call ``fn`` once in each backward that computes gradients of ``tensors``.

    In mode "all" it gets the list of their gradients, None for a tensor without a part
    in that backward, once the last is there; in mode "any" the first gradient alone.
    Raises: ArgumentValueError for another mode.
    See: torch ``autograd.graph.register_multi_grad_hook``.
    """
    if mode == "any":
        hook = First(fn)
        having = [tensor for tensor in tensors if tensor.requires_grad]
        return MultiHandle([tensor.register_hook(hook) for tensor in having])
    if mode != "all":
        raise errors.ArgumentValueError.at(
            "register_multi_grad_hook",
            f"Expects mode to be one of ('all', 'any') but got {mode}",
            "choose mode='all' or mode='any'",
        )
    together = Together(tensors, fn)
    return MultiHandle(
        [
            tensor.register_hook(together.hook_of(position))
            for position, tensor in enumerate(tensors)
        ]
    )


class First:
    """Mode "any": hands on the first gradient of each backward."""

    def __init__(self, fn: Callable[[Tensor | None], Any]) -> None:
        self.fn = fn
        self.tasks: weakref.WeakSet[GraphTask] = weakref.WeakSet()

    def __call__(self, gradient: Tensor | None) -> None:
        task: Any = this_mode().task
        if task not in self.tasks:
            self.tasks.add(task)
            self.fn(gradient)


class Together:
    """Mode "all": collects the gradients of each backward until none is missing."""

    def __init__(
        self, tensors: Sequence[Tensor], fn: Callable[[list[Tensor | None]], Any]
    ) -> None:
        self.fn = fn
        # Weak, or tensors would hold hooks that hold tensors. A leaf has to be asked
        # for its node anew, since it has one only while a graph uses it.
        self.places = [
            weakref.ref(t if t.grad_fn is None else t.grad_fn) for t in tensors
        ]
        self.collected: weakref.WeakKeyDictionary[GraphTask, Collected] = (
            weakref.WeakKeyDictionary()
        )

    def hook_of(self, position: int) -> Callable[[Tensor | None], None]:
        """The hook for one of the tensors."""

        def hook(gradient: Tensor | None) -> None:
            self.collect(position, gradient)

        return hook

    def collect(self, position: int, gradient: Tensor | None) -> None:
        """Note one gradient, and call ``fn`` if it was the last."""
        task: Any = this_mode().task
        collected = self.collected.get(task)
        if collected is None:
            visited = [self.is_visited(place(), task) for place in self.places]
            collected = self.collected[task] = Collected(visited)
        collected.gradients[position] = gradient
        collected.missing -= 1
        if collected.missing == 0:
            self.fn(collected.gradients)

    @staticmethod
    def is_visited(place: Any, task: GraphTask) -> bool:
        """Whether the hooks of this leaf or node run in ``task``."""
        node = accumulate_node(place) if isinstance(place, Tensor) else place
        return node is not None and task.visits(node)


class Collected:
    """The gradients of one backward, and how many of them are still to come."""

    def __init__(self, visited: list[bool]) -> None:
        self.gradients: list[Tensor | None] = [None] * len(visited)
        self.missing = sum(visited)
