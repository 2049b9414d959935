"""Modules: what is registered, found, copied and refused."""

import ast
import copy
import io
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from minigrad import errors
from minigrad.nn import registry
from tests.engine.support import raises


@cache
def classes(torch: Any) -> Any:
    """A module with a parameter and buffers, and one with two of them inside."""

    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.by = torch.nn.Parameter(torch.tensor([2.0, 3.0]))
            self.register_buffer("calls", torch.tensor(0))
            self.register_buffer("scratch", torch.tensor(0.0), persistent=False)
            self.note = "plain"

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x * self.by

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = Scale()
            self.second = Scale()

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    return Scale, Twice


def scale(torch: Any) -> Any:
    """A module with one parameter."""
    return classes(torch)[0]()


def twice(torch: Any) -> Any:
    """A module with two modules inside."""
    return classes(torch)[1]()


def test_call_runs_forward(torch: Any) -> None:
    model = twice(torch)
    assert model(torch.tensor([1.0, 1.0])).tolist() == [4.0, 9.0]
    assert (model.first.calls.item(), model.first.note) == (1, "plain")


def test_module_without_forward_says_so(torch: Any) -> None:
    says = 'Module [Module] is missing the required "forward" function'
    with raises(torch, errors.ModuleForwardError, says):
        torch.nn.Module()(1)


def test_parameters_are_found_by_path_and_each_once(torch: Any) -> None:
    model = twice(torch)
    assert [name for name, _ in model.named_parameters()] == ["first.by", "second.by"]
    model.second.by = model.first.by
    assert [name for name, _ in model.named_parameters()] == ["first.by"]
    every = model.named_parameters(remove_duplicate=False)
    assert [name for name, _ in every] == ["first.by", "second.by"]
    assert [name for name, _ in model.named_parameters("m", False)] == []


def test_modules_are_found_from_the_outside_in(torch: Any) -> None:
    model = twice(torch)
    model.third = model.first
    assert [name for name, _ in model.named_modules()] == ["", "first", "second"]
    assert list(model.children()) == [model.first, model.second]
    assert model.get_submodule("second") is model.second
    assert model.get_parameter("second.by") is model.second.by


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("third", "Twice has no attribute `third`"),
        ("first.by", "`by` is not an nn.Module"),
    ],
)
def test_path_to_no_module_is_refused(torch: Any, path: str, says: str) -> None:
    with raises(torch, errors.ModuleAttributeError, says):
        twice(torch).get_submodule(path)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("first.at", "Scale has no attribute `at`"),
        ("first", "`first` is not an nn.Parameter"),
    ],
)
def test_path_to_no_parameter_is_refused(torch: Any, path: str, says: str) -> None:
    with raises(torch, errors.ModuleAttributeError, says):
        twice(torch).get_parameter(path)


def test_parameter_deleted_makes_room_for_a_tensor(torch: Any) -> None:
    model = scale(torch)
    del model.by
    assert list(model.parameters()) == []
    model.by = torch.tensor([1.0, 0.0])
    assert model(torch.ones(2)).tolist() == [1.0, 0.0]
    assert "calls" in dir(model)


def test_parameter_takes_the_place_of_what_had_its_name(torch: Any) -> None:
    model = scale(torch)
    model.note = torch.nn.Parameter(torch.ones(1))
    model.calls = torch.nn.Parameter(torch.ones(1))
    assert [name for name, _ in model.named_parameters()] == ["by", "note", "calls"]
    assert [name for name, _ in model.named_buffers()] == ["scratch"]


def test_none_keeps_the_name(torch: Any) -> None:
    model = scale(torch)
    model.by = None
    assert model.by is None
    assert list(model.state_dict()) == ["calls"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("by", [2.0], "cannot assign 'list' as parameter 'by'"),
        ("calls", 3, "cannot assign 'int' as buffer 'calls'"),
        ("inner", "text", "cannot assign 'str' as child module 'inner'"),
    ],
)
def test_registered_name_takes_only_its_kind(
    torch: Any, name: str, value: Any, says: str
) -> None:
    model = scale(torch)
    model.inner = scale(torch)
    with raises(torch, errors.ArgumentTypeError, says):
        setattr(model, name, value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.b", 't contain "."'),
        ("", 't be empty string ""'),
        ("calls", "attribute 'calls' already exists"),
    ],
)
def test_name_that_no_parameter_can_have(torch: Any, name: str, says: str) -> None:
    with raises(torch, errors.ModuleNameError, says):
        scale(torch).register_parameter(name, None)


def test_computed_tensor_is_no_parameter(torch: Any) -> None:
    model = scale(torch)
    with raises(torch, errors.ArgumentTypeError, "cannot assign 'torch.DoubleTensor'"):
        model.register_parameter("twice", model.by.double() * 2)


def test_parameter_before_init_is_refused(torch: Any) -> None:
    class Early(torch.nn.Module):
        def __init__(self) -> None:
            self.weight = torch.nn.Parameter(torch.ones(1))

    with raises(
        torch, errors.ModuleAttributeError, "cannot assign parameters before Module"
    ):
        Early()


def test_missing_attribute_names_the_class(torch: Any) -> None:
    with raises(
        torch, errors.ModuleAttributeError, "'Scale' object has no attribute 'bye'"
    ):
        _ = scale(torch).bye


def test_train_and_eval_reach_the_inner_modules(torch: Any) -> None:
    model = twice(torch)
    assert model.eval() is model
    assert [module.training for module in model.modules()] == [False] * 3
    assert model.train().second.training
    with raises(
        torch, errors.ArgumentValueError, "training mode is expected to be boolean"
    ):
        model.train(1)


def test_zero_grad_forgets_or_fills(torch: Any) -> None:
    model = scale(torch)
    model(torch.ones(2)).sum().backward()
    kept = model.by.grad
    model.zero_grad(set_to_none=False)
    assert model.by.grad is kept
    assert kept.tolist() == [0.0, 0.0]
    model.zero_grad()
    assert model.by.grad is None


def test_frozen_model_records_nothing(torch: Any) -> None:
    model = twice(torch).requires_grad_(False)
    assert not model(torch.ones(2)).requires_grad


def test_double_converts_what_is_floating_and_keeps_the_parameters(torch: Any) -> None:
    model = scale(torch)
    by = model.by
    model(torch.ones(2)).sum().backward()
    assert model.double() is model
    assert model.by is by
    dtypes = by.dtype, by.grad.dtype, model.scratch.dtype, model.calls.dtype
    double = torch.float64
    assert dtypes == (double, double, double, torch.int64)


def test_apply_runs_on_the_inner_modules_first(torch: Any) -> None:
    seen: list[Any] = []
    model = twice(torch).apply(seen.append)
    assert seen == [model.first, model.second, model]


def test_state_goes_into_a_model_of_the_same_build(torch: Any) -> None:
    source, target = twice(torch), twice(torch)
    source.first.by.data = torch.tensor([5.0, 6.0])
    state = source.state_dict()
    assert list(state) == ["first.by", "first.calls", "second.by", "second.calls"]
    assert not state["first.by"].requires_grad
    by = target.first.by
    report = target.load_state_dict(state)
    assert repr(report) == "<All keys matched successfully>"
    assert target.first.by is by
    assert by.tolist() == [5.0, 6.0]
    assert by.requires_grad


def test_state_can_take_the_place_of_the_parameters(torch: Any) -> None:
    model = scale(torch)
    values = torch.tensor([5.0, 6.0])
    report = model.load_state_dict({"by": values}, strict=False, assign=True)
    assert repr(report) == (
        "_IncompatibleKeys(missing_keys=['calls'], unexpected_keys=[])"
    )
    assert type(model.by) is torch.nn.Parameter
    assert model.by.data_ptr() == values.data_ptr()


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({}, 'Missing key(s) in state_dict: "by", "calls".'),
        ({"x": 1}, 'Unexpected key(s) in state_dict: "x".'),
        ({"by": 3}, "size mismatch for by: copying a param with shape"),
        ({"by": [1.0]}, 'While copying the parameter named "by", expected'),
    ],
)
def test_state_that_does_not_fit_is_refused(torch: Any, state: Any, says: str) -> None:
    if state.get("by") == 3:
        state = {"by": torch.ones(3)}
    with raises(torch, errors.StateDictError, says):
        scale(torch).load_state_dict(state)


def test_state_has_to_be_a_dict(torch: Any) -> None:
    with raises(
        torch, errors.ArgumentTypeError, "Expected state_dict to be dict-like, got"
    ):
        scale(torch).load_state_dict(5)


def test_model_prints_what_is_inside(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Identity())
    assert repr(model).splitlines() == [
        "Sequential(",
        "  (0): Linear(in_features=2, out_features=3, bias=True)",
        "  (1): Identity()",
        ")",
    ]


def test_sequential_runs_in_order(torch: Any) -> None:
    model = torch.nn.Sequential(scale(torch), scale(torch), torch.nn.Identity())
    assert model(torch.ones(2)).tolist() == [4.0, 9.0]
    assert len(model) == 3
    assert model[-1] is list(model)[2]
    assert model[:2](torch.ones(2)).tolist() == [4.0, 9.0]


def test_copied_model_has_parameters_of_its_own(torch: Any) -> None:
    model = scale(torch)
    copied = copy.deepcopy(model)
    assert type(copied.by) is torch.nn.Parameter
    with torch.no_grad():
        copied.by += 1
    assert (model.by.tolist(), copied.by.tolist()) == ([2.0, 3.0], [3.0, 4.0])


def test_parameter_goes_through_a_file(torch: Any) -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0]), requires_grad=False)
    file = io.BytesIO()
    torch.save(parameter, file)
    again = torch.load(io.BytesIO(file.getvalue()))
    assert type(again) is torch.nn.Parameter
    assert (again.tolist(), again.requires_grad) == ([1.0], False)
    assert copy.copy(parameter).data_ptr() == parameter.data_ptr()


def test_parameter_lies_in_the_memory_of_its_tensor(torch: Any) -> None:
    values = torch.ones(2)
    with torch.no_grad():
        parameter = torch.nn.Parameter(values)
    values.add_(1)
    printed = "Parameter containing:\ntensor([2., 2.], requires_grad=True)"
    assert repr(parameter) == printed
    assert (parameter._version, parameter.is_leaf) == (1, True)
    assert type(parameter * 2) is torch.Tensor
    assert torch.nn.Parameter().shape == (0,)


def test_parameter_of_a_list_is_refused(torch: Any) -> None:
    with raises(
        torch, errors.ModuleAttributeError, "'list' object has no attribute 'detach'"
    ):
        torch.nn.Parameter([1.0])


def product(torch: Any, seen: list[Any]) -> Any:
    """A module whose hook notes the gradients that it is given, as lists."""

    def listed(gradients: Any) -> list[Any]:
        assert isinstance(gradients, tuple)
        return [None if one is None else one.tolist() for one in gradients]

    class Product(torch.nn.Module):
        def forward(self, a: Any, k: Any) -> Any:
            return a * k, a.detach(), "text"

    module = Product()
    module.handle = module.register_full_backward_hook(
        lambda *given: seen.append((given[0] is module, *map(listed, given[1:])))
    )
    return module


def test_backward_hook_sees_the_gradients_on_both_sides_of_a_module(torch: Any) -> None:
    seen: list[Any] = []
    module = product(torch, seen)
    x = torch.ones(2, requires_grad=True)
    y, plain, text = module(x * 1, 3)
    assert (plain.requires_grad, text) == (False, "text")
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    (y * 5).sum().backward()
    assert x.grad.tolist() == [15.0, 15.0]
    outside = [[5.0, 5.0], None, None]
    assert seen == [(True, [[15.0, 15.0], None], outside)]


def test_backward_hook_sees_no_gradient_of_arguments_by_keyword(torch: Any) -> None:
    seen: list[Any] = []
    module = product(torch, seen)
    module(torch.ones(1, requires_grad=True), k=3)[0].backward()
    assert seen == [(True, [[3.0]], [[1.0], None, None])]


def test_backward_hook_changes_the_gradients_of_the_inputs(torch: Any) -> None:
    module = torch.nn.Linear(1, 1, bias=False)
    order: list[int] = []

    def times(factor: int) -> Any:
        def hook(module: Any, grad_inputs: Any, grad_outputs: Any) -> Any:
            order.append(factor)
            return (grad_inputs[0] * factor,)

        return hook

    module.register_full_backward_hook(times(2))
    module.register_full_backward_hook(times(3))
    module.register_full_backward_hook(times(5), prepend=True)
    x = torch.ones(1, requires_grad=True)
    module(x).backward()
    assert order == [5, 2, 3]
    assert x.grad.item() == pytest.approx(module.weight.item() * 30)


def test_backward_hook_that_was_removed_leaves_the_module_as_it_was(torch: Any) -> None:
    seen: list[Any] = []
    module = product(torch, seen)
    module.handle.remove()
    y = module(torch.ones(1, requires_grad=True), 3)[0]
    y.backward()
    assert (y.grad_fn.name(), seen) == ("MulBackward0", [])


def test_backward_hook_needs_a_graph(torch: Any) -> None:
    seen: list[Any] = []
    module = product(torch, seen)
    with torch.no_grad():
        y = module(torch.ones(1, requires_grad=True), 3)[0]
    assert y.grad_fn is None
    assert module(torch.ones(1), 3)[0].grad_fn is None


@pytest.mark.parametrize(
    ("wants", "returned", "says"),
    [
        (True, 2, "Backward hook returned an invalid number of grad_input, got 2, but"),
        (False, 1, "Backward hook for Modules where no input requires gradient should"),
    ],
)
@pytest.mark.filterwarnings("ignore:(?s).*Full backward hook is firing")
def test_backward_hook_that_returns_what_nobody_wants_is_refused(
    torch: Any, wants: bool, returned: int, says: str
) -> None:
    module = torch.nn.Linear(1, 1)
    module.register_full_backward_hook(lambda m, ins, outs: (outs[0],) * returned)
    y = module(torch.ones(1, requires_grad=wants))
    with raises(torch, errors.HookError, says):
        y.backward()


def test_backward_hook_warns_where_no_input_wants_a_gradient(torch: Any) -> None:
    seen: list[Any] = []
    module = torch.nn.Linear(1, 1)
    module.register_full_backward_hook(lambda m, ins, outs: seen.append((ins, outs)))
    y = module(torch.ones(1))
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        y.backward()
    ((inside, outside),) = seen
    assert (inside, outside[0].tolist()) == ((None,), [1.0])
    assert module.bias.grad.item() == 1.0


def test_tables_of_a_module_are_kept_without_knowing_module() -> None:
    tree = ast.parse(Path(registry.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    found = {node.module for node in imports}
    assert "minigrad.nn.parameter" in found
    assert "minigrad.nn.module" not in found
