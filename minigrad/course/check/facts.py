"""What is asked of an answer and what is seen of it: plain data, no live object.

Facts are arrays, counts, flags and text, with no expected value among them, so they
may come from another process.
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
    is to be None. ``random``: the result is drawn anew in each call. ``keeps``: the
    arguments and outputs that ctx may hold on to, if it is not to hold on to others.
    ``bytes_a_number``: how many bytes it may keep for each number of the first input.
    ``without_ctx``: forward takes no ctx, and setup_context fills it. ``spares``: the
    operations that backward is to do without.
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
    keeps: tuple[str, ...] | None = None
    bytes_a_number: float | None = None
    without_ctx: bool = False
    spares: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One call with its upstream gradient; arrays become tensors, the rest stays.

    Float arrays require grad. ``upstream`` is an array, or a tuple for several outputs
    with None where an output is not differentiable. One that ``is_corner`` is tried for
    its numbers, once the ordinary ones are right.
    """

    name: str
    inputs: tuple[Any, ...]
    upstream: Array | Arrays
    is_corner: bool = False

    def __post_init__(self) -> None:
        # What arithmetic makes of arrays without axes is no array any more.
        inputs = tuple(_as_array(value) for value in self.inputs)
        object.__setattr__(self, "inputs", inputs)
        g = self.upstream
        arrays = tuple(map(_as_array, g)) if isinstance(g, tuple) else _as_array(g)
        object.__setattr__(self, "upstream", arrays)

    @property
    def is_bare(self) -> bool:
        """Whether a tensor in it has no axis, or no number."""
        arrays = [v for v in self.inputs if isinstance(v, np.ndarray)]
        return any([not a.ndim or not a.size for a in arrays])

    @property
    def upstreams(self) -> Arrays:
        """One upstream gradient an output."""
        g = self.upstream
        return g if isinstance(g, tuple) else (g,)

    @property
    def differentiable(self) -> tuple[int, ...]:
        """The places of the arguments that can have a gradient."""
        return tuple(i for i, value in enumerate(self.inputs) if is_float(value))


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.generic) else value


def copied(value: Any) -> Any:
    """An argument of which nobody else holds the memory."""
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def is_float(value: object) -> bool:
    """Whether this argument is an array of floats."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


@dataclass(frozen=True)
class Crash:
    """An exception of the answer: its type and bases by name, and the learner's line.

    ``inside`` says whether the learner's code was running, or its call failed.
    """

    stage: str
    kinds: tuple[str, ...]
    text: str
    inside: bool
    line: str = ""
    number: int = 0


@dataclass(frozen=True)
class Output:
    """One value that apply returned; ``is_input``: the place of the argument it is."""

    kind: str
    value: Array | None
    requires_grad: bool
    is_input: int | None = None


@dataclass(frozen=True)
class Saved:
    """One tensor given to save_for_backward: its value then, and when forward ended.

    ``in_graph``: it is an input or an output of the call, and not a copy of one.
    ``shares_memory``: with one of these.
    """

    at_call: Array
    packed: Array
    in_graph: bool = True
    shares_memory: bool = True


@dataclass(frozen=True)
class Attribute:
    """A tensor or array that was kept as an attribute of ctx.

    ``shares_memory``: with a tensor that went in or came out.
    """

    name: str
    kind: str
    value: Array
    shares_memory: bool
    is_output: bool = False


@dataclass(frozen=True)
class Returned:
    """One value that backward returned, before the engine touched it."""

    kind: str
    value: Array | None


@dataclass(frozen=True)
class Pass:
    """One run of backward: what went in, what came back, what arrived at the leaves.

    ``upstreams`` is what was sent (None: that output was not used), ``received`` the
    types that backward was given for them. One gradient an argument. ``ran``: the
    operations of backward, if the contract asks to leave out some.
    """

    upstreams: Arrays
    crash: Crash | None = None
    received: tuple[str, ...] = ()
    returned_kind: str = ""
    returned: tuple[Returned, ...] = ()
    gradients: Arrays = ()
    upstream_changed: bool = False
    ran: tuple[str, ...] = ()


@dataclass(frozen=True)
class Second:
    """The derivative of ``sum(weights * first gradients)`` for inputs, then for gs.

    None where no graph leads there. ``recorded``: whether the first gradients had a
    graph at all. ``crash``: what stopped it, the engine's refusal for one.
    """

    weights: tuple[Array, ...]
    gradients: Arrays
    recorded: bool
    crash: Crash | None = None


@dataclass(frozen=True)
class Tangent:
    """One run of forward mode: the tangents that went in, and those that came out.

    ``changed``: whether an input, or a tangent, holds other numbers afterwards.
    """

    tangents: Arrays
    result: Arrays = ()
    crash: Crash | None = None
    changed: bool = False


@dataclass(frozen=True)
class Trial:
    """One call of apply and the backward passes through it.

    ``name`` is one of: plain; double, negative, zero (other upstream gradients); again
    (two passes through one graph); expanded (the upstream gradient of y.sum()); only 0,
    only 1 (the others frozen); output 0, ... (the others unused); same (one tensor for
    all arguments); first and second (two live calls); shared 0 and 1 (the same with one
    tensor); written 0, ... (that input changed in place between forward and backward);
    transposed, sliced, reversed (how the upstream gradient lies in memory).

    ``changed`` are the places of the inputs that forward changed; ``dirty`` and
    ``marked`` the places of the inputs and outputs that were marked (-1: something
    else). ``kept``: whether ctx was left anything. ``left``: what else forward left
    changed, of the inputs and of the modes; ``left_by_backward``: of the modes.
    """

    name: str
    inputs: tuple[Any, ...]
    needed: tuple[bool, ...]
    crash: Crash | None = None
    outputs: tuple[Output, ...] = ()
    changed: tuple[int, ...] = ()
    backward_changed_input: bool = False
    backward_changed_output: bool = False
    saved: tuple[Saved, ...] = ()
    save_calls: int = 0
    for_forward: tuple[Saved, ...] = ()
    dirty: tuple[int, ...] = ()
    marked: tuple[int, ...] = ()
    materialize_grads: bool = True
    attributes: tuple[Attribute, ...] = ()
    passes: tuple[Pass, ...] = ()
    rewritten: bool = False
    kept: bool = False
    backward_changed_saved: bool = False
    left: tuple[str, ...] = ()
    left_by_backward: tuple[str, ...] = ()


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
    forward_parameters: tuple[str, ...] = ()
    setup_parameters: tuple[str, ...] = ()
    once_differentiable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """Everything that was seen on one case."""

    case: Case
    declared: Declared
    trials: tuple[Trial, ...]
    second: Second | None = None
    tangents: tuple[Tangent, ...] = ()

    @property
    def raised_bare(self) -> bool:
        """Whether its usual call raised, for a tensor without an axis or a number."""
        usual = self.trials[0]
        crashes = [usual.crash, *[run.crash for run in usual.passes]]
        crashes += [run.crash for run in self.tangents]
        return self.case.is_bare and any(crashes)
