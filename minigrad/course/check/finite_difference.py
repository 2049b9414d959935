"""The slopes of a Function's own forward, by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import errors
from minigrad.course.check.engines import Engine
from minigrad.course.check.facts import Array, Arrays, is_float

STEP = 2e-4
"""With four points this leaves about eleven digits of a smooth function's slope."""


class KinkError(errors.MinigradError, ArithmeticError):
    """Forward has a kink or a jump at an input, so it has no slope there."""


class Slopes:
    """What forward returns, and how fast it changes; each input set is measured once.

    ``tolerant``: a kink is passed over in silence.
    """

    def __init__(self, engine: Engine, function: Any, seed: int) -> None:
        self.engine, self.function, self.seed = engine, function, seed
        self.tolerant = False
        self._kept: dict[bytes, Arrays] = {}

    def reseed(self) -> None:
        """Let a forward that draws random numbers draw the same ones again."""
        np.random.seed(self.seed)
        self.engine.module.manual_seed(self.seed)

    def results(self, inputs: tuple[Any, ...]) -> tuple[Array, ...]:
        """What forward returns, one array an output, with nothing recorded."""
        self.reseed()
        engine = self.engine
        arguments = [
            engine.tensor(v) if isinstance(v, np.ndarray) else v for v in inputs
        ]
        with engine.module.no_grad():
            result = self.engine.apply(self.function, *arguments)
        outputs = result if isinstance(result, tuple) else (result,)
        return tuple(
            engine.memory(y).copy() if engine.is_tensor(y) else np.asarray(y)
            for y in outputs
        )

    def gradients(self, gs: Arrays, inputs: tuple[Any, ...]) -> Arrays:
        """The gradients of the sum of ``g * output`` over all outputs."""
        jacobian = self.jacobian(inputs)
        weights = np.concatenate(
            [
                np.zeros(y.size) if g is None else np.ravel(g).astype(np.float64)
                for g, y in zip(gs, self.results(inputs), strict=True)
            ]
        )
        return tuple(
            None if slopes is None else (slopes @ weights).reshape(value.shape)
            for slopes, value in zip(jacobian, inputs, strict=True)
        )

    def jacobian(self, inputs: tuple[Any, ...]) -> Arrays:
        """For every float array: a row for each element, a column for each result.

        Raises: KinkError where the slope to the left and to the right differ.
        """
        wide = tuple(v.astype(np.float64) if is_float(v) else v for v in inputs)
        key = repr(wide).encode() + b"".join(
            v.tobytes() for v in wide if isinstance(v, np.ndarray)
        )
        if key not in self._kept:
            self._kept[key] = tuple(
                self._rows(wide, place) if is_float(value) else None
                for place, value in enumerate(wide)
            )
        return self._kept[key]

    def _rows(self, inputs: tuple[Any, ...], place: int) -> Array:
        count = sum(y.size for y in self.results(inputs))
        moved = [np.array(v) if is_float(v) else v for v in inputs]
        rows = np.zeros((inputs[place].size, count))
        for row, index in enumerate(np.ndindex(inputs[place].shape)):
            rows[row] = self._row(moved, place, index)
        return rows

    def _row(self, moved: list[Any], place: int, index: tuple[int, ...]) -> Array:
        middle = moved[place][index]
        step = STEP * max(1.0, abs(float(middle)))

        def at(steps: float) -> Array:
            moved[place][index] = middle + steps * step
            found = self.results(tuple(moved))
            moved[place][index] = middle
            return np.concatenate([y.ravel().astype(np.float64) for y in found])

        near, far = at(1.0) - at(-1.0), at(2.0) - at(-2.0)
        slope: Array = (8.0 * near - far) / (12.0 * step)
        if not self.tolerant:
            here = at(0.0)
            wide, narrow = (
                np.abs(at(h) + at(-h) - 2.0 * here) / (h * step) for h in (1.0, 0.1)
            )
            # Of a smooth function the narrow one is a tenth of the wide one.
            if np.any((wide > 1e-3 * (1.0 + np.abs(slope))) & (narrow > 0.5 * wide)):
                where = f"[{', '.join(map(str, index))}]" if index else ""
                raise KinkError(f"forward has a kink at input {place + 1}{where}")
        return slope
