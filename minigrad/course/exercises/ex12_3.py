"""12.3: TODO."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Finding
from minigrad.course.exercises.messages import Messages

ANSWER = "TODO"

say = Messages(__name__)


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Try the answer on numbers drawn from ``random``; one finding for each mistake."""
    return [say("TODO", answer=answer.__name__, got=0.0)]
