"""torch.optim.lr_scheduler's names: the learning rate as a function of the step."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from minigrad import errors
from minigrad.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "LRScheduler", "LambdaLR", "StepLR"]


class LRScheduler:
    """Base of the schedules: each ``step()`` gives the optimizer its next rate.

    ``last_epoch`` counts these steps. One that isn't -1 goes on from there, with an
    optimizer whose state has been loaded.
    Raises: ArgumentTypeError for no optimizer; ScheduleResumeError without that state.
    See: torch ``optim.lr_scheduler.LRScheduler``.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise errors.ArgumentTypeError.at(
                type(self).__name__,
                f"{type(optimizer).__name__} is not an Optimizer",
                "give the optimizer whose rate is to change",
            )
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise errors.ScheduleResumeError.at(
                    type(self).__name__,
                    f"param 'initial_lr' is not specified in param_groups[{number}] "
                    "when resuming scheduler with last_epoch >= 0",
                    "load the optimizer's state first, or leave last_epoch out and "
                    "load the schedule's own state",
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        optimizer._opt_called = False
        self._step_count = 0
        self._update()

    def get_lr(self) -> list[float]:
        """The rate of each group at ``last_epoch``; each schedule has its own."""
        raise NotImplementedError(
            errors.message(
                type(self).__name__,
                "the schedule does not say which rate comes next",
                "write get_lr(self): one rate for each of optimizer.param_groups",
            )
        )

    def get_last_lr(self) -> list[float]:
        """The rate of each group that the last step has set."""
        return self._last_lr

    def step(self) -> None:
        """Set the next rate; call it after ``optimizer.step()``."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: "
                "the first rate of the schedule is skipped\n"
                "  fix: call optimizer.step() first, then the schedule's",
                UserWarning,
                stacklevel=2,
            )
        self._update()

    def _update(self) -> None:
        self._step_count += 1
        self.last_epoch += 1
        groups = self.optimizer.param_groups
        for group, rate in zip(groups, self.get_lr(), strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in groups]

    def state_dict(self) -> dict[str, Any]:
        """All that ``load_state_dict`` needs to go on from here."""
        return {k: v for k, v in vars(self).items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict()`` gave; load the optimizer's as well."""
        vars(self).update(state_dict)

    @property
    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]


class LambdaLR(LRScheduler):
    """The first rate times ``lr_lambda(step)``; a list has one for each group.

    Raises: ArgumentValueError for a list of another length.
    See: torch ``optim.lr_scheduler.LambdaLR``.

    >>> x = minigrad.ones(1, requires_grad=True)
    >>> optimizer = minigrad.optim.SGD([x], lr=0.5)
    >>> warm_up = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 4))
    >>> warm_up.get_last_lr()
    [0.125]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(getattr(optimizer, "param_groups", ()))
        several = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        self.lr_lambdas: list[Callable[[int], float]] = several
        if len(several) != groups:
            raise errors.ArgumentValueError.at(
                "LambdaLR",
                f"Expected {groups} lr_lambdas, but got {len(several)}",
                "give one function, or one for each group of parameters",
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * factor(self.last_epoch) for base, factor in pairs]

    def state_dict(self) -> dict[str, Any]:
        """All but functions, which are yours; of an object that is called, its own."""
        kept = [
            None if isinstance(one, types.FunctionType) else dict(vars(one))
            for one in self.lr_lambdas
        ]
        return super().state_dict() | {"lr_lambdas": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict()`` gave; load the optimizer's as well."""
        for one, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if kept is not None:
                vars(one).update(kept)
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})


class StepLR(LRScheduler):
    """The rate times ``gamma`` after every ``step_size`` steps.

    See: torch ``optim.lr_scheduler.StepLR``.

    >>> x = minigrad.ones(1, requires_grad=True)
    >>> optimizer = minigrad.optim.SGD([x], lr=0.5)
    >>> schedule = StepLR(optimizer, step_size=2)
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.00500...]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        falls = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma for rate in self._rates] if falls else self._rates


class CosineAnnealingLR(LRScheduler):
    """From the first rate to ``eta_min`` in ``T_max`` steps, along half a cosine.

    See: torch ``optim.lr_scheduler.CosineAnnealingLR``; Loshchilov and Hutter, 2017.

    >>> x = minigrad.ones(1, requires_grad=True)
    >>> optimizer = minigrad.optim.SGD([x], lr=0.5)
    >>> schedule = CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        # From the rate before, as in torch: what somebody else has set is kept.
        now, end = self.last_epoch, self.eta_min
        if self._step_count == 1:
            return self._rates
        if (now - 1 - self.T_max) % (2 * self.T_max) == 0:  # the way back up begins
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(self._rates, self.base_lrs, strict=True)
            return [rate + (base - end) * rise for rate, base in pairs]
        height = 1 + math.cos(math.pi * now / self.T_max)
        before = 1 + math.cos(math.pi * (now - 1) / self.T_max)
        return [height / before * (rate - end) + end for rate in self._rates]
