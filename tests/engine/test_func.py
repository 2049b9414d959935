"""torch.func: grad, vjp, jacrev and hessian, and how they nest."""

import threading
from typing import Any

import pytest

import minigrad
from minigrad import errors
from minigrad.engine import interpreters
from tests.engine.support import leaf, raises
from tests.engine.transformed import batch, cubes, number, square, vector


def test_grad_is_a_function_that_leaves_nothing_behind(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    slope = torch.func.grad(cubes)(x)
    assert slope.tolist() == [3.0, 12.0]
    assert (slope.requires_grad, x.requires_grad, x.grad) == (False, False, None)
    y = leaf(torch, 1.0, 2.0)
    torch.func.grad(cubes)(y)
    assert y.grad is None


def test_grad_nests(torch: Any) -> None:
    grad = torch.func.grad
    x = number(torch, 2.0)
    assert grad(lambda x: x**4)(x).item() == 32.0
    assert grad(grad(lambda x: x**4))(x).item() == 48.0
    assert grad(grad(grad(lambda x: x**4)))(x).item() == 48.0
    assert not grad(grad(lambda x: x**4))(x).requires_grad


def test_inner_and_outer_derivatives_are_told_apart(torch: Any) -> None:
    grad = torch.func.grad
    one, two, three = (number(torch, value) for value in (1.0, 2.0, 3.0))
    assert grad(lambda x: x * grad(lambda y: x + y)(one))(two).item() == 1.0
    inner = grad(lambda x: grad(lambda y: (x * y) ** 2)(three))
    assert inner(two).item() == 24.0
    assert not inner(two).requires_grad


def test_result_can_be_differentiated_from_outside(torch: Any) -> None:
    x, w = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    slope = torch.func.grad(lambda x: cubes(x) * w)(x)
    assert slope.tolist() == [9.0, 36.0]
    slope.sum().backward()
    assert (x.grad.tolist(), w.grad.item()) == ([18.0, 36.0], 15.0)


def test_no_grad_outside_is_not_seen_inside(torch: Any) -> None:
    x, w = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    with torch.no_grad():
        slope, value = torch.func.grad_and_value(lambda x: cubes(x) * w)(x)
    assert slope.tolist() == [9.0, 36.0]
    assert (slope.requires_grad, value.requires_grad) == (False, False)
    assert value.item() == 27.0


def test_no_grad_inside_cuts(torch: Any) -> None:
    def f(x: Any) -> Any:
        with torch.no_grad():
            constant = x * x
        return (x * constant).sum()

    assert torch.func.grad(f)(vector(torch, 1.0, 2.0)).tolist() == [1.0, 4.0]


def test_inputs_and_auxiliary_outputs_may_be_nested(torch: Any) -> None:
    def f(parameters: Any, x: Any) -> Any:
        y = parameters["w"] * x + parameters["b"][0]
        return y.sum(), {"y": y, "twice": [y * 2]}

    w, b, x = vector(torch, 1.0, 2.0), vector(torch, 0.5, 0.5), vector(torch, 3.0, 4.0)
    slope, aux = torch.func.grad(f, has_aux=True)({"w": w, "b": (b,)}, x)
    assert slope["w"].tolist() == [3.0, 4.0]
    assert slope["b"][0].tolist() == [1.0, 1.0]
    assert aux["twice"][0].tolist() == [7.0, 17.0]
    assert not aux["y"].requires_grad


def test_argnums_choose_the_arguments(torch: Any) -> None:
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0)

    def f(x: Any, y: Any) -> Any:
        return (x * y * y).sum()

    grad = torch.func.grad
    assert grad(f, argnums=1)(x, y).tolist() == [6.0, 16.0]
    assert grad(f, argnums=-1)(x, y).tolist() == [6.0, 16.0]
    both = grad(f, argnums=(1, 0))(x, y)
    assert [slope.tolist() for slope in both] == [[6.0, 16.0], [9.0, 16.0]]


def test_grad_and_value_with_aux(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    slope, (value, aux) = torch.func.grad_and_value(
        lambda x: (cubes(x), x * 2), has_aux=True
    )(x)
    assert (slope.tolist(), value.item(), aux.tolist()) == ([3, 12], 9.0, [2.0, 4.0])


def test_output_that_does_not_depend_on_the_input_has_zeros(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    assert torch.func.grad(lambda x: number(torch, 3.0))(x).tolist() == [0.0, 0.0]
    _, back = torch.func.vjp(lambda x: (x * 2, number(torch, 1.0)), x)
    (slope,) = back((vector(torch, 1.0, 10.0), number(torch, 1.0)))
    assert slope.tolist() == [2.0, 20.0]


BAD_GRADS = [
    (lambda x: x, {}, "Expected f(*args) to return a scalar Tensor, got tensor with 1"),
    (lambda x: 3.0, {}, "Expected f(*args) to return a Tensor, got <class 'float'>"),
    (cubes, {"has_aux": True}, "output of function f should be a tuple: (output, aux)"),
    (cubes, {"argnums": 2}, "Got argnum=2, but only 1 positional inputs"),
    (cubes, {"argnums": "x"}, "argnums must be int or Tuple[int, ...], got: <class"),
    (cubes, {"argnums": (0, 0)}, "argnums elements must be unique, got (0, 0)"),
    (cubes, {"argnums": ()}, "argnums must be non-empty"),
]


@pytest.mark.parametrize(("function", "options", "says"), BAD_GRADS)
def test_grad_refuses_what_has_no_gradient(
    torch: Any, function: Any, options: Any, says: str
) -> None:
    with raises(torch, errors.TransformError, says):
        torch.func.grad(function, **options)(vector(torch, 1.0, 2.0))


def test_inputs_must_be_floating_point_tensors(torch: Any) -> None:
    says = "Thing passed to transform API must be Tensor, got <class 'float'>"
    with raises(torch, errors.ArgumentValueError, says):
        torch.func.grad(lambda x: x)(3.0)
    with raises(torch, errors.RequiresGradError, "only Tensors of floating point"):
        torch.func.grad(lambda x: x.sum())(torch.tensor([1, 2]))


def test_backward_and_requires_grad_are_refused_inside(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    with raises(torch, errors.TransformError, "backward() called inside a functorch"):
        torch.func.grad(lambda x: x.sum().backward())(x)
    with raises(torch, errors.TransformError, "You are attempting to call Tensor.req"):
        torch.func.grad(lambda x: torch.ones(2).requires_grad_())(x)


def test_autograd_grad_works_inside(torch: Any) -> None:
    def f(x: Any) -> Any:
        (slope,) = torch.autograd.grad(cubes(x), x, create_graph=True)
        return slope.sum()

    assert torch.func.grad(f)(vector(torch, 1.0, 2.0)).tolist() == [6.0, 12.0]
    each = torch.vmap(torch.func.grad(f))(batch(torch))
    assert each.tolist() == [[6.0, 12.0], [18.0, 24.0], [30.0, 36.0]]


def test_vjp_gives_the_output_and_the_way_back(torch: Any) -> None:
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0)
    value, back = torch.func.vjp(lambda x, y: {"a": x * y, "b": [x.sum()]}, x, y)
    assert (value["a"].tolist(), value["b"][0].item()) == ([3.0, 8.0], 3.0)
    assert not value["a"].requires_grad
    given = {"a": vector(torch, 1.0, 10.0), "b": [number(torch, 100.0)]}
    for _ in range(2):
        slopes = back(given)
        assert [s.tolist() for s in slopes] == [[103.0, 140.0], [1.0, 20.0]]


def test_vjp_with_aux(torch: Any) -> None:
    value, back, aux = torch.func.vjp(
        lambda x: (x * x, x + 1), vector(torch, 1.0, 2.0), has_aux=True
    )
    assert (value.tolist(), aux.tolist()) == ([1.0, 4.0], [2.0, 3.0])
    assert back(vector(torch, 1.0, 1.0))[0].tolist() == [2.0, 4.0]


BAD_VJPS = [
    (lambda x: 3.0, "expected f(*primals) to return only tensors, got unsupported"),
    (lambda x: (), "Expected f to be a function that has non-empty output"),
    (lambda x: x > 0, "All outputs of f must be floating-point or complex Tensors"),
]


@pytest.mark.parametrize(("function", "says"), BAD_VJPS)
def test_vjp_refuses_outputs_without_slopes(
    torch: Any, function: Any, says: str
) -> None:
    with raises(torch, errors.TransformError, says):
        torch.func.vjp(function, vector(torch, 1.0, 2.0))


def test_cotangents_fit_the_outputs(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    _, back = torch.func.vjp(lambda x: (x * 2, x.sum()), x)
    says = (
        "Expected pytree structure of cotangents to be the same as pytree structure of "
        "outputs to the function. cotangents: *, primal output: (*, *)"
    )
    with raises(torch, errors.TransformError, says):
        back(x)
    _, back = torch.func.vjp(lambda x: x * 2, x)
    with raises(torch, errors.GradientArgumentError, "Mismatch in shape"):
        back(vector(torch, 1.0, 2.0, 3.0))


def test_jacobian_in_chunks(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0, 3.0)
    for chunk_size in (1, 2, 5):
        jacobian = torch.func.jacrev(lambda x: x * x, chunk_size=chunk_size)(x)
        assert jacobian.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    with raises(torch, errors.MappingError, "`chunk_size` should be greater than 0."):
        torch.func.jacrev(cubes, chunk_size=0)


def test_gradients_of_every_example(torch: Any) -> None:
    w = vector(torch, 10.0, 20.0)

    def loss(w: Any, x: Any) -> Any:
        return ((w * x).sum()) ** 2 / 2

    each = torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(w, batch(torch))
    assert each.tolist() == [[50.0, 100.0], [330.0, 440.0], [850.0, 1020.0]]


def test_gradient_by_what_all_examples_share_is_one_for_each(torch: Any) -> None:
    w = vector(torch, 10.0, 20.0)

    def f(x: Any) -> Any:
        return torch.func.grad(lambda w: (w * w * x).sum())(w)

    each = torch.vmap(f)(batch(torch))
    assert each.tolist() == [[20.0, 80.0], [60.0, 160.0], [100.0, 240.0]]


def test_vmap_and_the_others_in_every_order(torch: Any) -> None:
    x = batch(torch)
    grad, jacrev, vmap = torch.func.grad, torch.func.jacrev, torch.vmap
    assert vmap(grad(cubes))(x).tolist() == (3 * x * x).tolist()
    assert grad(lambda x: vmap(cubes)(x).sum())(x).tolist() == (3 * x * x).tolist()
    assert grad(lambda x: vmap(grad(cubes))(x).sum())(x).tolist() == (6 * x).tolist()
    jacobians = vmap(jacrev(lambda x: x * x), in_dims=1, out_dims=2)(x)
    assert jacobians.shape == (3, 3, 2)
    assert jacobians.tolist()[1] == [[0.0, 0.0], [6.0, 8.0], [0.0, 0.0]]
    hessians = vmap(jacrev(jacrev(cubes)))(x)
    assert hessians.tolist()[2] == [[30.0, 0.0], [0.0, 36.0]]


def test_way_back_under_vmap(torch: Any) -> None:
    _, back = torch.func.vjp(lambda x: x * x, vector(torch, 1.0, 2.0))
    (rows,) = torch.vmap(back)(batch(torch))
    assert rows.tolist() == [[2.0, 8.0], [6.0, 16.0], [10.0, 24.0]]


@pytest.mark.rule("M02")
def test_custom_function_under_grad_vjp_and_twice(torch: Any) -> None:
    F = square(torch)
    x = number(torch, 3.0)
    assert torch.func.grad(F.apply)(x).item() == 6.0
    assert torch.func.grad(torch.func.grad(F.apply))(x).item() == 2.0
    _, back = torch.func.vjp(F.apply, x)
    assert back(number(torch, 1.0))[0].item() == 6.0
    assert torch.func.jacrev(F.apply)(vector(torch, 1.0, 2.0)).tolist() == [
        [2.0, 0.0],
        [0.0, 4.0],
    ]


@pytest.mark.rule("M02")
def test_backward_of_a_transform_is_recorded(torch: Any) -> None:
    modes: list[bool] = []

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        modes.append(torch.is_grad_enabled())
        return 2 * x * grad

    F = square(torch, backward=staticmethod(backward))
    torch.func.grad(F.apply)(number(torch, 3.0))
    with torch.no_grad():
        torch.func.grad(F.apply)(number(torch, 3.0))
    assert modes == [True, True]


@pytest.mark.rule("M04")
def test_jacobian_and_hessian_through_a_generated_rule(torch: Any) -> None:
    F = square(torch, generate_vmap_rule=True)
    jacrev = torch.func.jacrev
    twice = jacrev(jacrev(lambda x: (F.apply(x) * x).sum()))
    assert twice(vector(torch, 1.0, 2.0)).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    each = torch.vmap(twice)(batch(torch))
    assert each.tolist()[2] == [[30.0, 0.0], [0.0, 36.0]]


def test_hook_inside_sees_the_gradient_of_an_example(torch: Any) -> None:
    shapes: list[Any] = []

    def hook(grad: Any) -> Any:
        shapes.append(tuple(grad.shape))
        return grad * 10

    def f(x: Any) -> Any:
        y = x * 2
        y.register_hook(hook)
        return (y * y).sum()

    each = torch.vmap(torch.func.grad(f), in_dims=1, out_dims=1)(batch(torch))
    assert each.tolist() == (80 * batch(torch)).tolist()
    assert shapes == [(3,)]
    with raises(torch, errors.HookError, "cannot register a hook on a tensor that"):
        torch.vmap(f)(batch(torch))


def test_hooks_on_saved_tensors_are_refused(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
    says = "don't yet support saved tensor hooks"
    with hooks, raises(torch, errors.SavedHookError, says):
        torch.func.grad(cubes)(x)
    with raises(torch, errors.SavedHookError, says):
        torch.func.grad(lambda x: hooks.__enter__())(x)


def test_inference_mode_outside_does_not_stop_a_transform(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    with torch.inference_mode():
        assert torch.func.grad(cubes)(x).tolist() == [3.0, 12.0]
        twice = torch.func.jacrev(torch.func.jacrev(cubes))
        assert twice(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_once_differentiable_under_transforms(torch: Any) -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * grad

    once = torch.autograd.function.once_differentiable(backward)
    F = square(torch, generate_vmap_rule=True, backward=staticmethod(once))
    x = vector(torch, 1.0, 2.0)
    assert torch.vmap(torch.func.grad(F.apply))(x).tolist() == [2.0, 4.0]
    assert torch.func.jacrev(F.apply)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    y = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad((F.apply(y) * y).sum(), y, create_graph=True)
    with raises(torch, errors.OnceDifferentiableError, "trying to differentiate twice"):
        slope.sum().backward()


def test_levels_of_other_threads_are_not_seen() -> None:
    class Double(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    results: list[Any] = []

    def elsewhere() -> None:
        results.append(Double.apply(minigrad.ones(2)).tolist())

    def f(x: Any) -> Any:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return x.sum()

    minigrad.func.grad(f)(minigrad.ones(2))
    minigrad.vmap(f)(minigrad.ones(2))
    assert results == [[2.0, 2.0]] * 2
    assert not interpreters.active


def test_graph_of_a_transform_is_freed_at_once() -> None:
    x = minigrad.ones(2)
    slope = minigrad.func.grad(cubes)(x)
    assert slope.grad_fn is None
    assert slope._base is None


def test_lint_names_the_learners_class_under_vmap() -> None:
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.kept = inputs[0]

    more = {"generate_vmap_rule": True, "setup_context": staticmethod(setup_context)}
    F = square(minigrad, **more)
    x = minigrad.ones(2, requires_grad=True)
    says = r"^Square\.forward: ctx\.kept is a Tensor"
    with minigrad.teaching(True):
        with pytest.warns(minigrad.TeachingWarning, match=says):
            minigrad.vmap(F.apply)(x)
        minigrad.vmap(F.apply)(x)  # said once
