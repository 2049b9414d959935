"""The free functions of all operations, each there once its family is imported.

Their types are in the generated stub beside this file.
"""

from typing import Any

from minigrad.ops._later import CALLS, FUNCTIONS, load_all, loaded

__all__: list[str] = list(FUNCTIONS)


def __getattr__(name: str) -> Any:
    """Import the family of a function when it is first used; ``@op`` puts it here."""
    if name in FUNCTIONS:
        globals()[name] = loaded(name, FUNCTIONS, CALLS)
        return globals()[name]
    if name[0] != "_":
        load_all()  # it may be newer than the table
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module 'minigrad.ops.functions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
