"""Layers that make images smaller, and one that makes vectors of them."""

from __future__ import annotations

from typing import Any

from minigrad.engine.core.tensor import Tensor
from minigrad.nn import functional
from minigrad.nn.module import Module


class MaxPool2d(Module):
    """The greatest element of each window; with ``return_indices`` also their places.

    See: torch ``nn.MaxPool2d``; ``functional.max_pool2d``.

    >>> minigrad.nn.MaxPool2d(2)(minigrad.rand(1, 3, 8, 8)).shape
    minigrad.Size([1, 3, 4, 4])
    """

    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """``functional.max_pool2d``."""
        return functional.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )


class AvgPool2d(Module):
    """The mean of each window.

    See: torch ``nn.AvgPool2d``; ``functional.avg_pool2d``.

    >>> minigrad.nn.AvgPool2d(2)(minigrad.tensor([[[1.0, 5.0], [4.0, -2.0]]]))
    tensor([[[2.]]])
    """

    _shown = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """``functional.avg_pool2d``."""
        return functional.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class Flatten(Module):
    """Some dimensions as one: between the convolutions and the first linear layer.

    See: torch ``nn.Flatten``.

    >>> minigrad.nn.Flatten()(minigrad.rand(2, 3, 4, 4)).shape
    minigrad.Size([2, 48])
    """

    _shown = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """``input.flatten``."""
        return input.flatten(self.start_dim, self.end_dim)
