"""Views and their history: rules D06-D08, H07-H08, T05, T06, R12 and U."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises, rule


def names(tensor: Any) -> list[str]:
    """The nodes from a tensor's history down its first edges."""
    found = []
    node = tensor.grad_fn
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def scaled(torch: Any, by: float, slope: float) -> Any:
    """The apply of a Function that multiplies its input in place; slope as it says."""

    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(by)
        ctx.mark_dirty(x)
        return x

    return rule(torch, forward, lambda ctx, grad: grad * slope).apply


@pytest.mark.rule("D06")
def test_view_returned_by_forward_is_a_view_with_the_new_node(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    y = rule(torch, lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 5).apply(x)
    assert y._base is x
    assert y.grad_fn.name() == "FBackward"
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.rule("D07")
@pytest.mark.parametrize("forward", [lambda ctx, x: x.view(2, 1), lambda ctx, x: x])
def test_view_out_of_a_custom_function_refuses_a_change(
    torch: Any, forward: Any
) -> None:
    y = rule(torch, forward, lambda ctx, g: g.view(2)).apply(leaf(torch, 2.0, 3.0) * 1)
    says = "Output 0 of F is a view and is being modified inplace. This view was "
    says += "created inside a custom Function (or because an input was returned as-is)"
    with raises(torch, errors.InplaceError, says):
        y.mul_(2)
    with torch.no_grad():
        y.mul_(2)


@pytest.mark.rule("D08")
def test_view_beside_another_output_refuses_a_change(torch: Any) -> None:
    y, _ = rule(torch, lambda ctx, x: (x, x * 2)).apply(leaf(torch, 2.0, 3.0) * 1)
    says = "This view is the output of a function that returns multiple views"
    with raises(torch, errors.InplaceError, says):
        y.mul_(2)


@pytest.mark.rule("H07")
def test_dirty_view_rewrites_the_history_of_its_base(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    v = b.view(2, 1).transpose(0, 1)
    y = scaled(torch, 5.0, 10.0)(v)
    assert y is v
    assert names(b) == ["CopySlices", "MulBackward0", "AccumulateGrad"]
    assert b.grad_fn.name() == "torch::autograd::CopySlices"
    assert names(v)[:2] == ["AsStridedBackward0", "CopySlices"]
    b.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


@pytest.mark.rule("H08")
def test_dirty_view_beside_another_output_is_refused(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x, 1

    says = "If your Function modifies inplace an input that is a view of another Tensor"
    with raises(torch, errors.InplaceError, says):
        rule(torch, forward).apply((leaf(torch, 2.0, 3.0) * 1).view(2, 1))


def test_dirty_view_of_a_leaf_is_refused(torch: Any) -> None:
    v = leaf(torch, 2.0, 3.0).view(2, 1)
    with raises(torch, errors.InplaceError, "a view of a leaf Variable that requires"):
        scaled(torch, 5.0, 10.0)(v)


def test_no_gradient_from_a_dirty_view_is_none_for_the_whole_base(torch: Any) -> None:
    def forward(ctx: Any, x: Any, k: Any) -> Any:
        ctx.mark_dirty(x)
        return x

    x, k = leaf(torch, 2.0, 3.0), leaf(torch, 4.0)
    b = x * 1
    rule(torch, forward, lambda ctx, g: (None, g.sum())).apply(b.view(2, 1), k)
    b.sum().backward()
    assert (x.grad, k.grad.item()) == (None, 2.0)


@pytest.mark.rule("T06")
def test_view_made_under_no_grad_refuses_a_recorded_change(torch: Any) -> None:
    b = leaf(torch, 2.0, 3.0) * 1
    with torch.no_grad():
        v = b.view(2, 1)
    says = "A view was created in no_grad mode and is being modified inplace with grad "
    says += "mode enabled."
    with raises(torch, errors.InplaceError, says):
        v.mul_(2)
    says = "is a view of a view which was created in no_grad mode"
    with raises(torch, errors.InplaceError, says):
        v.view(2).mul_(2)

    plain = torch.ones(2)
    with torch.no_grad():
        v = plain.view(2, 1)
    v.mul_(2)
    assert plain.tolist() == [2.0, 2.0]


@pytest.mark.rule("R12")
def test_view_made_under_no_grad_has_no_history_after_a_change(torch: Any) -> None:
    b = leaf(torch, 2.0, 3.0) * 1
    with torch.no_grad():
        v = b.view(2, 1)
    b.mul_(2)
    assert repr(v).endswith("grad_fn=<Invalid>)")
    says = "A view was created in no_grad mode and its base or another view of its base"
    says += " has been modified inplace with grad mode enabled."
    with raises(torch, errors.InplaceError, says):
        v.grad_fn  # noqa: B018
    with raises(torch, errors.InplaceError, says):
        v * 2


def test_view_made_under_no_grad_requires_grad_and_leads_nowhere(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.no_grad():
        v = x.view(2, 1)
    assert (v.requires_grad, v.is_leaf, v.grad_fn) == (True, True, None)
    y = (v * 2).sum()
    y.backward()
    assert (x.grad, v.grad) == (None, None)


@pytest.mark.rule("U03")
def test_view_of_a_leaf_refuses_a_change(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    says = "a leaf Variable that requires grad is being used in an in-place operation."
    with raises(torch, errors.InplaceError, says):
        x.mul_(2)
    says = "a view of a leaf Variable that requires grad is being used in an in-place"
    with raises(torch, errors.InplaceError, says):
        x.view(2, 1).mul_(2)
    assert x.tolist() == [2.0, 3.0]


@pytest.mark.rule("U08")
def test_change_of_a_view_is_seen_by_its_base_and_by_other_views(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    v, w = b.view(2, 1), b.view(1, 2)
    v.mul_(4)
    assert names(b)[:2] == ["CopySlices", "MulBackward0"]
    assert names(v)[:2] == names(w)[:2] == ["AsStridedBackward0", "CopySlices"]
    assert v.grad_fn is v.grad_fn
    w.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_plain_tensor_and_its_views_join_the_graph_together(torch: Any) -> None:
    b = torch.tensor([2.0, 3.0], dtype=torch.float64)
    v, w, k = b.view(2, 1), b.view(1, 2), leaf(torch, 4.0)
    assert not w.requires_grad
    v.mul_(k)
    assert (b.requires_grad, v.requires_grad, w.requires_grad) == (True, True, True)
    assert (w.is_leaf, names(w)[0]) == (False, "AsStridedBackward0")
    w.sum().backward()
    assert k.grad.item() == 5.0


def test_changed_view_saves_its_result_and_notices_the_next_change(torch: Any) -> None:
    x = leaf(torch, 0.0, 1.0)
    b = x * 1
    v = b.view(2, 1)
    v.exp_()
    b.sum().backward(retain_graph=True)
    assert x.grad.tolist()[0] == 1.0
    v.mul_(2)
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        b.sum().backward()


def test_reshape_of_memory_in_another_order_is_a_copy(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0).view(2, 2)
    y = x.t().reshape(4)
    assert (names(y)[:2], y._is_view()) == (
        ["UnsafeViewBackward0", "CloneBackward0"],
        False,
    )
    with raises(torch, errors.ShapeError, "view size is not compatible with input"):
        x.t().view(4)


@pytest.mark.rule("U08")
def test_two_changes_of_two_views_follow_each_other(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    v, w = b[0:1], b[0:2]
    v.mul_(4)
    w.mul_(w.detach().clone())
    assert b.tolist() == [64.0, 9.0]
    v.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [32.0, 0.0]
    b.sum().backward()
    assert x.grad.tolist() == [64.0, 3.0]


@pytest.mark.rule("U09")
def test_change_of_the_base_renews_the_history_of_its_views(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    v = b[0]
    before = v.grad_fn
    b.mul_(5)
    assert v.grad_fn is not before
    assert names(v)[:2] == ["AsStridedBackward0", "MulBackward0"]
    v.backward()
    assert x.grad.tolist() == [5.0, 0.0]


def test_history_through_a_changed_view_is_differentiable_twice(torch: Any) -> None:
    x, k = leaf(torch, 2.0, 3.0), leaf(torch, 5.0)
    b = x * x
    v = b.view(2, 1)
    v.mul_(k * k)
    (first,) = torch.autograd.grad((b * b).sum(), x, create_graph=True)
    assert first.tolist() == [4 * 8.0 * 625, 4 * 27.0 * 625]
    second = torch.autograd.grad(first.sum(), [x, k])
    assert second[0].tolist() == [12 * 4.0 * 625, 12 * 9.0 * 625]
    assert second[1].item() == 16 * 125 * (8.0 + 27.0)


@pytest.mark.rule("H07")
def test_dirty_part_takes_the_rule_and_the_rest_goes_past_it(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    with torch.no_grad():
        first = torch.tensor([1.0, 0.0], dtype=torch.float64)
    v = b.expand(2, 2).transpose(0, 1)[0, 0:1]
    scaled(torch, 5.0, 10.0)(v)
    assert b.tolist() == [10.0, 3.0]
    (b * (first + 1)).sum().backward()
    assert x.grad.tolist() == [20.0, 1.0]


@pytest.mark.parametrize(
    ("size", "stride", "start"),
    [((0,), (1,), 0), ((2, 0), (1, 1), 1), ((0, 3), (3, 1), 4), ((0,), (5,), 99)],
)
def test_as_strided_without_elements_goes_anywhere(
    torch: Any, size: Any, stride: Any, start: int
) -> None:
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    view = x.as_strided(size, stride, start)
    assert (tuple(view.shape), view.stride()) == (size, stride)
    assert (view.storage_offset(), view._base is x) == (start, True)
    view.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_place_in_memory_is_counted_from_its_first_element(torch: Any) -> None:
    x = torch.arange(6.0)
    row = x.reshape(2, 3)[1]
    assert (row.storage_offset(), row.detach()[1:].storage_offset()) == (3, 4)
    assert x.as_strided((2,), (1,), 2)[1:].storage_offset() == 3
    alone = row.detach()
    alone.data = torch.ones(2)
    assert alone.storage_offset() == 0
    assert alone.as_strided((2,), (1,), 0).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_change_of_a_view_of_a_view_says_where_to_move_it(
    torch: Any, mode: str
) -> None:
    x = torch.zeros(2)
    with getattr(torch, mode)():
        y = x.view(2)
    y.requires_grad_(True)
    z = y.view(2)
    says = (
        "You can clarify your code by moving both the view and the inplace either both "
        f"inside the {mode} block (if you don't want the inplace to be tracked) or both"
    )
    with raises(torch, errors.InplaceError, says) as caught:
        z /= 2
    assert "Output 0 of View is a view of a view which was" in str(caught.value)
