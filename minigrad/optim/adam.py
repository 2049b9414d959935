"""Steps whose length follows the size that the gradients of each element had."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.engine.core.tensor import Array, Tensor
from minigrad.kernels.steps import adam
from minigrad.optim.optimizer import Group, Optimizer, check_range


class Adam(Optimizer):
    """Each element goes about ``lr`` a step, in the direction of its mean gradient.

    ``betas`` are how much of the running means of gradients and of their squares a
    step keeps; ``eps`` keeps small gradients from large steps. ``weight_decay`` pulls
    towards 0: as a part of the gradient, or with ``decoupled_weight_decay`` beside it.
    ``amsgrad`` divides by the largest mean of squares so far.
    See: torch ``optim.Adam``; Kingma and Ba, 2015; for ``amsgrad`` Reddi et al., 2018.

    >>> x = minigrad.tensor([1.0, -100.0], requires_grad=True)
    >>> optimizer = minigrad.optim.Adam([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([  0.5000, -99.5000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _check_options(self, group: Group) -> None:
        where = type(self).__name__
        check_range(where, "learning rate", group["lr"])
        check_range(where, "epsilon value", group["eps"])
        check_range(where, "weight_decay value", group["weight_decay"])
        for index, beta in enumerate(group["betas"]):
            check_range(where, f"beta parameter at index {index}", beta, 1.0)

    def _move(
        self, memory: Array, gradient: Array, param: Tensor, group: Group
    ) -> None:
        state = self.state[param]
        if not state:
            self._begin(state, memory, group)
        lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
        steps = state["step"].array
        steps += 1
        step = steps.item()
        if decay and group["decoupled_weight_decay"]:
            memory *= 1 - lr * decay
        elif decay:
            gradient = gradient + decay * memory

        mean, mean_square = state["exp_avg"].array, state["exp_avg_sq"].array
        length = lr / (1 - beta1**step)
        # Both means began at 0: what that holds them back is divided out.
        spread = math.sqrt(1 - beta2**step)
        options = length, beta1, beta2, group["eps"], spread
        if not group["amsgrad"]:
            adam(memory, gradient, mean, mean_square, *options)
            return
        mean += (1 - beta1) * (gradient - mean)
        mean_square *= beta2
        mean_square += (1 - beta2) * (gradient * gradient)
        largest = state["max_exp_avg_sq"].array
        size = np.sqrt(np.maximum(largest, mean_square, out=largest))
        size /= spread
        size += group["eps"]
        memory -= length * (mean / size)

    def _begin(self, state: dict[str, Any], memory: Array, group: Group) -> None:
        state["step"] = Tensor(np.zeros((), np.float32))
        names = ["exp_avg", "exp_avg_sq"]
        for name in [*names, "max_exp_avg_sq"] if group["amsgrad"] else names:
            state[name] = Tensor(np.zeros_like(memory))


class AdamW(Adam):
    """Adam whose weight decay stands beside the gradient, and is 0.01 unless given.

    See: torch ``optim.AdamW``; Loshchilov and Hutter, 2019.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            decoupled_weight_decay=True,
        )
