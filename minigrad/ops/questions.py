"""Questions about tensors whose answer is no tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.engine import promotion
from minigrad.engine.builtin import must_be_tensor
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.dtypes import DType, known_dtype
from minigrad.engine.interpreters import door
from minigrad.ops._registry import publish


def check_tensor(
    where: str, value: Any, name: str = "input", position: int = 1
) -> None:
    """Refuse what is no Tensor.

    Raises: ArgumentTypeError.
    """
    if not isinstance(value, Tensor):
        raise must_be_tensor(where, name, position, value)


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """The dtype of an operation on two tensors or numbers.

    See: torch ``result_type``.

    >>> minigrad.result_type(minigrad.tensor([1, 2]), 1.0)
    minigrad.float32
    """
    a, b = (x.array if isinstance(x, Tensor) else x for x in (tensor1, tensor2))
    return known_dtype(promotion.result_type(a, b))


def numel(input: Tensor) -> int:
    """The number of elements."""
    check_tensor("numel", input)
    return input.numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floating-point numbers."""
    check_tensor("is_floating_point", input)
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    check_tensor("is_complex", input)
    return input.is_complex()


def is_inference(input: Tensor) -> bool:
    """Whether it was made in inference mode, and is no view of a normal tensor."""
    check_tensor("is_inference", input)
    return input.is_inference()


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero.

    Raises: ShapeError for a tensor of more or fewer elements.
    """
    check_tensor("is_nonzero", input)
    return bool(input)


@door("read_values")
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    >>> minigrad.equal(minigrad.tensor([1, 2]), minigrad.tensor([1, 2]))
    True
    """
    check_tensor("equal", input)
    check_tensor("equal", other, "other", 2)
    return np.array_equal(input.array, other.array)


@door("read_values")
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements differ by at most ``atol + rtol * abs(other)``.

    >>> minigrad.allclose(minigrad.tensor([1.0]), minigrad.tensor([1.0 + 1e-7]))
    True
    """
    check_tensor("allclose", input)
    check_tensor("allclose", other, "other", 2)
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))


QUESTIONS: list[Callable[..., Any]] = [equal, allclose, is_nonzero]
FUNCTIONS: list[Callable[..., Any]] = [
    numel,
    is_floating_point,
    is_complex,
    is_inference,
]

for question in QUESTIONS:
    publish(question.__name__, question)
for question in FUNCTIONS:
    publish(question.__name__, question, method=False)
