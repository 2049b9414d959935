"""A model called with other parameters than its own, also under transforms."""

from functools import cache
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import raises


@cache
def classes(torch: Any) -> Any:
    """x * scale + shift, which counts its calls; and two layers with one weight."""

    class Affine(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(2.0))
            self.shift = torch.nn.Parameter(torch.tensor(1.0))
            self.register_buffer("calls", torch.tensor(0))

        def forward(self, x: Any) -> Any:
            self.calls = self.calls + 1
            return x * self.scale + self.shift

    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(1, 1, bias=False)
            self.second = torch.nn.Linear(1, 1, bias=False)
            self.second.weight = self.first.weight

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    return Affine, Tied


def affine(torch: Any) -> Any:
    """A module with two parameters and a buffer."""
    return classes(torch)[0]()


def tied(torch: Any) -> Any:
    """A module with one parameter in two places."""
    return classes(torch)[1]()


def test_given_parameters_are_used_and_the_own_ones_are_back_afterwards(
    torch: Any,
) -> None:
    model = affine(torch)
    scale = model.scale
    given = {"scale": torch.tensor(5.0)}
    assert torch.func.functional_call(model, given, torch.tensor(3.0)).item() == 16.0
    assert model.scale is scale
    assert model(torch.tensor(3.0)).item() == 7.0


def test_own_parameters_are_back_after_an_error(torch: Any) -> None:
    model = affine(torch)
    scale = model.scale
    with pytest.raises(TypeError):
        torch.func.functional_call(model, {"scale": torch.tensor(5.0)}, (1, 2, 3))
    assert model.scale is scale


def test_what_the_model_writes_goes_into_the_dict(torch: Any) -> None:
    model = affine(torch)
    given = {"calls": torch.tensor(7)}
    torch.func.functional_call(model, given, torch.tensor(3.0))
    assert (given["calls"].item(), model.calls.item()) == (8, 0)


def test_several_dicts_and_keywords(torch: Any) -> None:
    dicts = {"scale": torch.tensor(5.0)}, {"shift": torch.tensor(0.0)}
    x = torch.tensor(3.0)
    assert (
        torch.func.functional_call(affine(torch), dicts, kwargs={"x": x}).item() == 15.0
    )


def test_tied_parameters_are_replaced_together(torch: Any) -> None:
    model, x = tied(torch), torch.ones(1)
    given = {"first.weight": torch.tensor([[3.0]])}
    assert torch.func.functional_call(model, given, x).tolist() == [9.0]
    alone = torch.func.functional_call(model, given, x, tie_weights=False).item()
    assert alone == pytest.approx(3.0 * model.second.weight.item())
    both = {**given, "second.weight": torch.tensor([[4.0]])}
    with raises(torch, errors.ArgumentValueError, "got multiple values for keys"):
        torch.func.functional_call(model, both, x)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (3, "to be a dict, or a list/tuple of dicts, but got <class 'int'>"),
        ([3], "Expected all elements of parameter_and_buffer_dicts to be dictionaries"),
        (({"a": 1}, {"a": 2}), "['a'] appeared in multiple dictionaries"),
    ],
)
def test_what_is_no_dict_of_values_is_refused(
    torch: Any, given: Any, says: str
) -> None:
    with raises(torch, errors.ArgumentValueError, says):
        torch.func.functional_call(affine(torch), given, torch.ones(1))


def test_strict_refuses_missing_and_unknown_paths(torch: Any) -> None:
    x = torch.ones(1)
    given = {"scale": x, "shift": x, "z": x}
    with raises(torch, errors.StateDictError, "Unexpected key(s): 'z'"):
        torch.func.functional_call(affine(torch), given, x, strict=True)
    assert torch.func.functional_call(affine(torch), given, x).item() == 2.0


def test_gradient_for_each_example(torch: Any) -> None:
    model = torch.nn.Linear(2, 1)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    inputs, targets = torch.randn(5, 2), torch.randn(5, 1)

    def loss(parameters: Any, x: Any, target: Any) -> Any:
        return torch.nn.functional.mse_loss(
            torch.func.functional_call(model, parameters, x), target
        )

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(
        parameters, inputs, targets
    )
    torch.nn.functional.mse_loss(model(inputs), targets).backward()
    assert each["weight"].shape == (5, 1, 2)
    assert torch.allclose(each["weight"].mean(0), model.weight.grad)
    assert torch.allclose(each["bias"].mean(0), model.bias.grad)


def test_tangents_of_parameters(torch: Any) -> None:
    model = affine(torch)
    parameters = dict(model.named_parameters())
    tangents = {"scale": torch.tensor(1.0), "shift": torch.tensor(10.0)}

    def output(parameters: Any) -> Any:
        return torch.func.functional_call(model, parameters, torch.tensor(3.0))

    _, tangent = torch.func.jvp(output, (parameters,), (tangents,))
    assert tangent.item() == 13.0


def test_models_side_by_side(torch: Any) -> None:
    models = [torch.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = torch.func.stack_module_state(models)
    assert parameters["weight"].shape == (4, 2, 3)
    assert parameters["weight"].is_leaf
    assert parameters["weight"].requires_grad
    assert buffers == {}
    x = torch.randn(5, 3)

    def call(parameters: Any, buffers: Any, x: Any) -> Any:
        return torch.func.functional_call(models[0], (parameters, buffers), x)

    outputs = torch.func.vmap(call, (0, 0, None))(parameters, buffers, x)
    for model, output in zip(models, outputs, strict=True):
        assert torch.allclose(model(x), output)


def test_models_that_differ_are_not_stacked(torch: Any) -> None:
    frozen = affine(torch).requires_grad_(False)
    for others, says in [
        ([affine(torch).eval()], "to have the same training/eval mode"),
        ([tied(torch)], "to be of the same class"),
        ([frozen], "Expected scale from each model to have the same"),
    ]:
        with raises(torch, errors.StateDictError, says):
            torch.func.stack_module_state([affine(torch), *others])
    with raises(torch, errors.StateDictError, "Expected at least one model, got 0"):
        torch.func.stack_module_state([])
