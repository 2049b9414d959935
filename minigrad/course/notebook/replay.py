"""Step through the case that a check failed on, with the right values below it."""

from __future__ import annotations

import functools
import html
import linecache
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor, errors
from minigrad.autograd import Function
from minigrad.course.check import (
    MINIGRAD,
    Array,
    Case,
    Exercise,
    References,
    Verdict,
)
from minigrad.course.exercises import catalogue as exercises
from minigrad.views.comparing import Comparison
from minigrad.views.recording import Recording

_last: dict[str, tuple[Verdict, Any]] = {}
"""What was checked last in this session, by exercise."""


def remember(verdict: Verdict, answer: object) -> None:
    """Keep what ``step_through`` needs; without a case there is nothing to show."""
    if verdict.case is None:
        _last.pop(verdict.exercise, None)
    else:
        _last[verdict.exercise] = verdict, answer


def step_through(exercise_id: str) -> CaseReplay | Recording:
    """Your own code on the case that the last check of this exercise failed on.

    Below it the right values, step by step; the player opens where they first differ.
    If nothing came out of which a random result's right gradient follows, alone.
    Raises: ArgumentValueError if the last check has left nothing to step through.
    """
    exercise = exercises.load(exercise_id)
    if exercise.id not in _last:
        what = f"no check of {exercise.id} in this session has found something to show"
        fix = f'run check("{exercise.id}", {exercise.answer}) first'
        raise errors.ArgumentValueError.at("step_through", what, fix)
    return replay_of(*_last[exercise.id])


def replay_of(verdict: Verdict, answer: Any) -> CaseReplay | Recording:
    """The case of a verdict, which has one, on the answer that it was passed on."""
    exercise = exercises.load(verdict.exercise)
    cases = exercise.cases(np.random.default_rng(verdict.seed))
    assert verdict.case is not None
    return replay(exercise, answer, cases[verdict.case])


def replay(exercise: Exercise, answer: Any, case: Case) -> CaseReplay | Recording:
    """``answer`` on ``case``, compared with the right rule where there is one."""
    recording, outputs = recorded(exercise, answer, case)
    drawn = None
    if exercise.contract.random:
        if not outputs:
            return recording
        drawn = outputs[0]
    rule = right_rule(exercise, answer, case.inputs, drawn)
    right, _ = recorded(exercise, rule, case)
    right.data["meta"]["rule"] = True
    return CaseReplay(exercise, case, recording, right)


class CaseReplay(Comparison):
    """The recording of one case, compared with what the right rule does."""

    def __init__(
        self, exercise: Exercise, case: Case, recording: Recording, right: Recording
    ) -> None:
        self.title = f"{exercise.id}, {case.name}"
        self.inputs = dict(_given(exercise, case))
        super().__init__(recording, right, ("yours", "the right one"))

    def __repr__(self) -> str:
        given = [f"  {name} = {value}" for name, value in self.inputs.items()]
        return "\n".join([self.title, *given, self.sentence])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_()
        given = "".join(
            f"<div><code>{html.escape(name)}</code> = {_block(value)}</div>"
            for name, value in self.inputs.items()
        )
        head = (
            f'<div><b>{html.escape(self.title)}</b></div><div style="display: flex;'
            f' flex-wrap: wrap; gap: 0.4em 2em; margin-bottom: 0.6em">{given}</div>'
        )
        return {"text/html": head + bundle["text/html"], "text/plain": repr(self)}


def _block(text: str) -> str:
    return (
        '<span style="white-space: pre; font-family: monospace;'
        f' vertical-align: top; display: inline-block">{html.escape(text)}</span>'
    )


def right_rule(
    exercise: Exercise, answer: Any, given: tuple[Any, ...], drawn: Array | None
) -> type[Function]:
    """A Function that returns the right values for ``given``, and hides how.

    Of a random contract they follow from ``drawn``, the result that the answer has.
    """
    contract, references = exercise.contract, References(exercise)

    class Right(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.rule = "not shown"  # what it really keeps is the exercise
            results = [minigrad.tensor(y) for y in references.result(given, drawn)]
            if contract.in_place:
                ctx.mark_dirty(inputs[0])
                return inputs[0].copy_(results[0])
            ctx.mark_non_differentiable(
                *[results[i] for i in contract.non_differentiable]
            )
            return tuple(results) if len(results) > 1 else results[0]

        @staticmethod
        def backward(ctx: Any, *upstreams: Any) -> Any:
            sent = tuple([None if g is None else g.array for g in upstreams])
            found = references.gradients(given, sent, drawn)
            return tuple([None if g is None else minigrad.tensor(g) for g in found])

    return type(answer.__name__, (Right,), {})


def recorded(
    exercise: Exercise, answer: Any, case: Case
) -> tuple[Recording, tuple[Array, ...]]:
    """``answer`` on ``case``, apply, then backward with its gradient; its outputs."""
    inputs = [
        MINIGRAD.tensor(value, i in case.differentiable)
        if isinstance(value, np.ndarray)
        else value
        for i, value in enumerate(case.inputs)
    ]
    sent = {
        name: minigrad.tensor(g)
        for name, g in zip(_upstreams(exercise), case.upstreams, strict=True)
        if g is not None
    }
    names: dict[str, Any] = {answer.__name__: answer, "autograd": minigrad.autograd}
    text = program_text(exercise, answer, sent if case.differentiable else ())
    file = f"<{exercise.id}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), names)
    program, outputs = names["case"], []

    @functools.wraps(program)
    def the_case(*given: Any) -> None:
        outputs.append(program(*given))

    # A recording is headed by the name of what was called.
    the_case.__qualname__ = f"{exercise.id}, {case.name}"
    recording = minigrad.step(the_case, *inputs, *sent.values())
    results = outputs[0] if outputs else ()
    numbers = [y.array.copy() for y in _tuple(results) if isinstance(y, Tensor)]
    return recording.at_level("picture"), tuple(numbers)


def program_text(exercise: Exercise, answer: Any, sent: Collection[str]) -> str:
    """The program of a case, as one would write it."""
    contract, arguments = exercise.contract, list(exercise.arguments)
    lines = [f"def case({', '.join([*arguments, *sent])}):"]
    if contract.in_place:
        lines.append(f"    copy = {arguments[0]}.clone()")
        arguments[0] = "copy"
    results = ", ".join(contract.outputs)
    lines.append(f"    {results} = {answer.__name__}.apply({', '.join(arguments)})")
    upstreams = zip(contract.outputs, _upstreams(exercise), strict=True)
    roots = {output: upstream for output, upstream in upstreams if upstream in sent}
    if len(contract.outputs) == 1 and roots:
        lines.append(f"    autograd.backward({results}, {roots[results]})")
    elif roots:
        pairs = ", ".join(roots), ", ".join(roots.values())
        lines.append(f"    autograd.backward([{pairs[0]}], [{pairs[1]}])")
    return "\n".join([*lines, f"    return {results}", ""])


def _upstreams(exercise: Exercise) -> list[str]:
    """What the upstream gradients are called, one an output."""
    outputs = exercise.contract.outputs
    return [f"grad_{y}" for y in outputs] if len(outputs) > 1 else ["grad_output"]


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _given(exercise: Exercise, case: Case) -> Iterator[tuple[str, str]]:
    names = [*exercise.arguments, *_upstreams(exercise)]
    for name, value in zip(names, [*case.inputs, *case.upstreams], strict=True):
        if value is not None:
            yield name, _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    with np.printoptions(precision=4, suppress=True, threshold=60, linewidth=60):
        return str(value)
