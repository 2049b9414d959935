"""What all optimizers share: groups of parameters, and what is kept for each."""

from __future__ import annotations

import copy
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.grad_mode import enable_grad
from minigrad.engine.inplace import writable
from minigrad.engine.interpreters import dispatched

Group = dict[str, Any]


class Optimizer:
    """Base of the optimizers.

    ``params`` are tensors, or dicts that hold some under ``"params"`` with options of
    their own; ``defaults`` are the options of all others. A parameter without ``.grad``
    is left alone.
    Raises: ArgumentTypeError, ArgumentValueError for what cannot be optimized.
    See: torch ``optim.Optimizer``.
    """

    _opt_called = False

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        if isinstance(params, Tensor):
            raise errors.ArgumentTypeError.at(
                type(self).__name__,
                "params argument given to the optimizer should be an iterable of "
                "Tensors or dicts, but got one Tensor",
                "put it into a list: [x]",
            )
        given = list(params)
        if not given:
            raise errors.ArgumentValueError.at(
                type(self).__name__,
                "optimizer got an empty parameter list",
                "give model.parameters(); an iterator that was used up has none",
            )
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Optimize more parameters: a dict of ``"params"`` and options of their own.

        Raises: ArgumentTypeError, ArgumentValueError.
        """
        where = type(self).__name__
        if not isinstance(param_group, dict):
            raise errors.ArgumentTypeError.at(
                where,
                f"param_group must be a dict, but got {type(param_group).__name__}",
                'write {"params": [x, y], "lr": 0.1}',
            )
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        for param in params:
            self._check_param(param)
        if len({id(param) for param in params}) < len(params):
            warnings.warn(
                f"{where}: optimizer contains a parameter group with duplicate "
                "parameters; in future, this will cause an error",
                stacklevel=3,
            )
        known = {id(param) for group in self.param_groups for param in group["params"]}
        if any([id(param) in known for param in params]):
            raise errors.ArgumentValueError.at(
                where,
                "some parameters appear in more than one parameter group",
                "give each parameter once",
            )
        group = {**param_group, "params": params}
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self._check_options(group)
        self.param_groups.append(group)

    def _check_param(self, param: Any) -> None:
        where = type(self).__name__
        if not isinstance(param, Tensor):
            raise errors.ArgumentTypeError.at(
                where,
                "optimizer can only optimize Tensors, but one of the params is "
                f"{type(param).__name__}",
                "give tensors: model.parameters(), or [x, y]",
            )
        if not param.is_leaf and not param.retains_grad:
            raise errors.ArgumentValueError.at(
                where,
                f"can't optimize a non-leaf Tensor: it came from {param.grad_fn}",
                "make the tensor itself with requires_grad=True, or give "
                "x.detach().requires_grad_()",
                "04",
            )

    def _check_options(self, group: Group) -> None:
        """Refuse options that cannot work; each optimizer knows its own."""

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    param.grad.detach_().zero_()

    @dispatched("optimizer_step")
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient, once.

        ``closure`` computes the loss and its gradients again; what it returns is
        returned.
        """
        self._opt_called = True  # a schedule asks whether this came before its step
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        where = f"{type(self).__name__}.step"
        for group in self.param_groups:
            upwards = group["maximize"]
            for param in group["params"]:
                grad = param._grad
                if grad is not None:
                    gradient = -grad.array if upwards else grad.array
                    memory = param.array
                    if not memory.flags.carray:  # which holds each element once
                        memory = writable(param, where)
                    self._move(memory, gradient, param, group)
                    param._bump_version()
        return loss

    def _move(
        self, memory: Array, gradient: Array, param: Tensor, group: Group
    ) -> None:
        """Change the values of one parameter, ``memory``."""
        raise NotImplementedError(
            errors.message(
                type(self).__name__,
                "the optimizer does not say how a parameter moves",
                "write _move(self, memory, gradient, param, group), or step",
            )
        )

    def state_dict(self) -> dict[str, Any]:
        """What ``load_state_dict`` needs to go on from here; parameters as numbers."""
        numbers = self._numbers()
        groups = [
            {**group, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {numbers[id(param)]: dict(kept) for param, kept in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what ``state_dict()`` gave; the parameters stay as they are.

        Raises: ArgumentValueError unless groups and numbers of parameters agree.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise self._does_not_fit(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, not {len(self.param_groups)}"
            )
        for one, group in zip(saved, self.param_groups, strict=True):
            if len(one["params"]) != len(group["params"]):
                raise self._does_not_fit(
                    "loaded state dict contains a parameter group that doesn't match "
                    f"the size of optimizer's group: {len(one['params'])} parameters, "
                    f"not {len(group['params'])}"
                )
        params: dict[int, Tensor] = {}
        for one, group in zip(saved, self.param_groups, strict=True):
            params.update(zip(one["params"], group["params"], strict=True))
            kept = {"params": group["params"]}
            group.update(copy.deepcopy({**one, "params": None}) | kept)
        self.state.clear()
        for number, values in state_dict["state"].items():
            param = params[number]
            self.state[param] = {k: restored(v, param) for k, v in values.items()}

    def _numbers(self) -> dict[int, int]:
        """The number of each parameter, in the order of the groups."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
        return numbers

    def _does_not_fit(self, what: str) -> errors.ArgumentValueError:
        return errors.ArgumentValueError.at(
            f"{type(self).__name__}.load_state_dict",
            what,
            "load into an optimizer that was made in the same way",
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__} (\n{''.join(self._lines())})"

    def _lines(self) -> Iterator[str]:
        for number, group in enumerate(self.param_groups):
            yield f"Parameter Group {number}\n"
            for name in sorted(group):
                if name != "params":
                    yield f"    {name}: {group[name]}\n"


def restored(value: Any, param: Tensor) -> Any:
    """A copy of one kept value; what has the parameter's shape gets its dtype."""
    if isinstance(value, Tensor):
        dtype = param.array.dtype if value.shape == param.shape else value.array.dtype
        return Tensor(np.array(value.array, dtype))
    return copy.deepcopy(value)


def check_range(where: str, what: str, value: Any, end: float = math.inf) -> None:
    """Refuse an option that is not from 0 to below ``end``.

    Raises: ArgumentValueError.
    """
    if not 0 <= value < end:
        below = "" if math.isinf(end) else f" and below {end:g}"
        raise errors.ArgumentValueError.at(
            where, f"Invalid {what}: {value}", f"give 0 or more{below}"
        )
