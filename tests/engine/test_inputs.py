"""Arguments of apply and needs_input_grad: rules C."""

from typing import Any

import pytest

from tests.engine.support import leaf, rule


def flags(torch: Any, *args: Any) -> tuple[bool, ...]:
    """``needs_input_grad`` as forward sees it."""
    seen: list[Any] = []

    def forward(ctx: Any, *values: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return torch.tensor(1.0)

    rule(torch, forward).apply(*args)
    return seen[0]


@pytest.mark.rule("C01")
def test_needs_input_grad_has_one_flag_per_argument(torch: Any) -> None:
    got = flags(torch, leaf(torch, 1.0), torch.tensor(1.0), 3, None, "text", [1])
    assert got == (True, False, False, False, False, False)


@pytest.mark.rule("C01")
def test_needs_input_grad_is_readable_in_backward(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return grad, None, None

    F = rule(torch, lambda ctx, x, y, k: x * k, backward)
    F.apply(leaf(torch, 1.0), torch.tensor(1.0), 3).backward()
    assert seen == [(True, False, False)]


@pytest.mark.rule("C02")
def test_needs_input_grad_ignores_grad_mode(torch: Any) -> None:
    with torch.no_grad():
        assert flags(torch, leaf(torch, 1.0)) == (True,)


@pytest.mark.rule("C03")
def test_needs_input_grad_is_not_narrowed_by_inputs(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return grad, grad

    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    z = rule(torch, lambda ctx, x, y: x + y, backward).apply(x, y)
    torch.autograd.grad(z, x)
    assert seen == [(True, True)]


@pytest.mark.rule("C04")
@pytest.mark.parametrize("box", [lambda x: [x], lambda x: (x,), lambda x: {"x": x}])
def test_tensors_inside_containers_are_not_seen(torch: Any, box: Any) -> None:
    x = leaf(torch, 2.0)
    assert flags(torch, box(x)) == (False,)
    y = rule(torch, lambda ctx, boxed: torch.ones(1)).apply(box(x))
    assert not y.requires_grad


@pytest.mark.rule("C05")
def test_forward_gets_the_callers_own_tensor(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, a: Any) -> Any:
        doubled = a * 2
        seen.extend([a, a.requires_grad, doubled.requires_grad])
        return doubled

    x = leaf(torch, 2.0)
    rule(torch, forward).apply(x)
    assert seen[0] is x
    assert seen[1:] == [True, False]


@pytest.mark.rule("C06")
def test_tensor_given_twice_gets_both_gradients(torch: Any) -> None:
    x = leaf(torch, 2.0)
    F = rule(torch, lambda ctx, a, b: a + b, lambda ctx, grad: (grad * 10, grad))
    y = F.apply(x, x)
    assert y.grad_fn.needs_input_grad == (True, True)
    y.backward()
    assert x.grad.item() == 11.0


@pytest.mark.rule("C07")
def test_integer_and_bool_tensors_need_no_gradient(torch: Any) -> None:
    assert flags(torch, leaf(torch, 1.0), torch.tensor([1]), torch.tensor([True])) == (
        True,
        False,
        False,
    )
    x = leaf(torch, 2.0)
    F = rule(torch, lambda ctx, x, i: x * 2, lambda ctx, grad: (grad * 2, None))
    F.apply(x, torch.tensor(1)).backward()
    assert x.grad.item() == 2.0


@pytest.mark.rule("C08")
def test_next_functions_has_one_entry_per_tensor_argument(torch: Any) -> None:
    x = leaf(torch, 2.0)
    h = leaf(torch, 1.0) * 2
    F = rule(torch, lambda ctx, *values: values[0] * 2)
    nodes = F.apply(x, 5, torch.tensor(1.0), h).grad_fn.next_functions
    assert [slot for _, slot in nodes] == [0, 0, 0]
    assert nodes[0][0].variable is x
    assert nodes[1] == (None, 0)
    assert nodes[2][0] is h.grad_fn
    assert len(nodes) == 3
