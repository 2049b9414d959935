"""Looking at the graph: rules R."""

import weakref
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, logged, raises, rule


@pytest.mark.rule("R01")
def test_next_functions_are_nodes_with_the_output_they_came_from(torch: Any) -> None:
    two = rule(torch, lambda ctx, x: (x * 1, x * 2))
    y, z = two.apply(leaf(torch, 2.0))
    product = z * y
    (first, first_slot), (second, second_slot) = product.grad_fn.next_functions
    assert first is second is y.grad_fn
    assert (first_slot, second_slot) == (1, 0)


@pytest.mark.rule("R01")
def test_next_function_of_a_leaf_accumulates_and_of_a_constant_is_none(
    torch: Any,
) -> None:
    product = leaf(torch, 2.0) * torch.tensor(1.0, dtype=torch.float64)
    (node, slot), nothing = product.grad_fn.next_functions
    assert (type(node).__name__, slot) == ("AccumulateGrad", 0)
    assert nothing == (None, 0)


@pytest.mark.rule("R01", "R02")
def test_next_functions_of_a_product_with_a_number_have_a_place_for_it(
    torch: Any,
) -> None:
    x = leaf(torch, 2.0)
    for y in (x * 3, x + 3, 3 * x, 3 + x):
        assert y.grad_fn.next_functions[0][0].variable is x
        assert y.grad_fn.next_functions[1:] == ((None, 0),)


@pytest.mark.rule("R03")
def test_grad_fn_is_the_same_object_each_time(torch: Any) -> None:
    y = leaf(torch, 2.0) * 2
    assert y.grad_fn is y.grad_fn


@pytest.mark.rule("R04")
def test_node_names_are_torchs(torch: Any) -> None:
    x = leaf(torch, 2.0)
    assert (x + 1).grad_fn.name() == "AddBackward0"
    assert (x * 2).grad_fn.name() == "MulBackward0"
    accumulate = (x * 2).grad_fn.next_functions[0][0]
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert type(accumulate).__name__ == "AccumulateGrad"
    assert logged(torch, "Mine", [])(x).grad_fn.name() == "MineBackward"


@pytest.mark.rule("R05")
def test_repr_shows_grad_fn_or_requires_grad(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    assert repr(x) == "tensor(2., requires_grad=True)"
    assert repr(x * 1) == "tensor(2., grad_fn=<MulBackward0>)"


@pytest.mark.rule("R08")
def test_leaf_is_what_has_no_grad_fn(torch: Any) -> None:
    x = leaf(torch, 2.0)
    assert x.is_leaf
    assert torch.tensor(1.0).is_leaf
    assert (torch.tensor(1.0) * 2).is_leaf
    assert not (x * 2).is_leaf
    assert x.output_nr == 0


@pytest.mark.rule("R10")
def test_graph_points_backwards_only(torch: Any) -> None:
    h = leaf(torch, 2.0) * 2
    unused = logged(torch, "Unused", [])(h)
    consumer = weakref.ref(unused.grad_fn)
    del unused
    assert consumer() is None
    assert h.grad_fn is not None


@pytest.mark.rule("R11")
def test_grad_fn_alone_keeps_the_graph_below_it(torch: Any) -> None:
    node = (leaf(torch, 2.0) * 2 + 1).grad_fn
    names = []
    while True:
        names.append(type(node).__name__)
        if not node.next_functions:
            break
        node = node.next_functions[0][0]
    assert names == ["AddBackward0", "MulBackward0", "AccumulateGrad"]


def test_node_is_a_subclass_of_itself_and_numbers_are_none(torch: Any) -> None:
    Node = torch.autograd.graph.Node
    assert issubclass(Node, Node)
    node = (leaf(torch, 2.0) * 2).grad_fn
    assert issubclass(type(node), Node)
    assert not issubclass(int, Node)
    assert not isinstance(Node, Node)


@pytest.mark.rule("A27")
def test_built_in_node_is_called_with_the_gradients_of_its_outputs(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    node = (x * 5).grad_fn
    node.register_hook(lambda *grads: pytest.fail("hooks belong to backward"))
    ones = torch.ones(2, dtype=torch.float64)
    first, second = node(ones)
    assert (first.tolist(), second) == ([5.0, 5.0], None)
    assert x.exp().grad_fn(None) is None
    pieces = x.unbind()
    assert pieces[0].grad_fn(ones[0], None).tolist() == [1.0, 0.0]


def test_called_node_keeps_what_it_saved_and_computes_in_the_graph(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x.exp()
    for _ in range(2):
        slope = y.grad_fn(torch.tensor(1.0, dtype=torch.float64))
        assert slope.requires_grad
    with torch.no_grad():
        assert not y.grad_fn(torch.tensor(1.0)).requires_grad
    (second,) = torch.autograd.grad(slope, x, retain_graph=True)
    assert second.item() == pytest.approx(y.item())
    y.backward()
    with raises(torch, errors.SavedFreedError, "Trying to backward through the graph"):
        y.grad_fn(torch.tensor(1.0))


def test_called_node_wants_a_tensor_for_each_output(torch: Any) -> None:
    node = (leaf(torch, 2.0) * 5).grad_fn
    one = torch.tensor(1.0)
    for given, says in (
        ((), "expected 1 arguments, got 0 instead"),
        ((one, one), "expected 1 arguments, got 2 instead"),
        ((3,), "argument 0 is not a Variable"),
    ):
        with raises(torch, errors.ArgumentTypeError, says):
            node(*given)


def test_called_node_of_a_leaf_adds_into_its_grad(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    y = x * 1
    node = y.grad_fn.next_functions[0][0]
    assert node(torch.ones(2, dtype=torch.float64)) == ()
    assert node(torch.ones(1, dtype=torch.float64)) == ()
    assert x.grad.tolist() == [2.0, 2.0]
    x.grad = None
    with raises(torch, errors.ShapeError, "must match"):
        node(torch.ones(3, dtype=torch.float64))


def test_called_node_of_a_changed_base_goes_by_the_rule_of_the_change(
    torch: Any,
) -> None:
    y = leaf(torch, 2.0, 3.0) * 1
    y[:1].mul_(5)
    ones = torch.ones(2, dtype=torch.float64)
    assert y.grad_fn(ones)[0].tolist() == [5.0, 1.0]
