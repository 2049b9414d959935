"""First values of parameters. Every function here writes into its tensor."""

from __future__ import annotations

import math
from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import no_grad

GAINS = {
    "linear": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None
) -> Tensor:
    """Random numbers, even between ``a`` and ``b``."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None
) -> Tensor:
    """Normal random numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """``val`` everywhere."""
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Even numbers that keep the size of values and of gradients from layer to layer.

    See: torch ``nn.init.xavier_uniform_``.
    """
    bound = math.sqrt(3.0) * _spread_of_both(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """The same with normal numbers.

    See: torch ``nn.init.xavier_normal_``.
    """
    return normal_(tensor, 0.0, _spread_of_both(tensor, gain), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Even numbers that keep the size of values behind a (leaky) relu of slope ``a``.

    See: torch ``nn.init.kaiming_uniform_``.
    """
    bound = math.sqrt(3.0) * _spread_of_one(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """The same with normal numbers.

    See: torch ``nn.init.kaiming_normal_``.
    """
    return normal_(
        tensor, 0.0, _spread_of_one(tensor, a, mode, nonlinearity), generator
    )


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much values have to be larger to keep their size behind an activation.

    Raises: ArgumentValueError for an activation that is not known.
    See: torch ``nn.init.calculate_gain``.

    >>> minigrad.nn.init.calculate_gain("tanh") == 5 / 3
    True
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise errors.ArgumentValueError.at(
            "calculate_gain",
            f"Unsupported nonlinearity {nonlinearity}",
            f"use leaky_relu or one of {', '.join(GAINS)}",
        )
    return GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output has, and how many outputs each input.

    Raises: ArgumentValueError for fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise errors.ArgumentValueError.at(
            "nn.init",
            "Fan in and fan out can not be computed for tensor with fewer than 2 "
            f"dimensions; its shape is {tuple(tensor.shape)}",
            "initialize a vector with uniform_, normal_ or zeros_",
        )
    outputs, inputs, *window = tensor.shape
    return inputs * math.prod(window), outputs * math.prod(window)


def _draw_layer(weight: Tensor, bias: Tensor | None) -> None:
    """First values as torch's linear and convolutional layers have them.

    They lie within 1 / sqrt(number of inputs of an output) of 0.
    """
    seen = math.prod(weight.shape[1:])
    if seen:
        # With this slope the bound of the weights is 1 / sqrt(seen).
        kaiming_uniform_(weight, a=math.sqrt(5))
        if bias is not None:
            bound = 1 / math.sqrt(seen)
            uniform_(bias, -bound, bound)


def _spread_of_both(tensor: Tensor, gain: float) -> float:
    """The standard deviation that suits both directions."""
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


def _spread_of_one(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    """The standard deviation that suits one direction: ``fan_in`` or ``fan_out``."""
    modes = "fan_in", "fan_out"
    if mode not in modes:
        raise errors.ArgumentValueError.at(
            "nn.init",
            f"Mode {mode} not supported",
            "use 'fan_in' to keep the size of values, 'fan_out' of gradients",
        )
    fan = _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)
