"""Layer norm, batch norm, dropout, embedding; tests/parity runs all with torch."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.func import vmap
from tests.engine.support import raises


def normal(torch: Any, *shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    """Normal numbers that require grad, the same with either module."""
    values = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    return torch.tensor(values, requires_grad=True)


def both_derivatives(torch: Any, function: Any, *inputs: Any) -> None:
    """First and second derivatives are the slopes that small differences measure."""
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_layer_norm_by_hand(torch: Any) -> None:
    layer = torch.nn.LayerNorm(2, eps=0.0)
    layer.load_state_dict(
        {"weight": torch.tensor([2.0, 3.0]), "bias": torch.tensor([0.5, 0.0])}
    )
    y = layer(torch.tensor([[1.0, 3.0], [8.0, 4.0]]))
    np.testing.assert_allclose(y.detach().numpy(), [[-1.5, 3.0], [2.5, -3.0]], 1e-6)
    y.sum().backward()
    np.testing.assert_allclose(layer.weight.grad.numpy(), [0.0, 0.0], atol=1e-6)
    assert layer.bias.grad.tolist() == [2.0, 2.0]


def test_layer_norm_without_rows(torch: Any) -> None:
    layer = torch.nn.LayerNorm(3)
    x = torch.zeros(0, 3, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.shape == (0, 3)
    assert layer.weight.grad.tolist() == [0.0, 0.0, 0.0]


def test_layer_norm_refuses_in_torchs_words(torch: Any) -> None:
    norm, x = torch.nn.functional.layer_norm, torch.ones(3, 4)
    says = "Given normalized_shape=[3], expected input with shape [*, 3], but got input"
    with raises(torch, errors.ShapeError, f"{says} of size[3, 4]"):
        norm(x, (3,))
    with raises(torch, errors.ShapeError, "to be at least 1-dimensional"):
        norm(x, ())
    with raises(torch, errors.ArgumentTypeError, "must be tuple of ints, not int"):
        norm(x, 4)
    with raises(torch, errors.ShapeError, "Expected weight to be of same shape as nor"):
        norm(x, (4,), torch.ones(3))
    with raises(torch, errors.ShapeError, "Expected bias to be of same shape as norma"):
        norm(x, (4,), None, torch.ones(3))
    with raises(
        torch, errors.OperandError, "mixed dtype (CPU): expect parameter to ha"
    ):
        norm(x, (4,), torch.ones(4, dtype=torch.float64))
    with raises(torch, errors.UnsupportedOptionError, '"LayerNormKernelImpl" not impl'):
        norm(torch.tensor([1, 2]), (2,))


def test_batch_norm_measures_while_it_is_trained(torch: Any) -> None:
    layer = torch.nn.BatchNorm1d(1, eps=1e-12)
    x = torch.tensor([[1.0], [3.0]])
    np.testing.assert_allclose(layer(x).detach().numpy(), [[-1.0], [1.0]], 1e-6)
    assert layer.running_mean.item() == pytest.approx(0.2)
    assert layer.running_var.item() == pytest.approx(0.9 + 0.1 * 2.0)
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    before = layer.running_mean.item()
    wanted = (np.array([[1.0], [3.0]]) - 0.2) / np.sqrt(1.1)
    np.testing.assert_allclose(layer(x).detach().numpy(), wanted, rtol=1e-6)
    assert layer.running_mean.item() == before
    assert layer.num_batches_tracked.item() == 1


def test_batch_norm_without_momentum_takes_the_mean_of_all(torch: Any) -> None:
    layer = torch.nn.BatchNorm1d(1, momentum=None)
    for values in ([[1.0], [3.0]], [[4.0], [8.0]]):
        layer(torch.tensor(values))
    assert layer.running_mean.item() == 4.0
    assert layer.running_var.item() == pytest.approx((2.0 + 8.0) / 2)


def test_batch_norm_without_statistics_measures_always(torch: Any) -> None:
    layer = torch.nn.BatchNorm1d(1, track_running_stats=False).eval()
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    y = layer(torch.tensor([[1.0], [3.0]]))
    assert np.allclose(y.detach().numpy(), [[-1.0], [1.0]], atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", [(4, 2), (2, 2, 3), (2, 2, 1, 2)])
def test_batch_norm_has_both_derivatives(
    torch: Any, training: bool, affine: bool, shape: Any
) -> None:
    x = normal(torch, *shape)
    parameters = [normal(torch, 2, seed=i) for i in (1, 2)] if affine else []
    mean = torch.tensor([0.5, -1.0], dtype=torch.float64)
    statistics = (mean, mean**2 + 1)

    def norm(x: Any, *more: Any) -> Any:
        kept = [one.clone() for one in statistics]
        return torch.nn.functional.batch_norm(x, *kept, *more, training=training)

    both_derivatives(torch, norm, x, *parameters)


def test_batch_norm_refuses_in_torchs_words(torch: Any) -> None:
    norm, nn = torch.nn.functional.batch_norm, torch.nn
    x, mean, var = torch.ones(3, 4), torch.zeros(4), torch.ones(4)
    with raises(
        torch, errors.ArgumentValueError, "Expected more than 1 value per chan"
    ):
        norm(x[:1], mean, var, training=True)
    with raises(
        torch, errors.OperandError, "running_mean must be defined in evaluatio"
    ):
        norm(x, None, None)
    says = "running_mean should contain 4 elements not 3"
    with raises(torch, errors.ShapeError, says):
        norm(x, torch.zeros(3), var)
    with raises(torch, errors.ShapeError, "weight should contain 4 elements not 3"):
        norm(x, mean, var, torch.ones(3))
    with raises(torch, errors.OperandError, "mixed dtype (CPU): all inputs must share"):
        norm(x.double(), mean, var)
    with raises(torch, errors.ArgumentValueError, "batch_norm eps must be positive du"):
        norm(x, mean, var, training=True, eps=0.0)
    says = "'native_batch_norm' is not differentiable with respect to argument 'running"
    with raises(torch, errors.DerivativeMissingError, says):
        norm(x, torch.zeros(4, requires_grad=True), var, training=True)
    with raises(torch, errors.ArgumentValueError, "expected 2D or 3D input (got 4D"):
        nn.BatchNorm1d(4)(torch.ones(1, 4, 2, 2))
    with raises(torch, errors.ArgumentValueError, "expected 4D input (got 2D input)"):
        nn.BatchNorm2d(4)(x)


def test_batch_norm_under_vmap_cannot_move_its_statistics() -> None:
    layer = minigrad.nn.BatchNorm1d(2)
    with pytest.raises(errors.TransformError, match="Batch norm got a batched tensor"):
        vmap(layer)(minigrad.ones(3, 4, 2))
    alone = minigrad.nn.BatchNorm1d(2, track_running_stats=False)
    x = minigrad.randn(3, 4, 2)
    wanted = [alone(one).tolist() for one in x]
    np.testing.assert_allclose(vmap(alone)(x).detach().numpy(), wanted, rtol=1e-6)


def test_dropout_drops_its_share_and_keeps_the_mean(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.ones(100, 100, requires_grad=True)
    y = torch.nn.Dropout(0.25)(x)
    assert y.grad_fn.name() == "MulBackward0"
    assert (y == 0).sum().item() == pytest.approx(2500, abs=150)
    kept = y[y != 0]
    np.testing.assert_allclose(kept.detach().numpy(), 4 / 3, rtol=1e-6)
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_dropout_follows_the_seed(torch: Any) -> None:
    dropped = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        once = torch.nn.functional.dropout(torch.ones(1000))
        again = torch.nn.functional.dropout(torch.ones(1000))
        assert not torch.equal(once, again)
        dropped.append(once)
    assert torch.equal(dropped[0], dropped[1])
    agree = (dropped[0] == dropped[2]).sum().item()
    assert agree == pytest.approx(500, abs=100)


def test_dropout_where_nothing_is_random(torch: Any) -> None:
    x = torch.tensor([1.0, -2.0])
    dropout = torch.nn.functional.dropout
    assert dropout(x, training=False) is x
    assert dropout(x, 0.0) is x
    assert dropout(x, 1.0).tolist() == [0.0, 0.0]
    assert torch.nn.Dropout().eval()(x) is x


def test_dropout_in_place(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.ones(100)
    assert torch.nn.Dropout(0.5, inplace=True)(x) is x
    assert sorted(set(x.tolist())) == [0.0, 2.0]
    assert torch.nn.functional.dropout(x, 1.0, inplace=True) is x
    assert x.sum().item() == 0.0


def test_dropout_has_both_derivatives(torch: Any) -> None:
    def dropped(x: Any) -> Any:
        torch.manual_seed(5)
        return torch.nn.functional.dropout(x) * x

    both_derivatives(torch, dropped, normal(torch, 3, 4))


@pytest.mark.parametrize("p", [-0.1, 1.5])
def test_dropout_refuses_what_is_no_probability(torch: Any, p: float) -> None:
    says = f"dropout probability has to be between 0 and 1, but got {p}"
    with raises(torch, errors.ArgumentValueError, says):
        torch.nn.functional.dropout(torch.ones(2), p)
    with raises(torch, errors.ArgumentValueError, says):
        torch.nn.Dropout(p)


def test_dropout_refuses_integers(torch: Any) -> None:
    with raises(torch, errors.OperandError, "can't be cast to the desired output type"):
        torch.nn.functional.dropout(torch.tensor([1, 2]))


def test_dropout_under_vmap_is_as_random_as_it_says() -> None:
    x = minigrad.ones(2, 1000)
    dropout = minigrad.nn.functional.dropout
    with pytest.raises(errors.TransformError, match="random operation while in random"):
        vmap(dropout)(x)
    first, second = vmap(dropout, randomness="different")(x)
    assert not minigrad.equal(first, second)
    first, second = vmap(dropout, randomness="same")(x)
    assert minigrad.equal(first, second)
    assert (first == 0).sum().item() == pytest.approx(500, abs=100)


def test_dropout_is_computed_again_in_a_checkpoint(torch: Any) -> None:
    from minigrad.utils import checkpoint as ours

    checkpoint = ours.checkpoint
    if torch is not minigrad:
        checkpoint = torch.utils.checkpoint.checkpoint
    x = torch.ones(1000, requires_grad=True)
    y = checkpoint(torch.nn.functional.dropout, x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_embedding_adds_up_the_gradients_of_a_word(torch: Any) -> None:
    layer = torch.nn.Embedding(3, 2, padding_idx=1)
    assert layer.weight[1].tolist() == [0.0, 0.0]
    y = layer(torch.tensor([[2, 1], [2, 0]]))
    assert y.shape == (2, 2, 2)
    assert y[0, 0].tolist() == y[1, 0].tolist() == layer.weight[2].tolist()
    y.sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]


@pytest.mark.parametrize("padding", [None, 0, -1])
def test_row_of_the_padding_gets_no_gradient(torch: Any, padding: int | None) -> None:
    words = torch.tensor([[2, 1, 1], [2, 0, 1]])
    embedding = torch.nn.functional.embedding
    weight = normal(torch, 3, 2)
    (embedding(words, weight, padding) ** 2).sum().backward()
    wanted = 2 * weight.detach().numpy() * np.array([[1], [3], [2]])
    if padding is not None:
        wanted[padding] = 0
    np.testing.assert_allclose(weight.grad.numpy(), wanted)


def test_embedding_of_one_number_and_of_none(torch: Any) -> None:
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    embedding = torch.nn.functional.embedding
    assert embedding(torch.tensor(1), weight).tolist() == [3.0, 4.0]
    none = embedding(torch.zeros(0, dtype=torch.int64), weight)
    none.sum().backward()
    assert none.shape == (0, 2)
    assert weight.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_embedding_that_was_learned_before(torch: Any) -> None:
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    frozen = torch.nn.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad
    assert frozen(torch.tensor([1])).tolist() == [[3.0, 4.0]]
    assert torch.nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    with raises(torch, errors.ArgumentAssertionError, "expected to be 2-dimensional"):
        torch.nn.Embedding.from_pretrained(table[0])


def test_embedding_refuses_in_torchs_words(torch: Any) -> None:
    embedding, weight = torch.nn.functional.embedding, torch.ones(3, 2)
    for wrong in (3, -1):
        with raises(torch, errors.IndexingError, "index out of range in self"):
            embedding(torch.tensor([wrong]), weight)
    with raises(torch, errors.OperandError, "argument #1 'indices' to have one of the"):
        embedding(torch.tensor([1.0]), weight)
    with raises(torch, errors.ShapeError, "'weight' must be 2-D"):
        embedding(torch.tensor([1]), weight[0])
    for wrong in (3, -4):
        says = "Padding_idx must be within num_embeddings"
        with raises(torch, errors.ArgumentAssertionError, says):
            embedding(torch.tensor([1]), weight, wrong)
        with raises(torch, errors.ArgumentAssertionError, says):
            torch.nn.Embedding(3, 2, padding_idx=wrong)
