"""The mutants of token_mutants.py that no test can notice, each with the reason."""

from __future__ import annotations

SURVIVORS: dict[str, str] = {
    "is_mapped(cls.__name__, takes_ctx): | __name__ ->": "the name is for a message",
    "ctx, inputs, result, dirty, non_differentiable, recording | ctx ->": (
        "wrap_outputs names the class in messages only"
    ),
    "ctx._save(to_save, outputs) | outputs ->": (
        "the outputs are looked at only while forward mode is on"
    ),
    "_create_ctx | ctx._output_metadata = () |": (
        "written again when the call is recorded, and read of no other ctx"
    ),
    "observe.observer.": "what a listener hears is tested in tests/tracing",
}
"""Part of a mutant's name, and why the change changes nothing that can be seen."""


def reason_for(name: str) -> str | None:
    """Why a mutant may survive; None if nobody explained it."""
    return next((why for part, why in SURVIVORS.items() if part in name), None)
