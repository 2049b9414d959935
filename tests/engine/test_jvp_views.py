"""``jvp`` where forward returns a view or changes an input in place."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import raises, same_memory
from tests.engine.test_jvp import dual, tangent_of, with_jvp


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

    with (
        torch.autograd.forward_ad.dual_level(),
        raises(
            torch,
            errors.TangentError,
            "A custom Function's forward is returning a view (or an input as-is) but "
            "the jvp is not returning a view.",
        ),
    ):
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
            "of",
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

    with (
        torch.autograd.forward_ad.dual_level(),
        raises(
            torch,
            errors.TangentError,
            "Only input Tensors should be given to ctx.mark_dirty()",
        ),
    ):
        with_jvp(torch, forward, lambda ctx, t: t * 2)(dual(torch, 1.0, 3.0))


def test_one_tensor_returned_twice_has_no_two_tangents(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        return y, y

    with (
        torch.autograd.forward_ad.dual_level(),
        raises(
            torch,
            errors.TangentError,
            "Only inplace operations can re-set the forward grad of a Tensor that "
            "already has one",
        ),
    ):
        with_jvp(torch, forward, lambda ctx, t: (t, t))(dual(torch, 1.0, 3.0))
