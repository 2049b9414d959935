"""save_for_backward and saved_tensors: rules F, and U12."""

import weakref
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import leaf, raises, rule, same_memory, square

MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an "
    "inplace operation: ["
)
FREED = (
    "Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True"
)


def saving(torch: Any, choose: Any) -> Any:
    """x * 2, with what ``choose(ctx, x, y)`` saves or does to ctx."""

    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        choose(ctx, x, y)
        return y

    return rule(torch, forward, lambda ctx, grad: grad * 2)


@pytest.mark.rule("F01")
def test_saving_happens_after_forward(torch: Any) -> None:
    seen: list[Any] = []

    def choose(ctx: Any, x: Any, y: Any) -> None:
        ctx.save_for_backward(x)
        seen.extend([len(ctx.to_save), ctx.saved_tensors])

    ctx = saving(torch, choose).apply(leaf(torch, 2.0)).grad_fn
    assert seen == [1, ()]
    assert (ctx.to_save, len(ctx.saved_tensors)) == (None, 1)


@pytest.mark.rule("F02")
def test_second_call_replaces_the_first(torch: Any) -> None:
    def choose(ctx: Any, x: Any, y: Any) -> None:
        ctx.save_for_backward(x, x)
        ctx.save_for_backward(y)

    y = saving(torch, choose).apply(leaf(torch, 2.0))
    (saved,) = y.grad_fn.saved_tensors
    assert saved.item() == 4.0


@pytest.mark.rule("F03")
def test_none_and_nothing_may_be_saved(torch: Any) -> None:
    x = leaf(torch, 2.0)
    two = saving(torch, lambda ctx, x, y: ctx.save_for_backward(None, x)).apply(x)
    none = saving(torch, lambda ctx, x, y: ctx.save_for_backward()).apply(x)
    assert two.grad_fn.saved_tensors[0] is None
    assert two.grad_fn.saved_tensors[1] is x
    assert none.grad_fn.saved_tensors == ()


@pytest.mark.rule("F04")
def test_saving_a_number_is_refused_only_if_recorded(torch: Any) -> None:
    F = saving(torch, lambda ctx, x, y: ctx.save_for_backward(x, 3))
    says = "save_for_backward can only save variables, but argument 1 is of type int"
    with raises(torch, errors.SavedTypeError, says):
        F.apply(leaf(torch, 2.0))
    with torch.no_grad():
        assert F.apply(leaf(torch, 2.0)).item() == 4.0


@pytest.mark.rule("F05")
def test_saving_a_list_is_refused(torch: Any) -> None:
    F = saving(torch, lambda ctx, x, y: ctx.save_for_backward([x]))
    with raises(torch, errors.SavedTypeError, "argument 0 is of type list"):
        F.apply(leaf(torch, 2.0))


@pytest.mark.rule("F06")
def test_saved_input_and_intermediate_come_back_as_themselves(torch: Any) -> None:
    middle: list[Any] = []

    def choose(ctx: Any, x: Any, y: Any) -> None:
        middle.append(x * 7)
        ctx.save_for_backward(x, middle[0])

    x = leaf(torch, 2.0)
    ctx = saving(torch, choose).apply(x).grad_fn
    for _ in range(2):
        assert ctx.saved_tensors[0] is x
        assert ctx.saved_tensors[1] is middle[0]


@pytest.mark.rule("F07")
def test_saved_output_comes_back_as_a_new_object_with_its_node(torch: Any) -> None:
    y = saving(torch, lambda ctx, x, y: ctx.save_for_backward(y)).apply(
        leaf(torch, 2.0, 3.0)
    )
    (a,) = y.grad_fn.saved_tensors
    (b,) = y.grad_fn.saved_tensors
    assert a is not y
    assert a is not b
    assert a.grad_fn is y.grad_fn
    assert (a.output_nr, a.requires_grad) == (0, True)
    assert same_memory(a, y)


@pytest.mark.rule("F08")
def test_saved_intermediate_loses_its_second_derivative(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        squared = x * x
        ctx.save_for_backward(squared)
        return squared * x

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 3 * ctx.saved_tensors[0]

    x = leaf(torch, 2.0)
    y = rule(torch, forward, backward).apply(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    assert (slope.item(), slope.requires_grad) == (12.0, False)


@pytest.mark.rule("F09")
def test_saving_outside_forward_has_no_effect(torch: Any) -> None:
    y = square(torch).apply(leaf(torch, 2.0))
    y.grad_fn.save_for_backward(y, y, y)
    assert len(y.grad_fn.saved_tensors) == 1
    assert len(y.grad_fn.to_save) == 3


@pytest.mark.rule("F10")
def test_nothing_recorded_saves_nothing(torch: Any) -> None:
    contexts: list[Any] = []

    def choose(ctx: Any, x: Any, y: Any) -> None:
        contexts.append(ctx)
        ctx.save_for_backward(x)

    with torch.no_grad():
        saving(torch, choose).apply(leaf(torch, 2.0))
    assert (contexts[0].saved_tensors, contexts[0].to_save) == ((), None)


@pytest.mark.rule("F11")
def test_change_in_place_is_noticed_when_the_saved_tensor_is_read(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    y = square(torch).apply(x)
    with torch.no_grad():
        x.add_(1)
    with raises(torch, errors.SavedModifiedError, MODIFIED) as caught:
        y.sum().backward()
    assert "is at version 1; expected version 0 instead" in str(caught.value)
    assert "DoubleTensor [2]]" in str(caught.value)


@pytest.mark.rule("F11", "F30")
def test_modified_message_names_the_operation_that_made_the_tensor(torch: Any) -> None:
    for make, name in (
        (lambda x: x.exp(), "Exp"),
        (lambda x: square(torch, "S").apply(x), "S"),
    ):
        h = make(leaf(torch, 2.0, 3.0))
        y = square(torch).apply(h)
        h.detach().add_(1)
        says = f", which is output 0 of {name}, is at version 1; expected version 0"
        with raises(torch, errors.SavedModifiedError, says):
            y.sum().backward()


@pytest.mark.rule("F12")
def test_backward_that_reads_nothing_notices_nothing(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = saving(torch, lambda ctx, x, y: ctx.save_for_backward(x)).apply(x)
    with torch.no_grad():
        x.add_(1)
    with raises(torch, errors.SavedModifiedError, MODIFIED):
        _ = y.grad_fn.saved_tensors
    y.backward()
    assert x.grad.item() == 2.0


@pytest.mark.rule("F13")
@pytest.mark.parametrize("what", ["output", "intermediate"])
def test_saved_outputs_and_intermediates_are_checked_too(torch: Any, what: str) -> None:
    middle: list[Any] = []

    def choose(ctx: Any, x: Any, y: Any) -> None:
        middle.append(x * 7)
        ctx.save_for_backward(y if what == "output" else middle[0])

    y = saving(torch, choose).apply(leaf(torch, 2.0))
    ctx = y.grad_fn
    (y if what == "output" else middle[0]).add_(1)
    with raises(torch, errors.SavedModifiedError, MODIFIED):
        _ = ctx.saved_tensors


@pytest.mark.rule("F14")
def test_change_inside_forward_goes_unnoticed(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        factor = x * 1
        ctx.save_for_backward(factor)
        y = x * factor
        factor.mul_(0)
        return y

    x = leaf(torch, 2.0)
    F = rule(torch, forward, lambda ctx, grad: grad * ctx.saved_tensors[0])
    F.apply(x).backward()
    assert x.grad.item() == 0.0


@pytest.mark.rule("F16")
def test_second_backward_says_that_saved_values_are_freed(torch: Any) -> None:
    y = square(torch).apply(leaf(torch, 2.0))
    y.backward()
    with raises(torch, errors.SavedFreedError, FREED):
        y.backward()
    with raises(torch, errors.SavedFreedError, FREED):
        _ = y.grad_fn.saved_tensors


@pytest.mark.rule("F16")
def test_second_backward_of_a_built_in_says_so_too(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * x
    y.backward()
    with raises(torch, errors.SavedFreedError, "a second time"):
        y.backward()


@pytest.mark.rule("F17")
def test_function_that_reads_nothing_runs_twice(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = saving(torch, lambda ctx, x, y: None).apply(x)
    y.backward()
    y.backward()
    assert x.grad.item() == 4.0


@pytest.mark.rule("F18")
def test_saved_tensors_may_be_read_twice_in_one_backward(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * (ctx.saved_tensors[0] + ctx.saved_tensors[0])

    x = leaf(torch, 2.0)
    rule(torch, forward, backward).apply(x).backward()
    assert x.grad.item() == 4.0


@pytest.mark.rule("F19")
def test_only_nodes_that_ran_are_freed(torch: Any) -> None:
    Square = square(torch)
    x = leaf(torch, 2.0)
    a = Square.apply(x)
    b = Square.apply(a)
    torch.autograd.grad(b, a)
    with raises(torch, errors.SavedFreedError, "second time"):
        _ = b.grad_fn.saved_tensors
    a.backward()
    assert x.grad.item() == 4.0


@pytest.mark.rule("F21")
def test_raw_saved_tensors_are_one_handle_each_and_freed_alike(torch: Any) -> None:
    def choose(ctx: Any, x: Any, y: Any) -> None:
        ctx.save_for_backward(x, y)

    y = saving(torch, choose).apply(leaf(torch, 2.0))
    assert len(y.grad_fn._raw_saved_tensors) == 2
    y.backward()
    with raises(torch, errors.SavedFreedError, "second time"):
        _ = y.grad_fn._raw_saved_tensors


def test_handles_tell_tensor_version_and_output() -> None:
    def choose(ctx: Any, x: Any, y: Any) -> None:
        ctx.save_for_backward(x, y, None)

    x = leaf(minigrad, 2.0)
    y = saving(minigrad, choose).apply(x)
    first, second, none = y.grad_fn._raw_saved_tensors
    assert (first.tensor is x, first.version, first.output_nr) == (True, 0, None)
    assert (second.tensor is y, second.version, second.output_nr) == (False, 0, 0)
    assert (none.tensor, none.data) == (None, None)


@pytest.mark.rule("F24")
def test_saving_copies_nothing(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    assert same_memory(square(torch).apply(x).grad_fn.saved_tensors[0], x)


@pytest.mark.rule("F25")
def test_same_tensor_may_be_saved_twice(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = saving(torch, lambda ctx, x, y: ctx.save_for_backward(x, x)).apply(x)
    first, second = y.grad_fn.saved_tensors
    assert first is second is x


@pytest.mark.rule("F27")
def test_saved_marked_output_comes_back_as_itself(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        marked = x * 3
        ctx.mark_non_differentiable(marked)
        ctx.save_for_backward(marked)
        return x * 2, marked

    y, marked = rule(torch, forward).apply(leaf(torch, 2.0))
    assert y.grad_fn.saved_tensors[0] is marked


@pytest.mark.rule("F28")
def test_dirty_input_that_is_saved_has_the_version_after_the_change(
    torch: Any,
) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    x = leaf(torch, 1.0)
    F = rule(torch, forward, lambda ctx, grad: grad * ctx.saved_tensors[0])
    F.apply(x.clone()).backward()
    assert x.grad.item() == pytest.approx(2.718281828459045)


@pytest.mark.rule("F29")
def test_retain_graph_keeps_everything(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = square(torch).apply(x)
    y.backward(retain_graph=True)
    assert y.grad_fn.saved_tensors[0] is x
    y.backward()
    assert x.grad.item() == 12.0


@pytest.mark.rule("U12")
def test_change_matters_only_to_operations_that_saved_the_value(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * 1
    z = y + 1
    y.add_(1)
    z.backward()
    assert x.grad.item() == 1.0

    e = x.exp()
    w = e * 1
    e.add_(1)
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        w.backward()


@pytest.mark.rule("F20")
def test_saved_variables_is_the_deprecated_name(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = square(torch).apply(x)
    says = "'saved_variables' is deprecated; use 'saved_tensors'"
    with pytest.warns(DeprecationWarning, match=says):
        (saved,) = y.grad_fn.saved_variables
    assert saved is x


@pytest.mark.rule("F26")
def test_saved_tensors_may_be_given_away_on_the_first_reading(torch: Any) -> None:
    alive: list[bool] = []
    kept: list[Any] = []

    class GivesAway(torch.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            middle = x * 7
            kept.append(weakref.ref(middle))
            ctx.save_for_backward(middle)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (middle,) = ctx.saved_tensors
            del middle
            alive.append(kept[-1]() is not None)
            if kept[1:]:
                _ = ctx.saved_tensors
            return grad * 2

    x = leaf(torch, 3.0)
    GivesAway.apply(x).backward()
    assert (alive, x.grad.item()) == ([False], 2.0)
    says = (
        "saved_tensors can only be accessed once when "
        "clear_saved_tensors_on_access=True"
    )
    with raises(torch, errors.SavedFreedError, says):
        GivesAway.apply(x).backward()


@pytest.mark.rule("U12")
def test_product_with_a_constant_saves_the_constant_alone(torch: Any) -> None:
    x, constant = leaf(torch, 2.0), leaf(torch, 3.0).detach()
    y = x + 1
    product = y * constant
    y.add_(1)
    (slope,) = torch.autograd.grad(product, x, retain_graph=True)
    assert slope.item() == 3.0
    constant.add_(1)
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        torch.autograd.grad(product, x)


@pytest.mark.rule("F22")
def test_saved_tensor_that_was_detached_in_place(torch: Any) -> None:
    x = leaf(torch, 3.0)
    h = x * 1
    custom, built_in = square(torch).apply(h), h * h
    h.detach_()
    assert custom.grad_fn.saved_tensors[0] is h
    custom.backward()
    assert x.grad.item() == 6.0
    says = "Trying to use a saved tensor that has been detached in-place"
    with raises(torch, errors.SavedDetachedError, says):
        built_in.backward()

    other = leaf(torch, 2.0)
    product = h * other
    product.backward()
    assert other.grad.item() == 3.0
