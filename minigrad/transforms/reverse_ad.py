"""A level of reverse mode: its own tensors at the start, nothing of it at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from minigrad import errors
from minigrad.engine import pytree
from minigrad.engine.core.node import AccumulateGrad, edge_of, split_edge
from minigrad.engine.core.saved import keep_tangent
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import (
    is_grad_enabled,
    is_inference_mode_enabled,
    set_grad_enabled,
)
from minigrad.engine.inference import inference_mode
from minigrad.transforms.forward_ad_levels import active_levels
from minigrad.transforms.forward_ad_tangents import detached, tangent_of
from minigrad.transforms.transform import Transform
from minigrad.transforms.vmap_gradients import grad_of_examples, is_tracked
from minigrad.transforms.vmap_tensor import (
    levels_of,
    levels_of_stack,
    physical,
    pull_all,
    push_all,
    with_physical,
)


class ReverseLevel(Transform):
    """One call of grad or vjp, open while its function runs.

    The inputs that it makes are leaves that nobody outside has. A result whose graph
    ends in leaves of closed levels alone requires no gradient outside.
    """

    kind = "grad"

    def __init__(self) -> None:
        super().__init__()
        self.is_recorded = is_grad_enabled()

    def inputs(self, tree: Any) -> Any:
        """The tensors that the function is to be differentiated by.

        Raises: ArgumentValueError for what is no Tensor; RequiresGradError for
        integers.
        """
        return pytree.mapped(self._input, tree)

    def _input(self, value: Any) -> Tensor:
        if not isinstance(value, Tensor):
            raise errors.ArgumentValueError.at(
                "func",
                f"Thing passed to transform API must be Tensor, got {type(value)}",
                "make it a Tensor, or leave it out with argnums",
            )
        if value.dtype.kind not in "fc":
            raise errors.RequiresGradError.at(
                "func",
                "only Tensors of floating point dtype can require gradients, this "
                f"one is {value.dtype}",
                "make it floating point, for example x.to(minigrad.float32)",
            )
        # Under vmap every example needs an input of its own to have its own gradient.
        levels = levels_of_stack()
        if levels_of([value]) != levels:
            value = push_all(pull_all(value, levels), levels)
        alias = alias_of(physical(value))
        if alias.is_leaf:
            alias._level = self
        return with_physical(value, alias)

    def finished(self, tree: Any) -> Any:
        """Results as the code around the transform may see them.

        Raises: TransformError for what is no Tensor.
        """
        return pytree.mapped(self._result, tree)

    def _result(self, value: Any) -> Tensor:
        if not isinstance(value, Tensor):
            raise errors.TransformError.at(
                "func",
                f"Expected tensors, got unsupported type {type(value)}",
                "return Tensors only",
            )
        return with_physical(value, self._without_own_graph(physical(value)))

    def _without_own_graph(self, tensor: Tensor) -> Tensor:
        """The tensor, and its tangents, without a graph that only this level needs."""
        needless = tensor._requires_grad and not (
            self.is_recorded and reaches_others(tensor, self)
        )
        result = tensor.detach() if needless else tensor
        for forward_level in active_levels():
            tangent = tangent_of(tensor, forward_level)
            if tangent is not None:
                kept = self._without_own_graph(tangent)
                if kept is not tangent or needless:
                    keep_tangent(result, kept, forward_level)
        return result


@contextmanager
def recording(enabled: bool) -> Iterator[None]:
    """Grad mode for a ``with`` block, also inside of inference mode."""
    with ExitStack() as stack:
        if is_inference_mode_enabled():
            stack.enter_context(inference_mode(False))
        stack.enter_context(set_grad_enabled(enabled))
        yield


def alias_of(tensor: Tensor) -> Tensor:
    """Another tensor of the same values: a leaf, unless ``tensor`` has a graph."""
    if tensor._requires_grad:
        return tensor.reshape(tensor.shape)
    alias = detached(tensor)
    alias._requires_grad = True
    return alias


def reaches_others(tensor: Tensor, here: ReverseLevel) -> bool:
    """Whether the graph of ``tensor`` ends in a leaf that counts outside ``here``."""
    start = split_edge(edge_of(tensor))[0]
    seen = {start}
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if isinstance(node, AccumulateGrad):
            made_by = node.variable._level
            if made_by is None or (made_by.is_open and made_by is not here):
                return True
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                waiting.append(child)
    return False


def slopes(
    outputs: list[Tensor],
    inputs: list[Tensor],
    cotangents: list[Tensor | None],
    create_graph: bool,
) -> list[Tensor]:
    """The gradients for the inputs; zeros for one that no output depends on.

    The saved values stay: the levels around this one share the graph.
    """
    pairs = zip(outputs, cotangents, strict=True)
    tracked = [(output, first) for output, first in pairs if is_tracked(output)]
    found: Any = [None] * len(inputs)
    if tracked:
        found = grad_of_examples(
            [output for output, _ in tracked],
            inputs,
            [first for _, first in tracked],
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
        )
    pairs_of_results = zip(found, inputs, strict=True)
    return [no_slope(x) if slope is None else slope for slope, x in pairs_of_results]


def no_slope(input: Tensor) -> Tensor:
    """Zeros in the shape of an input."""
    levels = levels_of_stack()
    return push_all((pull_all(input, levels).detach() * 0), levels)
