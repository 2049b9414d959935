"""gradcheck and gradgradcheck: which wrong rules they refuse, and in which words."""

import importlib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from tests.engine.support import FORM, leaf, raises, rule


@contextmanager
def refused(torch: Any, *says: str) -> Iterator[None]:
    """GradcheckError, with all of these words; ours also in our form."""
    module = importlib.import_module(f"{torch.__name__}.autograd.gradcheck")
    with pytest.raises(module.GradcheckError) as caught:
        yield
    assert isinstance(caught.value, RuntimeError)
    text = str(caught.value)
    assert [words for words in says if words not in text] == []
    if torch.__name__ == "minigrad":
        assert FORM.fullmatch(text)


def cube(torch: Any, backward: Any) -> Any:
    """x cubed with the given rule, which is handed ``x`` instead of ctx."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    return rule(torch, forward, lambda ctx, g: backward(*ctx.saved_tensors, g))


def check(torch: Any, function: Any, *inputs: Any, **options: Any) -> bool:
    """gradcheck as a program asks for it."""
    apply = getattr(function, "apply", function)
    answer: bool = torch.autograd.gradcheck(apply, inputs, **options)
    return answer


def check_twice(torch: Any, function: Any, *inputs: Any, **options: Any) -> bool:
    """gradgradcheck as a program asks for it."""
    apply = getattr(function, "apply", function)
    answer: bool = torch.autograd.gradgradcheck(apply, inputs, **options)
    return answer


@pytest.mark.rule("W01")
def test_wrong_jacobian_is_shown_beside_the_measured_one(torch: Any) -> None:
    wrong = cube(torch, lambda x, g: g * 2 * x * x)
    says = "Jacobian mismatch for output 0 with respect to input 0,"
    with refused(torch, says, "numerical:", "analytical:"):
        check(torch, wrong, leaf(torch, 1.0, -2.0))


@pytest.mark.rule("W01")
def test_false_instead_of_an_error(torch: Any) -> None:
    wrong = cube(torch, lambda x, g: g * 2 * x * x)
    assert check(torch, wrong, leaf(torch, 1.0), raise_exception=False) is False


@pytest.mark.rule("W02")
def test_options_have_the_usual_defaults_and_names(torch: Any) -> None:
    parameters = inspect.signature(torch.autograd.gradcheck).parameters
    keywords = {
        name: parameter.default
        for name, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    keywords.pop("check_random_grad", None)
    assert keywords == {
        "eps": 1e-6,
        "atol": 1e-5,
        "rtol": 1e-3,
        "raise_exception": True,
        "nondet_tol": 0.0,
        "check_undefined_grad": True,
        "check_grad_dtypes": False,
        "check_batched_grad": False,
        "check_batched_forward_grad": False,
        "check_forward_ad": False,
        "check_backward_ad": True,
        "fast_mode": False,
        "masked": None,
    }
    with pytest.raises(TypeError, match="positional"):
        torch.autograd.gradcheck(lambda x: x, leaf(torch, 1.0), 1e-6)


@pytest.mark.rule("W03")
def test_no_input_requires_grad(torch: Any) -> None:
    says = "gradcheck expects at least one input tensor to require gradient, but none"
    with raises(torch, errors.ArgumentValueError, says):
        check(torch, lambda x: x * 2, leaf(torch, 1.0).detach())


@pytest.mark.rule("W04")
def test_single_precision_is_warned_of(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)
    says = (
        "Input #0 requires gradient and is not a double precision floating point or "
        "complex. "
    )
    with pytest.warns(UserWarning, match=says):
        assert not check(torch, lambda x: x * x * x, x, raise_exception=False)


@pytest.mark.rule("W05")
def test_backward_that_differs_the_second_time(torch: Any) -> None:
    calls = [0]

    def backward(x: Any, g: Any) -> Any:
        calls[0] += 1
        return g * 3 * x * x * (1 + calls[0] * 1e-7)

    says = (
        "Backward is not reentrant, i.e., running backward with same input and "
        "grad_output multiple times gives different values"
    )
    with refused(torch, says):
        check(torch, cube(torch, backward), leaf(torch, 1.0))
    assert check(torch, cube(torch, backward), leaf(torch, 1.0), nondet_tol=1e-4)


@pytest.mark.rule("W06")
def test_backward_that_ignores_what_comes_from_above(torch: Any) -> None:
    ignoring = cube(torch, lambda x, g: 3 * x * x)
    with refused(torch, "backward not multiplied by grad_output"):
        check(torch, ignoring, leaf(torch, 2.0))


def without_zeros(torch: Any, backward: Any) -> Any:
    """Doubles; its rule gets None where no gradient arrived."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2

    return rule(torch, forward, lambda ctx, g: backward(g))


@pytest.mark.rule("W07")
def test_gradient_out_of_nothing(torch: Any) -> None:
    says = (
        "Expected all input grads to be undefined or zero when all output grads are "
        "undefined or zero."
    )

    def backward(g: Any) -> Any:
        return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    wrong = without_zeros(torch, backward)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with refused(torch, says):
            check(torch, wrong, leaf(torch, 1.0, 2.0))
    assert check(torch, wrong, leaf(torch, 1.0, 2.0), check_undefined_grad=False)


@pytest.mark.rule("W07")
def test_backward_that_cannot_take_none(torch: Any) -> None:
    crashing = without_zeros(torch, lambda g: g * 2)
    with pytest.raises(TypeError, match="NoneType"):
        check(torch, crashing, leaf(torch, 1.0, 2.0))
    careful = without_zeros(torch, lambda g: None if g is None else g * 2)
    assert check(torch, careful, leaf(torch, 1.0, 2.0))


@pytest.mark.rule("W07")
def test_one_of_several_outputs_gets_no_gradient(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        if a is None:
            # Right for every gradient but zeros, which nobody else sends alone.
            return None if b is None else b * 3 + (b == 0).all()
        return a * 2 if b is None else a * 2 + b * 3

    function = rule(torch, forward, backward)
    x = leaf(torch, 1.0, 2.0)
    assert check(torch, function, x, check_undefined_grad=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with refused(torch, "Expected all input grads to be undefined or zero when"):
            check(torch, function, x)


@pytest.mark.rule("W08")
def test_fast_mode_projects_on_random_vectors(torch: Any) -> None:
    right = cube(torch, lambda x, g: g * 3 * x * x)
    assert check(torch, right, leaf(torch, 1.0, -2.0), fast_mode=True)
    wrong = cube(torch, lambda x, g: g * 2 * x * x)
    says = "Jacobian mismatch for output 0 with respect to input 0,"
    more = (
        "The above quantities relating the numerical and analytical jacobians are "
        "computed"
    )
    with refused(torch, says, more):
        check(torch, wrong, leaf(torch, 1.0, -2.0), fast_mode=True)


@pytest.mark.rule("W09")
def test_neither_direction_is_refused(torch: Any) -> None:
    says = "Expected at least one of check_forward_ad or check_backward_ad to be True"
    with raises(torch, errors.ArgumentAssertionError, says):
        check(torch, lambda x: x, leaf(torch, 1.0), check_backward_ad=False)


def with_jvp(torch: Any, backward: Any, jvp: Any) -> Any:
    """x * x with both rules, which are handed what was saved."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    function = rule(torch, forward, lambda ctx, g: backward(*ctx.saved_tensors, g))
    function.jvp = staticmethod(lambda ctx, t: jvp(*ctx.saved_tensors, t))
    return function


@pytest.mark.rule("W09")
@pytest.mark.parametrize("fast", [False, True])
def test_forward_mode_is_checked_on_demand(torch: Any, fast: bool) -> None:
    right = with_jvp(torch, lambda x, g: g * 2 * x, lambda x, t: t * 2 * x)
    x = leaf(torch, 1.0, -2.0)
    assert check(torch, right, x, check_forward_ad=True, fast_mode=fast)
    wrong = with_jvp(torch, lambda x, g: g * 2 * x, lambda x, t: t * x)
    assert check(torch, wrong, x, fast_mode=fast)
    says = (
        "Jacobian computed with forward mode mismatch for output 0 with respect to "
        "input 0,"
    )
    with refused(torch, says, "numerical:", "analytical:"):
        check(torch, wrong, x, check_forward_ad=True, fast_mode=fast)


@pytest.mark.rule("W09")
def test_forward_mode_may_be_checked_alone(torch: Any) -> None:
    no_backward = with_jvp(torch, lambda x, g: g * x, lambda x, t: t * 2 * x)
    x = leaf(torch, 1.0, -2.0)
    assert check(torch, no_backward, x, check_forward_ad=True, check_backward_ad=False)


@pytest.mark.rule("W09")
def test_forward_mode_needs_a_jvp(torch: Any) -> None:
    function = cube(torch, lambda x, g: g * 3 * x * x)
    with pytest.raises(NotImplementedError, match="You must implement the jvp"):
        check(torch, function, leaf(torch, 1.0), check_forward_ad=True)


@pytest.mark.rule("W01", "W09")
def test_several_inputs_and_outputs_have_a_jacobian_each_in_both_modes(
    torch: Any,
) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)

    def function(a: Any, b: Any, k: float) -> Any:
        return a * b * k, a.sum() + b.exp()

    assert check(torch, function, a, b, 3)
    assert check(torch, function, a, b, 3, check_forward_ad=True)
    assert check(torch, function, a, b, 3, check_forward_ad=True, fast_mode=True)


@pytest.mark.rule("W09")
def test_missing_tangent_must_count_as_zero(torch: Any) -> None:
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.set_materialize_grads(False)
        return a + b

    def added(factor: float) -> Any:
        def jvp(ctx: Any, s: Any, t: Any) -> Any:
            if s is None:
                return t * factor
            return s if t is None else s + t

        return staticmethod(jvp)

    function = rule(torch, forward, lambda ctx, g: (g, g))
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    function.jvp = added(1.0)
    assert check(torch, function, a, b, check_forward_ad=True)
    function.jvp = added(2.0)
    with refused(torch, "Mismatch in tangent values for output with index: "):
        check(torch, function, a, b, check_forward_ad=True)


@pytest.mark.rule("W02")
def test_batched_gradients_are_checked_on_demand(torch: Any) -> None:
    x = leaf(torch, 1.0, -2.0)
    right = cube(torch, lambda x, g: g * 3 * x * x)
    assert check(torch, right, x, check_batched_grad=True) is True
    assert check_twice(torch, right, x, check_batched_grad=True) is True
    numbers = cube(torch, lambda x, g: g * 3 * x * x * (g.sum().item() * 0 + 1))
    assert check(torch, numbers, x)
    with refused(torch, "While computing batched gradients, got: "):
        check(torch, numbers, x, check_batched_grad=True)


@pytest.mark.rule("W02")
def test_batched_tangents_are_checked_on_demand(torch: Any) -> None:
    options = {"check_forward_ad": True, "check_batched_forward_grad": True}
    a, b = leaf(torch, 1.0, -2.0), leaf(torch, 3.0)
    assert check(torch, lambda a, b: (a * b, a.exp()), a, b, **options)
    numbers = with_jvp(
        torch,
        lambda x, g: g * 2 * x,
        lambda x, t: t * 2 * x * (t.sum().item() * 0 + 1),
    )
    with refused(torch, "While computing batched gradients, got: "):
        check(torch, numbers, a, **options)


@pytest.mark.rule("W09")
def test_option_needs_its_direction(torch: Any) -> None:
    x = leaf(torch, 1.0)
    says = "Setting check_batched_grad=True requires check_backward_ad to be True"
    with raises(torch, errors.ArgumentAssertionError, says):
        check(
            torch,
            lambda x: x,
            x,
            check_batched_grad=True,
            check_backward_ad=False,
            check_forward_ad=True,
        )
    says = "Setting check_batched_forward_grad=True requires check_forward_ad to be"
    with raises(torch, errors.ArgumentAssertionError, says):
        check(torch, lambda x: x, x, check_batched_forward_grad=True)
    says = "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    with raises(torch, errors.ArgumentAssertionError, says):
        check_twice(
            torch, lambda x: x, x, check_fwd_over_rev=True, check_rev_over_rev=False
        )


@pytest.mark.rule("W10")
def test_forward_over_reverse_is_checked_on_demand(torch: Any) -> None:
    def function(x: Any) -> Any:
        return x * x * x

    x = leaf(torch, 1.0, -2.0)
    assert check_twice(torch, function, x, check_fwd_over_rev=True)
    alone = {"check_rev_over_rev": False, "check_undefined_grad": False}
    assert check_twice(torch, function, x, check_fwd_over_rev=True, **alone)
    says = "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be"
    with raises(torch, errors.ArgumentAssertionError, says):
        check_twice(torch, function, x, **alone)


@pytest.mark.rule("W10")
def test_saved_intermediate_is_caught_by_the_second_derivative(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        square = x * x
        ctx.save_for_backward(square)
        return square * x

    def backward(ctx: Any, g: Any) -> Any:
        (square,) = ctx.saved_tensors
        return g * 3 * square

    function = rule(torch, forward, backward)
    assert check(torch, function, leaf(torch, 2.0))
    with refused(torch, "Jacobian mismatch for output 0 with respect to input"):
        check_twice(torch, function, leaf(torch, 2.0))


@pytest.mark.rule("W10")
def test_once_differentiable_has_no_second_derivative(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 2 * x

    with refused(torch, "Jacobian mismatch", "analytical:tensor([[0.]])"):
        check_twice(torch, Once, leaf(torch, 2.0))


@pytest.mark.rule("W10")
def test_upstream_of_the_second_derivative_may_be_given(torch: Any) -> None:
    right = cube(torch, lambda x, g: g * 3 * x * x)
    upstream = leaf(torch, 0.5, 2.0)
    x = leaf(torch, 1.0, -2.0)
    assert torch.autograd.gradgradcheck(right.apply, (x,), (upstream,))
    assert torch.autograd.gradgradcheck(
        right.apply, x, gen_non_contig_grad_outputs=True, fast_mode=True
    )


@pytest.mark.rule("W11")
def test_expanded_input_is_refused(torch: Any) -> None:
    x = torch.ones(1, 2, dtype=torch.float64).expand(3, 2).requires_grad_()
    says = (
        "has a dimension with stride 0. gradcheck only supports inputs that are "
        "non-overlapping"
    )
    with raises(torch, errors.LayoutError, says):
        check(torch, lambda x: x * 2, x)


@pytest.mark.rule("W12")
def test_output_without_gradient_is_ignored_among_others(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        floor = x * 5
        ctx.mark_non_differentiable(floor)
        return x * 2, floor

    function = rule(torch, forward, lambda ctx, g, _: g * 2)
    assert check(torch, function, leaf(torch, 1.0, 2.0))


@pytest.mark.rule("W12")
@pytest.mark.parametrize("fast", [False, True])
def test_outputs_outside_the_graph_must_not_move(torch: Any, fast: bool) -> None:
    def constant(x: Any) -> Any:
        return torch.ones(2, dtype=torch.float64)

    assert check(torch, constant, leaf(torch, 1.0, 2.0), fast_mode=fast)
    with refused(torch, "Numerical gradient for function expected to be zero"):
        check(torch, lambda x: x.detach() * 2, leaf(torch, 1.0), fast_mode=fast)


@pytest.mark.rule("W13")
def test_dtypes_of_the_gradients_can_be_checked(torch: Any) -> None:
    right = cube(torch, lambda x, g: g * 3 * x * x)
    assert check(torch, right, leaf(torch, 1.0), check_grad_dtypes=True)


def test_point_is_left_as_it_was(torch: Any) -> None:
    x = leaf(torch, 1.0, -2.0)
    assert check(torch, lambda x: x.exp(), x)
    assert x.detach().tolist() == [1.0, -2.0]
    assert x.grad is None
    assert x._version == 0


def test_input_in_a_closure_is_moved_too(torch: Any) -> None:
    x = leaf(torch, 1.0, -2.0)
    assert check(torch, lambda _: x * x, x)


def test_one_tensor_need_not_be_a_tuple(torch: Any) -> None:
    assert torch.autograd.gradcheck(lambda x: [x * 2, x * x], leaf(torch, 1.0, 2.0))


def test_output_that_changes_its_shape_is_refused(torch: Any) -> None:
    def growing(x: Any) -> Any:
        big = float(x.detach().sum()) > 1.0
        return x.expand(2, 1) if big else x.expand(1, 1)

    says = "Expected `func` to return outputs with the same shape"
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    with raises(torch, errors.ArgumentAssertionError, says):
        check(torch, growing, x)


TWICE = "use grad_output once in every term"


def used_twice() -> Any:
    """The wrong rule that every one-hot upstream gradient finds right."""
    return cube(minigrad, lambda x, g: g * g * 3 * x * x)


def test_used_twice_passes_with_one_hot_gradients_alone() -> None:
    x = leaf(minigrad, 1.0, -2.0)
    assert check(minigrad, used_twice(), x, check_random_grad=False)


def test_used_twice_is_caught_by_a_random_gradient() -> None:
    with refused(minigrad, "under a random upstream gradient", TWICE):
        check(minigrad, used_twice(), leaf(minigrad, 1.0, -2.0))


def test_used_twice_is_caught_in_fast_mode() -> None:
    with refused(minigrad, "Jacobian mismatch"):
        check(minigrad, used_twice(), leaf(minigrad, 1.0, -2.0), fast_mode=True)


def test_message_names_the_element_that_differs_most() -> None:
    wrong = cube(minigrad, lambda x, g: g * 2 * x * x)
    words = "element 1 of the output by element 1 of the input is 12 measured, and 8"
    with refused(minigrad, words):
        check(minigrad, wrong, leaf(minigrad, 1.0, -2.0))


def test_input_comes_back_after_an_exception() -> None:
    x = leaf(minigrad, 1.0, 2.0)

    def fragile(x: Any) -> Any:
        if x.detach().tolist() != [1.0, 2.0]:
            raise KeyboardInterrupt
        return x * 2

    with pytest.raises(KeyboardInterrupt):
        check(minigrad, fragile, x)
    assert x.detach().tolist() == [1.0, 2.0]


def test_read_only_input_and_strange_output_are_refused() -> None:
    array = np.ones(2)
    array.flags.writeable = False
    x = minigrad.from_numpy(array).requires_grad_()
    with raises(minigrad, errors.LayoutError, "the memory of an input is read-only"):
        check(minigrad, lambda x: x * 2, x)
    with raises(minigrad, errors.ArgumentTypeError, "returned a float among"):
        check(minigrad, lambda x: (x * 2, 1.0), leaf(minigrad, 1.0))


def test_empty_and_single_element_inputs(torch: Any) -> None:
    empty = torch.zeros(0, dtype=torch.float64, requires_grad=True)
    assert check(torch, lambda x: x * 2, empty)
    assert check(torch, lambda x, y: x.sum() * y, empty, leaf(torch, 2.0))


def test_random_numbers_of_the_program_are_left_alone() -> None:
    minigrad.manual_seed(3)
    expected = minigrad.rand(2).tolist()
    minigrad.manual_seed(3)
    check(minigrad, lambda x: x * 2, leaf(minigrad, 1.0), fast_mode=True)
    check_twice(minigrad, lambda x: x * x, leaf(minigrad, 1.0))
    assert minigrad.rand(2).tolist() == expected
