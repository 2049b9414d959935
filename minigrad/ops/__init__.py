"""The built-in operations: one family a module, imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad._later import later
from minigrad.ops._later import families, load_all, put_placeholders

if TYPE_CHECKING:
    from minigrad.ops._registry import OPS, Op, op

__all__ = ["OPS", "Op", "families", "load_all", "op"]

put_placeholders()


def __getattr__(name: str) -> Any:
    """``OPS`` is the whole table: to ask for it imports every family."""
    if name == "OPS":
        load_all()
    homes = {family: f".{family}" for family in families()}
    homes |= dict.fromkeys(("OPS", "Op", "op"), "._registry")
    return later(__name__, name, homes)
