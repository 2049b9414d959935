"""Take away any one thing that is seen of an answer: a known answer is misjudged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from minigrad.course.check import examination, facts, known_mistakes
from minigrad.course.check.casefile import CaseFile
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import Case, Facts, Trial, is_float
from minigrad.course.check.findings import Finding
from minigrad.course.check.judge import judge
from minigrad.course.check.limits import Deadline
from minigrad.course.check.observation import observe
from minigrad.course.check.references import References
from minigrad.course.exercises import catalogue
from tests.answers import rows

Seen = Sequence[Facts]
Weaken = Callable[[Seen], Seen]


def unseen(kind: str, name: str, value: Any) -> Weaken:
    """One field of one kind of fact says this, whatever was seen."""

    def of(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(of, part))
        if not is_dataclass(part) or isinstance(part, Case | type):
            return part
        changed = {f.name: of(getattr(part, f.name)) for f in fields(part)}
        if type(part).__name__ == kind:
            changed[name] = value
        return replace(part, **changed)

    return lambda seen: [of(fact) for fact in seen]


def without(*names: str) -> Weaken:
    """Leave out the trials of these names."""
    return lambda seen: [
        replace(f, trials=tuple(t for t in f.trials if named(t.name) not in names))
        for f in seen
    ]


def ordinary_without(*names: str) -> Weaken:
    """Leave out the corner cases as well, with their huge gradients."""
    return lambda seen: without(*names)([f for f in seen if not f.case.is_corner])


def named(trial: str) -> str:
    """A trial's name without the place that it is about."""
    return trial.rstrip(" 0123456789")


def first_case(seen: Seen) -> Seen:
    return seen[:1]


def of_trials(change: Callable[[Trial], Trial]) -> Weaken:
    return lambda seen: [
        replace(fact, trials=tuple(map(change, fact.trials))) for fact in seen
    ]


def with_gradients(trial: Trial) -> Trial:
    """Every leaf has got one."""
    zeros = tuple(np.zeros_like(x) if is_float(x) else None for x in trial.inputs)
    passes = tuple(replace(run, gradients=zeros) for run in trial.passes)
    return replace(trial, passes=passes)


def as_packed(trial: Trial) -> Trial:
    """Nobody looked at a saved tensor before forward had ended."""
    saved = tuple(replace(s, at_call=s.packed) for s in trial.saved)
    return replace(trial, saved=saved)


def as_saved(trial: Trial) -> Trial:
    """Nobody looked at a saved tensor after forward had ended."""
    saved = tuple(replace(s, packed=s.at_call) for s in trial.saved)
    return replace(trial, saved=saved)


NOTHING = np.zeros(1)

UNUSUAL = without("expanded", "transposed", "sliced", "reversed")

TWO_CALLS = without("second", "shared")

ROWS: list[tuple[str, str, str, str, Any]] = [
    # The probe, what it sees, an answer that needs it, and what is said instead.
    ("P1", "Trial.crash", "MulConstant", "SetupContextAndCtxInForward", None),
    ("P1", "Pass.crash", "Square", "TupleTakenForTensor", None),
    ("P1", "Crash.kinds", "InplaceScale", "MarksAndReturnsACopy", ("Exception",)),
    ("P1", "Crash.text", "Square", "TupleTakenForTensor", ""),
    ("P1", "Crash.inside", "MulConstant", "SetupContextAndCtxInForward", True),
    ("P1", "Crash.line", "Square", "RowsAndColumnsOnly", ""),
    ("P2", "Output.kind", "TwoOutputs", "ArrayAmongTheOutputs", "Tensor"),
    ("P2", "Output.value", "GradientReversal", "ReversedInForward", None),
    ("P2", "Output.requires_grad", "SortWithIndices", "MarksTheValues", True),
    ("P3", "plain", "Embedding", "IndicesWithOneAxisOnly", first_case),
    ("P4", "double", "MulConstant", "ClipsTheUpstream", ordinary_without("double")),
    ("P4", "negative", "Square", "ThreeTimesTheSlope", None),
    ("P4", "zero", "MulConstant", "DividesByTheSizeOfTheUpstream", None),
    ("P5", "Pass.returned_kind", "Exp", "InAList", "tuple"),
    ("P5", "Pass.returned", "BroadcastAdd", "NotSummed", ()),
    ("P5", "Returned.kind", "Exp", "Array", "Tensor"),
    ("P5", "Returned.value", "BroadcastAdd", "NotSummed", None),
    ("P5", "Pass.gradients", "Square", "NoneReturned", of_trials(with_gradients)),
    ("P8", "only", "BroadcastAdd", "OneFlagForBoth", None),
    ("P8", "same", "JvpMul", "SquareTakenTwice", None),
    ("P8", "output", "TwoOutputs", "NoneAsOnes", None),
    ("P8", "Pass.received", "TwoOutputs", "NoneNotExpected", ()),
    ("P8", "Pass.ran", "Linear", "ComputesAndThrowsAway", ()),
    ("P9", "again", "MulConstant", "DeletesItsState", None),
    ("P10", "first", "MulConstant", "ConstantOnTheClass", without("first", "shared")),
    ("P10", "second", "MulConstant", "ClassRemembersUntilBackward", TWO_CALLS),
    ("P10", "Trial.rewritten", "GradientReversal", "ReturnsTheSameMemory", False),
    ("P10", "Trial.for_forward", "SigmoidWithJvp", "KeepsItsInputForJvp", ()),
    ("P10", "Trial.kept", "Mul", "StoreOnTheClass", True),
    ("P11", "Pass.upstream_changed", "Exp", "WritesIntoItsArray", False),
    ("P10", "shared", "MulConstant", "StoreByTheTensor", None),
    ("P11", "expanded", "NumpySin", "ReadsTheMemory", UNUSUAL),
    ("P11", "transposed", "NumpySin", "InTheOrderOfMemory", None),
    ("P11", "sliced", "NumpySin", "SideBySide", None),
    ("P11", "reversed", "NumpySin", "FromTheLowestAddress", None),
    ("P12", "written", "Square", "InputInAZip", None),
    ("P13", "Trial.saved", "Exp", "SavesAnIntermediate", ()),
    ("P13", "Saved.at_call", "Square", "ChangesWhatItSaved", of_trials(as_packed)),
    ("P13", "Saved.packed", "Square", "ChangesWhatItSaved", of_trials(as_saved)),
    ("P13", "Saved.in_graph", "Exp", "SavesAnIntermediate", True),
    ("P13", "Saved.shares_memory", "Relu_", "CopyOfTheResult", True),
    ("P14", "Trial.attributes", "Exp", "ResultAsAttribute", ()),
    ("P14", "Attribute.kind", "ReLU", "ArrayMask", "Tensor"),
    ("P14", "Attribute.value", "Square", "SquareOfTheKeptArray", NOTHING),
    ("P14", "Attribute.shares_memory", "ReLU", "ArrayMask", False),
    ("P14", "Attribute.is_output", "Exp", "ResultAsAttribute", False),
    ("P15", "Trial.changed", "StraightThroughRound", "RoundsTheInput", ()),
    ("P15", "Trial.left", "Square", "HooksLeftInForce", ()),
    ("P15", "Trial.left_by_backward", "Square", "DefaultDtype", ()),
    ("P15", "Trial.dirty", "InplaceScale", "NotMarked", (0,)),
    ("P15", "Output.is_input", "InplaceScale", "MarkedAndLeftAsItWas", None),
    *[
        ("P15", f"Trial.backward_changed_{what}", exercise, answer, False)
        for what, exercise, answer in (
            ("input", "NumpySin", "OverwritesTheArrayOfTheInput"),
            ("output", "Exp", "ScalesTheArrayOfTheResult"),
            ("saved", "NumpySin", "OverwritesASavedCopy"),
        )
    ],
    ("P17", "Facts.second", "Exp", "OnceOnly", None),
    ("P17", "Second.crash", "Exp", "OnceOnly", None),
    ("P17", "Second.recorded", "Exp", "SavesAnIntermediate", False),
    ("P17", "Second.gradients", "Sigmoid", "SecondDerivativeOverflows", (None,) * 2),
    ("P17", "Facts.tangents", "JvpMul", "TangentsExchanged", ()),
    ("P17", "Tangent.result", "JvpMul", "TangentsExchanged", ()),
    ("P17", "Tangent.changed", "JvpMul", "ScalesTheTangent", False),
    ("P17", "Tangent.crash", "JvpMul", "NothingSavedForForward", None),
    ("P18", "Trial.save_calls", "Square", "SavesTwice", 1),
    ("P18", "Trial.marked", "SortWithIndices", "DoesNotMark", (1,)),
    ("P18", "Trial.materialize_grads", "TwoOutputs", "DoesNotAskForNone", False),
    ("P19", "Declared.not_static", "GradientReversal", "NotStatic", ()),
    ("P19", "Declared.once_differentiable", "NumpySin", "DecoratesForward", ()),
    ("P19", "Declared.saved_names", "Linear", "ReadInOtherOrder", ()),
    ("P19", "Declared.unpacked_names", "Linear", "ReadInOtherOrder", ()),
    ("P19", "Declared.state_on_class", "MulConstant", "ConstantOnTheClass", ()),
    ("P19", "Declared.tensors_on_class", "ReLU", "InputsOnTheClassByCall", ()),
    ("P19", "Declared.tensors_shared", "ReLU", "InputsInAListByCall", ()),
    *[
        ("P19", f"Declared.{what}", "GradientReversal", "OutputTakenForLam", value)
        for what, value in (
            ("own_setup_context", False),
            ("forward_parameters", ()),
            ("setup_parameters", ()),
        )
    ],
]

WORDS = {
    "Crash.stage": ("MulConstant", "SetupContextAndCtxInForward", ""),
    "Crash.number": ("Square", "TupleTakenForTensor", 0),
    "Attribute.name": ("Exp", "ResultAsAttribute", ""),
    "Declared.name": ("Exp", "ResultAsAttribute", ""),
}
"""What only the message says."""

FRAME = {
    "Facts.case",
    "Facts.declared",
    "Facts.trials",
    "Trial.name",
    "Trial.inputs",
    "Trial.needed",
    "Trial.outputs",
    "Trial.passes",
    "Pass.upstreams",
    "Second.weights",
    "Tangent.tangents",
}
"""What was done, and what holds the rest: nothing that is seen."""


@cache
def seen_of(exercise: str, name: str) -> tuple[rows.Answer, list[Facts], References]:
    """A known answer, what is seen of it, and the truth beside it."""
    others = {"Mul": "01.4", "Relu_": "08.5", "SigmoidWithJvp": "11.4"}
    found = catalogue.load(others.get(exercise, f"gym.{exercise}"))
    answer = rows.named(found.id, name)
    cases = found.cases(np.random.default_rng(0))
    references = References(found, cases)
    with examination.answers_running(Deadline(60.0)):
        seen = observe(answer.made_anew(), found.contract, cases)
    return answer, seen, references


def findings(exercise: str, name: str, weaken: Weaken = list) -> Sequence[Finding]:
    _, seen, references = seen_of(exercise, name)
    return judge(weaken(seen), references.exercise, references).findings


def is_well_judged(exercise: str, name: str, weaken: Weaken = list) -> bool:
    """Whether it is refused by the name that its row gives first."""
    answer, *_ = seen_of(exercise, name)
    found = findings(exercise, name, weaken)
    return bool(found) and found[0].id in (*answer.mistakes[:1], answer.made)


def weakened(what: str, value: Any) -> Weaken:
    if callable(value):
        weaken: Weaken = value
        return weaken
    kind, _, name = what.partition(".")
    return unseen(kind, name, value) if name else without(kind)


@pytest.mark.parametrize(
    ("what", "exercise", "answer", "value"),
    [pytest.param(*row[1:], id=f"{row[0]} {row[1]}") for row in ROWS],
)
def test_answer_is_misjudged_without_what_is_seen(
    what: str, exercise: str, answer: str, value: Any
) -> None:
    assert is_well_judged(exercise, answer)
    assert not is_well_judged(exercise, answer, weakened(what, value))


@pytest.mark.parametrize("what", WORDS)
def test_message_says_what_is_seen(what: str) -> None:
    exercise, answer, value = WORDS[what]
    weaken = weakened(what, value)
    assert findings(exercise, answer) != findings(exercise, answer, weaken)


def fields_of(*kinds: str) -> Iterator[str]:
    for kind in kinds:
        for field in fields(getattr(facts, kind)):
            yield f"{kind}.{field.name}"


def test_everything_that_is_seen_has_an_answer_that_needs_it() -> None:
    tried = {
        named(trial.name)
        for exercise, answer in (
            ("TwoOutputs", "NoneAsOnes"),
            ("JvpMul", "TangentsExchanged"),
            ("Linear", "NoBias"),
        )
        for fact in seen_of(exercise, answer)[1]
        for trial in fact.trials
    }
    kinds = ["Trial", "Pass", "Returned", "Output", "Saved", "Attribute"]
    kinds += ["Second", "Tangent", "Crash", "Declared", "Facts"]
    assert {row[1] for row in ROWS} == tried | {*fields_of(*kinds)} - FRAME - {*WORDS}


def no_stories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_mistakes, "fitting", lambda *_: [])


def no_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exercise, "factors", lambda *_: iter(()))


def a_few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaseFile, "tolerance", lambda *_: 1e-6)


BY_NUMBERS = {
    "P6": ("Power", "ExponentNotLowered", no_stories),
    "P7": ("InplaceScale", "FactorTwice", no_factors),
    "P16": ("Linear", "SinglePrecision", a_few_digits),
}
"""The probes that are no look at the answer, but at its numbers."""


@pytest.mark.parametrize("probe", BY_NUMBERS)
def test_answer_is_misjudged_without_the_numbers_beside_it(
    probe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise, answer, weaken = BY_NUMBERS[probe]
    assert is_well_judged(exercise, answer)
    weaken(monkeypatch)
    assert not is_well_judged(exercise, answer)


def test_every_probe_is_weakened() -> None:
    probes = {row[0] for row in ROWS} | {*BY_NUMBERS}
    assert probes == {f"P{number}" for number in range(1, 20)}


def upstream_of_ones(case: Case) -> Case:
    """The case with an upstream gradient of nothing but ones."""
    g = tuple(None if a is None else np.ones_like(a) for a in case.upstreams)
    return replace(case, upstream=g)


def test_upstream_of_ones_alone_would_accept_what_ignores_it() -> None:
    assert is_well_judged("Power", "SlopeAlone")
    answer, *_ = seen_of("Power", "SlopeAlone")
    exercise = catalogue.load("gym.Power")
    cases = map(upstream_of_ones, exercise.cases(np.random.default_rng(0)))
    seen: Seen = observe(answer.made_anew(), exercise.contract, list(cases))
    for name in ("double", "negative", "zero", "first", "second"):
        seen = without(name)(seen)
    assert judge(seen, exercise).findings == ()
