"""What random programs have found (tests/parity/differential), in a few lines each."""

from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises, rule


@pytest.mark.rule("Q11")
def test_post_hook_sees_none_where_a_built_in_rule_is_not_asked(torch: Any) -> None:
    seen: list[Any] = []
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    (x * torch.tensor(5.0)).grad_fn.register_hook(lambda gi, go: seen.append(gi))
    z = x * y
    z.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    torch.autograd.grad(z, [x])
    assert [g is None for g in seen[0]] == [False, True]


@pytest.mark.rule("N09")
def test_materialized_zeros_belong_to_the_graph_that_is_made(torch: Any) -> None:
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    flags = {"materialize_grads": True, "create_graph": True}
    (zero,) = torch.autograd.grad(x * x, [y], **flags)
    assert (zero.item(), zero.requires_grad) == (0.0, True)
    (zero,) = torch.autograd.grad(x * x, [y], materialize_grads=True)
    assert not zero.requires_grad


@pytest.mark.rule("K01")
@pytest.mark.parametrize("name", ["relu", "abs"])
def test_slope_of_a_slope_that_is_flat_is_zero_and_not_none(
    torch: Any, name: str
) -> None:
    x = leaf(torch, 2.0, -3.0)
    (first,) = torch.autograd.grad(getattr(x, name)().sum(), [x], create_graph=True)
    assert first.requires_grad
    (second,) = torch.autograd.grad(first.sum(), [x])
    assert (second + 0.0).tolist() == [0.0, 0.0]


@pytest.mark.rule("K01")
def test_slope_of_what_was_overwritten_is_a_constant(torch: Any) -> None:
    x = leaf(torch, 2.0, -3.0)
    weight = leaf(torch, 2.0)
    y = x * 2
    y.fill_(0.5)
    (first,) = torch.autograd.grad((y * weight).sum(), [x], create_graph=True)
    assert (first.tolist(), first.requires_grad) == ([0.0, 0.0], False)


@pytest.mark.parametrize("convert", [float, int, complex])
def test_several_numbers_are_no_python_number(torch: Any, convert: Any) -> None:
    says = "only one element tensors can be converted to Python scalars"
    with raises(torch, errors.ArgumentValueError, says):
        convert(torch.ones(2))
    assert convert(torch.ones(1, 1)) == 1


@pytest.mark.rule("R12", "A22")
def test_nobody_asks_for_a_history_that_is_refused_under_no_grad(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.no_grad():
        view = x[1:]
        x.mul_(2)
        y = rule(torch, lambda ctx, x: x * 2).apply(view)
    assert y.tolist() == [12.0]


@pytest.mark.rule("Q10", "Q11")
def test_history_that_a_change_of_a_view_has_rewritten_takes_hooks(torch: Any) -> None:
    seen: list[Any] = []
    x = leaf(torch, 2.0, 3.0)
    y = x * 1
    y[0] = 5.0
    node = y.grad_fn
    node.register_prehook(lambda gs: seen.append([g.tolist() for g in gs]))
    node.register_hook(lambda gi, go: seen.append([gi[0].tolist(), go[0].tolist()]))
    (y * 2).sum().backward()
    assert seen == [[[2.0, 2.0]], [[0.0, 2.0], [2.0, 2.0]]]


@pytest.mark.rule("L07")
def test_tangent_has_the_dtype_of_its_result(torch: Any) -> None:
    ad = torch.autograd.forward_ad
    number = torch.tensor(2.0, dtype=torch.float64)
    with ad.dual_level():
        dual = ad.make_dual(number, torch.tensor(1.0, dtype=torch.float64))
        total = dual - torch.ones(3)
        assert ad.unpack_dual(total).tangent.dtype == torch.float32
        dual = ad.make_dual(torch.ones(3), torch.ones(3))
        for total in (dual + number.expand(3), number.expand(3) - dual):
            assert ad.unpack_dual(total).tangent.dtype == torch.float64


@pytest.mark.rule("K01")
def test_saved_output_of_a_changed_view_leads_back_through_the_base(torch: Any) -> None:
    def retained_by_base(keep: bool) -> Any:
        x = leaf(torch, 0.5, 0.25)
        base = x * 2
        base.retain_grad()
        view = base[1:].tanh_()
        if not keep:
            del view
        (first,) = torch.autograd.grad(base.sum(), [x], create_graph=True)
        base.grad = None
        first.sum().backward()
        assert x.grad[1] < -1
        return base.grad

    assert retained_by_base(keep=True)[1] < -1
    # Nobody holds the history of the view any more: tanh_ leads to what was before.
    assert retained_by_base(keep=False) is None


@pytest.mark.rule("K01", "Q10")
def test_second_backward_passes_the_history_that_a_change_gave_a_view(
    torch: Any,
) -> None:
    seen: list[str] = []
    x = leaf(torch, 0.5, 0.25)
    base = x * 2
    view = base[1:]
    old, new = view.grad_fn, view.tanh_().grad_fn
    old.register_prehook(lambda gs: seen.append("old"))
    new.register_prehook(lambda gs: seen.append("new"))
    base.register_hook(lambda g: seen.append("base"))
    (first,) = torch.autograd.grad(view.sum(), [x], create_graph=True)
    first.sum().backward()
    assert seen == ["new", "base"] * 2


def test_view_older_than_its_bases_history_is_a_leaf_until_somebody_asks(
    torch: Any,
) -> None:
    def changed_base() -> tuple[Any, Any]:
        base = torch.ones(2, dtype=torch.float64)
        view = base[1:]
        base.mul_(leaf(torch, 3.0))
        return base, view

    _, view = changed_base()
    assert view.requires_grad
    with raises(torch, errors.InplaceError, "a leaf Variable that requires grad is"):
        view.mul_(2)
    view.requires_grad = False
    assert view.requires_grad
    assert view.grad_fn is not None
    assert view.mul_(2).tolist() == [6.0]
    base, view = changed_base()
    assert base[1:].mul_(2).tolist() == [6.0]


@pytest.mark.parametrize(
    ("way", "strides"),
    [
        (lambda x: x.transpose(0, 1), (1, 3)),
        (lambda x: x.expand(4, 2, 3), (6, 3, 1)),
        (lambda x: x[:, None].expand(2, 4, 3), (12, 3, 1)),
        (lambda x: x[:, None].expand(2, 4, 3).transpose(0, 2), (1, 3, 12)),
        (lambda x: x[:, ::2], (2, 1)),
    ],
)
def test_copy_keeps_the_order_in_memory(
    torch: Any, way: Any, strides: tuple[int, ...]
) -> None:
    x = way(torch.arange(6.0).reshape(2, 3))
    for copy in (x.clone(), x.to(torch.float64), x.to(torch.int64)):
        assert copy.stride() == strides
        assert copy.tolist() == x.tolist()
    assert x.contiguous().is_contiguous()
    assert x.reshape(-1).tolist() == x.contiguous().view(-1).tolist()
