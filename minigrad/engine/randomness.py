"""Random numbers: one generator for all, and generators of one's own."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.creation import (
    check_is_tensor,
    leaf,
    size_of,
)
from minigrad.engine.device import check_device
from minigrad.engine.dtypes import as_dtype, default_dtype
from minigrad.engine.interpreters import dispatched
from minigrad.engine.memory_order import copy_in_order


class Generator:
    """A source of random numbers with a seed of its own.

    See: torch ``Generator``. The numbers are NumPy's, not torch's.

    >>> first = minigrad.rand(2, generator=minigrad.Generator().manual_seed(3))
    >>> again = minigrad.rand(2, generator=minigrad.Generator().manual_seed(3))
    >>> minigrad.equal(first, again)
    True
    """

    def __init__(self, device: Any = None) -> None:
        check_device(device)
        self.manual_seed(0)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from ``seed``."""
        self._seed = int(seed)
        self._numbers: np.random.Generator | None = None
        return self

    @property
    def numbers(self) -> np.random.Generator:
        """NumPy's generator; made on first use, because numpy.random loads slowly."""
        if self._numbers is None:
            # NumPy takes no negative seed; torch takes it as 64 bits without a sign.
            self._numbers = np.random.default_rng(self._seed % 2**64)
        return self._numbers

    def seed(self) -> int:
        """Start from a random seed, and return it."""
        number = int.from_bytes(os.urandom(8)) >> 1
        return self.manual_seed(number).initial_seed()

    def initial_seed(self) -> int:
        """The seed that it was started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where in the sequence it is: bytes for ``set_state``."""
        import json  # few programs ask for it, and all would wait

        state = self._seed, self.numbers.bit_generator.state
        return Tensor(np.frombuffer(json.dumps(state).encode(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from where ``get_state`` was asked."""
        import json

        self._seed, state = json.loads(new_state.array.tobytes())
        self.numbers.bit_generator.state = state


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the random numbers of all functions from ``seed``."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the random numbers from a random seed, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the random numbers were started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where in the sequence of random numbers we are, for ``set_rng_state``."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from where ``get_rng_state`` was asked."""
    default_generator.set_state(new_state)


@dispatched("random_numbers")
def source(generator: Generator | None) -> np.random.Generator:
    """NumPy's generator in ``generator``, or the one that all share.

    Raises: TransformError under a vmap that was not told what is meant by random.
    """
    return (default_generator if generator is None else generator).numbers


@dispatched("draw")
def rand(
    *lengths: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, even between 0 and 1."""
    shape = size_of(lengths, "rand", size)
    return made(source(generator).random(shape), dtype, device, requires_grad, "rand")


@dispatched("draw")
def randn(
    *lengths: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, normal with mean 0 and standard deviation 1."""
    array = source(generator).standard_normal(size_of(lengths, "randn", size))
    return made(array, dtype, device, requires_grad, "randn")


@dispatched("draw")
def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random whole numbers: ``randint(high, size)`` or ``randint(low, high, size)``.

    Raises: RangeError unless ``low`` is less than ``high``, which does not occur.
    """
    if size is None:
        low, high, size = 0, low, high
    if not isinstance(size, (tuple, list)):
        raise errors.ArgumentTypeError.at(
            "randint()",
            "argument 'size' (position 2) must be tuple of ints, not "
            f"{type(size).__name__}",
            "write randint(10, (2, 3))",
        )
    if low >= high:
        raise errors.RangeError.at(
            "randint",
            f"random_ expects 'from' to be less than 'to', but got from={low} >= "
            f"to={high}",
            "give a greater upper bound: it is not among the numbers",
        )
    array = source(generator).integers(low, high, size_of((size,), "randint"))
    dtype = np.dtype("int64") if dtype is None else dtype
    return made(array, dtype, device, requires_grad, "randint")


@dispatched("draw")
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from 0 to ``n`` - 1 in random order."""
    (length,) = size_of((n,), "randperm")
    array = source(generator).permutation(length)
    dtype = np.dtype("int64") if dtype is None else dtype
    return made(array, dtype, device, requires_grad, "randperm")


def rand_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Random numbers between 0 and 1 in the shape and dtype of ``input``."""
    check_is_tensor(input, "rand_like")
    dtype = dtype or input.dtype
    made = rand(input.shape, dtype=dtype, device=device, requires_grad=requires_grad)
    return lying_like(input, made)


def randn_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Normal random numbers in the shape and dtype of ``input``."""
    check_is_tensor(input, "randn_like")
    dtype = dtype or input.dtype
    made = randn(input.shape, dtype=dtype, device=device, requires_grad=requires_grad)
    return lying_like(input, made)


@dispatched("lay_like")
def lying_like(input: Tensor, made: Tensor) -> Tensor:
    """``made``, a new leaf, with its elements in memory in the order of ``input``."""
    if not input.array.flags.c_contiguous:
        made.array = copy_in_order(made.array, made.array.dtype, input.array.strides)
    return made


@dispatched("draw")
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None
) -> Tensor:
    """Normal random numbers; ``mean`` and ``std`` are numbers or tensors."""
    center = mean.array if isinstance(mean, Tensor) else mean
    spread = std.array if isinstance(std, Tensor) else std
    if size is None:
        size = np.broadcast_shapes(np.shape(center), np.shape(spread))
    array = source(generator).standard_normal(size_of((size,), "normal"))
    dtypes = [x.dtype for x in (mean, std) if isinstance(x, Tensor)]
    dtype = dtypes[0] if dtypes else None
    return made(array * spread + center, dtype, None, False, "normal")


@dispatched("draw")
def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """For each probability in ``input`` a 1 with that probability, else a 0."""
    check_is_tensor(input, "bernoulli")
    array = source(generator).random(input.array.shape) < input.array
    return Tensor(array.astype(input.dtype))


def made(
    array: Array | float, dtype: Any, device: Any, requires_grad: bool, where: str
) -> Tensor:
    """The leaf on random numbers, in the dtype that was asked for."""
    check_device(device)
    chosen = as_dtype(dtype, where) or default_dtype()
    return leaf(np.asarray(array, chosen), requires_grad, where)
