"""The layer that gives words, or other numbered things, their vectors."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import empty
from minigrad.engine.grad_mode import no_grad
from minigrad.nn import functional, init
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter


class Embedding(Module):
    """A row of ``weight`` for each number; the row ``padding_idx`` is 0 and stays so.

    Shape: any shape gives that shape with ``embedding_dim`` behind it.
    Raises: ArgumentAssertionError for padding that is not in the table.
    See: torch ``nn.Embedding``; the first values are normal, as there.

    >>> layer = minigrad.nn.Embedding(10, 3, padding_idx=0)
    >>> layer(minigrad.tensor([[0, 4]])).shape
    minigrad.Size([1, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        if padding_idx is not None:
            self.padding_idx = functional.padding_in(num_embeddings, padding_idx)
        shape = num_embeddings, embedding_dim
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the first values again; padding is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """A layer whose rows are those of ``embeddings``, in the same memory.

        They are not learned, unless ``freeze`` is False.
        Raises: ArgumentAssertionError unless it is a table.
        """
        if embeddings.ndim != 2:
            raise errors.ArgumentAssertionError.at(
                "Embedding.from_pretrained",
                "Embeddings parameter is expected to be 2-dimensional",
                "give one row for each number",
            )
        length, width = embeddings.shape
        layer = cls(length, width, padding_idx, dtype=embeddings.dtype)
        layer.weight = Parameter(embeddings.detach(), not freeze)
        return layer

    def forward(self, input: Tensor) -> Tensor:
        """``functional.embedding``."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """What prints inside the brackets."""
        padding = self.padding_idx
        shown = "" if padding is None else f", padding_idx={padding}"
        return f"{self.num_embeddings}, {self.embedding_dim}{shown}"
