"""What is seen of an answer: plain data, with no expected value and no live object.

Facts are arrays, counts, flags and text, so they may come from another process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = tuple[Array | None, ...]


@dataclass(frozen=True)
class Contract:
    """What an exercise asks of a Function, apart from its numbers.

    ``arguments`` and ``outputs`` are names, in order; plain values count as arguments.
    ``non_differentiable`` are the outputs that have to be marked. ``in_place``: the
    first argument is changed, marked dirty and returned. ``second_derivative`` is
    wanted, refused (by once_differentiable) or any. Without ``materialize_grads`` an
    unused output is to arrive as None. ``skips_unneeded``: a gradient that nobody needs
    is to be None. ``random``: the result is drawn anew in each call.
    """

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...] = ("result",)
    non_differentiable: tuple[int, ...] = ()
    in_place: bool = False
    second_derivative: str = "any"
    jvp: bool = False
    materialize_grads: bool = True
    skips_unneeded: bool = False
    random: bool = False


@dataclass(frozen=True)
class Case:
    """One call with its upstream gradient; arrays become tensors, the rest stays.

    Float arrays require grad. ``upstream`` is an array, or a tuple for several outputs
    with None where an output is not differentiable.
    """

    name: str
    inputs: tuple[Any, ...]
    upstream: Any

    @property
    def upstreams(self) -> Arrays:
        """One upstream gradient an output."""
        g = self.upstream
        return g if isinstance(g, tuple) else (g,)

    @property
    def differentiable(self) -> tuple[int, ...]:
        """The places of the arguments that can have a gradient."""
        return tuple(i for i, value in enumerate(self.inputs) if is_float(value))


def is_float(value: object) -> bool:
    """Whether this argument is an array of floats."""
    return isinstance(value, np.ndarray) and bool(
        np.issubdtype(value.dtype, np.floating)
    )


@dataclass(frozen=True)
class Crash:
    """An exception of the answer: its type and bases by name, and the learner's line.

    ``inside`` says whether the learner's code was running, or its call failed.
    """

    stage: str
    kinds: tuple[str, ...]
    text: str
    inside: bool
    function: str = ""
    line: str = ""
    number: int = 0


@dataclass(frozen=True)
class Returned:
    """One value that backward returned, before the engine touched it."""

    kind: str
    value: Array | None


@dataclass(frozen=True)
class Attribute:
    """A tensor or array that was kept as an attribute of ctx."""

    name: str
    kind: str
    value: Array
    shares_input: bool


@dataclass(frozen=True)
class Pass:
    """One run of backward: what went in, what came back, what arrived at the leaves."""

    upstream: Array
    crash: Crash | None = None
    returned_kind: str = ""
    returned: tuple[Returned, ...] = ()
    gradients: tuple[Array | None, ...] = ()
    upstream_changed: bool = False


@dataclass(frozen=True)
class Second:
    """The derivative of ``sum(weights * first gradients)`` for the inputs, then for g.

    None where no graph leads there.
    """

    weights: tuple[Array, ...]
    gradients: tuple[Array | None, ...]


@dataclass(frozen=True)
class Trial:
    """One call of apply and the backward passes through it.

    ``name`` is one of: plain, double, zero, again (two passes through one graph),
    only 0, only 1 (the other inputs frozen), same (one tensor for every argument),
    first and second (two live calls). ``kept`` says whether ctx was left anything.
    """

    name: str
    inputs: tuple[Array, ...]
    needed: tuple[bool, ...]
    crash: Crash | None = None
    output_kind: str = ""
    output: Array | None = None
    recorded: bool = False
    forward_changed_input: bool = False
    backward_changed_input: bool = False
    saved: tuple[Array, ...] = ()
    save_calls: int = 0
    attributes: tuple[Attribute, ...] = ()
    passes: tuple[Pass, ...] = ()
    rewritten: bool = False
    kept: bool = False


@dataclass(frozen=True)
class Declared:
    """What can be read off the class itself, without running it."""

    name: str
    not_static: tuple[str, ...]
    own_setup_context: bool
    saved_names: tuple[str, ...]
    unpacked_names: tuple[str, ...]
    state_on_class: tuple[str, ...] = ()
    tensors_on_class: tuple[str, ...] = ()
    tensors_shared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """Everything that was seen on one case."""

    case: Case
    declared: Declared
    trials: tuple[Trial, ...]
    second: Second | None = None
