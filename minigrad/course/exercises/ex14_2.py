"""14.2: the ratio of two programs, measured so that it can be believed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from minigrad.course.check import Array, Finding, submission
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.clocks import Pace, Timed, timed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

ANSWER = "compare"
WITHIN = 0.1
ENOUGH = 3
"""Rounds without which there is neither a median nor a spread."""

MOST_WRITTEN = 24
BUSIER = 1.002
"""By this factor each call takes longer than the one before."""


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Two programs of which one compiles first: then the other; then neither."""
    unusable = submission.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    fast, slow = random.uniform(1.5e-3, 2.5e-3), random.uniform(7e-3, 9e-3)
    for pace in (
        Pace(((0.8,), (slow,)), (fast, slow), (7, 16, 28), 20.0, BUSIER),
        Pace(((slow,), (0.8,)), (slow, fast), (6, 17, 29), 20.0, BUSIER),
        Pace(((), ()), (slow, fast), slower=BUSIER),
    ):
        found = next(faults(seen(timed, (answer,), pace), pace), None)
        if found:
            return [found]
    return []


def faults(did: Timed, pace: Pace) -> Iterator[Finding]:
    """What is wrong, by the calls that were made and what was said of them."""
    one, other = did.calls(0), did.calls(1)
    calls = written(did.who)
    if not (one and other):
        yield say("uncalled", one=one, other=other)
        return
    if did.said.shape != (3,):
        yield say("no_numbers", said=did.said if did.said.size else did.kind)
        return
    if min(one, other) <= ENOUGH:
        name = "single.cold" if min(one, other) == 1 else "single"
        yield say(name, calls=calls, one=one - 1, other=other - 1)
    elif len(list(groupby(did.who))) < 2 * ENOUGH:
        yield say("blocks", calls=calls)
    elif not did.looks:
        yield say("other_clock")
    median, low, high = did.said.tolist()
    first = [did.took[did.who == place][0] for place in (0, 1)]
    right, cold = [times[0] / times[1] for times in (pace.usual, first)]
    if not near(median, right, WITHIN):
        seconds = {"first_one": first[0], "first_other": first[1]}
        name = why(median, right, did)
        yield say(name, right=right, said=median, calls=calls, **seconds)
    has_cold = [end for end in (high, low) if near(end, cold) and pace.hit]
    if has_cold:
        yield say("band.cold", high=has_cold[0])
    ratios = rounds(did)[1:]
    differ = ratios.max() > 1.5 * ratios.min()
    if not low <= median <= high or (differ and near(low, high, 1e-6)):
        yield say("band", median=median, low=low, high=high)


def why(said: float, right: float, did: Timed) -> str:
    """What a wrong ratio looks like."""
    one, other = [did.took[did.who == place] for place in (0, 1)]
    ratios = rounds(did)
    names = {
        "cold": [one.sum() / other.sum(), ratios[0], ratios.mean()],
        "upside_down": [1 / right],
        "seconds": [np.median(one), np.median(other)],
        "mean": [one[1:].sum() / other[1:].sum(), ratios[1:].mean()],
        "least": [ratios[1:].min(), ratios[1:].max()],
    }
    fitting = [n for n, values in names.items() if any(near(said, v) for v in values)]
    return f"ratio.{fitting[0]}" if fitting else "ratio"


def rounds(did: Timed) -> Array:
    """The ratios, call by call; the first one is cold."""
    one, other = [did.took[did.who == place] for place in (0, 1)]
    count = min(len(one), len(other))
    return np.asarray(one[:count] / other[:count])


def near(said: float, value: float, within: float = 0.01) -> bool:
    """Whether it may be this number."""
    return bool(abs(said - value) <= within * abs(value))


def written(who: Array) -> str:
    """The calls in their order, an o for one and an x for other; not all of many."""
    text = "".join(["ox"[place] for place in who[:MOST_WRITTEN]])
    return text + " ..." * (len(who) > MOST_WRITTEN)
