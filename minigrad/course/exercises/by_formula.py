"""Exercises whose numbers are formulas: what a module would define, from the text.

``[right]`` has a formula for each output, and one for each argument's gradient.
``[wrong]`` has, by mistake, what is returned instead: a text stands for the first
argument. ``[factors]`` are what a gradient may be wrong by. ``[cases]`` says what is
tried beside one tensor of every kind, and which plain values go with the tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.course.check import Array, Arrays, Case, Contract, facts, formulas
from minigrad.course.exercises.gym.elementwise import tensors
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.mistakes import MistakeTableError


def spec_of(text: Mapping[str, Any], contract: Contract, file: str) -> dict[str, Any]:
    """What a module would define of what this text has: numbers, cases, or both."""
    found: dict[str, Any] = {}
    if "right" in text:
        stated = Stated(text, contract, file)
        found = {
            "reference": stated.reference,
            "gradients": stated.gradients,
            "wrong_gradients": stated.wrong_gradients,
            "wrong_results": stated.wrong_results,
            "factors": stated.factors,
        }
    if "cases" in text:
        results = found.get("reference", lambda x, *plain: x)
        found["cases"] = Drawn(text["cases"], contract, results).cases
    return found


class Stated:
    """The formulas of one text file."""

    def __init__(self, text: Mapping[str, Any], contract: Contract, file: str) -> None:
        self.contract = contract
        known = formulas.known_names(contract)

        def by_name(said: Any) -> Any:
            return said if isinstance(said, dict) else {contract.arguments[0]: said}

        def rule(part: str, said: Any) -> formulas.Rule:
            where = f"{file}, [{part}]"
            table = by_name(said).items()
            return formulas.Rule(
                part, {n: formulas.parsed(f, known, where) for n, f in table}
            )

        right, named = text["right"], {*contract.outputs, *contract.arguments}
        if not {*contract.outputs} <= {*right} <= named:
            what = f"[right] has {', '.join(right) or 'nothing'}"
            fix = f"give it {' and '.join(contract.outputs)}, and a gradient each for "
            fix += "arguments that have one"
            raise MistakeTableError(errors.message(f"{file}, [right]", what, fix))
        self.result = rule("right", {name: right[name] for name in contract.outputs})
        slopes = {name: f for name, f in right.items() if name in contract.arguments}
        self.slopes = rule("right", slopes)
        wrong = [
            {"id": id, "wrong": by_name(said)}
            for id, many in text.get("wrong", {}).items()
            for said in many
        ]
        self.wrong = formulas.rules_of(wrong, contract, file)
        factors = text.get("factors", {})
        self.ratios = [
            replace(rule("factors", said), id=id)
            for id, many in factors.items()
            for said in many
        ]

    def reference(self, *inputs: Any) -> Array | Arrays:
        """What forward returns. Raises: ValueError."""
        nothing = (None,) * len(self.contract.outputs)
        names = formulas.names_of(self.contract, inputs, nothing, nothing)
        ((_, found),) = formulas.told([self.result], self.contract.outputs, names)
        outputs = as_computed(found, inputs)
        if len(outputs) > 1:
            return outputs
        (output,) = outputs
        if output is None:
            raise ValueError("the formula of the result doesn't fit these shapes")
        return output

    def gradients(self, g: Any, *inputs: Any) -> Arrays:
        """The right gradients."""
        ((_, found),) = self.told([self.slopes], g, inputs)
        return as_computed(found, (*inputs, *(g if isinstance(g, tuple) else (g,))))

    def wrong_gradients(self, g: Any, *inputs: Any) -> list[tuple[str, Arrays]]:
        """What each known wrong rule returns."""
        return self.told(self.wrong, g, inputs)

    def wrong_results(self, *inputs: Any) -> list[tuple[str, Arrays]]:
        """What forward returns when it goes wrong in a known way."""
        nothing = (None,) * len(self.contract.outputs)
        names = self.names(nothing, inputs)
        return formulas.told(self.wrong, self.contract.outputs, names)

    def factors(self, *inputs: Any) -> Iterator[tuple[str, float]]:
        """What a constant ratio to the right gradient could follow."""
        nothing = (None,) * len(self.contract.outputs)
        for id, (value, *_) in self.told(self.ratios, nothing, inputs):
            if value is not None and math.isfinite(value):
                yield id, float(value)

    def told(
        self, rules: Sequence[formulas.Rule], g: Any, inputs: tuple[Any, ...]
    ) -> list[tuple[str, Arrays]]:
        """What rules say of each argument."""
        names = self.names(g, inputs)
        return formulas.told(rules, self.contract.arguments, names)

    def names(self, g: Any, inputs: tuple[Any, ...]) -> formulas.Names:
        """What each name stands for."""
        found = self.reference(*inputs)
        ys = found if isinstance(found, tuple) else (found,)
        gs = g if isinstance(g, tuple) else (g,)
        return formulas.names_of(self.contract, inputs, gs, ys)


class Drawn:
    """One tensor of every kind, and what the text has more."""

    def __init__(
        self, text: Mapping[str, Any], contract: Contract, results: Callable[..., Any]
    ) -> None:
        self.text, self.results = text, results
        self.plain = contract.arguments[1:]

    def cases(self, random: np.random.Generator) -> list[Case]:
        """What the answer is tried on."""
        kinds = tensors(random)
        if self.text.get("with_axes"):
            kinds = [(name, x) for name, x in kinds if x.ndim]
        rows: list[tuple[str, Array, list[Any]]] = [
            (name, x, [self.text[plain][number] for plain in self.plain])
            for number, (name, x) in enumerate(kinds)
        ]
        for each in self.text.get("also", ()):
            x = numbers(random, *each["shape"]) if "shape" in each else each["x"]
            array = np.array(x, each.get("dtype", "float64"))
            rows.append((each["name"], array, [each[plain] for plain in self.plain]))
        return [
            Case(self.called(name, more), (x, *more), self.upstream(random, x, *more))
            for name, x, more in rows
        ]

    def called(self, name: str, more: list[Any]) -> str:
        """A case with the plain values that go with its tensor."""
        values = [f"{a} = {v}" for a, v in zip(self.plain, more, strict=True)]
        return ", ".join([name, *values])

    def upstream(self, random: np.random.Generator, *inputs: Any) -> Array | Arrays:
        """An upstream gradient for each output."""

        def like(y: Array) -> Array:
            return numbers(random, *y.shape).astype(y.dtype)

        results = self.results(*inputs)
        return (
            tuple(map(like, results)) if isinstance(results, tuple) else like(results)
        )


def as_computed(values: Arrays, met: tuple[Any, ...]) -> Arrays:
    """Each value in the dtype that arithmetic of these arrays has.

    Numbers in a formula are float64, which a float32 program must not become.
    """
    floats = [each.dtype for each in met if facts.is_float(each)]
    dtype = np.result_type(*floats)
    return tuple([None if v is None else v.astype(dtype) for v in values])
