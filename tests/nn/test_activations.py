"""Activations of nn, and how all modules print; tests/parity runs torch's."""

from typing import Any

import numpy as np
import pytest

from minigrad import errors
from tests.engine.support import raises

SHOWN = {
    "ReLU()": "ReLU()",
    "ReLU(True)": "ReLU(inplace=True)",
    "SiLU()": "SiLU()",
    "LeakyReLU()": "LeakyReLU(negative_slope=0.01)",
    "LeakyReLU(0.2, True)": "LeakyReLU(negative_slope=0.2, inplace=True)",
    "ELU(inplace=True)": "ELU(alpha=1.0, inplace=True)",
    "Tanh()": "Tanh()",
    "Sigmoid()": "Sigmoid()",
    "GELU()": "GELU(approximate='none')",
    "GELU('tanh')": "GELU(approximate='tanh')",
    "Softmax(1)": "Softmax(dim=1)",
    "LogSoftmax(-1)": "LogSoftmax(dim=-1)",
    "CrossEntropyLoss(torch.ones(3))": "CrossEntropyLoss()",
    "BCEWithLogitsLoss()": "BCEWithLogitsLoss()",
    "LayerNorm(3)": "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)",
    "LayerNorm((2, 3), bias=False)": (
        "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=False)"
    ),
    "BatchNorm2d(3, affine=False)": (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, "
        "track_running_stats=True)"
    ),
    "Dropout(0.2)": "Dropout(p=0.2, inplace=False)",
    "Embedding(3, 2)": "Embedding(3, 2)",
    "Embedding(3, 2, padding_idx=-1)": "Embedding(3, 2, padding_idx=2)",
    "MaxPool2d(3, 2, 1, ceil_mode=True)": (
        "MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=True)"
    ),
    "AvgPool2d((3, 2))": "AvgPool2d(kernel_size=(3, 2), stride=(3, 2), padding=0)",
    "Flatten()": "Flatten(start_dim=1, end_dim=-1)",
    "Conv2d(3, 6, 3)": "Conv2d(3, 6, kernel_size=(3, 3), stride=(1, 1))",
    "Conv2d(4, 6, (3, 2), 2, 1, 2, 2, False)": (
        "Conv2d(4, 6, kernel_size=(3, 2), stride=(2, 2), padding=(1, 1), "
        "dilation=(2, 2), groups=2, bias=False)"
    ),
    "Conv1d(4, 6, 3, padding='same')": (
        "Conv1d(4, 6, kernel_size=(3,), stride=(1,), padding=same)"
    ),
}

VALUES = {
    "ReLU": [0.0, 0.0, 2.0],
    "SiLU": [-0.26894142, 0.0, 1.76159416],
    "LeakyReLU": [-0.01, 0.0, 2.0],
    "ELU": [-0.63212056, 0.0, 2.0],
    "Tanh": [-0.76159416, 0.0, 0.96402758],
    "Sigmoid": [0.26894142, 0.5, 0.88079708],
    "GELU": [-0.15865525, 0.0, 1.95449974],
}


@pytest.mark.parametrize("written", sorted(SHOWN))
def test_modules_print_as_torchs(torch: Any, written: str) -> None:
    module = eval(f"torch.nn.{written}", {"torch": torch})
    assert repr(module) == SHOWN[written]


@pytest.mark.parametrize("name", sorted(VALUES))
def test_activation_by_hand(torch: Any, name: str) -> None:
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    got = getattr(torch.nn, name)()(x)
    np.testing.assert_allclose(got.numpy(), VALUES[name], atol=1e-8)


@pytest.mark.parametrize("name", ["ReLU", "SiLU", "LeakyReLU", "ELU"])
def test_activation_in_place_writes_into_its_input(torch: Any, name: str) -> None:
    kind = getattr(torch.nn, name)
    x = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64, requires_grad=True)
    changed = x * 1
    got = kind(inplace=True)(changed)
    assert got is changed
    assert got.tolist() == kind()(x).tolist()


def test_gelu_by_the_tanh(torch: Any) -> None:
    x = torch.tensor([-1.0, 2.0], dtype=torch.float64)
    got = torch.nn.GELU("tanh")(x)
    np.testing.assert_allclose(got.numpy(), [-0.15880801, 1.95459769], atol=1e-8)
    with raises(torch, errors.OperandError, "approximate argument must be either none"):
        torch.nn.functional.gelu(x, approximate="erf")


@pytest.mark.parametrize("name", ["gelu", "silu", "leaky_relu", "elu"])
def test_activations_refuse_integers(torch: Any, name: str) -> None:
    with raises(torch, errors.UnsupportedOptionError, "not implemented for 'Long"):
        getattr(torch.nn.functional, name)(torch.tensor([1]))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(("shape", "dim"), [((2,), 0), ((2, 3), 1), ((2, 3, 4), 0)])
def test_softmax_without_a_dimension_warns_and_takes_torchs(
    torch: Any, name: str, shape: Any, dim: int
) -> None:
    x = torch.rand(*shape)
    function = getattr(torch.nn.functional, name)
    with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name} has"):
        got = function(x)
    assert torch.equal(got, function(x, dim=dim))
