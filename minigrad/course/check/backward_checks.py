"""What backward returned, whatever its numbers: kinds, counts, None, exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from minigrad.course.check import gradient_checks, partial_match
from minigrad.course.check.casefile import (
    CaseFile,
    error_of,
    is_todo,
    lacks_values,
    thrown,
)
from minigrad.course.check.facts import Array, Crash, Facts, Pass, Trial, is_float
from minigrad.course.check.findings import UNNAMED, Finding
from minigrad.course.check.forward_checks import (
    confuses_parameters,
    unexplained,
    where_of,
)
from minigrad.course.check.samples import LINEAR
from minigrad.errors import count_of

FOR_JVP = "jvp finds what it needs, and backward finds nothing saved."
WHICH_KEEPS = (
    "Print ctx.saved_tensors in jvp and in backward. Which method of ctx fills it for "
    "which of the two?"
)
SHAPES = ("ValueError", "IndexError", "ShapeError", "DimensionError", "OperandError")


def returned_values(case: CaseFile) -> Iterator[Finding]:
    """Malformed return values, whether or not the engine has complained."""
    for fact, trial, run in case.passes("plain", "double"):
        if not run.returned_kind:
            if run.crash is None and any(g is not None for g in run.gradients):
                what = "gradients arrived, and backward was not called for them"
                hint = "What leads back from the result that forward returns?"
                yield Finding(UNNAMED, what, f"{case.name}.backward", hint=hint)
                return
            continue
        found = _malformed(case, trial, run)
        if found and fact is not case.facts[0]:
            found = replace(found, what=f"for {fact.case.name}, {found.what}")
        if found:
            yield found
            return


def _malformed(case: CaseFile, trial: Trial, run: Pass) -> Finding | None:
    wanted = len(case.contract.arguments)
    where, crashed = f"{case.name}.backward", run.crash is not None
    kinds = [r.kind for r in run.returned]
    strange = [k for k in kinds if k not in ("Tensor", "NoneType")]
    if run.returned_kind == "list":
        return Finding(("A04",), "backward returned a list", where, crashed=crashed)
    if run.returned_kind == "NoneType":
        return Finding(("A16",), "backward returned None", where)
    if strange:
        what = f"backward returned a value of type {strange[0]}"
        return Finding(("A12",), what, where, crashed=crashed)
    if len(kinds) < wanted:
        what = f"backward returned {count_of(len(kinds), 'gradient')};"
        what += f" forward took {wanted} arguments"
        return Finding(("A01",), what, where, crashed=True)
    if any(kind != "NoneType" for kind in kinds[wanted:]):
        what = f"backward returned {count_of(len(kinds), 'gradient')};"
        what += f" forward took {count_of(wanted, 'argument')}"
        hint = "Count forward's arguments after ctx, then what you return."
        looks = ""
        if len(kinds) == len(case.contract.outputs):
            looks = "One for each output? What's asked for is one for each argument."
        return Finding(UNNAMED, what, where, looks, hint, crashed=crashed)
    return _for_the_wrong_argument(case, trial, run)


def _for_the_wrong_argument(case: CaseFile, trial: Trial, run: Pass) -> Finding | None:
    """A gradient where there can be none, and perhaps None where one should be."""
    rights = case.truth(trial, run)
    for i, value in enumerate(trial.inputs):
        got = run.returned[i].value
        if is_float(value) or got is None:
            continue
        kind = "integers" if hasattr(value, "dtype") else f"a {type(value).__name__}"
        what = f"a gradient came back for {case.argument(i)}, which is {kind}"
        lacking = [
            j
            for j, right in enumerate(rights)
            if right is not None and run.returned[j].kind == "NoneType"
        ]
        exchanged = any(_is_the_one(got, rights[j]) for j in lacking)
        crashed = run.crash is not None
        ids = ("A03",) if exchanged else ("A02",)
        return Finding(ids, what, case.slot(i), crashed=crashed)
    return None


def _is_the_one(got: Array, right: Array | None) -> bool:
    return right is not None and error_of(got, right) <= 1e-4


def crashed(case: CaseFile) -> Iterator[Finding]:
    """An exception out of backward, with the name that the other cases give it."""
    for fact, trial, run in case.passes(*LINEAR, "same"):
        crash = run.crash
        if crash is None:
            continue
        if is_todo(crash):
            what = f"forward is right; backward still has its {crash.text!r}"
            hint = "Write backward: it gets ctx and the gradient of the output."
            yield Finding(UNNAMED, what, f"{case.name}.backward", hint=hint)
            return
        what = thrown(crash)
        if fact is not case.facts[0]:
            what = f"for {fact.case.name}: {what}"
        where = where_of(case, crash)
        ids = _by_its_text(case, trial, crash)
        if not ids and "NoneType" in crash.text and "NoneType" in run.received:
            ids = ("N02",)
        if ids == ("S01",) and any([not run.crash for run in fact.tangents]):
            yield Finding(UNNAMED, what, where, FOR_JVP, WHICH_KEEPS, crashed=True)
        elif ids:
            yield Finding(ids, what, where, crashed=True)
        else:
            told = f"for {fact.case.name}: {thrown(crash)}"
            yield from _by_the_numbers(case, crash, what, where, told)
        return


def _by_its_text(case: CaseFile, trial: Trial, crash: Crash) -> tuple[str, ...]:
    """The name of a mistake that the exception alone tells."""
    if confuses_parameters(case, crash):
        return ("A10",)
    is_call = "TypeError" in crash.kinds and "argument" in crash.text
    if is_call and (not crash.inside or f"{case.name}.backward()" in crash.text):
        return ("A13",)
    if "SavedModifiedError" in crash.kinds:
        return ("M05",) if trial.saved else UNNAMED
    if not crash.inside:
        return UNNAMED
    about_tuples = "'tuple'" in crash.text or "not tuple" in crash.text
    if "not callable" in crash.text and "saved_tensors" not in crash.line:
        return UNNAMED
    if found := re.search(r"expected (\d+), got (\d+)", crash.text):
        # Of a tuple of another length, it isn't what was saved.
        about_saved = int(found[2]) == len(trial.saved) or trial.save_calls > 1
        if "saved_tensors" not in crash.line and not about_saved:
            return UNNAMED
    unpacking = lacks_values(crash) or about_tuples
    is_index = "tuple index" in crash.text and "shape" not in crash.line
    if unpacking or "saved_tensors" in crash.line or is_index:
        if not trial.save_calls and "got 0" in crash.text:
            return ("S01",)
        return ("A15",) if trial.save_calls > 1 else ("A11",)
    return UNNAMED


def _by_the_numbers(
    case: CaseFile, crash: Crash, what: str, where: str, told: str
) -> Iterator[Finding]:
    """What the gradients that did come back, or were refused, say about it.

    They may be those of another case, so the exception is ``told`` with its own.
    """
    found = list(gradient_checks.gradient_values(case))
    named = [f for f in found if f.ids]
    if not crash.inside:
        yield from [replace(f, crashed=True) for f in named or found]
        if found:
            return
    about_shapes = any(kind in SHAPES for kind in crash.kinds)
    if named:
        yield replace(named[0], what=f"{named[0].what}. And {told}", crashed=True)
        return
    ids: tuple[str, ...] = UNNAMED
    if (about_shapes or "IndexError" in crash.kinds) and case.permuted:
        ids = ("S02",)
    elif crash.inside:
        bad = [fact for fact, _, run in case.passes("plain") if run.crash is not None]
        name = (
            "T04"
            if partial_match.is_about_memory(crash)
            else partial_match.named(case, (), bad)
        )
        ids = (name,) if name and not found else UNNAMED
    raised = unexplained(ids, crash, what, where)
    if found:
        # The ordinary case is told first: there is a number to look at.
        said = found[0] if found[0].story and not ids else raised
        about = "Of the exception: " if said is raised and raised.looks_like else ""
        yield replace(
            raised,
            what=f"{found[0].what}. And {told}",
            where=f"{found[0].where}, and {where}",
            looks_like=f"{about}{said.looks_like}",
            hint=said.hint,
            evidence=found[0].evidence,
            arguments=found[0].arguments,
        )
        return
    yield raised


def missing_gradients(case: CaseFile) -> Iterator[Finding]:
    """None where a gradient was asked for."""
    for fact, trial, run in case.passes("plain"):
        for i, right in enumerate(case.truth(trial, run)):
            if right is None or not trial.needed[i]:
                continue
            name = case.argument(i)
            what = f"for {fact.case.name}, {name}.grad is None after backward"
            if case.contract.in_place and run.returned[i].kind == "NoneType":
                # The leaf behind the argument gets zeros.
                what = f"for {fact.case.name}, backward returned None for {name}"
            elif run.gradients[i] is not None:
                continue
            ids = ("A06",) if _comes_when_frozen(case, fact, i) else ("A05",)
            yield Finding(ids, what, case.slot(i))
            return


def _comes_when_frozen(case: CaseFile, fact: Facts, i: int) -> bool:
    """Whether the gradient is worked out just when nobody needs it."""
    return any(
        not trial.needed[i]
        and len(run.returned) > i
        and run.returned[i].value is not None
        for frozen, trial, run in case.passes("only ")
        if frozen is fact
    )


def changed_arguments(case: CaseFile) -> Iterator[Finding]:
    """Tensors of others that backward wrote into."""
    where = f"{case.name}.backward"
    for _, trial, run in case.passes():
        if run.upstream_changed:
            what = "grad_output held other numbers after backward than before"
            yield Finding(("M01",), what, where)
            return
        if trial.name.startswith("written "):
            continue
        whose = ""
        if trial.backward_changed_input:
            whose = "an input no longer holds the numbers it came with"
        elif trial.backward_changed_output:
            whose = "the result of forward holds other numbers than before"
        elif trial.backward_changed_saved:
            whose = "a tensor that had been saved holds other numbers than before"
        if whose:
            yield Finding(("M05",), f"after backward, {whose}", where)
            return
