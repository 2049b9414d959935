"""The slopes of a function at one point: by small differences, and by its backward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.autograd._gradients import grad
from minigrad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.interpreters import opened
from minigrad.transforms.vmap import Vmap
from minigrad.transforms.vmap_tensor import BatchedTensor, pull


@dataclass(frozen=True)
class Point:
    """A function and the inputs at which it is looked at; ``eps`` is one small step."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    eps: float

    @property
    def watched(self) -> list[Tensor]:
        """The inputs whose gradients are checked."""
        return [x for x in self.inputs if is_watched(x)]

    def outputs(self) -> list[Tensor]:
        """The outputs of the function that a gradient can reach."""
        return [output for output in self._called() if output.requires_grad]

    def slope_along(self, tensor: Tensor, direction: Array) -> list[Array]:
        """How fast each output grows when ``tensor`` moves along ``direction``.

        The tensor itself is moved, because the function may hold it in a closure; it
        is put back whatever happens.
        """
        array = writable(tensor)
        before = array.copy()
        try:
            array[...] = before - self.eps * direction
            low = self._measured()
            array[...] = before + self.eps * direction
            high = self._measured()
        finally:
            array[...] = before
        for a, b in zip(low, high, strict=True):
            check_alike(a, b, self.eps)
        return [
            ((b - a) / (2 * self.eps)).ravel() for a, b in zip(low, high, strict=True)
        ]

    def numerical(self, tensor: Tensor) -> list[Array]:
        """For each output: one row of slopes per element of ``tensor``.

        Shape: (elements of ``tensor``, elements of the output).
        """
        rows = [self.slope_along(tensor, e) for e in one_hots(tensor)]
        if not rows:
            return [np.zeros((0, values.size)) for values in self._measured()]
        return [np.stack(column) for column in zip(*rows, strict=True)]

    def pushed(self, tangents: list[Array | None]) -> list[Array]:
        """What forward mode makes of one tangent for each watched input.

        None leaves an input without a tangent. An output in the graph that has none
        counts as zeros.
        """
        given = [None if tangent is None else Tensor(tangent) for tangent in tangents]
        reached = self._reached()
        with dual_level():
            outputs = self._outputs_with(given, reached)
            return [tangent_of(output) for output in outputs]

    def pushed_together(self, number: int, batch: Tensor) -> list[Array]:
        """What forward mode makes of a batch of tangents for one watched input.

        Raises: TransformError for a Function that vmap does not take.
        """
        given: list[Tensor | None] = [None] * len(self.watched)
        reached = self._reached()
        size = batch.shape[0]
        transform = Vmap(size)
        with opened(transform), dual_level():
            given[number] = BatchedTensor(batch, transform)
            outputs = self._outputs_with(given, reached)
            tangents = [unpack_dual(output).tangent for output in outputs]
            return [
                np.zeros((size, *output.shape), output.dtype)
                if tangent is None
                else pull(tangent, transform).array
                for output, tangent in zip(outputs, tangents, strict=True)
            ]

    def _reached(self) -> list[bool]:
        """For each output, whether a gradient can reach it."""
        return [output.requires_grad for output in self._called()]

    def _outputs_with(
        self, tangents: list[Tensor | None], reached: list[bool]
    ) -> list[Tensor]:
        """The outputs in the graph, with tangents; to be called inside a level."""
        given = iter(tangents)
        duals = [
            with_tangent(value, next(given)) if is_watched(value) else value
            for value in self.inputs
        ]
        outputs = as_tuple(self.function(*duals))
        return [output for output, kept in zip(outputs, reached, strict=True) if kept]

    def forward_mode(self, number: int) -> list[Array]:
        """For each output: one row per element of watched input ``number``."""
        zeros: list[Array | None] = [
            np.zeros(tensor.shape, tensor.dtype) for tensor in self.watched
        ]
        rows = [
            self.pushed([*zeros[:number], e, *zeros[number + 1 :]])
            for e in one_hots(self.watched[number])
        ]
        if not rows:
            return [np.zeros((0, output.numel())) for output in self.outputs()]
        return [
            np.stack([tangent.ravel() for tangent in column])
            for column in zip(*rows, strict=True)
        ]

    def _called(self) -> tuple[Any, ...]:
        """All outputs of one call.

        Raises: ArgumentTypeError for one that is not a Tensor.
        """
        outputs = as_tuple(self.function(*self.inputs))
        for output in outputs:
            if not isinstance(output, Tensor):
                raise not_a_tensor(output)
        return outputs

    def _measured(self) -> list[Array]:
        """Copies of the outputs in the graph; of all numbers, if none is in it."""
        outputs = self._called()
        if any([output.requires_grad for output in outputs]):
            outputs = tuple([output for output in outputs if output.requires_grad])
        return [x.array.copy() for x in outputs if x.dtype.kind in "fc"]

    def analytical(self, output: Tensor) -> list[Array]:
        """For each watched input what backward says, one one-hot gradient at a time.

        Shape: (elements of the input, elements of the output).
        """
        columns = [self.pull_back(output, e) for e in one_hots(output)]
        return [
            np.stack([column[i].ravel() for column in columns], axis=1)
            if columns
            else np.zeros((tensor.numel(), 0))
            for i, tensor in enumerate(self.watched)
        ]

    def pull_back(self, output: Tensor, upstream: Array) -> list[Array]:
        """What backward makes of ``upstream`` for each watched input; None is zeros."""
        first = Tensor(upstream.astype(output.dtype))
        gradients = grad(
            output, self.watched, first, retain_graph=True, allow_unused=True
        )
        return [
            np.zeros(tensor.shape, tensor.dtype) if gradient is None else gradient.array
            for tensor, gradient in zip(self.watched, gradients, strict=True)
        ]


def is_watched(value: Any) -> bool:
    """Whether an input is a tensor whose gradient is checked."""
    return isinstance(value, Tensor) and value.requires_grad


def with_tangent(tensor: Tensor, tangent: Tensor | None) -> Tensor:
    """The tensor outside the graph, as a dual unless ``tangent`` is None."""
    plain = tensor.detach()
    return plain if tangent is None else make_dual(plain, tangent)


def tangent_of(output: Tensor) -> Array:
    """The tangent of an output; zeros for none."""
    tangent = unpack_dual(output).tangent
    if tangent is None:
        return np.zeros(output.shape, output.dtype)
    return tangent.array


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Several values as a tuple; one value as a tuple of itself."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def one_hots(tensor: Tensor) -> list[Array]:
    """One direction for each element: 1 there and 0 elsewhere."""
    directions = np.eye(tensor.numel(), dtype=tensor.dtype)
    return [direction.reshape(tensor.shape) for direction in directions]


def not_a_tensor(output: Any) -> errors.ArgumentTypeError:
    """The error for an output that has no slope."""
    return errors.ArgumentTypeError.at(
        "gradcheck",
        f"the function returned a {type(output).__name__} among its outputs",
        "return a Tensor, or a tuple of Tensors",
    )


def writable(tensor: Tensor) -> Array:
    """The memory of an input, to be moved a little.

    Raises: LayoutError if it is read-only.
    """
    if not tensor.array.flags.writeable:
        raise errors.LayoutError.at(
            "gradcheck",
            "the memory of an input is read-only, and gradcheck moves every "
            "element a little",
            "check at a copy: x.detach().clone().requires_grad_()",
        )
    return tensor.array


def check_alike(low: Array, high: Array, eps: float) -> None:
    """Refuse outputs that change their shape or dtype with the input.

    Raises: ArgumentAssertionError.
    """
    for name, a, b in (
        ("shape", low.shape, high.shape),
        ("dtype", low.dtype, high.dtype),
    ):
        if a != b:
            raise errors.ArgumentAssertionError.at(
                "gradcheck",
                f"Expected `func` to return outputs with the same {name} when "
                f"inputs are perturbed by {eps}, but got: {name}s {a} and {b}.",
                "check a function whose outputs keep their form",
            )
