"""``@op``: what it refuses, what it makes, and the stubs that are built from it."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine._tensor_methods import TensorMethods
from minigrad.engine.builtin import Builtin
from minigrad.ops import OPS, _registry, functions, op
from minigrad.ops._stubs import built_files

ROOT = Path(minigrad.__file__).resolve().parent.parent


def register(name: str, samples: list[Any]) -> Any:
    return op(name, node_name="XBackward0", reference=np.square, samples=samples)


def test_operation_without_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="'twice' has no samples"):
        register("twice", [])
    assert "twice" not in OPS


def test_name_that_is_taken_is_refused() -> None:
    before = OPS["add"]
    with pytest.raises(ValueError, match="'add' is registered already"):
        register("add", [(1.0,)])
    assert OPS["add"] is before


@pytest.fixture
def cubed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An operation that is registered for one test."""
    monkeypatch.setattr(functions, "__all__", list(functions.__all__))
    monkeypatch.setattr(functions, "cubed", None, raising=False)
    monkeypatch.setattr(TensorMethods, "cubed", None, raising=False)
    monkeypatch.setattr(TensorMethods, "cubed_", None, raising=False)
    for table, name in (
        (OPS, "cubed"),
        (_registry.CALLS, "cubed"),
        (_registry.METHODS, "cubed"),
        (_registry.IN_PLACE, "cubed_"),
        (_registry.HOMES[0], "cubed"),
        (_registry.HOMES[1], "cubed"),
        (_registry.HOMES[1], "cubed_"),
    ):
        monkeypatch.setitem(table, name, None)
        del table[name]

    @op(
        "cubed",
        node_name="CubedBackward7",
        reference=lambda x: x**3,
        samples=[([1.0],)],
        in_place=True,
    )
    class Cubed(Builtin):
        """input ** 3."""

        @staticmethod
        def forward(input: Any) -> Any:
            return input**3

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (input,) = ctx.saved_values
            return grad * 3 * input * input

    return Cubed


def test_registration_makes_function_method_and_row(cubed: Any) -> None:
    x = minigrad.tensor([2.0], requires_grad=True)
    y = x.cubed()
    assert functions.cubed(x).tolist() == y.tolist() == [8.0]
    assert (x * 1).cubed_().tolist() == [8.0]
    assert y.grad_fn.name() == "CubedBackward7"
    assert OPS["cubed"].function is cubed
    assert functions.cubed.__doc__ == "input ** 3."
    assert "def cubed(input: Tensor | float) -> Tensor: ..." in "".join(
        built_files().values()
    )


def test_every_operation_is_documented_and_exported() -> None:
    for name, row in OPS.items():
        assert row.call.__doc__, name
    for name, call in _registry.CALLS.items():
        assert call.__doc__, name
        assert getattr(minigrad, name) is call
    for name, call in _registry.METHODS.items():
        assert call.__doc__, name
        assert getattr(minigrad.Tensor, name) is call


@pytest.mark.parametrize("path", sorted(built_files()))
def test_built_files_are_current(path: str) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == built_files()[path]


def test_wrong_keyword_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="axes"):
        minigrad.ones(2).sum(axes=0)


def test_keywords_go_by_numpys_names_too() -> None:
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(axis=1, keepdims=True).tolist() == [[3.0], [7.0]]
    assert minigrad.stack([x, x], axis=2).shape == (2, 2, 2)
    assert x.max(axis=0).values.tolist() == [3.0, 4.0]


def test_numpys_names_are_refused_beside_torchs_and_where_torch_has_none() -> None:
    x = minigrad.ones(2, 2)
    with pytest.raises(TypeError, match="'axis'"):
        x.sum(dim=0, axis=0)
    with pytest.raises(TypeError, match="'axis'"):
        x.exp(axis=0)


def test_function_of_one_number_has_its_rule_to_read() -> None:
    function: Any = OPS["log10"].function
    assert "lambda g, x: g / (x * LOG_10)" in inspect.getsource(function.rule)
    assert function.rule(10.0, 2.0) == 5 / np.log(10)
    assert function.__doc__.endswith("Saves: the input.")
