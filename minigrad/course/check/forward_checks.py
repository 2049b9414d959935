"""What is wrong with forward: it fails, returns another thing, or other numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from minigrad import errors
from minigrad.course.check import (
    gradient_checks,
    known_mistakes,
    partial_match,
    result_comparison,
    traits,
    wording,
)
from minigrad.course.check.casefile import (
    CaseFile,
    difference_of,
    error_of,
    is_todo,
    thrown,
)
from minigrad.course.check.facts import Array, Crash, Facts, Output, Trial, is_float
from minigrad.course.check.findings import (
    FEW_DIGITS,
    UNNAMED,
    WHICH_DIGITS,
    Finding,
)
from minigrad.course.check.samples import COARSE, close_to, rounding
from minigrad.mistakes import TABLE

HOW_MANY = "Print a large result. Which of its numbers are 0, and how many should be?"
COMPARE = "Compare this step of forward with what the task says."
OUT_OF_RANGE = "math domain error", "math range error", "division by zero"


def crashed(case: CaseFile) -> Iterator[Finding]:
    """An exception out of apply."""
    for fact, trial in case.trials():
        crash = trial.crash
        if crash is None:
            continue
        ids = _named_crash(case, crash, trial)
        if not ids and any(t.crash is None for _, t in case.plain):
            ids = _only_here(case, crash)
        what = thrown(crash)
        if fact is not case.facts[0]:
            what = f"for {fact.case.name}: {what}"
        yield unexplained(ids, crash, what, where_of(case, crash))
        return


def unexplained(ids: tuple[str, ...], crash: Crash, what: str, where: str) -> Finding:
    """An exception; without a name, with what can be said of its text."""
    if ids:
        return Finding(ids, what, where, crashed=True)
    story, hint = story_about(crash.text), question_about(crash.text)
    return Finding(ids, what, where, story, hint, crashed=True)


def question_about(exception: str) -> str:
    """What to ask oneself about an exception that no mistake of the table explains."""
    for words, question in QUESTIONS.items():
        if words in exception:
            return question
    if "fix: " in exception:
        return (
            "Which value of yours does the message speak of? Print its type and its "
            "shape just before that line."
        )
    return "Read the exception's text, then print what it names."


def story_about(exception: str) -> str:
    """What is true of an exception that no mistake of the table explains."""
    for pattern, story in STORIES.items():
        if found := re.search(pattern, exception):
            return found.expand(story)
    return ""


STORIES = {
    r"Backward' object has no attribute '(\w+)'": r"`ctx.\1` is read, and no line that "
    "ran has put anything of that name on ctx.",
    r"name '(\w+)' is not defined": r"`\1` has no value in this method: it's neither "
    "one of its arguments nor made in it.",
    r"variable '(\w+)'": r"`\1` is read before a line has given it a value.",
    r"-1\b[^']*' is invalid for input of size 0": "A -1 in a shape is found by "
    "division, and no length can be found so beside a length of 0.",
    "math domain error": "A function gets a number for which it has no value, as the "
    "logarithm of 0.",
    "cannot be multiplied": "The number of columns on the left isn't the number of "
    "rows on the right.",
    "must match the size of": "Two shapes meet that broadcasting can't bring together.",
    r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)": r"A loop, or an "
    r"index, goes past the end: \1, where axis \2 of an array has \3, counted from 0.",
    "too many indices|out of range": "Something has fewer axes there, or fewer "
    "entries, than the line takes for granted.",
}
"""The same for some words of an exception."""

QUESTIONS = {
    "was taken away": "Write down its formula. Which sums, products, powers and maxima "
    "is it made of?",
    "was asked for the derivative": "What would the engine find? Derive it on paper, "
    "and write the formula.",
    "is not defined": "A method knows what it is given, and what lies on ctx. Where "
    "should this one get that name from?",
    "cannot access local variable": "Which line gives that name its value, and does it "
    "run before this one?",
    "Backward' object has no attribute": "Which line is to put that name on ctx, and "
    "does it run? Print vars(ctx).keys() just after it.",
    "has no attribute": "Print the type of what stands before the dot. Is it the "
    "tensor that you take it for, or a number, a tuple, None?",
    "unsupported operand": "Print the types of both operands. Which one isn't a tensor "
    "or a number?",
    "not supported between": "Print the types of what is compared.",
    "math domain error": "Print what goes into that function: at 0, or for a negative "
    "number, it may have no value. Where does this one come from?",
    "division by zero": "Which number is 0 there, and what should come out then?",
    "does not support ufuncs": "NumPy's functions take arrays. Which method of the "
    "tensor, or which function of minigrad, does the same?",
    "Boolean value of Tensor": "A comparison gives one true or false for each element. "
    "Which line wants a single one, as `if`, `and` and `max` do?",
    "cannot be multiplied": "Write the shape of each factor beside it. Over which axis "
    "should the product sum? Has one to be transposed, or is `*` meant?",
    "must match the size of": "Print both shapes, and write one below the other, flush "
    "right. Which axis is missing, or has another length?",
    "out of range (expected to be": "Print the shape there: how many axes are left?",
    "too many indices": "Print the shape there: how many axes are left?",
    "out of bounds": "Which array is picked from there, and with which index? Where "
    "does the length come from that this index goes up to?",
    "is invalid for input of size": "How many numbers are there, and how many fit into "
    "the shape that you ask for?",
    "positional argument": "Count what this call hands over, and what the function "
    "takes.",
    "is not callable": "What stands before the brackets isn't a function. Is it what "
    "you take it for, and are these the right brackets?",
    "context manager protocol": "What comes after `with` has to be called, like a "
    "function. Which two signs are missing there?",
}
"""A question for some words of an exception."""


def _named_crash(case: CaseFile, crash: Crash, trial: Trial) -> tuple[str, ...]:
    kinds = crash.kinds
    if confuses_parameters(case, crash):
        return ("A10",)
    if "SavedTypeError" in kinds:
        return ("A14",)
    if "ctx" in case.declared.forward_parameters[1:]:
        return ("A09",)
    if "InplaceError" in kinds and "dirty" in crash.text:
        return ("M03",)
    if "InplaceError" in kinds and not case.contract.in_place:
        return ("M02",)
    if "TypeError" in kinds and not crash.inside and "argument" in crash.text:
        return ("A09",)
    return ("T04",) if partial_match.is_about_memory(crash) else UNNAMED


def confuses_parameters(case: CaseFile, crash: Crash) -> bool:
    """Whether the tuple of inputs was taken for one of them, or the output was."""
    several = len(case.contract.arguments) > 1
    about_it = several or "tuple" in crash.text
    return case.mistakes_parameters and about_it and not is_todo(crash)


def _only_here(case: CaseFile, crash: Crash) -> tuple[str, ...]:
    """A crash in some cases only: the mistake that shows in these."""
    bad = [f for f, t in case.plain if t.crash is not None]
    is_large = all([partial_match.largest(fact) >= traits.LARGE for fact in bad])
    if is_large and any([words in crash.text for words in OUT_OF_RANGE]):
        return ("L20",)
    name = partial_match.named(case, (), bad)
    return (name,) if name else UNNAMED


def where_of(case: CaseFile, crash: Crash) -> str:
    """The learner's line that raised, or the call that failed."""
    if not crash.inside:
        return f"the call of {case.name}.{crash.stage}"
    text = f"{case.name}.{crash.stage}, line {crash.number}"
    return f"{text}: {crash.line}" if crash.line else text


def result(case: CaseFile) -> Iterator[Finding]:
    """A result that cannot carry a gradient, or an input that was changed."""
    wanted = len(case.contract.outputs)
    where = f"{case.name}.forward"
    for _, trial in case.plain:
        kinds = [y.kind for y in trial.outputs]
        bad = [kind for kind in kinds if kind != "Tensor"]
        if kinds == ["NoneType"]:
            yield Finding(("A17",), "forward returned nothing", where)
        elif bad and len(kinds) == 1:
            asked = "a tuple of Tensors" if wanted > 1 else "a Tensor"
            what = f"forward returned a {bad[0]}, not {asked}"
            yield Finding(("A17",), what, where)
        elif bad:
            what = f"forward returned a {bad[0]} among its outputs, not a Tensor"
            yield Finding(("A17",), what, where)
        elif len(kinds) != wanted:
            what = f"forward returned {errors.count_of(len(kinds), 'tensor')}; "
            what += f"the task asks for {wanted}"
            hint = "Compare what forward returns with what the task asks for."
            yield Finding(UNNAMED, what, where, hint=hint)
        elif found := [*_changed(case, trial), *_unrecorded(case, trial)]:
            yield from found
        else:
            continue
        return


def _changed(case: CaseFile, trial: Trial) -> Iterator[Finding]:
    """Inputs that were written to, against what the contract says."""
    where = f"{case.name}.forward"
    if case.contract.in_place:
        yield from _not_in_place(case, trial)
    elif trial.changed:
        names = " and ".join(case.argument(i) for i in trial.changed)
        what = f"after forward, {names} no longer holds the numbers it came with"
        yield Finding(("M02",), what, where)
    elif trial.dirty:
        what = "a tensor was marked dirty that isn't an input"
        if any(place >= 0 for place in trial.dirty):
            what = "an input was marked dirty, and forward left it as it was"
        yield Finding(("M03",), what, where)


def _not_in_place(case: CaseFile, trial: Trial) -> Iterator[Finding]:
    """What is missing from: changed, marked dirty, and returned."""
    where, x = f"{case.name}.forward", case.argument(0)
    changes = any(t.changed for _, t in case.plain)
    returned = trial.outputs[0].is_input == 0
    if changes and not trial.dirty:
        what = f"{x} was changed in place, and mark_dirty wasn't called"
        yield Finding(("M02",), what, where)
    elif trial.dirty and trial.dirty != (0,):
        what = f"the tensor that was marked dirty isn't the one given as {x}"
        yield Finding(("M03",), what, where)
    elif trial.dirty and not returned:
        what = f"{x} was marked dirty, and forward returned another tensor"
        yield Finding(("M03",), what, where)
    elif not returned or not changes:
        what = (
            f"{x} still holds the numbers it came with; it should be changed in place"
        )
        hint = "Reread the task: whose memory should the result be in?"
        yield Finding(UNNAMED, what, where, hint=hint)


def _unrecorded(case: CaseFile, trial: Trial) -> Iterator[Finding]:
    """Outputs without a graph that should have one."""
    marked = case.contract.non_differentiable
    for i, y in enumerate(trial.outputs):
        if i in marked or y.requires_grad or not any(trial.needed):
            continue
        name = wording.output_name(case, i)
        if i in trial.marked:
            what = f"{name} was marked as non-differentiable"
            yield Finding(("N08",), what, f"{case.name}, what is marked")
        elif y.value is not None and y.value.dtype.kind in "biu":
            what = f"{name} is {y.value.dtype}: no gradient can come back through it"
            hint = "Which line of forward changes the dtype, and has it to?"
            yield Finding(UNNAMED, what, f"{case.name}.forward", hint=hint)
        else:
            what = f"{name} does not require grad, although an input does"
            hint = "Which line of forward makes this tensor, and is it recorded?"
            yield Finding(UNNAMED, what, f"{case.name}.forward", hint=hint)
        return


def values(case: CaseFile) -> Iterator[Finding]:
    """The results, against the reference."""
    for place in range(len(case.contract.outputs)):
        off = list(wrong_results(case, place))
        if off:
            fact, trial, right = min(
                off,
                key=lambda e: (
                    not case.unusual(e[1]),
                    e[0].case.is_bare or partial_match.largest(e[0]) >= traits.LARGE,
                    _is_precise(e, place),
                ),
            )
            yield _finding(case, place, off, (fact, trial, right))
            return


_Wrong = tuple[Facts, Trial, Array]


def wrong_results(case: CaseFile, place: int) -> Iterator[_Wrong]:
    """The calls whose output at this place isn't what it should be."""
    for fact, trial in case.trials("plain", "same"):
        right = case.results(trial)[place]
        got = None if trial.crash else trial.outputs[place].value
        if got is None:
            continue
        off = error_of(got, right) > rounding(case.tolerance(trial))
        if off or got.dtype != right.dtype or case.unusual(trial):
            yield fact, trial, right


def _is_precise(wrong: _Wrong, place: int) -> bool:
    """Whether only the last digits, or the dtype, are off."""
    got = wrong[1].outputs[place].value
    return got is not None and error_of(got, wrong[2]) <= COARSE


def _finding(
    case: CaseFile, place: int, off: Sequence[_Wrong], first: _Wrong
) -> Finding:
    fact, trial, right = first
    got = trial.outputs[place].value
    assert got is not None
    where, name = f"{case.name}.forward", wording.output_name(case, place)
    hint = "Compute this one element by hand and compare."
    if got.shape != right.shape:
        what = (
            f"for {fact.case.name}, {name} has shape {wording.shape_text(got.shape)};"
            f" it should have shape {wording.shape_text(right.shape)}"
        )
        ids = _stories(case, place) or _where_it_is_right(case, place, off)
        hint = "" if ids else "Print the shape of each step."
        looks_like = "" if ids else wording.about_shape(got, right)
        return Finding(ids, what, where, looks_like, hint)
    if case.contract.random:
        unusual = case.unusual(trial)
        if unusual:
            what = f"for {fact.case.name}, {unusual}"
            return Finding(UNNAMED, what, where, hint=HOW_MANY)
    if error_of(got, right) <= rounding(case.tolerance(trial)):
        what = (
            f"for {fact.case.name}, {name} is {got.dtype}; it should be {right.dtype}"
        )
        ids = ("T01",) if got.dtype == np.float32 else ("T03",)
        story = "The numbers are right; their dtype isn't that of the input."
        if not is_float(got) or not is_float(right):
            ids = UNNAMED
            story = "The numbers are right; their dtype isn't what the task asks for."
        return Finding(ids, what, where, looks_like=story)
    what, evidence = wording.of_result(case, fact, trial, place, right)
    near = abs(evidence.got - evidence.expected) <= 1e-3 * abs(evidence.expected)
    if near and error_of(got, right) <= COARSE:
        seen = [(t.outputs[place].value, b) for _, t, b in off]
        if gradient_checks.is_single(trial, seen):
            return Finding(("T01",), what, where, evidence=evidence)
        return Finding(UNNAMED, what, where, FEW_DIGITS, WHICH_DIGITS, evidence)
    ids = _stories(case, place) or _where_it_is_right(case, place, off)
    said = None if ids else result_comparison.of_result(case, place, off)
    looks_like, hint = "", "" if ids else hint
    if said:
        ids, looks_like, hint = said.ids, said.looks_like, said.hint
    if ids and ids[0] not in TABLE:  # the exercise has a sentence for it
        ids, looks_like, hint = UNNAMED, ids[0], COMPARE
    elif ids and not looks_like:
        # Of the same mistake in backward, the table speaks of the gradient.
        looks_like = TABLE[ids[0]].looks_like.replace("gradient", "result")
    return Finding(ids, what, where, looks_like, hint, evidence, is_guess=bool(said))


def _stories(case: CaseFile, place: int) -> tuple[str, ...]:
    """The first known mistake of forward that predicts the results of all cases."""
    trials = [t for _, t in case.plain if t.crash is None]
    told = [_numbered(case, t) for t in trials]
    for key in told[0]:
        if all(
            _fits(case, t, place, each.get(key))
            for t, each in zip(trials, told, strict=True)
        ):
            return (key[0],)
    return UNNAMED


def _numbered(
    case: CaseFile, trial: Trial
) -> dict[tuple[str, int], tuple[object, ...]]:
    found: dict[tuple[str, int], tuple[object, ...]] = {}
    for id, told in case.wrong_results(trial):
        found[id, len([key for key in found if key[0] == id])] = told
    cut = tuple(float(int(v)) if isinstance(v, float) else v for v in trial.inputs)
    if not case.contract.random and known_mistakes.is_cut(case):
        with np.errstate(all="ignore"):
            value = case.exercise.reference(*cut)
        found["T02", -1] = value if isinstance(value, tuple) else (value,)
    return found


def _fits(
    case: CaseFile, trial: Trial, place: int, told: tuple[object, ...] | None
) -> bool:
    got = trial.outputs[place].value
    if told is None or told[place] is None or got is None:
        return False
    return error_of(got, np.asarray(told[place])) <= close_to(case.tolerance(trial))


def _where_it_is_right(
    case: CaseFile, place: int, off: Sequence[_Wrong]
) -> tuple[str, ...]:
    """What shows only at special or large values, or for one option."""
    if all(_is_only_not_a_number(t.outputs[place], right) for _, t, right in off):
        large = [partial_match.largest(fact) >= traits.LARGE for fact, _, _ in off]
        some_right = len({id(fact) for fact, _, _ in off}) < len(case.facts)
        values = [(t.outputs[place].value, t.inputs[:1]) for _, t, _ in off]
        special = partial_match.are_special(values)
        if some_right and (all(large) or (special and not any(large))):
            return ("L20",) if all(large) else ("L19",)
        return UNNAMED
    turned = partial_match.are_the_turned([fact for fact, _, _ in off], case.facts)
    if turned or all(_follows_memory(case, each, place) for each in off):
        return ("T04",)
    if not any(_has_other_shape(t.outputs[place], right) for _, t, right in off):
        return UNNAMED
    name = partial_match.named(case, (), [fact for fact, _, _ in off])
    return (name,) if name else UNNAMED


def _follows_memory(case: CaseFile, wrong: _Wrong, place: int) -> bool:
    """Whether this is the result for an input read in memory's order."""
    fact, trial, _ = wrong
    got = trial.outputs[place].value
    if got is None or case.contract.random or not partial_match.has_other_order(fact):
        return False
    read = [partial_match.in_memory(x) if is_float(x) else x for x in trial.inputs]
    with np.errstate(all="ignore"):
        found = case.exercise.reference(*read)
    told = found[place] if isinstance(found, tuple) else found
    return error_of(got, np.asarray(told)) <= close_to(case.tolerance(trial))


def _has_other_shape(seen: Output, right: Array) -> bool:
    return seen.value is None or seen.value.shape != right.shape


def _is_only_not_a_number(seen: Output, right: Array) -> bool:
    got = seen.value
    if got is None or got.shape != right.shape or not np.all(np.isfinite(right)):
        return False
    finite = np.isfinite(got)
    off = difference_of(got[finite], right[finite]) > COARSE
    return not np.all(finite) and not np.any(off)


def style(case: CaseFile) -> Iterator[Finding]:
    """A forward that takes ctx, where the exercise asks for one without."""
    if case.contract.without_ctx and not case.declared.own_setup_context:
        yield Finding(
            ("A09",),
            "forward takes ctx, and there's no setup_context",
            f"{case.name}.forward",
            looks_like="The first style. Here forward must take no ctx: it computes, "
            "and setup_context fills ctx.",
        )


def marks(case: CaseFile) -> Iterator[Finding]:
    """Outputs without a gradient that were not marked as such."""
    for i in case.contract.non_differentiable:
        for _, trial in case.plain:
            if i not in trial.marked and len(trial.outputs) > i:
                name = wording.output_name(case, i)
                what = f"{name} wasn't marked as non-differentiable"
                yield Finding(("N05",), what, f"{case.name}, what is marked")
                return
