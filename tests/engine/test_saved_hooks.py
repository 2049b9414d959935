"""Hooks on saved tensors, and the handles of saved values: rules S, R07, F21, F31."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import Boom, leaf, raises, rule, same_memory, square


def same(value: Any) -> Any:
    """The hook that changes nothing."""
    return value


def hooks(torch: Any, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


@pytest.mark.rule("S01")
def test_pack_runs_after_forward_and_its_value_is_kept(torch: Any) -> None:
    log: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        log.append("forward")
        return x * x

    def pack(tensor: Any) -> float:
        log.append("pack")
        return float(tensor.detach())

    def unpack(number: Any) -> Any:
        log.append(f"unpack {number}")
        return torch.tensor(number, dtype=torch.float64)

    x = leaf(torch, 3.0)
    F = rule(torch, forward, lambda ctx, grad: grad * 2 * ctx.saved_tensors[0])
    with hooks(torch, pack, unpack):
        y = F.apply(x)
    y.backward()
    assert log == ["forward", "pack", "unpack 3.0"]
    assert x.grad.item() == 6.0


@pytest.mark.rule("S02")
def test_only_the_innermost_hooks_pack(torch: Any) -> None:
    log: list[str] = []

    def noting(name: str) -> Any:
        return hooks(torch, lambda t: (log.append(name), t)[1], same)

    x = leaf(torch, 2.0)
    with noting("outer"):
        with noting("inner"):
            square(torch).apply(x)
        square(torch).apply(x)
    square(torch).apply(x)
    assert log == ["inner", "outer"]


@pytest.mark.rule("S03")
def test_unpack_has_to_return_a_tensor(torch: Any) -> None:
    with hooks(torch, same, lambda packed: 5):
        y = square(torch).apply(leaf(torch, 2.0))
    says = (
        "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
        "type int"
    )
    with raises(torch, errors.SavedTypeError, says):
        y.backward()


@pytest.mark.rule("S04")
def test_pack_must_not_change_its_tensor(torch: Any) -> None:
    x = leaf(torch, 2.0) * 1
    says = "A saved tensor pack hook is modifying its input in place"
    with (
        hooks(torch, lambda tensor: tensor.add_(1), same),
        raises(torch, errors.SavedHookError, says),
    ):
        square(torch).apply(x)


@pytest.mark.rule("S05")
def test_pack_runs_without_grad_and_unpack_in_the_mode_of_the_reader(
    torch: Any,
) -> None:
    modes: list[Any] = []

    def seen(value: Any) -> Any:
        modes.append(torch.is_grad_enabled())
        return value

    x = leaf(torch, 2.0)
    with hooks(torch, seen, seen):
        y = square(torch).apply(x)
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    with torch.no_grad():
        _ = y.grad_fn.saved_tensors
    assert modes == [False, False, True, False]


@pytest.mark.rule("S06")
def test_hooked_values_have_no_version_check(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with hooks(torch, lambda tensor: tensor.detach().clone(), same):
        y = square(torch).apply(x)
    with torch.no_grad():
        x.add_(100)
    y.backward()
    assert x.grad.item() == 4.0


@pytest.mark.rule("S07")
def test_unpacked_tensor_is_put_back_in_its_place_in_the_graph(torch: Any) -> None:
    x = leaf(torch, 3.0)
    with hooks(torch, lambda tensor: tensor.detach(), same):
        h = x * 1
        y = square(torch).apply(h)
        e = x.exp()
    (saved,) = y.grad_fn.saved_tensors
    assert (saved.grad_fn is h.grad_fn, saved is h) == (True, False)
    assert e.grad_fn._saved_result.grad_fn is e.grad_fn

    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope, x)
    assert (slope.item(), second.item()) == (6.0, 2.0)
    (slope,) = torch.autograd.grad(e, x, create_graph=True)
    (second,) = torch.autograd.grad(slope, x)
    assert second.item() == slope.item() == e.item()


@pytest.mark.rule("S07")
def test_unpacked_leaf_leads_to_the_same_leaf(torch: Any) -> None:
    x = leaf(torch, 3.0)
    with hooks(torch, lambda tensor: tensor.detach(), same):
        y = square(torch).apply(x)
    (saved,) = y.grad_fn.saved_tensors
    assert (saved is x, saved.is_leaf, saved.requires_grad) == (False, True, True)
    (saved * 5).backward()
    assert x.grad.item() == 5.0


@pytest.mark.rule("S07")
def test_unpacked_view_has_the_history_of_its_changed_base(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    base = x * 1
    view = base.reshape(2, 1)
    base.mul_(10)
    with hooks(torch, lambda tensor: tensor.detach(), same):
        y = view.sin().sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    expected = -100 * (x.detach() * 10).sin()
    assert second.tolist() == pytest.approx(expected.tolist())


@pytest.mark.rule("S07", "L26")
def test_unpacked_tensor_has_its_tangent(torch: Any) -> None:
    fwAD = torch.autograd.forward_ad
    x = leaf(torch, 3.0)
    with fwAD.dual_level():
        made = fwAD.make_dual(x, torch.ones_like(x.detach()))
        with hooks(torch, lambda tensor: tensor.detach(), same):
            y, e = made * made * made, made.exp()
        for output, second in ((y, 18.0), (e, e.item())):
            (slope,) = torch.autograd.grad(output, made)
            assert fwAD.unpack_dual(slope).tangent.item() == second


@pytest.mark.rule("S08")
def test_disabled_hooks_are_refused_with_the_message_given(torch: Any) -> None:
    disabled = torch.autograd.graph.disable_saved_tensors_hooks
    entering = hooks(torch, same, same)
    with disabled("not here"):
        with raises(torch, errors.SavedHookError, "not here"):
            entering.__enter__()
        with disabled("nor here"), raises(torch, errors.SavedHookError, "nor here"):
            entering.__enter__()
        with raises(torch, errors.SavedHookError, "not here"):
            entering.__enter__()
    with entering:
        square(torch).apply(leaf(torch, 2.0))


@pytest.mark.rule("S08")
def test_disabling_is_refused_while_hooks_are_in_force(torch: Any) -> None:
    disabled = torch.autograd.graph.disable_saved_tensors_hooks
    with hooks(torch, same, same):
        with raises(torch, errors.SavedHookError, "too late"):
            disabled("too late").__enter__()
        with hooks(torch, same, same):
            pass


@pytest.mark.rule("S09")
def test_one_saved_tensor_can_have_hooks_of_its_own(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = x * x
    packed: list[Any] = []
    handle = y.grad_fn._raw_saved_self
    handle.register_hooks(
        lambda tensor: packed.append((tensor is x, tensor.requires_grad)),
        lambda nothing: torch.tensor(10.0, dtype=torch.float64),
    )
    assert packed == [(False, False)]
    assert y.grad_fn._saved_self.item() == 10.0
    assert y.grad_fn._saved_other is x
    y.backward()
    assert x.grad.item() == 13.0


@pytest.mark.rule("S09")
def test_second_pair_of_hooks_is_refused(torch: Any) -> None:
    y = leaf(torch, 3.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(same, same)
    says = (
        "Calling register_hooks on a saved tensor whose hooks have already been set. "
        "Hint: only one pair of hooks is allowed at a time."
    )
    with raises(torch, errors.SavedHookError, says):
        y.grad_fn._raw_saved_result.register_hooks(same, same)


@pytest.mark.rule("S09")
def test_hooks_on_none_and_on_freed_values_are_refused(torch: Any) -> None:
    F = rule(
        torch,
        lambda ctx, x: (ctx.save_for_backward(None), x * 2)[1],
        lambda ctx, grad: grad * 2,
    )
    y = F.apply(leaf(torch, 3.0))
    (none,) = y.grad_fn._raw_saved_tensors
    says = "Calling register_hooks on a saved tensor with value None is forbidden"
    with raises(torch, errors.SavedHookError, says):
        none.register_hooks(same, same)

    e = leaf(torch, 3.0).exp()
    e.backward()
    says = "Calling register_hooks on a saved tensor after it has been freed"
    with raises(torch, errors.SavedHookError, says):
        e.grad_fn._raw_saved_result.register_hooks(same, same)


@pytest.mark.rule("S10")
def test_every_reading_unpacks_again(torch: Any) -> None:
    log: list[str] = []
    with hooks(torch, same, lambda tensor: (log.append("unpack"), tensor)[1]):
        y = square(torch).apply(leaf(torch, 2.0))
    first, second = y.grad_fn.saved_tensors[0], y.grad_fn.saved_tensors[0]
    assert log == ["unpack", "unpack"]
    assert first is not second


@pytest.mark.rule("S11")
def test_pack_is_not_called_where_nothing_is_saved(torch: Any) -> None:
    packed: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(None, x)
        return x * 2

    F = rule(torch, forward, lambda ctx, grad: grad * 2)
    x = leaf(torch, 2.0)
    with hooks(torch, lambda tensor: (packed.append(tensor), tensor)[1], same):
        with torch.no_grad():
            F.apply(x)
            _ = x * x
        F.apply(x.detach())
        assert packed == []
        y = F.apply(x)
    assert len(packed) == 1
    assert y.grad_fn.saved_tensors[0] is None


@pytest.mark.rule("S12")
@pytest.mark.parametrize("kind", ["built-in", "custom"])
def test_exceptions_of_hooks_pass_through(torch: Any, kind: str) -> None:
    def fail(value: Any) -> Any:
        raise Boom

    x = leaf(torch, 2.0)
    apply = square(torch).apply if kind == "custom" else lambda x: x * x
    with hooks(torch, fail, same), pytest.raises(Boom):
        apply(x)
    with hooks(torch, same, fail):
        y = apply(x)
    with pytest.raises(Boom):
        y.backward()
    assert (torch.is_grad_enabled(), x.grad) == (True, None)


@pytest.mark.rule("S13")
def test_save_on_cpu_leaves_the_gradient_as_it_is(torch: Any) -> None:
    x = leaf(torch, 3.0)
    with torch.autograd.graph.save_on_cpu():
        y = square(torch).apply(x)
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        z = x.exp()
    y.backward()
    assert x.grad.item() == 6.0
    (slope,) = torch.autograd.grad(z, x)
    assert slope.item() == z.item()


@pytest.mark.rule("S15")
def test_built_in_packs_once_for_each_saved_slot(torch: Any) -> None:
    packed: list[Any] = []

    def pack(tensor: Any) -> Any:
        packed.append(tensor)
        return tensor

    x = leaf(torch, 3.0)
    with hooks(torch, pack, same):
        y = x * x
        assert [tensor is x for tensor in packed] == [True, True]
        x.exp()
        assert packed[2].grad_fn.name() == "ExpBackward0"
        x + x
    assert len(packed) == 3
    y.backward()
    assert x.grad.item() == 6.0


@pytest.mark.rule("S15")
@pytest.mark.parametrize(
    ("compute", "saved"),
    [
        (lambda x, c: x * c, ["c"]),
        (lambda x, c: c * x, ["c"]),
        (lambda x, c: x * 3, []),
        (lambda x, c: x / c, ["c"]),
        (lambda x, c: c / x, ["c", "x"]),
        (lambda x, c: x / 3, []),
        (lambda x, c: x**2, ["x"]),
        (lambda x, c: x**c, ["c", "result", "x"]),
        (lambda x, c: c**x, ["c", "result", "x"]),
        (lambda x, c: 2**x, ["result", "x"]),
        (lambda x, c: x.reshape(1, 1) @ c.reshape(1, 1), ["view"]),
        (lambda x, c: x + c, []),
        (lambda x, c: -x - c, []),
    ],
)
def test_built_in_saves_only_what_its_slopes_need(
    torch: Any, compute: Any, saved: list[str]
) -> None:
    packed: list[Any] = []
    x, c = leaf(torch, 3.0), leaf(torch, 2.0).detach()

    def pack(tensor: Any) -> Any:
        kinds = [(x, "x"), (c, "c")]
        named = [name for value, name in kinds if value is tensor]
        packed.extend(named or ["result" if tensor.requires_grad else "view"])
        return tensor

    with hooks(torch, pack, same):
        compute(x, c)
    assert sorted(packed) == saved


@pytest.mark.rule("S16")
def test_packed_output_that_is_kept_as_it_is_makes_a_cycle(torch: Any) -> None:
    class Kept:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor
            kept.append(weakref.ref(self))

    kept: list[Any] = []
    alive = []
    for pack in (Kept, lambda tensor: Kept(tensor.detach())):
        with hooks(torch, pack, lambda packed: packed.tensor):
            e = leaf(torch, 3.0).exp()
        gc.disable()
        del e
        alive.append(kept[-1]() is not None)
        gc.enable()
        gc.collect()
    assert alive == [True, False]


@pytest.mark.rule("S17")
def test_python_numbers_are_not_packed(torch: Any) -> None:
    packed: list[Any] = []
    x = leaf(torch, 3.0)
    with hooks(torch, lambda tensor: (packed.append(tensor), tensor)[1], same):
        y = x + 3
        z = (x.detach() * 3).exp()
    assert (packed, y.item(), z.requires_grad) == ([], 6.0, False)


@pytest.mark.rule("R07")
def test_built_in_nodes_show_what_they_saved(torch: Any) -> None:
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    product, e = x * w, x.exp()
    assert product.grad_fn._saved_self is x
    assert product.grad_fn._saved_other is w
    assert same_memory(e.grad_fn._saved_result, e)
    assert x.sin().grad_fn._saved_self is x
    assert (x / w).grad_fn._saved_other is w
    matrix = leaf(torch, 1.0, 2.0).reshape(1, 2)
    other = leaf(torch, 3.0, 4.0).reshape(2, 1)
    assert (matrix @ other).grad_fn._saved_mat2 is other
    power = x**2
    assert power.grad_fn._saved_self is x
    power.backward()
    says = "Trying to backward through the graph a second time"
    with raises(torch, errors.SavedFreedError, says):
        _ = power.grad_fn._saved_self


@pytest.mark.rule("R07")
def test_reading_one_saved_value_unpacks_no_other(torch: Any) -> None:
    log: list[Any] = []
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    with hooks(torch, same, lambda tensor: (log.append(tensor.item()), tensor)[1]):
        y = x * w
    _ = y.grad_fn._saved_other
    assert log == [3.0]


@pytest.mark.rule("F31")
def test_handle_shows_what_is_stored_without_unpacking(torch: Any) -> None:
    x = leaf(torch, 2.0)
    product, e = x * x, x.exp()
    handle, output = product.grad_fn._raw_saved_self, e.grad_fn._raw_saved_result
    assert handle.data is x
    assert handle.unpack_hook is None
    assert (output.data is e, output.data.requires_grad) == (False, False)
    assert same_memory(output.data, e)

    def unpack(packed: Any) -> Any:
        raise Boom

    handle.register_hooks(lambda tensor: "packed", unpack)
    assert (handle.data, handle.unpack_hook) == ("packed", unpack)
    e.backward()
    assert (output.data, output.unpack_hook) == (None, None)


def test_hooks_have_to_be_functions(torch: Any) -> None:
    says = "incompatible function arguments"
    with raises(torch, errors.ArgumentTypeError, says):
        hooks(torch, 1, same).__enter__()
    with raises(torch, errors.ArgumentTypeError, says):
        leaf(torch, 2.0).exp().grad_fn._raw_saved_result.register_hooks(1, 2)


def test_handle_of_a_hooked_value_has_no_tensor() -> None:
    with hooks(minigrad, lambda tensor: "packed", same):
        y = leaf(minigrad, 2.0).exp()
    handle = y.grad_fn._raw_saved_result
    assert (handle.tensor, handle.version, handle.output_nr) == (None, 0, None)


@pytest.mark.rule("S14")
def test_mutation_is_allowed_and_backward_sees_the_old_value(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        h = x * 1
        y = (h * h).sum()
        e = x.exp()
        z = (e * 1).sum()
        before = e.detach().clone()
        h.mul_(10)
        h.add_(1)
        e.zero_()
        y.backward(retain_graph=True)
        assert x.grad.tolist() == [4.0, 6.0]
        (slope,) = torch.autograd.grad(z, x)
        assert slope.tolist() == before.tolist()
        y.backward()
    assert h.tolist() == [21.0, 31.0]
    assert x.grad.tolist() == [8.0, 12.0]


@pytest.mark.rule("S14")
def test_mutation_of_a_leaf_and_second_derivatives(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x**3
        with torch.no_grad():
            x.mul_(10)
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope, x)
    assert (slope.item(), second.item()) == (12.0, 12.0)


@pytest.mark.rule("S14")
def test_backward_after_the_mutation_block_is_refused(torch: Any) -> None:
    x = leaf(torch, 2.0)
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    with allow():
        y = x * x
    says = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    with raises(torch, errors.SavedOutsideError, says):
        y.backward()
    with allow(), raises(torch, errors.SavedOutsideError, says):
        y.backward()


@pytest.mark.rule("S14")
def test_mutation_blocks_cannot_be_nested(torch: Any) -> None:
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    x = leaf(torch, 2.0)
    says = "allow_mutation_on_saved_tensors contexts cannot be nested"
    with allow(), raises(torch, errors.SavedHookError, says):
        allow().__enter__()
    with pytest.raises(Boom), allow():
        raise Boom
    y = x * x
    with torch.no_grad():
        x.add_(1)
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        y.backward()


def test_mutation_through_a_view_keeps_the_old_value() -> None:
    x = leaf(minigrad, 2.0, 3.0)
    with minigrad.autograd.graph.allow_mutation_on_saved_tensors():
        h = x * 1
        y = (h * h).sum()
        h.detach().reshape(2, 1).mul_(10)
        y.backward()
    assert x.grad.tolist() == [4.0, 6.0]
