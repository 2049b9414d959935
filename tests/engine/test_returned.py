"""What backward is given and what it must return: rules E and J."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises, rule


def returning(torch: Any, *gradients: Any) -> Any:
    """A Function of any arguments whose backward returns ``gradients``."""

    def forward(ctx: Any, *args: Any) -> Any:
        return args[0] * 1

    def backward(ctx: Any, grad: Any) -> Any:
        return gradients if len(gradients) != 1 else gradients[0]

    return rule(torch, forward, backward)


def ones(torch: Any, *shape: int) -> Any:
    return torch.ones(shape, dtype=torch.float64)


@pytest.mark.rule("E01")
def test_gradients_go_to_the_arguments_in_order(torch: Any) -> None:
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    F = returning(torch, ones(torch) * 5, None, ones(torch) * 7)
    F.apply(x, 3, y).backward()
    assert (x.grad.item(), y.grad.item()) == (5.0, 7.0)


@pytest.mark.rule("E01")
def test_single_gradient_may_be_bare_or_in_a_tuple(torch: Any) -> None:
    for returned in (ones(torch), (ones(torch),)):
        x = leaf(torch, 1.0)
        y = rule(torch, lambda ctx, x: x * 1, lambda ctx, g, r=returned: r).apply(x)
        y.backward()
        assert x.grad.item() == 1.0


@pytest.mark.rule("E02")
def test_too_few_gradients_name_both_counts(torch: Any) -> None:
    y = returning(torch, ones(torch)).apply(leaf(torch, 1.0), 3)
    says = (
        "function FBackward returned an incorrect number of gradients (expected 2, "
        "got 1)"
    )
    with raises(torch, errors.GradientCountError, says):
        y.backward()


@pytest.mark.rule("E03")
def test_surplus_none_is_dropped(torch: Any) -> None:
    x = leaf(torch, 1.0)
    returning(torch, ones(torch), None, None).apply(x).backward()
    assert x.grad.item() == 1.0


@pytest.mark.rule("E03")
def test_surplus_gradient_is_an_error(torch: Any) -> None:
    y = returning(torch, ones(torch), ones(torch)).apply(leaf(torch, 1.0))
    says = "returned an incorrect number of gradients (expected 1, got 2)"
    with raises(torch, errors.GradientCountError, says):
        y.backward()


@pytest.mark.rule("E04")
def test_list_of_gradients_is_one_invalid_gradient(torch: Any) -> None:
    y = returning(torch, [ones(torch)]).apply(leaf(torch, 1.0))
    with raises(
        torch, errors.GradientKindError, "expected Variable or None (got list)"
    ):
        y.backward()


@pytest.mark.rule("E04")
def test_list_for_two_inputs_is_a_wrong_count(torch: Any) -> None:
    y = returning(torch, [ones(torch)] * 2).apply(leaf(torch, 1.0), leaf(torch, 1.0))
    says = "incorrect number of gradients (expected 2, got 1)"
    with raises(torch, errors.GradientCountError, says):
        y.backward()


@pytest.mark.rule("E05")
def test_gradient_for_a_number_is_an_error(torch: Any) -> None:
    y = returning(torch, ones(torch), ones(torch)).apply(leaf(torch, 1.0), 3)
    says = (
        "function FBackward returned a gradient different than None at position 2, but "
        "the corresponding forward input was not a Variable"
    )
    with raises(torch, errors.GradientKindError, says):
        y.backward()


@pytest.mark.rule("E06")
@pytest.mark.parametrize("kind", ["float", "ndarray"])
def test_gradient_that_is_not_a_tensor_is_an_error(torch: Any, kind: str) -> None:
    value = 1.0 if kind == "float" else ones(torch).numpy()
    y = returning(torch, value).apply(leaf(torch, 1.0))
    says = "expected Variable or None (got "
    with raises(torch, errors.GradientKindError, says) as caught:
        y.backward()
    assert kind in str(caught.value)


@pytest.mark.rule("E07")
def test_none_leaves_the_leaf_without_gradient(torch: Any) -> None:
    x = leaf(torch, 1.0)
    returning(torch, None).apply(x).backward()
    assert x.grad is None


@pytest.mark.rule("E07")
def test_node_below_none_runs_with_zeros(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(grad.item())
        return grad * 2

    x = leaf(torch, 1.0)
    h = rule(torch, lambda ctx, x: x * 2, backward).apply(x)
    returning(torch, None).apply(h).backward()
    assert (seen, x.grad.item()) == ([0.0], 0.0)


@pytest.mark.rule("E08")
def test_gradient_larger_by_broadcasting_is_summed_down(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0, 3.0)
    returning(torch, ones(torch, 4, 3)).apply(x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]

    number = leaf(torch, 1.0)
    returning(torch, ones(torch, 5)).apply(number).backward()
    assert number.grad.shape == ()
    assert number.grad.item() == 5.0


@pytest.mark.rule("E09")
@pytest.mark.parametrize("shape", [(3,), (), (1,), (2, 3)])
def test_gradient_of_another_shape_is_an_error(
    torch: Any, shape: tuple[int, ...]
) -> None:
    y = returning(torch, ones(torch, *shape)).apply(leaf(torch, 1.0, 2.0))
    says = (
        "Function FBackward returned an invalid gradient at index 0 - got "
        f"{list(shape)} but expected shape compatible with [2]"
    )
    with raises(torch, errors.GradientShapeError, says):
        y.sum().backward()


@pytest.mark.rule("E10")
@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_gradient_is_cast_to_the_inputs_dtype(torch: Any, kind: str) -> None:
    x = leaf(torch, 1.0, 2.0)
    gradient = torch.tensor([1, 2], dtype=getattr(torch, kind))
    returning(torch, gradient).apply(x).sum().backward()
    assert x.grad.dtype == torch.float64
    assert x.grad.tolist() == [1.0, 2.0]


@pytest.mark.rule("E11")
def test_gradient_nobody_needs_is_not_checked(torch: Any) -> None:
    x, constant = leaf(torch, 1.0), torch.tensor([1.0, 2.0])
    F = returning(torch, ones(torch), ones(torch, 7, 9))
    F.apply(x, constant).backward()
    assert constant.grad is None
    assert x.grad.item() == 1.0


@pytest.mark.rule("E12")
def test_backward_gets_one_argument_per_output(torch: Any) -> None:
    F = rule(torch, lambda ctx, x: (x * 1, x * 2), lambda ctx, grad: grad)
    y, _ = F.apply(leaf(torch, 1.0))
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were"):
        y.backward()


@pytest.mark.rule("E13")
def test_all_gradients_are_checked_before_one_is_passed_on(torch: Any) -> None:
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    z = returning(torch, ones(torch), ones(torch, 3) @ ones(torch, 3, 2)).apply(x, y)
    bad = returning(torch, ones(torch), ones(torch, 2)).apply(x, leaf(torch, 1.0, 2, 3))
    says = "returned an invalid gradient at index 1"
    with raises(torch, errors.GradientShapeError, says):
        bad.backward()
    assert x.grad is None
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (1.0, 6.0)


@pytest.mark.rule("E16")
def test_gradients_require_no_grad_without_create_graph(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        seen.extend([grad.requires_grad, (grad * x).requires_grad])
        return grad * x

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 1

    x = leaf(torch, 2.0)
    rule(torch, forward, backward).apply(x).backward()
    assert seen == [False, False]
    assert not x.grad.requires_grad


@pytest.mark.rule("E17")
def test_node_without_any_gradient_still_runs(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(grad)

    h = rule(torch, forward, backward).apply(leaf(torch, 1.0))
    returning(torch, None).apply(h).backward()
    assert seen == [None]


def second_slot(torch: Any, seen: list[Any], materialize: bool = True) -> Any:
    """A Function of two outputs that notes what arrives for the second."""

    def forward(ctx: Any, x: Any) -> Any:
        if not materialize:
            ctx.set_materialize_grads(False)
        return x * 2, torch.ones(3, dtype=torch.float32) * 1

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append(b)
        return a * 2

    return rule(torch, forward, backward)


@pytest.mark.rule("J01")
def test_missing_gradient_becomes_zeros_like_the_output(torch: Any) -> None:
    seen: list[Any] = []
    y, _ = second_slot(torch, seen).apply(leaf(torch, 2.0))
    y.backward()
    (zeros,) = seen
    assert zeros.tolist() == [0.0, 0.0, 0.0]
    assert zeros.dtype == torch.float32
    assert not zeros.requires_grad


@pytest.mark.rule("J02")
def test_set_materialize_grads_false_gives_none(torch: Any) -> None:
    seen: list[Any] = []
    y, _ = second_slot(torch, seen, materialize=False).apply(leaf(torch, 2.0))
    y.backward()
    assert seen == [None]


@pytest.mark.rule("J02")
def test_materialising_is_the_affair_of_one_call(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any, materialize: bool) -> Any:
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append(b if b is None else b.item())
        return a * 2, None

    F = rule(torch, forward, backward)
    first, _ = F.apply(leaf(torch, 2.0), False)
    second, _ = F.apply(leaf(torch, 2.0), True)
    first.backward()
    second.backward()
    assert seen == [None, 0.0]


@pytest.mark.rule("J04")
@pytest.mark.parametrize("materialize", [True, False])
def test_output_that_is_no_tensor_gets_none_either_way(
    torch: Any, materialize: bool
) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(materialize)
        return x * 2, "text"

    def backward(ctx: Any, grad: Any, text: Any) -> Any:
        seen.append(text)
        return grad * 2

    y, _ = rule(torch, forward, backward).apply(leaf(torch, 2.0))
    y.backward()
    assert seen == [None]
