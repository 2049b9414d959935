"""Turn facts into findings; the facts may come from here or from another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from minigrad.course.exercise import Exercise, slopes
from minigrad.course.findings import Evidence, Finding
from minigrad.course.probes import Array, Crash, Facts, Pass, Trial

_UNNAMED: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """Why an answer is refused, and what is to be said about it even if it is right."""

    findings: tuple[Finding, ...]
    remarks: tuple[Finding, ...]


def judge(facts: Sequence[Facts], exercise: Exercise) -> Judgement:
    """Name the mistakes behind ``facts``.

    The first kind that shows is reported alone: exceptions and malformed values first,
    because wrong numbers often only follow from them.
    """
    case = _Bench(facts, exercise)
    for look in (
        _forward_crashed,
        _forward_result,
        _forward_values,
        _returned_values,
        _backward_crashed,
        _missing_gradients,
        _changed_arguments,
        _gradient_values,
        _frozen_inputs,
        _two_live_calls,
        _second_backward,
        _precision,
    ):
        findings = tuple(look(case))
        if findings:
            return Judgement(tuple(case.with_hint(f) for f in findings), ())
    return Judgement((), tuple(_remarks(case)))


class _Bench:
    """The facts of all cases beside the exercise, and the ways to look at them."""

    def __init__(self, facts: Sequence[Facts], exercise: Exercise) -> None:
        self.facts, self.exercise = facts, exercise
        self.declared = facts[0].declared
        self.name = self.declared.name

    def trials(self, *names: str) -> Iterator[tuple[Facts, Trial]]:
        """The trials with these names (all, without names), case by case."""
        for fact in self.facts:
            for trial in fact.trials:
                if not names or trial.name in names:
                    yield fact, trial

    def passes(self, *names: str) -> Iterator[tuple[Facts, Trial, Pass]]:
        """The backward passes of those trials."""
        for fact, trial in self.trials(*names):
            for run in trial.passes:
                yield fact, trial, run

    def truth(self, trial: Trial, upstream: Array) -> tuple[Array, ...]:
        """The right gradients."""
        return slopes(self.exercise.reference, trial.inputs, upstream)

    def slot(self, i: int) -> str:
        """Where the gradient for argument ``i`` comes from."""
        which = ("first", "second", "third", "fourth")[i]
        return f"{self.name}.backward, {which} value returned (for {self.argument(i)})"

    def argument(self, i: int) -> str:
        """The name of argument ``i`` of forward."""
        return self.exercise.arguments[i]

    def with_hint(self, finding: Finding) -> Finding:
        """The finding with this exercise's own next step, where it has one."""
        return finding.with_hint(self.exercise.mistake_hints.get(finding.id, ""))


def _where(case: _Bench, crash: Crash) -> str:
    if crash.inside:
        return f"{case.name}.{crash.function}, line {crash.number}: {crash.line}"
    return f"{case.name}, called by the engine ({crash.stage})"


def _thrown(crash: Crash) -> str:
    return f"{crash.kinds[0]}: {crash.text}"


def is_todo(crash: Crash | None) -> bool:
    """Whether this is the exception that an untouched exercise raises."""
    return (
        crash is not None
        and "NotImplementedError" in crash.kinds
        and crash.text.startswith("TODO")
    )


def _forward_crashed(case: _Bench) -> Iterator[Finding]:
    for _, trial in case.trials():
        crash = trial.crash
        if crash is None:
            continue
        ids = _UNNAMED
        if "SavedTypeError" in crash.kinds:
            ids = ("A14",)
        elif "TypeError" in crash.kinds and not crash.inside:
            ids = ("A09",)
        yield Finding(ids, _thrown(crash), _where(case, crash), crashed=True)
        return


def _forward_result(case: _Bench) -> Iterator[Finding]:
    for _, trial in case.trials():
        where = f"{case.name}.forward"
        if trial.output_kind != "Tensor":
            what = f"forward returned a {trial.output_kind}, not one Tensor"
            if trial.output_kind == "NoneType":
                what = "forward returned nothing"
            yield Finding(("A17",), what, where)
            return
        if trial.forward_changed_input:
            what = "after forward, an input no longer holds the value it came with"
            yield Finding(("M02",), what, where)
            return
        if not trial.recorded:
            what = "the result does not require grad, although an input does"
            yield Finding(_UNNAMED, what, where)
            return


def _forward_values(case: _Bench) -> Iterator[Finding]:
    for fact, trial in case.trials("plain"):
        expected = np.asarray(case.exercise.reference(*trial.inputs))
        assert trial.output is not None
        where = f"{case.name}.forward"
        if trial.output.shape != expected.shape:
            what = (
                f"for {fact.case.name}, forward returned shape {trial.output.shape};"
                f" the product has shape {expected.shape}"
            )
            yield Finding(_UNNAMED, what, where, hint="Print the shape of each step.")
            return
        error = _error(trial.output, expected)
        if error <= _tolerance(expected):
            continue
        at = _worst(trial.output, expected)
        digits = 6 if error > 1e-5 else 12
        what = (
            f"for {fact.case.name}, element {_index(at)} of the result is"
            f" {trial.output[at]:.{digits}g}; it should be {expected[at]:.{digits}g}"
        )
        inputs = ", ".join(
            f"{case.argument(i)} = {a[at]:.6g}" for i, a in enumerate(trial.inputs)
        )
        evidence = Evidence(
            fact.case.name, "result", at, float(trial.output[at]), float(expected[at])
        )
        ids = ("T01",) if error <= 1e-5 else _UNNAMED
        hint = "" if ids else "Compute this one element by hand and compare."
        yield Finding(ids, f"{what} ({inputs})", where, hint=hint, evidence=evidence)
        return


def _returned_values(case: _Bench) -> Iterator[Finding]:
    """Malformed return values, whether or not the engine has complained."""
    wanted = len(case.exercise.arguments)
    where = f"{case.name}.backward"
    for _, _, run in case.passes("plain", "double"):
        kinds = [r.kind for r in run.returned]
        if not run.returned_kind:
            continue
        if run.returned_kind == "list":
            yield Finding(("A04",), "backward returned a list", where, crashed=True)
        elif run.returned_kind == "NoneType":
            yield Finding(("A16",), "backward returned None", where)
        elif other := [k for k in kinds if k not in ("Tensor", "NoneType")]:
            what = f"backward returned a value of type {other[0]}"
            yield Finding(("A12",), what, where, crashed=run.crash is not None)
        elif len(kinds) < wanted:
            values = "1 gradient" if len(kinds) == 1 else f"{len(kinds)} gradients"
            what = f"backward returned {values}; forward took {wanted} arguments"
            yield Finding(("A01",), what, where, crashed=True)
        else:
            continue
        return


def _backward_crashed(case: _Bench) -> Iterator[Finding]:
    for _, trial, run in case.passes("plain", "double", "zero"):
        crash = run.crash
        if crash is None:
            continue
        if is_todo(crash):
            what = f"forward is right; backward still raises its {crash.text!r}"
            hint = "Write backward: it gets ctx and the gradient of the output."
            yield Finding(_UNNAMED, what, f"{case.name}.backward", hint=hint)
            return
        ids = _UNNAMED
        unpacking = (
            "saved_tensors" in crash.line
            or "unpack" in crash.text
            or "'tuple'" in crash.text
        )
        if "TypeError" in crash.kinds and not crash.inside:
            ids = ("A13",)
        elif crash.inside and unpacking:
            ids = ("A15",) if trial.save_calls > 1 else ("A11",)
        yield Finding(ids, _thrown(crash), _where(case, crash), crashed=True)
        return


def _missing_gradients(case: _Bench) -> Iterator[Finding]:
    for fact, _, run in case.passes("plain"):
        for i, value in enumerate(run.gradients):
            if value is None:
                name = case.argument(i)
                what = f"for {fact.case.name}, {name}.grad is None after backward"
                yield Finding(("A05",), what, case.slot(i))
                return


def _changed_arguments(case: _Bench) -> Iterator[Finding]:
    where = f"{case.name}.backward"
    for _, trial, run in case.passes():
        if run.upstream_changed:
            what = "grad_output held other numbers after backward than before"
            yield Finding(("M01",), what, where)
            return
        if trial.backward_changed_input:
            what = "after backward, an input no longer holds the value it came with"
            yield Finding(("M05",), what, where)
            return


@dataclass
class _Sample:
    """One gradient of one slot beside the right one and all that explains it."""

    fact: Facts
    trial: Trial
    upstream: Array
    got: Array
    right: Array
    wrong: Mapping[str, Sequence[Array]] = field(default_factory=dict)

    @property
    def error(self) -> float:
        return _error(self.got, self.right)

    @property
    def tolerance(self) -> float:
        return _tolerance(self.trial.inputs[0])


def _gradient_values(case: _Bench) -> Iterator[Finding]:
    """Wrong numbers, slot by slot, each with the first story that fits everywhere."""
    stories: dict[int, tuple[str, ...]] = {}
    samples = _samples(case)
    for i, slot in samples.items():
        if any(s.error > max(s.tolerance, 1e-5) for s in slot):
            stories[i] = _story(slot)
    if stories and all(stories.get(i) == ("L04",) for i in samples):
        stories = dict.fromkeys(stories, _exchanged(case))
    for ids in dict.fromkeys(stories.values()):
        slots = [i for i in stories if stories[i] == ids]
        yield _gradient_finding(case, ids, slots, samples)


def _gradient_finding(
    case: _Bench,
    ids: tuple[str, ...],
    slots: list[int],
    samples: dict[int, list[_Sample]],
) -> Finding:
    i = slots[0]
    sample = next(s for s in samples[i] if s.error > max(s.tolerance, 1e-5))
    if ids in (("L04",), ("L05",)):
        ids = _what_was_kept(case, i, ids[0])
    at = _worst(sample.got, sample.right)
    got, right, upstream = sample.got[at], sample.right[at], sample.upstream[at]
    inputs = ", ".join(
        f"{case.argument(j)} = {a[at]:.6g}" for j, a in enumerate(sample.trial.inputs)
    )
    what = (
        f"for {sample.fact.case.name}, element {_index(at)} of the gradient for"
        f" {case.argument(i)} is {got:.6g}; it should be {right:.6g}"
        f" ({inputs}, upstream gradient {upstream:.6g})"
    )
    evidence = Evidence(
        sample.fact.case.name,
        case.argument(i),
        at,
        float(got),
        float(right),
        float(upstream),
    )
    where = " and ".join(case.slot(j) for j in slots)
    if len(slots) == len(samples) > 1:
        where = f"{case.name}.backward, every value it returns"
    looks_like = ""
    if ids == ("L02",):
        k = _ratio(samples[i])
        looks_like = f"Your gradient is {k:.4g} times the right one, for every input."
    if ids == ("A03", "L04"):
        looks_like = (
            "Each value you return is the right one for the other input: either they"
            " are in each other's places, or each formula uses its own input."
        )
    hint = "" if ids else "Work this one element out by hand, then print each factor."
    return Finding(
        ids, what, where, looks_like=looks_like, hint=hint, evidence=evidence
    )


def _samples(case: _Bench) -> dict[int, list[_Sample]]:
    samples: dict[int, list[_Sample]] = {}
    for fact, trial, run in case.passes("plain", "double", "zero"):
        right = case.truth(trial, run.upstream)
        wrong = _wrong_rules(case, trial, run.upstream)
        for i, got in enumerate(run.gradients):
            if got is not None:
                mine = {name: [w[i] for w in rules] for name, rules in wrong.items()}
                sample = _Sample(fact, trial, run.upstream, got, right[i], mine)
                samples.setdefault(i, []).append(sample)
    return samples


def _wrong_rules(
    case: _Bench, trial: Trial, g: Array
) -> dict[str, list[tuple[Array, ...]]]:
    """What each wrong rule returns, the rules of the chain first."""
    output = np.asarray(case.exercise.reference(*trial.inputs))
    every = range(len(trial.inputs))
    right = case.truth(trial, g)
    rules = {
        "C01": [case.truth(trial, np.ones_like(g))],
        "C02": [case.truth(trial, g * g)],
        "C03": [tuple(g for _ in every)],
        "C04": [
            case.truth(trial, np.full_like(g, g.mean())),
            case.truth(trial, np.full_like(g, g.sum())),
        ],
        "C05": [case.truth(trial, output), tuple(output for _ in every)],
    }
    for name, values in case.exercise.known_wrong(g, *trial.inputs).items():
        rules.setdefault(name, []).append(values)
    rules["L01"] = [tuple(-a for a in right)]
    rules["C06"] = [tuple(2.0 * a for a in right)]
    return rules


def _story(samples: list[_Sample]) -> tuple[str, ...]:
    """The one story that predicts the gradient of a slot in all samples."""
    for name in samples[0].wrong:
        for variant in range(len(samples[0].wrong[name])):
            if all(
                _error(s.got, s.wrong[name][variant]) <= max(s.tolerance, 1e-5)
                for s in samples
            ):
                return (name,)
    if _scales(samples, 1.0):
        return ("C01",)
    if _scales(samples, 4.0):
        return ("C02",)
    return ("L02",) if _ratio(samples) is not None else _UNNAMED


def _scales(samples: list[_Sample], factor: float) -> bool:
    """Whether twice the upstream gradient gives ``factor`` times the gradient."""
    by_name = {(s.fact.case.name, s.trial.name): s.got for s in samples}
    return all(
        _error(by_name[name, "double"], factor * got) <= 1e-5
        for (name, trial), got in by_name.items()
        if trial == "plain"
    )


def _ratio(samples: list[_Sample]) -> float | None:
    """The constant k with ``got == k * right`` in all samples."""
    got = np.concatenate([s.got.ravel() for s in samples])
    right = np.concatenate([s.right.ravel() for s in samples])
    k = float(got @ right / (right @ right))
    return k if _error(got, k * right) <= 1e-5 and abs(k) > 1e-6 else None


def _exchanged(case: _Bench) -> tuple[str, ...]:
    saved, unpacked = case.declared.saved_names, case.declared.unpacked_names
    if saved != unpacked and sorted(saved) == sorted(unpacked):
        return ("S02",)
    return ("A03", "L04")


def _what_was_kept(case: _Bench, i: int, name: str) -> tuple[str, ...]:
    """Wrong formula for what was kept, or the wrong thing kept for the formula?"""
    _, trial = next(case.trials("plain"))
    kept = [*trial.saved, *(a.value for a in trial.attributes)]

    def is_kept(array: Array) -> bool:
        return any(np.array_equal(array, a) for a in kept)

    others = [a for j, a in enumerate(trial.inputs) if j != i]
    if kept and not all(is_kept(a) for a in others):
        return ("S01", name)
    if name == "L05" and trial.output is not None and is_kept(trial.output):
        return ("L05", "S01")
    return (name,)


def _frozen_inputs(case: _Bench) -> Iterator[Finding]:
    """With one input frozen the other's gradient must stay the same."""
    for i in range(len(case.exercise.arguments)):
        for fact, trial, run in case.passes(f"only {i}"):
            right = case.truth(trial, run.upstream)[i]
            got = run.gradients[i] if run.gradients else None
            if run.crash is None and got is not None and _error(got, right) <= 1e-5:
                continue
            seen = _thrown(run.crash) if run.crash else "it is None or wrong"
            what = (
                f"for {fact.case.name}, with only {case.argument(i)} requiring grad,"
                f" the gradient for {case.argument(i)}: {seen}"
            )
            yield Finding(("A06",), what, case.slot(i), crashed=run.crash is not None)
            return


def _two_live_calls(case: _Bench) -> Iterator[Finding]:
    """Two calls before the first backward must not see each other's values."""
    on_class = case.declared.state_on_class
    for fact, trial, run in case.passes("first", "second"):
        wrong = run.crash is not None
        right = case.truth(trial, run.upstream)
        for got, expected in zip(run.gradients, right, strict=True):
            wrong |= got is None or _error(got, expected) > 1e-5
        if not (wrong or trial.rewritten):
            continue
        what = (
            f"for {fact.case.name}: after a = {case.name}.apply(...) and then"
            f" b = {case.name}.apply(...) with other numbers,"
        )
        if wrong:
            what += f" the gradients of the {trial.name} call are not its own"
        else:
            what += " backward of b changed the gradients that a had returned"
        where = f"{case.name}, two calls alive at once"
        ids = ("S04",) if on_class else ("S05",)
        if on_class:
            where = ", ".join(f"{case.name}.{name}" for name in on_class)
        yield Finding(ids, what, where)
        return


def _second_backward(case: _Bench) -> Iterator[Finding]:
    """The same graph must give the same gradient again."""
    for fact, _trial, run in case.passes("again"):
        right = case.truth(_trial, run.upstream)
        bad = run.crash is not None or any(
            got is None or _error(got, expected) > 1e-5
            for got, expected in zip(run.gradients, right, strict=True)
        )
        if bad:
            seen = _thrown(run.crash) if run.crash else "other numbers came back"
            what = f"for {fact.case.name}, a second backward with retain_graph: {seen}"
            where = _where(case, run.crash) if run.crash else f"{case.name}.backward"
            yield Finding(("S10",), what, where)
            return


def _precision(case: _Bench) -> Iterator[Finding]:
    for i, slot in _samples(case).items():
        for s in slot:
            if s.error > s.tolerance:
                at = _worst(s.got, s.right)
                what = (
                    f"for {s.fact.case.name}, element {_index(at)} of the gradient for"
                    f" {case.argument(i)} is {s.got[at]:.12g};"
                    f" it should be {s.right[at]:.12g}"
                )
                yield Finding(("T01",), what, case.slot(i))
                return


def _remarks(case: _Bench) -> Iterator[Finding]:
    """What to say about an answer whose numbers are right."""
    allowed = case.exercise.remarks
    found = [*_style_remarks(case), *_state_remarks(case), *_dtype_remarks(case)]
    for remark in found:
        if remark.id in allowed:
            yield remark


def _style_remarks(case: _Bench) -> Iterable[Finding]:
    if case.declared.not_static:
        names = " and ".join(case.declared.not_static)
        yield Finding(("A08",), f"{names} without @staticmethod", case.name)


def _state_remarks(case: _Bench) -> Iterable[Finding]:
    _, trial = next(case.trials("plain"))
    tensors = [a for a in trial.attributes if a.kind == "Tensor"]
    arrays = [a for a in trial.attributes if a.kind != "Tensor" and a.shares_input]
    for name, kept, noun in (("S06", tensors, "tensor"), ("S08", arrays, "array")):
        if kept:
            names = ", ".join(f"ctx.{a.name}" for a in kept)
            plural = noun if len(kept) == 1 else f"{noun}s"
            what = f"{plural} kept as {names}"
            yield Finding((name,), what, f"{case.name}, what forward leaves on ctx")
    if trial.save_calls > 1:
        what = f"save_for_backward was called {trial.save_calls} times"
        yield Finding(("A15",), what, case.name)


def _dtype_remarks(case: _Bench) -> Iterable[Finding]:
    for _, trial, run in case.passes("plain"):
        for i, value in enumerate(run.returned[: len(trial.inputs)]):
            wanted = trial.inputs[i].dtype
            if value.value is not None and value.value.dtype != wanted:
                what = f"the gradient is {value.value.dtype} for {wanted} inputs"
                yield Finding(("T03",), what, case.slot(i))
                return


def _error(got: Array, right: Array) -> float:
    """The largest difference, relative to the largest right value."""
    if got.shape != right.shape:
        return float("inf")
    difference = np.abs(np.asarray(got, np.float64) - right)
    if not np.all(np.isfinite(difference)):
        return float("inf")
    return float(np.max(difference, initial=0.0)) / _size(right)


def _size(right: Array) -> float:
    return max(float(np.max(np.abs(right), initial=0.0)), 1e-3)


def _tolerance(like: Array) -> float:
    return 1e-5 if like.dtype == np.float32 else 1e-11


def _worst(got: Array, right: Array) -> tuple[int, ...]:
    """The first element that is clearly off."""
    difference = np.abs(np.asarray(got, np.float64) - right)
    limit = 0.1 * float(np.nanmax(difference, initial=0.0))
    off = np.argwhere(~(difference <= limit))
    return tuple(int(n) for n in off[0]) if len(off) else (0,) * got.ndim


def _index(at: tuple[int, ...]) -> str:
    return f"[{', '.join(str(n) for n in at)}]" if at else "(the only one)"
