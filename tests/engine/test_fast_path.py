"""Elementwise operators take the fast path; it gives what ``apply`` gives."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.ops import OPS
from minigrad.ops._registry import quickest

MATRIX = minigrad.arange(6.0).reshape(2, 3) + 1
LEAF = (MATRIX * 2).requires_grad_()
INPUTS = {
    "two leaves": (LEAF, LEAF),
    "one leaf": (MATRIX, LEAF),
    "no leaf": (MATRIX, MATRIX),
    "a float": (LEAF, 1.5),
    "an int": (LEAF, 2),
    "columns": (LEAF.t(), LEAF.t()),
    "columns and rows": (LEAF.t(), minigrad.ones(3, 2)),
    "stretched": (LEAF, minigrad.ones(3)),
    "other dtype": (LEAF, minigrad.ones(3, dtype=minigrad.float64)),
    "number first": (1.5, LEAF),
}


def facts(output: Tensor) -> list[Any]:
    """What tells two results apart: values, layout, and place in the graph."""
    node = output.grad_fn
    found = [output.tolist(), output.dtype, output.stride(), output.requires_grad]
    if node is None:
        return found
    edges = [(edge and edge.name(), number) for edge, number in node.next_functions]
    saved = [one if one is None else one.tolist() for one in node.saved_tensors]
    return [*found, node.name(), edges, saved, node.needs_input_grad, node.metadata]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("kind", INPUTS)
def test_operator_of_two_gives_what_apply_gives(name: str, kind: str) -> None:
    function = OPS[name].function
    assert function is not None
    quick = quickest(function, function.apply)
    assert quick != function.apply
    assert facts(quick(*INPUTS[kind])) == facts(function.apply(*INPUTS[kind]))
    assert facts(quick(LEAF * 3, LEAF * 5)) != facts(function.apply(LEAF, LEAF))


WITH_UFUNC = [name for name, row in OPS.items() if getattr(row.function, "ufunc", None)]
SPECIAL = [0.0, -0.0, 1.5, -3.0, np.inf, -np.inf, np.nan, 1e-30, 3e38]


def bits(array: Any) -> tuple[Any, ...]:
    """What two results of NumPy have in common only if they are the same."""
    array = np.asarray(array)
    return array.dtype, array.shape, array.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WITH_UFUNC)
def test_ufunc_of_an_operation_is_what_its_forward_comes_to(
    name: str, dtype: Any
) -> None:
    function = OPS[name].function
    assert function is not None
    assert function.ufunc is not None
    a = np.array(SPECIAL, dtype)
    inputs = [(a, a[::-1]), (a, a[1])] if function.operands == 2 else [(a,), (a[1],)]
    with np.errstate(all="ignore"):
        for arrays in inputs:
            assert bits(function.ufunc(*arrays)) == bits(function.forward(*arrays))
            assert bits(function.ufunc(*arrays)) != bits(np.cbrt(a))


@pytest.mark.parametrize("number", [2.5, -0.0, np.nan, 1e-50, 3, -1, 2**24 + 1, 2**70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_number_beside_a_tensor_gives_what_apply_gives(
    number: float, dtype: str
) -> None:
    x = minigrad.tensor([1.0, -2.0, 0.0]).to(getattr(minigrad, dtype))
    if dtype == "int64" and number == 2**70:
        with pytest.raises(OverflowError):
            _ = x * number
        return
    for name in ("add", "sub", "mul"):
        function = OPS[name].function
        assert function is not None
        quick = quickest(function, function.apply)
        for other in (number, number, 7, number):  # the number used last is kept
            fast, whole = quick(x, other), function.apply(x, other)
            assert bits(fast.array) == bits(whole.array)


def takes_the_general_form(program: Callable[[], Any]) -> bool:
    """Whether the form for any number of operands runs meanwhile."""
    seen = []
    sys.setprofile(lambda frame, event, argument: seen.append(frame.f_code))
    try:
        program()
    finally:
        sys.setprofile(None)
    return vars(Builtin)["apply"].__func__.__code__ in seen


def test_operators_take_the_fast_path_where_nothing_is_special() -> None:
    a, b = minigrad.tensor([1.0, 2.0]), minigrad.tensor([3.0, 5.0])
    assert not takes_the_general_form(lambda: a * b - a + 2.0)
    assert not takes_the_general_form(lambda: minigrad.tanh(a.mul(b)))
    assert not takes_the_general_form(lambda: 2 * LEAF - LEAF.tanh())
    assert takes_the_general_form(lambda: LEAF * LEAF.t().contiguous().t())
    assert takes_the_general_form(lambda: minigrad.func.vmap(lambda x: x * x)(LEAF))
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        _ = a * minigrad.ones(3)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("mul", lambda x: x * x),
        ("mul", lambda x: 2.0 * x),
        ("sub", lambda x: x - 3),
        ("tanh", lambda x: x.tanh()),
    ],
)
def test_forward_that_was_exchanged_is_called(name: str, call: Any) -> None:
    function = OPS[name].function
    assert function is not None
    runs = []
    forward = function.forward

    def note_and_run(*args: Any) -> Any:
        runs.append(args)
        return forward(*args)

    x = minigrad.tensor([1.0, 2.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(function, "forward", staticmethod(note_and_run))
        noted = call(x)
    assert len(runs) == 1
    assert noted.tolist() == call(x).tolist()
    assert len(runs) == 1


def test_fast_path_records_only_where_apply_does() -> None:
    with minigrad.no_grad():
        assert not (LEAF * LEAF).requires_grad
    with minigrad.inference_mode():
        assert (LEAF * LEAF).is_inference()
    assert (LEAF * LEAF).requires_grad


def test_output_that_its_node_keeps_is_watched_without_an_alias() -> None:
    y = LEAF.tanh()
    kept = y.grad_fn._raw_saved_result
    y.sum().backward(retain_graph=True)
    assert kept.data is kept.data
    assert kept.data is not y
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="expected version 0 instead"):
        y.sum().backward()


def test_relu_passes_nan_and_stops_what_is_not_finite() -> None:
    x = minigrad.tensor([np.nan, -1.0, 2.0, 0.0], requires_grad=True)
    x.relu().backward(minigrad.tensor([3.0, np.inf, np.inf, np.nan]))
    assert x.grad.tolist() == [3.0, 0.0, np.inf, 0.0]


def test_weight_of_a_linear_layer_gets_its_gradient_row_after_row() -> None:
    weight = minigrad.ones(2, 3).requires_grad_()
    rows = minigrad.arange(12.0).reshape(4, 3)
    y = minigrad.addmm(minigrad.zeros(2), rows, weight.t())
    (into_across,) = minigrad.autograd.grad(y.sum(), weight.t(), allow_unused=True)
    assert into_across is None
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda inputs, _: seen.append(inputs[2].stride()))
    y.sum().backward()
    assert seen == [(1, 3)]
    assert weight.grad.tolist() == [[18.0, 22.0, 26.0]] * 2


def test_array_of_a_subclass_is_refused_like_any_other() -> None:
    class Own(np.ndarray):
        """As np.memmap and np.matrix are."""

    x = minigrad.tensor([1.0, 2.0])
    array = np.array([3.0, 4.0], np.float32)
    for given in (array, array.view(Own)):
        with pytest.raises(
            errors.ArgumentTypeError, match=r"must be Tensor, not numpy"
        ):
            minigrad.atan2(x, given)
    assert minigrad.atan2(x, minigrad.tensor(array)).shape == (2,)
