"""Layers whose kernels slide over sequences and images."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import empty
from minigrad.nn import functional, init
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter


def one_for_each(value: Any, dims: int) -> tuple[int, ...]:
    """``value`` for each dimension, if it is a single number."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * dims


class Convolution(Module):
    """Base of the two below, which differ in the number of dimensions."""

    dims: int = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_channels(type(self).__name__, in_channels, out_channels, groups)
        check_padding(type(self).__name__, padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = one_for_each(kernel_size, self.dims)
        self.stride = one_for_each(stride, self.dims)
        is_word = isinstance(padding, str)
        self.padding = padding if is_word else one_for_each(padding, self.dims)
        self.dilation = one_for_each(dilation, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        shape = out_channels, in_channels // groups, *self.kernel_size
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        shift = Parameter(empty(out_channels, device=device, dtype=dtype))
        self.register_parameter("bias", shift if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the first values again."""
        init._draw_layer(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """``functional.conv1d`` or ``functional.conv2d``."""
        convolve: Any = functional.conv1d if self.dims == 1 else functional.conv2d
        options = self.stride, self.padding, self.dilation, self.groups
        result: Tensor = convolve(input, self.weight, self.bias, *options)
        return result

    def extra_repr(self) -> str:
        """What prints inside the brackets: what differs from the usual."""
        shown = [
            f"{self.in_channels}, {self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}"
        ]
        if self.padding != (0,) * self.dims:
            shown.append(f"padding={self.padding}")
        if self.dilation != (1,) * self.dims:
            shown.append(f"dilation={self.dilation}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        return ", ".join(shown)


def check_channels(where: str, inside: int, outside: int, groups: int) -> None:
    """Refuse channels that do not divide into so many groups.

    Raises: ArgumentValueError.
    """
    what = ""
    if groups <= 0:
        what = "groups must be a positive integer"
    elif inside % groups:
        what = "in_channels must be divisible by groups"
    elif outside % groups:
        what = "out_channels must be divisible by groups"
    if what:
        numbers = f"{inside} and {outside} channels, {groups} groups"
        raise errors.ArgumentValueError.at(
            where, f"{what} ({numbers})", "give each group as many channels"
        )


def check_padding(where: str, padding: Any, stride: Any, mode: str) -> None:
    """Refuse a padding that means nothing here.

    Raises: ArgumentValueError; UnsupportedOptionError for what torch has besides zeros.
    """
    if isinstance(padding, str):
        what = ""
        if padding not in ("valid", "same"):
            what = f"Invalid padding string '{padding}', should be one of valid, same"
        elif padding == "same" and any([one != 1 for one in one_for_each(stride, 1)]):
            what = "padding='same' is not supported for strided convolutions"
        if what:
            raise errors.ArgumentValueError.at(
                where, what, "give the padding as numbers"
            )
    if mode != "zeros":
        raise errors.UnsupportedOptionError.at(
            where,
            f"padding_mode={mode!r} is not there: around the input lie zeros",
            "leave padding_mode out",
        )


class Conv1d(Convolution):
    """Kernels that slide over sequences, with a ``weight`` and a ``bias`` to learn.

    Shape: (number, in_channels, length) gives (number, out_channels, places).
    Raises: ArgumentValueError; UnsupportedOptionError.
    See: torch ``nn.Conv1d``; the first values are random, as there.

    >>> minigrad.nn.Conv1d(4, 6, 3, padding="same")
    Conv1d(4, 6, kernel_size=(3,), stride=(1,), padding=same)
    """

    dims = 1


class Conv2d(Convolution):
    """Kernels that slide over images, with a ``weight`` and a ``bias`` to learn.

    Shape: (number, in_channels, height, width) gives (number, out_channels, places
    down, places across).
    Raises: ArgumentValueError; UnsupportedOptionError.
    See: torch ``nn.Conv2d``; the first values are random, as there.

    >>> layer = minigrad.nn.Conv2d(1, 6, 3, padding=1)
    >>> layer(minigrad.rand(2, 1, 8, 8)).shape
    minigrad.Size([2, 6, 8, 8])
    """

    dims = 2
