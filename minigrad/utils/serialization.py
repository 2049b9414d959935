"""torch.save and torch.load: objects with tensors in them, in a file."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import IO, Any, TypeAlias

from minigrad.engine.core.tensor import unpickled

File: TypeAlias = "str | os.PathLike[str] | IO[bytes]"

# What values and containers are made of; a pickle of them can run nothing else.
KNOWN = {
    ("collections", "OrderedDict"),
    ("minigrad.engine.tensor_properties", "Size"),
    ("minigrad.engine.facts", "Size"),  # its home in files of older versions
    (unpickled.__module__, unpickled.__name__),
    ("minigrad.nn.parameter", "unpickled_parameter"),
    ("minigrad.engine.dtypes", "unpickled_dtype"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
}


class ValuesOnly(pickle.Unpickler):
    """Reads tensors, numbers, strings and containers, and refuses the rest."""

    def find_class(self, module: str, name: str) -> Any:
        """What the file names.

        Raises: UnpicklingError unless it is one of ``KNOWN``.
        """
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(
                f"Weights only load failed. The file holds a {module}.{name}\n"
                "  fix: if you trust whoever made the file: load(f, weights_only=False)"
            )
        return super().find_class(module, name)


def save(obj: Any, f: File) -> None:
    """Write ``obj`` to a path or an open file: values, not graphs.

    At a path, the old file stays until the new one is whole. Files are this engine's
    own: torch cannot read them.
    See: torch ``save``.

    >>> import io
    >>> file = io.BytesIO()
    >>> minigrad.save({"w": minigrad.tensor([1.0, 2.0])}, file)
    >>> minigrad.load(io.BytesIO(file.getvalue()))
    {'w': tensor([1., 2.])}
    """
    with whole(f) if isinstance(f, str | os.PathLike) else nullcontext(f) as file:
        pickle.dump(obj, file)


def load(f: File, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read what ``save`` wrote; ``map_location`` is not needed, all is on the CPU.

    ``weights_only=False`` also reads objects of other classes, which can run any code.
    Raises: UnpicklingError for such an object otherwise.
    See: torch ``load``.
    """
    with opened(f) as file:
        return pickle.load(file) if not weights_only else ValuesOnly(file).load()


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that takes its place only when the block has ended without an exception.

    An interrupt, or a second program that saves there, leaves no half of a file.
    """
    part = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        with suppress(FileNotFoundError):
            os.remove(part)


def opened(f: File) -> AbstractContextManager[Any]:
    """The open file: ``f`` itself, or the one at this path for a ``with`` block."""
    return open(f, "rb") if isinstance(f, str | os.PathLike) else nullcontext(f)
