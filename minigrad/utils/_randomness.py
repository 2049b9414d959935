"""Running something again with the random numbers that it had before."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from minigrad.engine.core.tensor import Tensor
from minigrad.engine.randomness import get_rng_state, set_rng_state


def state_of_randomness(preserve: bool) -> Tensor | None:
    """Where the random numbers are, if that is to be remembered."""
    return get_rng_state() if preserve else None


@contextlib.contextmanager
def same_random_numbers(state: Tensor | None) -> Generator[None, None, None]:
    """For the block, random numbers from ``state`` on; afterwards as if there was none.

    None leaves them as they are.
    """
    if state is None:
        yield
        return
    now = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(now)
