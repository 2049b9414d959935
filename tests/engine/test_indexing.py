"""Reading and writing by index, iterating, and pieces: as torch takes them apart."""

import operator
from typing import Any

import numpy as np
import pytest

from minigrad import errors
from tests.engine.support import leaf, raises
from tests.engine.test_views import names

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]

READ: list[tuple[Any, Any, list[str]]] = [
    (0, ROWS[0], ["SelectBackward0"]),
    (-1, ROWS[1], ["SelectBackward0"]),
    (slice(0, 1), [ROWS[0]], ["SliceBackward0"]),
    (slice(None), ROWS, ["SliceBackward0"]),
    (..., ROWS, ["AliasBackward0"]),
    ((), ROWS, ["AliasBackward0"]),
    ((slice(None), slice(None)), ROWS, ["AliasBackward0"]),
    (None, [ROWS], ["UnsqueezeBackward0"]),
    ((0, 1), 2.0, ["SelectBackward0", "SelectBackward0"]),
    ((..., 1), [2.0, 5.0], ["SelectBackward0"]),
    ((0, None), [ROWS[0]], ["UnsqueezeBackward0", "SelectBackward0"]),
    ((slice(None), slice(None, None, 2)), [[1, 3], [4, 6]], ["SliceBackward0"]),
    ([1, 0], ROWS[::-1], ["IndexBackward0"]),
    (([0, 1], [2, 0]), [3.0, 4.0], ["IndexBackward0"]),
    ((0, [2, 0]), [3.0, 1.0], ["IndexBackward0", "SelectBackward0"]),
    ((slice(None), [2, 2]), [[3.0, 3.0], [6.0, 6.0]], ["IndexBackward0"]),
    (True, [ROWS], ["IndexBackward0", "UnsqueezeBackward0"]),
    (np.int64(1), ROWS[1], ["SelectBackward0"]),
    (np.array([1]), [ROWS[1]], ["IndexBackward0"]),
    ([], [], ["IndexBackward0"]),
]


@pytest.mark.parametrize(("index", "values", "nodes"), READ)
def test_index_gives_torchs_values_and_nodes(
    torch: Any, index: Any, values: Any, nodes: list[str]
) -> None:
    x = torch.tensor(ROWS, requires_grad=True)
    y = x[index]
    assert y.tolist() == values
    assert names(y)[:-1] == nodes
    assert y._is_view() == ("IndexBackward0" not in nodes)
    places = np.arange(6).reshape(2, 3)[index]
    (y * 2).sum().backward()
    counts = np.bincount(np.ravel(places).astype(int), minlength=6).reshape(2, 3)
    assert x.grad.tolist() == (2.0 * counts).tolist()


def test_tensors_and_masks_pick_elements(torch: Any) -> None:
    x = torch.tensor(ROWS, requires_grad=True)
    assert x[x > 2].tolist() == [3.0, 4.0, 5.0, 6.0]
    assert x[torch.tensor([False, True])].tolist() == [ROWS[1]]
    assert x[torch.tensor(1)].tolist() == ROWS[1]
    assert x[:, torch.tensor([0, 0])].tolist() == [[1.0, 1.0], [4.0, 4.0]]
    assert x[torch.tensor([[1], [0]]), torch.tensor([0, 2])].tolist() == [
        [4.0, 6.0],
        [1.0, 3.0],
    ]
    cube = torch.ones(2, 3, 4)
    assert tuple(cube[[0], :, [1, 2]].shape) == (2, 3)
    assert tuple(cube[:, [0], [1]].shape) == (2, 1)
    assert tuple(cube[torch.ones(2, 3) > 0].shape) == (6, 4)


REFUSED: list[tuple[Any, Any, str]] = [
    (2, errors.IndexingError, "index 2 is out of bounds for dimension 0 with size 2"),
    (
        (0, -4),
        errors.IndexingError,
        "index -4 is out of bounds for dimension 1 with size 3",
    ),
    ((0, 0, 0), errors.IndexingError, "too many indices for tensor of dimension 2"),
    (
        slice(None, None, -1),
        errors.ArgumentValueError,
        "step must be greater than zero",
    ),
    (1.0, errors.IndexingError, "valid indices (got float)"),
    ("a", errors.ArgumentTypeError, "new(): invalid data type 'str'"),
    ([5], errors.IndexingError, "index 5 is out of bounds for dimension 0 with size 2"),
    (
        [True, False, True],
        errors.IndexingError,
        "The shape of the mask [3] at index 0 does not match",
    ),
    (
        ([0, 1], [0, 1, 2]),
        errors.IndexingError,
        "indexing tensors could not be broadcast together with shapes [2], [3]",
    ),
]


@pytest.mark.parametrize(("index", "kind", "says"), REFUSED)
def test_index_that_is_none_is_refused_in_torchs_words(
    torch: Any, index: Any, kind: Any, says: str
) -> None:
    x = torch.tensor(ROWS)
    with raises(torch, kind, says):
        operator.getitem(x, index)
    with raises(torch, kind, says):
        operator.setitem(x, index, 1.0)
    assert x.tolist() == ROWS


def test_index_of_floats_is_refused(torch: Any) -> None:
    says = "tensors used as indices must be long, int, byte or bool tensors"
    with raises(torch, errors.IndexingError, says):
        torch.ones(2)[torch.tensor([0.0, 1.0])]


def test_number_has_no_elements_to_index(torch: Any) -> None:
    x = torch.tensor(1.0)
    assert x[None].tolist() == [1.0]
    assert x[...].item() == 1.0
    with raises(torch, errors.IndexingError, "invalid index of a 0-dim tensor."):
        x[0]
    with raises(torch, errors.IndexingError, "slice() cannot be applied to a 0-dim"):
        x[:]
    with raises(torch, errors.ArgumentTypeError, "iteration over a 0-d tensor"):
        list(x)


@pytest.mark.rule("U10")
def test_writing_by_index_gives_the_value_its_gradient(torch: Any) -> None:
    x, v = leaf(torch, 1.0, 2.0), leaf(torch, 5.0)
    y = x * 1
    y[0] = v
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert (y.tolist(), y._version) == ([5.0, 2.0], 1)
    y.sum().backward()
    assert (x.grad.tolist(), v.grad.item()) == ([0.0, 1.0], 1.0)


WRITTEN: list[tuple[Any, str]] = [
    (0, "CopySlices"),
    ((0, 1), "CopySlices"),
    (slice(0, 1), "CopySlices"),
    ((slice(None), 1), "CopySlices"),
    (None, "CopySlices"),
    (True, "CopySlices"),
    (slice(None), "FillBackward3"),
    (..., "FillBackward3"),
    ([0, 1], "IndexPutBackward0"),
    ((slice(None), [0, 0]), "IndexPutBackward0"),
    ((0, [0, 1]), "CopySlices"),
]


@pytest.mark.parametrize(("index", "node"), WRITTEN)
def test_write_has_torchs_node_and_gradient(torch: Any, index: Any, node: str) -> None:
    x, v = torch.tensor(ROWS, requires_grad=True), torch.tensor(7.0, requires_grad=True)
    y = x * 1
    y[index] = v
    expected = np.array(ROWS)
    expected[index] = 7.0
    assert y.tolist() == expected.tolist()
    assert (type(y.grad_fn).__name__, y._version) == (node, 1)
    weights = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    (y * weights).sum().backward()
    left = np.array(weights.tolist())
    left[index] = 0
    assert x.grad.tolist() == left.tolist()
    # What is written twice counts twice.
    written = np.array(weights.tolist())[index].sum()
    assert v.grad.item() == written


def test_write_stretches_casts_and_refuses_as_torch_does(torch: Any) -> None:
    x = torch.zeros(2, 3)
    x[:, 1:] = torch.tensor([[[1.0, 2.0]]])
    x[0] = torch.tensor([7], dtype=torch.int64)
    assert x.tolist() == [[7.0, 7.0, 7.0], [0.0, 1.0, 2.0]]
    whole = torch.tensor([1, 2])
    whole[0] = 2.7
    assert whole.tolist() == [2, 2]
    x[False] = 9.0
    assert x[0, 0].item() == 7.0
    says = "The expanded size of the tensor (2) must match the existing size (3)"
    with raises(torch, errors.ShapeError, says):
        x[:, 1:] = torch.ones(3)
    with raises(torch, errors.ShapeError, "shape mismatch: value tensor of shape [3]"):
        x[[0, 1], [0, 1]] = torch.ones(3)
    with raises(torch, errors.ArgumentTypeError, "can't assign a str to a"):
        x[0] = "a"
    says = "Index put requires the source and destination dtypes match"
    with raises(torch, errors.OperandError, says):
        x[[0]] = torch.ones(1, dtype=torch.float64)


def test_write_into_a_leaf_is_refused_as_every_change(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    for index, what in ((0, "a view of a leaf"), ([0], "a leaf"), (..., "a leaf")):
        with raises(torch, errors.InplaceError, f"{what} Variable that requires grad"):
            x[index] = 5.0
    with torch.no_grad():
        x[0] = 5.0
    assert (x.tolist(), x._version, x.is_leaf) == ([5.0, 2.0], 1, True)


def test_index_changed_after_reading_is_noticed(torch: Any) -> None:
    x, rows = torch.tensor(ROWS, requires_grad=True), torch.tensor([0, 1])
    y = x[rows].sum()
    rows[0] = 1
    with raises(torch, errors.SavedModifiedError, "modified by an inplace operation"):
        y.backward()


def test_iterating_gives_views_of_one_node(torch: Any) -> None:
    x = torch.tensor(ROWS, requires_grad=True)
    first, second = x
    assert first.grad_fn is second.grad_fn
    assert (type(first.grad_fn).__name__, second.output_nr) == ("UnbindBackward0", 1)
    assert second._base is x
    (second * 3).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3, [3.0] * 3]


@pytest.mark.rule("U11")
@pytest.mark.parametrize(
    ("pieces", "name"),
    [
        (lambda x: x.unbind(), "Unbind"),
        (lambda x: x.split(1), "Split"),
        (lambda x: x.split([1, 1]), "SplitWithSizes"),
        (lambda x: x.chunk(2), "Split"),
    ],
)
def test_one_of_several_views_refuses_a_change(
    torch: Any, pieces: Any, name: str
) -> None:
    x = torch.tensor(ROWS, requires_grad=True) * 1
    one = pieces(x)[1]
    says = f"Output 1 of {name} is a view and is being modified inplace. This view is "
    says += "the output of a function that returns multiple views."
    with raises(torch, errors.InplaceError, says):
        one.mul_(2)
    x.mul_(2)
    says = f"Output 1 of {name} is a view and its base or another view of its base has "
    with raises(torch, errors.InplaceError, says):
        one * 2


PIECES: list[tuple[Any, list[int]]] = [
    (lambda x: x.split(2), [2, 2, 1]),
    (lambda x: x.split(7), [5]),
    (lambda x: x.split([4, 0, 1]), [4, 0, 1]),
    (lambda x: x.chunk(2), [3, 2]),
    (lambda x: x.chunk(4), [2, 2, 1]),
    (lambda x: x.chunk(9), [1, 1, 1, 1, 1]),
    (lambda x: x.unsqueeze(0).split(2, dim=1), [2, 2, 1]),
    (lambda x: x[5:].split(1), [0]),
]


@pytest.mark.parametrize(("pieces", "sizes"), PIECES)
def test_pieces_have_torchs_lengths_and_slopes(
    torch: Any, pieces: Any, sizes: list[int]
) -> None:
    x = torch.arange(5.0, requires_grad=True)
    found = pieces(x)
    assert [one.numel() for one in found] == sizes
    sum([(one * (i + 1)).sum() for i, one in enumerate(found)]).backward()
    expected = [float(i + 1) for i, size in enumerate(sizes) for _ in range(size)]
    assert x.grad.tolist() == (expected or [0.0] * 5)


def test_picked_elements_are_differentiable_twice(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    y = x[[0, 0, 1]]
    (first,) = torch.autograd.grad((y * y * y).sum(), x, create_graph=True)
    assert first.tolist() == [6.0, 12.0]
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [12.0, 12.0]


SHAPED: list[tuple[Any, tuple[int, ...], str]] = [
    (lambda x: x.squeeze(), (2, 3), "SqueezeBackward0"),
    (lambda x: x.squeeze(0), (2, 1, 3), "SqueezeBackward1"),
    (lambda x: x.squeeze((0, 2)), (2, 3), "SqueezeBackward2"),
    (lambda x: x.unsqueeze(-1), (1, 2, 1, 3, 1), "UnsqueezeBackward0"),
    (lambda x: x.movedim(1, 3), (1, 1, 3, 2), "PermuteBackward0"),
    (lambda x: x.flatten(1), (1, 6), "ViewBackward0"),
    (lambda x: x.narrow(3, 1, 2), (1, 2, 1, 2), "SliceBackward0"),
    (lambda x: x.select(-1, 0), (1, 2, 1), "SelectBackward0"),
    (lambda x: x.diagonal(0, 1, 3), (1, 1, 2), "DiagonalBackward0"),
    (lambda x: x.unflatten(3, (3, 1)), (1, 2, 1, 3, 1), "ViewBackward0"),
    (lambda x: x.swapaxes(1, 3), (1, 3, 1, 2), "TransposeBackward0"),
]


@pytest.mark.parametrize(("use", "shape", "name"), SHAPED)
def test_view_operation_has_torchs_shape_and_node(
    torch: Any, use: Any, shape: tuple[int, ...], name: str
) -> None:
    x = torch.ones(1, 2, 1, 3, requires_grad=True)
    y = use(x)
    assert (tuple(y.shape), type(y.grad_fn).__name__) == (shape, name)
    assert y._base is x


def test_view_operations_change_their_base(torch: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    y.diagonal().mul_(5)
    y.t()[2].fill_(0)
    assert y.tolist() == [[5.0, 1.0, 0.0], [1.0, 5.0, 0.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[5.0, 1.0, 0.0], [1.0, 5.0, 0.0]]


def test_index_put_adds_or_replaces(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    values = leaf(torch, 5.0, 6.0)
    twice = (torch.tensor([0, 0]),)
    added = x.index_put(twice, values, accumulate=True)
    assert added.tolist() == [12.0, 2.0]
    (added * torch.tensor([3.0, 4.0])).sum().backward()
    assert (x.grad.tolist(), values.grad.tolist()) == ([3.0, 4.0], [3.0, 3.0])
    y = x * 1
    y.index_put_((torch.tensor([1]),), torch.tensor(9.0, dtype=torch.float64))
    assert (y.tolist(), type(y.grad_fn).__name__) == ([1.0, 9.0], "IndexPutBackward0")


def test_reading_and_writing_by_index_is_mapped_over_examples(torch: Any) -> None:
    def program(row: Any) -> Any:
        changed = row * 0
        changed[0] = row[1] * 2
        changed[1:] = row[:2]
        first, *_ = row.split(2)
        return changed.sum() + first.sum() + row[[0, 0]].sum() + row.unsqueeze(0)[0, 2]

    rows = torch.tensor(ROWS)
    assert torch.func.vmap(program)(rows).tolist() == [15.0, 42.0]
    slopes = torch.func.vmap(torch.func.grad(program))(rows)
    assert slopes.tolist() == [[4.0, 4.0, 1.0], [4.0, 4.0, 1.0]]


def test_range_picks_like_a_list(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    chosen = x[range(2), torch.tensor([2, 0])]
    assert chosen.tolist() == [3.0, 4.0]
    assert x[range(1, 2)].tolist() == [[4.0, 5.0, 6.0]]
    assert x[range(0)].shape == (0, 3)
    chosen.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    y = torch.zeros(3)
    y[range(0, 3, 2)] = 1.0
    assert y.tolist() == [1.0, 0.0, 1.0]


def test_split_with_sizes_is_split_by_a_list(torch: Any) -> None:
    x = torch.arange(5.0).requires_grad_(True)
    for pieces in (x.split_with_sizes([2, 3]), torch.split_with_sizes(x, (2, 3), 0)):
        assert isinstance(pieces, tuple)
        assert [piece.tolist() for piece in pieces] == [[0.0, 1.0], [2.0, 3.0, 4.0]]
        assert pieces[1].grad_fn.name() == "SplitWithSizesBackward0"
    says = "split_with_sizes expects split_sizes to sum exactly to 5"
    with raises(torch, errors.ShapeError, says):
        x.split_with_sizes([2, 2])
    says = "argument 'split_sizes' (position 1) must be tuple of ints, not int"
    with raises(torch, errors.ArgumentTypeError, says):
        x.split_with_sizes(2)
