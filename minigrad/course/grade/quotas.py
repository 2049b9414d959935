"""How much a submission may take, and how much it may say."""

from __future__ import annotations

from dataclasses import dataclass

HEADER = 2 * 10**6
"""Bytes of JSON in one answer of a worker; honest ones need about a tenth."""

BODY = 4 * 10**6
"""Bytes of arrays in one answer."""

ONE_ARRAY = 256_000
"""Bytes of one array in it."""

TEXT = 2000
"""Characters of one text; what is longer is cut where it is said."""

MESSAGE = 4000
"""Characters of one part of a message; it may name what a stranger has reported."""

ITEMS = 1000
"""Things in one tuple."""

DEPTH = 24
"""Brackets within brackets."""

NOTEBOOK = 5 * 10**6
"""Bytes of a submitted file."""

ANSWER = 20_000
"""Characters of an answer in a form, all its parts together."""

ARCHIVE = 20 * 10**6
"""Bytes of a submitted zip."""

STUDENT = 100 * 10**6
"""Bytes that are read of all files of a student together."""

BUDGET = 15
"""Times the seconds for one exercise are those for everything of a student."""


def said_of(error: BaseException) -> str:
    """An exception in a line, as long as a line may be.

    >>> said_of(ValueError("odd")), said_of(MemoryError())
    ('ValueError: odd', 'MemoryError')
    """
    return f"{type(error).__name__}: {error!s:.300}".removesuffix(": ")


@dataclass(frozen=True)
class Limits:
    """What one exercise of one submission may take; a right answer needs under 1 %.

    ``seconds`` are for loading the notebook, and as many again for the exercise in all
    its parts together.
    ``memory`` is the sum over all its processes, ``address_space`` that of each one.
    """

    seconds: float = 20.0
    memory: int = 1_000_000_000
    address_space: int = 3_000_000_000
    processes: int = 48
    disk: int = 32_000_000
    file_size: int = 16_000_000
    open_files: int = 64
