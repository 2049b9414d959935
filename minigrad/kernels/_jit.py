"""The only module that imports numba, and only when a kernel is first called."""

from __future__ import annotations

import functools
import importlib
import os
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.kernels import _math

Twin = Callable[..., Any]
Loop = Callable[..., None]

IN_ANY_ORDER = {"reassoc", "nsz", "arcp", "contract"}
"""Sums may be regrouped, which makes them several times as fast; NaN stays NaN."""


_plain = False


@contextmanager
def in_numpy() -> Iterator[None]:
    """Run the twins meanwhile: where seconds count, and nothing is compiled yet."""
    global _plain
    before, _plain = _plain, True
    try:
        yield
    finally:
        _plain = before


class kernel:
    """A loop ``(inputs..., outputs...)`` over arrays, compiled by Numba.

    ``makes`` gives the empty outputs for the inputs; without it the loop changes its
    inputs, which then have to lie row after row. ``regroups`` allows sums in any order.
    ``twin`` is the same function in plain NumPy. It runs with ``MINIGRAD_JIT=0``, for
    dtypes other than float32 and float64, and, after one warning, where Numba is
    missing or fails.
    """

    def __init__(
        self,
        twin: Twin,
        makes: Callable[..., tuple[Any, ...]] | None = None,
        *,
        regroups: bool = True,
    ) -> None:
        self._twin = twin
        self._makes = makes
        self._regroups = regroups
        self._compiled: Loop | None = None
        self._usable = os.environ.get("MINIGRAD_JIT", "1") != "0"

    def __call__(self, loop: Loop) -> Callable[..., Any]:
        self._loop = loop

        @functools.wraps(loop)
        def launch(*inputs: Any) -> Any:
            if _plain or not (self._usable and self._takes(inputs)):
                return self._twin(*inputs)
            try:
                return self._run(inputs)
            except Exception as error:
                self._give_up(error)
                return self._twin(*inputs)

        del launch.__wrapped__  # it has other arguments
        launch.twin = self._twin  # type: ignore[attr-defined]  # tests compare the two
        return launch

    def _takes(self, inputs: tuple[Any, ...]) -> bool:
        """Whether the loop is for these: one dtype, and in order if it changes them."""
        char = inputs[0].dtype.char
        if char not in "fd":
            return False
        for value in inputs:
            if type(value) is not np.ndarray:
                continue
            if value.dtype.char != char and value.dtype.kind == "f":
                return False
            if self._makes is None and not value.flags.carray:
                return False
        return True

    def _run(self, inputs: tuple[Any, ...]) -> Any:
        if self._makes is None:
            self._kernel()(*inputs)
            return None
        given = [in_order(value) for value in inputs]
        outputs = self._makes(*given)
        self._kernel()(*given, *outputs)
        return outputs if len(outputs) > 1 else outputs[0]

    def _kernel(self) -> Loop:
        if self._compiled is None:
            self._compiled = compile_loop(self._loop, self._regroups)
        return self._compiled

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        warnings.warn(
            f"minigrad.kernels.{self._loop.__name__}: Numba could not run it "
            f"({type(error).__name__}: {error}); plain NumPy is used from now on",
            RuntimeWarning,
            stacklevel=3,
        )


class elementwise_kernel(kernel):
    """A loop over the elements of arrays of one shape: it sees them flat."""

    def __init__(self, twin: Twin, *, regroups: bool = False) -> None:
        super().__init__(twin, like_the_first, regroups=regroups)

    def _run(self, inputs: tuple[Any, ...]) -> Any:
        flat = [flattened(value) for value in inputs]
        output = np.empty(inputs[0].shape, inputs[0].dtype)
        self._kernel()(*flat, output.reshape(-1))
        return output


def like_the_first(array: Any, *others: Any) -> tuple[Any, ...]:
    """One empty array as the first input is."""
    return (np.empty(array.shape, array.dtype),)


def in_order(value: Any) -> Any:
    """An array with row after row in memory that can be written; others as they are.

    Each other layout would be compiled for itself.
    """
    if type(value) is not np.ndarray:
        return value
    array = np.ascontiguousarray(value)
    return array if array.flags.writeable else array.copy()


def flattened(value: Any) -> Any:
    """An array in order and in one dimension; others as they are."""
    if isinstance(value, (np.ndarray, np.generic)):
        return in_order(np.asarray(value)).reshape(-1)
    return value


def shaped(array: Any, shape: tuple[int, ...]) -> Any:
    """The array in another shape; itself, and not a view of it, if it has that one.

    An array that is no view may become a ``.grad`` without being copied.
    """
    return array if array.shape == shape else array.reshape(shape)


def compile_loop(loop: Loop, regroups: bool = False) -> Loop:
    """The compiled loop, cached on disk where that can be written."""
    import numba

    tell_numba()
    options: dict[str, Any] = {"error_model": "numpy"}
    if regroups:
        options["fastmath"] = IN_ANY_ORDER
    loop = named_for_the_cache(loop)
    compiled: Loop
    try:
        compiled = numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # neither the package folder nor the home can be written
        compiled = numba.njit(**options)(loop)
    return compiled


@functools.cache
def digest() -> str:
    """A number that changes with what loops are compiled from beside themselves."""
    import zlib  # as numba: nobody needs it before a kernel is called

    with open(_math.__file__, "rb") as source:
        return f"{zlib.crc32(source.read() + FLAGS):08x}"


FLAGS = repr(sorted(IN_ANY_ORDER)).encode()


def named_for_the_cache(loop: Loop) -> Loop:
    """The loop under a name by which the cache notices changes in other files."""
    copy: Loop = bare(loop)
    copy.__qualname__ = f"{loop.__qualname__}_{digest()}"
    return copy


def bare(function: Callable[..., Any]) -> Any:
    """A copy without annotations, which Numba would compare with its own types."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__
    )
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


@functools.cache
def tell_numba() -> None:
    """Let compiled loops call the functions of ``_math``."""
    from numba import types as numbas
    from numba.extending import intrinsic, overload

    options: Any = {"fastmath": {"nsz", "contract"}, "error_model": "numpy"}

    def choose_for(small: Any, large: Any) -> Any:
        return lambda x: small if x == numbas.float32 else large

    for function, versions in _math.FOR_LOOPS.items():
        implementation = choose_for(*[bare(version) for version in versions])
        overload(function, jit_options=options)(implementation)

    @intrinsic
    def greater(context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            ir = importlib.import_module("llvmlite.ir")  # it has no types

            kind = args[0].type
            maximum = builder.module.declare_intrinsic(
                "llvm.maxnum", [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(maximum, args, fastmath=("nnan", "nsz"))

        return a(a, b), generate

    instruction: Any = greater
    overload(_math.greater)(lambda a, b: lambda a, b: instruction(a, b))
