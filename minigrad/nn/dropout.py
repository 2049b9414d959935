"""The layer that forgets some of what it is given, while a model is trained."""

from __future__ import annotations

from minigrad.engine.core.tensor import Tensor
from minigrad.nn import functional
from minigrad.nn.module import Module


class Dropout(Module):
    """In training each element is 0 with probability ``p``, else times 1 / (1 - p).

    Raises: ArgumentValueError unless ``p`` is a probability.
    See: torch ``nn.Dropout``.

    >>> minigrad.nn.Dropout(0.2).eval()(minigrad.ones(3))
    tensor([1., 1., 1.])
    """

    _shown = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        functional.check_probability(p)
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """``functional.dropout``, in training."""
        return functional.dropout(input, self.p, self.training, self.inplace)
