"""Forward mode: levels, duals, and what built-in operations do with tangents."""

import threading
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import (
    Boom,
    dual,
    leaf,
    raises,
    same_memory,
    tangent_of,
    tangent_refused,
)


def numbers(torch: Any, *values: float) -> Any:
    """A vector that requires no gradient."""
    return torch.tensor(list(values), dtype=torch.float64)


@pytest.mark.rule("L01")
def test_dual_outside_a_level_is_refused(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = numbers(torch, 1.0)
    with raises(
        torch,
        errors.LevelError,
        "Trying to create a dual Tensor for forward AD but no level exists, make sure "
        "to enter_dual_level() first.",
    ):
        fwAD.make_dual(x, x)


@pytest.mark.rule("L01")
def test_unpacking_outside_a_level_gives_the_tensor_itself(torch: Any) -> None:
    x = numbers(torch, 1.0)
    unpacked = torch.autograd.forward_ad.unpack_dual(x)
    assert unpacked.primal is x
    assert unpacked.tangent is None


@pytest.mark.rule("L02")
def test_levels_cannot_be_nested(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with (
        fwAD.dual_level(),
        raises(
            torch,
            errors.LevelError,
            "Nested forward mode AD is not supported at the moment",
        ),
    ):
        fwAD.enter_dual_level()


@pytest.mark.rule("L03")
def test_leaving_the_level_drops_all_tangents(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = dual(torch, 2.0, 1.0)
        y = x * x
    assert fwAD.unpack_dual(y).tangent is None
    with fwAD.dual_level():
        assert tangent_of(torch, x) is None
        assert tangent_of(torch, y * x) is None


@pytest.mark.rule("L03")
def test_level_that_an_exception_leaves_is_closed(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with pytest.raises(Boom), fwAD.dual_level():
        raise Boom
    with fwAD.dual_level():
        assert tangent_of(torch, dual(torch, 2.0, 1.0)) == 1.0


@pytest.mark.rule("L04")
def test_dual_is_a_view_that_keeps_the_given_tangent(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x, t = numbers(torch, 1.0, 2.0), numbers(torch, 3.0, 4.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, t)
        assert made is not x
        assert made._is_view()
        assert made._base is x
        assert same_memory(made, x)
        assert fwAD.unpack_dual(made).tangent is t
        assert fwAD.unpack_dual(x).tangent is None


@pytest.mark.rule("L04")
def test_tangent_that_lies_otherwise_in_memory_is_copied(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x, t = torch.ones(2, 3), torch.ones(3, 2).t()
    with fwAD.dual_level():
        kept = fwAD.unpack_dual(fwAD.make_dual(x, t)).tangent
        assert kept is not t
        assert kept.stride() == x.stride()
        kept = fwAD.unpack_dual(fwAD.make_dual(t, x)).tangent
        assert kept.stride() == t.stride()


@pytest.mark.rule("L04")
def test_unpacked_value_is_a_plain_view(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = dual(torch, 2.0, 3.0)
        primal, _ = fwAD.unpack_dual(x)
        assert primal is not x
        assert primal._is_view()
        assert fwAD.unpack_dual(primal).tangent is None
        assert fwAD.unpack_dual(primal * x).tangent.item() == 6.0
        assert tangent_of(torch, fwAD.unpack_dual(x * 2).primal) is None


@pytest.mark.rule("L05")
@pytest.mark.parametrize("integer", ["primal", "tangent"])
def test_integers_make_no_dual(torch: Any, integer: str) -> None:
    x = torch.tensor([1.0])
    values = {"primal": x, "tangent": x}
    values[integer] = torch.tensor([1])
    with (
        torch.autograd.forward_ad.dual_level(),
        raises(
            torch,
            errors.ArgumentValueError,
            f"Expected {integer} to be floating point or complex, but got: torch.int64",
        ),
    ):
        torch.autograd.forward_ad.make_dual(*values.values())


@pytest.mark.rule("L05")
def test_tangent_of_another_shape_is_refused(torch: Any) -> None:
    says = (
        "Trying to set a forward gradient that has a different size than that of "
        "the original Tensor"
    )
    with tangent_refused(torch, says):
        torch.autograd.forward_ad.make_dual(torch.ones(2, 3), torch.ones(3))


@pytest.mark.rule("L05")
def test_tangent_may_have_another_floating_dtype(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    t = torch.ones(2, dtype=torch.float32)
    with fwAD.dual_level():
        made = fwAD.make_dual(numbers(torch, 1.0, 2.0), t)
        assert fwAD.unpack_dual(made).tangent is t


@pytest.mark.rule("L06")
def test_dual_of_a_dual_is_refused(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = dual(torch, 1.0, 1.0)
        with raises(
            torch,
            errors.TangentError,
            "Making a dual Tensor based on a Tensor that already has a forward "
            "gradient at the same level 0 is not supported.",
        ):
            fwAD.make_dual(x, torch.tensor(1.0))


@pytest.mark.rule("L06")
def test_dual_as_tangent_is_refused(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = dual(torch, 1.0, 1.0)
        with raises(
            torch,
            errors.TangentError,
            "Setting a forward grad that itself has a forward gradient at the same",
        ):
            fwAD.make_dual(numbers(torch, 1.0).sum(), x)


@pytest.mark.rule("L23")
def test_no_grad_does_not_stop_forward_mode(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level(), torch.no_grad():
        x = dual(torch, 2.0, 3.0)
        assert tangent_of(torch, x * 2) == 6.0


@pytest.mark.rule("L23")
def test_forward_mode_can_be_switched_off(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = dual(torch, 2.0, 3.0)
        with fwAD._set_fwd_grad_enabled(False):
            y = x * 2
            assert fwAD.unpack_dual(x).tangent is None
        assert tangent_of(torch, y) is None
        assert tangent_of(torch, x) == 3.0


@pytest.mark.rule("L23")
def test_switch_acts_at_once_and_is_restored_after_an_exception(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = dual(torch, 2.0, 3.0)
        switch = fwAD._set_fwd_grad_enabled(False)
        assert tangent_of(torch, x) is None
        with pytest.raises(Boom), switch:
            raise Boom
        assert tangent_of(torch, x) == 3.0


@pytest.mark.rule("L24")
def test_detach_drops_the_tangent(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 2.0, 3.0)
        assert tangent_of(torch, x.detach()) is None
        assert tangent_of(torch, x.data) is None
        assert tangent_of(torch, x.clone()) == 3.0


@pytest.mark.rule("L25")
def test_change_in_place_changes_the_tangent_in_place(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x, t = numbers(torch, 2.0), numbers(torch, 3.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, t)
        made.mul_(10)
        assert fwAD.unpack_dual(made).tangent is t
    assert t.tolist() == [30.0]
    assert t._version == 1
    assert x.tolist() == [20.0]


@pytest.mark.rule("L25")
def test_plain_tensor_becomes_dual_in_place(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = numbers(torch, 1.0, 2.0)
        x.mul_(dual(torch, 5.0, 3.0))
        assert tangent_of(torch, x) == [3.0, 6.0]
        x.mul_(x.clone())
        assert tangent_of(torch, x) == [30.0, 120.0]


@pytest.mark.rule("L25")
def test_overwriting_leaves_a_tangent_of_zeros(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 5.0, 3.0)
        x.zero_()
        assert tangent_of(torch, x) == 0.0


@pytest.mark.rule("L25")
def test_view_of_a_dual_shares_the_memory_of_its_tangent(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2, 3), torch.ones(2, 3))
        view = x.t()
        assert same_memory(fwAD.unpack_dual(view).tangent, fwAD.unpack_dual(x).tangent)
        view.mul_(2)
        assert tangent_of(torch, x) == [[2.0] * 3] * 2


@pytest.mark.rule("L25")
def test_operand_that_was_stretched_has_a_tangent_of_the_whole_shape(
    torch: Any,
) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        y = torch.ones(2, 2) + dual(torch, 1.0, 7.0)
        assert tangent_of(torch, y) == [[7.0, 7.0], [7.0, 7.0]]
        assert fwAD.unpack_dual(y).tangent.stride() == (2, 1)


def test_integer_result_of_a_dual_is_plain(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 2.0, 3.0)
        assert tangent_of(torch, x > 1) is None
        assert tangent_of(torch, x.to(torch.int64)) is None
        assert tangent_of(torch, x.to(torch.int64) * 2.0) is None


@pytest.mark.rule("L26")
def test_gradient_of_a_dual_carries_the_second_derivative(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 2.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()))
        (gradient,) = torch.autograd.grad(made * made * made, made)
        assert gradient.item() == 12.0
        assert tangent_of(torch, gradient) == 12.0


@pytest.mark.rule("L26")
def test_saved_output_keeps_its_tangent(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 0.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()) * 5)
        (gradient,) = torch.autograd.grad(made.exp(), made)
        assert tangent_of(torch, gradient) == 5.0


@pytest.mark.rule("L26")
def test_leaf_accumulates_without_the_tangent_the_first_time(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 2.0, 1.0).requires_grad_()
        y = x * x * x
        y.backward(retain_graph=True)
        assert x.grad.item() == 12.0
        assert tangent_of(torch, x.grad) is None
        y.backward()
        assert x.grad.item() == 24.0
        assert tangent_of(torch, x.grad) == 12.0


@pytest.mark.rule("L27")
def test_tangent_can_be_differentiated(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 2.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()))
        tangent = fwAD.unpack_dual(made * made * made).tangent
    (second,) = torch.autograd.grad(tangent, x)
    assert second.item() == 12.0


@pytest.mark.rule("L27")
def test_output_is_linear_in_a_tangent_that_requires_grad(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x, t = numbers(torch, 2.0, 3.0), leaf(torch, 1.0, 1.0)
    with fwAD.dual_level():
        tangent = fwAD.unpack_dual((fwAD.make_dual(x, t) ** 2).sum()).tangent
    tangent.backward()
    assert t.grad.tolist() == [4.0, 6.0]


@pytest.mark.rule("L27")
def test_under_no_grad_the_tangent_is_not_recorded(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 2.0)
    with fwAD.dual_level(), torch.no_grad():
        made = fwAD.make_dual(x, torch.ones_like(x))
        tangent = fwAD.unpack_dual(made * made).tangent
    assert tangent.item() == 4.0
    assert not tangent.requires_grad


@pytest.mark.rule("L29")
def test_leaving_a_level_that_is_not_open_is_refused(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with (
        fwAD.dual_level(),
        raises(
            torch,
            errors.LevelError,
            "Trying to exit a forward AD level that was not the last one that was "
            "created",
        ),
    ):
        fwAD.exit_dual_level(level=5)


@pytest.mark.rule("L29")
def test_levels_are_entered_and_left_by_functions_too(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    level = fwAD.enter_dual_level()
    try:
        x = dual(torch, 2.0, 3.0)
        assert tangent_of(torch, x * x) == 12.0
        assert fwAD.unpack_dual(x, level=level).tangent.item() == 3.0
    finally:
        fwAD.exit_dual_level(level=level)
    assert level == 0
    assert fwAD.unpack_dual(x).tangent is None


@pytest.mark.rule("L29")
def test_level_is_a_decorator_too(torch: Any) -> None:
    @torch.autograd.forward_ad.dual_level()
    def slope(value: float) -> Any:
        x = dual(torch, value, 1.0)
        return tangent_of(torch, x * x)

    assert slope(3.0) == 6.0
    assert slope(4.0) == 8.0


@pytest.mark.rule("Z04", "L23")
def test_switch_belongs_to_one_thread_and_the_level_to_all(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    seen: list[Any] = []

    def look(x: Any) -> None:
        seen.append(tangent_of(torch, x * 2))

    with fwAD.dual_level(), fwAD._set_fwd_grad_enabled(False):
        x = dual(torch, 2.0, 3.0)
        thread = threading.Thread(target=look, args=(x,))
        thread.start()
        thread.join()
        look(x)
    assert seen == [6.0, None]


def test_dual_shows_its_tangent(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)
    with torch.autograd.forward_ad.dual_level():
        assert repr(dual(torch, 2.0, 3.0)) == "tensor(2., tangent=3.0)"


@pytest.mark.rule("L26")
@pytest.mark.parametrize("change", ["sin_", "exp_"])
def test_gradient_through_a_change_in_place_carries_the_tangent(
    torch: Any, change: str
) -> None:
    # sin_ saves what was there before, exp_ what is there afterwards.
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 0.5, 0.25)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, numbers(torch, 2.0, 3.0))
        y = made * 1
        getattr(y, change)()
        (gradient,) = torch.autograd.grad(y.sum(), made)
        second = -x.sin() if change == "sin_" else x.exp()
        wanted = second.detach() * numbers(torch, 2.0, 3.0)
        assert tangent_of(torch, gradient) == wanted.tolist()


@pytest.mark.rule("L25")
def test_sum_with_a_plain_tensor_has_a_tangent_of_its_own(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, 2.0, 3.0)
        y = x + torch.tensor(1.0)
        z = y.sum()
        y.zero_()
        assert tangent_of(torch, x) == 3.0
        assert tangent_of(torch, z) == 3.0


@pytest.mark.rule("L27")
def test_tangent_changed_in_place_can_be_differentiated(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 0.0)
    with fwAD.dual_level():
        y = fwAD.make_dual(x, torch.ones_like(x.detach())) * 2
        y.exp_()
        tangent = fwAD.unpack_dual(y).tangent
    assert tangent.item() == 2.0
    assert torch.autograd.grad(tangent, x)[0].item() == 4.0


@pytest.mark.rule("L27")
def test_tangent_is_in_the_graph_of_both_factors(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 5.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()))
        tangent = fwAD.unpack_dual(made * 3).tangent
    assert tangent.requires_grad
    assert torch.autograd.grad(tangent, x)[0].item() == 0.0


@pytest.mark.rule("L27")
def test_tangent_of_a_layer_is_in_the_graph_of_its_weight_only(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = torch.ones(2, 2)
    for place in range(3):
        values = [x.clone().requires_grad_(one == place) for one in range(3)]
        with fwAD.dual_level():
            values[2] = fwAD.make_dual(values[2], x)
            tangent = fwAD.unpack_dual(torch.addmm(*values)).tangent
        assert tangent.requires_grad == (place > 0)


def test_number_of_the_open_level_is_there_to_read(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    assert fwAD._current_level == -1
    with fwAD.dual_level() as number:
        assert fwAD._current_level == number == 0
    assert fwAD._current_level == -1
