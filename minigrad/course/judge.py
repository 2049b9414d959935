"""Turn facts into findings; the facts may come from here or from another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from minigrad.course import contract, values
from minigrad.course.casefile import CaseFile
from minigrad.course.catalogue import Exercise
from minigrad.course.facts import Facts
from minigrad.course.findings import Finding


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
    case, hints = CaseFile(facts, exercise), exercise.mistake_hints
    for look in (
        contract.forward_crashed,
        contract.forward_result,
        values.forward_values,
        contract.returned_values,
        contract.backward_crashed,
        contract.missing_gradients,
        contract.changed_arguments,
        values.gradient_values,
        contract.frozen_inputs,
        contract.one_tensor_twice,
        contract.two_live_calls,
        contract.nothing_on_ctx,
        contract.second_backward,
        values.precision,
    ):
        findings = tuple(look(case))
        if findings:
            return Judgement(
                tuple(f.with_hint(hints.get(f.id, "")) for f in findings), ()
            )
    return Judgement((), tuple(_remarks(case)))


def _remarks(case: CaseFile) -> Iterator[Finding]:
    """What to say about an answer whose numbers are right."""
    allowed = case.exercise.remarks
    found = [*_style_remarks(case), *_state_remarks(case), *_dtype_remarks(case)]
    found += values.second_derivatives(case)
    for remark in found:
        if remark.id in allowed:
            yield remark


def _style_remarks(case: CaseFile) -> Iterable[Finding]:
    if case.declared.not_static:
        names = " and ".join(case.declared.not_static)
        yield Finding(("A08",), f"{names} without @staticmethod", case.name)


def _state_remarks(case: CaseFile) -> Iterable[Finding]:
    _, trial = next(case.trials("plain"))
    tensors = [a for a in trial.attributes if a.kind == "Tensor"]
    arrays = [a for a in trial.attributes if a.kind != "Tensor" and a.shares_input]
    for name, kept, noun in (("S06", tensors, "tensor"), ("S08", arrays, "array")):
        if kept:
            names = ", ".join(f"ctx.{a.name}" for a in kept)
            plural = noun if len(kept) == 1 else f"{noun}s"
            what = f"{plural} kept as {names}"
            yield Finding((name,), what, f"{case.name}, what forward leaves on ctx")
    outside = contract.kept_outside_ctx(case)
    if outside:
        yield outside
    if trial.save_calls > 1:
        what = f"save_for_backward was called {trial.save_calls} times"
        yield Finding(("A15",), what, case.name)


def _dtype_remarks(case: CaseFile) -> Iterable[Finding]:
    for _, trial, run in case.passes("plain"):
        for i, value in enumerate(run.returned[: len(trial.inputs)]):
            wanted = trial.inputs[i].dtype
            if value.value is not None and value.value.dtype != wanted:
                what = f"the gradient is {value.value.dtype} for {wanted} inputs"
                yield Finding(("T03",), what, case.slot(i))
                return
