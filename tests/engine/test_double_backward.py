"""Second derivatives and once_differentiable: rules K."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises, rule


def cube(torch: Any) -> Any:
    """x ** 3 from a saved input, with a backward that is recorded."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x

    return rule(torch, forward, backward)


@pytest.mark.rule("K01")
def test_backward_on_saved_inputs_is_differentiable_again_and_again(
    torch: Any,
) -> None:
    x = leaf(torch, 2.0)
    y = cube(torch).apply(x)
    slopes = []
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        slopes.append(y.item())
    assert slopes == [12.0, 12.0, 6.0]


@pytest.mark.rule("K02")
def test_saved_output_is_differentiable_again(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = leaf(torch, 1.0)
    y = rule(torch, forward, lambda ctx, grad: grad * ctx.saved_tensors[0]).apply(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert second.item() == first.item() == y.item()


@pytest.mark.rule("K03")
def test_intermediate_returned_as_an_output_is_differentiable_again(
    torch: Any,
) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            e = x.exp()
            ctx.save_for_backward(e)
            return e * e, e

        @staticmethod
        def backward(ctx: Any, grad: Any, grad_e: Any) -> Any:
            (e,) = ctx.saved_tensors
            return grad * 2 * e * e + grad_e * e

    x = leaf(torch, 0.5)
    y, _ = F.apply(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert second.item() == pytest.approx(4 * y.item())


@pytest.mark.rule("K04")
def test_function_called_in_backward_has_its_own_rule_for_the_second_derivative(
    torch: Any,
) -> None:
    Inner = rule(torch, lambda ctx, x: x * 2, lambda ctx, grad: grad * 1000)

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 1

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * Inner.apply(ctx.saved_tensors[0])

    x = leaf(torch, 3.0)
    (g,) = torch.autograd.grad(
        rule(torch, forward, backward).apply(x), x, create_graph=True
    )
    (h,) = torch.autograd.grad(g, x)
    assert (g.item(), h.item()) == (6.0, 1000.0)


def once(torch: Any, modes: list[Any]) -> Any:
    """x * x with a backward that is marked once_differentiable."""

    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        modes.append(torch.is_grad_enabled())
        (x,) = ctx.saved_tensors
        return grad * 2 * x

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    return rule(torch, forward, backward)


@pytest.mark.rule("K05", "K07")
@pytest.mark.parametrize("create_graph", [False, True])
def test_once_differentiable_runs_without_recording(
    torch: Any, create_graph: bool
) -> None:
    modes: list[Any] = []
    x = leaf(torch, 3.0)
    y = once(torch, modes).apply(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=create_graph)
    assert (modes, slope.item()) == ([False], 6.0)
    assert not slope.requires_grad


@pytest.mark.rule("K06")
def test_once_differentiable_refuses_at_the_second_backward(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = once(torch, []).apply(x) * x
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    says = (
        "trying to differentiate twice a function that was marked with "
        "@once_differentiable"
    )
    with raises(torch, errors.OnceDifferentiableError, says):
        g.backward()


@pytest.mark.rule("K06")
def test_gradient_of_once_differentiable_hangs_on_an_error_node(torch: Any) -> None:
    x, w = leaf(torch, 3.0), leaf(torch, 1.0)
    (g,) = torch.autograd.grad(once(torch, []).apply(x) * w, x, create_graph=True)
    assert g.grad_fn.name() == "torch::autograd::Error"
    with raises(torch, errors.GraphError, "appears to not have been used in the graph"):
        torch.autograd.grad(g, x)


@pytest.mark.rule("K06")
def test_refused_second_backward_ends_as_soon_as_it_comes_to_the_mark(
    torch: Any,
) -> None:
    x, w = leaf(torch, 3.0), leaf(torch, 1.0)
    (g,) = torch.autograd.grad(once(torch, []).apply(x) * w, x, create_graph=True)
    newer = w * 2
    with raises(torch, errors.OnceDifferentiableError, "differentiate twice"):
        (g + newer).backward()
    assert w.grad is None


@pytest.mark.rule("K08")
def test_once_differentiable_keeps_none(torch: Any) -> None:
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 4, None

    x, w = leaf(torch, 3.0), leaf(torch, 2.0)
    y = rule(torch, lambda ctx, x, k: x * k, backward).apply(x, 4) * w
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 8.0


@pytest.mark.rule("K09")
def test_gradient_computed_through_numpy_has_no_graph(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, grad: Any) -> Any:
        slope = 2 * ctx.saved_tensors[0].detach().numpy()
        return torch.tensor(slope) * grad.detach()

    x = leaf(torch, 3.0)
    (g,) = torch.autograd.grad(
        rule(torch, forward, backward).apply(x), x, create_graph=True
    )
    assert g.item() == 6.0
    says = "element 0 of tensors does not require grad and does not have a grad_fn"
    with raises(torch, errors.GraphError, says):
        torch.autograd.grad(g, x)


@pytest.mark.rule("K10")
def test_create_graph_keeps_the_graph_unless_told_otherwise(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = cube(torch).apply(x)
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x, create_graph=True, retain_graph=False)
    with raises(torch, errors.SavedFreedError, "Trying to backward through the graph"):
        torch.autograd.grad(y, x)


@pytest.mark.rule("K11")
def test_graph_of_a_gradient_reaches_the_leaf(torch: Any) -> None:
    x = leaf(torch, 2.0)
    (g,) = torch.autograd.grad(cube(torch).apply(x), x, create_graph=True)
    names, node = [], g.grad_fn
    while node is not None:
        names.append(node.name())
        following = [n for n, _ in node.next_functions if n is not None]
        node = following[-1] if following else None
    assert names == ["MulBackward0", "torch::autograd::AccumulateGrad"]


@pytest.mark.rule("K06")
def test_none_keeps_its_place_before_the_error_of_once_differentiable(
    torch: Any,
) -> None:
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        return None, grad, None

    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    upstream = leaf(torch, 1.0)
    y = rule(torch, lambda ctx, a, b, k: a * b, backward).apply(a, b, 4)
    first, second = torch.autograd.grad(
        y, [a, b], upstream, create_graph=True, allow_unused=True
    )
    assert first is None
    assert second.output_nr == 1
    before = [node and node.name() for node, _ in second.grad_fn.next_functions]
    assert before == [None, "torch::autograd::AccumulateGrad", None]
