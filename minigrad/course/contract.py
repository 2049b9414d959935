"""The contract between a Function and the engine: what breaks it, and how it shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minigrad.course.casefile import CaseFile, error_of, is_todo, thrown
from minigrad.course.facts import Crash
from minigrad.course.findings import UNNAMED, Finding


def _where(case: CaseFile, crash: Crash) -> str:
    if crash.inside:
        return f"{case.name}.{crash.function}, line {crash.number}: {crash.line}"
    return f"{case.name}, called by the engine ({crash.stage})"


def forward_crashed(case: CaseFile) -> Iterator[Finding]:
    """An exception out of apply."""
    for _, trial in case.trials():
        crash = trial.crash
        if crash is None:
            continue
        ids = UNNAMED
        if "SavedTypeError" in crash.kinds:
            ids = ("A14",)
        elif "TypeError" in crash.kinds and not crash.inside:
            ids = ("A09",)
        yield Finding(ids, thrown(crash), _where(case, crash), crashed=True)
        return


def forward_result(case: CaseFile) -> Iterator[Finding]:
    """A result that cannot carry a gradient, or an input that forward changed."""
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
            yield Finding(UNNAMED, what, where)
            return


def returned_values(case: CaseFile) -> Iterator[Finding]:
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


def backward_crashed(case: CaseFile) -> Iterator[Finding]:
    """An exception out of backward."""
    for _, trial, run in case.passes("plain", "double", "zero", "same"):
        crash = run.crash
        if crash is None:
            continue
        if is_todo(crash):
            what = f"forward is right; backward still has its {crash.text!r}"
            hint = "Write backward: it gets ctx and the gradient of the output."
            yield Finding(UNNAMED, what, f"{case.name}.backward", hint=hint)
            return
        ids = UNNAMED
        unpacking = (
            "saved_tensors" in crash.line
            or "unpack" in crash.text
            or "'tuple'" in crash.text
        )
        if "TypeError" in crash.kinds and not crash.inside:
            ids = ("A13",)
        elif crash.inside and unpacking:
            ids = ("A15",) if trial.save_calls > 1 else ("A11",)
        yield Finding(ids, thrown(crash), _where(case, crash), crashed=True)
        return


def missing_gradients(case: CaseFile) -> Iterator[Finding]:
    """None where a gradient was asked for."""
    for fact, _, run in case.passes("plain"):
        for i, value in enumerate(run.gradients):
            if value is None:
                name = case.argument(i)
                what = f"for {fact.case.name}, {name}.grad is None after backward"
                yield Finding(("A05",), what, case.slot(i))
                return


def changed_arguments(case: CaseFile) -> Iterator[Finding]:
    """Tensors of others that backward wrote into."""
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


def frozen_inputs(case: CaseFile) -> Iterator[Finding]:
    """With one input frozen the other's gradient must stay the same."""
    for i in range(len(case.exercise.arguments)):
        for fact, trial, run in case.passes(f"only {i}"):
            right = case.truth(trial, run.upstream)[i]
            got = run.gradients[i] if run.gradients else None
            if run.crash is None and got is not None and error_of(got, right) <= 1e-5:
                continue
            what = f"for {fact.case.name}, with only {case.argument(i)} requiring grad"
            if run.crash:
                what = f"{what}: {thrown(run.crash)}"
                yield Finding(UNNAMED, what, _where(case, run.crash), crashed=True)
            elif got is None:
                what = f"{what}, {case.argument(i)}.grad is None after backward"
                yield Finding(("A06",), what, case.slot(i))
            else:
                what = f"{what}, its gradient is another one than before"
                yield Finding(UNNAMED, what, case.slot(i))
            return


def one_tensor_twice(case: CaseFile) -> Iterator[Finding]:
    """A tensor in every argument's place gets the sum of all the gradients."""
    for fact, trial, run in case.passes("same"):
        right = np.asarray(sum(case.truth(trial, run.upstream)))
        got = run.gradients[0] if run.gradients else None
        if got is None or error_of(got, right) > 1e-5:
            x = case.argument(0)
            call = f"{case.name}.apply({', '.join([x] * len(trial.inputs))})"
            what = f"for {fact.case.name}, the gradient of {x} after {call} is not the"
            what += " sum of what each of its places should get"
            hint = "Which line of yours treats one tensor in two places differently?"
            yield Finding(UNNAMED, what, f"{case.name}.backward", hint=hint)
            return


def kept_outside_ctx(case: CaseFile) -> Finding | None:
    """Tensors of a call that were put somewhere else than on its ctx."""
    declared = case.declared
    names = declared.tensors_on_class or declared.tensors_shared
    if not names:
        return None
    return Finding(
        ("S04",) if declared.tensors_on_class else ("S05",),
        f"after the calls were over, {', '.join(names)} still held their tensors",
        case.name,
        looks_like="What one call keeps there outlives the call, and nothing frees it.",
    )


def nothing_on_ctx(case: CaseFile) -> Iterator[Finding]:
    """Values that reach backward, though not through ctx."""
    finding = kept_outside_ctx(case)
    if finding and not any(trial.kept for _, trial in case.trials("plain")):
        yield finding


def two_live_calls(case: CaseFile) -> Iterator[Finding]:
    """Two calls before the first backward must not see each other's values."""
    on_class = case.declared.state_on_class
    for fact, trial, run in case.passes("first", "second"):
        wrong = run.crash is not None
        right = case.truth(trial, run.upstream)
        for got, expected in zip(run.gradients, right, strict=True):
            wrong |= got is None or error_of(got, expected) > 1e-5
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


def second_backward(case: CaseFile) -> Iterator[Finding]:
    """The same graph must give the same gradient again."""
    for fact, trial, run in case.passes("again"):
        right = case.truth(trial, run.upstream)
        bad = run.crash is not None or any(
            got is None or error_of(got, expected) > 1e-5
            for got, expected in zip(run.gradients, right, strict=True)
        )
        if bad:
            seen = thrown(run.crash) if run.crash else "other numbers came back"
            what = f"for {fact.case.name}, a second backward with retain_graph: {seen}"
            where = _where(case, run.crash) if run.crash else f"{case.name}.backward"
            yield Finding(("S10",), what, where)
            return
