"""torch.func: jvp, jacfwd and hessian, and how they nest with the others."""

import warnings
from typing import Any

import pytest

import minigrad
from minigrad import errors
from minigrad.engine import interpreters
from tests.engine.support import Boom, leaf, raises, rule
from tests.engine.transformed import batch, cubes, number, square, vector


def forward_square(torch: Any, **more: Any) -> Any:
    """x * x with a jvp."""

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def jvp(ctx: Any, tangent: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * tangent

    body = {"setup_context": staticmethod(setup_context), "jvp": staticmethod(jvp)}
    return square(torch, **body, **more)


def test_func_jvp_gives_the_value_and_the_slope_along_the_tangent(torch: Any) -> None:
    x, t = vector(torch, 1.0, 2.0), vector(torch, 1.0, 10.0)
    value, slope = torch.func.jvp(lambda x: {"a": x * x, "b": [x.sum()]}, (x,), (t,))
    assert (value["a"].tolist(), value["b"][0].item()) == ([1.0, 4.0], 3.0)
    assert (slope["a"].tolist(), slope["b"][0].item()) == ([2.0, 40.0], 11.0)
    assert not slope["a"].requires_grad


def test_linearize_gives_the_value_and_a_function_of_tangents(torch: Any) -> None:
    x, t = vector(torch, 1.0, 2.0), vector(torch, 1.0, 10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's about its own tracing
        value, slope = torch.func.linearize(lambda x, y: x * y, x, x + 1)
    assert value.tolist() == [2.0, 6.0]
    assert slope(t, t).tolist() == [4.0 - 1.0, 50.0]
    assert slope(t, 0 * t).tolist() == [2.0, 30.0]


def test_func_jvp_with_nested_inputs_and_aux(torch: Any) -> None:
    x, t = vector(torch, 1.0, 2.0), vector(torch, 1.0, 10.0)
    value, slope, aux = torch.func.jvp(
        lambda p: (p["x"] * p["y"][0], p["x"] + 1),
        ({"x": x, "y": (x,)},),
        ({"x": t, "y": (t,)},),
        has_aux=True,
    )
    assert (value.tolist(), slope.tolist()) == ([1.0, 4.0], [2.0, 40.0])
    assert aux.tolist() == [2.0, 3.0]


def test_output_that_does_not_change_has_the_tangent_zero(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    _, slope = torch.func.jvp(lambda x: torch.ones(3), (x,), (x,))
    assert slope.tolist() == [0.0, 0.0, 0.0]
    says = "The output of f is independent of the inputs"
    with raises(torch, errors.TransformError, says):
        torch.func.jvp(lambda x: torch.ones(3), (x,), (x,), strict=True)


BAD_JVPS = [
    (lambda x: x, (), "Expected primals to be a tuple"),
    (lambda x: (x,), (1.0, 2.0), "primals and tangents to have the same python struct"),
    (lambda x: (), (), "Expected primals to contain at least one Tensor"),
    (lambda x: (3.0,), (1.0,), "Expected primals to only contain Tensors"),
]


@pytest.mark.parametrize(("primals", "tangents", "says"), BAD_JVPS)
def test_jvp_refuses_arguments_that_do_not_fit(
    torch: Any, primals: Any, tangents: Any, says: str
) -> None:
    with raises(torch, errors.TransformError, says):
        torch.func.jvp(lambda x: x, primals(vector(torch, 1.0, 2.0)), tangents)


def test_jvp_refuses_what_does_not_change_by_a_little(torch: Any) -> None:
    x = vector(torch, 1.0, 2.0)
    with raises(torch, errors.TransformError, "to return only tensors"):
        torch.func.jvp(lambda x: 3.0, (x,), (x,))
    with raises(torch, errors.TangentError, "a different size than that of the orig"):
        torch.func.jvp(lambda x: x, (x,), (vector(torch, 1.0),))
    whole = torch.tensor([1, 2])
    with raises(torch, errors.ArgumentValueError, "Expected primal to be floating"):
        torch.func.jvp(lambda x: x, (whole,), (whole,))


def test_forward_derivatives_nest(torch: Any) -> None:
    jvp = torch.func.jvp
    one, two = number(torch, 1.0), number(torch, 2.0)

    def slope(f: Any, x: Any) -> Any:
        return jvp(f, (x,), (one,))[1]

    assert slope(lambda x: slope(lambda x: x**3, x), two).item() == 12.0
    assert slope(lambda x: x * slope(lambda y: x + y, one), two).item() == 1.0


def test_forward_over_reverse_and_reverse_over_forward(torch: Any) -> None:
    x, t = vector(torch, 1.0, 2.0), vector(torch, 1.0, 10.0)
    first, along = torch.func.jvp(torch.func.grad(cubes), (x,), (t,))
    assert (first.tolist(), along.tolist()) == ([3.0, 12.0], [6.0, 120.0])
    assert not along.requires_grad
    slope = torch.func.grad(lambda x: torch.func.jvp(cubes, (x,), (t,))[1])(x)
    assert slope.tolist() == [6.0, 120.0]


def test_tangent_can_be_differentiated_from_outside(torch: Any) -> None:
    x, t = leaf(torch, 1.0, 2.0), vector(torch, 1.0, 10.0)
    _, slope = torch.func.jvp(cubes, (x,), (t,))
    slope.backward()
    assert x.grad.tolist() == [6.0, 120.0]
    torch.func.hessian(cubes)(x).sum().backward()
    assert x.grad.tolist() == [12.0, 126.0]


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_jacobian_of_func_has_the_shape_of_output_and_input(
    torch: Any, name: str
) -> None:
    jacobian_of = getattr(torch.func, name)
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0)
    both = jacobian_of(lambda x, y: {"p": x * y, "s": y.sum()}, argnums=(0, 1))
    found = both(x, y)
    assert [j.tolist() for j in found["p"]] == [[[3, 0], [0, 4]], [[1, 0], [0, 2]]]
    assert [j.tolist() for j in found["s"]] == [[0.0, 0.0], [1.0, 1.0]]
    jacobian, aux = jacobian_of(lambda x: (x * x, x + 1), has_aux=True)(x)
    assert jacobian.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert aux.tolist() == [2.0, 3.0]


def test_jacobians_of_both_modes_agree(torch: Any) -> None:
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)
    x = vector(torch, 1.0, 2.0)

    def f(x: Any) -> Any:
        return (w @ x) * x.sum()

    forward, back = torch.func.jacfwd(f)(x), torch.func.jacrev(f)(x)
    assert forward.tolist() == back.tolist() == [[8, 11], [20, 23], [32, 35]]


def test_func_hessian_is_forward_over_reverse(torch: Any) -> None:
    def f(x: Any) -> Any:
        return x.sum() * (x * x).sum()

    x, jacrev = vector(torch, 1.0, 2.0), torch.func.jacrev
    for hessian in (torch.func.hessian(f), jacrev(jacrev(f))):
        assert hessian(x).tolist() == [[10.0, 6.0], [6.0, 14.0]]
    both = torch.func.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))
    found = both(x, vector(torch, 3.0, 4.0))
    assert found[0][1].tolist() == found[1][0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    each = torch.vmap(torch.func.hessian(cubes))(batch(torch))
    assert each.tolist()[2] == [[30.0, 0.0], [0.0, 36.0]]


def test_vmap_and_forward_mode_in_every_order(torch: Any) -> None:
    x = batch(torch)
    jvp, jacfwd, vmap = torch.func.jvp, torch.func.jacfwd, torch.vmap
    _, slopes = vmap(lambda x, t: jvp(cubes, (x,), (t,)))(x, x)
    assert slopes.tolist() == [27.0, 273.0, 1023.0]
    _, slopes = jvp(vmap(cubes), (x,), (x,))
    assert slopes.tolist() == [27.0, 273.0, 1023.0]
    row = vector(torch, 1.0, 2.0)
    _, slopes = vmap(lambda t: jvp(cubes, (row,), (t,)))(x)
    assert slopes.tolist() == [27.0, 57.0, 87.0]
    assert vmap(jacfwd(lambda x: x * x), in_dims=1, out_dims=2)(x).shape == (3, 3, 2)


@pytest.mark.rule("M01")
def test_forward_with_ctx_is_refused_under_jvp(torch: Any) -> None:
    F = rule(torch, lambda ctx, x: x * 2, lambda ctx, grad: grad * 2)
    x = vector(torch, 1.0, 2.0)
    says = "In order to use an autograd.Function with functorch transforms"
    for run in (
        lambda: torch.func.jvp(F.apply, (x,), (x,)),
        lambda: torch.func.jacfwd(F.apply)(x),
        lambda: torch.func.hessian(lambda x: F.apply(x).sum())(x),
    ):
        with raises(torch, errors.TransformError, says):
            run()


@pytest.mark.rule("M02")
def test_custom_function_under_jvp(torch: Any) -> None:
    F = forward_square(torch)
    x, one = number(torch, 3.0), number(torch, 1.0)
    assert torch.func.jvp(F.apply, (x,), (one,))[1].item() == 6.0
    slope = torch.func.jvp(torch.func.grad(F.apply), (x,), (one,))[1]
    assert slope.item() == 2.0
    G = square(torch)
    with raises(torch, errors.JvpMissingError, "You must implement the jvp function"):
        torch.func.jvp(G.apply, (x,), (one,))


@pytest.mark.rule("M04")
def test_generated_rule_runs_jvp_on_examples(torch: Any) -> None:
    F = forward_square(torch, generate_vmap_rule=True)
    x = vector(torch, 1.0, 2.0)
    assert torch.func.jacfwd(F.apply)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    _, slopes = torch.func.jvp(torch.vmap(F.apply), (batch(torch),), (batch(torch),))
    assert slopes.tolist() == [[2.0, 8.0], [18.0, 32.0], [50.0, 72.0]]
    twice = torch.func.hessian(lambda x: (F.apply(x) * x).sum())
    assert torch.vmap(twice)(batch(torch)).tolist()[0] == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.rule("M06")
def test_vmap_staticmethod_under_forward_mode(torch: Any) -> None:
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return F.apply(x), in_dims[0]

    F = forward_square(torch, vmap=staticmethod(vmap))
    x = vector(torch, 1.0, 2.0)
    assert torch.func.jacfwd(F.apply)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    jacobians = torch.vmap(torch.func.jacfwd(F.apply))(batch(torch))
    assert jacobians.tolist()[1] == [[6.0, 0.0], [0.0, 8.0]]


def test_exception_closes_the_level() -> None:
    def f(x: Any) -> Any:
        raise Boom

    x = minigrad.ones(2)
    for run in (
        lambda: minigrad.func.jvp(f, (x,), (x,)),
        lambda: minigrad.func.jacfwd(f)(x),
    ):
        with pytest.raises(Boom):
            run()
        assert not interpreters.active


def test_change_in_place_has_its_tangents_at_both_levels() -> None:
    def changed(x: Any) -> Any:
        y = x.clone()
        y.mul_(x)
        y.mul_(x)
        return y

    def slope(function: Any) -> Any:
        return lambda x: minigrad.func.jvp(function, (x,), (minigrad.ones(1),))[1]

    x = minigrad.tensor([2.0])
    assert changed(x).item() == 8.0
    assert slope(changed)(x).item() == 12.0
    assert slope(slope(changed))(x).item() == 12.0
    gradient = minigrad.func.grad(lambda x: changed(x).sum())
    assert slope(gradient)(x).item() == 12.0
