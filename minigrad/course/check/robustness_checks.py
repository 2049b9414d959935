"""Gradients that are right once, and not in other circumstances."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from minigrad.course.check import traits, wording
from minigrad.course.check.casefile import CaseFile, error_of, thrown
from minigrad.course.check.facts import Array, Case, Pass, Trial
from minigrad.course.check.findings import UNNAMED, Finding
from minigrad.course.check.forward_checks import where_of
from minigrad.course.check.samples import COARSE, coarse, of_pass
from minigrad.course.check.side_effects import left_behind
from minigrad.course.check.spy import equal
from minigrad.course.check.trials import FIRST, SECOND, SHARED

UNLIKELY = 1e-9
"""With a chance as small as this, it's held to be no accident."""


def left_changed(case: CaseFile) -> Iterator[Finding]:
    """What forward has changed of its inputs and of the modes, or backward of these."""
    for _, trial in case.plain:
        found = left_behind(f"{case.name}.forward", trial.left)
        found = found or left_behind(f"{case.name}.backward", trial.left_by_backward)
        if found:
            yield found
            return


def frozen_inputs(case: CaseFile) -> Iterator[Finding]:
    """With one input frozen, the gradients of the others must stay the same."""
    for fact, trial, run in case.passes("only "):
        wrong = _wrong_slots(case, trial, run)
        needed = " and ".join(
            case.argument(i) for i in fact.case.differentiable if trial.needed[i]
        )
        what = f"for {fact.case.name}, with only {needed} requiring grad"
        if run.crash:
            what = f"{what}: {thrown(run.crash)}"
            ids = ("A06",) if _met_none(run) else UNNAMED
            yield Finding(ids, what, where_of(case, run.crash), crashed=True)
        elif wrong:
            i = wrong[0]
            if run.gradients[i] is None:
                what = f"{what}, {case.argument(i)}.grad is None after backward"
                yield Finding(("A06",), what, case.slot(i))
            else:
                what = f"{what}, the gradient of {case.argument(i)} is another one"
                what += " than with all of them"
                ids = ("S02",) if case.permuted else UNNAMED
                yield Finding(ids, what, case.slot(i))
        else:
            continue
        return


def _met_none(run: Pass) -> bool:
    crash = run.crash
    return crash is not None and crash.inside and "NoneType" in crash.text


def _wrong_slots(case: CaseFile, trial: Trial, run: Pass) -> list[int]:
    """The slots whose gradient is missing or off."""
    found = []
    for i, right in enumerate(case.truth(trial, run)):
        if right is None or not trial.needed[i]:
            continue
        got = run.gradients[i] if i < len(run.gradients) else None
        if got is None or error_of(got, right) > coarse(case.tolerance(trial)):
            found.append(i)
    return found


def unneeded_gradients(case: CaseFile) -> Iterator[Finding]:
    """Gradients that nobody needs, where the contract asks to skip them."""
    if not case.contract.skips_unneeded:
        return
    for fact, trial, run in case.passes("only "):
        if len(run.returned) < len(case.contract.arguments):
            continue  # it can't be said which gradient is whose
        for i in fact.case.differentiable:
            came = run.returned[i].value is not None
            if not trial.needed[i] and came:
                what = f"with {case.argument(i)} frozen, backward still returned a"
                what += " gradient for it"
                yield Finding(("A07",), what, case.slot(i))
                return


def needless_work(case: CaseFile) -> Iterator[Finding]:
    """All the operations of a gradient that nobody needs, which is thrown away then."""
    for fact in case.facts:
        alone = {t.name: t.passes[0] for t in fact.trials if t.name.startswith("only ")}
        for (one, a), (other, b) in itertools.permutations(alone.items(), 2):
            if a.ran and not collections.Counter(a.ran) - collections.Counter(b.ran):
                i, j = int(one.split()[1]), int(other.split()[1])
                what = f"with only {case.argument(j)} requiring grad, backward still"
                what += f" did all the work of the gradient for {case.argument(i)}"
                yield Finding(("A07",), what, case.slot(i))
                return


def spared_work(case: CaseFile) -> Iterator[Finding]:
    """Operations of backward that the contract asks it to do without."""
    for _, _, run in case.passes("plain"):
        ran = {each.partition(" ")[0].lower() for each in run.ran}
        for name in case.contract.spares:
            if name in ran:
                what = f"backward computes {name}, and the task asks it not to"
                hint = "Can these numbers be had from what forward returns?"
                yield Finding(UNNAMED, what, f"{case.name}.backward", hint=hint)
                return


def single_outputs(case: CaseFile) -> Iterator[Finding]:
    """With one output unused, the others must still send their share."""
    for fact, trial, run in case.passes("output "):
        place = int(trial.name.removeprefix("output "))
        name = case.contract.outputs[place]
        what = f"for {fact.case.name}, with only the output {name} used"
        wrong = _wrong_slots(case, trial, run)
        if run.crash:
            met_none = "NoneType" in run.received
            ids = ("N02",) if met_none and run.crash.inside else UNNAMED
            what = f"{what}: {thrown(run.crash)}"
            yield Finding(ids, what, where_of(case, run.crash), crashed=True)
        elif wrong and run.gradients[wrong[0]] is None and _right_with_all(case):
            i = wrong[0]
            what = f"{what}, {case.argument(i)}.grad is None after backward"
            yield Finding(("N06",), what, case.slot(i))
        else:
            continue
        return


def _right_with_all(case: CaseFile) -> bool:
    """Whether the gradients are right where every output is used."""
    return not any(_wrong_slots(case, t, run) for _, t, run in case.passes("plain"))


def zeros_arrive(case: CaseFile) -> Iterator[Finding]:
    """Zeros for an unused output, where the contract asks for None."""
    if case.contract.materialize_grads:
        return
    if any(trial.materialize_grads for _, trial in case.plain):
        what = "for an unused output, backward gets zeros, not None"
        yield Finding(("N03",), what, case.name)


def one_tensor_twice(case: CaseFile) -> Iterator[Finding]:
    """A tensor in every argument's place gets the sum of all the gradients."""
    for fact, trial, run in case.passes("same"):
        rights = [a for a in case.truth(trial, run) if a is not None]
        right = np.asarray(sum(rights))
        got = run.gradients[0] if run.gradients else None
        if got is None or error_of(got, right) > coarse(case.tolerance(trial)):
            x = case.argument(0)
            call = f"{case.name}.apply({', '.join([x] * len(trial.inputs))})"
            what = f"for {fact.case.name}, the gradient of {x} after {call} isn't the"
            what += " sum of what each of its places should get"
            hint = "Which line of yours treats one tensor in two places differently?"
            yield Finding(UNNAMED, what, f"{case.name}.backward", hint=hint)
            return


def upstreams_in_memory(case: CaseFile) -> Iterator[Finding]:
    """The same upstream gradient may lie in memory in many ways."""
    for fact, trial, run in case.passes(*LIES):
        if run.crash is None and not _wrong_slots(case, trial, run):
            continue
        what = f"for {fact.case.name}, {LIES[trial.name]}"
        where = f"{case.name}.backward"
        writes = run.crash is not None and "InplaceError" in run.crash.kinds
        if run.crash:
            what = f"{what}: {thrown(run.crash)}"
            where = where_of(case, run.crash)
        else:
            what = f"{what}, the gradient of {_names(case, trial, run)} is wrong"
        ids = ("M01",) if writes else ("T04",)
        yield Finding(ids, what, where, crashed=run.crash is not None)
        return


LIES = {
    "expanded": "after y.sum().backward()",
    "transposed": "with an upstream gradient that is transposed in memory",
    "sliced": "with an upstream gradient that is every other number of its memory",
    "reversed": "with an upstream gradient that runs backwards through its memory",
}
"""How an upstream gradient lies in memory, in words."""


def _names(case: CaseFile, trial: Trial, run: Pass) -> str:
    return " and ".join(case.argument(i) for i in _wrong_slots(case, trial, run))


def drawn_again(case: CaseFile) -> Iterator[Finding]:
    """Zeros in other places than forward's: the draw was repeated."""
    if not case.contract.random:
        return
    for fact, trial, run in case.passes("plain"):
        for i in _wrong_slots(case, trial, run):
            got, (g, *_) = run.gradients[i], run.upstreams
            y = trial.outputs[0].value
            if got is None or g is None or y is None or got.shape != y.shape:
                continue
            if not _other_zeros(got, y, trial.inputs[i], g):
                continue
            again = _differs(case, i)
            if again or _is_another_draw(got, trial.inputs, y, g):
                what = f"for {fact.case.name}, the zeros of the gradient for"
                what += f" {case.argument(i)} aren't where the result has its zeros"
                what += ", and a second backward gives others" if again else ""
                yield Finding(("S09",), what, case.slot(i))
                return


def drawn_alike(case: CaseFile) -> Iterator[Finding]:
    """The same places dropped in every call, or as many: not by chance."""
    if not case.contract.random:
        return
    where, odds = f"{case.name}.forward", 1.0
    for fact in case.facts:
        x, p = fact.case.inputs
        calls = [t for t in fact.trials if _same_numbers(t.inputs, (x, p))]
        results = [t.outputs[0].value for t in calls if t.crash is None]
        dropped = [y == 0 for y in results if y is not None]
        chance = (p * p + (1 - p) ** 2) ** (x.size * (len(dropped) - 1))
        if chance < UNLIKELY and all(equal(y, dropped[0]) for y in dropped):
            what = f"for {fact.case.name}, {len(dropped)} calls with the same numbers"
            what += " dropped the same places"
            hint = "Which line of yours says where the random numbers begin?"
            looks_like = "A seed is set, or numbers that were drawn once are kept."
            yield Finding(UNNAMED, what, where, looks_like, hint)
            return
        share = p * x.size
        alike = not p or all(abs(int(y.sum()) - share) < 1 for y in dropped)
        odds *= _chance_of_share(x.size, p) ** len(dropped) if alike else np.inf
    if odds < UNLIKELY:
        what = "in every call, just the share p of the numbers was dropped, rounded up "
        what += "or down"
        looks_like = "Only where they are is left to chance, and not how many."
        hint = "Each number has a draw of its own. Could all of them be dropped by it?"
        yield Finding(UNNAMED, what, where, looks_like, hint)


def _chance_of_share(size: int, p: float) -> float:
    """How likely it is that the share of the numbers that's dropped is p, rounded."""
    counts = [n for n in range(size + 1) if abs(n - p * size) < 1]
    return sum([math.comb(size, n) * p**n * (1 - p) ** (size - n) for n in counts])


def _other_zeros(got: Array, y: Array, x: Array, g: Array) -> bool:
    told = (x != 0) & (g != 0)
    return bool(np.any((got == 0)[told] != (y == 0)[told]))


def _is_another_draw(got: Array, inputs: tuple[Any, ...], y: Array, g: Array) -> bool:
    """Whether the gradient is right for a mask that no threshold explains."""
    x, p = inputs[0], float(inputs[1])
    passed = got != 0
    if error_of(got, g * passed / (1 - p)) > COARSE:
        return False
    return not any(
        _is_threshold(passed, values) for values in (x, np.abs(x), y, np.abs(y), g)
    )


def _is_threshold(passed: Array, values: Array) -> bool:
    """Whether those that passed are all larger, or all smaller, than the others."""
    inside, outside = values[passed], values[~passed]
    if not inside.size or not outside.size:
        return True
    return bool(inside.min() >= outside.max() or inside.max() <= outside.min())


def _differs(case: CaseFile, i: int) -> bool:
    """Whether two backward passes through one graph differ anywhere."""
    for _, trial in case.trials("again"):
        firsts = [run.gradients[i] for run in trial.passes if not run.crash]
        arrays = [a for a in firsts if a is not None]
        if len(arrays) == 2 and error_of(*arrays) > COARSE:
            return True
    return False


def two_live_calls(case: CaseFile) -> Iterator[Finding]:
    """Two calls before the first backward must not see each other's values."""
    on_class = case.declared.state_on_class
    for fact, trial, run in case.passes("first", "second", f"{SHARED} "):
        shared = trial.name.startswith(SHARED)
        wrong = run.crash is not None or bool(_wrong_slots(case, trial, run))
        alone = shared or _is_right_alone(case, trial, run)
        if not (trial.rewritten or (wrong and alone)):
            continue
        given = "the same tensor" if shared else "other numbers"
        what = (
            f"for {fact.case.name}: after a = {case.name}.apply(...) and then"
            f" b = {case.name}.apply(...) with {given},"
        )
        if wrong:
            number = "second" if trial.name in ("second", f"{SHARED} 1") else "first"
            what += f" the gradients of the {number} call aren't its own"
        else:
            what += " backward of b changed the gradients that a had returned"
        where = f"{case.name}, two calls alive at once"
        ids = ("S04",) if on_class else ("S05",)
        if on_class:
            where = ", ".join(f"{case.name}.{name}" for name in on_class)
        yield Finding(ids, what, where)
        return


def _is_right_alone(case: CaseFile, trial: Trial, run: Pass) -> bool:
    """Whether the same numbers went through a call that was alone."""
    return any(
        _same_numbers(trial.inputs, alone.inputs)
        and _same_numbers(run.upstreams, before.upstreams)
        for _, alone, before in case.passes("plain")
    )


def _same_numbers(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def other_numbers(case: CaseFile) -> Iterator[Finding]:
    """A gradient that is wrong for numbers that no other trial has tried."""
    every = [
        (bool(_wrong_slots(case, trial, run)), fact, trial, run)
        for fact, trial, run in case.passes("plain", FIRST, SECOND)
        if not run.crash
    ]
    wrong = [(fact, trial, run) for is_wrong, fact, trial, run in every if is_wrong]
    for sample in itertools.chain(*[of_pass(case, *one) for one in wrong[:1]]):
        if not sample.is_wrong:
            continue
        what, _ = wording.of_gradient(case, sample)
        told: dict[bool, list[Mapping[traits.Trait, bool]]] = {True: [], False: []}
        for is_wrong, fact, trial, run in every:
            seen = Case(fact.case.name, trial.inputs, run.upstreams)
            told[is_wrong].append(
                traits.of_case(seen, case.contract.arguments, with_shapes=False)
            )
        words = traits.separating(told[True], told[False])[:1]
        looks = (
            f"Where it's wrong, {words[0]}; where it's right, never." if words else ""
        )
        hint = "Run your Function on this case. Which line treats these numbers in "
        hint += "another way than those of the cases before?"
        yield Finding(UNNAMED, what, f"{case.name}.backward", looks, hint)
        return


def second_backward(case: CaseFile) -> Iterator[Finding]:
    """The same graph must give the same gradient again."""
    for fact, trial, run in case.passes("again"):
        if run.crash is None and not _wrong_slots(case, trial, run):
            continue
        seen = thrown(run.crash) if run.crash else "other numbers came back"
        what = f"for {fact.case.name}, a second backward with retain_graph: {seen}"
        where = where_of(case, run.crash) if run.crash else f"{case.name}.backward"
        modified = run.crash is not None and "SavedModifiedError" in run.crash.kinds
        yield Finding(("M05",) if modified else ("S10",), what, where)
        return


UNNOTICED = (
    "What reaches backward besides ctx.saved_tensors, or is in there as a copy without "
    "a history (detach)? Only what is saved as it came is compared with its version."
)


def written_inputs(case: CaseFile) -> Iterator[Finding]:
    """An input that is changed after forward must be noticed, or not matter."""
    for fact, trial, run in case.passes("written "):
        if run.crash is not None or not _wrong_slots(case, trial, run):
            continue
        i = int(trial.name.removeprefix("written "))
        what = f"for {fact.case.name}: {case.argument(i)} was changed after forward,"
        what += " the gradient changed with it, and no error was raised"
        arrays = any(a.kind == "ndarray" and a.shares_memory for a in trial.attributes)
        shared = case.declared.tensors_shared or case.declared.tensors_on_class
        where, hint = f"{case.name}, what forward leaves on ctx", ""
        ids: tuple[str, ...] = ("S08",) if arrays else ("S06",)
        if shared and not trial.attributes:
            ids = ("S04",) if case.declared.tensors_on_class else ("S05",)
        elif trial.saved and not trial.attributes:
            ids, hint = UNNAMED, UNNOTICED
        yield Finding(ids, what, where, hint=hint)
        return
