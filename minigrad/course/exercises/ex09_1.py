"""09.1: TODO."""

from __future__ import annotations


def truth() -> dict[str, str]:
    """What is so, found out by running it."""
    return {"a": "TODO: one"}
