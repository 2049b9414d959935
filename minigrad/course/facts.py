"""What is seen of an answer: plain data, with no expected value and no live object.

Facts are arrays, counts, flags and text, so they may come from another process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One set of inputs with its upstream gradient; all arrays of one dtype."""

    name: str
    inputs: tuple[Array, ...]
    upstream: Array


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
