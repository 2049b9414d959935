"""An answer that runs backward on the engine's nodes, by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check.facts import Array, Crash
from minigrad.course.check.side_effects import Lent
from minigrad.course.check.spy import crash_of
from minigrad.engine import observe

MOST_KEPT = 10_000
"""Of more runs than that the rest is not told; then some rule has run twice."""


@dataclass(frozen=True)
class Program:
    """A program of sums and products of three numbers each, as plain data.

    ``inputs`` has a row for each; the first ``leaves`` of them need gradients.
    ``steps`` has a row for each step: 0 for a sum or 1 for a product, and its two
    arguments, inputs from 0 on, and results of steps from -1 on downward. ``before``
    is what the last leaves have as their .grad. ``most``: so many calls of rules are
    let through. The answer is called ``times`` times.
    """

    leaves: int
    inputs: Array
    steps: Array
    upstream: Array
    before: Array
    most: int
    times: int = 1


@dataclass(frozen=True)
class Leaf:
    """The .grad of a leaf; ``recorded``: it has a way back of its own."""

    grad: Array | None
    recorded: bool = False


@dataclass(frozen=True)
class Traversal:
    """What an answer did: the rules it called, by step, and with which gradients.

    ``odd`` is the first gradient that is not three numbers; its row is not a number.
    ``written`` is a gradient that a rule had returned and that was changed later: as it
    was, and as it is. ``lines`` of the answer do something. ``changed``: what is
    different about the gradient that was sent, and about the leaves but for .grad.
    """

    called: Array
    received: Array
    odd: Array | None
    written: tuple[Array, ...]
    leaves: tuple[Leaf, ...]
    lines: int
    crash: Crash | None = None
    changed: tuple[str, ...] = ()


class CalledTooOftenError(Exception):
    """Rules were called far more often than there are nodes."""


class EngineAskedError(Exception):
    """The engine's own traversal was called."""


class Log:
    """What the rules see: which ran, with which gradient, and what they returned."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.runs: list[tuple[Any, Array]] = []
        self.returned: list[tuple[Any, Array]] = []

    def note(self, node: Any, gradient: Any) -> None:
        """A rule is called. Raises: CalledTooOftenError."""
        if len(self.runs) >= self.most:
            raise CalledTooOftenError
        self.runs.append((node, gradient.array.copy()))

    def result(self, *gradients: Any) -> tuple[Any, ...]:
        """What a rule returns, kept to see whether somebody writes into it."""
        self.returned += [(g, g.array.copy()) for g in gradients]
        return gradients

    def written(self) -> tuple[Array, ...]:
        """The first gradient that was changed, as it was and as it is; else nothing."""
        for gradient, was in self.returned:
            if gradient.array.tobytes() != was.tobytes():
                return was, gradient.array.copy()
        return ()


def functions(log: Log) -> tuple[Any, Any]:
    """Add and Mul, whose rules write into ``log``."""

    class Add(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            log.note(ctx, grad_output)
            return log.result(grad_output, grad_output)

    class Mul(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            log.note(ctx, grad_output)
            x, y = ctx.saved_tensors
            return log.result(grad_output * y, grad_output * x)

    return Add, Mul


def traverse(answer: Callable[..., Any], program: Program) -> Traversal:
    """Record the program, and have the answer run backward through it."""
    log = Log(program.most)
    inputs = [
        minigrad.tensor(row, requires_grad=number < program.leaves)
        for number, row in enumerate(program.inputs)
    ]
    results: list[Any] = []
    kinds = functions(log)
    for kind, *places in program.steps.tolist():
        x, y = [inputs[n] if n >= 0 else results[-1 - n] for n in places]
        results.append(kinds[kind].apply(x, y))
    leaves = inputs[: program.leaves]
    with_grad = leaves[len(leaves) - len(program.before) :]
    for leaf, row in zip(with_grad, program.before, strict=True):
        leaf.grad = minigrad.tensor(row)
    step = {result.grad_fn: number for number, result in enumerate(results)}
    crash = None
    g = minigrad.tensor(program.upstream)
    lent, no_engine = Lent(g=g, leaf=leaves), NoEngine()
    observe.add(no_engine)
    try:
        for _ in range(program.times):
            answer(results[-1].grad_fn, g)
    except Exception as error:
        crash = crash_at_a_node(error)
    finally:
        observe.remove(no_engine)
    runs = log.runs[:MOST_KEPT]
    received, odd = in_rows([gradient for _, gradient in runs])
    return Traversal(
        np.array([step[node] for node, _ in runs], int),
        received,
        odd,
        log.written(),
        tuple([leaf_of(leaf) for leaf in leaves]),
        lines_of(answer),
        crash,
        lent.changed(),
    )


class NoEngine:
    """An observer: the engine's own traversal is not to be had meanwhile."""

    observes, keeps, comes_last = observe.FUNCTIONS, False, True

    def backward_started(self, task: Any) -> None:
        """Raises: EngineAskedError."""
        raise EngineAskedError

    def node_picked(self, task: Any, node: Any, gradients: Any) -> None:
        """The same for a traversal that did not begin at its beginning."""
        raise EngineAskedError


def crash_at_a_node(error: Exception) -> Crash:
    """The exception; a node that was not found in a dictionary by its name."""
    crash = crash_of("backward", error)
    if isinstance(error, KeyError) and hasattr(error.args[0], "next_functions"):
        return replace(crash, text=f"the node {error.args[0].name()}")
    return crash


def in_rows(gradients: Sequence[Array]) -> tuple[Array, Array | None]:
    """Gradients of three numbers as the rows of one array; the first that is none."""
    rows = np.full((len(gradients), 3), np.nan)
    odd = None
    for row, gradient in zip(rows, gradients, strict=True):
        if gradient.shape == (3,):
            row[...] = gradient
        elif odd is None:
            odd = gradient
    return rows, odd


def leaf_of(leaf: Any) -> Leaf:
    """What has come to a leaf."""
    if leaf.grad is None:
        return Leaf(None)
    return Leaf(leaf.grad.detach().numpy().copy(), leaf.grad.requires_grad)


def lines_of(answer: Any) -> int:
    """How many lines do something: not the head, no comments, no docstring."""
    code = getattr(inspect.unwrap(answer), "__code__", None)
    if not isinstance(code, CodeType):
        return 0
    seen, unseen = set(), [code]
    while unseen:
        inner = unseen.pop()
        seen |= {line for _, _, line in inner.co_lines() if line is not None}
        unseen += [each for each in inner.co_consts if isinstance(each, CodeType)]
    return len(seen - {code.co_firstlineno})
