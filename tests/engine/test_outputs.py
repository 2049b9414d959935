"""What apply hands out: rules D, H (in place) and I (marked outputs)."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from tests.engine.support import leaf, raises, rule, same_memory


@pytest.mark.rule("D01")
def test_tuple_stays_a_tuple_of_its_length(torch: Any) -> None:
    x = leaf(torch, 2.0)
    bare = rule(torch, lambda ctx, x: x * 2).apply(x)
    single = rule(torch, lambda ctx, x: (x * 2,)).apply(x)
    assert isinstance(bare, torch.Tensor)
    assert type(single) is tuple
    assert len(single) == 1


@pytest.mark.rule("D02")
@pytest.mark.parametrize("box", [lambda y: [y], lambda y: {"y": y}])
def test_list_or_dict_is_one_output_without_a_graph(torch: Any, box: Any) -> None:
    made: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        made.append(box(x * 2))
        return made[0]

    out = rule(torch, forward).apply(leaf(torch, 2.0))
    (y,) = out.values() if isinstance(out, dict) else out
    assert out is made[0]
    assert y.grad_fn is None


@pytest.mark.rule("D03")
def test_other_values_pass_through_and_get_none_in_backward(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, *grads: Any) -> Any:
        seen.extend(grads)
        return grads[0]

    F = rule(torch, lambda ctx, x: (x * 1, 7, "text", None), backward)
    y, *others = F.apply(leaf(torch, 2.0))
    assert others == [7, "text", None]
    y.backward()
    assert seen[0].item() == 1.0
    assert seen[1:] == [None, None, None]


@pytest.mark.rule("D04")
def test_input_returned_as_it_is_comes_back_as_a_view(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    y = rule(torch, lambda ctx, x: x, lambda ctx, grad: grad * 10).apply(x)
    assert y is not x
    assert y._base is x
    assert same_memory(x, y)
    assert (y.grad_fn.name(), x.grad_fn) == ("FBackward", None)
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


@pytest.mark.rule("D05")
def test_unrecorded_input_returned_as_it_is_is_another_object(torch: Any) -> None:
    F = rule(torch, lambda ctx, x: x)
    plain = torch.tensor([2.0])
    view = F.apply(plain)
    assert view is not plain
    assert view._is_view()
    assert same_memory(view, plain)

    x = leaf(torch, 2.0, 3.0)
    with torch.no_grad():
        alias = F.apply(x)
    assert alias is not x
    assert same_memory(alias, x)
    assert not alias.requires_grad
    assert not alias._is_view()
    assert x.requires_grad


@pytest.mark.rule("D09")
def test_ordinary_output_may_be_changed_in_place(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = rule(torch, lambda ctx, x: x * 2, lambda ctx, grad: grad * 2).apply(x)
    y.mul_(3)
    assert y.grad_fn.name() == "MulBackward0"
    y.backward()
    assert x.grad.item() == 6.0


@pytest.mark.rule("D10")
def test_output_returned_twice_belongs_to_the_last_slot(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        return y, y

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.extend([a.item(), b.item()])
        return a + b

    y, z = rule(torch, forward, backward).apply(leaf(torch, 2.0))
    assert y is z
    assert y.output_nr == 1
    (y * 10 + z).backward()
    assert seen == [0.0, 11.0]


@pytest.mark.rule("D11")
def test_input_returned_twice_gives_two_views(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.extend([a.item(), b.item()])
        return a + b

    y, z = rule(torch, lambda ctx, x: (x, x), backward).apply(leaf(torch, 2.0))
    assert y is not z
    assert (y.output_nr, z.output_nr) == (0, 1)
    (y * 10 + z).backward()
    assert seen == [10.0, 1.0]


@pytest.mark.rule("D12", "I09")
@pytest.mark.parametrize("kind", ["int64", "bool"])
def test_integer_output_has_no_graph_and_gets_integer_zeros(
    torch: Any, kind: str
) -> None:
    seen: list[Any] = []
    dtype = getattr(torch, kind)

    def backward(ctx: Any, grad: Any, other: Any) -> Any:
        seen.append(other)
        return grad

    F = rule(torch, lambda ctx, x: (x * 1, x.to(dtype)), backward)
    y, whole = F.apply(leaf(torch, 2.0, 3.0))
    assert (whole.requires_grad, whole.grad_fn) == (False, None)
    y.sum().backward()
    assert seen[0].dtype == dtype
    assert seen[0].tolist() == [0, 0]


@pytest.mark.rule("D13")
def test_graph_made_inside_forward_is_replaced_by_ctx(torch: Any) -> None:
    inner: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        with torch.enable_grad():
            y = x * 3
        inner.append(y.grad_fn.name())
        return y

    x = leaf(torch, 2.0)
    y = rule(torch, forward, lambda ctx, grad: grad * 100).apply(x)
    assert (inner, y.grad_fn.name()) == (["MulBackward0"], "FBackward")
    y.backward()
    assert x.grad.item() == 100.0


@pytest.mark.rule("D14")
def test_tensor_from_elsewhere_is_taken_into_the_graph(torch: Any) -> None:
    elsewhere = torch.tensor(5.0)
    y = rule(torch, lambda ctx, x: elsewhere).apply(leaf(torch, 2.0))
    assert y is elsewhere
    assert elsewhere.requires_grad


@pytest.mark.rule("D16")
def test_backward_runs_once_with_a_slot_for_every_output(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append((a.item(), b.item()))
        return a + b

    F = rule(torch, lambda ctx, x: (x * 1, x * 1), backward)
    _, z = F.apply(leaf(torch, 2.0))
    z.backward()
    assert seen == [(0.0, 1.0)]


@pytest.mark.rule("D17")
def test_output_is_the_object_that_forward_made(torch: Any) -> None:
    made: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        made.append(x * 2)
        return made[0]

    assert rule(torch, forward).apply(leaf(torch, 2.0)) is made[0]


def scale_in_place(torch: Any, mark: bool = True) -> Any:
    """A Function that multiplies its input by 5 in place."""

    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(5)
        if mark:
            ctx.mark_dirty(x)
        return x

    return rule(torch, forward, lambda ctx, grad: grad * 5)


@pytest.mark.rule("H01")
def test_dirty_input_comes_back_as_itself_with_new_history(torch: Any) -> None:
    x = leaf(torch, 2.0)
    b = x.clone()
    former = b.grad_fn
    y = scale_in_place(torch).apply(b)
    assert y is b
    assert b.grad_fn.name() == "FBackward"
    assert b.grad_fn.next_functions[0][0] is former
    y.backward()
    assert (y.item(), x.grad.item()) == (10.0, 5.0)


@pytest.mark.rule("H02")
def test_mark_dirty_counts_one_version_more(torch: Any) -> None:
    b = leaf(torch, 2.0).clone()
    scale_in_place(torch).apply(b)
    assert b._version == 2

    def forward(ctx: Any, x: Any) -> Any:
        x.numpy()[...] = 7.0
        ctx.mark_dirty(x)
        return x

    c = leaf(torch, 2.0).clone()
    rule(torch, forward).apply(c)
    assert (c._version, c.item()) == (1, 7.0)


@pytest.mark.rule("H03")
def test_leaf_cannot_be_marked_dirty(torch: Any) -> None:
    x = leaf(torch, 2.0)
    says = "a leaf Variable that requires grad has been used in an in-place operation."
    with raises(torch, errors.InplaceError, says):
        scale_in_place(torch).apply(x)
    assert x.item() == 10.0


@pytest.mark.rule("H04")
def test_dirty_tensor_must_be_returned(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x * 2

    says = (
        "Some elements marked as dirty during the forward method were not returned as "
        "output. The inputs that are modified inplace must all be outputs of the "
        "Function."
    )
    with raises(torch, errors.InplaceError, says):
        rule(torch, forward).apply(leaf(torch, 2.0).clone())


@pytest.mark.rule("H05")
def test_marking_a_new_tensor_dirty_warns_only_in_a_graph(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_dirty(y)
        return y

    F = rule(torch, forward, lambda ctx, grad: grad * 2)
    x = leaf(torch, 2.0)
    with torch.no_grad():
        assert F.apply(x).item() == 4.0
    says = (
        r"received a tensor that was not an input\. Only input Tensors that have been "
        "mutated"
    )
    with pytest.warns(UserWarning, match=says):
        y = F.apply(x.clone())
    y.backward()
    assert x.grad.item() == 2.0


@pytest.mark.rule("H06")
def test_mark_dirty_takes_tensors_only(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(5)
        return x * 2

    says = "mark_dirty can only accept variables, but argument"
    F = rule(torch, forward)
    for x in (leaf(torch, 2.0), torch.tensor(2.0)):
        with raises(torch, errors.CtxUseError, says):
            F.apply(x)


@pytest.mark.rule("H09")
def test_dirty_input_beside_another_output_is_fine(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(5)
        ctx.mark_dirty(x)
        return x, x * 3

    F = rule(torch, forward, lambda ctx, a, b: a * 5 + b * 3)
    x = leaf(torch, 2.0)
    y, z = F.apply(x.clone())
    (y + z).backward()
    assert x.grad.item() == 8.0


@pytest.mark.rule("H10")
def test_modified_message_tells_both_versions(torch: Any) -> None:
    a = leaf(torch, 2.0).clone()
    b = a * a
    scale_in_place(torch).apply(a)
    says = "is at version 2; expected version 0 instead"
    with raises(torch, errors.SavedModifiedError, says) as caught:
        b.backward()
    assert "modified by an inplace operation" in str(caught.value)


@pytest.mark.rule("H11")
def test_unmarked_change_in_place_gives_a_silently_wrong_gradient(torch: Any) -> None:
    x = leaf(torch, 2.0)
    b = x.clone()
    y = scale_in_place(torch, mark=False).apply(b)
    assert y is not b
    assert b.grad_fn.name() == "CloneBackward0"
    b.backward()
    assert x.grad.item() == 1.0


@pytest.mark.rule("H12")
def test_unrecorded_dirty_input_comes_back_as_itself(torch: Any) -> None:
    b = torch.tensor(2.0)
    y = scale_in_place(torch).apply(b)
    assert y is b
    assert (b._version, b.item()) == (2, 10.0)


@pytest.mark.rule("H12")
def test_dirty_input_that_requires_grad_under_no_grad_gives_an_alias(
    torch: Any,
) -> None:
    x = leaf(torch, 2.0)
    with torch.no_grad():
        y = scale_in_place(torch).apply(x)
    assert y is not x
    assert not y.requires_grad
    assert (x.item(), x.requires_grad) == (10.0, True)


@pytest.mark.rule("H13")
def test_dirty_constant_joins_the_graph_of_the_other_input(torch: Any) -> None:
    def forward(ctx: Any, a: Any, x: Any) -> Any:
        a.add_(x)
        ctx.mark_dirty(a)
        return a

    a, x = torch.tensor(1.0, dtype=torch.float64), leaf(torch, 2.0)
    view = a.view(1)
    y = rule(torch, forward, lambda ctx, grad: (grad, grad)).apply(a, x)
    assert y is a
    assert (a.requires_grad, a.is_leaf) == (True, False)
    assert (view.requires_grad, view.is_leaf) == (True, False)
    y.backward()
    assert x.grad.item() == 1.0


@pytest.mark.rule("H14")
def test_second_mark_dirty_replaces_the_first(torch: Any) -> None:
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.mark_dirty(a)
        ctx.mark_dirty(b)
        return a, b

    a, b = leaf(torch, 1.0).clone(), leaf(torch, 2.0).clone()
    y, z = rule(torch, forward).apply(a, b)
    assert y is not a
    assert z is b


@pytest.mark.rule("H15")
def test_non_differentiable_wins_over_dirty(torch: Any) -> None:
    def forward(ctx: Any, a: Any) -> Any:
        ctx.mark_dirty(a)
        ctx.mark_non_differentiable(a)
        return a

    a = leaf(torch, 1.0).clone()
    y = rule(torch, forward).apply(a)
    assert y is not a
    assert not y.requires_grad
    assert a.grad_fn.name() == "CloneBackward0"


@pytest.mark.rule("I01")
def test_marked_output_has_no_graph(torch: Any) -> None:
    made: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        made.append(x * 3)
        ctx.mark_non_differentiable(made[0])
        return x * 2, made[0]

    y, z = rule(torch, forward).apply(leaf(torch, 2.0))
    assert z is made[0]
    assert (z.requires_grad, z.grad_fn, z.is_leaf) == (False, None, True)
    assert y.requires_grad


@pytest.mark.rule("I02", "I03")
@pytest.mark.parametrize("materialize", [True, False])
def test_marked_output_keeps_its_slot_in_backward(
    torch: Any, materialize: bool
) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        z = x * 3
        ctx.mark_non_differentiable(z)
        ctx.set_materialize_grads(materialize)
        return x * 2, z

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append(b)
        return a * 2

    y, _ = rule(torch, forward, backward).apply(leaf(torch, 2.0, 3.0))
    y.sum().backward()
    assert len(seen) == 1
    if materialize:
        assert seen[0].tolist() == [0.0, 0.0]
    else:
        assert seen[0] is None


@pytest.mark.rule("I04")
def test_mark_non_differentiable_takes_tensors_only(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_non_differentiable("y")
        return x * 2

    says = "mark_non_differentiable only accepts variable arguments, but got"
    with raises(torch, errors.CtxUseError, says):
        rule(torch, forward).apply(leaf(torch, 2.0))


@pytest.mark.rule("I05")
def test_last_mark_counts_and_strangers_are_ignored(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y, z = x * 2, x * 3
        ctx.mark_non_differentiable(y)
        ctx.mark_non_differentiable(z, x * 4)
        return y, z

    y, z = rule(torch, forward).apply(leaf(torch, 2.0))
    assert (y.requires_grad, z.requires_grad) == (True, False)


@pytest.mark.rule("I06")
def test_nothing_differentiable_leaves_no_graph(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    y = rule(torch, forward).apply(leaf(torch, 2.0))
    says = "element 0 of tensors does not require grad and does not have a grad_fn"
    with raises(torch, errors.GraphError, says):
        y.backward()


@pytest.mark.rule("I07")
def test_marked_input_comes_back_detached(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_non_differentiable(x)
        return x

    x = leaf(torch, 2.0, 3.0)
    y = rule(torch, forward).apply(x)
    assert same_memory(x, y)
    assert (y.requires_grad, x.requires_grad) == (False, True)


def test_output_of_another_dtype_passes_its_gradient_in_the_inputs(torch: Any) -> None:
    x = leaf(torch, 2.0)
    F = rule(torch, lambda ctx, x: x.to(torch.float32), lambda ctx, grad: grad)
    F.apply(x).backward()
    assert x.grad.dtype == torch.float64
    assert np.asarray(x.grad.numpy()).item() == 1.0


def test_unrecorded_views_may_change_in_place() -> None:
    base = minigrad.tensor([2.0, 3.0])
    view = scale_in_place(minigrad).apply(base.reshape(2, 1))
    view.mul_(2)
    assert base.tolist() == [20.0, 30.0]


@pytest.mark.rule("I08")
def test_marked_view_of_an_input_requires_grad_without_a_node(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        part = x[:1]
        ctx.mark_non_differentiable(part)
        return part

    part = rule(torch, forward).apply(leaf(torch, 2.0, 3.0))
    assert part.requires_grad
    assert part.grad_fn is None
    assert part._is_view()


@pytest.mark.rule("I01", "A06")
@pytest.mark.parametrize("marked", [True, False])
def test_tensor_from_elsewhere_is_cut_off_where_no_gradient_can_come(
    torch: Any, marked: bool
) -> None:
    def forward(ctx: Any, x: Any, global_: Any) -> Any:
        if marked:
            ctx.mark_non_differentiable(*global_)
        return global_[0]

    x = leaf(torch, 2.0)
    for global_ in (leaf(torch, 3.0), leaf(torch, 3.0) * 2):
        with torch.set_grad_enabled(marked):
            y = rule(torch, forward).apply(x, [global_])
        assert y is global_
        assert (y.requires_grad, y.grad_fn, y.is_leaf) == (False, None, True)


@pytest.mark.rule("A06")
def test_view_from_elsewhere_keeps_its_history_under_no_grad(torch: Any) -> None:
    view = leaf(torch, 2.0, 3.0).clone()[:1]
    with torch.no_grad():
        y = rule(torch, lambda ctx, x: view).apply(leaf(torch, 2.0))
    assert y is view
    assert y.grad_fn.name() == "SliceBackward0"


@pytest.mark.rule("D06")
def test_view_that_forward_changed_belongs_to_its_node(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    F = rule(torch, lambda ctx, x: x[:1].mul_(5), lambda ctx, grad: grad * 5 + x * 0)
    y = F.apply(x)
    assert y.grad_fn.name() == "FBackward"
    y.backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_dirty_view_gets_its_gradient_wherever_it_stands() -> None:
    def forward(ctx: Any, k: Any, view: Any) -> Any:
        ctx.mark_dirty(view)
        return view.mul_(k)

    k, x = leaf(minigrad, 3.0), leaf(minigrad, 1.0, 2.0)
    b = x.clone()
    F = rule(minigrad, forward, lambda ctx, grad: (grad.sum() * 7, grad * 10))
    F.apply(k, b[:1])
    b.sum().backward()
    assert (k.grad.item(), x.grad.tolist()) == (7.0, [10.0, 1.0])


def mark_number_dirty(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(5)
    return x * 2


def mark_text(ctx: Any, x: Any) -> Any:
    ctx.mark_non_differentiable("y")
    return x * 2


def lose_the_dirty_one(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x * 2


def change_a_leaf(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x


def call_two_outputs_a_pure_view(ctx: Any, x: Any) -> Any:
    ctx._is_pure_view = True
    return x, x


@pytest.mark.parametrize(
    "forward",
    [
        mark_number_dirty,
        mark_text,
        lose_the_dirty_one,
        change_a_leaf,
        call_two_outputs_a_pure_view,
    ],
)
def test_errors_about_outputs_name_the_class_of_the_learner(forward: Any) -> None:
    with pytest.raises(errors.MinigradError, match=r"^F\.forward: "):
        rule(minigrad, forward).apply(leaf(minigrad, 2.0))


@pytest.mark.rule("H05")
@pytest.mark.parametrize("recorded", [True, False])
def test_new_view_of_a_leaf_that_is_marked_dirty_is_refused(
    torch: Any, recorded: bool
) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        with torch.set_grad_enabled(recorded):
            view = base[:1]
        ctx.mark_dirty(view)
        return view

    base = leaf(torch, 2.0, 3.0)
    says = "ctx.mark_dirty() received a tensor that was not an input. Only input Tens"
    if not recorded:
        says = "a leaf Variable that requires grad has been used in an in-place"
    with raises(torch, errors.InplaceError, says):
        rule(torch, forward).apply(leaf(torch, 1.0))


@pytest.mark.rule("H05")
def test_new_view_of_a_plain_tensor_that_is_marked_dirty_is_refused(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        view = torch.zeros(2)[:1]
        ctx.mark_dirty(view)
        return view

    F = rule(torch, forward)
    with raises(torch, errors.InplaceError, "received a tensor that was not an input."):
        F.apply(leaf(torch, 1.0))
    with torch.no_grad():
        assert F.apply(leaf(torch, 1.0)).tolist() == [0.0]


@pytest.mark.rule("I03")
def test_flag_of_ctx_gives_none_for_outputs_without_gradients(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        assert ctx._materialize_non_diff_grads is True
        ctx._materialize_non_diff_grads = False
        marked = x * 3
        ctx.mark_non_differentiable(marked)
        return x * 2, x * 1, marked, torch.ones(2, dtype=torch.int64)

    def backward(ctx: Any, *grads: Any) -> Any:
        seen.extend([None if grad is None else grad.tolist() for grad in grads])
        return grads[0]

    rule(torch, forward, backward).apply(leaf(torch, 2.0, 3.0))[0].sum().backward()
    assert seen == [[1.0, 1.0], [0.0, 0.0], None, None]


@pytest.mark.rule("I03")
def test_flag_of_ctx_is_true_or_false(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx._materialize_non_diff_grads = 3

    says = "set_materialize_non_diff_grads received an invalid combination"
    with raises(torch, errors.ArgumentTypeError, says):
        rule(torch, forward).apply(leaf(torch, 1.0))
