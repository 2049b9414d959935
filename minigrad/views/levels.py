"""How finely a player steps."""

from __future__ import annotations

from typing import Final

LEVELS: Final = {"picture": 0, "phases": 2, "everything": 3}
"""The player's levels: each stops where those before do, and more often."""
