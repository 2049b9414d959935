"""Functions between the layers, as modules: they keep options and no parameters."""

from __future__ import annotations

from minigrad.engine.core.tensor import Tensor
from minigrad.nn import functional
from minigrad.nn.module import Module


class Inplace(Module):
    """A function that may write its result into its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """What prints inside the brackets; ``inplace`` only if it is so."""
        shown = super().extra_repr()
        where = "inplace=True" if self.inplace else ""
        return ", ".join([part for part in (shown, where) if part])


class ReLU(Inplace):
    """max(input, 0), elementwise.

    See: torch ``nn.ReLU``.

    >>> minigrad.nn.ReLU()(minigrad.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``functional.relu``."""
        return functional.relu(input, self.inplace)


class SiLU(Inplace):
    """The input times its sigmoid, elementwise.

    See: torch ``nn.SiLU``.

    >>> minigrad.nn.SiLU()(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``functional.silu``."""
        return functional.silu(input, self.inplace)


class LeakyReLU(Inplace):
    """The input; where it is negative, times ``negative_slope``.

    See: torch ``nn.LeakyReLU``.

    >>> minigrad.nn.LeakyReLU(0.1)(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    _shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """``functional.leaky_relu``."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(Inplace):
    """The input; where it is negative, ``alpha * (e**input - 1)``.

    See: torch ``nn.ELU``.

    >>> minigrad.nn.ELU()(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """``functional.elu``."""
        return functional.elu(input, self.alpha, self.inplace)


class Tanh(Module):
    """The hyperbolic tangent, elementwise.

    See: torch ``nn.Tanh``.

    >>> minigrad.nn.Tanh()(minigrad.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``tanh``."""
        return functional.tanh(input)


class Sigmoid(Module):
    """1 / (1 + e**-input), elementwise.

    See: torch ``nn.Sigmoid``.

    >>> minigrad.nn.Sigmoid()(minigrad.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``sigmoid``."""
        return functional.sigmoid(input)


class GELU(Module):
    """The input times the probability that a normal number is smaller.

    See: torch ``nn.GELU``.

    >>> minigrad.nn.GELU()(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    _shown = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """``functional.gelu``."""
        return functional.gelu(input, approximate=self.approximate)


class Softmax(Module):
    """e**input over their sum along ``dim``.

    See: torch ``nn.Softmax``.

    >>> minigrad.nn.Softmax(dim=1)(minigrad.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """

    _shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """``functional.softmax``."""
        return functional.softmax(input, self.dim)


class LogSoftmax(Softmax):
    """The logarithm of softmax along ``dim``.

    See: torch ``nn.LogSoftmax``.

    >>> minigrad.nn.LogSoftmax(dim=1)(minigrad.zeros(1, 2))
    tensor([[-0.6931, -0.6931]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``functional.log_softmax``."""
        return functional.log_softmax(input, self.dim)
