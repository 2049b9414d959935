"""Rows of a table by their numbers, and elements dropped at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors, kernels
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import check_is_tensor
from minigrad.engine.errstate import quietly
from minigrad.engine.interpreters import dispatched
from minigrad.engine.randomness import source
from minigrad.ops._registry import composite, op, recorded_as
from minigrad.ops.choose import kept
from minigrad.ops.elementwise import plain

MATRIX = [[1.0, 5.0, 3.0], [4.0, -2.0, 6.0]]
WORDS = np.array([[1, 0, 1], [1, 1, 0]])


def of_table(weight: Tensor, indices: Tensor, padding_idx: int = -1) -> tuple[Any, ...]:
    """The arguments, if they are a table and whole numbers.

    Raises: OperandError, ShapeError.
    """
    check_is_tensor(weight, "embedding")
    check_is_tensor(indices, "embedding")
    if weight.ndim != 2:
        raise errors.ShapeError.at(
            "embedding", "'weight' must be 2-D", "give one row for each number"
        )
    if np.dtype(indices.dtype) not in (np.int64, np.int32):
        raise errors.OperandError.at(
            "embedding",
            "Expected tensor for argument #1 'indices' to have one of the "
            f"following scalar types: Long, Int; but got {indices.type()} instead "
            "(while checking arguments for embedding)",
            "convert: indices.long()",
        )
    return weight, indices, padding_idx


@op(
    "embedding",
    reference=lambda weight, indices: np.asarray(weight)[indices],
    samples=[(MATRIX, WORDS), (MATRIX, np.array(1))],
    arguments=of_table,
    method=False,
)
class Embedding(Builtin):
    """The row of ``weight`` for each index; ``padding_idx`` gets no gradient.

    Saves: the indices.
    Raises: ShapeError unless ``weight`` is a table; OperandError unless the indices are
    whole numbers; IndexingError for a row that is not there.

    >>> table = minigrad.tensor([[0.0, 0.5], [1.0, 1.5]])
    >>> minigrad.embedding(table, minigrad.tensor([1, 1, 0]))
    tensor([[1.0000, 1.5000],
            [1.0000, 1.5000],
            [0.0000, 0.5000]])
    """

    one_by_one = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, weight: Tensor, *more: Any) -> Any:
        """The rows for the indices of every example, from one table."""
        if in_dims[0] is not None:
            return NotImplemented
        return Embedding.apply(weight, *more), 0

    linear = True
    without_edges = (1,)
    saved_names = ("indices",)

    @staticmethod
    def forward(weight: Array, indices: Array, padding_idx: int) -> Any:
        length = len(weight)
        if indices.size and not (indices.min() >= 0 and indices.max() < length):
            raise errors.IndexingError.at(
                "embedding",
                f"index out of range in self: {indices.min()} to {indices.max()} "
                f"in a table of {length}",
                f"use indices from 0 to {length - 1}",
            )
        return np.take(weight, indices, 0)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.length, ctx.padding_idx = inputs[0].shape[0], inputs[2]
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (indices,) = ctx.saved_values
        table = EmbeddingSlope.of(grad, indices, ctx.length, ctx.padding_idx)
        return table, None, None


class EmbeddingSlope(Builtin):
    """Each gradient added to the row that its index names, but not to the padding."""

    one_by_one = True
    linear = True
    without_edges = (1,)

    @staticmethod
    def forward(grad: Array, indices: Array, length: int, padding_idx: int) -> Any:
        table = np.zeros((length, grad.shape[-1]), grad.dtype)
        rows = np.ascontiguousarray(grad).reshape(indices.size, grad.shape[-1])
        kernels.lookup.add_rows(table, indices.reshape(-1), rows)
        if padding_idx >= 0:
            table[padding_idx] = 0
        return table

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.padding_idx = inputs[3]
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (indices,) = ctx.saved_values
        counted = plain(indices) != ctx.padding_idx
        rows = Embedding.of(grad, indices, ctx.padding_idx)
        return kept(ctx, rows, np.asarray(counted)[..., None]), None, None, None


# torch multiplies by a tensor that it keeps; the seed is kept here in its place.
@recorded_as("MulBackward0")
class Dropout(Builtin):
    """Some elements 0, the others larger; which, is computed from a seed each time."""

    one_by_one = True
    linear = True

    @staticmethod
    @quietly
    def forward(input: Array, p: float, seed: int) -> Any:
        if input.dtype.kind != "f":
            raise errors.OperandError.at(
                "dropout",
                "result type Float can't be cast to the desired output type "
                f"{input.dtype}",
                "use a floating-point tensor",
            )
        return kernels.randomness.dropout(input, p, seed)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, ctx.p, ctx.seed = inputs

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Dropout.of(grad, ctx.p, ctx.seed), None, None


@composite(
    "dropout",
    reference=lambda x, p, train: np.multiply(x, 0 if train else 1),
    samples=[(MATRIX, 1, True), (2.0, 1, True)],
    method=False,
)
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Each element 0 with probability ``p``, else times 1 / (1 - p).

    Without ``train`` the input itself. What is dropped follows from the seed
    (``minigrad.manual_seed``), and a backward drops the same.
    Raises: OperandError for a ``p`` outside of 0 to 1; for integers.

    >>> minigrad.dropout(minigrad.ones(3), 0.5, train=False)
    tensor([1., 1., 1.])
    """
    check_is_tensor(input, "dropout")
    if not 0 <= p <= 1:
        raise errors.OperandError.at(
            "dropout",
            f"dropout probability has to be between 0 and 1, but got {p}",
            "give a probability",
        )
    if not train or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input * Tensor(np.zeros((), input.dtype))
    return dropped(input, p)


@dispatched("drop")
def dropped(input: Tensor, p: float) -> Tensor:
    """Each element 0 with probability ``p``, else times 1 / (1 - p)."""
    result: Tensor = Dropout.apply(input, p, drawn_seed())
    return result


def drawn_seed() -> int:
    """A number that decides what is dropped, from the random numbers that all share."""
    return int(source(None).integers(2**63))
