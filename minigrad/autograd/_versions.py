"""The count of changes in place, by hand."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.tensor_memory import NO_COUNTER, VersionCounter


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Note a change in place that the engine could not see, such as NumPy's.

    Raises: CtxUseError for anything but Tensors.
    See: torch ``autograd.graph.increment_version``.

    >>> x = minigrad.zeros(2)
    >>> x.numpy()[0] = 1
    >>> minigrad.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for one in tensors_of(tensor, "increment_version"):
        one._bump_version()


class _unsafe_preserve_version_counter:
    """Changes in place inside the block are not counted: backward will not notice.

    See: torch ``autograd._unsafe_preserve_version_counter``.
    """

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        where = "_unsafe_preserve_version_counter"
        self.counters: list[VersionCounter] = []
        for one in tensors_of(tensors, where):
            if one._version_counter is None:
                one._version_counter = VersionCounter()
            if one._version_counter is not NO_COUNTER:
                self.counters.append(one._version_counter)
        self.values = [counter.value for counter in self.counters]

    def __enter__(self) -> None:
        """Nothing to do: what the counts were was noted when this was made."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for counter, value in zip(self.counters, self.values, strict=True):
            counter.value = value


def tensors_of(value: Tensor | Iterable[Tensor], where: str) -> list[Tensor]:
    """One Tensor, or each of several.

    Raises: CtxUseError.
    """
    several = [value] if isinstance(value, Tensor) else value
    tensors = list(several) if isinstance(several, Iterable) else [several]
    for one in tensors:
        if not isinstance(one, Tensor):
            raise errors.CtxUseError.at(
                where,
                f"{where} expect a Iterable[Tensor] as input, not {type(one).__name__}",
                "give a Tensor, or a list of them",
            )
    return tensors
