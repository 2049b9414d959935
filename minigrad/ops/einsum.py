"""Sums of products along named indices."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.operands import must_be_tensor
from minigrad.ops._registry import op
from minigrad.ops.elementwise import like, product_rule

LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
B = [[0.5, -1.0], [2.0, 0.0], [1.0, 1.0]]


def einsum_arguments(equation: str, *operands: Any) -> tuple[Any, ...]:
    """The tensors, one by one or in a list, and the equation behind them."""
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    for position, value in enumerate(operands):
        if not isinstance(value, Tensor):
            raise must_be_tensor("einsum", f"operands[{position}]", 2, value)
    shapes = [tuple(value.shape) for value in operands]
    inputs, output = letters(equation, shapes)
    inputs, ones = without_diagonals(inputs, operands)
    return *operands, *ones, f"{','.join(inputs)}->{output}"


def letters(equation: str, shapes: list[tuple[int, ...]]) -> tuple[list[str], str]:
    """The indices of each operand and of the result; an ellipsis gets letters.

    Raises: ShapeError if they do not name the dimensions.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(shapes):
        raise does_not_fit(f"{len(inputs)} terms for {len(shapes)} operands", equation)
    free = [c for c in LETTERS if c not in equation]
    most = 0
    for place, (term, shape) in enumerate(zip(inputs, shapes, strict=True)):
        if "..." in term:
            number = len(shape) - len(term) + 3
            most = max(most, number)
            inputs[place] = term.replace("...", "".join(free[:number][::-1]))
        if len(inputs[place]) != len(shape):
            raise does_not_fit(
                f"the term '{term}' for an operand of {len(shape)} dimensions", equation
            )
    rest = "".join(free[:most][::-1])
    if arrow:
        return inputs, right.replace("...", rest)
    named = "".join(inputs)
    once = [c for c in sorted(set(named)) if named.count(c) == 1 and c not in rest]
    return inputs, rest + "".join(once)


def does_not_fit(what: str, equation: str) -> errors.ShapeError:
    """The error for an equation that does not name the dimensions."""
    return errors.ShapeError.at(
        "einsum()",
        "the number of subscripts in the equation does not match the number of "
        f"dimensions: '{equation}' has {what}",
        'name each dimension by one letter, for example "ij,jk->ik"',
    )


def without_diagonals(
    inputs: list[str], operands: tuple[Tensor, ...]
) -> tuple[list[str], list[Tensor]]:
    """An index named twice in a term becomes two, tied by a matrix of ones.

    So a rule need only exchange terms.
    """
    used = set("".join(inputs))
    fresh = iter([c for c in LETTERS if c not in used])
    terms, ties = list(inputs), []
    for place, term in enumerate(inputs):
        for index, letter in enumerate(term):
            if letter in term[:index]:
                new = next(fresh)
                terms[place] = terms[place][:index] + new + terms[place][index + 1 :]
                given = operands[place]
                ties.append(Tensor(np.eye(given.shape[index], dtype=given.dtype)))
                terms.append(letter + new)
    return terms, ties


@op(
    "einsum",
    reference=lambda equation, *operands: np.einsum(equation, *operands),
    samples=[
        ("ij,jk->ik", A, B),
        ("ij,jk", A, B),
        ("ij->j", A),
        ("ij,ij,ij->i", A, A, A),
        ("...ij,jk->...ik", [A, A], B),
        ("ii->i", [[1.0, 2.0], [3.0, 4.0]]),
        ("i,j->ij", [1.0, 2.0], [3.0, 4.0]),
    ],
    arguments=einsum_arguments,
    method=False,
)
class Einsum(Builtin):
    """Products summed over every index that the result does not name.

    Torch computes it by reshaping and multiplying matrices, and records those; here it
    is one node.

    >>> minigrad.einsum("ij,j->i", minigrad.ones(2, 3), minigrad.arange(3.0))
    tensor([3., 3.])
    """

    operands = 2
    numbers_have_edges = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        """That of every example: a letter more, which the result names too."""
        *tensors, equation = arguments
        terms, output = split(equation)
        letter = next(c for c in LETTERS if c not in equation)
        batched = [
            term if dim is None else letter + term
            for term, dim in zip(terms, in_dims, strict=False)
        ]
        whole = f"{','.join(batched)}->{letter}{output}"
        return Einsum.apply(*tensors, whole), 0

    @staticmethod
    def forward(*arguments: Any) -> Any:
        *arrays, equation = arguments
        try:
            return np.einsum(equation, *arrays)
        except ValueError as error:
            raise errors.ShapeError.at(
                "einsum()",
                f"operands do not fit '{equation}': {error}",
                "an index has the same length wherever it is named",
            ) from None

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *tensors, ctx.equation = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        terms, output = split(ctx.equation)
        values = ctx.saved_values
        gradients: list[Any] = []
        for place, needed in enumerate(ctx.needs_input_grad[:-1]):
            if not needed:
                gradients.append(None)
                continue
            others = [*values[:place], *values[place + 1 :]]
            other_terms = [*terms[:place], *terms[place + 1 :]]
            # An index that nothing else names was summed: each element gets the same.
            shape = values[place].shape
            for letter, length in zip(terms[place], shape, strict=True):
                if letter not in output + "".join(other_terms):
                    others.append(like(grad, np.ones(length, grad.dtype)))
                    other_terms.append(letter)
            equation = f"{','.join([output, *other_terms])}->{terms[place]}"
            gradients.append(Einsum.of(grad, *others, equation))
        return *gradients, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        values = ctx.saved_values
        return product_rule(Einsum.apply, values, tangents[:-1], ctx.equation)


def split(equation: str) -> tuple[list[str], str]:
    """The terms of the operands, and that of the result."""
    left, _, output = equation.partition("->")
    return left.split(","), output
