"""The op table against torch: values, slopes, names, dtypes, hard places, refusals."""

import itertools
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.ops import OPS
from tests.ops.laws import arguments, close, rows, variables

OTHER_NAME = {
    "fill": {"FillBackward1"},
    "clamp_min": {"ClampMinBackward0"},
    "einsum": {"ViewBackward0", "MulBackward0", "SumBackward1", "PermuteBackward0"}
    | {"DiagonalBackward0", "UnsafeViewBackward0", "SqueezeBackward0"},
    "clamp_max": {"ClampMaxBackward0"},
    "cross_entropy_loss": {"DivBackward1"},
}
"""torch has several nodes for these; minigrad has one, and so one name."""


def call(module: Any, name: str, values: list[Any]) -> Any:
    """The operation as the module under test spells it."""
    if not hasattr(minigrad, name.partition(".")[0]):
        return call_in_nn(module, name, values)
    if name == "softplus" and module is not minigrad:
        return module.nn.functional.softplus(*values)
    if name == "to":
        return values[0].to(getattr(module, np.dtype(values[1]).name))
    name = name.partition(".")[0]
    values = [as_tensor(module, value) for value in values]
    if name in ("fill", "rsub", "where"):
        return getattr(module, name)(*values)  # torch has no such method
    if name == "round":
        decimals = {"decimals": values[1]} if values[1:] else {}
        return values[0].round(**decimals)
    if isinstance(values[0], tuple) or not hasattr(values[0], name):
        return getattr(module, name)(*values)
    return getattr(values[0], name)(*values[1:])


def call_in_nn(module: Any, name: str, values: list[Any]) -> Any:
    """An operation that is no function of the module: nn.functional calls it."""
    values = [as_tensor(module, value) for value in values]
    if module is minigrad:
        return OPS[name].call(*values)
    options = {"approximate": values.pop()} if name == "gelu" and values[1:] else {}
    return getattr(module._C._nn, name)(*values, **options)


def as_tensor(module: Any, value: Any) -> Any:
    """A mask or an index of a sample as a tensor of the module under test."""
    if isinstance(value, tuple):
        return tuple([as_tensor(module, one) for one in value])
    return module.tensor(value) if isinstance(value, np.ndarray) else value


def slopes(
    module: Any,
    name: str,
    sample: tuple[Any, ...],
    dtype: str,
    differentiable: bool = True,
) -> list[Any]:
    """Output, first and second derivatives, as arrays."""
    inputs = [
        module.tensor(a, dtype=getattr(module, dtype), requires_grad=True)
        for a in variables(sample)
    ]
    output = call(module, name, arguments(sample, inputs, lambda array: array))
    results = list(output) if isinstance(output, tuple) else [output]
    for output in [one for one in results if one.requires_grad and differentiable]:
        grad = module.autograd.grad
        upstream = np.random.default_rng(1).uniform(0.5, 2.0, tuple(output.shape))
        weight = module.tensor(upstream, dtype=output.dtype, requires_grad=True)
        firsts = grad(output, inputs, weight, create_graph=True)
        results += firsts
        for first in firsts:
            # A slope that is constant may have no graph; its own slope is then 0.
            total = first.sum() + 0 * weight.sum()
            results += grad(
                total, [*inputs, weight], retain_graph=True, materialize_grads=True
            )
    if module is minigrad:
        return [one.detach().numpy() for one in results]
    return [one.numpy(force=True) for one in results]  # zeros may have no memory yet


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("row", "sample"), [pytest.param(r, s, id=name) for name, r, s in rows()]
)
def test_values_and_slopes_are_torchs(
    torch: Any, row: Any, sample: tuple[Any, ...], dtype: str
) -> None:
    ours = slopes(minigrad, row.name, sample, dtype, row.differentiable)
    theirs = slopes(torch, row.name, sample, dtype, row.differentiable)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        close(one.astype(np.float64), other.astype(np.float64), tolerance)


@pytest.mark.parametrize(
    ("row", "sample"), [pytest.param(r, s, id=name) for name, r, s in rows(True)]
)
def test_node_names_are_torchs(torch: Any, row: Any, sample: tuple[Any, ...]) -> None:
    names = []
    for module in (minigrad, torch):
        dtype = module.float32 if row.name == "to" else module.float64
        inputs = [
            module.tensor(a, dtype=dtype, requires_grad=True) for a in variables(sample)
        ]
        output = call(module, row.name, arguments(sample, inputs, lambda array: array))
        outputs = output if isinstance(output, tuple) else (output,)
        names.append([o.grad_fn.name() for o in outputs if o.grad_fn is not None])
    assert names[0] == names[1] or names[1][0] in OTHER_NAME.get(row.name, ())


HARD = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan, 1e-30, 1e30, -800.0, 88.9]
ELEMENTWISE = [
    "neg",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "softplus",
    "relu",
]
ELEMENTWISE += [
    *["rsqrt", "expm1", "exp2", "log1p", "log2", "log10", "tan", "asin", "acos"],
    *["atan", "sinh", "cosh", "asinh", "acosh", "atanh", "square", "reciprocal"],
    *["floor", "ceil", "trunc", "sign", "round", "frac"],
]
BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "minimum", "remainder", "fmod"]


def hard_slopes(module: Any, name: str, *arrays: Any) -> list[Any]:
    inputs = [module.tensor(a, requires_grad=True) for a in arrays]
    output = call(module, name, inputs)
    output.sum().backward()
    return [output.detach().numpy(), *[x.grad.numpy() for x in inputs]]


def same_numbers(ours: list[Any], theirs: list[Any], arrays: list[Any]) -> None:
    """Equal to 1e-12 relative, NaN equal to NaN; else the inputs where they differ."""
    for which, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        fits = np.isclose(one, other, rtol=1e-12, atol=1e-290, equal_nan=True)
        wrong = [
            (*(float(a[i]) for a in arrays), float(one[i]), float(other[i]))
            for i in np.flatnonzero(~fits)
        ]
        assert not wrong, f"result {which}: (inputs, ours, torch's) {wrong}"


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_hard_places_of_elementwise_operations(torch: Any, name: str) -> None:
    x = np.array(HARD)
    if name == "softplus":
        # torch passes to the identity above 20; ours is exact to the last digit.
        x = x[~(x > 20) | np.isinf(x)]
    same_numbers(hard_slopes(minigrad, name, x), hard_slopes(torch, name, x), [x])


@pytest.mark.parametrize("name", BINARY)
def test_hard_places_of_operations_on_two(torch: Any, name: str) -> None:
    pairs = np.array(list(itertools.product(HARD[:8], repeat=2)))
    if name == "pow":
        pairs = pairs[~np.isnan(pairs).any(1)]
    a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
    with np.errstate(all="ignore"):
        ours, theirs = hard_slopes(minigrad, name, a, b), hard_slopes(torch, name, a, b)
    same_numbers(ours, theirs, [a, b])


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 0.0, -0.5])
def test_hard_places_of_powers_with_a_number(torch: Any, exponent: float) -> None:
    x = np.array(HARD[:8])
    if exponent in (0.5, -0.5):
        x = x[~np.signbit(x)]  # torch takes the square root of -0.0 and -inf
    results = []
    for module in (minigrad, torch):
        one = module.tensor(x, requires_grad=True)
        y = one**exponent
        y.backward(module.ones_like(y))
        results.append([y.detach().numpy(), one.grad.numpy()])
    same_numbers(*results, [x])


REFUSALS: list[tuple[Any, type[errors.MinigradError], str]] = [
    (lambda m: m.ones(2, 3).sum(2), errors.DimensionError, "Dimension out of range"),
    (
        lambda m: m.ones(2, 3).transpose(0, 2),
        errors.DimensionError,
        "Dimension out of range",
    ),
    (
        lambda m: m.ones(2, 3).expand(2, 4),
        errors.ShapeError,
        "The expanded size of the tensor (4) must match the existing size (3) at "
        "non-singleton dimension 1",
    ),
    (
        lambda m: m.ones(2, 3).expand(3),
        errors.ShapeError,
        "the number of sizes provided (1) must be greater or equal to the number of "
        "dimensions in the tensor (2)",
    ),
    (
        lambda m: m.tensor([1, 2]).mean(),
        errors.OperandError,
        "could not infer output dtype. Input dtype must be either a floating point",
    ),
    (
        lambda m: m.ones(4, 3) + m.ones(2),
        errors.ShapeError,
        "The size of tensor a (3) must match the size of tensor b (2) at "
        "non-singleton dimension 1",
    ),
    (
        lambda m: m.ones(2, 3) @ m.ones(2, 3),
        errors.ShapeError,
        "mat1 and mat2 shapes cannot be multiplied (",
    ),
    (
        lambda m: m.ones(2, 3).reshape(4, 2),
        errors.ShapeError,
        "shape '[4, 2]' is invalid for input of size 6",
    ),
    (lambda m: m.ones(2) + "a", errors.ArgumentTypeError, " "),
    (lambda m: m.ones(2) + None, errors.ArgumentTypeError, " "),
    (
        lambda m: m.exp(np.array(1.0)),
        errors.ArgumentTypeError,
        "must be Tensor, not numpy.ndarray",
    ),
    (
        lambda m: m.from_numpy(3),
        errors.ArgumentTypeError,
        "expected np.ndarray (got int)",
    ),
    (
        lambda m: m.set_default_dtype(m.int64),
        errors.ArgumentTypeError,
        "only floating-point types are supported as the default type",
    ),
    (lambda m: m.tensor([[1, 2], [3]]), errors.ArgumentValueError, " "),
    (lambda m: m.tensor("text"), errors.ArgumentTypeError, " "),
    (
        lambda m: bool(m.ones(2)),
        errors.ShapeError,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
]


@pytest.mark.parametrize(("use", "kind", "says"), REFUSALS)
def test_refusals_are_torchs_in_class_and_words(
    torch: Any, use: Any, kind: type[errors.MinigradError], says: str
) -> None:
    from tests.engine.support import raises

    for module in (minigrad, torch):
        with raises(module, kind, says):
            use(module)


FINITE = [[1.0, 2.0, 2.0], [3.0, -1.0, 0.0]]
HARD_ROWS = [[1.0, np.nan, 3.0], [np.inf, 2.0, -np.inf], [2.0, 2.0, 1.0]]
ARRAYS = {
    "finite": np.array(FINITE),
    "hard": np.array(HARD_ROWS),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
    "single": np.array(2.5),
    "one": np.array([[4.0]]),
}
ALONG = ["sum", "mean", "amax", "amin", "max", "min", "logsumexp", "softmax"]
ALONG += ["log_softmax", "cumsum", "sort", "flip", "norm", "all", "argmax", "prod"]


def outcome(module: Any, name: str, array: Any, *dims: int) -> list[Any]:
    """Values and slopes, or the kind of the error."""
    x = module.tensor(array, requires_grad=True)
    options = {"dim": dims[0]} if dims and name == "norm" else {}
    try:
        result = getattr(x, name)(*(() if options else dims), **options)
    except Exception as error:
        kinds = [k for k in type(error).__mro__ if k.__module__ == "builtins"]
        return [kinds[0].__name__]
    first = result[0] if isinstance(result, tuple) else result
    if not first.requires_grad:
        return [first.numpy()]
    first.backward(module.full_like(first, 2.0))
    return [first.detach().numpy(), x.grad.numpy()]


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("kind", sorted(ARRAYS))
def test_hard_places_along_dimensions(torch: Any, name: str, kind: str) -> None:
    if (name, kind) == ("norm", "hard"):
        return  # torch's slope of an infinite norm is its own affair
    array = ARRAYS[kind]
    for dims in ((), (0,), (-1,), (1,), (-2,), (2,)):
        if not dims and name not in ("sum", "mean", "max", "min", "amax", "amin"):
            continue
        with np.errstate(all="ignore"):
            ours = outcome(minigrad, name, array, *dims)
            theirs = outcome(torch, name, array, *dims)
        assert len(ours) == len(theirs), (dims, ours, theirs)
        for one, other in zip(ours, theirs, strict=True):
            if isinstance(other, str):
                assert one == other, (dims, ours, theirs)
            else:
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)
