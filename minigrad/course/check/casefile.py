"""The facts of one answer beside its exercise, and the ways to look at them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import (
    Array,
    Arrays,
    Crash,
    Facts,
    Pass,
    Trial,
    is_float,
)
from minigrad.course.check.references import References
from minigrad.engine import structural

Stories = dict[tuple[str, int], Arrays]
"""Gradients by the mistake's id and its number among several of that id."""


class CaseFile:
    """What was seen on all cases; what is right is worked out here, on this side."""

    def __init__(
        self,
        facts: Sequence[Facts],
        exercise: Exercise,
        references: References | None = None,
    ) -> None:
        self.facts, self.exercise = facts, exercise
        self.references = references or References(exercise)
        self.contract = exercise.contract
        self.declared = facts[0].declared
        self.name = self.declared.name
        self._known: dict[tuple[str, int], Arrays] = {}
        self._tolerances: dict[int, float] = {}
        self.told: dict[tuple[str, int], Stories] = {}

    def trials(self, *names: str) -> Iterator[tuple[Facts, Trial]]:
        """The trials with these names (all, without names), case by case.

        A name that ends in a blank stands for all that begin so: ``"only "``.
        """
        for fact in self.facts:
            for trial in fact.trials:
                if not names or any(is_called(trial, name) for name in names):
                    yield fact, trial

    def passes(self, *names: str) -> Iterator[tuple[Facts, Trial, Pass]]:
        """The backward passes of those trials."""
        for fact, trial in self.trials(*names):
            for run in trial.passes:
                yield fact, trial, run

    @property
    def plain(self) -> Iterator[tuple[Facts, Trial]]:
        """The ordinary call of every case."""
        return self.trials("plain")

    def results(self, trial: Trial) -> tuple[Array, ...]:
        """What forward should have returned, one array an output."""
        key = "results", id(trial)
        if key not in self._known:
            with np.errstate(all="ignore"):
                found = self.references.result(trial.inputs, self._drawn(trial))
            self._known[key] = found
        return tuple(a for a in self._known[key] if a is not None)

    def truth(self, trial: Trial, run: Pass) -> Arrays:
        """The right gradients, one an argument; None for what has none."""
        key = "truth", id(run)
        if key not in self._known:
            self._known[key] = self.gradients(trial, run.upstreams)
        return self._known[key]

    def gradients(
        self, trial: Trial, upstreams: Arrays, inputs: tuple[Any, ...] | None = None
    ) -> Arrays:
        """The right gradients for any upstream gradients, and any inputs."""
        inputs = trial.inputs if inputs is None else inputs
        g = self.sent(trial, upstreams)
        with np.errstate(all="ignore"):
            found = self.references.gradients(inputs, g, self._drawn(trial))
        return as_arrays(found, inputs)

    def tolerance(self, trial: Trial) -> float:
        """The error that rounding alone may cause in this trial."""
        key = id(trial)
        if key not in self._tolerances:
            floats = [tolerance(x) for x in trial.inputs if is_float(x)]
            self._tolerances[key] = max(*floats, 1e-11, self.exercise.accuracy)
        return self._tolerances[key]

    def unusual(self, trial: Trial) -> str:
        """What is strange about a result that was drawn; an empty string if nothing."""
        drawn = self._drawn(trial)
        return "" if drawn is None else self.exercise.unusual(drawn, trial.inputs)

    def sent(self, trial: Trial, upstreams: Arrays) -> Arrays:
        """Upstream gradients as a rule takes them: zeros for an output nobody used."""
        marked = self.contract.non_differentiable
        return tuple(
            None if i in marked else np.zeros_like(y) if g is None else g
            for i, (g, y) in enumerate(zip(upstreams, self.results(trial), strict=True))
        )

    def wrong_gradients(
        self, trial: Trial, upstreams: Arrays
    ) -> Iterator[tuple[str, Arrays]]:
        """What the exercise's wrong rules return."""
        g = self.sent(trial, upstreams)
        with np.errstate(all="ignore"):
            for id, told in self.exercise.wrong_gradients(
                g if len(g) > 1 else g[0], *trial.inputs, **self._told(trial)
            ):
                yield id, as_arrays(told, trial.inputs)

    def wrong_results(self, trial: Trial) -> Iterator[tuple[str, Arrays]]:
        """What forward returns for the mistakes of this exercise that have a name."""
        with np.errstate(all="ignore"):
            for id, told in self.exercise.wrong_results(
                *trial.inputs, **self._told(trial)
            ):
                yield id, told if isinstance(told, tuple) else (told,)

    @property
    def remarks(self) -> frozenset[str]:
        """The mistakes that are mentioned and not refused."""
        # The engine casts a gradient to the dtype of its input.
        if self.exercise.remarks is not None:
            return self.exercise.remarks | {"T03"}
        lost = {"D01", "D02"} if self.contract.second_derivative == "any" else set()
        return frozenset({"A14", "A15", "T03"} | lost)

    def _drawn(self, trial: Trial) -> Array | None:
        """What a random contract has to be told: the result that was seen."""
        drawn = self.contract.random and trial.outputs
        return trial.outputs[0].value if drawn else None

    def _told(self, trial: Trial) -> dict[str, Array]:
        """The same as the functions of a spec take it."""
        drawn = self._drawn(trial)
        return {} if drawn is None else {"output": drawn}

    def slot(self, i: int) -> str:
        """Where the gradient for argument ``i`` comes from."""
        which = ("first", "second", "third", "fourth", "fifth", "sixth")
        place = f"{which[i]} value" if i < len(which) else f"value {i + 1}"
        if len(self.contract.arguments) == 1:
            return f"{self.name}.backward, the value returned (for {self.argument(i)})"
        return f"{self.name}.backward, {place} returned (for {self.argument(i)})"

    def argument(self, i: int) -> str:
        """The name of argument ``i`` of forward."""
        return self.contract.arguments[i]

    def number_of(self, fact: Facts) -> int:
        """The place of this case among all."""
        return next(n for n, each in enumerate(self.facts) if each is fact)

    @property
    def mistakes_parameters(self) -> bool:
        """Whether setup_context calls the tuple of inputs by an argument's name."""
        declared = self.declared
        return declared.own_setup_context and bool(
            set(declared.setup_parameters[1:2]) & set(declared.forward_parameters)
        )

    @property
    def permuted(self) -> bool:
        """Whether the source unpacks the names that it saved, in another order."""
        saved, unpacked = self.declared.saved_names, self.declared.unpacked_names
        if len(saved) != len(unpacked):
            return False
        places = enumerate(zip(saved, unpacked, strict=True))
        return any(
            name != read and (name in unpacked[:i] + unpacked[i + 1 :])
            for i, (name, read) in places
            if name and saved.count(name) == 1
        )


def is_called(trial: Trial, name: str) -> bool:
    """Whether a trial goes by this name; ``"only "`` stands for every ``only ...``."""
    return trial.name.startswith(name) if name.endswith(" ") else trial.name == name


def as_arrays(values: Sequence[Any], inputs: tuple[Any, ...]) -> Arrays:
    """One array or None an argument, as a rule may return numbers, too."""
    padded = [*values, *[None] * (len(inputs) - len(values))]
    return tuple(
        [
            None if v is None or not is_float(x) else np.asarray(v)
            for v, x in zip(padded, inputs, strict=True)
        ]
    )


def thrown(crash: Crash) -> str:
    """The exception in one line, as Python would end its traceback."""
    return f"{crash.kinds[0]}: {crash.text}"


def first_line(crash: Crash) -> str:
    """Kind and text of an exception, without further lines."""
    return thrown(crash).rstrip(": ").splitlines()[0]


def is_todo(crash: Crash | None) -> bool:
    """Whether this is the exception that an untouched exercise raises."""
    return (
        crash is not None
        and "NotImplementedError" in crash.kinds
        and crash.text.startswith("TODO")
    )


def pass_on_todo(crash: Crash | None) -> None:
    """Raise again what an untouched exercise raises, so that it is not tried."""
    if crash is not None and is_todo(crash):
        raise NotImplementedError(crash.text)


def says_todo(error: Exception) -> bool:
    """Whether an exception of the answer is the one that an untouched line raises."""
    return isinstance(error, NotImplementedError) and str(error).startswith("TODO")


def lacks_values(crash: Crash) -> bool:
    """Whether a tuple, and not a shape, was taken apart into too many or too few."""
    return "unpack" in crash.text and ".shape" not in crash.line


def error_of(got: Array, right: Array, beside: Array | None = None) -> float:
    """The largest difference, relative to the largest value of right (or beside).

    Where both are the same infinity, or both not a number, there is none. Values that
    should all be zero are measured beside small ones of their dtype.
    """
    if got.shape != right.shape:
        return float("inf")
    if not got.size:
        return 0.0
    largest = float(difference_of(got, right).max())
    if largest == math.inf:
        return math.inf
    single = np.float32 in (got.dtype, right.dtype)
    size = _size(right) if beside is None else max(_size(right), _size(beside))
    return largest / max(size, 0.1 if single else 1e-3)


def difference_of(got: Array, right: Array) -> Array:
    """How far apart the elements are; infinite where only one is a number."""
    a, b = np.asarray(got, np.float64), np.asarray(right, np.float64)
    with np.errstate(all="ignore"):
        difference = np.asarray(np.abs(a - b))
        is_usual = math.isfinite(difference.sum())
    if is_usual:
        return difference
    alike = (a == b) | (np.isnan(a) & np.isnan(b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    return np.asarray(np.where(alike, 0.0, difference))


def _size(right: Array) -> float:
    sizes = np.abs(np.asarray(right, np.float64))
    if not sizes.size:
        return 0.0
    largest = float(sizes.max())
    if math.isfinite(largest):
        return largest
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))


def tolerance(like: Array) -> float:
    """The error that rounding alone may cause for inputs like this one."""
    return 1e-5 if like.dtype == np.float32 else 1e-11


def worst(got: Array, right: Array) -> tuple[int, ...]:
    """The first element that is clearly off."""
    difference = difference_of(got, right)
    finite = difference[np.isfinite(difference)]
    limit = 0.1 * float(np.max(finite, initial=0.0))
    if not np.all(np.isfinite(difference)):
        limit = np.inf
        off = np.argwhere(difference == np.inf)
    else:
        off = np.argwhere(difference > limit)
    return tuple(int(n) for n in off[0]) if len(off) else (0,) * got.ndim


def index_text(at: tuple[int, ...]) -> str:
    """An index as a learner writes it."""
    return f"[{', '.join(str(n) for n in at)}]" if at else "(the only one)"


def sum_to(array: Array, shape: tuple[int, ...]) -> Array | None:
    """Add up what ``shape`` was copied to; None if this is no copy of it."""
    try:
        if np.broadcast_shapes(array.shape, shape) != array.shape:
            return None
    except ValueError:
        return None
    return structural.sum_to(array, shape)
