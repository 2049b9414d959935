"""``diagnose``: look at anybody's Function, with no right answer to compare it with.

Its own forward is the measure: slopes of forward, taken by finite differences, say what
backward should return. Everything else is the check that the exercises use.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.course.check.engines import Engine, engine_of
from minigrad.course.check.examination import answers_running
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import Array, Arrays, Case, Contract, Facts, is_float
from minigrad.course.check.findings import Finding
from minigrad.course.check.finite_difference import KinkError, Slopes
from minigrad.course.check.judge import judge
from minigrad.course.check.limits import Deadline, as_imported, own_random_numbers
from minigrad.course.check.observation import StoppedError, observe
from minigrad.course.check.references import References
from minigrad.course.check.verdict import rows_of, with_code
from minigrad.views import heat

SECONDS = 30.0
MOST_ELEMENTS = 1000
"""Each element of the inputs costs four runs of forward."""

MOST_DOUBLED = 100
"""Up to so many elements, twice as many as given are tried, too."""

ACCURACY = 1e-6


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What was found in a Function: findings, remarks, and the error by element.

    ``notes`` says what could not be looked at, and why.
    """

    name: str
    findings: tuple[Finding, ...]
    remarks: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    gradients: tuple[tuple[str, Array, Array], ...] = ()

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the named mistakes."""
        return tuple(name for finding in self.findings for name in finding.ids)

    @property
    def headline(self) -> str:
        """The first line: the name, and whether something was found."""
        if not self.findings:
            return f"✓ {self.name}: nothing wrong was found"
        return f"✗ {self.name}: {errors.count_of(len(self.findings), 'finding')}"

    @property
    def message(self) -> str:
        """The whole report as plain text."""
        lines = [self.headline]
        for label, text in self._rows():
            lines.append(f"  {label}: {text}".replace("\n", "\n    "))
        return "\n".join(lines)

    def _rows(self) -> list[tuple[str, str]]:
        rows = rows_of(self.findings)
        for remark in self.remarks:
            said = f"{remark.what}. {remark.story} {remark.next_step}"
            rows.append((f"remark ({remark.id})", said))
        for name, yours, measured in self.gradients:
            rows.append((f"gradient for {name}", heat.sentence(yours, measured)))
        return [*rows, *(("note", note) for note in self.notes)]

    def __repr__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<div style="opacity: 0.75">{html.escape(label)}</div>'
            f'<div style="max-width: 37em">{with_code(text)}</div>'
            for label, text in self._rows()
        )
        pictures = "".join(heat.picture(*each) for each in self.gradients)
        colour = "#d55e00" if self.findings else "#009e73"
        return (
            f'<div class="minigrad-diagnosis" style="border-left: 4px solid {colour};'
            ' padding: 0.3em 0.9em; max-width: 60em">'
            f'<div style="font-weight: 600">{html.escape(self.headline)}</div>'
            '<div style="display: grid; grid-template-columns: max-content 1fr;'
            f' gap: 0.25em 1.2em; margin: 0.4em 0">{rows}</div>{pictures}</div>'
        )


def diagnose(function: Any, *example_inputs: Any, seed: int = 0) -> Diagnosis:
    """Look for mistakes in a Function of yours, by running it on example inputs.

    ``example_inputs`` are what ``apply`` takes: tensors, and plain values as they are.
    A torch.autograd.Function is taken, too, with torch tensors. What backward should
    return is measured on forward by finite differences, in float64, so a backward that
    is meant to differ from forward's slope (a straight-through estimator) is reported.

    Shape: at most 1000 elements in all inputs; a few for each are enough.
    Raises: ArgumentTypeError for anything but a Function, ArgumentValueError for inputs
    without a float tensor, or with too many elements.
    """
    engine = engine_of(function)
    if engine is None:
        what = f"it was given {_described(function)}, which isn't a Function class"
        fix = "give the class itself: diagnose(MyFunction, x, y)"
        raise errors.ArgumentTypeError(errors.message("diagnose", what, fix))
    inputs = tuple(_plain(engine, value) for value in example_inputs)
    _refuse_unusable(inputs)
    try:
        with as_imported.in_force(), own_random_numbers(seed):
            return _Patient(engine, function, inputs, seed).diagnosis()
    except StoppedError as stopped:
        what = f"{stopped.phase} was still running after {SECONDS:g} seconds"
        hint = "Look for a loop that never ends, or a wait (sleep, input)."
        where = f"{function.__name__}.{stopped.phase}"
        return Diagnosis(
            function.__name__, (Finding((), what, where, hint=hint, crashed=True),)
        )


def _described(value: object) -> str:
    return value.__name__ if isinstance(value, type) else f"a {type(value).__name__}"


def _plain(engine: Engine, value: Any) -> Any:
    return engine.memory(value).copy() if engine.is_tensor(value) else value


def _refuse_unusable(inputs: tuple[Any, ...]) -> None:
    floats = [value for value in inputs if is_float(value)]
    if not floats:
        what = "none of the example inputs is a tensor of floats"
        fix = "give what apply takes: diagnose(MyFunction, x, 2.0)"
        raise errors.ArgumentValueError(errors.message("diagnose", what, fix))
    count = sum(value.size for value in floats)
    if count > MOST_ELEMENTS:
        what = f"the example inputs have {count} elements; at most {MOST_ELEMENTS}"
        what += " can be moved one by one"
        fix = "give smaller ones: a few elements for each axis are enough"
        raise errors.ArgumentValueError(errors.message("diagnose", what, fix))


class _Patient:
    """One Function on one set of inputs."""

    def __init__(
        self, engine: Engine, function: Any, inputs: tuple[Any, ...], seed: int
    ) -> None:
        self.engine, self.function = engine, function
        self.inputs = inputs
        self.random = np.random.default_rng(seed)
        self.slopes = Slopes(engine, function, seed)
        self.notes: list[str] = []
        self.deadline = Deadline(SECONDS)

    def diagnosis(self) -> Diagnosis:
        """Run everything and judge it."""
        name = self.function.__name__
        contract = Contract(name, _arguments(self.function, len(self.inputs)))
        with answers_running(self.deadline):
            seen = observe(
                self.function,
                contract,
                [Case("your inputs", _wide(self.inputs), np.zeros(()))],
                self.deadline,
                self.slopes.reseed,
            )
            crashed = seen[0].trials[0].crash is not None
            cases: list[Case] = []
            if not crashed:
                contract = self._contract(contract, seen[0])
                cases = self._cases(contract)
                seen = observe(
                    self.function, contract, cases, self.deadline, self.slopes.reseed
                )
            exercise = self._exercise(contract)
            judgement = judge(seen, exercise, References(exercise))
        return Diagnosis(
            name,
            judgement.findings,
            judgement.remarks,
            tuple(self.notes),
            tuple(self._gradients(contract, seen[0])) if cases else (),
        )

    def _contract(self, contract: Contract, seen: Facts) -> Contract:
        """What the Function itself says that it does."""
        trial = seen.trials[0]
        several = len(trial.outputs) > 1
        names = tuple(f"output {i}" for i in range(len(trial.outputs)))
        base = self.engine.function
        return replace(
            contract,
            outputs=names if several else ("result",),
            non_differentiable=tuple(
                i for i, y in enumerate(trial.outputs) if not y.requires_grad
            )
            if any(y.requires_grad for y in trial.outputs)
            else (),
            in_place=bool(trial.outputs) and trial.outputs[0].is_input == 0,
            jvp=self.function.jvp is not base.jvp,
            materialize_grads=trial.materialize_grads,
        )

    def _cases(self, contract: Contract) -> list[Case]:
        """The inputs as they are and moved a little, in float64; then in float32."""
        given = _wide(self.inputs)
        moved = tuple(
            v * 0.9 + self.random.uniform(-0.1, 0.1, v.shape) if is_float(v) else v
            for v in given
        )
        # Two calls with one number between them can't be told apart.
        for place, value in enumerate(given):
            if type(value) in (int, float) and value:
                near = value + 1 if type(value) is int else value * 0.9
                other = (*moved[:place], near, *moved[place + 1 :])
                moved = other if self._takes(other) else moved
        tried = [("your inputs", given), ("inputs beside yours", moved)]
        # Two calls of one shape can't be told apart by it.
        longer = tuple([self._twice(v) if np.ndim(v) else v for v in moved])
        if sum(map(np.size, longer)) <= MOST_DOUBLED and self._reads_all(longer):
            tried.append(("twice as many inputs", longer))
        found = []
        for name, inputs in tried:
            try:
                self.slopes.jacobian(inputs)
            except KinkError as kink:
                self.notes.append(f"for {name}, {kink}; looked beside it")
                inputs = self._away_from_kinks(inputs)
            found.append(Case(name, inputs, self._upstream(contract, inputs)))
        if any(is_float(v) and v.dtype == np.float32 for v in self.inputs):
            narrow = tuple(
                v.astype(np.float32) if is_float(v) else v for v in found[0].inputs
            )
            g = self._upstream(contract, narrow)
            found.append(Case(f"{found[0].name} in float32", narrow, g))
        # A wrong rule may be tried anywhere.
        self.slopes.tolerant = True
        return found

    def _twice(self, values: Array) -> Array:
        """As many values once more; of floats others, that there's no tie."""
        if not is_float(values):
            return np.concatenate([values, values])
        more = values * 1.3 + self.random.uniform(0.2, 0.6, values.shape)
        return np.concatenate([values, more])

    def _reads_all(self, inputs: tuple[Any, ...]) -> bool:
        """Whether forward takes these, is smooth there, and the last row counts."""
        if not self._takes(inputs):
            return False
        try:
            slopes = self.slopes.jacobian(inputs)
        except KinkError:
            return False
        last = [j[-j.shape[0] // 2 :].any() for j in slopes if j is not None and len(j)]
        return all(last)

    def _takes(self, inputs: tuple[Any, ...]) -> bool:
        """Whether forward has finite results for these."""
        try:
            return all([np.isfinite(y).all() for y in self.slopes.results(inputs)])
        except Exception:  # an axis, say, is no number to be moved
            return False

    def _away_from_kinks(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        for size in (0.01, 0.1, 0.3, 0.3, 0.3):
            shifted = tuple(
                v + self.random.uniform(size / 2, size, v.shape) if is_float(v) else v
                for v in inputs
            )
            try:
                self.slopes.jacobian(shifted)
            except KinkError:
                continue
            return shifted
        self.notes.append(
            "forward has jumps everywhere near these inputs: its slopes mean little"
        )
        self.slopes.tolerant = True
        return inputs

    def _upstream(self, contract: Contract, inputs: tuple[Any, ...]) -> Arrays:
        return tuple(
            None
            if i in contract.non_differentiable
            else self.random.uniform(0.3, 1.7, y.shape).astype(y.dtype)
            * self.random.choice([-1.0, 1.0], y.shape).astype(y.dtype)
            for i, y in enumerate(self.slopes.results(inputs))
        )

    def _exercise(self, contract: Contract) -> Exercise:
        """The Function's own forward in the place of a reference."""

        def reference(*inputs: Any) -> Any:
            found = self.slopes.results(inputs)
            return found if len(contract.outputs) > 1 else found[0]

        def gradients(g: Any, *inputs: Any) -> Arrays:
            return self.slopes.gradients(g if isinstance(g, tuple) else (g,), inputs)

        spec = SimpleNamespace(
            CONTRACT=contract,
            ACCURACY=ACCURACY,
            reference=reference,
            gradients=gradients,
        )
        return Exercise(
            id=contract.name,
            title=contract.name,
            kind="W",
            statement="",
            points=0,
            minutes=0,
            is_extra=False,
            every_shape=False,
            hints=(),
            mistake_hints={},
            half_step="",
            questions=(),
            lines=(),
            spec=spec,
        )

    def _gradients(
        self, contract: Contract, facts: Facts
    ) -> Iterator[tuple[str, Array, Array]]:
        """The gradients of the first case, beside the slopes that were measured."""
        passes = facts.trials[0].passes
        if not passes or passes[0].crash is not None:
            return
        measured = self.slopes.gradients(passes[0].upstreams, facts.case.inputs)
        for i in facts.case.differentiable:
            yours, slope = passes[0].gradients[i], measured[i]
            if slope is not None:
                missing = np.full(slope.shape, np.nan)
                yield (
                    contract.arguments[i],
                    missing if yours is None else yours,
                    slope,
                )


def _wide(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same inputs in float64, where finite differences are exact enough."""
    return tuple(v.astype(np.float64) if is_float(v) else v for v in inputs)


def _arguments(function: Any, count: int) -> tuple[str, ...]:
    """The names of forward's arguments; numbers where it does not name them."""
    code = getattr(inspect.unwrap(function.forward), "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    if "setup_context" not in vars(function):
        names = names[1:]
    more = tuple(f"argument {i + 1}" for i in range(len(names), count))
    return (*names[:count], *more)
