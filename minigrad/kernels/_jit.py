"""The only module that imports numba, and only when a kernel is first called."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy import ndarray

from minigrad.kernels import _math

Twin = Callable[..., Any]
Loop = Callable[..., None]
Makes = Callable[..., tuple[Any, ...]]

IN_ANY_ORDER = {"reassoc", "nsz", "arcp", "contract"}
"""Sums may be regrouped, which makes them several times as fast; NaN stays NaN."""

MANY = 1024
"""From so many elements on a loop gains more than its call takes."""

_plain = False


def wanted() -> bool:
    """Whether Numba is to compile; a browser's Python has none."""
    return os.environ.get("MINIGRAD_JIT", "1") != "0" and sys.platform != "emscripten"


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
        makes: Makes | None = None,
        *,
        regroups: bool = True,
    ) -> None:
        self._twin = twin
        self._makes = makes
        self._regroups = regroups
        self._compiled: Loop | None = None
        self._usable = wanted()

    _least = 0
    """The twin is called for fewer elements, and where they are not in rows."""

    _sees_flat = False
    """Whether the loop sees arrays of any shape as one row of elements."""

    def __call__(self, loop: Loop) -> Callable[..., Any]:
        self._loop = loop
        makes, least, sees_flat = self._makes, self._least, self._sees_flat

        @functools.wraps(loop)
        def launch(*inputs: Any) -> Any:
            # The loop takes one dtype, and row after row: each other layout would be
            # compiled for itself. What it changes has to lie in that order.
            dtype = inputs[0].dtype
            suits = self._usable and not _plain and dtype.char in "fd"
            in_rows = True
            for value in inputs if suits else ():
                if type(value) is ndarray:
                    other, flags = value.dtype, value.flags
                    if other is not dtype and other != dtype and other.kind == "f":
                        suits = False
                    if least and (value.size < least or not flags.c_contiguous):
                        suits = False
                    in_rows = in_rows and flags.carray
            if not suits or not (in_rows or makes):
                return self._twin(*inputs)

            given = inputs if in_rows else tuple(map(put_in_order, inputs))
            try:
                compiled = self._compiled or self._compile()
                if makes is None:
                    return compiled(*given)
                outputs = makes(*given)
                every = [*given, *outputs]
                for place, value in enumerate(every if sees_flat else ()):
                    # What has no dimensions to count is a number of Python's.
                    if getattr(value, "ndim", 1) != 1:
                        every[place] = value.reshape(-1)
                compiled(*every)
                return outputs if len(outputs) > 1 else outputs[0]
            except Exception as error:
                self._give_up(error)
                return self._twin(*inputs)

        del launch.__wrapped__  # it has other arguments
        launch.twin = self._twin  # type: ignore[attr-defined]  # tests compare the two
        return launch

    def _compile(self) -> Loop:
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


class jit:
    """A function of arrays and numbers, compiled by Numba when it's first called.

    It runs as written with ``MINIGRAD_JIT=0``, and, after one warning, without Numba.
    ``py_func`` is the function as written. ``signatures`` has a text for each version
    that was compiled (without Numba: that would have been): it depends on dtype, number
    of axes, and order in memory of the arguments. Compiled code holds no lock, so two
    threads run it at once. An index outside of an array raises IndexError.

    >>> @jit
    ... def total(x):
    ...     result = 0.0
    ...     for i in range(x.size):
    ...         result += x[i]
    ...     return result
    >>> total(np.ones(4)), total(np.ones(9)), total(np.ones(4)[::2])
    (4.0, 9.0, 2.0)
    >>> total.signatures
    ["(Array(float64, 1, 'C'))", "(Array(float64, 1, 'A'))"]
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._compiled: Any = None
        self._kinds: dict[str, None] = {}  # in their order

    @property
    def signatures(self) -> list[str]:
        """The versions there are, the first one first."""
        compiled = getattr(self._compiled, "signatures", ())
        return [in_words(map(of_numba, types)) for types in compiled] or [*self._kinds]

    @property
    def is_compiled(self) -> bool:
        """Whether a call now runs compiled code."""
        return not _plain and self.dispatcher is not self.py_func

    def __call__(self, *arguments: Any) -> Any:
        if _plain:
            return self.py_func(*arguments)
        compiled = self._compiled or self.dispatcher
        if compiled is self.py_func:
            self._kinds[in_words(map(kind_of, arguments))] = None
        return compiled(*arguments)

    @property
    def dispatcher(self) -> Any:
        """What Numba makes of it; without Numba the function as written."""
        if self._compiled is None:
            self._compiled = compiled_by_numba(self.py_func)
        return self._compiled


def compiled_by_numba(function: Callable[..., Any]) -> Any:
    """Compiled without a cache, beside other functions that ``jit`` has compiled."""
    if not wanted():
        return function
    try:
        import numba
    except ImportError as error:
        what = f"runs as written, for Numba can't be imported ({error})"
        message = f"minigrad.utils.jit: {function.__name__} {what}"
        warnings.warn(message, RuntimeWarning, stacklevel=4)
        return function
    # Numba knows its own functions only, so others are exchanged for those.
    known = dict(function.__globals__)
    for name in function.__code__.co_names:
        other = known.get(name)
        if isinstance(other, jit) and other.py_func is not function:
            known[name] = other.dispatcher
    copy = types.FunctionType(
        function.__code__,
        known,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__module__ = function.__module__
    return numba.njit(nogil=True, error_model="numpy", boundscheck=True)(copy)


def kind_of(argument: Any) -> str:
    """What Numba would compile a version for, as a text.

    >>> kind_of(np.ones((2, 3)).T), kind_of(np.broadcast_to(1, 3)), kind_of(3)
    ("Array(float64, 2, 'F')", "Array(int64, 1, 'A', readonly)", 'int64')
    """
    if not isinstance(argument, ndarray):
        return np.asarray(argument).dtype.name
    flags = argument.flags
    order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return of_array(argument.dtype, argument.ndim, order, flags.writeable)


def of_numba(argument: Any) -> str:
    """The same for a type of Numba's."""
    if not hasattr(argument, "layout"):
        return str(argument)
    return of_array(argument.dtype, argument.ndim, argument.layout, argument.mutable)


def of_array(dtype: Any, axes: int, order: str, mutable: bool) -> str:
    """An array's kind: its elements, its axes, and how they follow in memory."""
    return f"Array({dtype}, {axes}, {order!r}{'' if mutable else ', readonly'})"


def in_words(kinds: Iterable[str]) -> str:
    """The kinds of all arguments."""
    return f"({', '.join(kinds)})"


class elementwise_kernel(kernel):
    """A loop over the elements of arrays of one shape: it sees them flat.

    A loop ``for_many`` leaves few elements, and those in another order in memory, to
    the twin: it takes no longer for them.
    """

    _sees_flat = True

    def __init__(
        self, twin: Twin, *, regroups: bool = False, for_many: bool = False
    ) -> None:
        super().__init__(twin, like_the_first, regroups=regroups)
        self._least = MANY if for_many else 0


def like_the_first(array: Any, *others: Any) -> tuple[Any, ...]:
    """One empty array as the first input is."""
    return (np.empty(array.shape, array.dtype),)


def put_in_order(value: Any) -> Any:
    """An array with row after row in memory that can be written; others as they are."""
    return in_order(value) if type(value) is ndarray else value


def in_order(value: Any) -> Any:
    """A copy with row after row in memory that can be written, unless it is that."""
    array = np.ascontiguousarray(value)
    return array if array.flags.writeable else array.copy()


def shaped(array: Any, shape: tuple[int, ...]) -> Any:
    """The array in another shape; itself, and not a view of it, if it has that one.

    An array that is no view may become a ``.grad`` without being copied.
    """
    return array if array.shape == shape else array.reshape(shape)


def compile_loop(loop: Loop, regroups: bool = False) -> Loop:
    """The compiled loop, cached on disk where that can be written."""
    import numba

    tell_numba()
    # No C code calls a loop: its entry for C would take a tenth of the time.
    options: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
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
    """A copy without annotations, which Numba would compare with its own types.

    Where it calls what the processor has an instruction for, it has that instruction.
    """
    known = function.__globals__ | {
        name: instruction
        for name, instruction in instructions().items()
        if function.__globals__.get(name) is getattr(_math, name)
    }
    copy = types.FunctionType(function.__code__, known, function.__name__)
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


@functools.cache
def tell_numba() -> None:
    """Let compiled loops call the functions of ``_math``."""
    from numba import types as numbas
    from numba.extending import overload

    options: Any = {"fastmath": {"nsz", "contract"}, "error_model": "numpy"}
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}

    def choose_for(small: Any, large: Any) -> Any:
        return lambda x: small if x == numbas.float32 else large

    for function, versions in _math.FOR_LOOPS.items():
        implementation = choose_for(*[bare(version) for version in versions])
        overload(function, jit_options=options)(implementation)


@functools.cache
def instructions() -> dict[str, Any]:
    """What compiled loops have in place of functions of ``_math``, by their names.

    A function in their place would be compiled on its own, which takes longer.
    """
    from numba import types as numbas
    from numba.extending import intrinsic

    ir: Any = importlib.import_module("llvmlite.ir")  # it has no types
    wholes: dict[Any, Any] = {
        numbas.float32: numbas.int32,
        numbas.float64: numbas.int64,
    }
    numbers = {whole: number for number, whole in wholes.items()}

    @intrinsic
    def greater(context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = args[0].type
            maximum = builder.module.declare_intrinsic(
                "llvm.maxnum", [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(maximum, args, fastmath=("nnan", "nsz"))

        return a(a, b), generate

    def same_bits(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        return builder.bitcast(args[0], kind)

    @intrinsic
    def bits(context: Any, x: Any) -> Any:
        return wholes[x](x), same_bits

    @intrinsic
    def number(context: Any, whole: Any) -> Any:
        return numbers[whole](whole), same_bits

    return {"greater": greater, "bits": bits, "number": number}
