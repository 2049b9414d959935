"""The only module that imports numba, and only when a kernel is first called."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Twin = Callable[[Any], Any]


class elementwise_kernel:
    """An elementwise loop ``(input, output)`` over flat arrays, compiled by Numba.

    ``twin`` is the same function in plain NumPy. It runs with ``MINIGRAD_JIT=0``, for
    dtypes other than float32 and float64, and, after one warning, where Numba is
    missing or fails.
    """

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._compiled: Callable[..., None] | None = None
        self._usable = os.environ.get("MINIGRAD_JIT", "1") != "0"

    def __call__(self, loop: Callable[..., None]) -> Callable[[Any], Any]:
        self._loop = loop

        def launch(array: Any) -> Any:
            if not (self._usable and array.dtype.char in "fd"):
                return self._twin(array)
            output = np.empty(array.shape, array.dtype)
            try:
                self._kernel()(
                    np.ascontiguousarray(array).reshape(-1), output.reshape(-1)
                )
            except Exception as error:
                self._give_up(error)
                return self._twin(array)
            return output

        launch.__name__ = loop.__name__
        launch.__doc__ = loop.__doc__
        launch.twin = self._twin  # type: ignore[attr-defined]  # tests compare the two
        return launch

    def _kernel(self) -> Callable[..., None]:
        if self._compiled is None:
            self._compiled = compile_loop(self._loop)
        return self._compiled

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        warnings.warn(
            f"minigrad.kernels.{self._loop.__name__}: Numba could not run it "
            f"({type(error).__name__}: {error}); plain NumPy is used from now on",
            RuntimeWarning,
            stacklevel=3,
        )


def compile_loop(loop: Callable[..., None]) -> Callable[..., None]:
    """The compiled loop, cached on disk where that can be written."""
    import numba

    try:
        compiled = numba.njit(cache=True, error_model="numpy")(loop)
    except RuntimeError:  # neither the package folder nor the home can be written
        compiled = numba.njit(error_model="numpy")(loop)
    return compiled
