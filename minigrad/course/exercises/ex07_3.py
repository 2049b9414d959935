"""07.3: sine and square of x, without zeros for the one that nobody used."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.course.check import Faults
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.work import work_of
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

OUTPUTS = ("sine", "square")
ENOUGH = (1, 2)
"""So many products do for the sine alone, and for the square alone."""


def look_also(answer: Any, random: np.random.Generator) -> Faults:
    """Use one output at a time, and look for work that its absence makes needless."""
    for used, name in enumerate(OUTPUTS):
        x = random.uniform(0.3, 2.0, 6)
        work = seen(work_of, (answer,), (x,), (True,), used, ("cos", "sin", "mul"))
        said = {"answer": answer.__name__, "used": name}
        if "cos" in work.forward or work.forward.count("sin") > 1:
            yield say("too_early", **said)
        if work.zeros:
            yield say("zeros", maker=work.zeros[0], **said)
        products = work.backward.count("mul")
        # A sine of what is shifted is a cosine, too.
        waves = [each for each in work.backward if each != "mul"]
        if used == 1 and waves:
            yield say(
                "needless.cosine",
                wave="sine" if waves[0] == "sin" else "cosine",
                **said,
            )
        if products > ENOUGH[used]:
            yield say("needless", count=products, enough=ENOUGH[used], **said)
