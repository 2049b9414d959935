"""Questions about tensors whose answer is no tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.engine import promotion
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.dtypes import DType, known_dtype
from minigrad.engine.interpreters import dispatched
from minigrad.engine.operands import must_be_tensor
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


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero.

    Raises: ShapeError for a tensor of more or fewer elements.
    """
    check_tensor("is_nonzero", input)
    return bool(input)


@dispatched("read_values")
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    >>> minigrad.equal(minigrad.tensor([1, 2]), minigrad.tensor([1, 2]))
    True
    """
    check_tensor("equal", input)
    check_tensor("equal", other, "other", 2)
    return np.array_equal(input.array, other.array)


@dispatched("read_values")
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


def add_question(name: str, says: str, answer: str = "bool") -> None:
    """The function that calls a method which Tensor has already."""

    def ask(input: Tensor) -> Any:
        check_tensor(name, input)
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = says
    ask.__annotations__["return"] = answer
    publish(name, ask, method=False)


add_question("numel", "The number of elements.", "int")
add_question("is_floating_point", "Whether the elements are floating-point numbers.")
add_question("is_complex", "Whether the elements are complex numbers.")
add_question(
    "is_inference",
    "Whether it was made in inference mode, and is no view of a normal tensor.",
)
for question in (equal, allclose, is_nonzero):
    publish(question.__name__, question)
