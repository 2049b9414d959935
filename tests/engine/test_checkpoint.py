"""utils.checkpoint, both variants: rules Y."""

import contextlib
import gc
import re
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import Boom, leaf, raises, rule

BOTH = pytest.mark.parametrize("use_reentrant", [False, True])


def checkpoint(torch: Any, function: Any, *args: Any, **options: Any) -> Any:
    """The non-reentrant variant, unless ``options`` say otherwise."""
    options = {"use_reentrant": False, **options}
    return torch.utils.checkpoint.checkpoint(function, *args, **options)


def counted(torch: Any, log: list[Any]) -> Callable[[Any], Any]:
    """exp(sin(x)), which notes each run and whether it is recorded."""

    def function(x: Any) -> Any:
        log.append(torch.is_grad_enabled())
        return x.sin().exp()

    return function


def in_turn(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that does something else each time it is called."""
    left = list(functions)
    return lambda x: left.pop(0)(x)


@BOTH
@pytest.mark.rule("Y01", "Y03")
def test_function_runs_again_and_the_gradient_is_the_same(
    torch: Any, use_reentrant: bool
) -> None:
    log: list[bool] = []
    x, same = leaf(torch, 2.0), leaf(torch, 2.0)
    y = checkpoint(torch, counted(torch, log), x, use_reentrant=use_reentrant)
    assert log == [not use_reentrant]
    y.backward()
    assert log == [not use_reentrant, True]
    same.sin().exp().backward()
    assert x.grad.item() == same.grad.item()


@pytest.mark.rule("Y01")
def test_nothing_inside_is_kept_between_forward_and_backward(torch: Any) -> None:
    kept: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        middle = x * 7
        kept.append(weakref.ref(middle))
        ctx.save_for_backward(middle)
        return x * 2

    F = rule(torch, forward, lambda ctx, grad: grad * ctx.saved_tensors[0])
    x = leaf(torch, 2.0)
    y = checkpoint(torch, F.apply, x)
    assert kept[0]() is None
    y.backward()
    assert x.grad.item() == 14.0


@pytest.mark.rule("Y02")
def test_variant_has_to_be_chosen(torch: Any) -> None:
    x = leaf(torch, 2.0)
    says = "the use_reentrant parameter should be passed explicitly"
    with pytest.warns(UserWarning, match=says):
        y = torch.utils.checkpoint.checkpoint(torch.sin, x)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match=says):
        torch.utils.checkpoint.checkpoint_sequential([torch.sin, torch.cos], 2, x)


@pytest.mark.rule("Y03")
def test_reentrant_variant_needs_an_input_that_requires_grad(torch: Any) -> None:
    x, weight = leaf(torch, 2.0).detach(), leaf(torch, 3.0)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        y = checkpoint(torch, lambda x: x * weight, x, use_reentrant=True)
    assert not y.requires_grad
    assert checkpoint(torch, lambda x: x * weight, x).requires_grad


@pytest.mark.rule("Y03")
def test_reentrant_variant_fills_the_gradients_of_what_is_used_inside(
    torch: Any,
) -> None:
    x, weight = leaf(torch, 2.0), leaf(torch, 3.0)
    y = checkpoint(
        torch, lambda x, k: (x * weight * k, "text"), x, 5, use_reentrant=True
    )
    y[0].backward()
    assert (x.grad.item(), weight.grad.item(), y[1]) == (15.0, 10.0, "text")


@pytest.mark.rule("Y03")
def test_reentrant_variant_refuses_outputs_without_gradient(torch: Any) -> None:
    y = checkpoint(torch, lambda x: x.detach(), leaf(torch, 2.0), use_reentrant=True)
    with raises(torch, errors.GraphError, "none of output has requires_grad=True"):
        y.backward()


@pytest.mark.rule("Y04")
def test_reentrant_variant_works_with_plain_backward_only(torch: Any) -> None:
    says = (
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() "
        "or passing an `inputs` parameter to .backward()"
    )
    x = leaf(torch, 2.0)
    y = checkpoint(torch, torch.sin, x, use_reentrant=True)
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.grad(y, x)
    assert says in str(caught.value)
    y = checkpoint(torch, torch.sin, x, use_reentrant=True)
    with pytest.raises(RuntimeError) as caught:
        y.backward(inputs=[x])
    assert says in str(caught.value)
    assert x.grad is None

    y = checkpoint(torch, torch.sin, x)
    (slope,) = torch.autograd.grad(y, x)
    assert slope.item() == x.detach().cos().item()


@pytest.mark.rule("Y05")
def test_another_number_of_saved_tensors_is_an_error(torch: Any) -> None:
    changing = in_turn(lambda x: x.exp().sin(), lambda x: x.exp())
    y = checkpoint(torch, changing, leaf(torch, 2.0))
    says = (
        "^torch.utils.checkpoint: A different number of tensors was saved during the "
        r"original forward and recomputation.\n"
        r"Number of tensors saved during forward: 2\n"
        "Number of tensors saved during recomputation: 1"
    )
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match=says):
        y.backward()


@pytest.mark.rule("Y05")
def test_more_saved_tensors_are_noticed_without_early_stop(torch: Any) -> None:
    def changing() -> Any:
        return in_turn(lambda x: x.exp(), lambda x: x.exp().sin())

    checkpoint(torch, changing(), leaf(torch, 2.0)).backward()
    says = "trying to save more tensors during recomputation than during the original"
    y = checkpoint(torch, changing(), leaf(torch, 2.0), early_stop=False)
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match=says):
        y.backward()


@pytest.mark.rule("Y06")
def test_another_shape_is_an_error_unless_it_is_not_checked(torch: Any) -> None:
    def changing() -> Any:
        return in_turn(lambda x: x.exp(), lambda x: x.reshape(2, 1).exp())

    x = leaf(torch, 2.0, 3.0)
    y = checkpoint(torch, changing(), x)
    name = torch.__name__
    says = (
        "Recomputed values for the following tensors have different metadata than "
        "during the forward pass.\ntensor at position 0:\n"
        f"saved metadata: {{'shape': {name}.Size([2]), 'dtype': {name}.float64, "
        "'device': device(type='cpu')}\n"
        f"recomputed metadata: {{'shape': {name}.Size([2, 1])"
    )
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match=re.escape(says)):
        y.sum().backward()
    one = leaf(torch, 2.0)
    changing_slope = in_turn(lambda x: x.exp(), lambda x: (x - 2).reshape(1).exp())
    y = checkpoint(torch, changing_slope, one, determinism_check="none")
    y.backward()
    assert one.grad.item() == 1.0


@pytest.mark.rule("Y07")
def test_recomputation_ends_at_the_last_value_that_is_needed(torch: Any) -> None:
    log: list[str] = []

    def function(x: Any) -> Any:
        log.append("a")
        y = x.exp()
        log.append("b")
        return y

    checkpoint(torch, function, leaf(torch, 2.0)).backward()
    assert log == ["a", "b", "a"]
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        y = checkpoint(torch, function, leaf(torch, 2.0))
    y.backward()
    assert log == ["a", "b", "a", "a", "b", "a", "b"]


@pytest.mark.rule("Y08")
def test_one_backward_recomputes_once_for_all_saved_values(torch: Any) -> None:
    log: list[bool] = []
    x = leaf(torch, 2.0)
    y = checkpoint(torch, counted(torch, log), x)
    handle = y.grad_fn._raw_saved_result
    assert (torch.is_tensor(handle.data), handle.unpack_hook is None) == (False, False)
    y.backward(retain_graph=True)
    assert len(log) == 2
    y.backward()
    assert len(log) == 3


@pytest.mark.rule("Y09")
def test_saved_tensors_may_be_read_once_in_a_backward(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[0] + ctx.saved_tensors[0]

    F = rule(torch, forward, backward)
    y = checkpoint(torch, lambda x: F.apply(x.sin()), leaf(torch, 2.0))
    says = "Unpack is being triggered for a tensor that was already unpacked once"
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match=says):
        y.backward()


@pytest.mark.rule("Y10")
def test_reading_outside_of_backward_recomputes_each_time(torch: Any) -> None:
    log: list[bool] = []
    y = checkpoint(torch, counted(torch, log), leaf(torch, 2.0))
    first, second = y.grad_fn._saved_result, y.grad_fn._saved_result
    assert len(log) == 3
    assert first.item() == second.item() == y.item()
    assert first.grad_fn is y.grad_fn


def test_second_derivative_through_a_checkpoint(torch: Any) -> None:
    x, same = leaf(torch, 0.5), leaf(torch, 0.5)
    slopes = []
    for y, leaf_ in (
        (checkpoint(torch, lambda x: x.exp().sin(), x), x),
        (same.exp().sin(), same),
    ):
        (slope,) = torch.autograd.grad(y, leaf_, create_graph=True)
        (second,) = torch.autograd.grad(slope, leaf_)
        slopes.append((slope.item(), second.item()))
    assert slopes[0] == pytest.approx(slopes[1])


@BOTH
def test_random_numbers_are_the_same_again(torch: Any, use_reentrant: bool) -> None:
    def noisy(x: Any) -> Any:
        return x * torch.rand(2, dtype=torch.float64)

    torch.manual_seed(3)
    x = leaf(torch, 2.0, 4.0)
    y = checkpoint(torch, noisy, x, use_reentrant=use_reentrant)
    after = torch.rand(1).item()
    y.sum().backward()
    assert (x.grad * x.detach()).tolist() == y.tolist()
    then = torch.rand(1).item()
    torch.manual_seed(3)
    torch.rand(2, dtype=torch.float64)
    assert [torch.rand(1).item(), torch.rand(1).item()] == [after, then]


@BOTH
def test_random_numbers_may_go_on(torch: Any, use_reentrant: bool) -> None:
    x = leaf(torch, 2.0, 4.0)
    y = checkpoint(
        torch,
        lambda x: x * torch.rand(2, dtype=torch.float64),
        x,
        use_reentrant=use_reentrant,
        preserve_rng_state=False,
    )
    y.sum().backward()
    assert (x.grad * x.detach()).tolist() != y.tolist()


def test_checkpoint_in_a_checkpoint_recomputes_from_the_outside_in(torch: Any) -> None:
    log: list[str] = []

    def inner(x: Any) -> Any:
        log.append("inner")
        return x.exp().sin()

    def outer(x: Any) -> Any:
        log.append("outer")
        return checkpoint(torch, inner, x).cos()

    x, same = leaf(torch, 0.5), leaf(torch, 0.5)
    checkpoint(torch, outer, x).backward()
    same.exp().sin().cos().backward()
    assert log == ["outer", "inner", "outer", "inner", "inner"]
    assert x.grad.item() == same.grad.item()


def test_changed_argument_is_noticed(torch: Any) -> None:
    x = leaf(torch, 0.5) * 1
    y = checkpoint(torch, lambda x: x.exp(), x)
    x.add_(1)
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        y.backward()


def test_nothing_is_recomputed_that_was_not_recorded(torch: Any) -> None:
    log: list[bool] = []
    x = leaf(torch, 2.0)
    with torch.no_grad():
        y = checkpoint(torch, counted(torch, log), x)
    assert (y.requires_grad, log) == (False, [False])


def test_arguments_by_keyword_and_other_than_tensors(torch: Any) -> None:
    def function(x: Any, number: Any, nothing: Any, *, factor: Any) -> Any:
        assert nothing is None
        return (x * factor).sin() * number

    x = leaf(torch, 0.0)
    checkpoint(torch, function, x, 3, None, factor=2).backward()
    assert x.grad.item() == 6.0
    with raises(
        torch, errors.ArgumentValueError, "Unexpected keyword arguments: factor"
    ):
        checkpoint(torch, function, x, 3, None, factor=2, use_reentrant=True)


def test_options_that_do_not_exist_are_refused(torch: Any) -> None:
    x = leaf(torch, 0.0)
    says = "determinism_check should be one of ['default', 'none'], but got other"
    with raises(torch, errors.ArgumentValueError, says):
        checkpoint(torch, torch.sin, x, determinism_check="other")
    says = "only supported when use_reentrant=False."
    with raises(torch, errors.ArgumentValueError, says):
        checkpoint(torch, torch.sin, x, use_reentrant=True, debug=True)
    with raises(torch, errors.ArgumentValueError, "Unexpected keyword arguments: a"):
        torch.utils.checkpoint.checkpoint_sequential(
            [torch.sin], 1, x, use_reentrant=False, a=1
        )


def test_contexts_of_the_first_run_and_of_the_recomputation(torch: Any) -> None:
    log: list[str] = []

    @contextlib.contextmanager
    def noting(name: str) -> Iterator[None]:
        log.append(f"enter {name}")
        yield
        log.append(f"leave {name}")

    def function(x: Any) -> Any:
        log.append("run")
        return x.exp()

    y = checkpoint(
        torch,
        function,
        leaf(torch, 1.0),
        context_fn=lambda: (noting("first"), noting("again")),
        early_stop=False,
    )
    y.backward()
    assert log[:3] == ["enter first", "run", "leave first"]
    assert log[3:] == ["enter again", "run", "leave again"]


def test_context_that_swallows_an_exception_is_refused(torch: Any) -> None:
    def fail(x: Any) -> Any:
        raise Boom

    contexts = contextlib.suppress(Boom), contextlib.nullcontext()
    with pytest.raises(RuntimeError, match="suppressed an exception raised during the"):
        checkpoint(torch, fail, leaf(torch, 1.0), context_fn=lambda: contexts)


@BOTH
def test_sequence_in_parts_has_the_gradient_of_the_whole(
    torch: Any, use_reentrant: bool
) -> None:
    x, same = leaf(torch, 0.5), leaf(torch, 0.5)
    steps = [torch.sin, torch.exp, torch.cos, torch.tanh, torch.sin]
    torch.utils.checkpoint.checkpoint_sequential(
        steps, 2, x, use_reentrant=use_reentrant
    ).backward()
    same.sin().exp().cos().tanh().sin().backward()
    assert x.grad.item() == same.grad.item()


@BOTH
def test_failing_recomputation_leaves_everything_usable(
    torch: Any, use_reentrant: bool
) -> None:
    failing: list[Any] = []

    def function(x: Any) -> Any:
        y = x.exp()
        if failing:
            raise failing.pop()
        return y.sin()

    x, same = leaf(torch, 0.5), leaf(torch, 0.5)
    y = checkpoint(torch, function, x, use_reentrant=use_reentrant)
    for kind in (Boom, KeyboardInterrupt):
        failing.append(kind)
        with pytest.raises(kind):
            y.backward()
        assert (torch.is_grad_enabled(), x.grad) == (True, None)
        assert (x * x).grad_fn._saved_self is x
    y.backward()
    same.exp().sin().backward()
    assert x.grad.item() == same.grad.item()


def test_failing_first_run_leaves_the_hooks_as_they_were(torch: Any) -> None:
    def fail(x: Any) -> Any:
        x.exp()
        raise Boom

    x = leaf(torch, 0.5)
    with pytest.raises(Boom):
        checkpoint(torch, fail, x)
    assert (x * x).grad_fn._saved_self is x


def test_backward_inside_of_the_checkpointed_function(torch: Any) -> None:
    def function(x: Any) -> Any:
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (slope,) = torch.autograd.grad(inner.exp().sin(), inner)
        return x * slope

    x = leaf(torch, 0.5)
    checkpoint(torch, function, x, early_stop=False).backward()
    same = leaf(torch, 0.5)
    (slope,) = torch.autograd.grad(same.exp().sin(), same)
    assert x.grad.item() == slope.item()


def test_debug_lists_what_was_saved() -> None:
    changing = in_turn(lambda x: x.exp().sin(), lambda x: x.exp())
    y = checkpoint(minigrad, changing, leaf(minigrad, 2.0), debug=True)
    with pytest.raises(errors.CheckpointError, match=r"first run: .*\n  recomputed: "):
        y.backward()
    changing = in_turn(lambda x: x.exp().sin(), lambda x: x.exp())
    with minigrad.utils.checkpoint.set_checkpoint_debug_enabled(True):
        y = checkpoint(minigrad, changing, leaf(minigrad, 2.0))
    with pytest.raises(errors.CheckpointError, match=r"first run: .*\n  recomputed: "):
        y.backward()


def test_checkpointed_graph_is_freed_by_counts_alone() -> None:
    x = leaf(minigrad, 2.0)
    gc.collect()
    gc.disable()
    try:
        h = x * 1
        node = weakref.ref(h.grad_fn)
        y = checkpoint(minigrad, lambda h: h.exp().sin(), h)
        del h
        y.backward(retain_graph=True)
        assert node() is not None
        del y
        assert node() is None
    finally:
        gc.enable()


def test_checkpoint_warns_of_nothing_when_the_variant_is_chosen(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint(torch, torch.sin, leaf(torch, 1.0), use_reentrant=True).backward()
        checkpoint(torch, torch.sin, leaf(torch, 1.0)).backward()


@pytest.mark.rule("Y05", "Y06")
def test_debug_names_the_cause_where_recomputation_differs(torch: Any) -> None:
    changing = in_turn(lambda x: x.exp().sin(), lambda x: x.exp())
    y = checkpoint(torch, changing, leaf(torch, 2.0), debug=True)
    says = (
        r"(?s)Detected non-determinism while running activation checkpointing.*"
        r"You are seeing this error because you passed `debug=True` to checkpoint"
    )
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match=says):
        y.backward()
