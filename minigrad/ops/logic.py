"""Questions to every element, and what to make of the answers: no gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array
from minigrad.engine.promotion import promoted
from minigrad.ops._refusals import check_kind
from minigrad.ops._registry import alias, answer, op
from minigrad.ops.reduce import Dim, axes, check_dim

SAMPLES: list[tuple[Any, ...]] = [([0.0, -1.5, np.inf, np.nan],), (2.0,)]
PAIRS: list[tuple[Any, ...]] = [([0.0, 1.0, 2.0], [1.0, 0.0, 3.0])]
BITS: list[tuple[Any, ...]] = [
    (np.array([True, True, False]), np.array([True, False, False])),
    (np.array([6, 3]), np.array([5, 5])),
]


def question(name: str, compute: Callable[[Any], Any], says: str) -> type[Builtin]:
    """One question to every element, registered."""

    def forward(input: Any) -> Any:
        return compute(input)

    doc = f"{says}, elementwise, as bools."
    return answer(name, forward, doc=doc, reference=compute, samples=SAMPLES)


question("isnan", np.isnan, "Whether it is not a number")
question("isinf", np.isinf, "Whether it is infinite")
question("isfinite", np.isfinite, "Whether it is neither infinite nor NaN")
question("isposinf", lambda x: np.asarray(x) == np.inf, "Whether it is infinity")
question("isneginf", lambda x: np.asarray(x) == -np.inf, "Whether it is -infinity")
question("signbit", np.signbit, "Whether there is a minus before it")
question("logical_not", np.logical_not, "Whether it is 0 or False")


def of_two(
    name: str,
    compute: Any,
    says: str,
    samples: list[tuple[Any, ...]],
    operator: str | None = None,
) -> type[Builtin]:
    """One combination of two answers, registered."""

    def forward(input: Any, other: Any) -> Any:
        a, b = promoted(input, other)
        if operator is not None:
            check_bits(name, a)
        return compute(a, b)

    return answer(
        name,
        forward,
        operands=2,
        doc=f"{says}, elementwise.",
        reference=compute,
        samples=samples,
        operator=operator,
        in_place=True,
    )


def check_bits(where: str, array: Any) -> None:
    """Refuse the bits of floating-point numbers."""
    fix = "compare first: the result of x > 0 is a tensor of bools"
    check_kind(where, f"{where}_cpu", np.asarray(array).dtype, "biu", fix)


of_two("logical_and", np.logical_and, "Whether both are true", PAIRS)
of_two("logical_or", np.logical_or, "Whether one is true", PAIRS)
of_two("logical_xor", np.logical_xor, "Whether just one is true", PAIRS)
of_two("bitwise_and", np.bitwise_and, "The bits that both have", BITS, "and")
of_two("bitwise_or", np.bitwise_or, "The bits that one has", BITS, "or")
of_two("bitwise_xor", np.bitwise_xor, "The bits that just one has", BITS, "xor")


@op(
    "bitwise_not",
    reference=np.invert,
    samples=[(np.array([True, False]),), (np.array([0, 5]),)],
    operator="invert",
    differentiable=False,
)
class BitwiseNot(Builtin):
    """Every bit turned; of bools, the opposite.

    >>> ~minigrad.tensor([True, False])
    tensor([False,  True])
    """

    elementwise = True

    @staticmethod
    def forward(input: Array) -> Any:
        check_bits("bitwise_not", input)
        return np.invert(input)


@op(
    "isclose",
    reference=np.isclose,
    samples=[([1.0, 2.0], [1.0, 2.1])],
    differentiable=False,
)
class Isclose(Builtin):
    """Whether two differ by at most ``atol + rtol * abs(other)``, elementwise.

    >>> minigrad.isclose(minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 2.1]))
    tensor([ True, False])
    """

    elementwise = True

    @staticmethod
    def forward(
        input: Array,
        other: Array,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Any:
        return np.isclose(input, other, rtol, atol, equal_nan)


def over_dimensions(name: str, compute: Any, says: str) -> type[Builtin]:
    """One question to all elements along some dimensions, registered."""

    class Question(Builtin):
        dim_at = 1

        in_rows = True

        @staticmethod
        def forward(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
            check_dim(input, dim)
            answers = np.asarray(compute(input, axis=axes(dim), keepdims=keepdim))
            # torch's bytes were its bools once, and answer with a byte.
            return answers.astype(input.dtype) if input.dtype == np.uint8 else answers

    return op(
        name,
        doc=f"{says}, over ``dim`` or over everything.",
        reference=lambda x, dim=None, keepdim=False: compute(
            x, axis=axes(dim), keepdims=keepdim
        ),
        samples=[([[1.0, 0.0], [1.0, 2.0]],), ([[1.0, 0.0], [1.0, 2.0]], 1)],
        differentiable=False,
    )(Question)


over_dimensions("all", np.all, "Whether all are true")
over_dimensions("any", np.any, "Whether one is true")


@op(
    "count_nonzero",
    reference=lambda x, dim=None: np.count_nonzero(x, axis=dim),
    samples=[([[1.0, 0.0], [1.0, 2.0]],), ([[1.0, 0.0], [1.0, 2.0]], 1)],
    differentiable=False,
)
class CountNonzero(Builtin):
    """How many elements are not 0.

    >>> minigrad.tensor([1.0, 0.0, 3.0]).count_nonzero()
    tensor(2)
    """

    dim_at = 1
    in_rows = True

    @staticmethod
    def forward(input: Array, dim: Dim = None) -> Any:
        check_dim(input, dim)
        return np.asarray(np.count_nonzero(input, axis=axes(dim)))


for name, original in {
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
}.items():
    alias(name, original)
