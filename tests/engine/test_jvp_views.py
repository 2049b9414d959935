"""``jvp`` where forward returns a view or changes an input in place."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import (
    dual,
    raises,
    same_memory,
    tangent_of,
    tangent_refused,
    with_jvp,
)


@pytest.mark.rule("L20")
def test_view_wants_a_view_of_the_tangent(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    apply = with_jvp(torch, lambda ctx, x: x.t(), lambda ctx, t: t.t())
    with fwAD.dual_level():
        x = dual(torch, [[1.0, 2.0]], [[3.0, 4.0]])
        y = apply(x)
        assert tangent_of(torch, y) == [[3.0], [4.0]]
        assert same_memory(fwAD.unpack_dual(y).tangent, fwAD.unpack_dual(x).tangent)


@pytest.mark.rule("L20")
@pytest.mark.parametrize("as_is", [False, True])
def test_tangent_that_is_no_view_is_refused_for_a_view(torch: Any, as_is: bool) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        return x if as_is else x.t()

    def jvp(ctx: Any, t: Any) -> Any:
        return t if as_is else t.t() * 1

    says = (
        "A custom Function's forward is returning a view (or an input as-is) but "
        "the jvp is not returning a view."
    )
    with tangent_refused(torch, says):
        with_jvp(torch, forward, jvp)(dual(torch, [[1.0, 2.0]], [[3.0, 4.0]]))


@pytest.mark.rule("L20")
def test_input_returned_as_it_is_wants_a_view_of_its_tangent(torch: Any) -> None:
    apply = with_jvp(torch, lambda ctx, x: x, lambda ctx, t: t.reshape(2))
    with torch.autograd.forward_ad.dual_level():
        y = apply(dual(torch, [1.0, 2.0], [3.0, 4.0]))
        assert tangent_of(torch, y) == [3.0, 4.0]


@pytest.mark.rule("L20")
@pytest.mark.parametrize("tangent_is_view", [False, True])
def test_view_of_something_else_is_refused(torch: Any, tangent_is_view: bool) -> None:
    fwAD = torch.autograd.forward_ad
    t = torch.ones(2, 1).t() if tangent_is_view else torch.ones(1, 2)
    other = torch.ones(1, 2)
    apply = with_jvp(torch, lambda ctx, x: x.t(), lambda ctx, t: other.t())
    with (
        fwAD.dual_level(),
        raises(
            torch,
            errors.TangentError,
            "A custom Function is returning a view but the jvp is not returning a view "
            f"of the {'same base as the ' if tangent_is_view else ''}given grad input.",
        ),
    ):
        apply(fwAD.make_dual(torch.ones(1, 2), t))


@pytest.mark.rule("L21")
def test_tangent_of_a_dirty_input_is_changed_in_place(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad

    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x, t = torch.tensor([1.0]), torch.tensor([3.0])
    with fwAD.dual_level():
        made = fwAD.make_dual(x, t)
        y = with_jvp(torch, forward, lambda ctx, t: t.mul_(2))(made)
        assert y is made
        assert fwAD.unpack_dual(y).tangent is t
    assert t.tolist() == [6.0]


@pytest.mark.rule("L21")
@pytest.mark.parametrize(
    ("jvp", "says"),
    [
        (lambda ctx, t: t * 2, "modifying the forward mode gradients inplace"),
        (lambda ctx, t: t, "modifying the forward mode gradients inplace"),
        (
            lambda ctx, t: (t * 1).mul_(2),
            "returning the forward mode gradients as-is",
        ),
    ],
)
def test_tangent_of_a_dirty_input_must_be_the_same_and_changed(
    torch: Any, jvp: Any, says: str
) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    with (
        torch.autograd.forward_ad.dual_level(),
        raises(torch, errors.TangentError, f"An inplace custom Function is not {says}"),
    ):
        with_jvp(torch, forward, jvp)(dual(torch, [1.0], [3.0]))


@pytest.mark.rule("L21")
def test_plain_dirty_input_becomes_dual(torch: Any) -> None:
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        x.mul_(y)
        ctx.mark_dirty(x)
        return x

    with torch.autograd.forward_ad.dual_level():
        x = torch.tensor([2.0], dtype=torch.float64)
        apply = with_jvp(torch, forward, lambda ctx, t_x, t_y: t_y * 5)
        y = apply(x, dual(torch, [1.0], [3.0]))
        assert y is x
        assert tangent_of(torch, x) == [15.0]


@pytest.mark.filterwarnings("ignore:(?s).*mark_dirty.*not an input")
@pytest.mark.rule("L21")
def test_new_tensor_marked_dirty_is_refused_in_forward_mode(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_dirty(y)
        return y

    says = "Only input Tensors should be given to ctx.mark_dirty()"
    with tangent_refused(torch, says):
        with_jvp(torch, forward, lambda ctx, t: t * 2)(dual(torch, 1.0, 3.0))


def test_one_tensor_returned_twice_has_no_two_tangents(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        return y, y

    says = (
        "Only inplace operations can re-set the forward grad of a Tensor that "
        "already has one"
    )
    with tangent_refused(torch, says):
        with_jvp(torch, forward, lambda ctx, t: (t, t))(dual(torch, 1.0, 3.0))


def first_two(tensor: Any) -> Any:
    """A view of the first two elements."""
    return tensor.as_strided((2,), (1,), 0)


def last_two(tensor: Any) -> Any:
    """A view of the last two of three elements."""
    return tensor.as_strided((2,), (1,), 1)


@pytest.mark.rule("L25")
def test_base_becomes_dual_through_its_view(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        base = torch.ones(3, dtype=torch.float64)
        before, view = last_two(base), first_two(base)
        view.mul_(dual(torch, [5.0, 6.0], [7.0, 8.0]))
        assert tangent_of(torch, base) == [7.0, 8.0, 0.0]
        assert tangent_of(torch, view) == [7.0, 8.0]
        assert tangent_of(torch, before) == [8.0, 0.0]
        assert tangent_of(torch, last_two(base)) == [8.0, 0.0]
        whole = fwAD.unpack_dual(base).tangent
        assert same_memory(whole, fwAD.unpack_dual(view).tangent)
        assert same_memory(whole, fwAD.unpack_dual(before).tangent)


@pytest.mark.rule("L25")
def test_view_made_before_its_base_became_dual_is_dual_too(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        base = torch.ones(3, dtype=torch.float64)
        view = last_two(base)
        base.mul_(dual(torch, [5.0, 6.0, 7.0], [1.0, 2.0, 3.0]))
        assert tangent_of(torch, view) == [2.0, 3.0]
        view.mul_(10)
        assert tangent_of(torch, base) == [1.0, 20.0, 30.0]
        assert tangent_of(torch, base * 2) == [2.0, 40.0, 60.0]


@pytest.mark.rule("L25")
def test_view_of_a_view_of_a_dual_reaches_the_duals_tangent(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
        first_two(x.reshape(3)).mul_(10)
        assert tangent_of(torch, x) == [40.0, 50.0, 6.0]


@pytest.mark.rule("L04", "L25")
def test_primal_stays_plain_when_its_dual_is_changed_in_place(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        primal = torch.tensor([1.0, 2.0])
        x = fwAD.make_dual(primal, torch.tensor([3.0, 4.0]))
        x.mul_(2)
        assert primal.tolist() == [2.0, 4.0]
        assert tangent_of(torch, primal) is None
        assert tangent_of(torch, primal.as_strided((1,), (1,), 0)) is None
        assert tangent_of(torch, fwAD.unpack_dual(x).primal) is None


@pytest.mark.rule("L25", "L27")
def test_tangent_changed_through_a_view_can_be_differentiated(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    with fwAD.dual_level():
        base = torch.ones(3)
        first_two(base).mul_(fwAD.make_dual(torch.tensor([5.0, 6.0]), t * 1))
        tangent = fwAD.unpack_dual(base * base).tangent
    tangent.sum().backward()
    assert t.grad.tolist() == [10.0, 12.0]


@pytest.mark.rule("L21")
def test_base_of_a_plain_dirty_view_becomes_dual(torch: Any) -> None:
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        x.mul_(y)
        ctx.mark_dirty(x)
        return x

    with torch.autograd.forward_ad.dual_level():
        base = torch.ones(3, dtype=torch.float64)
        apply = with_jvp(torch, forward, lambda ctx, t_x, t_y: t_y * 5)
        apply(last_two(base), dual(torch, [1.0, 2.0], [3.0, 4.0]))
        assert tangent_of(torch, base) == [0.0, 15.0, 20.0]


@pytest.mark.rule("L20")
def test_tangent_for_a_view_of_a_plain_input_reaches_that_input(torch: Any) -> None:
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return last_two(y)

    def jvp(ctx: Any, t_x: Any, t_y: Any) -> Any:
        return t_x

    with torch.autograd.forward_ad.dual_level():
        plain = torch.ones(3, dtype=torch.float64)
        y = with_jvp(torch, forward, jvp)(dual(torch, [1.0, 2.0], [3.0, 4.0]), plain)
        assert tangent_of(torch, y) == [3.0, 4.0]
        assert tangent_of(torch, plain) == [0.0, 3.0, 4.0]


@pytest.mark.rule("L20")
def test_jvp_may_return_a_view_of_the_same_base_as_the_tangent(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    apply = with_jvp(torch, lambda ctx, x: x.t(), lambda ctx, t: t.t())
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(1, 2), torch.ones(2).reshape(1, 2))
        assert tangent_of(torch, apply(x)) == [[1.0], [1.0]]


@pytest.mark.rule("L20")
def test_view_of_a_view_wants_a_view_of_the_tangents_base(torch: Any) -> None:
    apply = with_jvp(torch, lambda ctx, x: x.t(), lambda ctx, t: t.t() * 1)
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, [[1.0, 2.0]], [[3.0, 4.0]]).t()
        with raises(torch, errors.TangentError, "the jvp is not returning a view."):
            apply(x)


@pytest.mark.rule("L25")
def test_stretched_tangent_has_memory_of_its_own(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2))
        y = torch.zeros(1, 2) + x
        assert not fwAD.unpack_dual(y).tangent._is_view()
        y.mul_(10)
        assert tangent_of(torch, x) == [1.0, 1.0]


@pytest.mark.rule("L20")
def test_view_of_a_dual_wants_a_view_of_the_same_base(torch: Any) -> None:
    apply = with_jvp(torch, lambda ctx, x: x[:1], lambda ctx, t: t.clone()[:1])
    says = (
        "A custom Function is returning a view but the jvp is not returning a view of "
        "the same base as the given grad input."
    )
    with torch.autograd.forward_ad.dual_level():
        x = dual(torch, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
        with raises(torch, errors.TangentError, says):
            apply(x[:2])
