"""One of several values for each element; the gradient goes where it came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.examples import lined_up
from minigrad.engine.interpreters import dispatched
from minigrad.engine.promotion import promoted
from minigrad.ops._refusals import check_array, check_two_tensors
from minigrad.ops._registry import alias, composite, op, publish
from minigrad.ops.arithmetic import keep_operands, operands
from minigrad.ops.elementwise import ByParts, like, plain, zeros_of

MASK = np.array([True, False, True])
ROW = [1.0, -2.0, 0.5]
OTHER = [3.0, 0.25, -4.0]


def check_mask(where: str, mask: Any) -> None:
    """Refuse what is no tensor of bools.

    Raises: ArgumentTypeError; OperandError.
    """
    check_array(where, "condition", 1, mask)
    if mask.dtype.kind != "b":
        raise errors.OperandError.at(
            where,
            f"expected condition to be a boolean tensor, but got a tensor with "
            f"dtype {mask.dtype}",
            "compare first, for example x > 0",
        )


@op(
    "where.self",
    reference=np.where,
    samples=[(MASK, ROW, OTHER), (MASK, ROW, 0.0), (MASK, [[1.0], [2.0]], ROW)],
)
class Where(Builtin):
    """``input`` where ``condition`` is true, ``other`` where it is not.

    >>> x = minigrad.tensor([1.0, -2.0])
    >>> minigrad.where(x > 0, x, 0.0)
    tensor([1., 0.])
    """

    elementwise = True
    operands = 3
    without_edges = (0,)
    saved_names = ("condition",)

    @staticmethod
    def forward(condition: Array, input: Any, other: Any) -> Any:
        check_mask("where", condition)
        return np.where(condition, *promoted(input, other))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (condition,) = ctx.saved_values
        _, needs_input, needs_other = ctx.needs_input_grad
        zero = zeros_of(grad)
        return (
            None,
            Where.of(condition, grad, zero) if needs_input else None,
            Where.of(condition, zero, grad) if needs_other else None,
        )

    @staticmethod
    def jvp(ctx: Any, condition: Any, input_t: Any, other_t: Any) -> Any:
        (condition,) = ctx.saved_values
        given = input_t if input_t is not None else other_t
        zero = zeros_of(given)
        return Where.of(
            condition,
            zero if input_t is None else input_t,
            zero if other_t is None else other_t,
        )


@composite("where", method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where ``condition`` is true, ``other`` where it is not.

    As a method: ``input.where(condition, other)``. With the condition alone, where it
    is true: one tensor of indices for each dimension.

    >>> x = minigrad.tensor([1.0, -2.0])
    >>> minigrad.where(x > 0, x, 0.0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return Where.apply(condition, input, other)


def where_method(self: Tensor, condition: Any, other: Any) -> Tensor:
    """This tensor where ``condition`` is true, ``other`` where it is not."""
    result: Tensor = Where.apply(condition, self, other)
    return result


publish("where", where_method, function=False)


@op(
    "masked_fill",
    node_name=lambda input, mask, value: (
        f"MaskedFillBackward{1 if isinstance(value, Tensor) else 0}"
    ),
    reference=lambda x, mask, value: np.where(mask, value, x),
    samples=[(ROW, MASK, 7), (ROW, MASK, 0.5), ([ROW, OTHER], MASK, 2)],
    in_place=True,
)
class MaskedFill(Builtin):
    """``value`` where ``mask`` is true, the input where it is not.

    >>> x = minigrad.tensor([1.0, -2.0])
    >>> x.masked_fill(x < 0, 0.0)
    tensor([1., 0.])
    """

    operands = 3
    numbers_have_edges = False
    without_edges = (1,)
    in_rows = True
    saved_names = ("mask",)
    one_by_one = True

    @staticmethod
    def vmap(info: Any, in_dims: Any, *values: Any) -> Any:
        """Every example filled, with one value for all."""
        if in_dims[2] is not None:
            return NotImplemented
        input, mask = lined_up(values[:2], in_dims[:2])
        return MaskedFill.apply(input, mask, values[2]), 0

    @staticmethod
    def forward(input: Array, mask: Array, value: Any) -> Any:
        check_array("masked_fill", "input", 1, input)
        check_mask("masked_fill", mask)
        if np.ndim(value):
            raise errors.ShapeError.at(
                "masked_fill",
                "masked_fill only supports a 0-dimensional value tensor, but got "
                f"tensor with {errors.count_of(np.ndim(value), 'dimension')}.",
                "give one number, or use where",
            )
        return np.where(mask, np.asarray(value, input.dtype), input)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (mask,) = ctx.saved_values
        zero = zeros_of(grad)
        into_value = Where.of(mask, grad, zero) if ctx.needs_input_grad[2] else None
        return Where.of(mask, zero, grad), None, into_value

    @staticmethod
    def jvp(ctx: Any, input_t: Any, mask: Any, value_t: Any) -> Any:
        return Where.jvp(ctx, None, value_t, input_t)


def kept(ctx: Any, grad: Any, mask: Any) -> Any:
    """``grad`` where the array ``mask`` is true, else 0: no nan from infinity."""
    mask, zero = np.asarray(mask), zeros_of(grad)
    if isinstance(grad, Tensor):
        return Where.apply(Tensor(mask), grad, zero)
    return Where.forward(mask, grad, zero)


PAIRS: list[tuple[Any, ...]] = [(ROW, OTHER), (2.0, OTHER), ([[1.5], [0.3]], ROW)]


def extreme(name: str, choose: Any, loses: Any, doc: str) -> type[Builtin]:
    """One of two elements, registered; ``loses`` says of which first ones it is not.

    Between equals the gradient is shared.
    """

    class Extreme(ByParts):
        elementwise = True
        operands = 2
        saved_names = ("other", "self")

        @staticmethod
        def forward(input: Array, other: Array) -> Any:
            check_two_tensors(name, input, other)
            return choose(*promoted(input, other))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
            keep_operands(ctx, inputs)

        @staticmethod
        def parts(ctx: Any, *moved: Any) -> Any:
            a, b = [plain(value) for value in operands(ctx)]
            half = np.where(a == b, 0.5, 1.0).astype(np.result_type(a, b))
            pairs = zip(moved, (loses(a, b), loses(b, a)), strict=True)
            return [
                None if value is None else kept(ctx, value * like(value, half), ~lost)
                for value, lost in pairs
            ]

    return op(name, doc=doc, reference=choose, samples=PAIRS)(Extreme)


Maximum = extreme(
    "maximum",
    np.maximum,
    np.less,
    """The greater of two, elementwise; NaN if one is. Equals share the gradient.

    >>> minigrad.maximum(minigrad.tensor([1.0, 5.0]), minigrad.tensor([3.0, 2.0]))
    tensor([3., 5.])
    """,
)
Minimum = extreme(
    "minimum",
    np.minimum,
    np.greater,
    """The smaller of two, elementwise; NaN if one is. Equals share the gradient.

    >>> minigrad.minimum(minigrad.tensor([1.0, 5.0]), minigrad.tensor([3.0, 2.0]))
    tensor([1., 2.])
    """,
)


def clamp_name(input: Any, min: Any, max: Any) -> str:
    """The name of the node: 0 for bounds that are tensors, 1 for numbers."""
    are_tensors = isinstance(min, Tensor) or isinstance(max, Tensor)
    return f"ClampBackward{0 if are_tensors else 1}"


@op(
    "clamp",
    node_name=clamp_name,
    reference=lambda x, min=None, max=None: np.clip(x, min, max),
    samples=[(ROW, -1, 2), (ROW, None, 0), (ROW, 0), (ROW, [0.0, -3.0, 0.2], OTHER)],
    in_place=True,
)
class Clamp(ByParts):
    """Each element, but not below ``min`` nor above ``max``; either may be left out.

    Slope: 1 from bound to bound, both included; 0 beyond.
    Raises: OperandError without a bound.

    >>> minigrad.tensor([-2.0, 0.5, 3.0]).clamp(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """

    elementwise = True
    operands = 3
    saved_names = ("max", "min", "self")

    @classmethod
    def _own_edges(cls, inputs: tuple[Any, ...], collected: Any) -> Any:
        if any([isinstance(bound, Tensor) for bound in inputs[1:]]):
            return super()._own_edges(inputs, collected)
        return collected

    @staticmethod
    def forward(input: Array, min: Any = None, max: Any = None) -> Any:
        check_array("clamp", "input", 1, input)
        if min is None and max is None:
            raise errors.OperandError.at(
                "clamp",
                "torch.clamp: At least one of 'min' or 'max' must not be None",
                "give a bound: x.clamp(min=0)",
            )
        result: Any = input
        if min is not None:
            result = np.asarray(np.maximum(*promoted(result, min)))
        if max is not None:
            result = np.minimum(*promoted(result, max))
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        last_first = inputs[::-1]
        ctx.save_for_backward(
            *[x if isinstance(x, Tensor) else None for x in last_first]
        )
        ctx.numbers = [None if isinstance(x, Tensor) else x for x in last_first]

    @staticmethod
    def parts(ctx: Any, *moved: Any) -> Any:
        high, low, input = [
            plain(number if value is None else value)
            for value, number in zip(ctx.saved_values, ctx.numbers, strict=True)
        ]
        below = False if low is None else input < low
        above = False if high is None else input > high
        if low is not None and high is not None:
            below = below & np.asarray(low < high)
            above = above | np.asarray(high < low)
        inside = ~np.isnan(input)
        if low is not None:
            inside = inside & np.asarray(input >= low)
        if high is not None:
            inside = inside & np.asarray(input <= high)
        masks = (inside, below, above)
        return [
            None if value is None else kept(ctx, value, mask)
            for value, mask in zip(moved, masks, strict=True)
        ]


alias("clip", "clamp")


@composite("clamp_min", reference=lambda x, min: np.maximum(x, min), samples=[(ROW, 0)])
def clamp_min(input: Tensor, min: Any) -> Any:
    """Each element, but not below ``min``."""
    return Clamp.apply(input, min, None)


@composite("clamp_max", reference=lambda x, max: np.minimum(x, max), samples=[(ROW, 0)])
def clamp_max(input: Tensor, max: Any) -> Any:
    """Each element, but not above ``max``."""
    return Clamp.apply(input, None, max)


@composite(
    "nonzero",
    reference=lambda x, as_tuple=False: np.argwhere(x),
    samples=[([[0.0, 1.0], [2.0, 0.0]],)],
    differentiable=False,
)
@dispatched("from_values")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: a row for each.

    With ``as_tuple`` one tensor for each dimension, to index with.
    """
    if as_tuple:
        return tuple(
            [Tensor(index) for index in np.nonzero(np.atleast_1d(input.array))]
        )
    return Tensor(np.argwhere(input.array))
