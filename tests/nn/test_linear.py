"""The linear layer, and how its parameters begin."""

import math
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import raises


def test_linear_multiplies_and_adds(torch: Any) -> None:
    layer = torch.nn.Linear(2, 1)
    layer.load_state_dict(
        {"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([0.5])}
    )
    y = layer(torch.tensor([[1.0, 2.0]]))
    assert y.tolist() == [[11.5]]
    y.sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 2.0]]
    assert layer.bias.grad.tolist() == [1.0]


@pytest.mark.parametrize("shape", [(2,), (4, 2), (5, 4, 2)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_works_along_the_last_dimension(
    torch: Any, shape: tuple[int, ...], bias: bool
) -> None:
    layer = torch.nn.Linear(2, 3, bias=bias)
    x = torch.randn(shape)
    wanted = x.numpy() @ layer.weight.detach().numpy().T
    if layer.bias is not None:
        wanted = wanted + layer.bias.detach().numpy()
    assert torch.allclose(layer(x), torch.from_numpy(wanted))


def test_linear_starts_within_its_bounds(torch: Any) -> None:
    layer = torch.nn.Linear(100, 50, dtype=torch.float64)
    for parameter in layer.parameters():
        assert parameter.dtype == torch.float64
        assert 0.08 < parameter.abs().max().item() <= 0.1


def test_linear_of_nothing_starts_at_zero() -> None:
    # torch says so too, and warns that the weight has no elements.
    assert minigrad.nn.Linear(0, 2).bias.tolist() == [0.0, 0.0]


def test_linear_of_the_wrong_length_says_both(torch: Any) -> None:
    with raises(torch, errors.ShapeError, "mat1 and mat2 shapes cannot be multiplied"):
        torch.nn.Linear(2, 3)(torch.ones(4, 3))


def test_first_values_depend_on_the_seed_alone(torch: Any) -> None:
    layers = []
    for _ in range(2):
        torch.manual_seed(3)
        layers.append(torch.nn.Linear(3, 2))
    assert torch.equal(layers[0].weight, layers[1].weight)


@pytest.mark.parametrize("kind", ["uniform_", "normal_"])
@pytest.mark.parametrize(
    ("family", "deviation"),
    [("xavier", math.sqrt(2 / 500)), ("kaiming", math.sqrt(2 / 400))],
)
def test_initial_values_have_their_spread(
    torch: Any, family: str, kind: str, deviation: float
) -> None:
    weight = torch.nn.Parameter(torch.empty(100, 400))
    assert getattr(torch.nn.init, f"{family}_{kind}")(weight) is weight
    assert weight.std().item() == pytest.approx(deviation, rel=0.03)


def test_spread_by_the_outputs_and_by_the_activation(torch: Any) -> None:
    weight = torch.empty(100, 400)
    torch.nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="tanh")
    assert weight.std().item() == pytest.approx(5 / 3 / 10, rel=0.03)


def test_constants(torch: Any) -> None:
    weight = torch.nn.Parameter(torch.empty(2))
    assert torch.nn.init.ones_(weight).tolist() == [1.0, 1.0]
    assert torch.nn.init.zeros_(weight).tolist() == [0.0, 0.0]
    assert weight.grad_fn is None


def test_initial_values_that_cannot_be_computed(torch: Any) -> None:
    init, weight = torch.nn.init, torch.ones(2, 2)
    with raises(torch, errors.ArgumentValueError, "fewer than 2 dimensions"):
        init.kaiming_uniform_(weight[0])
    with raises(torch, errors.ArgumentValueError, "Mode fan not supported"):
        init.kaiming_uniform_(weight, mode="fan")
    with raises(torch, errors.ArgumentValueError, "Unsupported nonlinearity step"):
        init.calculate_gain("step")


def test_reduction_that_does_not_exist(torch: Any) -> None:
    x = torch.ones(2)
    with raises(torch, errors.ArgumentValueError, "max is not a valid value for red"):
        torch.nn.functional.mse_loss(x, x, reduction="max")


@pytest.mark.parametrize(
    ("reduction", "loss"), [("mean", 2.5), ("sum", 5.0), ("none", [1.0, 4.0])]
)
def test_squared_error(torch: Any, reduction: str, loss: Any) -> None:
    x, y = torch.tensor([1.0, 5.0]), torch.tensor([2.0, 3.0])
    assert torch.nn.functional.mse_loss(x, y, reduction=reduction).tolist() == loss


def test_gradients_of_a_layer_by_hand(torch: Any) -> None:
    x, y = torch.ones(5), torch.zeros(3)
    w = torch.zeros(5, 3, requires_grad=True)
    b = torch.zeros(3, requires_grad=True)
    z = torch.matmul(x, w) + b
    loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
    assert type(loss.grad_fn).__name__ == "BinaryCrossEntropyWithLogitsBackward0"
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2))
    assert b.grad.tolist() == pytest.approx([1 / 6] * 3)
    assert torch.allclose(w.grad, torch.full((5, 3), 1 / 6))


def test_target_for_each_score(torch: Any) -> None:
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    with raises(torch, errors.ArgumentValueError, "must be the same as input size"):
        loss(torch.ones(2), torch.ones(2, 1))
    assert loss(torch.zeros(2), torch.ones(2), reduction="none").shape == (2,)


@pytest.mark.parametrize(
    ("shape", "with_bias", "name"),
    [
        ((4, 2), True, "AddmmBackward0"),
        ((4, 2), False, "MmBackward0"),
        ((5, 4, 2), True, "ViewBackward0"),
        ((5, 4, 2), False, "UnsafeViewBackward0"),
    ],
)
def test_node_of_a_linear_layer_has_the_name_of_torchs_last(
    torch: Any, shape: tuple[int, ...], with_bias: bool, name: str
) -> None:
    layer = torch.nn.Linear(2, 3, bias=with_bias)
    assert layer(torch.ones(shape)).grad_fn.name() == name


def test_bias_gets_its_gradient_before_the_weight(torch: Any) -> None:
    layer = torch.nn.Linear(2, 3)
    order = []
    for name, parameter in layer.named_parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda _, name=name: order.append(name)
        )
    layer(torch.ones(4, 2)).sum().backward()
    assert order == ["bias", "weight"]


def test_layer_on_examples_with_weights_of_their_own(torch: Any) -> None:
    linear = torch.nn.functional.linear
    values = [torch.randn(2, 3), torch.randn(2, 4, 5, 3), torch.randn(2, 3, 3)]
    bias, input, weight = values
    for dims in [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0)]:
        given = [
            value if dim == 0 else value[0]
            for value, dim in zip((input, weight, bias), dims, strict=True)
        ]
        together = torch.func.vmap(linear, dims)(*given)
        pairs = list(zip(given, dims, strict=True))
        alone = [
            linear(*[value if dim is None else value[i] for value, dim in pairs])
            for i in range(2)
        ]
        assert torch.allclose(together, torch.stack(alone), atol=1e-6)
