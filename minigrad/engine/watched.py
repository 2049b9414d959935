"""The traversal in anomaly mode: every node is watched while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.engine.anomaly import check_for_nan, tell_where
from minigrad.engine.backward import GraphTask
from minigrad.engine.grad_mode import anomaly
from minigrad.engine.node import NOT_A_TENSOR, _FunctionBase
from minigrad.engine.tensor import Array, Tensor


def new_task(*args: Any, **options: Any) -> GraphTask:
    """A traversal: one that watches its nodes, if anomaly mode is on."""
    kind = WatchedTask if anomaly.enabled else GraphTask
    return kind(*args, **options)


class WatchedTask(GraphTask):
    """A traversal that tells which node failed, and looks for NaN in the results."""

    is_watched = True

    def run(self) -> None:
        """As without anomaly mode; an error is preceded by a warning."""
        with self._explaining():
            super().run()

    def finish(self) -> None:
        """As without anomaly mode; so is an error of the hooks that run last."""
        with self._explaining():
            super().finish()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if self.running is not None:
                tell_where(self.running)
            raise

    def _check_returned(self, node: _FunctionBase, returned: Any) -> list[Any]:
        gradients = super()._check_returned(node, returned)
        if anomaly.checks_nan:
            edges = node._edges
            tensors = [
                slot for slot in range(len(edges)) if edges[slot] is not NOT_A_TENSOR
            ]
            check_for_nan(node, [array_of(one) for one in gradients], tensors)
        return gradients


def array_of(gradient: Any) -> Array | None:
    """The values of a gradient; of one under vmap, those of all examples."""
    if gradient is None:
        return None
    if isinstance(gradient, Tensor):
        gradient = gradient._physical().array
    return np.asarray(gradient)
