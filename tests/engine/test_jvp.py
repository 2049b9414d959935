"""``jvp`` of a learner's Function: when it runs, with what, and what it returns."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import (
    Boom,
    dual,
    leaf,
    raises,
    tangent_of,
    tangent_refused,
    with_jvp,
)


def twice(ctx: Any, x: Any) -> Any:
    return x * 2


@pytest.mark.rule("L07")
def test_jvp_runs_once_right_after_forward_if_an_input_is_dual(torch: Any) -> None:
    log: list[str] = []

    def forward(x: Any) -> Any:
        log.append("forward")
        return x * 2

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        log.append("setup_context")

    def jvp(ctx: Any, t: Any) -> Any:
        log.append("jvp")
        return t * 2

    apply = with_jvp(torch, forward, jvp, setup_context=setup_context)
    with torch.autograd.forward_ad.dual_level():
        assert tangent_of(torch, apply(dual(torch, 1.0, 3.0))) == 6.0
        assert log == ["forward", "setup_context", "jvp"]
        assert tangent_of(torch, apply(torch.tensor(1.0))) is None
        assert log == ["forward", "setup_context", "jvp", "forward", "setup_context"]


@pytest.mark.rule("L08", "J03")
def test_jvp_gets_zeros_for_a_plain_tensor_and_none_for_no_tensor(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any, y: Any, whole: Any, number: Any) -> Any:
        return x * y

    def jvp(ctx: Any, *tangents: Any) -> Any:
        seen.extend(tangents)
        return tangents[0]

    apply = with_jvp(torch, forward, jvp)
    plain = torch.ones(2, dtype=torch.float32)
    with torch.autograd.forward_ad.dual_level():
        apply(dual(torch, [1.0, 2.0], [3.0, 4.0]), plain, torch.tensor([1, 2]), 5)
    assert seen[0].tolist() == [3.0, 4.0]
    assert seen[1].tolist() == [0.0, 0.0]
    assert seen[1].dtype == torch.float32
    assert seen[2:] == [None, None]


@pytest.mark.rule("J03", "L08")
def test_jvp_gets_none_if_nothing_is_materialized(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * y

    def jvp(ctx: Any, *tangents: Any) -> Any:
        seen.extend(tangents)
        return tangents[0]

    with torch.autograd.forward_ad.dual_level():
        with_jvp(torch, forward, jvp)(dual(torch, 1.0, 3.0), torch.tensor(1.0))
    assert seen[0].item() == 3.0
    assert seen[1] is None


@pytest.mark.rule("L07")
def test_jvp_gets_the_tangent_that_was_given_and_hands_it_on(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    t = torch.tensor(3.0)
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.tensor(1.0), t)
        y = with_jvp(torch, twice, lambda ctx, tangent: tangent)(x)
        assert fwAD.unpack_dual(y).tangent is t


@pytest.mark.rule("L09")
def test_missing_jvp_is_an_error_only_for_a_dual(torch: Any) -> None:
    base = torch.autograd.Function
    apply = type(base)("F", (base,), {"forward": staticmethod(twice)}).apply
    with torch.autograd.forward_ad.dual_level():
        assert apply(torch.tensor(1.0)).item() == 2.0
        with raises(
            torch,
            errors.JvpMissingError,
            "You must implement the jvp function for custom autograd.Function to use "
            "it with forward mode AD.",
        ):
            apply(dual(torch, 1.0, 3.0))


@pytest.mark.rule("L10")
@pytest.mark.parametrize("count", [1, 3])
def test_jvp_returns_exactly_one_tangent_per_output(torch: Any, count: int) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, x * 3

    def jvp(ctx: Any, t: Any) -> Any:
        return (t, t * 3, None)[:count]

    says = (
        "Function's jvp returned an invalid number of forward gradients (expected "
        f"2 but got {count})"
    )
    with tangent_refused(torch, says):
        with_jvp(torch, forward, jvp)(dual(torch, 1.0, 3.0))


@pytest.mark.rule("L11")
@pytest.mark.parametrize("returned", [lambda t: None, lambda t: t > 0])
def test_neither_none_nor_an_integer_from_jvp_is_zero(
    torch: Any, returned: Any
) -> None:
    says = "Expected both tensor and its forward grad to be floating point or complex"
    with tangent_refused(torch, says):
        with_jvp(torch, twice, lambda ctx, t: returned(t))(dual(torch, 1.0, 3.0))


@pytest.mark.rule("L12")
@pytest.mark.parametrize("kind", ["integer", "marked"])
def test_output_without_derivative_wants_none(torch: Any, kind: str) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        second = x > 0 if kind == "integer" else x * 3
        if kind == "marked":
            ctx.mark_non_differentiable(second)
        return x * 2, second

    returned: list[Any] = []
    apply = with_jvp(torch, forward, lambda ctx, t: (t * 2, *returned))
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 1.0, 3.0)
        returned.append(None)
        y, second = apply(x)
        assert tangent_of(torch, y) == 6.0
        assert tangent_of(torch, second) is None
        returned[0] = torch.tensor(0.0)
        with raises(
            torch,
            errors.TangentError,
            "Function's jvp returned a gradient at position 1, but  the corresponding "
            "forward output is not a differentiable Tensor.",
        ):
            apply(x)


@pytest.mark.rule("L12")
def test_tangent_for_a_number_is_ignored(torch: Any) -> None:
    apply = with_jvp(torch, lambda ctx, x: (x * 2, 5), lambda ctx, t: (t * 2, t))
    with torch.autograd.forward_ad.dual_level():
        y, five = apply(dual(torch, 1.0, 3.0))
        assert tangent_of(torch, y) == 6.0
    assert five == 5


@pytest.mark.rule("L13")
@pytest.mark.parametrize("recorded", [False, True])
def test_marked_output_has_no_tangent(torch: Any, recorded: bool) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        marked = x * 3
        ctx.mark_non_differentiable(marked)
        return x * 2, marked

    apply = with_jvp(torch, forward, lambda ctx, t: (t * 2, None))
    with torch.autograd.forward_ad.dual_level():
        y, marked = apply(dual(torch, 1.0, 3.0).requires_grad_(recorded))
        assert tangent_of(torch, y) == 6.0
        assert tangent_of(torch, marked) is None
        assert y.requires_grad is recorded


@pytest.mark.rule("L14")
@pytest.mark.parametrize("value", [2.0, [1.0]])
def test_tangent_that_is_no_tensor_is_refused(torch: Any, value: Any) -> None:
    says = f"expected Variable or None (got {type(value).__name__}) for grad output 0."
    with tangent_refused(torch, says):
        with_jvp(torch, twice, lambda ctx, t: value)(dual(torch, 1.0, 3.0))


@pytest.mark.rule("L15")
def test_tangent_of_another_shape_than_the_output_is_refused(torch: Any) -> None:
    says = (
        "Trying to set a forward gradient that has a different size than that of "
        "the original Tensor"
    )
    with tangent_refused(torch, says):
        with_jvp(torch, twice, lambda ctx, t: t.sum())(dual(torch, [1.0], [3.0]))


@pytest.mark.rule("L16")
@pytest.mark.parametrize("recorded", [False, True])
def test_save_for_forward_refuses_at_the_call(torch: Any, recorded: bool) -> None:
    reached: list[bool] = []

    def forward(ctx: Any, x: Any) -> Any:
        try:
            ctx.save_for_forward(x, 2.0)
        finally:
            reached.append(True)
        reached.append(False)
        return x * 2

    with raises(
        torch,
        errors.SavedForForwardError,
        "save_for_forward expects all arguments to be tensors",
    ):
        with_jvp(torch, forward, None)(leaf(torch, 1.0).requires_grad_(recorded))
    assert reached == [True]


@pytest.mark.rule("L17")
def test_jvp_reads_what_was_saved_for_it_and_backward_its_own(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_forward(torch.tensor(2.0), None)
        ctx.save_for_backward(torch.tensor(5.0))
        return x * 2

    def jvp(ctx: Any, t: Any) -> Any:
        seen.extend(ctx.saved_tensors)
        return t * 2

    def backward(ctx: Any, grad: Any) -> Any:
        seen.extend(ctx.saved_tensors)
        return grad * 2

    apply = with_jvp(torch, forward, jvp, backward=backward)
    with torch.autograd.forward_ad.dual_level():
        y = apply(dual(torch, 1.0, 3.0).requires_grad_())
        assert y.grad_fn.saved_for_forward is None
        y.backward()
    assert [None if s is None else s.item() for s in seen] == [2.0, None, 5.0]


@pytest.mark.rule("L17")
def test_value_saved_for_forward_is_dropped_if_jvp_does_not_run(torch: Any) -> None:
    kept: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        kept.append(ctx)
        ctx.save_for_forward(x)
        return x * 2

    with_jvp(torch, forward, None)(torch.tensor(1.0))
    assert kept[0].saved_for_forward is None
    assert kept[0].saved_tensors == ()


@pytest.mark.rule("L18")
def test_jvp_does_not_see_what_was_saved_for_backward(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    def jvp(ctx: Any, t: Any) -> Any:
        seen.append(ctx.saved_tensors)
        return t * 2

    with torch.autograd.forward_ad.dual_level():
        y = with_jvp(torch, forward, jvp)(dual(torch, 1.0, 3.0).requires_grad_())
        assert len(y.grad_fn.saved_tensors) == 1
    assert seen == [()]


@pytest.mark.rule("L19")
@pytest.mark.parametrize("grad_mode", [False, True])
def test_jvp_runs_in_the_grad_mode_of_its_caller(torch: Any, grad_mode: bool) -> None:
    seen: list[Any] = []

    def jvp(ctx: Any, t: Any) -> Any:
        seen.append(torch.is_grad_enabled())
        return t * 2

    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 1.0, 3.0)
        with torch.set_grad_enabled(grad_mode):
            with_jvp(torch, twice, jvp)(x)
    assert seen == [grad_mode]


@pytest.mark.rule("L19", "A07")
def test_forward_setup_context_and_jvp_run_without_forward_mode(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    seen: list[Any] = []

    def look(x: Any) -> None:
        seen.append((tangent_of(torch, x), fwAD._is_fwd_grad_enabled()))

    def forward(x: Any) -> Any:
        look(x)
        return x * 2

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        look(inputs[0])
        ctx.save_for_forward(*inputs)

    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        look(x)
        look(x * t)
        return t * 2

    with fwAD.dual_level():
        x = dual(torch, 1.0, 3.0)
        with_jvp(torch, forward, jvp, setup_context=setup_context)(x)
        assert seen == [(None, False)] * 4
        assert tangent_of(torch, x) == 3.0
        assert fwAD._is_fwd_grad_enabled()


@pytest.mark.rule("L22")
def test_tangent_changed_in_jvp_is_changed_for_all(torch: Any) -> None:
    def jvp(ctx: Any, t: Any) -> Any:
        return t.mul_(2) * 1

    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 1.0, 3.0)
        assert tangent_of(torch, with_jvp(torch, twice, jvp)(x)) == 6.0
        assert tangent_of(torch, x) == 6.0


@pytest.mark.rule("L23")
def test_switched_off_forward_mode_runs_no_jvp(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    apply = with_jvp(torch, twice, lambda ctx, t: t * 2)
    with fwAD.dual_level():
        x = dual(torch, 1.0, 3.0)
        with torch.no_grad():
            assert tangent_of(torch, apply(x)) == 6.0
        with fwAD._set_fwd_grad_enabled(False):
            y = apply(x)
        assert tangent_of(torch, y) is None


@pytest.mark.rule("A34")
def test_apply_jvp_calls_the_learners_jvp_with_this_ctx(torch: Any) -> None:
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.factor = factor
        return x * factor

    def jvp(ctx: Any, t: Any, nothing: Any) -> Any:
        return t * ctx.factor, nothing

    y = with_jvp(torch, forward, jvp)(leaf(torch, 2.0), 3)
    tangent, nothing = y.grad_fn.apply_jvp(torch.tensor(5.0), "unchecked")
    assert tangent.item() == 15.0
    assert nothing == "unchecked"


@pytest.mark.rule("A34")
def test_apply_jvp_without_a_jvp_is_refused(torch: Any) -> None:
    base = torch.autograd.Function
    function = type(base)("F", (base,), {"forward": staticmethod(twice)})
    with raises(
        torch, errors.JvpMissingError, "You must implement the jvp function for custom"
    ):
        function.apply(leaf(torch, 2.0)).grad_fn.apply_jvp(torch.tensor(5.0))


def test_jvp_knows_which_inputs_need_a_gradient(torch: Any) -> None:
    seen: list[Any] = []

    def jvp(ctx: Any, t: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return t * 2

    with torch.autograd.forward_ad.dual_level():
        with_jvp(torch, twice, jvp)(dual(torch, 1.0, 3.0))
        with_jvp(torch, twice, jvp)(dual(torch, 1.0, 3.0).requires_grad_())
    assert seen == [(False,), (True,)]


@pytest.mark.rule("L27")
def test_tangent_of_a_learners_function_can_be_differentiated(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_forward(x)
        return x**3

    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return t * 3 * x**2

    x = leaf(torch, 2.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()))
        y = with_jvp(torch, forward, jvp)(made)
        tangent = fwAD.unpack_dual(y).tangent
    assert tangent.item() == 12.0
    assert torch.autograd.grad(tangent, x)[0].item() == 12.0


@pytest.mark.rule("L27")
def test_output_saved_for_forward_is_part_of_the_graph(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad

    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_forward(y)
        ctx.save_for_backward(y)
        return y

    def jvp(ctx: Any, t: Any) -> Any:
        return t * ctx.saved_tensors[0]

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[0]

    x = leaf(torch, 0.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()) * 2)
        y = with_jvp(torch, forward, jvp, backward=backward)(made)
        tangent = fwAD.unpack_dual(y).tangent
    assert torch.autograd.grad(tangent, x)[0].item() == 2.0


@pytest.mark.rule("L26")
@pytest.mark.parametrize("saves", ["input", "output"])
def test_gradient_of_a_learners_function_carries_the_tangent(
    torch: Any, saves: str
) -> None:
    fwAD = torch.autograd.forward_ad

    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_forward(y)
        ctx.save_for_backward(x if saves == "input" else y)
        return y

    def jvp(ctx: Any, t: Any) -> Any:
        return t * ctx.saved_tensors[0]

    def backward(ctx: Any, grad: Any) -> Any:
        (saved,) = ctx.saved_tensors
        return grad * (saved.exp() if saves == "input" else saved)

    x = leaf(torch, 0.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()) * 5)
        y = with_jvp(torch, forward, jvp, backward=backward)(made)
        (gradient,) = torch.autograd.grad(y, made)
        assert gradient.item() == 1.0
        assert tangent_of(torch, gradient) == 5.0


@pytest.mark.rule("A25")
def test_exception_in_jvp_passes_and_leaves_forward_mode_usable(torch: Any) -> None:
    def jvp(ctx: Any, t: Any) -> Any:
        raise Boom

    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 1.0, 3.0)
        with pytest.raises(Boom):
            with_jvp(torch, twice, jvp)(x)
        assert tangent_of(torch, x * x) == 6.0


def test_interrupt_in_forward_leaves_forward_mode_on(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        raise KeyboardInterrupt

    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 1.0, 3.0)
        with pytest.raises(KeyboardInterrupt):
            with_jvp(torch, forward, None)(x)
        assert tangent_of(torch, x * x) == 6.0
