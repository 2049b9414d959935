"""Dtypes of results against torch: every pair of dtypes, on every kind of operand."""

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad

KINDS = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
]
OPERANDS = [
    *[(kind, shape) for kind in KINDS for shape in ((2,), ())],
    *[("number", value) for value in (True, 3, 0.5)],
]
BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, a, b: a + b,
    "sub": lambda m, a, b: a - b,
    "mul": lambda m, a, b: a * b,
    "div": lambda m, a, b: a / b,
    "pow": lambda m, a, b: a**b,
    "floordiv": lambda m, a, b: a // b,
    "remainder": lambda m, a, b: a % b,
    "lt": lambda m, a, b: a < b,
    "eq": lambda m, a, b: a == b,
    "where": lambda m, a, b: m.where(m.tensor([True, False]), a, b),
    "result_type": lambda m, a, b: m.result_type(a, b),
    "maximum": lambda m, a, b: m.maximum(a, b),
    "cat": lambda m, a, b: m.cat([a, b]),
    "stack": lambda m, a, b: m.stack([a, b]),
    "add_": lambda m, a, b: a.add_(b),
    "mul_": lambda m, a, b: a.mul_(b),
    "div_": lambda m, a, b: a.div_(b),
    "logical_and": lambda m, a, b: m.logical_and(a, b),
    "bitwise_and": lambda m, a, b: a & b,
}
REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "sum of one dimension": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "prod": lambda x: x.prod(),
    "cumsum": lambda x: x.cumsum(0),
    "var": lambda x: x.var(),
    "max": lambda x: x.max(),
    "argmax": lambda x: x.argmax(),
    "all": lambda x: x.any(),
    "norm": lambda x: x.norm(),
    "logsumexp": lambda x: x.logsumexp(0),
    "softmax": lambda x: x.softmax(0),
    "exp": lambda x: x.exp(),
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: x.relu(),
    "neg": lambda x: -x,
    "abs": lambda x: x.abs(),
    "floor": lambda x: x.floor(),
    "sign": lambda x: x.sign(),
    "square": lambda x: x.square(),
    "reciprocal": lambda x: x.reciprocal(),
    "clamp": lambda x: x.clamp(0, 1),
    "clamp by floats": lambda x: x.clamp(0.5, 1.0),
    "sort": lambda x: x.sort().values,
    "isnan": lambda x: x.isnan(),
    "sum as float64": lambda x: x.sum(dtype=DOUBLE[type(x).__module__[:5]]),
}
DOUBLE: dict[str, Any] = {"minig": minigrad.float64}


def operand(module: Any, kind: str, what: Any) -> Any:
    """A number as it is, or a tensor of ones of that shape."""
    if kind == "number":
        return what
    return module.tensor(np.ones(what), dtype=getattr(module, kind))


def dtype_of(compute: Callable[..., Any], *values: Any) -> str:
    """The name of the result's dtype, or that it was refused."""
    try:
        with np.errstate(all="ignore"):
            result = compute(*values)
    except (RuntimeError, TypeError):
        return "refused"
    return str(getattr(result, "dtype", result)).rpartition(".")[2]


def skipped(name: str, a: Any, b: Any) -> bool:
    """Whether there is nothing to compare: no tensor, or a number that must be one."""
    if a[0] == b[0] == "number":
        return True
    if name == "pow" and a[0] == "bool" and b == ("number", True):
        return True  # the one power of a bool that torch computes
    only_tensors = ("maximum", "cat", "stack", "add_", "mul_", "div_", "logical_and")
    return name in only_tensors and "number" in (a[0], b[0] if name[-1] != "_" else "")


@pytest.mark.parametrize("name", sorted(BINARY))
def test_dtypes_of_two_operands_are_torchs(torch: Any, name: str) -> None:
    compute = BINARY[name]
    differ = []
    compared = 0
    for a, b in itertools.product(OPERANDS, repeat=2):
        if skipped(name, a, b):
            continue
        results = [
            dtype_of(compute, m, operand(m, *a), operand(m, *b))
            for m in (minigrad, torch)
        ]
        compared += 1
        if results[0] != results[1]:
            differ.append((a, b, *results))
    assert not differ
    assert compared > 300


@pytest.mark.parametrize("name", sorted(REDUCTIONS))
@pytest.mark.parametrize("kind", KINDS)
def test_dtypes_of_one_operand_are_torchs(torch: Any, name: str, kind: str) -> None:
    DOUBLE["torch"] = torch.float64
    compute = REDUCTIONS[name]
    ours, theirs = [
        dtype_of(compute, operand(m, kind, (2,))) for m in (minigrad, torch)
    ]
    assert ours == theirs


@pytest.mark.parametrize("default", ["float32", "float64", "float16"])
def test_default_dtype_decides_as_in_torch(torch: Any, default: str) -> None:
    def names(module: Any) -> list[str]:
        module.set_default_dtype(getattr(module, default))
        whole = module.tensor([1, 2])
        made = [
            module.tensor(1.0),
            module.zeros(1),
            module.arange(3.0),
            module.linspace(0, 1, 3),
            module.eye(2),
            module.rand(1),
            module.full((1,), 0.5),
            whole * 0.5,
            whole / 2,
            whole.exp(),
            module.tensor([True]) * 0.5,
            module.where(module.tensor([True]), 1.0, 2.0),
        ]
        module.set_default_dtype(module.float32)
        return [str(one.dtype).rpartition(".")[2] for one in made]

    assert names(minigrad) == names(torch)


def test_promotion_of_dtypes_alone_is_torchs(torch: Any) -> None:
    for a, b in itertools.product(KINDS, repeat=2):
        for name in ("promote_types", "can_cast"):
            ours, theirs = [
                getattr(m, name)(getattr(m, a), getattr(m, b))
                for m in (minigrad, torch)
            ]
            assert str(ours).rpartition(".")[2] == str(theirs).rpartition(".")[2], (
                name,
                a,
                b,
            )


def test_comparison_sees_another_dtype() -> None:
    one = dtype_of(operator.add, minigrad.tensor([1]), 0.5)
    assert (one, dtype_of(minigrad.tensor, [1])) == ("float32", "int64")
