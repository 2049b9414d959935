"""Hooks on tensors and on nodes, and keeping the grad of what is no leaf: rules Q."""

import functools
import gc
import weakref
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import Boom, leaf, logged, raises, rule


def none_rule(torch: Any) -> Any:
    """A Function whose backward says that no gradient arrives."""
    return rule(torch, lambda ctx, x: x * 1, lambda ctx, grad: None)


@pytest.mark.rule("Q01")
def test_tensor_hook_sees_the_whole_gradient_once_and_may_replace_it(
    torch: Any,
) -> None:
    seen: list[float] = []
    x = leaf(torch, 2.0)
    y = x * 2

    def hook(grad: Any) -> Any:
        seen.append(grad.item())
        return grad * 10

    y.register_hook(hook)
    (y * 1 + y * 3).backward()
    assert (seen, x.grad.item()) == ([4.0], 80.0)


@pytest.mark.rule("Q01")
def test_tensor_hook_that_returns_none_keeps_the_gradient(torch: Any) -> None:
    x = leaf(torch, 2.0)
    x.register_hook(lambda grad: None)
    (x * 3).backward()
    assert x.grad.item() == 3.0


@pytest.mark.rule("Q02")
def test_tensor_hooks_run_in_the_order_of_registration(torch: Any) -> None:
    x = leaf(torch, 2.0)
    x.register_hook(lambda grad: grad + 1)
    x.register_hook(lambda grad: grad * 2)
    (x * 1).backward()
    assert x.grad.item() == 4.0


@pytest.mark.rule("Q02")
def test_one_function_may_be_registered_twice(torch: Any) -> None:
    def triple(grad: Any) -> Any:
        return grad * 3

    x = leaf(torch, 2.0)
    first, second = x.register_hook(triple), x.register_hook(triple)
    (x * 1).backward()
    assert x.grad.item() == 9.0
    assert first.id < second.id


@pytest.mark.rule("Q02")
def test_hooks_of_one_backward_are_those_there_when_it_came_by(torch: Any) -> None:
    log: list[str] = []
    x = leaf(torch, 2.0)

    def first(grad: Any) -> None:
        log.append("first")
        later.remove()
        x.register_hook(lambda grad: log.append("new"))

    x.register_hook(first)
    later = x.register_hook(lambda grad: log.append("later"))
    (x * 1).backward()
    assert log == ["first", "later"]


@pytest.mark.rule("Q03")
def test_hook_needs_a_tensor_that_requires_grad(torch: Any) -> None:
    says = "cannot register a hook on a tensor that doesn't require gradient"
    with raises(torch, errors.HookError, says):
        torch.tensor(1.0).register_hook(print)
    with raises(torch, errors.HookError, says):
        torch.tensor(1.0).register_post_accumulate_grad_hook(print)


@pytest.mark.rule("Q04")
def test_handle_removes_its_hook_also_twice_and_as_a_block(torch: Any) -> None:
    x = leaf(torch, 2.0)
    handle = x.register_hook(lambda grad: grad * 7)
    (x * 1).backward()
    handle.remove()
    handle.remove()
    (x * 1).backward()
    with x.register_hook(lambda grad: grad * 100):
        pass
    (x * 1).backward()
    assert x.grad.item() == 7 + 1 + 1


@pytest.mark.rule("Q04")
def test_every_kind_of_hook_has_a_handle(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * 1
    log: list[Any] = []
    handles = [
        y.register_hook(log.append),
        y.grad_fn.register_prehook(log.append),
        y.grad_fn.register_hook(lambda *grads: log.append(grads)),
        x.register_post_accumulate_grad_hook(log.append),
        torch.autograd.graph.register_multi_grad_hook([x, y], log.append),
    ]
    for handle in handles:
        handle.remove()
    y.backward()
    assert log == []


@pytest.mark.rule("Q05")
def test_result_of_a_hook_keeps_size_and_type(torch: Any) -> None:
    def myhook(grad: Any) -> Any:
        return results.pop()

    x = leaf(torch, 2.0)
    x.register_hook(myhook)
    results = [torch.ones(3, dtype=torch.float64)]
    with raises(torch, errors.HookError, "hook 'myhook' has changed the size of value"):
        (x * 1).backward()
    results = [torch.ones((), dtype=torch.float32)]
    says = (
        "hook 'myhook' has changed the type of value (was torch.DoubleTensor got "
        "torch.FloatTensor)"
    )
    with raises(torch, errors.HookError, says):
        (x * 1).backward()
    results = [3.0]
    says = "expected Variable, but hook returned 'float'"
    with raises(torch, errors.HookTypeError, says):
        (x * 1).backward()
    assert x.grad is None


@pytest.mark.rule("Q05")
def test_hook_without_a_name_is_unknown_in_messages(torch: Any) -> None:
    x = leaf(torch, 2.0)
    wrong = torch.ones(3, dtype=torch.float64)
    x.register_hook(functools.partial(lambda value, grad: value, wrong))
    with raises(torch, errors.HookError, "hook '<unknown>' has changed the size"):
        (x * 1).backward()


@pytest.mark.rule("Q06")
def test_hook_of_a_leaf_runs_before_accumulation(torch: Any) -> None:
    x = leaf(torch, 2.0)
    (x * 100).backward()
    seen: list[float] = []

    def hook(grad: Any) -> Any:
        seen.append(grad.item())
        return grad * 2

    x.register_hook(hook)
    (x * 3).backward()
    assert (seen, x.grad.item()) == ([3.0], 106.0)


@pytest.mark.rule("Q06")
@pytest.mark.parametrize("when", ["before", "after"])
def test_leaf_keeps_its_hooks_from_graph_to_graph(torch: Any, when: str) -> None:
    x = leaf(torch, 2.0)
    if when == "before":
        x.register_hook(lambda grad: grad * 10)
    y = x * 1
    if when == "after":
        x.register_hook(lambda grad: grad * 10)
    y.backward()
    del y
    (x * 2).backward()
    assert x.grad.item() == 30.0


@pytest.mark.rule("Q07")
def test_retain_grad_sees_the_value_after_all_hooks(torch: Any) -> None:
    y = leaf(torch, 2.0) * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    (y * 1).backward()
    assert y.grad.item() == 10.0


@pytest.mark.rule("Q08")
def test_post_accumulate_hook_runs_when_grad_is_up_to_date(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 2.0)

    def hook(tensor: Any) -> None:
        log.append((tensor is x, tensor.grad.item()))
        tensor.grad = None

    x.register_post_accumulate_grad_hook(hook)
    x.register_post_accumulate_grad_hook(lambda tensor: log.append(tensor.grad))
    (x * 3).backward()
    (x * 4).backward()
    assert log == [(True, 3.0), None, (True, 4.0), None]
    assert x.grad is None


@pytest.mark.rule("Q08")
def test_post_accumulate_hook_may_take_the_step_of_an_optimizer(torch: Any) -> None:
    x = leaf(torch, 2.0)
    x.register_post_accumulate_grad_hook(lambda tensor: tensor.sub_(tensor.grad * 0.1))
    (x * 5).backward()
    assert x.item() == 1.5


@pytest.mark.rule("Q08")
def test_post_accumulate_hook_returns_nothing(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with x.register_post_accumulate_grad_hook(lambda tensor: tensor * 2):
        says = "Tensor post accumulate grad hooks should return None."
        with raises(torch, errors.HookError, says):
            (x * 1).backward()
    x.register_post_accumulate_grad_hook(lambda tensor: 3.0)
    with raises(torch, errors.HookTypeError, "expected Variable, but hook returned"):
        (x * 1).backward()


@pytest.mark.rule("Q08")
def test_post_accumulate_hook_is_for_leaves(torch: Any) -> None:
    y = leaf(torch, 2.0) * 1
    says = "post accumulate grad hooks cannot be registered on non-leaf tensors"
    with raises(torch, errors.HookError, says):
        y.register_post_accumulate_grad_hook(print)


@pytest.mark.rule("Q09")
def test_grad_runs_the_tensor_hooks_of_its_inputs_only(torch: Any) -> None:
    log: list[str] = []
    x = leaf(torch, 2.0)
    x.register_hook(lambda grad: grad * 10)
    x.register_post_accumulate_grad_hook(lambda tensor: log.append("post"))
    (got,) = torch.autograd.grad(x * 3, x)
    assert (got.item(), log, x.grad) == (30.0, [], None)


@pytest.mark.rule("Q09")
def test_input_whose_node_runs_too_is_answered_as_before_its_hooks(torch: Any) -> None:
    x = leaf(torch, 2.0)
    h = x * 2
    h.register_hook(lambda grad: grad * 10)
    got = torch.autograd.grad(h * 3, [h, x])
    assert [g.item() for g in got] == [3.0, 60.0]


@pytest.mark.rule("Q09")
def test_hook_of_a_captured_input_waits_for_its_turn(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 2.0)
    h = x * 2
    h.register_hook(lambda grad: log.append("h"))
    newer = logged(torch, "newer", log)(x)
    torch.autograd.grad(h * 3 + newer, [h, x])
    older = logged(torch, "older", log)(x)
    k = x * 2
    k.register_hook(lambda grad: log.append("k"))
    torch.autograd.grad(older + k * 3, [k, x])
    assert log == ["newer", "h", "k", "older"]


@pytest.mark.rule("Q09")
@pytest.mark.parametrize("is_root", [False, True])
def test_hook_of_a_node_that_does_not_run_waits_for_its_turn(
    torch: Any, is_root: bool
) -> None:
    log: list[Any] = []
    w = leaf(torch, 3.0)
    older = logged(torch, "older", log)(w)
    h = leaf(torch, 2.0) * 2
    h.register_hook(lambda grad: log.append("h"))
    if is_root:
        torch.autograd.grad([h, older], [h, w])
        assert log == ["h", "older"]
    else:
        newer = logged(torch, "newer", log)(w)
        torch.autograd.grad(older + newer + h, [h, w])
        assert log == ["newer", "h", "older"]


@pytest.mark.rule("N11")
def test_hook_of_a_tensor_that_no_wanted_gradient_passes_is_not_called(
    torch: Any,
) -> None:
    log: list[Any] = []
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    for tensor in (w, h := w * 2):
        tensor.register_hook(log.append)
    assert torch.autograd.grad(x * h, x)[0].item() == 6.0
    assert log == []


@pytest.mark.rule("Q10")
def test_prehook_comes_between_the_tensor_hooks_and_the_node(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(grad.item())
        return grad

    def prehook(grads: tuple[Any, ...]) -> Any:
        seen.append([type(grads), grads[0].item()])
        return (grads[0] * 5,)

    y = rule(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch, 2.0))
    y.grad_fn.register_prehook(prehook)
    y.register_hook(lambda grad: grad * 2)
    y.backward()
    assert seen == [[tuple, 2.0], 10.0]


@pytest.mark.rule("Q11")
def test_node_hook_sees_both_sides_and_may_replace_what_goes_on(torch: Any) -> None:
    seen: list[Any] = []

    def hook(grad_inputs: Any, grad_outputs: Any) -> Any:
        seen.append(
            [[g.item() for g in grads] for grads in (grad_inputs, grad_outputs)]
        )
        return (grad_inputs[0] * 100,)

    x = leaf(torch, 2.0)
    double = rule(torch, lambda ctx, x, k: x * k, lambda ctx, grad: (grad * 2, None))
    y = double.apply(x, 2)
    y.grad_fn.register_hook(hook)
    y.backward()
    assert (seen, x.grad.item()) == ([[[2.0], [1.0]]], 200.0)


@pytest.mark.rule("Q11")
def test_node_hook_of_a_builtin_has_none_where_no_gradient_goes(torch: Any) -> None:
    seen: list[Any] = []
    y = leaf(torch, 2.0) * 3
    y.grad_fn.register_hook(lambda grads, _: seen.append(grads))
    y.backward()
    ((first, second),) = seen
    assert (first.item(), second) == (3.0, None)


@pytest.mark.rule("Q11")
def test_node_hook_sees_what_was_returned_for_a_constant(torch: Any) -> None:
    seen: list[Any] = []
    both = rule(torch, lambda ctx, x, c: x * c, lambda ctx, grad: (grad, grad * 7))
    y = both.apply(leaf(torch, 2.0), torch.tensor(1.0, dtype=torch.float64))
    y.grad_fn.register_hook(lambda grads, _: seen.extend(grads))
    y.backward()
    assert [grad.item() for grad in seen] == [1.0, 7.0]


@pytest.mark.rule("Q12")
@pytest.mark.parametrize("method", ["register_prehook", "register_hook"])
def test_node_hook_returns_as_many_values_as_it_is_given(
    torch: Any, method: str
) -> None:
    y = leaf(torch, 2.0).exp()
    getattr(y.grad_fn, method)(lambda grads, *_: (grads[0], grads[0]))
    says = (
        "hook '<lambda>' has returned an incorrect number of values (got 2, but "
        "expected 1)"
    )
    with raises(torch, errors.HookError, says):
        y.backward()


@pytest.mark.rule("Q12")
@pytest.mark.parametrize("method", ["register_prehook", "register_hook"])
def test_node_hook_returns_a_tuple(torch: Any, method: str) -> None:
    y = leaf(torch, 2.0).exp()
    getattr(y.grad_fn, method)(lambda grads, *_: [grads[0]])
    with raises(torch, errors.HookTypeError, "expected tuple, but hook returned"):
        y.backward()


@pytest.mark.rule("Q12")
def test_node_hook_may_drop_a_gradient_and_not_make_one(torch: Any) -> None:
    x, c = leaf(torch, 2.0), torch.tensor(3.0, dtype=torch.float64)
    y = x * c
    y.grad_fn.register_hook(lambda grads, _: (None, None))
    y.backward()
    assert x.grad is None
    y = x * c
    y.grad_fn.register_hook(lambda grads, _: (grads[0], grads[0]))
    says = "can't replace a None gradient with a non-None value"
    with raises(torch, errors.HookError, says):
        y.backward()


@pytest.mark.rule("Q13")
def test_order_of_everything_at_one_node(torch: Any) -> None:
    log: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        log.append(("node", y.grad.item()))
        return grad

    x = leaf(torch, 2.0)
    y = rule(torch, lambda ctx, x: x * 1, backward).apply(x)
    y.grad_fn.register_hook(lambda *grads: log.append("post"))
    y.grad_fn.register_prehook(lambda grads: log.append(("pre", y.grad.item())))
    y.retain_grad()
    y.register_hook(lambda grad: log.append(("tensor", y.grad)))
    x.register_hook(lambda grad: log.append("leaf"))
    (y * 3).backward()
    assert log == [("tensor", None), ("pre", 3.0), ("node", 3.0), "post", "leaf"]


@pytest.mark.rule("Q13")
def test_gradients_are_checked_before_the_node_hook(torch: Any) -> None:
    log: list[Any] = []
    wrong = torch.ones(3, dtype=torch.float64)
    y = rule(torch, lambda ctx, x: x * 1, lambda ctx, grad: wrong).apply(
        leaf(torch, 2.0, 3.0)
    )
    y.grad_fn.register_hook(lambda *grads: log.append("post"))
    with raises(torch, errors.GradientShapeError, "returned an invalid gradient"):
        y.sum().backward()
    assert log == []


@pytest.mark.rule("Q13", "E08")
def test_node_hook_sees_gradients_in_the_shape_of_the_input(torch: Any) -> None:
    seen: list[Any] = []
    larger = torch.ones((4, 2), dtype=torch.float64)
    y = rule(torch, lambda ctx, x: x * 1, lambda ctx, grad: larger).apply(
        leaf(torch, 2.0, 3.0)
    )
    y.grad_fn.register_hook(lambda grads, _: seen.append(grads[0].tolist()))
    y.sum().backward()
    assert seen == [[4.0, 4.0]]


@pytest.mark.rule("Q14", "N11")
def test_node_of_a_captured_input_runs_neither_itself_nor_its_hooks(
    torch: Any,
) -> None:
    log: list[Any] = []
    h = logged(torch, "node", log)(leaf(torch, 2.0))
    h.register_hook(lambda grad: log.append("tensor"))
    h.grad_fn.register_prehook(lambda grads: log.append("pre"))
    h.grad_fn.register_hook(lambda *grads: log.append("post"))
    torch.autograd.grad(h * 3, h)
    assert log == ["tensor"]


@pytest.mark.rule("Q14")
def test_captured_input_retains_its_grad_too(torch: Any) -> None:
    h = leaf(torch, 2.0) * 2
    h.retain_grad()
    torch.autograd.grad(h * 3, h)
    assert h.grad.item() == 3.0


@pytest.mark.rule("Q15")
@pytest.mark.parametrize("create_graph", [False, True])
def test_hooks_run_in_the_grad_mode_of_backward(torch: Any, create_graph: bool) -> None:
    modes: list[bool] = []
    x = leaf(torch, 2.0)
    y = x * 2

    def hook(*grads: Any) -> None:
        modes.append(torch.is_grad_enabled())

    y.register_hook(hook)
    y.grad_fn.register_prehook(hook)
    y.grad_fn.register_hook(hook)
    x.register_hook(hook)
    torch.autograd.grad(y, x, create_graph=create_graph)
    assert modes == [create_graph] * 4


@pytest.mark.rule("Q15")
def test_what_a_hook_computes_is_differentiated_again(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = x * x
    y.register_hook(lambda grad: grad * x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(g, x)
    assert (g.item(), second.item()) == (18.0, 12.0)


@pytest.mark.rule("Q16")
def test_hooks_are_called_with_none_where_no_gradient_arrives(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 2.0)
    y = none_rule(torch).apply(x)
    accumulate = y.grad_fn.next_functions[0][0]
    x.register_hook(lambda grad: log.append(("tensor", grad)))
    accumulate.register_prehook(lambda grads: log.append(("pre", grads)))
    x.register_post_accumulate_grad_hook(lambda x: log.append(("grad", x.grad)))
    accumulate.register_hook(lambda *grads: log.append(("post", grads)))
    y.backward()
    assert log == [
        ("tensor", None),
        ("pre", (None,)),
        ("grad", None),
        ("post", ((), (None,))),
    ]


@pytest.mark.rule("Q16")
def test_hook_cannot_make_a_gradient_from_none(torch: Any) -> None:
    x = leaf(torch, 2.0)
    x.register_hook(lambda grad: torch.ones((), dtype=torch.float64))
    says = "can't replace a None gradient with a non-None value"
    with raises(torch, errors.HookError, says):
        none_rule(torch).apply(x).backward()


@pytest.mark.rule("Q17")
def test_exception_of_the_hook_of_a_captured_input_leaves_all_usable(
    torch: Any,
) -> None:
    def hook(grad: Any) -> None:
        raise Boom("h")

    y = leaf(torch, 2.0) * 2
    handle = y.register_hook(hook)
    with pytest.raises(Boom, match="h"):
        torch.autograd.grad(y, y)
    assert torch.is_grad_enabled()
    handle.remove()
    assert torch.autograd.grad(y, y)[0].item() == 1.0


@pytest.mark.rule("Q18")
def test_hooks_belong_to_the_value_they_were_registered_on(torch: Any) -> None:
    log: list[Any] = []
    y = leaf(torch, 2.0) * 2
    y.register_hook(lambda grad: log.append(("before", grad.item())))
    y.mul_(3)
    y.register_hook(lambda grad: log.append(("after", grad.item())))
    y.backward()
    assert log == [("after", 1.0), ("before", 3.0)]


@pytest.mark.rule("Q19")
def test_hooks_of_the_accumulate_node_are_around_accumulation(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 2.0)
    y = x * 3
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda grads: log.append(x.grad))
    accumulate.register_hook(
        lambda grad_inputs, _: log.append((grad_inputs, x.grad.item()))
    )
    y.backward()
    assert log == [None, ((), 3.0)]


@pytest.mark.rule("Q20")
def test_multi_grad_hook_waits_for_all_that_take_part(torch: Any) -> None:
    seen: list[Any] = []

    def hook(grads: Any) -> None:
        seen.append([None if grad is None else grad.item() for grad in grads])

    a, b, c = leaf(torch, 1.0), leaf(torch, 2.0), leaf(torch, 3.0)
    h = a * b
    handle = torch.autograd.graph.register_multi_grad_hook([a, b, c, h], hook)
    (h * 1).backward(retain_graph=True)
    (h * 1).backward(inputs=[a], retain_graph=True)
    (h + c).backward(retain_graph=True)
    handle.remove()
    (h * 1).backward()
    assert seen == [[2.0, 1.0, None, 1.0], [2.0, None, None, 1.0], [2.0, 1.0, 1.0, 1.0]]


@pytest.mark.rule("Q20")
def test_result_of_a_multi_grad_hook_changes_nothing(torch: Any) -> None:
    register = torch.autograd.graph.register_multi_grad_hook
    x = leaf(torch, 2.0)
    register([x], lambda grads: grads[0] * 5)
    register([x], lambda grad: grad * 5, mode="any")
    (x * 3).backward()
    assert x.grad.item() == 3.0


def test_multi_grad_hook_counts_the_root_as_well() -> None:
    # torch calls it twice, each time with one of the two: it does not count a root.
    seen: list[Any] = []
    x = leaf(minigrad, 2.0)
    y = x * 3
    minigrad.autograd.graph.register_multi_grad_hook([y, x], seen.extend)
    y.backward()
    assert [grad.item() for grad in seen] == [1.0, 3.0]


@pytest.mark.rule("Q21")
def test_multi_grad_hook_for_any_gets_the_first_gradient(torch: Any) -> None:
    seen: list[float] = []
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)
    h = a * b
    torch.autograd.graph.register_multi_grad_hook(
        [a, h, torch.tensor(1.0)], lambda grad: seen.append(grad.item()), mode="any"
    )
    (h * 7).backward()
    (a * 5).backward()
    assert seen == [7.0, 5.0]


@pytest.mark.rule("Q21")
def test_multi_grad_hook_has_two_modes(torch: Any) -> None:
    says = "Expects mode to be one of ('all', 'any') but got x"
    with raises(torch, errors.ArgumentValueError, says):
        torch.autograd.graph.register_multi_grad_hook([], print, mode="x")


@pytest.mark.rule("Q22")
def test_hooks_can_be_put_on_ctx_inside_forward(torch: Any) -> None:
    log: list[str] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.register_prehook(lambda grads: log.append("pre"))
        ctx.register_hook(lambda *grads: log.append("post"))
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        log.append("node")
        return grad * 2

    rule(torch, forward, backward).apply(leaf(torch, 2.0)).backward()
    assert log == ["pre", "node", "post"]


@pytest.mark.rule("Q23")
def test_gradient_changed_in_place_by_a_hook_is_changed_for_all(torch: Any) -> None:
    def hook(grad: Any) -> None:
        grad.mul_(4)

    x, z = leaf(torch, 1.0, 1.0), leaf(torch, 1.0, 1.0)
    x.register_hook(hook)
    upstream = torch.tensor([1.0, 2.0], dtype=torch.float64)
    (z + x).backward(upstream)
    assert x.grad.tolist() == upstream.tolist() == [4.0, 8.0]


@pytest.mark.rule("O10")
def test_retain_grad_fills_the_grad_of_what_is_no_leaf(torch: Any) -> None:
    x = leaf(torch, 2.0)
    x.retain_grad()
    h = x * 2
    assert (x.retains_grad, h.retains_grad) == (False, False)
    h.retain_grad()
    h.retain_grad()
    assert h.retains_grad
    assert h.grad is None
    (h * 3).backward()
    assert h.grad.item() == 3.0


@pytest.mark.rule("O10")
def test_retain_grad_needs_a_tensor_that_requires_grad(torch: Any) -> None:
    says = "can't retain_grad on Tensor that has requires_grad=False"
    with raises(torch, errors.RequiresGradError, says):
        torch.tensor(1.0).retain_grad()


@pytest.mark.rule("O11")
def test_retained_grad_adds_up_in_a_new_tensor_each_time(torch: Any) -> None:
    h = leaf(torch, 2.0) * 2
    h.retain_grad()
    y = h * 3
    y.backward(retain_graph=True)
    first = h.grad
    y.backward()
    assert (first.item(), h.grad.item()) == (3.0, 6.0)


@pytest.mark.rule("O11")
def test_retained_grad_has_a_graph_if_the_backward_has(torch: Any) -> None:
    x = leaf(torch, 3.0)
    h = x * x
    h.retain_grad()
    torch.autograd.grad(h * h, x, create_graph=True)
    first = h.grad
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (6.0 * 3.0, 12.0)


@pytest.mark.rule("H16")
def test_in_place_leaves_the_hook_behind_and_takes_retain_grad_along(
    torch: Any,
) -> None:
    seen: list[float] = []
    b = leaf(torch, 2.0) * 1
    b.retain_grad()
    b.register_hook(lambda grad: seen.append(grad.item()))

    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    rule(torch, forward, lambda ctx, grad: grad * 2).apply(b)
    (b * 5).backward()
    assert (seen, b.grad.item()) == ([10.0], 5.0)


@pytest.mark.rule("H16")
def test_builtin_in_place_takes_retain_grad_along_too(torch: Any) -> None:
    b = leaf(torch, 2.0) * 1
    b.retain_grad()
    b.mul_(2)
    (b * 5).backward()
    assert (b.retains_grad, b.grad.item()) == (True, 5.0)


def test_hooks_leave_nothing_for_the_collector() -> None:
    gc.collect()
    gc.disable()
    x = leaf(minigrad, 2.0)
    h = x * 2
    h.retain_grad()
    minigrad.autograd.graph.register_multi_grad_hook([x, h], lambda grads: None)
    x.register_hook(lambda grad: grad * 2)
    (h * 3).backward()
    node, tensor = weakref.ref(h.grad_fn), weakref.ref(x)
    del h, x
    gone = (node(), tensor())
    gc.enable()
    assert gone == (None, None)


def test_hooks_are_not_seen_among_the_attributes_of_ctx() -> None:
    y = logged(minigrad, "F", [])(leaf(minigrad, 2.0))
    y.register_hook(print)
    y.grad_fn.metadata["note"] = 1
    assert vars(y.grad_fn) == {}


@pytest.mark.rule("Q24")
def test_view_changed_through_its_base_loses_hooks_and_keeps_retain_grad(
    torch: Any,
) -> None:
    log: list[Any] = []
    base = leaf(torch, 1.0, 2.0) * 1
    view = base.view(2)
    view.register_hook(log.append)
    view.retain_grad()
    base.mul_(2)
    (view * 3).sum().backward()
    assert (log, view.grad.tolist()) == ([], [3.0, 3.0])


def sum_with_hooks(torch: Any, x: Any, kept: list[Any]) -> tuple[Any, list[str]]:
    """The sum of a leaf whose hooks change the gradient; the order in which they ran.

    The hook before it keeps its result if ``kept`` is not empty.
    """
    y = x * 1
    node = y.grad_fn.next_functions[0][0]
    order: list[str] = []

    def before(grads: Any) -> Any:
        order.append("before")
        result = grads[0] / 4
        kept[1:] = [result] * len(kept)
        return (result,)

    def accumulated(leaf: Any) -> None:
        order.append("accumulated")
        leaf.grad.add_(0.5)

    def after(returned: Any, given: Any) -> None:
        order.append("after")
        x.grad = given[0] * 10

    node.register_hook(after)
    x.register_post_accumulate_grad_hook(accumulated)
    node.register_prehook(before)
    x.register_hook(lambda grad: grad - 5)
    return y.sum(), order


@pytest.mark.rule("O01", "Q11")
def test_hook_after_a_leaf_sees_the_gradient_as_it_was_accumulated(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    y, order = sum_with_hooks(torch, x, [])
    y.backward()
    assert order == ["before", "accumulated", "after"]
    assert x.grad.tolist() == [-5.0, -5.0]


@pytest.mark.rule("O02", "Q11")
def test_hook_after_a_leaf_sees_the_old_gradient_if_somebody_keeps_it(
    torch: Any,
) -> None:
    kept: list[Any] = [None]
    x = leaf(torch, 1.0, 2.0)
    sum_with_hooks(torch, x, kept)[0].backward()
    assert (kept[1].tolist(), x.grad.tolist()) == ([-1.0, -1.0], [-10.0, -10.0])


@pytest.mark.rule("O04", "Q11")
def test_hook_after_a_leaf_sees_what_was_added_to_its_grad(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    x.grad = torch.ones(2, dtype=torch.float64)
    sum_with_hooks(torch, x, [])[0].backward()
    assert x.grad.tolist() == [-10.0, -10.0]
