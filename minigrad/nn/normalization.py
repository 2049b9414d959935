"""Layers that bring what they are given to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import empty, tensor
from minigrad.engine.grad_mode import no_grad
from minigrad.nn import functional, init
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter


class LayerNorm(Module):
    """The last dimensions with mean 0 and variance 1, times weight plus bias.

    See: torch ``nn.LayerNorm``.

    >>> minigrad.nn.LayerNorm(2)(minigrad.tensor([[1.0, 3.0]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...] | list[int],
        eps: float = 1e-05,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        is_one = isinstance(normalized_shape, int)
        sizes: Any = (normalized_shape,) if is_one else normalized_shape
        self.normalized_shape = tuple(sizes)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in {"weight": True, "bias": bias}.items():
            value = None
            if elementwise_affine and wanted:
                shape = self.normalized_shape
                value = Parameter(empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights 1 and bias 0: what changes nothing."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """``functional.layer_norm``."""
        return functional.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """What prints inside the brackets."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class BatchNorm(Module):
    """Base of the two below, which differ in the inputs that they take."""

    dimensions: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in {"weight": affine, "bias": affine and bias}.items():
            value = empty(num_features, device=device, dtype=dtype)
            self.register_parameter(name, Parameter(value) if wanted else None)
        for name in ("running_mean", "running_var"):
            value = empty(num_features, device=device, dtype=dtype)
            self.register_buffer(name, value if track_running_stats else None)
        counter = tensor(0) if track_running_stats else None
        self.register_buffer("num_batches_tracked", counter)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what was measured: mean 0, variance 1, no batch."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Begin again: weights 1, bias 0, nothing measured."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """``functional.batch_norm`` by the batch; in eval mode by what was measured.

        Raises: ArgumentValueError for another number of dimensions.
        """
        self.check_dimensions(input)
        measures = self.training or self.running_mean is None
        return functional.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            measures,
            self.counted() if self.training else 0.0,
            self.eps,
        )

    def counted(self) -> float:
        """How far the running statistics move, now that one more batch has come."""
        if self.num_batches_tracked is None:
            return 0.0
        with no_grad():
            self.num_batches_tracked.add_(1)
        if self.momentum is not None:
            return self.momentum
        # The mean of all batches, each as important as any other.
        return 1.0 / float(self.num_batches_tracked.item())

    def check_dimensions(self, input: Tensor) -> None:
        """Refuse an input of another number of dimensions.

        Raises: ArgumentValueError.
        """
        if input.ndim not in self.dimensions:
            expected = " or ".join([f"{number}D" for number in self.dimensions])
            raise errors.ArgumentValueError.at(
                type(self).__name__,
                f"expected {expected} input (got {input.ndim}D input)",
                "the dimensions are batch, channels, and places",
            )

    def extra_repr(self) -> str:
        """What prints inside the brackets."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(BatchNorm):
    """Each channel of vectors, or of sequences, with mean 0 and variance 1.

    Shape: (batch, channels) or (batch, channels, length).
    See: torch ``nn.BatchNorm1d``.

    >>> minigrad.nn.BatchNorm1d(1)(minigrad.tensor([[1.0], [3.0]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    dimensions = (2, 3)


class BatchNorm2d(BatchNorm):
    """Each channel of images with mean 0 and variance 1.

    Shape: (batch, channels, height, width).
    See: torch ``nn.BatchNorm2d``.

    >>> minigrad.nn.BatchNorm2d(3)(minigrad.rand(2, 3, 4, 4)).shape
    minigrad.Size([2, 3, 4, 4])
    """

    dimensions = (4,)
