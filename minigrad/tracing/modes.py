"""What is switched on around a program: put back as it was, and then as it is."""

from __future__ import annotations

import copy
import io
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final

import numpy as np

from minigrad import lint
from minigrad.engine import anomaly, dtypes, randomness
from minigrad.engine.grad_mode import this_mode

OF_A_THREAD: Final = (
    "forward_limit",
    "grad_enabled",
    "inference_enabled",
    "rules_see_tensors",
    "saved_tensors_hooks",
    "saved_tensors_hooks_refused",
)


class Modes:
    """The modes of this thread, the settings of all, and where random numbers are."""

    def __init__(self) -> None:
        generator = randomness.default_generator
        self._attributes: list[tuple[Any, str, Any]] = [
            *[(this_mode(), name, getattr(this_mode(), name)) for name in OF_A_THREAD],
            (dtypes, "_default_dtype", dtypes.default_dtype()),
            (generator, "_seed", generator._seed),
            (generator, "_numbers", copy.deepcopy(generator._numbers)),
        ]
        found = anomaly.is_anomaly_enabled(), anomaly.is_anomaly_check_nan_enabled()
        self._setters: list[tuple[Callable[..., Any], Any]] = [
            (lambda modes: anomaly.set_anomaly_enabled(*modes), found),
            (lint.switch, lint.is_teaching()),
            (random.setstate, random.getstate()),
            (np.random.set_state, np.random.get_state()),
            (lambda settings: np.seterr(**settings), np.geterr()),
        ]

    def put(self) -> None:
        """Make everything as it was when this was made."""
        for owner, name, value in self._attributes:
            # A generator moves on: this one may be asked for again.
            setattr(owner, name, copy.deepcopy(value) if name == "_numbers" else value)
        for setter, state in self._setters:
            setter(state)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """These modes inside the block, and those of now after it."""
        now = Modes()
        try:
            self.put()
            yield
        finally:
            now.put()


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed in the block, and nothing warned of."""
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("ignore")
        yield
