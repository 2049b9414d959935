"""Changes in place: what they count, what they refuse, and memory of every kind."""

import copy
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from tests.engine.support import dual, leaf, raises, rule, same_memory, tangent_of


@pytest.mark.rule("D18")
def test_pure_view_may_be_changed_and_its_rule_is_left_out(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx._is_pure_view = True
        return x.view(2, 1)

    called: list[Any] = []
    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    y = rule(torch, forward, lambda ctx, g: called.append(g)).apply(b)
    y.mul_(3)
    b.sum().backward()
    assert (x.grad.tolist(), called) == ([3.0, 3.0], [])


@pytest.mark.rule("D18")
def test_input_passed_on_as_a_pure_view_may_be_changed(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx._is_pure_view = True
        return x

    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    rule(torch, forward).apply(b).mul_(3)
    b.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.rule("D18")
@pytest.mark.parametrize("kind", ["in a Function", "several", "no_grad"])
def test_pure_view_of_a_view_that_must_not_change_may(torch: Any, kind: str) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx._is_pure_view = True
        return x

    x = leaf(torch, 2.0, 3.0)
    b = x * 1
    with torch.set_grad_enabled(kind != "no_grad"):
        views = {
            "in a Function": rule(torch, lambda ctx, x: x[:1]).apply,
            "several": lambda b: b.split(1)[0],
            "no_grad": lambda b: b[:1],
        }
        view = views[kind](b)
    y = rule(torch, forward).apply(view)
    y.mul_(3)
    b.sum().backward()
    assert y.grad_fn.name() == "AsStridedBackward0"
    assert x.grad.tolist() == [3.0, 1.0]


@pytest.mark.rule("D19")
@pytest.mark.parametrize(
    ("result", "count"),
    [
        (lambda x: x.view(2, 1), 2),
        (lambda x: x * 2, 2),
        (lambda x: (x, 3), 1),
    ],
)
def test_pure_view_is_of_one_tensor_and_one_output(
    torch: Any, result: Any, count: int
) -> None:
    def forward(ctx: Any, *inputs: Any) -> Any:
        ctx._is_pure_view = True
        return result(inputs[0])

    says = "Pure view custom Function can only have one input Tensor and one output"
    inputs = [leaf(torch, 2.0, 3.0) for _ in range(count)]
    with raises(torch, errors.CtxUseError, says):
        rule(torch, forward).apply(*inputs)


@pytest.mark.rule("F15")
@pytest.mark.parametrize("which", ["view", "base", "detached"])
def test_change_through_another_name_of_saved_memory_is_noticed(
    torch: Any, which: str
) -> None:
    b = leaf(torch, 2.0, 3.0) * 1
    v = b.view(2, 1)
    saved, changed = {
        "view": (b, v),
        "base": (v, b),
        "detached": (b, b.detach()),
    }[which]
    y = (saved * saved).sum()
    changed.mul_(2)
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        y.backward()


@pytest.mark.rule("F15")
def test_change_through_data_or_numpy_is_silent(torch: Any) -> None:
    x = leaf(torch, 2.0)
    b = x * 1
    y = b * b
    b.data.mul_(5)
    b.detach().numpy()[...] += 1
    y.backward()
    assert x.grad.item() == 22.0


@pytest.mark.rule("F28")
def test_dirty_view_that_is_saved_unpacks_as_it_is_now(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return grad * y

    x = leaf(torch, 0.0, 1.0)
    b = x * 1
    rule(torch, forward, backward).apply(b[1:])
    b.sum().backward()
    assert x.grad.tolist() == [1.0, pytest.approx(np.e)]


@pytest.mark.rule("F30")
def test_modified_message_names_the_node_that_wraps_the_change(torch: Any) -> None:
    b = leaf(torch, 2.0, 3.0) * 1
    b[0:1].mul_(2)
    y = (b * b).sum()
    b[0:1].mul_(2)
    says = "[torch.DoubleTensor [2]], which is output 0 of torch::autograd::CopySlices,"
    with raises(torch, errors.SavedModifiedError, says):
        y.backward()


@pytest.mark.rule("U06")
def test_detach_in_place_cuts_the_tensor_off_and_refuses_views(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    b = x * 2
    assert b.detach_() is b
    assert (b.requires_grad, b.is_leaf, b.tolist()) == (False, True, [4.0, 6.0])
    with raises(torch, errors.GraphError, "Can't detach views in-place. Use detach()"):
        (x * 2)[0].detach_()


@pytest.mark.rule("U15")
def test_version_counts_by_hand_and_not_in_a_block(torch: Any) -> None:
    x = torch.zeros(2)
    torch.autograd.graph.increment_version(x)
    assert x._version == 1
    torch.autograd.graph.increment_version([x, x])
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.add_(1)
    assert (x._version, x.tolist()) == (3, [1.0, 1.0])
    with raises(torch, errors.CtxUseError, "increment_version expect a"):
        torch.autograd.graph.increment_version(3)


@pytest.mark.rule("U22")
def test_requires_grad_cannot_be_deleted(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with raises(torch, errors.RequiresGradError, "requires_grad"):
        del x.requires_grad
    with pytest.raises(AttributeError):
        del x.grad_fn


@pytest.mark.rule("Q24")
def test_hook_of_a_changed_view_is_left_behind_and_retained_grad_is_not(
    torch: Any,
) -> None:
    b = leaf(torch, 2.0, 3.0) * 1
    v = b[0]
    called: list[Any] = []
    v.register_hook(called.append)
    v.retain_grad()
    v.mul_(5)
    (v * 7 + b.sum()).backward()
    assert called == []
    assert v.grad.item() == 7.0


def test_dirty_input_loses_the_grad_that_it_kept(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    a = leaf(torch, 1.0, 3.0)
    b = a * 1
    b.retain_grad()
    torch.autograd.grad(b.sum(), a, retain_graph=True)
    assert b.grad.tolist() == [1.0, 1.0]
    changed = rule(torch, forward, lambda ctx, grad: grad * 2).apply(b)
    assert changed is b
    assert b.grad is None
    b.sum().backward()
    assert b.grad.tolist() == [1.0, 1.0]
    assert a.grad.tolist() == [2.0, 2.0]


def test_saved_view_of_memory_that_apply_has_changed_is_refused(torch: Any) -> None:
    def forward(ctx: Any, x: Any, save_copy: bool) -> Any:
        ctx.save_for_backward(x.clone() if save_copy else x[...])
        ctx.mark_dirty(x)
        return x.mul_(x)

    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * grad, None

    function = rule(torch, forward, backward)
    a = leaf(torch, 3.0)
    function.apply(a * 1, True).backward()
    assert a.grad.item() == 6.0
    with raises(torch, errors.InplaceError, "A view was created in no_grad mode"):
        function.apply(a * 1, False).backward()


def test_leaf_changed_in_place_after_its_use_is_no_leaf_any_more(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    y = (x * 1).sum()
    x.requires_grad_(False)
    x.mul_(leaf(torch, 5.0))
    says = "leaf variable has been moved into the graph interior"
    with raises(torch, errors.GraphError, says):
        y.backward()


def test_filling_may_write_elements_that_share_memory(torch: Any) -> None:
    x = torch.ones(2)
    x.expand(3, 2).fill_(5)
    assert x.tolist() == [5.0, 5.0]
    x.expand(3, 2)[0].mul_(2)
    assert x.tolist() == [10.0, 10.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[1:].copy_(x[:-1]),
        lambda x: x[1:].add_(x[:-1]),
        lambda x: x.__setitem__(slice(1, None), x[:-1]),
    ],
)
def test_writing_from_shifted_memory_is_refused(torch: Any, change: Any) -> None:
    x = torch.arange(4.0)
    says = "some elements of the input tensor and the written-to tensor refer to a "
    with raises(torch, errors.InplaceError, says):
        change(x)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_copy_casts_and_stretches(torch: Any) -> None:
    whole = torch.tensor([1, 2])
    assert whole.copy_(torch.tensor(2.7)).tolist() == [2, 2]
    x, s = leaf(torch, 1.0, 2.0), torch.tensor(3.0, requires_grad=True)
    b = x * 1
    b.copy_(s)
    assert b.grad_fn.name() == "torch::autograd::CopyBackwards"
    b.sum().backward()
    assert (x.grad.tolist(), s.grad.item(), s.grad.dtype) == (
        [0.0, 0.0],
        2.0,
        torch.float32,
    )
    with raises(torch, errors.ShapeError, "The size of tensor a (2) must match the"):
        b.copy_(torch.ones(3))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 1)])
def test_smallest_shapes_change_through_views(torch: Any, shape: Any) -> None:
    x = torch.ones(shape, requires_grad=True)
    b = x * 1
    v = b.view(-1)
    v.mul_(3)
    assert b.tolist() == (np.ones(shape) * 3).tolist()
    b.sum().backward()
    assert x.grad.tolist() == (np.ones(shape) * 3).tolist()


@pytest.mark.parametrize("kind", ["int64", "bool"])
def test_integers_and_bools_change_through_views(torch: Any, kind: str) -> None:
    x = torch.zeros(2, 3, dtype=getattr(torch, kind))
    x[:, 1] = 1
    x.t()[0].fill_(1)
    assert [[int(one) for one in row] for row in x.tolist()] == [[1, 1, 0]] * 2
    assert (x._version, x.requires_grad) == (2, False)


def test_order_of_memory_does_not_matter(torch: Any) -> None:
    arranged = torch.from_numpy(np.arange(12.0).reshape(3, 4)[:, ::2].T)
    x = arranged.clone().requires_grad_()
    b = x.t() * 1
    v = b[1:]
    v.mul_(5)
    assert b.tolist() == [[0.0, 2.0], [20.0, 30.0], [40.0, 50.0]]
    (b * b).sum().backward()
    assert x.grad.tolist() == [[0.0, 200.0, 400.0], [4.0, 300.0, 500.0]]


def test_read_only_memory_is_refused_and_stays_as_it_is() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    x = minigrad.from_numpy(array)
    for change in (
        lambda: x.mul_(2),
        lambda: x[0].fill_(5),
        lambda: x.__setitem__(1, 5.0),
        lambda: x.__setitem__([1], 5.0),
    ):
        with pytest.raises(errors.InplaceError, match="the memory of this tensor is"):
            change()
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert x._version == 0


def test_overlapping_memory_from_numpy_is_refused_or_right() -> None:
    array = np.arange(4.0)
    rows = np.lib.stride_tricks.as_strided(array, (3, 2), (8, 8))
    x = minigrad.from_numpy(rows).requires_grad_()
    (x[1] * minigrad.tensor([1.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    with pytest.raises(errors.InplaceError, match="single memory location"):
        minigrad.ones(1).expand(3).mul_(2)


def test_changed_views_leave_no_cycle() -> None:
    import gc

    gc.collect()
    x = minigrad.ones(4, requires_grad=True)
    b = x * 1
    v = b[1:]
    v.tanh()
    v.mul_(v.detach().clone())
    w = b.view(2, 2)
    w[0] = 3.0
    b.sum().backward()
    del b, v, w
    assert gc.collect() == 0
    assert copy.copy(x).requires_grad


RESHAPING = {
    "transpose_": (0, 1),
    "swapaxes_": (0, 1),
    "swapdims_": (0, 1),
    "t_": (),
    "squeeze_": (0,),
    "unsqueeze_": (-1,),
    "as_strided_": ((2, 1), (1, 1), 1),
}


def row_of_three(torch: Any) -> Any:
    """A leaf of shape (1, 3)."""
    values = [[1.0, 2.0, 3.0]]
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("name", RESHAPING)
def test_tensor_changes_its_own_shape_as_the_new_one_would(
    torch: Any, name: str
) -> None:
    x = row_of_three(torch)
    expected = getattr(x * 2, name[:-1])(*RESHAPING[name])
    y = x * 2
    memory = y.detach()
    assert getattr(y, name)(*RESHAPING[name]) is y
    assert (y.tolist(), y.stride()) == (expected.tolist(), expected.stride())
    assert (y.storage_offset(), y._version) == (expected.storage_offset(), 1)
    assert same_memory(y, memory)
    weight = torch.arange(y.numel(), dtype=torch.float64).reshape(y.shape) + 1
    grads = [torch.autograd.grad((v * weight).sum(), x)[0] for v in (y, expected)]
    assert grads[0].tolist() == grads[1].tolist()


@pytest.mark.parametrize(
    ("name", "args", "node"),
    [
        ("transpose_", (0, 1), "TransposeBackward1"),
        ("swapaxes_", (0, 1), "TransposeBackward1"),
        ("t_", (), "TBackward1"),
        ("squeeze_", (), "SqueezeBackward3"),
        ("squeeze_", (0,), "SqueezeBackward4"),
        ("squeeze_", ((0, 1),), "SqueezeBackward5"),
        ("unsqueeze_", (0,), "UnsqueezeBackward1"),
        ("as_strided_", ((2,), (1,)), "AsStridedBackward1"),
    ],
)
def test_node_of_a_change_of_shape_comes_after_the_history_until_now(
    torch: Any, name: str, args: Any, node: str
) -> None:
    y = row_of_three(torch) * 2
    getattr(y, name)(*args)
    before = y.grad_fn.next_functions[0][0]
    assert (y.grad_fn.name(), before.name()) == (node, "MulBackward0")
    assert not y._is_view()


def test_view_that_changes_its_shape_leaves_the_history_of_its_base(torch: Any) -> None:
    x = row_of_three(torch)
    y = x * 2
    view = y[:, 1:]
    view.t_()
    assert (view.grad_fn.name(), y.grad_fn.name()) == ("TBackward1", "MulBackward0")
    assert (view._base is y, y._version) == (True, 1)
    view.mul_(torch.tensor([[5.0], [7.0]], dtype=torch.float64))
    assert y.tolist() == [[2.0, 20.0, 42.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 10.0, 14.0]]


def test_views_of_a_tensor_that_changes_its_shape_show_what_they_showed(
    torch: Any,
) -> None:
    x = row_of_three(torch)
    y = x * 2
    view = y[:, 1:]
    y.t_()
    assert (view.tolist(), view.grad_fn.name()) == ([[4.0, 6.0]], "AsStridedBackward0")
    view.mul_(5)
    assert y.tolist() == [[2.0], [20.0], [30.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 10.0, 10.0]]


@pytest.mark.parametrize("name", RESHAPING)
def test_shape_of_a_leaf_that_requires_grad_is_changed_without_recording(
    torch: Any, name: str
) -> None:
    x = row_of_three(torch)
    change = getattr(x, name)
    with raises(torch, errors.InplaceError, "a leaf Variable that requires grad is be"):
        change(*RESHAPING[name])
    with raises(torch, errors.InplaceError, "a view of a leaf Variable"):
        getattr(x[:], name)(*RESHAPING[name])
    assert x._version == 0
    with torch.no_grad():
        change(*RESHAPING[name])
    x.sum().backward()
    assert (x.is_leaf, x.grad.shape) == (True, x.shape)


def test_change_of_shape_is_counted_as_one_of_values(torch: Any) -> None:
    y = row_of_three(torch) * 2
    total = (y * y).sum()
    y.squeeze_()
    with raises(
        torch, errors.SavedModifiedError, "output 0 of Squeeze3, is at version"
    ):
        total.backward()


def test_change_of_shape_leaves_hooks_with_the_history_until_now(torch: Any) -> None:
    y = row_of_three(torch) * 2
    seen: list[Any] = []
    y.register_hook(lambda grad: seen.append(tuple(grad.shape)))
    y.retain_grad()
    y.squeeze_()
    y.sum().backward()
    assert (seen, tuple(y.grad.shape)) == ([(1, 3)], (1, 3))


def test_shape_of_an_inference_tensor_is_changed_only_inside(torch: Any) -> None:
    with torch.inference_mode():
        x = torch.ones(2, 3)
        assert tuple(x.t_().shape) == (3, 2)
    with raises(torch, errors.InferenceError, "Inplace update to inference tensor"):
        x.t_()


def test_tangent_changes_its_shape_with_the_tensor(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        y = dual(torch, [[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]) * 2
        view = y[:, 1:]
        assert tangent_of(torch, view.t_()) == [[10.0], [12.0]]
        assert tangent_of(torch, y) == [[8.0, 10.0, 12.0]]
        assert tangent_of(torch, y.squeeze_()) == [8.0, 10.0, 12.0]
        assert tangent_of(torch, y.as_strided_((2,), (2,))) == [8.0, 12.0]


def test_examples_under_vmap_change_their_shape(torch: Any) -> None:
    def function(x: Any) -> Any:
        y = x * 2
        assert y.transpose_(0, 1) is y
        return y.unsqueeze_(0)

    batch = torch.arange(6.0).reshape(2, 1, 3)
    result = torch.func.vmap(function)(batch)
    assert result.tolist() == (batch * 2).transpose(1, 2).unsqueeze(1).tolist()
    grads = torch.func.vmap(torch.func.grad(lambda x: (function(x) * x.t()).sum()))
    assert grads(batch).tolist() == (batch * 4).tolist()


def test_second_derivative_goes_through_a_change_of_shape(torch: Any) -> None:
    x = row_of_three(torch)
    y = (x * x * x).squeeze_().unsqueeze_(1)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [[6.0, 12.0, 18.0]]
