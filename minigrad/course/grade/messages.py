"""What the judge asks of a worker, and what the worker says to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minigrad.course.check import (
    Array,
    Arrays,
    Case,
    Contract,
    Crash,
    Facts,
    Output,
    Returned,
    Second,
)
from minigrad.course.check.probes import table
from minigrad.course.grade.serialization import tagged


@dataclass(frozen=True)
class Ready:
    """The first word of a worker, before it has met a submission; or what is wrong."""

    trouble: str = ""


@dataclass(frozen=True)
class Load:
    """Run the cells, and find the answer to ``exercise``: what bears these ``names``.

    ``shipped`` is the source of an answer that nobody has touched.
    """

    cells: tuple[str, ...]
    exercise: str
    names: tuple[str, ...]
    shipped: str
    seed: int
    seconds: float


@dataclass(frozen=True)
class Found:
    """One answer: a Function, a class, a callable, a value, or missing.

    ``not_static`` are the methods of a Function that lack @staticmethod; ``own_apply``:
    it, or its metaclass, brings an apply, which is never called.
    """

    kind: str
    name: str
    value: Any = None
    not_static: tuple[str, ...] = ()
    own_apply: bool = False


@dataclass(frozen=True)
class Loaded:
    """What there is, and what the cells raised on the way there."""

    found: tuple[Found, ...]
    errors: tuple[str, ...] = ()
    out_of_time: bool = False
    as_shipped: bool = False


@dataclass(frozen=True)
class Observe:
    """Look at the answer in this place on all cases.

    ``second``: at nothing but the derivative of what its backward returns.
    """

    place: int
    contract: Contract
    cases: tuple[Case, ...]
    seed: int
    seconds: float
    second: bool = False


@dataclass(frozen=True)
class Observed:
    """What was seen; ``case`` and ``phase`` say where the time was up, if it was.

    ``facts`` or ``seconds``, one for each case. ``asked``: whether a rule of the engine
    was asked for meanwhile, and refused.
    """

    facts: tuple[Facts, ...] = ()
    seconds: tuple[Second | None, ...] = ()
    case: str = ""
    phase: str = ""
    asked: bool = False


@dataclass(frozen=True)
class Forward:
    """Call apply; arrays stand for tensors, ``needs`` says which require grad."""

    place: int
    arguments: tuple[Any, ...]
    needs: tuple[bool, ...]


@dataclass(frozen=True)
class Forwarded:
    """What came out, and what ctx holds: inputs by their place, outputs from -1 on.

    ``kept`` are the attributes of ctx that hold the things at ``kept_places``.
    """

    handle: int
    crash: Crash | None = None
    several: bool = False
    outputs: tuple[Output, ...] = ()
    saved: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    kept_places: tuple[int, ...] = ()
    on_class: tuple[str, ...] = ()
    dirty: tuple[int, ...] = ()
    marked: tuple[int, ...] = ()
    materialize_grads: bool = True


@dataclass(frozen=True)
class Backward:
    """Send these gradients through a call; some of its inputs have changed since."""

    handle: int
    upstreams: Arrays
    changed: tuple[int, ...] = ()
    values: Arrays = ()


@dataclass(frozen=True)
class Went:
    """What backward returned, before any engine touched it."""

    crash: Crash | None = None
    kind: str = ""
    returned: tuple[Returned, ...] = ()


@tagged
@dataclass(frozen=True)
class Tensor:
    """A tensor among plain values."""

    value: Array
    requires_grad: bool = False


@tagged
@dataclass(frozen=True)
class Source:
    """A Function among plain values: what defines it, under the name Given."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call an answer that is a plain function."""

    place: int
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Effect:
    """What a call has done to a tensor it was given; ``counted``: by its version."""

    place: int
    value: Array
    counted: bool
    requires_grad: bool


@dataclass(frozen=True)
class Called:
    """What it returned; ``handle``: by which a way leads back from it, if not -1."""

    crash: Crash | None = None
    value: Any = None
    handle: int = -1
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True)
class Back:
    """Send a gradient back through what a call has returned."""

    handle: int
    upstream: Array


@dataclass(frozen=True)
class Came:
    """What arrived, one gradient for each argument that is a tensor."""

    crash: Crash | None = None
    gradients: Arrays = ()


@dataclass(frozen=True)
class Look:
    """Hand the answers in these places to a look, with what it makes its objects of."""

    look: str
    places: tuple[int, ...]
    given: tuple[Any, ...]


@dataclass(frozen=True)
class Looked:
    """What the look says, or why it could not."""

    crash: Crash | None = None
    seen: Any = None


for record in table.RECORDS:
    tagged(record)

ASKED = (Load, Observe, Forward, Backward, Call, Back, Look)
"""What a worker understands."""
