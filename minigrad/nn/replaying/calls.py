"""What a note calls, where that is no plain function of arrays."""

from __future__ import annotations

from typing import Any

from minigrad.engine.builtin import BuiltinBackward
from minigrad.engine.core.tensor import Array, Tensor


class Rule:
    """What ``backward`` of a built-in operation asks of its ctx."""

    def __init__(self, needs: Any, saved: Any, attributes: dict[str, Any]) -> None:
        self.needs_input_grad = needs
        self.saved_values = saved
        self.__dict__.update(attributes)


def defaults_of(kind: type[Any]) -> dict[str, Any]:
    """What the nodes of built-in operations have on their class until they set it."""
    found: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        if issubclass(one, BuiltinBackward):
            for name, value in vars(one).items():
                is_plain = value is None or isinstance(value, bool | int | tuple)
                if is_plain and name[0] != "_":
                    found[name] = value
    return found


def run_rule(
    backward: Any, needs: Any, saved: Any, attributes: Any, *gradients: Any
) -> Any:
    """Call the rule, with what its node had kept."""
    return backward(Rule(needs, saved, attributes), *gradients)


class Move:
    """``_move`` of an optimizer for one parameter, with options as they are then."""

    def __init__(self, move: Any, optimizer: Any, param: Tensor, group: Any) -> None:
        self._move = move
        self._optimizer = optimizer
        self._param = param
        self._group = group

    def __call__(self, memory: Array, gradient: Array) -> None:
        self._move(self._optimizer, memory, gradient, self._param, self._group)

    def __eq__(self, other: object) -> bool:
        mine, theirs = vars(self).values(), vars(other).values()
        return all([a is b for a, b in zip(mine, theirs, strict=True)])

    __hash__ = object.__hash__
