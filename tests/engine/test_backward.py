"""Driving the engine, adding into .grad, order of execution: rules N, O and P."""

import inspect
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import Boom, leaf, logged, raises, rule, same_memory


@pytest.mark.rule("N01")
def test_missing_gradient_argument_means_ones_for_one_element(torch: Any) -> None:
    x = torch.ones((1, 1), requires_grad=True)
    (x * 3).backward()
    assert x.grad.tolist() == [[3.0]]


@pytest.mark.rule("N01")
def test_missing_gradient_argument_for_several_elements_is_an_error(
    torch: Any,
) -> None:
    says = "grad can be implicitly created only for scalar outputs"
    with raises(torch, errors.GradientArgumentError, says):
        (leaf(torch, 1.0, 2.0) * 3).backward()


@pytest.mark.rule("N02")
def test_gradient_argument_must_have_the_outputs_shape(torch: Any) -> None:
    y = leaf(torch, 1.0, 2.0) * 3
    says = (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([]) and output[0] "
        "has a shape of torch.Size([2])."
    )
    with raises(torch, errors.GradientArgumentError, says):
        y.backward(torch.tensor(1.0, dtype=torch.float64))


@pytest.mark.rule("N03")
def test_gradient_argument_of_another_type_is_an_error(torch: Any) -> None:
    says = "gradients can be either Tensors or None, but got float"
    with raises(torch, errors.GradientArgumentTypeError, says):
        torch.autograd.backward([leaf(torch, 1.0) * 3], [1.0])


def test_number_as_gradient_argument_is_named_too() -> None:
    says = "gradients can be either Tensors or None, but got float"
    with raises(minigrad, errors.GradientArgumentTypeError, says):
        (leaf(minigrad, 1.0) * 3).backward(1.0)


@pytest.mark.rule("N03")
def test_number_of_gradient_arguments_must_agree(torch: Any) -> None:
    y = leaf(torch, 1.0) * 3
    with raises(torch, errors.GradientArgumentError, "got 2 tensors and 1 gradients"):
        torch.autograd.backward([y, y], [torch.tensor(1.0, dtype=torch.float64)])


@pytest.mark.rule("N04")
def test_root_without_a_graph_is_an_error_with_its_index(torch: Any) -> None:
    y = leaf(torch, 1.0) * 3
    for tensors, index in (([torch.tensor(1.0)], 0), ([y, torch.tensor(1.0)], 1)):
        says = (
            f"element {index} of tensors does not require grad and does not have a "
            "grad_fn"
        )
        with raises(torch, errors.GraphError, says):
            torch.autograd.backward(tensors)


@pytest.mark.rule("N05")
def test_leaf_as_root_gets_the_gradient_itself(torch: Any) -> None:
    x = leaf(torch, 1.0)
    x.backward(torch.tensor(5.0, dtype=torch.float64))
    assert x.grad.item() == 5.0


@pytest.mark.rule("N06")
def test_several_roots_are_one_run_with_the_sum(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 1.0)
    h = logged(torch, "H", log)(x)
    gradients = [torch.tensor(v, dtype=torch.float64) for v in (1.0, 10.0)]
    torch.autograd.backward([h * 3, h * 5], gradients)
    assert (log, x.grad.item()) == (["H"], 2 * (3 * 1 + 5 * 10.0))


@pytest.mark.rule("N06")
def test_several_roots_may_come_from_one_node(torch: Any) -> None:
    x = leaf(torch, 1.0)
    F = rule(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3)
    a, b = F.apply(x * 1)
    torch.autograd.backward([a, b, a])
    assert x.grad.item() == 7.0


@pytest.mark.rule("N07")
def test_grad_returns_a_tuple_and_touches_no_grad(torch: Any) -> None:
    x, y = leaf(torch, 2.0), leaf(torch, 5.0)
    y.grad = torch.tensor(1.0, dtype=torch.float64)
    got = torch.autograd.grad(x * 3 * y, [x])
    assert type(got) is tuple
    assert (len(got), got[0].item()) == (1, 15.0)
    assert x.grad is None
    assert y.grad.item() == 1.0


@pytest.mark.rule("N08")
def test_grad_asks_for_tensors_that_require_grad(torch: Any) -> None:
    says = "One of the differentiated Tensors does not require grad"
    with raises(torch, errors.GraphError, says):
        torch.autograd.grad(leaf(torch, 1.0) * 2, torch.tensor(1.0))


@pytest.mark.rule("N09")
def test_unused_input_is_an_error_with_its_index(torch: Any) -> None:
    x, stranger = leaf(torch, 1.0), leaf(torch, 1.0)
    says = (
        "The differentiated Tensor at index 1 appears to not have been used in the "
        "graph. Set allow_unused=True"
    )
    with raises(torch, errors.GraphError, says):
        torch.autograd.grad(x * 2, [x, stranger])


@pytest.mark.rule("N09")
def test_unused_input_gives_none_or_zeros_if_asked(torch: Any) -> None:
    x, stranger = leaf(torch, 1.0), leaf(torch, 1.0, 2.0)
    unused = torch.autograd.grad(x * 2, stranger, allow_unused=True)
    zeros = torch.autograd.grad(x * 2, stranger, materialize_grads=True)
    assert unused == (None,)
    assert zeros[0].tolist() == [0.0, 0.0]


@pytest.mark.rule("N09")
def test_contradictory_flags_are_a_value_error(torch: Any) -> None:
    x = leaf(torch, 1.0)
    says = "Expected allow_unused to be True or not passed when materialize_grads=True"
    with raises(torch, errors.ArgumentValueError, says):
        torch.autograd.grad(x * 2, x, allow_unused=False, materialize_grads=True)


@pytest.mark.rule("N10")
def test_grad_of_an_intermediate_and_of_the_output_itself(torch: Any) -> None:
    h = leaf(torch, 1.0) * 2
    y = h * 3
    assert [g.item() for g in torch.autograd.grad(y, [h, y])] == [3.0, 1.0]


@pytest.mark.rule("N11")
def test_grad_runs_only_nodes_on_a_path(torch: Any) -> None:
    log: list[Any] = []
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)
    y = logged(torch, "A", log)(a) * logged(torch, "B", log)(b)
    torch.autograd.grad(y, a)
    assert log == ["A"]


@pytest.mark.rule("N12")
def test_backward_with_inputs_accumulates_only_there(torch: Any) -> None:
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    (x * w).backward(inputs=[x])
    assert (x.grad.item(), w.grad) == (3.0, None)


@pytest.mark.rule("N12")
def test_empty_inputs_are_an_error(torch: Any) -> None:
    says = "`inputs` argument to `backward()` cannot be empty."
    with raises(torch, errors.GradientArgumentError, says):
        (leaf(torch, 2.0) * 2).backward(inputs=[])


@pytest.mark.rule("N13")
def test_backward_with_an_unreachable_input_does_nothing_there(torch: Any) -> None:
    x, stranger = leaf(torch, 2.0), leaf(torch, 3.0)
    (x * 2).backward(inputs=[stranger])
    assert stranger.grad is x.grad is None


@pytest.mark.rule("N14", "N16")
@pytest.mark.parametrize("inputs", [[], {}])
def test_grad_with_empty_inputs_is_an_error(torch: Any, inputs: Any) -> None:
    says = "`inputs` argument to `grad()` cannot be empty."
    with raises(torch, errors.GradientArgumentError, says):
        torch.autograd.grad(leaf(torch, 2.0) * 2, inputs)


@pytest.mark.rule("N18")
def test_exception_in_the_middle_keeps_what_was_accumulated(torch: Any) -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        raise Boom

    a, b = leaf(torch, 1.0), leaf(torch, 1.0)
    failing = rule(torch, lambda ctx, x: x * 1, backward).apply(a)
    y = failing + b * 2
    with pytest.raises(Boom):
        y.backward()
    assert (a.grad, b.grad.item()) == (None, 2.0)


@pytest.mark.rule("N19")
def test_backward_inside_backward_works(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, grad: Any) -> Any:
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            y = x * x
        (slope,) = torch.autograd.grad(y, x)
        return grad * slope

    x = leaf(torch, 3.0)
    rule(torch, forward, backward).apply(x).backward()
    assert x.grad.item() == 6.0


@pytest.mark.rule("N20")
def test_backward_under_no_grad_is_the_same(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * x
    with torch.no_grad():
        y.backward()
        assert not torch.is_grad_enabled()
    assert x.grad.item() == 4.0


@pytest.mark.rule("N21")
def test_backward_returns_nothing_and_has_these_parameters(torch: Any) -> None:
    assert (leaf(torch, 2.0) * 2).backward() is None
    parameters = inspect.signature(torch.Tensor.backward).parameters
    defaults = {name: p.default for name, p in parameters.items() if name != "self"}
    assert defaults == {
        "gradient": None,
        "retain_graph": None,
        "create_graph": False,
        "inputs": None,
    }


@pytest.mark.rule("N22")
def test_input_asked_for_twice_is_answered_twice(torch: Any) -> None:
    x = leaf(torch, 2.0)
    assert [g.item() for g in torch.autograd.grad(x * x, [x, x])] == [4.0, 4.0]


@pytest.mark.rule("O04")
def test_later_gradient_is_added_in_place(torch: Any) -> None:
    x = leaf(torch, 2.0)
    (x * 2).backward()
    first, version = x.grad, x.grad._version
    (x * 3).backward()
    assert x.grad is first
    assert (first.item(), first._version) == (5.0, version + 1)


@pytest.mark.rule("O05")
@pytest.mark.filterwarnings("ignore:(?s).*Using backward\\(\\) with create_graph=True")
def test_create_graph_accumulates_out_of_place(torch: Any) -> None:
    x = leaf(torch, 2.0)
    (x * x).backward()
    old = x.grad
    (x * x).backward(create_graph=True)
    assert x.grad is not old
    assert (old.item(), x.grad.item()) == (4.0, 8.0)
    assert x.grad.grad_fn is not None


@pytest.mark.rule("O05")
@pytest.mark.filterwarnings("ignore:(?s).*Using backward\\(\\) with create_graph=True")
def test_create_graph_gives_each_leaf_its_own_grad(torch: Any) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    (a + b).sum().backward(create_graph=True)
    assert a.grad is not b.grad
    (a * 5).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([6.0, 6.0], [1.0, 1.0])


def test_gradient_argument_is_cast_to_the_outputs_dtype(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(grad.dtype)
        return grad

    y = rule(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch, 1.0))
    y.backward(torch.tensor(1.0, dtype=torch.float32))
    assert seen == [torch.float64]


@pytest.mark.rule("O06")
def test_grad_is_none_before_and_after_a_reset(torch: Any) -> None:
    x = leaf(torch, 2.0)
    assert x.grad is None
    (x * 2).backward()
    x.grad = None
    (x * 3).backward()
    assert x.grad.item() == 3.0


@pytest.mark.rule("O07")
def test_assigned_grad_is_checked(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    cases = [
        (
            leaf(torch, 1.0, 2.0, 3.0),
            errors.GradientShapeError,
            "gradient of size '[3]' to a",
        ),
        (1.0, errors.ArgumentTypeError, "expected to be a Tensor or None but got grad"),
        (x, errors.GraphError, "can't assign Variable as its own grad"),
    ]
    for value, kind, says in cases:
        with raises(torch, kind, says):
            x.grad = value
    with pytest.raises(RuntimeError, match="gradient"):
        x.grad = torch.zeros(2, dtype=torch.float32)
    assert x.grad is None


@pytest.mark.rule("O09")
def test_grad_of_a_non_leaf_is_none_with_a_warning(torch: Any) -> None:
    h = leaf(torch, 2.0) * 2
    says = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"
    with pytest.warns(UserWarning, match=says):
        assert h.grad is None


@pytest.mark.rule("O12")
def test_several_uses_are_summed_before_the_node_runs_once(torch: Any) -> None:
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(grad.item())
        return grad

    h = rule(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch, 1.0))
    (h * 2 + h * 3 + h * 4).backward()
    assert seen == [9.0]


@pytest.mark.rule("O12")
def test_summing_changes_no_gradient_that_someone_holds(torch: Any) -> None:
    held: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        held.append(grad * 2)
        return held[0]

    x = leaf(torch, 1.0)
    h = x * 1
    y = h * 3 + rule(torch, lambda ctx, x: x * 2, backward).apply(h)
    y.backward()
    assert (held[0].item(), x.grad.item()) == (2.0, 5.0)


@pytest.mark.rule("O03")
def test_expanded_gradient_is_dense_in_grad(torch: Any) -> None:
    x = torch.ones((3, 2), requires_grad=True)
    x.sum().backward()
    assert tuple(x.grad.stride()) == (2, 1)
    x.grad.mul_(2)
    assert x.grad.tolist() == [[2.0, 2.0]] * 3


@pytest.mark.rule("O13")
def test_two_leaves_of_a_sum_do_not_share_their_grad(torch: Any) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    (a + b).sum().backward()
    assert not same_memory(a.grad, b.grad)


@pytest.mark.rule("O14")
def test_callers_gradient_argument_is_never_the_grad(torch: Any) -> None:
    mine = torch.tensor([1.0, 1.0], dtype=torch.float64)
    x = leaf(torch, 1.0, 2.0)
    x.backward(mine)
    (y := leaf(torch, 1.0, 2.0)) + 0
    (y + 0).backward(mine)
    assert not same_memory(x.grad, mine)
    assert not same_memory(y.grad, mine)


@pytest.mark.rule("O15")
def test_integers_cannot_require_grad(torch: Any) -> None:
    says = "nly Tensors of floating point and complex dtype can require gradients"
    with raises(torch, errors.RequiresGradError, says):
        torch.tensor([1, 2], requires_grad=True)
    whole = torch.tensor([1, 2])
    with raises(torch, errors.RequiresGradError, "only Tensors of floating point"):
        whole.requires_grad = True


@pytest.mark.rule("P01", "P06")
@pytest.mark.parametrize("swapped", [False, True])
def test_newest_ready_node_runs_first(torch: Any, swapped: bool) -> None:
    log: list[Any] = []
    x = leaf(torch, 1.0)
    a, b, c = (logged(torch, name, log)(x) for name in "ABC")
    y = (c + b) + a if swapped else (a + b) + c
    y.backward()
    assert log == ["C", "B", "A"]


@pytest.mark.rule("P01")
def test_sequence_numbers_grow_with_every_node(torch: Any) -> None:
    x = leaf(torch, 1.0)
    first, second = x * 2, logged(torch, "F", [])(x)
    third = x * 2
    numbers = [y.grad_fn._sequence_nr() for y in (first, second, third)]
    assert numbers == sorted(set(numbers))


@pytest.mark.rule("P02")
def test_node_runs_once_after_all_that_use_it(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 1.0)
    a = logged(torch, "A", log)(x)
    b = logged(torch, "B", log)(a)
    c = logged(torch, "C", log)(b)
    (a + b + c).backward()
    assert log == ["C", "B", "A"]
    assert x.grad.item() == 2 + 4 + 8


@pytest.mark.rule("P02", "P03")
def test_leaf_used_by_two_nodes_gets_the_sum(torch: Any) -> None:
    x = leaf(torch, 1.0)
    (x * 2 + x * 3).backward()
    assert x.grad.item() == 5.0


@pytest.mark.rule("P02")
def test_only_consumers_on_the_executed_graph_are_waited_for(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 1.0)
    a = logged(torch, "A", log)(x)
    unused = logged(torch, "Unused", log)(a)
    logged(torch, "B", log)(a).backward()
    assert log == ["B", "A"]
    assert unused.requires_grad


@pytest.mark.rule("P03")
def test_leaf_accumulates_before_any_other_ready_node(torch: Any) -> None:
    filled: list[Any] = []
    x, z = leaf(torch, 1.0), leaf(torch, 1.0)

    def backward(ctx: Any, grad: Any) -> Any:
        filled.append(z.grad is not None)
        return grad

    a = rule(torch, lambda ctx, x: x * 1, backward).apply(x)
    b = logged(torch, "B", [])(z)
    (a + b).backward()
    assert filled == [True]


@pytest.mark.rule("G08")
def test_backward_with_create_graph_warns_of_the_cycle(torch: Any) -> None:
    if torch.__name__ != "minigrad":
        torch.set_warn_always(True)  # else only the first time in a process
    x = leaf(torch, 2.0)
    with pytest.warns(UserWarning, match=r"create_graph=True will create a reference"):
        (x * x).backward(create_graph=True)
    x.grad = None
    torch.autograd.grad(x * x, x, create_graph=True)
    if torch.__name__ != "minigrad":
        torch.set_warn_always(False)


@pytest.mark.parametrize("inputs", [[3], [None]])
def test_inputs_are_tensors(torch: Any, inputs: Any) -> None:
    says = "all inputs have to be Tensors or GradientEdges, but got"
    x = leaf(torch, 2.0)
    with raises(torch, errors.GradientArgumentError, says):
        torch.autograd.grad(x * 2, inputs)
    with raises(torch, errors.GradientArgumentError, says):
        (x * 2).backward(inputs=inputs)


@pytest.mark.parametrize("value", [None, 3])
def test_inputs_and_outputs_are_not_none_nor_a_number(torch: Any, value: Any) -> None:
    x = leaf(torch, 2.0)
    for use in (
        lambda: torch.autograd.grad(x * 2, value),
        lambda: torch.autograd.grad(value, x),
        lambda: torch.autograd.backward(value),
    ):
        with raises(torch, errors.GradientArgumentTypeError, " "):
            use()


def test_numbers_as_the_first_gradient_are_to_be_wrapped(torch: Any) -> None:
    y = leaf(torch, 1.0, 2.0, 3.0) * 2
    if torch.__name__ != "minigrad":
        with pytest.raises(TypeError, match="either Tensors or None, but got int"):
            y.backward([1])
        return
    with raises(torch, errors.GradientArgumentTypeError, "but got int") as caught:
        y.backward([1, 1, 1])
    assert "minigrad.tensor(" in str(caught.value)


def test_retain_graph_is_a_bool(torch: Any) -> None:
    says = "'str' object cannot be interpreted as an integer"
    with raises(torch, errors.ArgumentTypeError, says):
        leaf(torch, 1.0).sum().backward(retain_graph="no")
    with raises(torch, errors.ArgumentTypeError, says):
        leaf(torch, 1.0).sum().backward(create_graph="no")
