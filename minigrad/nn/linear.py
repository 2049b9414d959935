"""Layers that multiply by a matrix."""

from __future__ import annotations

from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import empty
from minigrad.nn import functional, init
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter


class Identity(Module):
    """Gives back its input; it takes any arguments, and needs none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return input


class Linear(Module):
    """input @ weight^T + bias, with a ``weight`` and a ``bias`` that can be learned.

    Shape: (..., in_features) gives (..., out_features).
    See: torch ``nn.Linear``; the first values are random and lie within
    1 / sqrt(in_features) of 0, as there.

    >>> minigrad.nn.Linear(5, 3)
    Linear(in_features=5, out_features=3, bias=True)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        shape = out_features, in_features
        kinds: Any = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty(shape, **kinds))
        shift = Parameter(empty(out_features, **kinds)) if bias else None
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the first values again."""
        if self.in_features:
            init._draw_layer(self.weight, self.bias)
        elif self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The layer's output for ``input``."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """What prints inside the brackets."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
