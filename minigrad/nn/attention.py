"""The layer in which each place of a sequence looks at all the others."""

from __future__ import annotations

import math
from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import empty, zeros
from minigrad.nn import functional, init
from minigrad.nn.linear import Linear
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.ops import functions
from minigrad.ops.attention import attention_weights


class MultiheadAttention(Module):
    """Attention by several heads, each on its own part of the width.

    Shape: (length, number, embed_dim), or with ``batch_first`` (number, length,
    embed_dim); one sequence may come without its number. Keys may be ``kdim`` wide and
    values ``vdim``.
    Raises: ArgumentValueError; ArgumentAssertionError; UnsupportedOptionError for what
    torch has besides.
    See: torch ``nn.MultiheadAttention``; the first values are random, as there.

    >>> layer = minigrad.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = minigrad.rand(3, 5, 8)
    >>> output, weights = layer(x, x, x)
    >>> output.shape, weights.shape
    (minigrad.Size([3, 5, 8]), minigrad.Size([3, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_heads(embed_dim, num_heads)
        if add_bias_kv or add_zero_attn:
            raise errors.UnsupportedOptionError.at(
                "MultiheadAttention",
                "add_bias_kv and add_zero_attn are not there",
                "leave them out",
            )
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        kinds: Any = {"device": device, "dtype": dtype}
        one_width = self.kdim == self.vdim == embed_dim
        widths = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        whole = Parameter(empty(3 * embed_dim, embed_dim, **kinds))
        self.register_parameter("in_proj_weight", whole if one_width else None)
        for name, width in widths.items():
            part = None if one_width else Parameter(empty(embed_dim, width, **kinds))
            self.register_parameter(f"{name}_proj_weight", part)
        shift = Parameter(zeros(3 * embed_dim, **kinds)) if bias else None
        self.register_parameter("in_proj_bias", shift)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, **kinds)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the first values again; those of the output stay."""
        for weight in self.projections():
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def projections(self) -> list[Tensor]:
        """The matrices for query, key and value: one for all, or three."""
        if self.in_proj_weight is not None:
            return [self.in_proj_weight]
        return [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """What each query finds; with ``need_weights`` also how it weighed the keys.

        Where a mask of bools is True, nothing is seen: the opposite of what
        ``functional.scaled_dot_product_attention`` takes. ``is_causal`` says that
        ``attn_mask`` hides what comes later.
        """
        check_sequences(query, key, value, self.embed_dim)
        three = [self.in_batch(x) for x in (query, key, value)]
        mask = joined_mask(
            attn_mask, key_padding_mask, three[0], three[1], self.num_heads, is_causal
        )
        q, k, v = [
            self.in_heads(x) for x in self.projected(query is key is value, *three)
        ]
        weights = None
        drop = self.dropout if self.training else 0.0
        if need_weights:
            scale = 1 / math.sqrt(self.head_dim)
            weights = attention_weights(q, k, mask, False, scale)
            if drop:
                weights = functional.dropout(weights, drop)
            found = functions.matmul(weights, v)
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            # What the mask hides is known then, and need not be looked up.
            short = is_causal and key_padding_mask is None
            found = functional.scaled_dot_product_attention(
                q, k, v, None if short else mask, drop, short
            )
        output = self.out_proj(found.transpose(1, 2).flatten(2))
        if query.ndim == 2:
            whole = None if weights is None else weights.squeeze(0)
            return output.squeeze(0), whole
        return output if self.batch_first else output.transpose(0, 1), weights

    def in_batch(self, x: Tensor) -> Tensor:
        """As (number, length, width)."""
        if x.ndim == 2:
            return x.unsqueeze(0)
        return x if self.batch_first else x.transpose(0, 1)

    def projected(
        self, one: bool, query: Tensor, key: Tensor, value: Tensor
    ) -> list[Tensor]:
        """All three behind their matrices; in a single product if they are ``one``."""
        weights = self.projections()
        if one and len(weights) == 1:
            whole = functional.linear(query, weights[0], self.in_proj_bias)
            return list(whole.chunk(3, -1))
        parts = list(weights[0].chunk(3)) if len(weights) == 1 else weights
        shifts: Any = [None] * 3
        if self.in_proj_bias is not None:
            shifts = self.in_proj_bias.chunk(3)
        return [
            functional.linear(x, weight, shift)
            for x, weight, shift in zip((query, key, value), parts, shifts, strict=True)
        ]

    def in_heads(self, x: Tensor) -> Tensor:
        """(number, length, width) as (number, head, length, part of the width)."""
        result: Tensor = x.unflatten(2, (self.num_heads, self.head_dim))
        return result.transpose(1, 2)


def check_heads(embed_dim: int, num_heads: int) -> None:
    """Refuse a width that the heads cannot share.

    Raises: ArgumentValueError; ArgumentAssertionError.
    """
    if embed_dim <= 0 or num_heads <= 0:
        raise errors.ArgumentValueError.at(
            "MultiheadAttention",
            "embed_dim and num_heads must be greater than 0, got embed_dim="
            f"{embed_dim} and num_heads={num_heads} instead",
            "give each head a part of the width",
        )
    if embed_dim % num_heads:
        raise refused(
            "embed_dim must be divisible by num_heads: "
            f"{embed_dim} is not, by {num_heads}",
            "give each head the same part of the width",
        )


def refused(what: str, fix: str) -> errors.ArgumentAssertionError:
    """The error for sequences that do not fit together."""
    return errors.ArgumentAssertionError.at("MultiheadAttention", what, fix)


def check_sequences(query: Tensor, key: Tensor, value: Tensor, width: int) -> None:
    """Refuse sequences that do not fit together.

    Raises: ArgumentAssertionError.
    """
    if query.ndim not in (2, 3):
        raise refused(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.ndim}-D query tensor",
            "the dimensions are length, number (or none), width",
        )
    if not query.ndim == key.ndim == value.ndim:
        says = "For batched (3-D)" if query.ndim == 3 else "For unbatched (2-D)"
        raise refused(
            f"{says} `query`, expected `key` and `value` to be {query.ndim}-D but "
            f"found {key.ndim}-D and {value.ndim}-D tensors respectively",
            "give all three the same dimensions",
        )
    if query.shape[-1] != width:
        raise refused(
            f"was expecting embedding dimension of {width}, but got {query.shape[-1]}",
            "the last dimension is the width",
        )
    if key.shape[:-1] != value.shape[:-1]:
        raise refused(
            f"key shape {key.shape} does not match value shape {value.shape}",
            "give each key a value",
        )


def joined_mask(
    attn_mask: Tensor | None,
    padding: Tensor | None,
    query: Tensor,
    key: Tensor,
    heads: int,
    is_causal: bool,
) -> Tensor | None:
    """Both masks in one: bools that say what is seen, or numbers to be added.

    Raises: OperandError for ``is_causal`` without a mask; ShapeError;
    ArgumentAssertionError.
    """
    if is_causal and attn_mask is None:
        raise errors.OperandError.at(
            "MultiheadAttention",
            "Need attn_mask if specifying the is_causal hint.",
            "give the mask: minigrad.ones(n, n).triu(1).bool()",
        )
    number, rows = query.shape[:2]
    keys = key.shape[1]
    masks = []
    if attn_mask is not None:
        check_kind("attn_mask", attn_mask)
        masks.append(shaped_mask(attn_mask, number, heads, rows, keys))
    if padding is not None:
        check_kind("key_padding_mask", padding)
        wanted = (number, keys)
        given = tuple(padding.shape) if padding.ndim == 2 else (1, *padding.shape)
        for place, (one, other) in enumerate(zip(wanted, given, strict=True)):
            if one != other:
                raise refused(
                    f"Expected key_padded_mask.shape[{place}] to be {one}, but got "
                    f"{other}",
                    "say for each key of each sequence whether it is padding",
                )
        masks.append(padding.reshape(number, 1, 1, keys))
    if not masks:
        return None
    if all([mask.dtype.kind == "b" for mask in masks]):
        hidden = masks[0] if len(masks) == 1 else masks[0].logical_or(masks[1])
        return hidden.logical_not()
    added = [as_numbers(mask, query.dtype) for mask in masks]
    return added[0] if len(added) == 1 else added[0] + added[1]


def check_kind(name: str, mask: Tensor) -> None:
    """Refuse a mask of whole numbers.

    Raises: ArgumentAssertionError.
    """
    if mask.dtype.kind not in "bf":
        raise refused(
            f"only bool and floating types of {name} are supported, not {mask.dtype}",
            "convert: mask.bool()",
        )


def shaped_mask(mask: Tensor, number: int, heads: int, rows: int, keys: int) -> Tensor:
    """A mask for all, or one for each head of each sequence.

    Raises: ShapeError; ArgumentAssertionError.
    """
    if mask.ndim not in (2, 3):
        raise refused(
            "For batched (3-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D "
            f"but found {mask.ndim}-D tensor instead",
            "give (queries, keys)",
        )
    wanted = (rows, keys) if mask.ndim == 2 else (number * heads, rows, keys)
    if tuple(mask.shape) != wanted:
        raise errors.ShapeError.at(
            "MultiheadAttention",
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should "
            f"be {wanted}.",
            "give (queries, keys), or (number * heads, queries, keys)",
        )
    if mask.ndim == 2:
        return mask
    result: Tensor = mask.reshape(number, heads, rows, keys)
    return result


def as_numbers(mask: Tensor, dtype: Any) -> Tensor:
    """A mask to be added: -infinity where a mask of bools hides."""
    if mask.dtype.kind == "f":
        return mask
    return zeros(*mask.shape, dtype=dtype).masked_fill(mask, -math.inf)
