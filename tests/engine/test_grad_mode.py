"""no_grad, enable_grad, set_grad_enabled: rules T."""

import threading
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import Boom, leaf, raises, rule


@pytest.mark.rule("T01")
def test_modes_nest_and_are_restored(torch: Any) -> None:
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.rule("T01")
def test_mode_is_restored_after_an_exception(torch: Any) -> None:
    with pytest.raises(Boom), torch.no_grad():
        raise Boom
    assert torch.is_grad_enabled()


@pytest.mark.rule("T01")
def test_modes_decorate_with_and_without_brackets(torch: Any) -> None:
    @torch.no_grad()
    def with_brackets() -> bool:
        return bool(torch.is_grad_enabled())

    @torch.no_grad
    def without_brackets() -> bool:
        return bool(torch.is_grad_enabled())

    assert with_brackets() is without_brackets() is False
    assert torch.is_grad_enabled()


@pytest.mark.rule("T01")
def test_one_mode_object_serves_again(torch: Any) -> None:
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


@pytest.mark.rule("T02")
def test_set_grad_enabled_acts_at_once(torch: Any) -> None:
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()


@pytest.mark.rule("T02")
def test_set_grad_enabled_as_a_block_restores(torch: Any) -> None:
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.rule("T02")
def test_set_grad_enabled_as_a_decorator_does_not_leak(torch: Any) -> None:
    @torch.set_grad_enabled(False)
    def inside() -> bool:
        return bool(torch.is_grad_enabled())

    assert torch.is_grad_enabled()
    assert inside() is False
    assert torch.is_grad_enabled()


@pytest.mark.rule("T04")
def test_leaves_may_require_grad_under_no_grad(torch: Any) -> None:
    with torch.no_grad():
        made = torch.tensor(1.0, requires_grad=True)
        asked = torch.tensor(1.0).requires_grad_()
    assert made.requires_grad is asked.requires_grad is True


@pytest.mark.rule("T05")
def test_leaf_may_be_changed_under_no_grad_and_counts_it(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with torch.no_grad():
        x.add_(1)
    assert (x.item(), x._version, x.is_leaf, x.requires_grad) == (3.0, 1, True, True)


@pytest.mark.rule("T09")
def test_enable_grad_in_backward_allows_a_local_graph(torch: Any) -> None:
    class Recomputed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with torch.enable_grad():
                x = ctx.saved_tensors[0].detach().requires_grad_()
                y = x.exp()
            y.backward(grad)
            return x.grad

    x = leaf(torch, 1.0)
    y = Recomputed.apply(x)
    y.backward()
    assert x.grad.item() == y.item()


@pytest.mark.rule("T03")
def test_decorated_generator_has_the_mode_inside_and_not_between(torch: Any) -> None:
    seen = []

    @torch.no_grad()
    def counted() -> Any:
        seen.append((yield torch.is_grad_enabled()))
        try:
            yield torch.is_grad_enabled()
        except KeyError:
            yield torch.is_grad_enabled()
        return "end"

    generator = counted()
    assert (next(generator), torch.is_grad_enabled()) == (False, True)
    assert (generator.send("sent"), torch.is_grad_enabled()) == (False, True)
    assert (generator.throw(KeyError()), torch.is_grad_enabled()) == (False, True)
    with pytest.raises(StopIteration, match="end"):
        next(generator)
    assert seen == ["sent"]


@pytest.mark.rule("T03")
def test_closing_a_decorated_generator_closes_its_body_in_the_mode(torch: Any) -> None:
    seen = []

    @torch.no_grad()
    def endless() -> Any:
        try:
            yield 1
        finally:
            seen.append(torch.is_grad_enabled())

    generator = endless()
    next(generator)
    generator.close()
    assert (seen, torch.is_grad_enabled()) == ([False], True)


def test_mode_is_a_bool(torch: Any) -> None:
    for value in ("a", 1):
        with raises(torch, errors.ArgumentTypeError, "must be bool, not"):
            torch.set_grad_enabled(value)


def test_threads_of_backward_are_switched_off_as_in_torch(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_multithreading_enabled(False):
        (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]

    @torch.autograd.grad_mode.set_multithreading_enabled(False)
    def doubled(x: Any) -> Any:
        return x * 2

    assert doubled(x).requires_grad
    torch.autograd.set_multithreading_enabled(True)


def entering(torch: Any, mode: str, entered: list[Any]) -> Any:
    """A function that enters a mode and does not leave it."""
    autograd = torch.autograd

    def pack(tensor: Any) -> Any:
        entered.append("packed")
        return tensor

    def enter(*given: Any) -> None:
        if mode == "hooks":
            block = autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
            block.__enter__()
        elif mode == "inference":
            block = torch.inference_mode()
            block.__enter__()
        elif mode == "forward":
            block = autograd.forward_ad._set_fwd_grad_enabled(False)
        else:
            block = torch.set_grad_enabled(True)
        entered.append(block)

    return enter


def modes(torch: Any, entered: list[Any]) -> list[Any]:
    """Which of the modes are on, in the order of ``entering``."""
    before = len(entered)
    with torch.enable_grad():
        x = leaf(torch, 3.0)
        x * x
    on = [len(entered) > before, torch.is_inference_mode_enabled()]
    del entered[before:]
    return [*on, torch.autograd.forward_ad._is_fwd_grad_enabled()]


def let_go(torch: Any, entered: list[Any]) -> None:
    """Drop the blocks: torch's then put back what they found when they were entered."""
    entered.clear()
    torch.set_grad_enabled(True)


MODES = ["hooks", "inference", "forward", "grad"]


@pytest.mark.parametrize("mode", MODES)
def test_mode_that_a_rule_enters_is_left_with_its_node(torch: Any, mode: str) -> None:
    entered: list[Any] = []
    seen: list[Any] = []
    enter = entering(torch, mode, entered)

    def first(ctx: Any, grad: Any) -> Any:
        enter()
        return grad

    def second(ctx: Any, grad: Any) -> Any:
        seen.append((modes(torch, entered), torch.is_grad_enabled()))
        return grad

    one, two = (rule(torch, lambda ctx, x: x * 1, b).apply for b in (second, first))
    two(one(leaf(torch, 2.0))).backward()
    assert seen == [([False, False, True], False)]
    assert modes(torch, entered) == [False, False, True]
    assert torch.is_grad_enabled()
    let_go(torch, entered)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", ["tensor", "pre", "post", "accumulated", "captured"])
def test_mode_that_a_hook_enters_is_left_with_its_node(
    torch: Any, mode: str, place: str
) -> None:
    entered: list[Any] = []
    enter = entering(torch, mode, entered)
    x = leaf(torch, 2.0)
    y = x * 1
    if place == "accumulated":
        x.register_post_accumulate_grad_hook(enter)
    elif place in ("tensor", "captured"):
        (x if place == "captured" else y).register_hook(enter)
    else:
        getattr(y.grad_fn, "register_hook" if place == "post" else "register_prehook")(
            enter
        )
    torch.autograd.grad(y, x) if place == "captured" else y.backward()
    assert len(entered) == 1
    assert modes(torch, entered) == [False, False, True]
    assert torch.is_grad_enabled()
    let_go(torch, entered)


def test_mode_that_a_hook_before_a_node_enters_holds_in_its_rule(torch: Any) -> None:
    entered: list[Any] = []
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(modes(torch, entered)[0])
        return grad

    y = rule(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch, 2.0))
    y.grad_fn.register_prehook(entering(torch, "hooks", entered))
    y.grad_fn.register_hook(lambda *grads: seen.append(modes(torch, entered)[0]))
    y.backward()
    assert seen == [True, True]


@pytest.mark.parametrize("mode", MODES)
def test_mode_is_left_when_a_rule_fails(torch: Any, mode: str) -> None:
    entered: list[Any] = []
    enter = entering(torch, mode, entered)

    def backward(ctx: Any, grad: Any) -> Any:
        enter()
        raise Boom("b")

    y = rule(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch, 2.0))
    with torch.no_grad():
        with pytest.raises(Boom):
            y.backward()
        assert not torch.is_grad_enabled()
    assert modes(torch, entered) == [False, False, True]
    let_go(torch, entered)


def test_mode_around_a_backward_holds_in_it_and_after_it(torch: Any) -> None:
    seen: list[bool] = []
    y = leaf(torch, 2.0) * 1
    y.register_hook(lambda grad: seen.append(torch.is_inference_mode_enabled()))
    with torch.inference_mode():
        y.backward()
        seen.append(torch.is_inference_mode_enabled())
    assert seen == [True, True]


def test_switch_for_threads_of_backward_is_read_in_each_thread(torch: Any) -> None:
    autograd = torch.autograd
    assert autograd.is_multithreading_enabled()
    with autograd.set_multithreading_enabled(False):
        assert not autograd.is_multithreading_enabled()
        seen: list[bool] = []
        thread = threading.Thread(
            target=lambda: seen.append(autograd.is_multithreading_enabled())
        )
        thread.start()
        thread.join()
        assert seen == [True]
    assert autograd.is_multithreading_enabled()
