"""Losses and activations of nn; tests/parity runs these programs with torch."""

from typing import Any

import numpy as np
import pytest

from minigrad import errors
from tests.engine.support import raises
from tests.nn.test_normalization import both_derivatives, normal

ALL = -100
"""The class that is left out unless another is named."""


def log_softmax(rows: np.ndarray) -> np.ndarray:
    """Along the second dimension, in plain NumPy."""
    return rows - np.log(np.exp(rows).sum(1, keepdims=True))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(4,), (4, 2), (4, 2, 3)])
def test_cross_entropy_by_hand(
    torch: Any, reduction: str, weighted: bool, smoothing: float, shape: Any
) -> None:
    x = normal(torch, shape[0], 3, *shape[1:])
    classes = np.random.default_rng(1).integers(0, 3, shape)
    classes.flat[1] = 7
    weight = np.array([1.0, 2.0, 0.5]) if weighted else np.ones(3)
    loss = torch.nn.CrossEntropyLoss(
        weight=torch.tensor(weight) if weighted else None,
        ignore_index=7,
        reduction=reduction,
        label_smoothing=smoothing,
    )
    target = torch.tensor(classes)

    logs = log_softmax(x.detach().numpy())
    counted = classes != 7
    safe = np.where(counted, classes, 0)
    share = np.moveaxis(np.eye(3)[safe], -1, 1) * (1 - smoothing) + smoothing / 3
    lined_up = weight.reshape(1, 3, *[1] * (len(shape) - 1))
    losses = -(logs * share * lined_up).sum(1) * counted
    number = (weight[safe] * counted).sum()
    wanted = {"none": losses, "mean": losses.sum() / number, "sum": losses.sum()}
    np.testing.assert_allclose(loss(x, target).detach().numpy(), wanted[reduction])
    if len(shape) < 3:
        both_derivatives(torch, lambda x: loss(x, target), x)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_of_probabilities_by_hand(
    torch: Any, reduction: str, smoothing: float
) -> None:
    x, chances = normal(torch, 2, 3), normal(torch, 2, 3, seed=1)
    weight = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
    loss = torch.nn.CrossEntropyLoss(
        weight, reduction=reduction, label_smoothing=smoothing
    )
    share = chances.detach().numpy() * (1 - smoothing) + smoothing / 3
    losses = -(log_softmax(x.detach().numpy()) * share * weight.numpy()).sum(1)
    wanted = {"none": losses, "mean": losses.mean(), "sum": losses.sum()}
    got = loss(x, chances)
    np.testing.assert_allclose(got.detach().numpy(), wanted[reduction])
    both_derivatives(torch, loss, x, chances)


def test_cross_entropy_is_nll_of_log_softmax(torch: Any) -> None:
    x, target = normal(torch, 4, 3), torch.tensor([0, 2, 1, 1])
    logs = torch.nn.LogSoftmax(dim=1)(x)
    loss = torch.nn.functional.cross_entropy(x, target)
    assert loss.item() == torch.nn.NLLLoss()(logs, target).item()
    assert loss.grad_fn.name() == "NllLossBackward0"
    assert loss.grad_fn.next_functions[0][0].name() == "LogSoftmaxBackward0"


def test_cross_entropy_survives_large_scores(torch: Any) -> None:
    x = torch.tensor([[0.0, 1e30], [-1e30, 0.0]], requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, torch.tensor([1, 1]))
    loss.backward()
    assert loss.item() == 0.0
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_ignored_rows_have_no_slope_even_where_infinite(torch: Any) -> None:
    x = torch.tensor([[0.5, 1.0], [-np.inf, 0.0]], requires_grad=True)
    loss = torch.nn.functional.nll_loss(x, torch.tensor([0, 5]), ignore_index=5)
    loss.backward()
    assert loss.item() == -0.5
    assert x.grad.tolist() == [[-1.0, 0.0], [0.0, 0.0]]


def test_mean_of_no_example_is_nan(torch: Any) -> None:
    nll = torch.nn.functional.nll_loss
    assert nll(torch.ones(2, 3), torch.tensor([ALL, ALL])).isnan().item()
    none = torch.zeros(0, dtype=torch.int64)
    assert nll(torch.ones(0, 3), none).isnan().item()
    assert nll(torch.ones(0, 3), none, reduction="sum").item() == 0.0


REFUSED = [
    ((3, 4), [0, 1], {}, errors.ArgumentValueError, "Expected input batch_size (3) to"),
    ((), 0, {}, errors.ArgumentValueError, "Expected 1 or more dimensions (got 0)"),
    ((3, 4), [0, 1, 7], {}, errors.IndexingError, "Target 7 is out of bounds."),
    ((3, 4), [0, 1, -1], {}, errors.IndexingError, "Target -1 is out of bounds."),
    ((3, 4), [[0], [1], [2]], {}, errors.ShapeError, "multi-target not supported"),
    (
        (1, 4, 2),
        [[0]],
        {},
        errors.ShapeError,
        "Expected target size [1, 2], got [1, 1]",
    ),
    ((1, 4, 2, 1), [[0]], {}, errors.ShapeError, "only batches of spatial targets sup"),
    ((1, 4, 2, 1), [[[0]]], {}, errors.ShapeError, "size mismatch (got input: [1, 4, "),
    ((3, 4), [0.0, 1.0, 2.0], {}, errors.OperandError, "expected target dtype to be L"),
    (
        (3, 4),
        [0, 1, 2],
        {"weight": 3},
        errors.ShapeError,
        "weight tensor should be defined either for all 4 classes or no classes but "
        "got weight tensor of shape: [3]",
    ),
    (
        (3, 4),
        [0, 1, 2],
        {"reduction": "max"},
        errors.ArgumentValueError,
        "max is not a valid value for reduction",
    ),
]


@pytest.mark.parametrize(("shape", "target", "options", "kind", "says"), REFUSED)
def test_nll_loss_refuses_in_torchs_words(
    torch: Any, shape: Any, target: Any, options: Any, kind: Any, says: str
) -> None:
    given = dict(options)
    if "weight" in given:
        given["weight"] = torch.ones(given["weight"])
    with raises(torch, kind, says):
        torch.nn.functional.nll_loss(torch.ones(shape), torch.tensor(target), **given)


def test_nll_loss_has_no_slope_in_its_weight(torch: Any) -> None:
    x, target = torch.ones(2, 3), torch.tensor([0, 1])
    weight = torch.ones(3, requires_grad=True)
    says = "'nll_loss_forward' is not differentiable with respect to argument 'weight'"
    with raises(torch, errors.DerivativeMissingError, says):
        torch.nn.functional.nll_loss(x, target, weight)
    wide = torch.ones(3, dtype=torch.float64)
    with raises(torch, errors.OperandError, "expected scalar type "):
        torch.nn.functional.nll_loss(x, target, wide)
    with raises(torch, errors.UnsupportedOptionError, '"nll_loss_out_frame" not impl'):
        torch.nn.functional.nll_loss(torch.tensor([[1, 2]]), torch.tensor([0]))


def test_cross_entropy_refuses_in_torchs_words(torch: Any) -> None:
    loss, x = torch.nn.functional.cross_entropy, torch.ones(2, 3)
    target, chances = torch.tensor([0, 1]), torch.ones(2, 3)
    with raises(torch, errors.OperandError, "label_smoothing must be between 0.0 and"):
        loss(x, target, label_smoothing=1.5)
    with raises(torch, errors.OperandError, "Expected floating point type for target"):
        loss(x, torch.ones(2, 3, dtype=torch.int64))
    with raises(torch, errors.OperandError, "ignore_index is not supported for float"):
        loss(x, chances, ignore_index=1)
    with raises(torch, errors.ShapeError, "cross_entropy: weight tensor should be def"):
        loss(x, chances, torch.ones(2))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_binary_cross_entropy_with_weights(torch: Any, reduction: str) -> None:
    x, t = normal(torch, 2, 3), normal(torch, 2, 3, seed=1)
    weight = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
    positive = torch.tensor([3.0, 1.0, 0.25], dtype=torch.float64)
    loss = torch.nn.BCEWithLogitsLoss(
        weight=weight, pos_weight=positive, reduction=reduction
    )
    s, y = x.detach().numpy(), t.detach().numpy()
    parts = positive.numpy() * y * np.logaddexp(0, -s) + (1 - y) * np.logaddexp(0, s)
    parts = parts * weight.numpy()
    wanted = {"none": parts, "mean": parts.mean(), "sum": parts.sum()}
    np.testing.assert_allclose(loss(x, t).detach().numpy(), wanted[reduction])
    both_derivatives(torch, loss, x, t)


@pytest.mark.parametrize("name", ["weight", "pos_weight"])
def test_binary_cross_entropy_has_no_slope_in_its_weights(
    torch: Any, name: str
) -> None:
    x = torch.ones(3)
    says = f"is not differentiable with respect to argument '{name}'"
    with raises(torch, errors.DerivativeMissingError, says):
        torch.nn.functional.binary_cross_entropy_with_logits(
            x, x, **{name: torch.ones(3, requires_grad=True)}
        )


LOSSES = ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_differences_warn_of_another_shape(torch: Any, name: str) -> None:
    loss = getattr(torch.nn, name)()
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.warns(UserWarning, match="Using a target size .* that is different"):
        got = loss(x, torch.zeros(3))
    got.backward()
    wanted = {"MSELoss": 1 / 3, "L1Loss": 1 / 6, "SmoothL1Loss": 1 / 6}
    np.testing.assert_allclose(x.grad.numpy(), wanted.get(name, 1 / 6), rtol=1e-6)


def test_losses_of_differences_that_do_not_broadcast(torch: Any) -> None:
    says = "The size of tensor a (3) must match the size of tensor b (2)"
    warns = pytest.warns(UserWarning, match="Using a target size")
    with warns, raises(torch, errors.ShapeError, says):
        torch.nn.functional.mse_loss(torch.ones(2, 3), torch.ones(2))


def test_rounding_off_has_its_width(torch: Any) -> None:
    x, y = torch.tensor([0.5, 3.0]), torch.zeros(2)
    nn = torch.nn
    assert nn.HuberLoss(delta=2.0, reduction="none")(x, y).tolist() == [0.125, 4.0]
    assert nn.SmoothL1Loss(beta=2.0, reduction="sum")(x, y).item() == 0.0625 + 2.0
    assert nn.SmoothL1Loss(beta=0.0)(x, y).item() == 1.75
    assert nn.L1Loss(reduction="sum")(x, y).item() == 3.5
    with raises(torch, errors.OperandError, "does not support negative values for be"):
        nn.SmoothL1Loss(beta=-1.0)(x, y)
    with raises(torch, errors.OperandError, "does not support non-positive values for"):
        nn.HuberLoss(delta=0.0)(x, y)


def test_losses_of_differences_refuse_integers(torch: Any) -> None:
    with raises(torch, errors.UnsupportedOptionError, '"mse_cpu" not implemented for'):
        torch.nn.functional.mse_loss(torch.tensor([1]), torch.tensor([2]))


def test_weights_of_classes_are_buffers(torch: Any) -> None:
    loss = torch.nn.CrossEntropyLoss(weight=torch.ones(3))
    assert list(loss.state_dict()) == ["weight"]
    assert list(torch.nn.NLLLoss().state_dict()) == []
    both = torch.nn.BCEWithLogitsLoss(torch.ones(1), pos_weight=torch.ones(1))
    assert list(both.state_dict()) == ["weight", "pos_weight"]
