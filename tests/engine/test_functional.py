"""autograd.functional: products with the Jacobian and the Hessian, and whole ones."""

from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import leaf, raises, rule
from tests.engine.transformed import cubes


def plain(torch: Any, *values: float) -> Any:
    """A vector, or for a single value a number, that requires no grad."""
    return leaf(torch, *values).detach()


@pytest.mark.rule("X01")
def test_vjp_gives_the_value_and_the_product(torch: Any) -> None:
    x, v = plain(torch, 1.0, 2.0), plain(torch, 1.0, 10.0)
    value, product = torch.autograd.functional.vjp(lambda x: x * x, x, v)
    assert (value.tolist(), product.tolist()) == ([1.0, 4.0], [2.0, 40.0])


@pytest.mark.rule("X01")
def test_vjp_needs_v_unless_the_output_is_one_element(torch: Any) -> None:
    vjp = torch.autograd.functional.vjp
    assert vjp(cubes, plain(torch, 1.0, 2.0))[1].tolist() == [3.0, 12.0]
    says = (
        "The vector v can only be None if the user-provided function returns a single "
        "Tensor with a single element."
    )
    with raises(torch, errors.DerivativeError, says):
        vjp(lambda x: x * x, plain(torch, 1.0, 2.0))


@pytest.mark.rule("X01")
def test_jvp_of_functional_gives_the_value_and_the_product(torch: Any) -> None:
    x, v = plain(torch, 1.0, 2.0), plain(torch, 1.0, 10.0)
    value, product = torch.autograd.functional.jvp(lambda x: x * x, x, v)
    assert (value.tolist(), product.tolist()) == ([1.0, 4.0], [2.0, 40.0])
    assert not value.requires_grad
    assert not product.requires_grad


@pytest.mark.rule("X01")
def test_jvp_of_functional_needs_v_unless_the_input_is_one_element(torch: Any) -> None:
    jvp = torch.autograd.functional.jvp
    assert jvp(lambda x: x * x, plain(torch, 3.0))[1].item() == 6.0
    says = (
        "The vector v can only be None if the input to the user-provided function is "
        "a single Tensor with a single element."
    )
    with raises(torch, errors.DerivativeError, says):
        jvp(lambda x: x * x, plain(torch, 1.0, 2.0))


@pytest.mark.rule("X01")
def test_several_inputs_and_outputs_are_tuples(torch: Any) -> None:
    a, b = plain(torch, 2.0), plain(torch, 3.0)

    def both(a: Any, b: Any) -> Any:
        return a * b, a + b

    one, ten = plain(torch, 1.0), plain(torch, 10.0)
    value, product = torch.autograd.functional.vjp(both, (a, b), (one, ten))
    assert [x.item() for x in value] == [6.0, 5.0]
    assert [x.item() for x in product] == [13.0, 12.0]
    value, product = torch.autograd.functional.jvp(both, (a, b), (one, ten))
    assert [x.item() for x in value] == [6.0, 5.0]
    assert [x.item() for x in product] == [23.0, 11.0]


@pytest.mark.rule("X01")
def test_v_of_another_form_is_refused(torch: Any) -> None:
    vjp = torch.autograd.functional.vjp
    x = plain(torch, 1.0, 2.0)
    with raises(torch, errors.DerivativeError, "v has invalid size: should be torch"):
        vjp(lambda x: x * x, x, plain(torch, 1.0, 2.0, 3.0))
    says = "The given v should contain a single Tensor."
    with raises(torch, errors.DerivativeError, says):
        vjp(lambda x: x * x, x, (x, x))
    says = "v is a tuple of invalid length: should be 2 but got 1."
    with raises(torch, errors.DerivativeError, says):
        vjp(lambda x: (x * x, x), x, x)
    says = "Entry 1 in v has invalid size: should be torch.Size([2]) but got"
    with raises(torch, errors.DerivativeError, says):
        vjp(lambda x: (x * x, x), x, (x, plain(torch, 1.0)))


@pytest.mark.rule("X01")
def test_what_is_no_tensor_is_refused_with_its_place(torch: Any) -> None:
    says = "The inputs given to vjp must be either a Tensor or a tuple of Tensors but"
    with raises(torch, errors.ArgumentTypeError, f"{says} the value at index 1 has"):
        torch.autograd.functional.vjp(lambda x, k: x, (plain(torch, 1.0), 2.0))
    with raises(torch, errors.ArgumentTypeError, f"{says} the given inputs has type"):
        torch.autograd.functional.vjp(lambda x: x, [plain(torch, 1.0)])
    says = "The outputs of the user-provided function given to jacobian must be either"
    with raises(torch, errors.ArgumentTypeError, says):
        torch.autograd.functional.jacobian(lambda x: [x], plain(torch, 1.0))


@pytest.mark.rule("X02")
def test_jacobian_has_the_shape_of_output_and_input(torch: Any) -> None:
    x = torch.ones(2, 3, dtype=torch.float64)
    whole = torch.autograd.functional.jacobian(lambda x: x.sum(1) * 2, x)
    assert tuple(whole.shape) == (2, 2, 3)
    assert whole.tolist() == [[[2.0] * 3, [0.0] * 3], [[0.0] * 3, [2.0] * 3]]


@pytest.mark.rule("X02")
def test_jacobian_of_tuples_is_nested_by_output_and_input(torch: Any) -> None:
    a, b = plain(torch, 1.0, 2.0), plain(torch, 3.0, 4.0)
    whole = torch.autograd.functional.jacobian(lambda a, b: (a * b, b.sum()), (a, b))
    assert [len(row) for row in whole] == [2, 2]
    assert whole[0][1].tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert [x.tolist() for x in whole[1]] == [[0.0, 0.0], [1.0, 1.0]]
    only = torch.autograd.functional.jacobian(lambda a: (a * 2,), a)
    assert isinstance(only, tuple)
    assert only[0].tolist() == [[2.0, 0.0], [0.0, 2.0]]


@pytest.mark.rule("X03")
def test_hessian_and_its_products(torch: Any) -> None:
    functional = torch.autograd.functional
    x, v = plain(torch, 1.0, 2.0), plain(torch, 1.0, 10.0)
    assert functional.hessian(cubes, x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    for product in (functional.hvp, functional.vhp):
        value, result = product(cubes, x, v)
        assert value.item() == 9.0
        assert result.tolist() == [6.0, 120.0]


@pytest.mark.rule("X03")
def test_hessian_of_two_inputs_has_four_parts(torch: Any) -> None:
    a, b = plain(torch, 2.0), plain(torch, 3.0)
    whole = torch.autograd.functional.hessian(lambda a, b: a * a * b, (a, b))
    assert [[x.item() for x in row] for row in whole] == [[6.0, 4.0], [4.0, 0.0]]
    one = plain(torch, 1.0)
    _, product = torch.autograd.functional.hvp(lambda a, b: a * a * b, (a, b), (a, one))
    assert [x.item() for x in product] == [16.0, 8.0]


@pytest.mark.rule("X03")
@pytest.mark.parametrize("name", ["hessian", "hvp", "vhp"])
def test_second_derivatives_need_a_single_element(torch: Any, name: str) -> None:
    second = getattr(torch.autograd.functional, name)
    x = plain(torch, 1.0, 2.0)
    v = () if name == "hessian" else (x,)
    says = (
        f"The Tensor returned by the function given to {name} should contain a single "
        "element"
    )
    with raises(torch, errors.DerivativeError, says):
        second(lambda x: x * x, x, *v)
    says = f"The function given to {name} should return a single Tensor"
    with raises(torch, errors.DerivativeError, says):
        second(lambda x: (x.sum(),), x, *v)


@pytest.mark.rule("X04")
def test_inputs_stay_as_they_are_and_results_have_no_graph(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    whole = torch.autograd.functional.jacobian(lambda x: x * x, x)
    assert not whole.requires_grad
    assert x.grad is None
    untracked = plain(torch, 1.0)
    value, product = torch.autograd.functional.vjp(cubes, untracked)
    assert not untracked.requires_grad
    assert not value.requires_grad
    assert not product.requires_grad


@pytest.mark.rule("X04")
def test_results_have_a_graph_on_demand(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    functional = torch.autograd.functional
    whole = functional.jacobian(lambda x: x * x * x, x, create_graph=True)
    assert torch.autograd.grad(whole.sum(), x)[0].tolist() == [6.0, 12.0]
    value, product = functional.vjp(cubes, x, create_graph=True)
    assert torch.autograd.grad(product.sum() + value, x)[0].tolist() == [9.0, 24.0]
    _, product = functional.jvp(cubes, x, x.detach(), create_graph=True)
    assert torch.autograd.grad(product, x)[0].tolist() == [6.0, 24.0]
    for second in (functional.hvp, functional.vhp):
        _, product = second(cubes, x, x.detach(), create_graph=True)
        assert torch.autograd.grad(product.sum(), x)[0].tolist() == [6.0, 12.0]
    matrix = functional.hessian(cubes, x, create_graph=True)
    assert torch.autograd.grad(matrix.sum(), x)[0].tolist() == [6.0, 6.0]


@pytest.mark.rule("X04")
def test_products_work_inside_no_grad(torch: Any) -> None:
    x = plain(torch, 1.0, 2.0)
    with torch.no_grad():
        assert torch.autograd.functional.vjp(cubes, x)[1].tolist() == [3.0, 12.0]
        assert torch.autograd.functional.hvp(cubes, x, x)[1].tolist() == [6.0, 24.0]


@pytest.mark.rule("X05")
def test_independent_output_is_zero_or_refused(torch: Any) -> None:
    a, b = plain(torch, 1.0, 2.0), plain(torch, 3.0, 4.0)
    jacobian = torch.autograd.functional.jacobian
    assert jacobian(lambda a, b: a * 2, (a, b))[1].tolist() == [[0.0] * 2] * 2
    says = (
        "Output 0 of the user-provided function is independent of input 1. This is "
        "not allowed in strict mode."
    )
    with raises(torch, errors.DerivativeError, says):
        jacobian(lambda a, b: a * 2, (a, b), strict=True)


@pytest.mark.rule("X05")
def test_strict_mode_of_the_products(torch: Any) -> None:
    functional = torch.autograd.functional
    x = plain(torch, 1.0, 2.0)
    cases = [
        (functional.vjp, lambda x, y: x.sum(), (x, x), None),
        (functional.vjp, lambda x: x.detach().sum(), x, None),
        (functional.jvp, lambda x: x.sum().detach(), x, x),
        (functional.hvp, lambda x: x.sum(), x, x),
        (functional.vhp, lambda x: x.sum(), x, x),
        (functional.vhp, lambda x, y: cubes(x) + y.sum(), (x, x), (x, x)),
    ]
    for product, function, inputs, v in cases:
        product(function, inputs, v)
        with pytest.raises(RuntimeError, match="in strict mode"):
            product(function, inputs, v, strict=True)


@pytest.mark.rule("X05")
def test_strict_mode_with_a_graph_refuses_what_is_constant(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    says = "This is not allowed in strict mode when create_graph=True."
    functional = torch.autograd.functional
    with raises(torch, errors.DerivativeError, says):
        functional.vjp(lambda x: x.sum(), x, create_graph=True, strict=True)
    with raises(torch, errors.DerivativeError, says):
        functional.jacobian(lambda x: x * 2, x, create_graph=True, strict=True)
    says = "found that the jacobian of the user-provided function with respect to"
    with raises(torch, errors.DerivativeError, says):
        functional.hessian(lambda x: x.sum(), x, strict=True)


@pytest.mark.rule("X06")
def test_options_that_do_not_go_together(torch: Any) -> None:
    jacobian = torch.autograd.functional.jacobian
    x = plain(torch, 1.0, 2.0)
    with raises(
        torch, errors.UnsupportedOptionError, "only implemented for `vectorize=True`."
    ):
        jacobian(lambda x: x * x, x, strategy="forward-mode")
    with raises(torch, errors.UnsupportedOptionError, "`create_graph=True` and"):
        jacobian(lambda x: x * x, x, create_graph=True, strategy="forward-mode")
    with pytest.raises(RuntimeError, match=r"`strict=True` and `vectorized=True` are"):
        jacobian(lambda x: x * x, x, strict=True, vectorize=True)
    with pytest.raises(RuntimeError, match=r"`strict=True` and `strategy="):
        jacobian(lambda x: x * x, x, strict=True, strategy="forward-mode")
    with raises(torch, errors.ArgumentAssertionError, "Expected strategy to be either"):
        jacobian(lambda x: x * x, x, strategy="sideways")


@pytest.mark.rule("X06")
def test_vectorized_jacobian_has_the_same_numbers(torch: Any) -> None:
    functional = torch.autograd.functional
    x = plain(torch, 1.0, 2.0)
    whole = functional.jacobian(lambda x: (x * x, x.sum()), x, vectorize=True)
    assert [part.tolist() for part in whole] == [[[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0]]
    matrix = functional.hessian(cubes, x, vectorize=True)
    assert matrix.tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.rule("X06")
def test_vectorized_jacobian_runs_backward_once(torch: Any) -> None:
    log: list[Any] = []

    def backward(ctx: Any, g: Any) -> Any:
        log.append(tuple(g.shape))
        return g * 2

    double = rule(torch, lambda ctx, x: x * 2, backward).apply
    x = plain(torch, 1.0, 2.0)
    for vectorize, runs in ((False, 2), (True, 1)):
        log.clear()
        whole = torch.autograd.functional.jacobian(double, x, vectorize=vectorize)
        assert whole.tolist() == [[2.0, 0.0], [0.0, 2.0]]
        assert log == [(2,)] * runs


@pytest.mark.rule("X06")
def test_jacobian_in_forward_mode_has_the_same_numbers(torch: Any) -> None:
    functional = torch.autograd.functional
    forward = {"vectorize": True, "strategy": "forward-mode"}
    x, y = plain(torch, 1.0, 2.0), plain(torch, 3.0, 4.0)
    whole = functional.jacobian(lambda x: x * x, x, **forward)
    assert whole.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert not whole.requires_grad
    rows = functional.jacobian(lambda x, y: (x * y, x.sum()), (x, y), **forward)
    assert [part.tolist() for part in rows[0]] == [
        [[3.0, 0.0], [0.0, 4.0]],
        [[1.0, 0.0], [0.0, 2.0]],
    ]
    assert [part.tolist() for part in rows[1]] == [[1.0, 1.0], [0.0, 0.0]]
    first, second = functional.jacobian(lambda x: (x * 2, x.sum()), x, **forward)
    assert (tuple(first.shape), tuple(second.shape)) == ((2, 2), (2,))


@pytest.mark.rule("X06")
def test_hessian_forward_over_reverse(torch: Any) -> None:
    forward = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    x, y = plain(torch, 1.0, 2.0), plain(torch, 3.0, 4.0)
    hessian = torch.autograd.functional.hessian
    assert hessian(cubes, x, **forward).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    matrix = hessian(lambda x, y: (x * x * y).sum(), (x, y), **forward)
    assert matrix[0][1].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert matrix[1][1].tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.rule("X06")
def test_forward_mode_keeps_the_graph_of_its_inputs(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    forward = {"vectorize": True, "strategy": "forward-mode"}
    whole = torch.autograd.functional.jacobian(lambda x: x * x * x, x, **forward)
    (g,) = torch.autograd.grad(whole.sum(), x)
    assert g.tolist() == [6.0, 12.0]


@pytest.mark.rule("X07")
def test_jvp_of_functional_needs_only_backward(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x * x

    function = rule(torch, forward, backward)
    x, v = plain(torch, 2.0), plain(torch, 1.0)
    assert torch.autograd.functional.jvp(function.apply, x, v)[1].item() == 12.0


@pytest.mark.rule("X07")
def test_jvp_of_functional_fails_where_backward_is_once_differentiable(
    torch: Any,
) -> None:
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x, v = plain(torch, 2.0), plain(torch, 1.0)
    with pytest.raises(RuntimeError, match="not allowed in strict mode"):
        torch.autograd.functional.jvp(Once.apply, x, v, strict=True)
    assert torch.autograd.functional.jvp(Once.apply, x, v)[1].item() == 0.0


def test_empty_input_has_an_empty_jacobian_where_torch_raises() -> None:
    x = minigrad.zeros(0, dtype=minigrad.float64)
    jacobian = minigrad.autograd.functional.jacobian
    assert tuple(jacobian(lambda x: x * 2, x).shape) == (0, 0)
    forward = {"vectorize": True, "strategy": "forward-mode"}
    assert tuple(jacobian(lambda x: x * 2, x, **forward).shape) == (0, 0)
