"""07.5: rounding that hands gradients on, and a test that is right for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minigrad
from minigrad.course.check import Faults, Finding, crash_of, says_todo, thrown
from minigrad.course.check.probes import opinions, seen
from minigrad.course.exercises.messages import Messages
from minigrad.course.exercises.rules import rules_of

say = Messages(__name__)

FEWEST_WORDS = 5
ROUNDS = 2

Asked = tuple[bool | None, bool, Finding | None]

RULES = rules_of(__name__)


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> Faults:
    """The test accepts what is right and refuses what is wrong; the box is filled."""
    hands_on, why = rest
    if not callable(hands_on):
        yield say("no_function", given=hands_on)
    yield from test_of_the_test(hands_on)
    yield explanation(why)


def test_of_the_test(hands_on: Any) -> Faults:
    """Give it Functions whose backward is known.

    Each is asked about twice, and all in an order that nobody can count on.
    """
    rules = RULES * ROUNDS
    about: dict[str, list[Asked]] = {rule.does: [] for rule in RULES}
    for place in minigrad.randperm(len(rules)).tolist():
        about[rules[place].does].append(asked(hands_on, rules[place].function))
    accepted = []
    for number, rule in enumerate(RULES):
        # A right one is accepted each time; of random numbers some tell nothing.
        said, measured, raised = min(about[rule.does], key=is_right)
        by_slope = ".by_slope" if measured else ""
        if raised:
            yield raised
        if rule.right and number == 0 and said is None:
            yield say("nothing")
        if rule.right and not said:
            yield say(rule.row.get("name", f"refuses{by_slope}"))
        if not rule.right and said:
            name = rule.row["name"]
            if measured:
                name = "by_slope.zeros" if name == "zeros" else "by_slope"
            accepted.append(say(f"accepts.{name}", does=rule.does))
    if len(accepted) == len([rule for rule in RULES if not rule.right]):
        yield say("accepts.all")
    # A comparison that lets much pass may do so with any numbers.
    yield from sorted(accepted, key=lambda f: not f.key.endswith("compared"))


def asked(hands_on: Any, function: Any) -> Asked:
    """What the test says of a Function, whether it measured slopes, what it raised."""
    try:
        opinion = seen(opinions.opinion_on, (hands_on,), function)
    except Exception as error:
        return None, False, raised_by(error)
    if opinion.shape != (1,):
        return None, False, say("several", shape=opinion.shape)
    return opinion.said, opinion.measured, None


def is_right(one: Asked) -> bool:
    """Whether the test said that a Function keeps its promise."""
    return bool(one[0])


def raised_by(error: Exception) -> Finding:
    """An exception out of the test."""
    if says_todo(error):
        return say("todo", todo=str(error))
    crash = crash_of("", error)
    return say.of_crash("raised", crash, text=thrown(crash).removesuffix(": "))


def explanation(why: Any) -> Finding | None:
    """Whether there is one; nobody grades what it says."""
    if not isinstance(why, str):
        return say("why.no_text", kind=type(why).__name__)
    words = len(why.split())
    if words >= FEWEST_WORDS:
        return None
    return say("why.short" if words else "why", words=words)
