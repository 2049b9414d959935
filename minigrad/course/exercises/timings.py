"""How many times as long one program takes as another, on a clock of the check's own.

For 14.2, 15.6 and 16.5: a function is handed two programs, and its calls are written
down. It may say the ratio alone, or the ratio between its lowest and its highest value.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Faults
from minigrad.course.check.probes import tried
from minigrad.course.check.probes.clocks import Pace, Timed, timed
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

WITHIN = 0.1
ENOUGH = 3
"""Rounds without which there is neither a median nor a spread."""

MOST_WRITTEN = 24
BUSIER, UNEVEN = 1.002, 0.02
"""By this factor each call takes longer than the one before, and is off by up to that.

So a number that was computed of these times says of which.
"""
EXACTLY, MOST_COLD, ENDS = 1e-9, 6, (0.0, 0.5, 1.0)


def look_at(
    answer: Any,
    random: np.random.Generator,
    names: tuple[str, str, str],
    wanted: str = "a number",
) -> Faults:
    """Two programs of which one compiles first: then the other; then neither.

    ``names`` are those of the function and of its two programs.
    """
    fast, slow = random.uniform(1.5e-3, 2.5e-3), random.uniform(7e-3, 9e-3)
    dids: list[Timed] = []
    shown = dict(zip(("function", "one", "other"), names, strict=True))
    for pace in (
        Pace(((0.8,), (slow,)), (fast, slow), (7, 16, 28), 20.0, BUSIER, UNEVEN),
        Pace(((slow,), (0.8,)), (slow, fast), (6, 17, 29), 20.0, BUSIER, UNEVEN, 1.0),
        Pace(((), ()), (slow, fast), slower=BUSIER, uneven=UNEVEN, phase=12.082),
    ):
        did = tried(timed, (answer,), pace)
        if isinstance(did, Crash):
            yield say.of_crash("crashed", did, **shown)
            return
        shape = () if wanted == "a number" else (3,)
        for name, values in faults(did, pace, shape):
            calls = written(did.who)
            yield say(name, **shown, **values, wanted=wanted, calls=calls)
        dids.append(did)
    same = set.intersection(*map(one_round, dids))
    if same and not all([medians_like(did.said.item(), did) for did in dids]):
        yield say("ratio.place", **shown, number=min(same) + 1)
    # The same number of rounds is left out each time.
    middle, either = [
        set.intersection(*[left_out(did, places) for did in dids])
        for places in ((0.5,), (0.0, 1.0))
    ]
    if either and not middle:
        ratios, said = rounds(dids[0])[min(either) :], dids[0].said[0]
        usual = {"rounds": len(ratios), "said": said, "right": np.median(ratios)}
        yield say("ratio.even", **shown, **usual)


def faults(
    did: Timed, pace: Pace, shape: tuple[int, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is wrong, by the calls that were made and what was said of them."""
    ones, others = did.calls(0), did.calls(1)
    counts = {"ones": ones, "others": others}
    if not (ones and others):
        yield "uncalled", counts
    if did.said.shape != shape:
        yield "kind", {"said": did.said if did.said.size else f"a {did.kind}"}
    if min(ones, others) <= ENOUGH:
        yield "single.cold" if min(ones, others) == 1 else "single", counts
    elif len(list(groupby(did.who))) < 2 * ENOUGH:
        yield "blocks", counts
    elif not did.looks:
        yield "other_clock", counts
    median, low, high = np.broadcast_to(did.said, 3).tolist()
    first = [did.took[did.who == place][0] for place in (0, 1)]
    usual_one, usual_other = pace.usual
    right = usual_one / usual_other
    if not near(median, right, WITHIN):
        seconds = {"first_one": first[0], "first_other": first[1]}
        yield why(median, right, did), {"right": right, "said": median, **seconds}
    if not shape:
        return
    # The cold call of one stands beside a call of the other, be that cold or not.
    cold = right * first[0] / usual_one, right * usual_other / first[1]
    far = [each for each in cold if not 0.1 < each / right < 10]
    ends = (high, low) if pace.hit else ()
    has_cold = [end for end in ends if any([near(end, c, WITHIN) for c in far])]
    if has_cold:
        yield "band.cold", {"high": has_cold[0]}
    if is_of_times(median, did):
        yield "ratio.of_times", {"right": right, "said": median}
    ratios = rounds(did)[1:]
    is_median = bool(left_out(did, (0.5, 0.0, 1.0)))
    is_median |= not has_ends(did) and bool(medians_like(median, did))
    if is_of_one(median, did) and not is_median:
        below = float((ratios < median).mean())
        yield "ratio.unsorted", {"right": right, "said": median, "below": below}
    if is_of_times(low, did) or is_of_times(high, did):
        yield "band.of_times", {"low": low, "high": high, "median": median}
    differ = ratios.max() > 1.5 * ratios.min()
    if not low <= median <= high or (differ and near(low, high, 1e-6)):
        yield "band", {"median": median, "low": low, "high": high}
    for least, most in missed_ends(did):
        yield "band.other", {"low": low, "high": high, "least": least, "most": most}


def why(said: float, right: float, did: Timed) -> str:
    """What a wrong ratio looks like."""
    one, other = [did.took[did.who == place] for place in (0, 1)]
    ratios, usual = rounds(did), (np.median(one), np.median(other))
    names = {
        "upside_down": [1 / np.median(ratios[1:]), 1 / right],
        "cold": [one.sum() / other.sum(), ratios[0], ratios.mean()],
        "seconds": [*usual, usual[0] - usual[1]],
        "mean": [
            one[1:].sum() / other[1:].sum(),
            *[ratios[warm:].mean() for warm in range(1, min(4, len(ratios)))],
        ],
        "least": [ratios[1:].min(), ratios[1:].max()],
    }
    off = {n: min([abs(said / v - 1) for v in values]) for n, values in names.items()}
    nearest = min(off, key=lambda name: off[name])
    return f"ratio.{nearest}" if off[nearest] <= 0.01 else "ratio"


def is_of_times(said: float, did: Timed) -> bool:
    """Whether it's a quotient of two times of which each is one of many, or a median.

    But not of one round: that would be a ratio. Only where both had one call in each.
    """
    if not is_in_turn(did):
        return False
    one, other = [did.took[did.who == place] for place in (0, 1)]
    if is_of_one(said, did):
        return False
    for cold in range(min(len(one), len(other), MOST_COLD)):
        ones, others = [np.quantile(times[cold:], ENDS) for times in (one, other)]
        if any([near(said, a / b, EXACTLY) for a in ones for b in others]):
            return True
    return False


def is_of_one(said: float, did: Timed) -> bool:
    """Whether it's the ratio of one round, of which both had one call in each."""
    ratios = rounds(did)
    return is_in_turn(did) and any([near(said, ratio, EXACTLY) for ratio in ratios])


def one_round(did: Timed) -> set[int]:
    """The places of rounds that have this one number for a ratio."""
    if did.said.shape or not is_in_turn(did):
        return set()
    is_that = np.isclose(rounds(did), did.said, EXACTLY, 0)
    return {*np.flatnonzero(is_that).tolist()}


def is_in_turn(did: Timed) -> bool:
    """Whether the two were called in turn, once each."""
    return len(list(groupby(did.who))) == len(did.who)


def missed_ends(did: Timed) -> list[tuple[float, float]]:
    """The lowest and highest of the ratios of which it said the median, if others.

    Only where both had one call in each round: else the rounds can't be known.
    """
    if not is_in_turn(did):
        return []
    median, *ends = did.said.tolist()
    likely = medians_like(median, did)
    found = [(float(ratios[0]), float(ratios[-1])) for ratios in likely]
    if has_ends(did) or left_out(did, (0.5, 0.0, 1.0)):
        return []
    # An end that was said, of other rounds, has to differ by more than rounding.
    for far in (EXACTLY, -EXACTLY):
        for low, high in found:
            if low < ends[0] * (1 - far) and ends[1] * (1 + far) < high:
                return [(low, high)]
    return found


def has_ends(did: Timed) -> bool:
    """Whether it said the lowest and highest ratio of its rounds, but for the first."""
    ends = [[each.min(), each.max()] for each in after_first(did)]
    return did.said.shape == (3,) and any(
        [np.allclose(did.said[1:], each, EXACTLY, 0) for each in ends]
    )


def after_first(did: Timed) -> list[Array]:
    """The ratios without some of the first: one of them, as a rule; then others."""
    count = min(MOST_COLD, len(rounds(did)))
    return [rounds(did)[cold:] for cold in [*range(1, count), 0]]


def medians_like(said: float, did: Timed) -> list[Array]:
    """The ratios in order, without some of the first, of which this is the median."""
    found = []
    for ratios in map(np.sort, after_first(did)):
        middle = ratios[(len(ratios) - 1) // 2], ratios[len(ratios) // 2]
        if any([near(said, m, EXACTLY) for m in (*middle, np.mean(middle))]):
            found.append(ratios)
    return found


def left_out(did: Timed, places: tuple[float, ...]) -> set[int]:
    """After how many rounds those begin whose median and ends were said.

    ``places``: where the median lies between the two in the middle.
    """
    found = set()
    if is_in_turn(did) and did.said.shape == (3,):
        for cold in range(len(rounds(did))):
            ratios = np.sort(rounds(did)[cold:])
            low, high = ratios[[(len(ratios) - 1) // 2, len(ratios) // 2]]
            for place in places:
                said = low + place * (high - low), ratios[0], ratios[-1]
                if np.allclose(did.said, said, EXACTLY, 0):
                    found.add(cold)
    return found


def rounds(did: Timed) -> Array:
    """The ratios, call by call; the first one is cold."""
    one, other = [did.took[did.who == place] for place in (0, 1)]
    count = min(len(one), len(other))
    return np.asarray(one[:count] / other[:count])


def near(said: float, value: float, within: float = 0.01) -> bool:
    """Whether it may be this number."""
    return bool(abs(said - value) <= within * abs(value))


def written(who: Array) -> str:
    """The calls in their order, by 1 and 2; not all of many."""
    text = "".join(["12"[place] for place in who[:MOST_WRITTEN]])
    return text + " ..." * (len(who) > MOST_WRITTEN)
