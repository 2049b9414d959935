"""torch.autograd's module paths and names."""

import importlib
from typing import Any

import pytest

import minigrad
from minigrad.engine.core.node import AccumulateGrad

PATHS = {
    "autograd": ["Function", "backward", "enable_grad", "grad", "no_grad"],
    "autograd.function": ["Function", "FunctionCtx", "once_differentiable"],
    "autograd.graph": ["Node"],
}


@pytest.mark.parametrize("path", sorted(PATHS))
def test_names_are_where_torch_has_them(path: str) -> None:
    module = importlib.import_module(f"minigrad.{path}")
    for name in PATHS[path]:
        assert hasattr(module, name)
    assert sorted(module.__all__) == module.__all__
    assert all(hasattr(module, name) for name in module.__all__)


def test_one_function_class_under_all_its_paths() -> None:
    assert minigrad.autograd.Function is minigrad.autograd.function.Function


def test_ctx_names_its_module_as_the_learner_imports_it() -> None:
    class F(minigrad.autograd.Function):
        pass

    assert F._backward_cls.__module__ == "minigrad.autograd.function"
    assert F._backward_cls.__qualname__ == "FBackward"


def test_every_public_name_exists() -> None:
    for name in minigrad.__all__:
        assert getattr(minigrad, name) is not None


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = minigrad.nothing


@pytest.mark.parametrize("value", [1, "node", None, minigrad.tensor(1.0)])
def test_other_objects_are_no_nodes(value: Any) -> None:
    assert not isinstance(value, minigrad.autograd.graph.Node)
    assert issubclass(AccumulateGrad, minigrad.autograd.graph.Node)


def test_once_differentiable_keeps_the_name_and_words_of_the_rule() -> None:
    @minigrad.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        """The rule."""

    assert (backward.__name__, backward.__doc__) == ("backward", "The rule.")
