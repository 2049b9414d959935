"""forward with ctx, and forward with setup_context: rules B."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises, rule


def split_style(torch: Any, calls: list[Any]) -> Any:
    """A Function in setup_context style that notes what it is called with."""

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, k: Any = 3) -> Any:
            calls.append(("forward", x, k))
            return x * k

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> Any:
            calls.append(("setup_context", inputs, output, output.grad_fn))
            ctx.k = inputs[1]
            return "ignored"

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.k, None

    return F


@pytest.mark.rule("B01")
def test_setup_context_decides_that_forward_gets_no_ctx(torch: Any) -> None:
    calls: list[Any] = []
    x = leaf(torch, 2.0)
    split_style(torch, calls).apply(x, 3)
    assert [call[0] for call in calls] == ["forward", "setup_context"]
    assert calls[0][1] is x


@pytest.mark.rule("B01")
def test_inherited_setup_context_decides_too(torch: Any) -> None:
    class Child(split_style(torch, [])):
        pass

    x = leaf(torch, 2.0)
    Child.apply(x, 4).backward()
    assert x.grad.item() == 4.0


@pytest.mark.rule("B02")
def test_setup_context_gets_all_arguments_and_the_raw_output(torch: Any) -> None:
    calls: list[Any] = []
    x = leaf(torch, 2.0)
    y = split_style(torch, calls).apply(x, 5)
    _, inputs, output, grad_fn_then = calls[1]
    assert inputs[0] is x
    assert inputs[1] == 5
    assert output is y
    assert grad_fn_then is None
    assert y.grad_fn is not None


@pytest.mark.rule("B03")
def test_setup_context_style_fills_in_defaults_and_keywords(torch: Any) -> None:
    calls: list[Any] = []
    F = split_style(torch, calls)
    x = leaf(torch, 2.0)
    F.apply(x)
    F.apply(k=5, x=x)
    inputs = [call[1] for call in calls if call[0] == "setup_context"]
    assert [values[1] for values in inputs] == [3, 5]
    assert all(values[0] is x for values in inputs)


@pytest.mark.rule("B03")
def test_defaulted_parameters_count_as_inputs_with_setup_context(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = split_style(torch, []).apply(x)
    assert y.grad_fn.needs_input_grad == (True, False)
    y.backward()
    assert x.grad.item() == 3.0


def combined(torch: Any) -> Any:
    """A Function in combined style with two more parameters."""

    def forward(ctx: Any, x: Any, k: Any, m: Any) -> Any:
        ctx.factor = k + 10 * m
        return x * ctx.factor

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.factor, None, None

    return rule(torch, forward, backward)


@pytest.mark.rule("B04")
def test_keywords_of_combined_style_go_to_their_place(torch: Any) -> None:
    x = leaf(torch, 1.0)
    y = combined(torch).apply(x, m=2, k=3)
    assert y.item() == 23.0
    assert y.grad_fn.needs_input_grad == (True, False, False)
    y.backward()
    assert x.grad.item() == 23.0


@pytest.mark.rule("B04")
def test_keywords_of_combined_style_leave_no_gap(torch: Any) -> None:
    says = "forward() missing required argument: 'k' (position 1)"
    with raises(torch, errors.ArgumentTypeError, says):
        combined(torch).apply(leaf(torch, 1.0), m=2)


@pytest.mark.rule("B05")
@pytest.mark.parametrize("none_for_it", [False, True])
def test_defaults_do_not_count_in_combined_style(torch: Any, none_for_it: bool) -> None:
    def forward(ctx: Any, x: Any, k: Any = 3) -> Any:
        return x * k

    def backward(ctx: Any, grad: Any) -> Any:
        return (grad * 3, None) if none_for_it else grad * 3

    x = leaf(torch, 2.0)
    F = rule(torch, forward, backward)
    y = F.apply(x)
    assert y.grad_fn.needs_input_grad == (True,)
    y.backward()
    assert x.grad.item() == 3.0


@pytest.mark.rule("B07")
def test_setup_context_gets_a_tuple_only_if_forward_returned_one(torch: Any) -> None:
    kinds: list[Any] = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, several: Any) -> Any:
            return (x * 2, x * 3) if several else x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            kinds.append(type(output) is tuple)

    F.apply(leaf(torch, 2.0), True)
    F.apply(leaf(torch, 2.0), False)
    assert kinds == [True, False]


@pytest.mark.rule("B08")
def test_setup_context_runs_when_nothing_is_recorded(torch: Any) -> None:
    calls: list[Any] = []
    F = split_style(torch, calls)
    F.apply(torch.tensor(2.0))
    with torch.no_grad():
        F.apply(leaf(torch, 2.0))
    assert [call[0] for call in calls] == ["forward", "setup_context"] * 2


def passes_on(torch: Any, split: bool) -> Any:
    """A Function that saves the input which it also returns as it is."""
    if not split:

        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x

        return rule(torch, forward, lambda ctx, grad: grad * ctx.saved_tensors[0])

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])

    return F


@pytest.mark.rule("B09")
def test_setup_context_cannot_save_an_input_returned_as_it_is(torch: Any) -> None:
    says = "An input that has been returned as-is as output is being saved for backward"
    for x in (leaf(torch, 2.0), torch.tensor(2.0)):
        with raises(torch, errors.CtxUseError, says) as caught:
            passes_on(torch, split=True).apply(x)
        assert "override setup_context" in str(caught.value)


@pytest.mark.rule("B09")
def test_nothing_recorded_leaves_nothing_to_refuse(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with torch.no_grad():
        assert passes_on(torch, split=True).apply(x).item() == 2.0


@pytest.mark.rule("B09")
def test_combined_style_may_save_an_input_returned_as_it_is(torch: Any) -> None:
    x = leaf(torch, 2.0)
    passes_on(torch, split=False).apply(x).backward()
    assert x.grad.item() == 2.0


@pytest.mark.rule("B09")
def test_dirty_input_may_be_saved_and_returned(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_dirty(*inputs)
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0]

    x = leaf(torch, 3.0)
    F.apply(x.clone()).backward()
    assert x.grad.item() == 6.0


@pytest.mark.rule("B10")
def test_ctx_methods_work_in_setup_context(torch: Any) -> None:
    seen: list[Any] = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y, x * 1

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            seen.append(ctx.needs_input_grad)
            ctx.save_for_backward(inputs[1])
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx: Any, grad: Any, marked: Any) -> Any:
            seen.append(marked)
            return grad * ctx.saved_tensors[0], None

    x = leaf(torch, 2.0)
    y, marked = F.apply(x, torch.tensor(5.0, dtype=torch.float64))
    y.backward()
    assert seen == [(True, False), None]
    assert x.grad.item() == 5.0
    assert not marked.requires_grad


@pytest.mark.rule("B11")
def test_wrong_number_of_arguments_is_a_type_error(torch: Any) -> None:
    combined = rule(torch, lambda ctx, x, k: x * 2)
    for F in (combined, split_style(torch, [])):
        with pytest.raises(TypeError, match="positional argument"):
            F.apply(leaf(torch, 2.0), 1, 2, 3)


@pytest.mark.rule("B06")
def test_keyword_only_parameter_of_forward_is_refused(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, *, k: Any) -> Any:
            return x * k

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    says = "forward() got an unexpected keyword argument 'k'"
    with raises(torch, errors.ArgumentTypeError, says):
        F.apply(leaf(torch, 2.0), k=3)
