"""Wrong gradients: which element shows it, and which story explains all cases."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from minigrad.course.check import (
    comparison,
    known_mistakes,
    partial_match,
    shape_mistakes,
    traits,
    wording,
)
from minigrad.course.check.casefile import CaseFile, error_of
from minigrad.course.check.facts import Array, Facts, Trial, is_float
from minigrad.course.check.findings import (
    FEW_DIGITS,
    UNNAMED,
    WHICH_DIGITS,
    Finding,
)
from minigrad.course.check.samples import (
    COARSE,
    LINEAR,
    Sample,
    close_to,
    rounding,
    samples_of,
)

Slots = dict[int, list[Sample]]

_TOGETHER = Path(__file__).with_name("ambiguous.toml").read_text("utf8")
AMBIGUOUS = frozenset(
    frozenset(pair)
    for row in tomllib.loads(_TOGETHER)["together"]
    for pair in row["pairs"]
)
"""Mistakes that no numbers can tell apart; both are named then."""

FORMULA = frozenset({"L02", "L03", "L04", "L05", "L06", "S01", "A03", "L21"})
"""Stories of the numbers alone, which a wrong state on ctx may explain better."""


def gradient_values(case: CaseFile) -> Iterator[Finding]:
    """Wrong numbers and shapes, slot by slot, each with the story that fits everywhere.

    A case in which backward raised counts for no story, and against none.
    """
    slots = samples_of(case, *LINEAR, "output ")
    wrong = [i for i, samples in slots.items() if any(map(is_off, samples))]
    if not wrong:
        return
    usual = [s for s in itertools.chain(*slots.values()) if _is_usual(s)]
    if not any(map(is_off, usual)) and (found := [*_of_precision(case, usual)][:1]):
        yield from found  # and wrong where numbers are large, or narrow
        return
    crashed = [
        f for f, _, run in case.passes("plain") if run.crash and run.crash.inside
    ]
    named = {i: _named(case, slots, i, crashed) for i in wrong}
    if exchanged := _exchanged(case, slots, wrong):
        first, second = (slots[i][0].right.shape for i in exchanged)
        state = ["S02", "S03", "M04", *(["S01"] if first == second else [])]
        for i in exchanged:
            if named[i] == ("L01",):
                named[i] = ("L01", "A03")
            elif (*named[i], "")[0] not in state:
                named[i] = ("A03", "L04") if "L04" in named[i] else ("A03",)
    for ids in dict.fromkeys(named.values()):
        yield _finding(case, ids, [i for i in wrong if named[i] == ids], slots)


def is_off(sample: Sample) -> bool:
    """Whether it has other numbers, or another shape, than it should have."""
    return sample.is_wrong or shape_mistakes.has_wrong_shape(sample)


def _is_usual(sample: Sample) -> bool:
    is_large = partial_match.largest(sample.fact) >= traits.LARGE
    return not is_large and sample.tolerance < COARSE


def _named(
    case: CaseFile, slots: Slots, i: int, crashed: Sequence[Facts]
) -> tuple[str, ...]:
    """What to call the mistake in one slot."""
    samples = slots[i]
    if not any(s.is_wrong for s in samples):
        shape = shape_mistakes.explained(case, samples)
        return (shape,) if shape else UNNAMED
    ids = _fitting(case, samples)
    first = samples[0].trial
    keeps_nothing = not first.saved and not first.attributes
    if "M04" in ids and (keeps_nothing or _is_kept(case, first.inputs[0])):
        ids = _fitting(case, samples, but="M04")  # no value after the change is read
    if not ids and any(map(shape_mistakes.has_wrong_shape, samples)):
        shape = shape_mistakes.explained(case, samples)
        ids = [shape] if shape else []
    if not ids and not crashed:
        ids = _by_behaviour(samples)
    if not ids:
        ids = [id for id in [partial_match.named(case, samples, crashed)] if id]
    if not ids and not crashed:
        ids = _for_one_option(case, samples)
    return _with_state(case, i, ids)


def _fitting(case: CaseFile, samples: Sequence[Sample], but: str = "") -> list[str]:
    """The stories that fit: the most specific, and what cannot be told from it."""
    usual = (*known_mistakes.SPECIFIC, *known_mistakes.GENERAL)
    rounds: tuple[Sequence[known_mistakes.Teller], ...] = usual, known_mistakes.COSTLY
    if comparison.is_zero(samples):  # many stories come to nothing
        rounds = (known_mistakes.SPECIFIC,)
    for tellers in rounds:
        found = known_mistakes.fitting(case, samples, tellers)
        found = [id for id in found if id != but]
        found = [id for id in found if id != "A10" or case.mistakes_parameters]
        if found:
            first = "A10" if "A10" in found else found[0]
            if first == "M04" and "C03" in found:
                first = "C03"  # true of either: what arrives is handed on
            twins = [id for id in found if frozenset((first, id)) in AMBIGUOUS]
            if first == "C06":
                twins = ["L02"]
            return [first, *twins]
    return []


def _for_one_option(case: CaseFile, samples: Sequence[Sample]) -> list[str]:
    """A story that holds with one value of an option only; the rest is right."""
    wrong = [s for s in samples if s.is_wrong]
    if not partial_match.follows_an_option(case, [s.fact for s in wrong]):
        return []
    story = _fitting(case, wrong)[:1]
    return list(dict.fromkeys(["R08", *story])) if story else []


def _by_behaviour(samples: Sequence[Sample]) -> list[str]:
    """Not linear in the upstream gradient, or a constant times the right gradient."""
    if _scales(samples, 1.0) and _scales(samples, 1.0, "negative"):
        return ["C01"]
    if _scales(samples, 4.0) and _scales(samples, 1.0, "negative"):
        return ["C02"]
    return ["L02"] if ratio(samples) is not None else []


def _scales(samples: Sequence[Sample], factor: float, name: str = "double") -> bool:
    """Whether that other upstream gradient gives ``factor`` times the gradient."""
    by_name = {(s.fact.case.name, s.trial.name): s.got for s in samples}
    some = False
    for (fact, trial), got in by_name.items():
        other = by_name.get((fact, name))
        if trial != "plain" or got is None or other is None or not np.any(got):
            continue
        if not np.all(np.isfinite(got)):
            return False
        if error_of(other, factor * got) > (1e-4 if got.dtype == np.float32 else 1e-6):
            return False
        some = True
    return some


def ratio(samples: Sequence[Sample]) -> float | None:
    """The constant that all gradients of a slot are off by; None if there is none."""
    got = [s.got for s in samples]
    arrays = [a for a in got if a is not None]
    if len(arrays) < len(got) or any(map(shape_mistakes.has_wrong_shape, samples)):
        return None
    return known_mistakes.ratio_of(arrays, [s.right for s in samples])


def _exchanged(case: CaseFile, slots: Slots, wrong: Sequence[int]) -> tuple[int, ...]:
    """Two slots, each of which returns just what the other one should."""
    for i in wrong:
        for j in wrong:
            if i < j and _is_for(case, slots[i], j) and _is_for(case, slots[j], i):
                return (i, j)
    return ()


def _is_for(case: CaseFile, samples: Sequence[Sample], other: int) -> bool:
    """Whether these gradients are the right ones for the other slot."""
    for s in samples:
        right = case.truth(s.trial, s.run)[other]
        if s.raw is None or right is None:
            return False
        if error_of(s.raw, right) > close_to(s.tolerance):
            return False
    return True


def _with_state(case: CaseFile, i: int, ids: list[str]) -> tuple[str, ...]:
    """Look whether what forward kept explains the numbers better than a formula."""
    changed = any(
        not _alike(s.at_call, s.packed) for _, trial in case.plain for s in trial.saved
    )
    if changed and not case.contract.in_place:
        return ("S03", *ids[:1])
    if ids and ids[0] not in FORMULA:
        return tuple(ids)
    if case.permuted:
        return ("S02", *[id for id in ids if id == "L04"])
    if changed:
        return ("M04", *ids[:1])
    _, trial = next(case.plain)
    if trial.save_calls > 1:
        return ("A15", *ids[:1])
    if "L03" in ids and "L05" in ids:
        # What is right for the input's own values has a wrong exponent.
        first = "L03" if _is_kept(case, trial.inputs[i]) else "L05"
        ids = [first, *[id for id in ids if id != first]]
    if ids and ids[0] in ("L04", "L05", "S01"):
        return _what_was_kept(case, i, ids)
    return tuple(ids)


def _is_kept(case: CaseFile, value: object) -> bool:
    """Whether ctx holds these numbers after the first call."""
    trial = next((t for _, t in case.plain if t.saved or t.attributes), None)
    if trial is None:
        return False
    kept = [*[s.packed for s in trial.saved], *[a.value for a in trial.attributes]]
    return any(np.array_equal(np.asarray(value), a) for a in kept)


def _alike(a: Array, b: Array) -> bool:
    return a.shape == b.shape and error_of(a, b) == 0.0


def _what_was_kept(case: CaseFile, i: int, ids: list[str]) -> tuple[str, ...]:
    """Wrong formula for what was kept, or the wrong thing kept for the formula?"""
    trial = next((t for _, t in case.plain if t.saved or t.attributes), None)
    if trial is None:
        return tuple(ids)

    def is_kept(array: object) -> bool:
        return _is_kept(case, array)

    others = [j for j, x in enumerate(trial.inputs) if j != i and is_float(x)]
    arrays = [trial.inputs[j] for j in others if _depends(case, trial, i, j)]
    if arrays and not all(map(is_kept, arrays)):
        return ("S01", *[id for id in ids if id != "S01"][:1])
    if {"S01", "L03"} <= set(ids):
        return ("L03", "S01") if is_kept(trial.inputs[i]) else ("S01", "L03")
    if ids[0] == "S01" and arrays and is_kept(trial.inputs[i]):
        return ("L04", "S02")
    if ids[0] != "L05":
        return tuple(ids)
    has_output = any(is_kept(y.value) for y in trial.outputs)
    if has_output and case.contract.keeps == case.contract.outputs:
        return ("L05",)  # it's just what is to be saved
    saved, unpacked = case.declared.saved_names, case.declared.unpacked_names
    if saved and unpacked and saved != unpacked and not is_kept(trial.inputs[i]):
        return ("S01", "L05")
    return ("L05", "S01") if has_output or is_kept(trial.inputs[i]) else ("L05",)


def _depends(case: CaseFile, trial: Trial, i: int, j: int) -> bool:
    """Whether the right gradient for argument ``i`` moves with argument ``j``."""
    inputs, run = trial.inputs, trial.passes[0]
    moved = (*inputs[:j], inputs[j] * 1.5 + 0.25, *inputs[j + 1 :])
    before = case.truth(trial, run)[i]
    after = case.gradients(trial, run.upstreams, moved)[i]
    return before is None or after is None or error_of(after, before) > 1e-9


def _finding(
    case: CaseFile, ids: tuple[str, ...], slots: list[int], every: Slots
) -> Finding:
    samples = every[slots[0]]
    what, evidence = wording.of_gradient(case, next(filter(is_off, samples)))
    where = " and ".join(case.slot(j) for j in slots)
    if len(slots) == len(every) > 1:
        shown = next(filter(is_off, samples)).run
        here = [s for j in slots for s in every[j] if s.run is shown and is_off(s)]
        where = " or ".join(map(case.slot, slots))
        if len(here) == len(slots):
            where = f"{case.name}.backward, every value it returns"
    looks_like, hint = "", ""
    if ids == ("L02",):
        k = ratio(samples)
        if k is not None:
            looks_like = (
                f"Your gradient is {k:.6g} times the right one, for every input."
            )
    if ids == ("A03", "L04"):
        looks_like = (
            "Each value you return is the right one for the other input: either they"
            " are in each other's places, or each formula uses its own input."
        )
    if ids[:1] == ("N01",) and (said := comparison.by_use(case, samples)):
        looks_like, hint = said.looks_like, said.hint
    is_guess = not ids or (ids == ("L02",) and bool(looks_like))
    said = None if ids else comparison.of_gradient(case, samples)
    if said:
        ids, looks_like, hint = said.ids, said.looks_like, said.hint
    elif not ids:
        hint = "Work this one element out by hand, then print each factor."
        if any(map(shape_mistakes.has_wrong_shape, samples)):
            hint = "Print the shape of each factor, and of what you return."
            off = next(s for s in samples if shape_mistakes.has_wrong_shape(s))
            whose = shape_mistakes.shaped_like(case, samples)
            looks_like = f"It always has the shape of {whose}." if whose else ""
            if off.raw is not None and not whose:
                looks_like = wording.about_shape(off.raw, off.right)
    about = tuple(map(case.argument, slots))
    return Finding(
        ids,
        what,
        where,
        looks_like,
        hint,
        evidence,
        arguments=about,
        is_guess=is_guess,
    )


def precision(case: CaseFile) -> Iterator[Finding]:
    """Gradients that are right to a few digits only."""
    every = itertools.chain(*samples_of(case, *LINEAR).values())
    yield from itertools.islice(_of_precision(case, [*every]), 1)


def _of_precision(case: CaseFile, every: Sequence[Sample]) -> Iterator[Finding]:
    for s in every:
        if s.error > rounding(s.tolerance):
            what, evidence = wording.of_gradient(case, s)
            single = s.raw is not None and s.raw.dtype == np.float32
            ids: tuple[str, ...] = ("T01", "T03") if single else ("T01",)
            looks = hint = ""
            alike = [o for o in every if o.slot == s.slot and o.tolerance < COARSE]
            if not is_single(s.trial, [(o.got, o.right) for o in alike]):
                ids, looks, hint = UNNAMED, FEW_DIGITS, WHICH_DIGITS
                if evidence and evidence.expected == 0:
                    looks = "It's nearly right: a small number is left where 0 belongs."
                    hint = "Is something bounded there, or a small number added?"
            yield Finding(ids, what, case.slot(s.slot), looks, hint, evidence)


def is_single(trial: Trial, pairs: Sequence[tuple[Array | None, Array]]) -> bool:
    """Whether a float32 is seen on the way, or what it leaves of digits.

    It rounds up and down, by some parts of 10 million; what is approximated doesn't.
    """
    kept = [*[s.packed for s in trial.saved], *[a.value for a in trial.attributes]]
    kept += [
        r.value for run in trial.passes for r in run.returned if r.value is not None
    ]
    kept += [y.value for y in trial.outputs if y.value is not None]
    if any(a.dtype == np.float32 for a in kept):
        return True
    there = [(a, b) for a, b in pairs if a is not None and a.shape == b.shape]
    seen = [(np.asarray(a, np.float64), b) for a, b in there]
    if all([np.array_equal(a, a.astype(np.float32)) for a, _ in seen]):
        return True
    told = [(a - b)[b != 0] / b[b != 0] for a, b in seen]
    off = np.concatenate([*told, np.zeros(1)])
    off = off[np.abs(off) > 1e-10]
    usual = float(np.median(np.abs(off))) if off.size else 0.0
    return 1e-8 < usual < 2e-7 and bool(off.min() < 0 < off.max())
