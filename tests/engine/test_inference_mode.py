"""inference_mode: rules T07, T08, T11, F23."""

import threading
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import Boom, leaf, raises, rule, same_memory

NO_VERSION = "Inference tensors do not track version counter."
NO_CHANGE = "Inplace update to inference tensor outside InferenceMode is not allowed"
NO_GRADIENT = (
    "Setting requires_grad=True on inference tensor outside InferenceMode is not "
    "allowed"
)
NOT_SAVED = "Inference tensors cannot be saved for backward."


def made_inside(torch: Any) -> Any:
    with torch.inference_mode():
        return torch.ones(2, dtype=torch.float64)


@pytest.mark.rule("T07")
def test_tensors_made_inside_are_inference_tensors(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.inference_mode():
        made = [torch.ones(2), x * 2, x.clone(), torch.ones(2) + 1]
        assert torch.is_inference_mode_enabled()
        assert not torch.is_grad_enabled()
    assert [tensor.is_inference() for tensor in made] == [True] * 4
    assert [tensor.requires_grad for tensor in made] == [False] * 4
    assert not x.is_inference()
    assert not torch.ones(2).is_inference()
    assert (torch.is_inference_mode_enabled(), torch.is_grad_enabled()) == (False, True)


@pytest.mark.rule("T07")
def test_view_is_an_inference_tensor_if_what_it_views_is_one(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.inference_mode():
        views = [x.reshape(2, 1), x.detach(), x.data]
    assert [view.is_inference() for view in views] == [False] * 3
    i = made_inside(torch)
    outside = [i.reshape(2, 1), i.detach(), i.data]
    assert [view.is_inference() for view in outside] == [True] * 3
    assert [(i * 2).is_inference(), i.clone().is_inference()] == [False, False]


@pytest.mark.rule("T07")
def test_inference_tensor_has_no_version(torch: Any) -> None:
    i = made_inside(torch)
    with raises(torch, errors.InferenceError, NO_VERSION):
        _ = i._version
    with torch.inference_mode(), raises(torch, errors.InferenceError, NO_VERSION):
        _ = i._version


@pytest.mark.rule("T07")
def test_inference_tensor_is_changed_in_place_only_inside(torch: Any) -> None:
    i = made_inside(torch)
    with torch.inference_mode():
        i.add_(1)
    for change in (lambda: i.add_(1), lambda: i.zero_()):
        with raises(torch, errors.InferenceError, NO_CHANGE):
            change()
        with torch.no_grad(), raises(torch, errors.InferenceError, NO_CHANGE):
            change()


def test_refused_change_of_an_inference_tensor_has_not_happened() -> None:
    i = made_inside(minigrad)
    with raises(minigrad, errors.InferenceError, NO_CHANGE):
        i.zero_()
    assert i.tolist() == [1.0, 1.0]


@pytest.mark.rule("T07")
def test_normal_tensor_is_changed_inside_and_counts_it(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.inference_mode():
        x.add_(1)
    assert (x.tolist(), x._version, x.is_inference()) == ([3.0, 4.0], 1, False)


@pytest.mark.rule("T07")
def test_inference_tensor_requires_grad_only_inside(torch: Any) -> None:
    i = made_inside(torch)
    with raises(torch, errors.InferenceError, NO_GRADIENT):
        i.requires_grad_()
    with raises(torch, errors.InferenceError, NO_GRADIENT):
        i.requires_grad = True
    i.requires_grad = False
    with torch.inference_mode():
        assert i.requires_grad_().requires_grad
        assert torch.ones(2, requires_grad=True).requires_grad


@pytest.mark.rule("T07", "F23")
def test_inference_tensor_cannot_be_saved(torch: Any) -> None:
    def forward(ctx: Any, x: Any, other: Any) -> Any:
        ctx.save_for_backward(other)
        return x * 2

    F = rule(torch, forward, lambda ctx, grad: (grad, None))
    i = made_inside(torch)
    x = leaf(torch, 2.0, 3.0)
    with raises(torch, errors.InferenceError, NOT_SAVED):
        _ = x * i
    with raises(torch, errors.InferenceError, NOT_SAVED):
        F.apply(x, i)
    assert (x + i).requires_grad
    assert not F.apply(x.detach(), i).is_inference()
    (x * i.clone()).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.rule("F23")
def test_inference_tensor_is_refused_before_the_pack_hook(torch: Any) -> None:
    packed: list[Any] = []
    x, i = leaf(torch, 2.0, 3.0), made_inside(torch)
    hooks = torch.autograd.graph.saved_tensors_hooks(packed.append, packed.append)
    with hooks, raises(torch, errors.InferenceError, NOT_SAVED):
        rule(torch, lambda ctx, x, i: (ctx.save_for_backward(i), x * 2)[1]).apply(x, i)
    assert packed == []


@pytest.mark.rule("T08")
def test_enable_grad_inside_does_not_make_it_record(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.inference_mode(), torch.enable_grad():
        y = x * 2
        assert torch.is_grad_enabled()
    assert (y.requires_grad, y.is_inference()) == (False, True)


@pytest.mark.rule("T07")
def test_inference_mode_false_is_as_if_outside(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.inference_mode():
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled()
            y = x * 2
        assert torch.is_inference_mode_enabled()
    assert (y.requires_grad, y.is_inference()) == (True, False)
    with torch.no_grad(), torch.inference_mode(False):
        assert torch.is_grad_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.rule("T07")
def test_inference_mode_decorates_functions_and_generators(torch: Any) -> None:
    @torch.inference_mode()
    def with_brackets() -> Any:
        return torch.is_inference_mode_enabled()

    @torch.inference_mode
    def without_brackets() -> Any:
        return torch.is_inference_mode_enabled()

    @torch.inference_mode(False)
    def switched_off() -> Any:
        return torch.is_inference_mode_enabled()

    @torch.inference_mode()
    def generator() -> Any:
        yield torch.is_inference_mode_enabled()

    assert (with_brackets(), without_brackets()) == (True, True)
    with torch.inference_mode():
        assert switched_off() is False
    for inside in generator():
        assert (inside, torch.is_inference_mode_enabled()) == (True, False)


@pytest.mark.rule("T07")
def test_inference_mode_is_left_after_an_exception_and_can_be_used_again(
    torch: Any,
) -> None:
    mode = torch.inference_mode()
    for kind in (Boom, KeyboardInterrupt):
        with pytest.raises(kind), mode:
            raise kind
        assert not torch.is_inference_mode_enabled()
        assert torch.is_grad_enabled()
        assert not torch.ones(2).is_inference()


@pytest.mark.rule("T10")
def test_inference_mode_belongs_to_its_thread(torch: Any) -> None:
    seen: list[bool] = []
    with torch.inference_mode():
        thread = threading.Thread(
            target=lambda: seen.append(torch.ones(2).is_inference())
        )
        thread.start()
        thread.join()
    assert seen == [False]


def test_backward_inside_gives_inference_gradients(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * 3
    with torch.inference_mode():
        (slope,) = torch.autograd.grad(y, x)
    assert (slope.item(), slope.is_inference()) == (3.0, True)


@pytest.mark.rule("T11")
@pytest.mark.parametrize("mode", ["no_grad", "enable_grad", "inference_mode"])
def test_decorating_a_class_is_deprecated_and_wraps_its_init(
    torch: Any, mode: str
) -> None:
    class Model:
        def __init__(self) -> None:
            self.inside = torch.is_grad_enabled()

        def now(self) -> Any:
            return torch.is_grad_enabled()

    decorate = getattr(torch, mode)()
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        make = decorate(Model)
    model = make()
    assert isinstance(model, Model)
    assert model.inside == (mode == "enable_grad")
    assert model.now()


VIEWS = {
    "view": lambda x: x.view(6),
    "row": lambda x: x[0],
    "transpose": lambda x: x.transpose(0, 1),
    "expand": lambda x: x.expand(2, 2, 3),
    "as_strided": lambda x: x.as_strided((2,), (1,), 1),
    "unbind": lambda x: x.unbind(1)[1],
    "split": lambda x: x.split(1)[1],
    "detach": lambda x: x.detach(),
    "view_as": lambda x: x.view_as(torch_grad(x)),
}


def torch_grad(x: Any) -> Any:
    """A normal tensor of the same shape that requires grad."""
    return x.clone().requires_grad_(True)


@pytest.mark.parametrize("name", VIEWS)
def test_view_of_an_inference_tensor_is_a_leaf_without_grad(
    torch: Any, name: str
) -> None:
    with torch.inference_mode():
        x = torch.ones(2, 3)
    view = VIEWS[name](x)
    assert view.is_inference()
    assert (view.is_leaf, view.requires_grad, view.grad_fn) == (True, False, None)
    assert (view._is_view(), view._base) == (False, None)
    assert same_memory(view, x)


def test_view_of_an_inference_tensor_knows_the_whole_memory(torch: Any) -> None:
    with torch.inference_mode():
        x = torch.arange(6.0)
    view = x[3:]
    assert view.storage_offset() == 3
    assert view[1:].as_strided((2,), (1,), 0).tolist() == [0.0, 1.0]


def test_function_is_inference_asks_the_tensor(torch: Any) -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    assert torch.is_inference(x)
    assert not torch.is_inference(torch.ones(2))
    with raises(torch, errors.ArgumentTypeError, "argument 'input' (position 1) must"):
        torch.is_inference(3)
