"""Losses as modules: they keep weights and options."""

from __future__ import annotations

from minigrad.engine.core.tensor import Tensor
from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.ops.class_losses import IGNORED


class Loss(Module):
    """A loss, of which ``reduction`` takes the mean, the sum, or with "none" each."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class WeightedLoss(Loss):
    """A loss with a weight for each class, kept as a buffer."""

    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, *, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)


class CrossEntropyLoss(WeightedLoss):
    """How badly scores predict classes, or the probabilities of all classes.

    See: torch ``nn.CrossEntropyLoss``.

    >>> loss = minigrad.nn.CrossEntropyLoss()
    >>> loss(minigrad.zeros(1, 10), minigrad.tensor([3]))
    tensor(2.3026)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = IGNORED,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.cross_entropy``."""
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(WeightedLoss):
    """Minus the log-probability of the right class.

    See: torch ``nn.NLLLoss``.

    >>> logs = minigrad.tensor([[0.5, 0.25, 0.25]]).log()
    >>> minigrad.nn.NLLLoss()(logs, minigrad.tensor([0]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = IGNORED,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.nll_loss``."""
        return functional.nll_loss(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class MSELoss(Loss):
    """The squared differences.

    See: torch ``nn.MSELoss``.

    >>> minigrad.nn.MSELoss()(minigrad.ones(2), minigrad.zeros(2))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.mse_loss``."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(Loss):
    """The absolute differences.

    See: torch ``nn.L1Loss``.

    >>> minigrad.nn.L1Loss()(minigrad.full((2,), -3.0), minigrad.zeros(2))
    tensor(3.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.l1_loss``."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """The absolute differences, rounded off where they are less than ``beta``.

    See: torch ``nn.SmoothL1Loss``.

    >>> minigrad.nn.SmoothL1Loss()(minigrad.full((2,), -3.0), minigrad.zeros(2))
    tensor(2.5000)
    """

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.smooth_l1_loss``."""
        return functional.smooth_l1_loss(
            input, target, reduction=self.reduction, beta=self.beta
        )


class HuberLoss(Loss):
    """Half the squared differences; beyond ``delta``, in proportion.

    See: torch ``nn.HuberLoss``.

    >>> minigrad.nn.HuberLoss()(minigrad.full((2,), -3.0), minigrad.zeros(2))
    tensor(2.5000)
    """

    def __init__(self, *, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.huber_loss``."""
        return functional.huber_loss(
            input, target, reduction=self.reduction, delta=self.delta
        )


class BCEWithLogitsLoss(WeightedLoss):
    """How badly scores, before a sigmoid, predict targets between 0 and 1.

    See: torch ``nn.BCEWithLogitsLoss``.

    >>> minigrad.nn.BCEWithLogitsLoss()(minigrad.zeros(2), minigrad.ones(2))
    tensor(0.6931)
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``functional.binary_cross_entropy_with_logits``."""
        return functional.binary_cross_entropy_with_logits(
            input,
            target,
            self.weight,
            reduction=self.reduction,
            pos_weight=self.pos_weight,
        )
