"""Steps along the gradient, with or without momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.optim.optimizer import Group, Optimizer, check_range


class SGD(Optimizer):
    """Each parameter goes ``lr`` times its gradient downwards.

    With ``momentum`` it follows a running sum of gradients, in which each loses its
    weight by that factor a step; ``nesterov`` looks one step ahead.
    See: torch ``optim.SGD``.

    >>> x = minigrad.tensor([1.0], requires_grad=True)
    >>> optimizer = minigrad.optim.SGD([x], lr=0.25)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.5000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _check_options(self, group: Group) -> None:
        check_range("SGD", "learning rate", group["lr"])
        check_range("SGD", "momentum value", group["momentum"])
        check_range("SGD", "weight_decay value", group["weight_decay"])
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise errors.ArgumentValueError.at(
                "SGD",
                "Nesterov momentum requires a momentum and zero dampening, but "
                f"momentum is {group['momentum']} and dampening {group['dampening']}",
                "set momentum=0.9, dampening=0",
            )

    def _move(
        self, memory: Array, gradient: Array, param: Tensor, group: Group
    ) -> None:
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * memory
        momentum = group["momentum"]
        if momentum:
            state = self.state[param]
            if state.get("momentum_buffer") is None:
                state["momentum_buffer"] = Tensor(np.array(gradient))
                kept = state["momentum_buffer"].array
            else:
                kept = state["momentum_buffer"].array
                kept *= momentum
                kept += (1 - group["dampening"]) * gradient
            gradient = gradient + momentum * kept if group["nesterov"] else kept
        memory -= group["lr"] * gradient
