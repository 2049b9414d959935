"""Leaves, versions and changes in place: rules U."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from minigrad import errors
from tests.engine.support import leaf, raises, same_memory


@pytest.mark.rule("U01")
def test_version_counts_changes_in_place(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert x._version == 0
    x.add_(1)
    x *= 2
    x.sub_(1)
    assert x._version == 3
    assert (x + 1)._version == 0


@pytest.mark.rule("U02")
def test_views_and_detached_share_the_count_and_clones_do_not(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    view, alias, copy = x.reshape(2, 1), x.detach(), x.clone()
    x.add_(1)
    assert (view._version, alias._version, copy._version) == (1, 1, 0)
    view.add_(1)
    assert x._version == 2


@pytest.mark.rule("U04")
def test_requires_grad_changes_on_leaves_only(torch: Any) -> None:
    says = "you can only change requires_grad flags of leaf variables."
    y = leaf(torch, 1.0) * 2
    with raises(torch, errors.RequiresGradError, says):
        y.requires_grad = False
    x = torch.tensor(1.0)
    x.requires_grad = True
    assert x.requires_grad


@pytest.mark.rule("U05")
def test_detach_is_a_leaf_on_the_same_memory(torch: Any) -> None:
    y = leaf(torch, 1.0, 2.0) * 2
    alias = y.detach()
    assert same_memory(alias, y)
    assert (alias.requires_grad, alias.is_leaf) == (False, True)
    assert y.grad_fn is not None


@pytest.mark.rule("U07")
def test_change_in_place_moves_the_history_of_the_same_object(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * 3
    before, same = y.grad_fn, y
    y += 1
    assert y is same
    assert y.grad_fn.name() == "AddBackward0"
    assert y.grad_fn.next_functions[0][0] is before
    y.backward()
    assert x.grad.item() == 3.0


@pytest.mark.rule("U07")
def test_change_in_place_by_itself_uses_the_old_value(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = x.clone()
    y.add_(y)
    y.backward()
    assert (y.item(), x.grad.item()) == (6.0, 2.0)


@pytest.mark.rule("U13")
def test_operand_that_requires_grad_takes_a_constant_into_the_graph(
    torch: Any,
) -> None:
    x = leaf(torch, 2.0)
    a = torch.tensor(1.0, dtype=torch.float64)
    a.add_(x)
    assert a.requires_grad
    a.backward()
    assert x.grad.item() == 1.0


@pytest.mark.rule("U14")
def test_base_of_a_view_of_a_view_is_the_root(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    v = x.reshape(2, 2).transpose(0, 1)
    assert v._base is x
    assert v._is_view()
    assert not x._is_view()


@pytest.mark.rule("U16")
def test_numpy_of_a_tensor_that_requires_grad_is_refused(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    says = (
        "Can't call numpy() on Tensor that requires grad. Use "
        "tensor.detach().numpy() instead."
    )
    with raises(torch, errors.GraphError, says):
        x.numpy()
    x.detach().numpy()[0] = 9.0
    assert (x.tolist(), x._version) == ([9.0, 2.0], 0)


@pytest.mark.rule("U18")
def test_tensor_keeps_its_identity_as_a_saved_input(torch: Any) -> None:
    h = leaf(torch, 2.0) * 2
    y = h.sin()
    assert y.grad_fn.next_functions[0][0] is h.grad_fn


@pytest.mark.rule("U20")
def test_comparisons_and_numbers_need_no_graph(torch: Any) -> None:
    x = leaf(torch, 2.0)
    assert not (x > 1).requires_grad
    assert (x.item(), float(x.detach()), bool(x > 1)) == (2.0, 2.0, True)


@pytest.mark.rule("U22")
def test_deleting_grad_sets_it_to_none(torch: Any) -> None:
    x = leaf(torch, 2.0)
    (x * 2).backward()
    del x.grad
    assert x.grad is None


def test_expand_keeps_the_lengths_given_as_minus_one(torch: Any) -> None:
    x = torch.ones((2, 1))
    assert tuple(x.expand(-1, 3).shape) == (2, 3)
    assert tuple(x.expand(4, -1, -1).shape) == (4, 2, 1)
    says = "expanded size of the tensor (-1) isn't allowed in a leading, non-existing"
    with raises(torch, errors.ShapeError, says):
        x.expand(-1, 2, 1)
    with raises(torch, errors.ShapeError, "the number of sizes provided (1) must be"):
        x.expand(2)


def test_number_is_formatted_like_a_python_number(torch: Any) -> None:
    assert f"{torch.tensor(2.0):.3f}" == "2.000"
    assert f"{torch.tensor(2.0)}" == "2.0"
    assert f"{torch.tensor([2.0])}" == "tensor([2.])"


def test_item_of_several_elements_is_refused(torch: Any) -> None:
    says = "a Tensor with 2 elements cannot be converted to Scalar"
    with raises(torch, errors.ShapeError, says):
        torch.tensor([1.0, 2.0]).item()


def test_length_of_a_number_is_refused(torch: Any) -> None:
    with raises(torch, errors.ArgumentTypeError, "len() of a 0-d tensor"):
        len(torch.tensor(1.0))
    assert len(torch.tensor([1.0, 2.0])) == 2


def test_changing_the_shape_in_place_is_refused(torch: Any) -> None:
    says = "output with shape [2] doesn't match the broadcast shape [2, 2]"
    with raises(torch, errors.ShapeError, says):
        torch.tensor([1.0, 2.0]).add_(torch.ones((2, 2)))


def test_float_result_does_not_fit_an_integer_in_place(torch: Any) -> None:
    with raises(torch, errors.ShapeError, "can't be cast to the desired output type"):
        torch.tensor([1, 2]).mul_(0.5)


def test_zero_and_fill_overwrite_in_place(torch: Any) -> None:
    x = torch.ones(2)
    assert x.fill_(7) is x
    assert (x.tolist(), x._version) == ([7.0, 7.0], 1)
    assert x.zero_().tolist() == [0.0, 0.0]
    y = leaf(torch, 1.0, 2.0) * 2
    assert y.zero_().grad_fn is not None


def test_filling_with_a_vector_is_refused(torch: Any) -> None:
    with raises(torch, errors.ShapeError, "only supports 0-dimension value tensor"):
        torch.ones(2).fill_(torch.ones(2))


@pytest.mark.rule("U02", "U19")
def test_data_is_the_same_memory_with_a_count_of_its_own(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    x.data.mul_(3)
    assert (x.tolist(), x._version, x.data._version) == ([3.0, 6.0], 0, 0)
    assert (x.data.requires_grad, x.data.is_leaf) == (False, True)


@pytest.mark.rule("U21")
def test_data_exchanges_the_values_and_nothing_else(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    new = torch.tensor([5.0, 6.0, 7.0], dtype=torch.float64)
    x.data = new
    assert (x.tolist(), x.requires_grad, x._version) == ([5.0, 6.0, 7.0], True, 0)
    assert same_memory(x, new)
    (x * x).sum().backward()
    assert x.grad.tolist() == [10.0, 12.0, 14.0]
    says = "data set to a tensor that requires gradients must be floating point or"
    with raises(torch, errors.RequiresGradError, says):
        x.data = torch.tensor([1, 2])
    with raises(torch, errors.ArgumentTypeError, "Variable data has to be a tensor"):
        x.data = 3


@pytest.mark.rule("U17")
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copy_of_a_leaf_is_a_leaf_of_its_own(torch: Any, copied: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    output = (x * 2).sum()
    y = copied(x)
    assert y is not x
    assert (y.tolist(), y.requires_grad, y.is_leaf) == ([1.0, 2.0], True, True)
    assert same_memory(x, y) == (copied is copy.copy)
    (y * 3).sum().backward()
    assert x.grad is None
    assert y.grad.tolist() == [3.0, 3.0]
    output.backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.rule("U17")
def test_pickle_leaves_grad_behind(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    (x * 2).sum().backward()
    again = pickle.loads(pickle.dumps(x))
    assert (again.grad, again.tolist(), again.is_leaf) == (None, [1.0, 2.0], True)


@pytest.mark.rule("U17")
def test_deep_copy_copies_grad_and_keeps_what_is_shared(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    (x * 2).sum().backward()
    a, b = copy.deepcopy([x, x])
    assert a is b
    assert a.grad.tolist() == [2.0, 2.0]
    assert not same_memory(a.grad, x.grad)


@pytest.mark.rule("U17")
def test_deep_copy_of_what_an_operation_made_is_refused(torch: Any) -> None:
    says = (
        "Only Tensors created explicitly by the user (graph leaves) support the "
        "deepcopy protocol"
    )
    with raises(torch, errors.GraphError, says):
        copy.deepcopy(leaf(torch, 1.0) * 2)


def test_requires_grad_is_a_bool(torch: Any) -> None:
    x = torch.tensor(1.0)
    for value in ("a", 1, None):
        with raises(torch, errors.RequiresGradError, "requires_grad must be a bool"):
            x.requires_grad = value


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_numpy_scalar_counts_as_a_python_number(torch: Any, kind: Any) -> None:
    number = kind(1)
    assert (torch.tensor([1.0, 2.0]) * number).dtype == torch.float32
    assert (torch.tensor(1.0) + number).dtype == torch.float32
    integers = torch.tensor([1, 2]) * number
    assert integers.is_floating_point() == isinstance(number, np.floating)
    assert integers.dtype in (torch.float32, torch.int64)


@pytest.mark.parametrize("shape", [(3, 2), (2, 2)])
def test_writing_where_elements_share_memory_is_refused(
    torch: Any, shape: tuple[int, ...]
) -> None:
    says = "more than one element of the written-to tensor refers to a single memory"
    with raises(torch, errors.InplaceError, says):
        torch.ones(2).expand(*shape).mul_(2)


@pytest.mark.parametrize("kind", ["U", "O", "M8[s]"])
def test_arrays_of_no_numbers_are_refused(torch: Any, kind: str) -> None:
    array = np.zeros(1, kind)
    for make in (torch.tensor, torch.as_tensor, torch.from_numpy):
        with raises(
            torch, errors.ArgumentTypeError, "can't convert np.ndarray of type"
        ):
            make(array)


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("exp", (3,), "argument 'input' (position 1) must be Tensor, not int"),
        ("exp", ([1.0],), "argument 'input' (position 1) must be Tensor, not list"),
        ("neg", (None,), "argument 'input' (position 1) must be Tensor, not NoneType"),
        ("sum", (3,), "argument 'input' (position 1) must be Tensor, not int"),
        ("ones_like", (3,), "argument 'input' (position 1) must be Tensor, not int"),
        ("zeros_like", ([1],), "argument 'input' (position 1) must be Tensor, not"),
        ("equal", (3, 3), "argument 'input' (position 1) must be Tensor, not int"),
        ("matmul", (2, 3), "argument 'input' (position 1) must be Tensor, not int"),
        ("mul", ([1], [2]), " "),
        ("mul", (None, 2), " "),
    ],
)
def test_free_functions_refuse_what_is_no_tensor(
    torch: Any, name: str, values: tuple[Any, ...], says: str
) -> None:
    with raises(torch, errors.ArgumentTypeError, says):
        getattr(torch, name)(*values)


def test_second_operand_that_is_no_tensor_is_refused(torch: Any) -> None:
    x = torch.ones(2)
    says = "argument 'other' (position 2) must be Tensor, not int"
    for function in (torch.equal, torch.allclose, torch.matmul):
        with raises(torch, errors.ArgumentTypeError, says):
            function(x, 1)
    assert torch.mul(2, 3).item() == 6


def test_dimensions_and_lengths_are_integers(torch: Any) -> None:
    x = torch.ones(2, 2)
    for use in (
        lambda: x.sum("a"),
        lambda: x.sum(1.0),
        lambda: x.transpose("a", 0),
        lambda: x.reshape("a"),
        lambda: x.reshape(1.5),
    ):
        with raises(torch, errors.ArgumentTypeError, " "):
            use()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("data", "Deleting tensor data is not allowed. Delete tensor instead!"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed!"),
        ("_grad_fn", "Deletion of _grad_fn not allowed. Detach tensor instead!"),
    ],
)
def test_what_makes_a_tensor_cannot_be_deleted(
    torch: Any, name: str, says: str
) -> None:
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    for tensor in (x, y):
        with raises(torch, errors.GraphError, says):
            delattr(tensor, name)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_history_of_a_tensor_can_be_set_to_none_alone(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    with raises(torch, errors.GraphError, "_grad_fn can be only set to None"):
        y._grad_fn = (x * 3).grad_fn
    assert y._grad_fn is y.grad_fn is not None
    y._grad_fn = None
    assert (y.grad_fn, y.requires_grad) == (None, False)


def test_hooks_of_a_tensor_are_listed(torch: Any) -> None:
    x = leaf(torch, 1.0)
    assert x._backward_hooks is None
    handle = x.register_hook(print)
    assert dict(x._backward_hooks) == {handle.id: print}
    y = x * 2
    assert y._backward_hooks is None
    handle = y.register_hook(print)
    assert dict(y._backward_hooks) == {handle.id: print}
