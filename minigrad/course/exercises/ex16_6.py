"""16.6: five sentences about a run, for the report card."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from minigrad.course.check import Faults, last_report_card
from minigrad.course.exercises.messages import Messages
from minigrad.errors import count_of

say = Messages(__name__)

COUNT, WITH_NUMBERS, LEAST, MOST = 5, 3, 6, 60
WITHIN = 0.05
NUMBER = r"\d+(?:[.,]\d+)?"

OF_CODE = re.compile(
    r"`|\w\(|\b(?:def|class|function|method|variable|loop|line|code|calls?|called|"
    r"implement(?:s|ed)?|defines?|defined|imports?|returns?|wrote|written)\b",
    re.IGNORECASE,
)
"""Words with which a program is described, and not what it did."""


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """The first thing that a reader would miss. What is said, a person reads."""
    told = list(answer) if isinstance(answer, (list, tuple)) else []
    if len(told) != COUNT or not all([isinstance(one, str) for one in told]):
        kind = type(answer).__name__
        yield say("five", count=len(told) if told else kind)
    words = [len(one.split()) for one in told]
    for number, count in enumerate(words, 1):
        if not LEAST <= count <= MOST:
            yield say("length", number=number, words=count_of(count, "word"))
    flat = [" ".join(one.lower().split()) for one in told]
    for number, one in enumerate(flat):
        if one in flat[:number]:
            yield say("twice", number=number + 1, first=flat.index(one) + 1)
    bare = [n for n, one in enumerate(told, 1) if not re.search(r"\d", one)]
    of_code = [n for n in bare if OF_CODE.search(told[n - 1])]
    if len(of_code) > 1:
        yield say("code", number=of_code[0])
    if COUNT - len(bare) < WITH_NUMBERS:
        yield say("numbers", count=COUNT - len(bare), number=bare[0])
    numbers = [float(n.replace(",", ".")) for n in re.findall(NUMBER, told[0])]
    for began in last_report_card.BEGAN if numbers else ():
        if min([abs(number - began) for number in numbers]) > WITHIN * began:
            said = ", ".join([f"{number:g}" for number in numbers])
            yield say("other_run", said=said, began=began)
