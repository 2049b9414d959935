"""Results of several tensors, with names: ``x.max(0).indices``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.engine.core.tensor import Tensor


class ValuesAndIndices(NamedTuple):
    """Two tensors: the values, and where along the dimension they lay."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name)!r}" for name in self._fields]
        lines = ",\n".join(fields)
        return f"minigrad.return_types.{type(self).__name__}(\n{lines})"


def values_and_indices(name: str) -> Callable[[Any], Any]:
    """The named form of an operation's two outputs."""
    kind = type(name, (ValuesAndIndices,), {"__module__": __name__, "__slots__": ()})
    globals()[name] = kind

    def named(outputs: Any) -> Any:
        return kind(*outputs)

    return named
