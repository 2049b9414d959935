"""Step through the case that a check failed on, with the right values beside it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor, errors
from minigrad.course.check import (
    MINIGRAD,
    Array,
    Arrays,
    Case,
    Exercise,
    References,
    Verdict,
    error_of,
    tolerance,
)
from minigrad.course.exercises import catalogue as exercises

_last: dict[str, tuple[Verdict, Any]] = {}
"""What was checked last in this session, by exercise."""


def remember(verdict: Verdict, answer: object) -> None:
    """Keep what ``step_through`` needs; without a case there is nothing to show."""
    if verdict.case is None:
        _last.pop(verdict.exercise, None)
    else:
        _last[verdict.exercise] = verdict, answer


def step_through(exercise_id: str) -> CaseReplay:
    """Your own code on the case that the last check of this exercise failed on.

    The player shows each step; beside it stand your values and the right ones.
    Raises: ArgumentValueError if the last check has left nothing to step through.
    """
    exercise = exercises.load(exercise_id)
    if exercise.id not in _last:
        what = f"no check of {exercise.id} in this session has found something to show"
        fix = f'run check("{exercise.id}", {exercise.answer}) first'
        raise errors.ArgumentValueError(errors.message("step_through", what, fix))
    return replay_of(*_last[exercise.id])


def replay_of(verdict: Verdict, answer: Any) -> CaseReplay:
    """The case of a verdict, which has one, on the answer that it was passed on."""
    exercise = exercises.load(verdict.exercise)
    cases = exercise.cases(np.random.default_rng(verdict.seed))
    assert verdict.case is not None
    return replay(exercise, answer, cases[verdict.case])


@dataclass(frozen=True)
class Row:
    """One value of a case: what the answer computed, and what it should be."""

    name: str
    yours: str
    right: str
    differs: bool


@dataclass(frozen=True, repr=False)
class CaseReplay:
    """The recording of one case, and its values beside the right ones."""

    title: str
    inputs: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    recording: Any

    def __repr__(self) -> str:
        lines = [self.title, *[f"  {name} = {value}" for name, value in self.inputs]]
        for row in self.rows:
            lines.append(f"  {row.name}: yours {row.yours}, right {row.right}")
        return "\n".join([*lines, repr(self.recording)])

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> dict[str, str]:
        bundle: dict[str, str] = self.recording._repr_mimebundle_()
        bundle["text/plain"] = f"{self!r}\n{bundle['text/plain']}"
        bundle["text/html"] = f"{self._table()}{bundle['text/html']}"
        return bundle

    def _table(self) -> str:
        given = "".join(
            f"<div><code>{html.escape(name)}</code> = {_block(value)}</div>"
            for name, value in self.inputs
        )
        rows = "".join(
            f"<tr><th>{html.escape(row.name)}</th><td>{_block(row.yours)}</td>"
            f"<td>{_block(row.right)}</td><td>{'≠' if row.differs else '='}</td></tr>"
            for row in self.rows
        )
        return (
            '<div class="minigrad-replay" style="margin-bottom: 0.8em">'
            f"<div><b>{html.escape(self.title)}</b></div>"
            f'<div style="display: flex; flex-wrap: wrap; gap: 0.4em 2em">{given}</div>'
            '<table style="margin: 0.6em 0"><thead><tr><th></th><th>yours</th>'
            f"<th>right</th><th></th></tr></thead><tbody>{rows}</tbody></table></div>"
        )


def _block(text: str) -> str:
    return (
        '<span style="white-space: pre; font-family: monospace;'
        f' vertical-align: top; display: inline-block">{html.escape(text)}</span>'
    )


def replay(exercise: Exercise, answer: Any, case: Case) -> CaseReplay:
    """Record ``answer`` on ``case``: apply, then backward with its gradient."""
    contract = exercise.contract
    leaves = [
        MINIGRAD.tensor(value, i in case.differentiable)
        if isinstance(value, np.ndarray)
        else value
        for i, value in enumerate(case.inputs)
    ]
    upstreams = [None if g is None else minigrad.tensor(g) for g in case.upstreams]
    seen: dict[str, Any] = {}

    def the_case() -> None:
        arguments = list(leaves)
        if contract.in_place:
            arguments[0] = leaves[0].clone()
        result = answer.apply(*arguments)
        seen["outputs"] = result if isinstance(result, tuple) else (result,)
        pairs = zip(seen["outputs"], upstreams, strict=False)
        roots = [
            (y, g)
            for y, g in pairs
            if g is not None and isinstance(y, Tensor) and y.requires_grad
        ]
        minigrad.autograd.backward([y for y, _ in roots], [g for _, g in roots])

    # A recording is headed by the name of what was called.
    the_case.__qualname__ = title = f"{exercise.id}, {case.name}"
    recording = minigrad.step(the_case)
    outputs = tuple(_numbers(y) for y in seen.get("outputs", ()))
    got = [x.grad if isinstance(x, Tensor) else None for x in leaves]
    gradients = tuple(_numbers(grad) for grad in got)
    return CaseReplay(
        title=title,
        inputs=tuple(_given(exercise, case)),
        rows=tuple(_rows(exercise, case, outputs, gradients)),
        recording=recording,
    )


def _given(exercise: Exercise, case: Case) -> Iterator[tuple[str, str]]:
    for name, value in zip(exercise.arguments, case.inputs, strict=True):
        yield name, _text(value)
    several = len(case.upstreams) > 1
    for name, g in zip(exercise.contract.outputs, case.upstreams, strict=True):
        if g is not None:
            yield f"grad_output for {name}" if several else "grad_output", _text(g)


def _rows(
    exercise: Exercise, case: Case, outputs: Arrays, gradients: Arrays
) -> Iterator[Row]:
    references = References(exercise)
    contract = exercise.contract
    drawn = outputs[0] if contract.random and outputs else None
    if contract.random and drawn is None:
        return
    results = references.result(case.inputs, drawn)
    for i, (name, right) in enumerate(zip(contract.outputs, results, strict=True)):
        yours = outputs[i] if i < len(outputs) else None
        yield _row(name, yours, right)
    wanted = references.gradients(case.inputs, case.upstreams, drawn)
    for i in case.differentiable:
        name = f"gradient for {contract.arguments[i]}"
        yield _row(name, gradients[i], wanted[i])


def _row(name: str, yours: Array | None, right: Array | None) -> Row:
    """Both values as text, with as many digits as it takes to see them differ."""
    if yours is None or right is None:
        return Row(name, _text(yours), _text(right), yours is not right)
    differs = error_of(yours, right) > tolerance(right)
    digits = 4
    if differs and _text(yours) == _text(right):
        digits = 14
    return Row(name, _text(yours, digits), _text(right, digits), differs)


def _numbers(value: object) -> Array | None:
    return value.array.copy() if isinstance(value, Tensor) else None


def _text(value: Array | Any | None, digits: int = 4) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    with np.printoptions(precision=digits, suppress=True, threshold=60, linewidth=60):
        return str(value)
