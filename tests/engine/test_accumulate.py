"""How gradients become .grad: taken over, copied or added; its layout and dtype."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from tests.engine.support import leaf, raises, rule, same_memory


def passing(torch: Any, backward: Any) -> Any:
    """The apply of a Function that copies, with this backward."""
    return rule(torch, lambda ctx, x: x * 1, backward).apply


@pytest.mark.rule("O01")
@pytest.mark.parametrize("asked_before", [False, True])
@pytest.mark.parametrize("anomaly", [False, True])
def test_leaf_takes_over_a_gradient_that_nobody_else_holds(
    torch: Any, asked_before: bool, anomaly: bool
) -> None:
    torch.autograd.set_detect_anomaly(anomaly)
    places: list[int] = []

    def backward(ctx: Any, grad: Any) -> Any:
        mine = grad * 2
        places.append(mine.data_ptr())
        return mine

    x = leaf(torch, 1.0, 2.0)
    y = passing(torch, backward)(x).sum()
    if asked_before:
        torch.autograd.grad(y, x, retain_graph=True)
    y.backward()
    assert x.grad.data_ptr() == places[-1]
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.rule("O01")
def test_each_leaf_takes_over_its_own_gradient(torch: Any) -> None:
    places: list[int] = []

    def backward(ctx: Any, grad: Any) -> Any:
        a, b = grad * 2, grad * 3
        places.extend([a.data_ptr(), b.data_ptr()])
        return a, None, b

    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    product = rule(torch, lambda ctx, x, k, y: x * y, backward)
    product.apply(x, 7, y).sum().backward()
    assert [x.grad.data_ptr(), y.grad.data_ptr()] == places


@pytest.mark.rule("O01")
@pytest.mark.parametrize("uses", [1, 2])
def test_leaf_takes_over_what_built_in_rules_computed(torch: Any, uses: int) -> None:
    places: list[int] = []
    x = leaf(torch, 1.0, 2.0)
    x.register_hook(lambda grad: places.append(grad.data_ptr()))
    sum(x * 3 for _ in range(uses)).sum().backward()
    assert [x.grad.data_ptr()] == places
    assert x.grad.tolist() == [3.0 * uses] * 2


@pytest.mark.rule("O02", "O13")
@pytest.mark.parametrize("where", ["list", "ctx", "tuple", "twice", "saved"])
@pytest.mark.parametrize("anomaly", [False, True])
def test_leaf_copies_a_gradient_that_somebody_holds(
    torch: Any, where: str, anomaly: bool
) -> None:
    torch.autograd.set_detect_anomaly(anomaly)
    kept: list[Any] = []

    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.saved = torch.ones(2, dtype=torch.float64)
        ctx.save_for_backward(ctx.saved)
        return x * y

    def backward(ctx: Any, grad: Any) -> Any:
        mine = grad * 2
        if where == "list":
            kept.append(mine)
        elif where == "ctx":
            ctx.mine = mine
        elif where == "tuple":
            ctx.returned = (mine, grad * 3)
            return ctx.returned
        elif where == "saved":
            (mine,) = ctx.saved_tensors
        return mine, (mine if where == "twice" else None)

    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    z = rule(torch, forward, backward).apply(x, y)
    z.sum().backward(retain_graph=True)
    holders = {
        "list": lambda: kept[0],
        "ctx": lambda: z.grad_fn.mine,
        "tuple": lambda: z.grad_fn.returned[0],
        "twice": lambda: y.grad,
        "saved": lambda: z.grad_fn.saved,
    }
    assert not same_memory(x.grad, holders[where]())


@pytest.mark.rule("O02")
@pytest.mark.parametrize("kind", ["alias", "array", "view", "base", "hook", "node"])
def test_grad_never_shares_memory_with_what_a_learner_kept(kind: str) -> None:
    # torch takes over an alias, an array or a view all the same; here nothing is
    # changed behind the back of who holds it.
    kept: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        mine = grad * 2
        if kind == "alias":
            kept.append(mine.detach())
        elif kind == "array":
            kept.append(mine.numpy())
        elif kind == "view":
            kept.append(mine.numpy()[:1])
        elif kind == "base":
            kept.append(minigrad.ones(2, 2, dtype=minigrad.float64))
            mine = minigrad.from_numpy(kept[0].numpy()[0])
        return mine

    x = leaf(minigrad, 1.0, 2.0)
    y = passing(minigrad, backward)(x)
    if kind == "hook":
        x.register_hook(kept.append)
    elif kind == "node":
        y.grad_fn.register_hook(lambda grads, _: kept.append(grads[0]))
    y.sum().backward()
    held = kept[0] if isinstance(kept[0], np.ndarray) else kept[0].numpy()
    assert not np.shares_memory(x.grad.numpy(), held)


@pytest.mark.rule("O14", "E14")
def test_gradient_argument_that_passes_through_is_copied(torch: Any) -> None:
    upstream = torch.ones(2, dtype=torch.float64)
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    both = rule(torch, lambda ctx, x, y: x + y, lambda ctx, grad: (grad, grad))
    both.apply(x, y).backward(upstream)
    x.grad.mul_(5)
    assert (upstream.tolist(), y.grad.tolist()) == ([1.0, 1.0], [1.0, 1.0])


@pytest.mark.rule("E15")
def test_gradient_changed_in_place_in_backward_is_the_callers(torch: Any) -> None:
    upstream = torch.ones(2, dtype=torch.float64)
    x = leaf(torch, 1.0, 2.0)
    passing(torch, lambda ctx, grad: grad.mul_(50))(x).backward(upstream)
    assert upstream.tolist() == [50.0, 50.0]
    assert x.grad.tolist() == [50.0, 50.0]


@pytest.mark.rule("O03")
def test_grad_lies_in_memory_as_its_leaf_does(torch: Any) -> None:
    shared = torch.ones(12, dtype=torch.float64)
    leaves = [
        torch.ones((2, 3)).t(),
        torch.ones(16).as_strided((4, 2), (4, 2)),
        torch.ones((1, 3)).expand(2, 3),
        shared.reshape(3, 4),
    ]
    for x in leaves:
        x.requires_grad_()
        (x * 2).sum().backward()
        (x * 2).sum().backward()
        assert x.grad.tolist() == [[4.0] * x.shape[1]] * x.shape[0]
    strides = [tuple(x.grad.stride()) for x in leaves]
    assert strides == [(1, 3), (2, 1), (3, 1), (4, 1)]


@pytest.mark.rule("O03")
def test_transposed_gradient_is_laid_out_as_the_leaf(torch: Any) -> None:
    x = torch.ones((2, 3), requires_grad=True)
    passing(torch, lambda ctx, grad: torch.arange(6.0).reshape(3, 2).t())(
        x
    ).sum().backward()
    assert tuple(x.grad.stride()) == (3, 1)
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


@pytest.mark.rule("O04")
def test_grad_that_cannot_be_written_is_a_clear_error(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    x.grad = torch.ones(1, dtype=torch.float64).expand(2)
    says = "unsupported operation: more than one element of the written-to tensor"
    with raises(torch, errors.InplaceError, says):
        x.sum().backward()


@pytest.mark.rule("O07")
def test_assigned_grad_has_the_grad_dtype(torch: Any) -> None:
    x = leaf(torch, 2.0)
    says = (
        "attempting to assign a gradient with dtype 'float' to a tensor with "
        "grad_dtype 'Double'"
    )
    with raises(torch, errors.GradientKindError, says):
        x.grad = torch.tensor(1.0, dtype=torch.float32)
    x.grad_dtype = torch.float32
    x.grad = torch.tensor(1.0, dtype=torch.float32)
    (x * 3).backward()
    assert (x.grad.item(), x.grad.dtype) == (4.0, torch.float32)


@pytest.mark.rule("O08")
def test_grad_dtype_is_what_gradients_are_cast_to(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    seen: list[Any] = []
    x.register_hook(lambda grad: seen.append(grad.dtype))
    y = (x * 3).sum()
    assert x.grad_dtype == torch.float64
    x.grad_dtype = torch.float32
    y.backward(retain_graph=True)
    (g,) = torch.autograd.grad(y, x)
    assert x.grad.dtype == g.dtype == x.grad_dtype == torch.float32
    assert seen == [torch.float32, torch.float32]


@pytest.mark.rule("O08")
def test_grad_dtype_none_takes_any(torch: Any) -> None:
    x = leaf(torch, 2.0)
    x.grad_dtype = None
    passing(torch, lambda ctx, grad: grad.to(torch.float32))(x).backward()
    assert (x.grad_dtype, x.grad.dtype) == (None, torch.float32)
    (x * 1).backward()
    assert (x.grad.item(), x.grad.dtype) == (2.0, torch.float32)


@pytest.mark.rule("O08")
def test_grad_dtype_is_for_leaves(torch: Any) -> None:
    h = leaf(torch, 2.0) * 1
    says = "grad_dtype can only be accessed on leaf tensors."
    with raises(torch, errors.GraphError, says):
        _ = h.grad_dtype
    says = "grad_dtype can only be set on leaf tensors."
    with raises(torch, errors.GraphError, says):
        h.grad_dtype = torch.float32


@pytest.mark.rule("O08")
def test_grad_dtype_fits_the_grad_that_is_there(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with raises(torch, errors.GradientKindError, "grad_dtype must be a torch.dtype"):
        x.grad_dtype = 3
    (x * 1).backward()
    says = "Cannot set grad_dtype to 'Float' because there is already a gradient"
    with raises(torch, errors.GradientKindError, says):
        x.grad_dtype = torch.float32
    assert x.grad_dtype == torch.float64


def test_leaf_that_no_longer_requires_grad_accumulates_nothing(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * 3
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
