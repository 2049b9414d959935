"""torch.nn's names: what models are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad._later import later
from minigrad.nn import functional, init, utils
from minigrad.nn.activations import (
    ELU,
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
)
from minigrad.nn.attention import MultiheadAttention
from minigrad.nn.convolution import Conv1d, Conv2d
from minigrad.nn.dropout import Dropout
from minigrad.nn.embedding import Embedding
from minigrad.nn.linear import Identity, Linear
from minigrad.nn.losses import (
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from minigrad.nn.module import Module
from minigrad.nn.normalization import BatchNorm1d, BatchNorm2d, LayerNorm
from minigrad.nn.parameter import Parameter
from minigrad.nn.pooling import AvgPool2d, Flatten, MaxPool2d
from minigrad.nn.sequential import Sequential

if TYPE_CHECKING:
    from minigrad.nn import data
    from minigrad.transforms.replay import replay

__all__ = [
    "ELU",
    "GELU",
    "AvgPool2d",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "HuberLoss",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "MultiheadAttention",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Tanh",
    "data",
    "functional",
    "init",
    "replay",
    "utils",
]

_FROM = {"data": ".data", "replay": "minigrad.transforms.replay"}


def __getattr__(name: str) -> Any:
    """Import what few programs need when it is first used."""
    return later(__name__, name, _FROM)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
