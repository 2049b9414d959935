"""The mutants of token_mutants.py that no test can notice, each with the reason."""

from __future__ import annotations

SURVIVORS: dict[str, str] = {}
"""Part of a mutant's name, and why the change changes nothing that can be seen."""


def reason_for(name: str) -> str | None:
    """Why a mutant may survive; None if nobody explained it."""
    return next((why for part, why in SURVIVORS.items() if part in name), None)
