"""Gradients made smaller before a step, so that one bad batch does no harm."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.creation import tensor
from minigrad.engine.grad_mode import no_grad
from minigrad.ops import functions

Tensors = Tensor | Iterable[Tensor]

AWAY_FROM_ZERO = 1e-6
"""Added to the norm, by which is divided, as in torch."""


def listed(tensors: Tensors) -> list[Tensor]:
    """One tensor, or several, as a list."""
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def gradients_of(parameters: list[Tensor]) -> list[Tensor]:
    """The gradients that are there."""
    return [one.grad for one in parameters if one.grad is not None]


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """The norm of all elements together, as if they stood in one vector.

    Raises: OperandError with ``error_if_nonfinite``, if it is infinite or NaN.
    See: torch ``nn.utils.get_total_norm``.
    """
    order = float(norm_type)
    with no_grad():
        norms: Any = [functions.norm(one, order) for one in listed(tensors)]
        if not norms:
            return tensor(0.0)
        total: Tensor = functions.norm(functions.stack(norms), order)
    if error_if_nonfinite and not functions.isfinite(total).item():
        raise errors.OperandError.at(
            "clip_grad_norm_",
            f"The total norm of order {order} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`",
            "find where NaN or infinity comes from: "
            "minigrad.autograd.set_detect_anomaly(True)",
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor
) -> None:
    """Scale all gradients, in place, as if ``total_norm`` were at most ``max_norm``.

    See: torch ``nn.utils.clip_grads_with_norm_``.
    """
    # A norm that is not finite makes NaN of some elements, as in torch unasked.
    with no_grad(), np.errstate(invalid="ignore"):
        factor = (float(max_norm) / (total_norm + AWAY_FROM_ZERO)).clamp(max=1.0)
        for gradient in gradients_of(listed(parameters)):
            gradient.mul_(factor)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients, in place, so that their total norm is at most ``max_norm``.

    Returns the norm that they had.
    Raises: OperandError with ``error_if_nonfinite``, if it is infinite or NaN.
    See: torch ``nn.utils.clip_grad_norm_``.

    >>> x = minigrad.tensor([3.0, 4.0], requires_grad=True)
    >>> (x * x / 2).sum().backward()
    >>> minigrad.nn.utils.clip_grad_norm_([x], max_norm=1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    given = listed(parameters)
    if not given and isinstance(parameters, types.GeneratorType):
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur.",
            stacklevel=2,
        )
    total = get_total_norm(gradients_of(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensors, clip_value: float) -> None:
    """Bring each element of all gradients between -clip_value and clip_value.

    See: torch ``nn.utils.clip_grad_value_``.

    >>> x = minigrad.tensor([3.0, -0.5], requires_grad=True)
    >>> (x * x / 2).sum().backward()
    >>> minigrad.nn.utils.clip_grad_value_([x], 1.0)
    >>> x.grad
    tensor([ 1.0000, -0.5000])
    """
    bound: Any = float(clip_value)
    with no_grad():
        for gradient in gradients_of(listed(parameters)):
            gradient.clamp_(-bound, bound)
