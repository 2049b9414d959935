"""An exercise: what is asked, on what an answer is tried, what the right values are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.course.check import crossing
from minigrad.course.check.facts import Array, Arrays, Case, Contract, is_float
from minigrad.course.check.findings import Finding


@dataclass(frozen=True)
class Question:
    """One question of a prediction or an investigation.

    Without ``choices`` it is answered by a short text. ``wrong`` names what a wrong
    answer looks like; ``why`` explains the right one once an answer is there. What is
    asked may be about a ``program``.
    """

    id: str
    text: str
    choices: tuple[str, ...]
    wrong: Mapping[str, str]
    why: str
    hint: str
    program: str = ""


@dataclass(frozen=True)
class Line:
    """One line to be put in order; a distractor says which mistake it stands for."""

    id: str
    text: str
    mistake: str
    hint: str


@dataclass(frozen=True)
class Part:
    """One Function of an exercise that asks for several: what a module says of one."""

    CONTRACT: Contract
    reference: Callable[..., Any]
    cases: Callable[..., list[Case]]
    gradients: Callable[..., Arrays]
    wrong_gradients: Callable[..., Iterable[tuple[str, Arrays]]]
    wrong_results: Callable[..., Iterable[tuple[str, Array | Arrays]]] | None = None
    CROSSING: crossing.Crossing = crossing.NOTHING_SAID


@dataclass(frozen=True)
class Exercise:
    """One exercise: what is asked, on what it is tried, what the right values are.

    ``kind`` is a letter of curriculum and grading: P predict, R order the lines, I
    investigate, B find the bug, C complete, W write, M measure. ``half_step`` is shown
    after the same mistake came three times. ``spec`` is the module that goes with it.
    One that ``is_extra`` counts neither in its lesson's minutes nor as next. With
    ``every_shape`` tensors without an axis, or without a number, are asked for, too.
    """

    id: str
    title: str
    kind: str
    statement: str
    points: int
    minutes: int
    is_extra: bool
    every_shape: bool
    hints: tuple[str, ...]
    mistake_hints: Mapping[str, str]
    half_step: str
    questions: tuple[Question, ...]
    lines: tuple[Line, ...]
    spec: Any

    @property
    def answer(self) -> str:
        """The name of the class or function to be written."""
        contract = getattr(self.spec, "CONTRACT", None)
        name = contract.name if contract else self.function or ", ".join(self.handed)
        return name or str(self.spec.ANSWER)

    @property
    def handed(self) -> Mapping[str, str]:
        """The kind of each thing to be handed over, by its name; mostly empty."""
        kinds: Mapping[str, str] = getattr(self.spec, "HANDED", {})
        return kinds

    @property
    def function(self) -> str:
        """The name of the plain function to be written; empty for anything else."""
        name: str = getattr(self.spec, "FUNCTION", "")
        return name

    @property
    def heading(self) -> str:
        """Its id and its title, the name of a practice Function only once."""
        return heading_of(self.id, self.title)

    @property
    def contract(self) -> Contract:
        """What is asked of a Function, apart from its numbers."""
        asked: Contract = self.spec.CONTRACT
        return asked

    @property
    def parts(self) -> list[Exercise]:
        """The Functions of an exercise that asks for several, each as one exercise.

        Where it has no hint for a mistake, that of the exercise they're from is said.
        """
        parts, own = getattr(self.spec, "PARTS", ()), dict(self.mistake_hints)
        return [
            replace(self, spec=p, mistake_hints=getattr(p, "HINTS", {}) | own)
            for p in parts
        ]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of forward's arguments."""
        return self.contract.arguments

    @property
    def remarks(self) -> frozenset[str] | None:
        """The mistakes that are mentioned and not refused; None: the usual ones."""
        ids: frozenset[str] | None = getattr(self.spec, "REMARKS", None)
        return ids

    def hinted(self, found: Finding, *, usual: bool = False) -> Finding:
        """A finding with the hint that this exercise has for it, if it has one.

        A hint that the finding has already stays, unless it's the ``usual`` one, of a
        message that many mistakes share. Of two tensors, ``{this}`` in a hint is the
        one that the finding is about.
        """
        kept = found.hint and not usual
        hint = "" if kept else self.mistake_hints.get(found.id, "")
        if "{" in hint:
            this = (*found.arguments, *self.arguments)[0]
            others = [name for name in self.arguments if name != this]
            hint = hint.format(this=this, other=others[0])
        return found.with_hint(hint)

    @property
    def when_missing(self) -> str:
        """What is asked of somebody whose order lacks a line."""
        hint: str = self.spec.WHEN_MISSING
        return hint

    @property
    def accuracy(self) -> float:
        """The relative error of the right values: not 0 where they are measured."""
        error: float = getattr(self.spec, "ACCURACY", 0.0)
        return error

    @property
    def crossing(self) -> crossing.Crossing:
        """What its arguments are, from which the corner cases are made."""
        said: crossing.Crossing = getattr(self.spec, "CROSSING", crossing.NOTHING_SAID)
        return said

    def cases(self, random: np.random.Generator) -> list[Case]:
        """What the answer is tried on: ordinary cases, then the corners."""
        own = getattr(self.spec, "cases", None)
        drawn: list[Case] = own(random) if own else []
        asked = self.crossing, self.contract, self.reference, random
        return [*drawn, *crossing.cases(*asked, ordinary=not own)]

    def reference(self, *inputs: Any, **seen: Array) -> Array | Arrays:
        """What forward returns: an array, or a tuple of arrays for several outputs.

        ``output=`` is what was seen, where the contract says that it is random.
        """
        value: Array | Arrays = self.spec.reference(*inputs, **seen)
        return value

    def gradients(self, g: Any, *inputs: Any, **seen: Array) -> Arrays:
        """The right gradients, one an argument, None for what has none."""
        if hasattr(self.spec, "gradients"):
            found: Arrays = self.spec.gradients(g, *inputs, **seen)
            return found
        return slopes(self.spec.reference, inputs, g)

    def wrong_gradients(
        self, g: Any, *inputs: Any, **seen: Array
    ) -> Iterable[tuple[str, Arrays]]:
        """What each known wrong rule of this exercise returns, by its mistake's id."""
        return self._told("wrong_gradients", g, *inputs, **seen)

    def wrong_results(
        self, *inputs: Any, **seen: Array
    ) -> Iterable[tuple[str, Array | Arrays]]:
        """What forward returns for the mistakes that have a name, or a sentence."""
        return self._told("wrong_results", *inputs, **seen)

    def unusual(self, result: Array, inputs: tuple[Any, ...]) -> str:
        """What is odd about a result that was drawn at random; empty if nothing is."""
        look = getattr(self.spec, "unusual_result", None)
        return str(look(result, *inputs)) if look else ""

    def factors(self, *inputs: Any) -> Iterable[tuple[str, float]]:
        """The quantities that a gradient may be wrong by, with the mistake each is."""
        return self._told("factors", *inputs)

    def _told(self, name: str, *given: Any, **seen: Array) -> list[Any]:
        told = getattr(self.spec, name, None)
        return list(told(*given, **seen)) if told else []


def heading_of(exercise_id: str, title: str) -> str:
    """An id and a title in one line.

    >>> heading_of("01.4", "Mul"), heading_of("gym.Power", "Power, x to a fixed power")
    ('01.4 Mul', 'gym.Power, x to a fixed power')
    """
    name = exercise_id.removeprefix("gym.")
    rest = title.removeprefix(name)
    return f"{exercise_id}{rest}" if rest != title else f"{exercise_id} {title}"


def slopes(
    reference: Callable[..., Array], inputs: tuple[Any, ...], upstream: Array
) -> Arrays:
    """The gradient of ``sum(upstream * reference(*inputs))`` for every float array.

    A step along the imaginary axis has no subtraction in it, so a reference built from
    analytic functions gives its slope to the last digit.
    """
    step = 1e-30
    wide = [np.array(a, np.complex128) if is_float(a) else a for a in inputs]
    found: list[Array | None] = []
    for a in wide:
        if not (isinstance(a, np.ndarray) and a.dtype == np.complex128):
            found.append(None)
            continue
        slope = np.empty(a.shape)
        for index in np.ndindex(a.shape):
            a[index] += 1j * step
            slope[index] = np.sum(upstream * reference(*wide).imag) / step
            a[index] = a[index].real
        found.append(slope)
    return tuple(found)
