"""05.5: a learner's own backward, on graphs of the engine's nodes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any
from unittest import mock

import numpy as np

import minigrad
from minigrad.course import handed
from minigrad.course.casefile import says_todo
from minigrad.course.findings import Finding
from minigrad.engine.backward import GraphTask

ANSWER = "backward"
MOST_LINES = 15


class CalledTooOftenError(Exception):
    """Rules were called far more often than there are nodes."""


class EngineAskedError(Exception):
    """The engine's own traversal was called."""


@dataclass
class Log:
    """What the rules see: which ran when, with which gradient, and what they returned.

    ``most``: how many calls are let through.
    """

    most: int = 10**6
    runs: list[tuple[Any, np.ndarray]] = field(default_factory=list)
    returned: list[tuple[Any, np.ndarray]] = field(default_factory=list)

    def note(self, node: Any, gradient: Any) -> None:
        """A rule is called. Raises: CalledTooOftenError."""
        if len(self.runs) >= self.most:
            raise CalledTooOftenError
        self.runs.append((node, gradient.array.copy()))

    def result(self, *gradients: Any) -> tuple[Any, ...]:
        """What a rule returns, kept to see whether somebody writes into it."""
        self.returned += [(g, g.array.copy()) for g in gradients]
        return gradients

    def start(self, most: int) -> None:
        """Forget what was before."""
        self.most = most
        self.runs.clear()
        self.returned.clear()

    def times(self) -> dict[Any, int]:
        """How often each node ran."""
        counts: dict[Any, int] = {}
        for node, _ in self.runs:
            counts[node] = counts.get(node, 0) + 1
        return counts


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


@dataclass
class Program:
    """A recorded program: its leaves by name, and its result."""

    name: str
    leaves: dict[str, Any]
    result: Any

    def nodes(self) -> dict[Any, list[Any]]:
        """The nodes with rules, each with those that it sends a gradient to."""
        below: dict[Any, list[Any]] = {}
        unseen = [self.result.grad_fn]
        while unseen:
            node = unseen.pop()
            if node not in below and not hasattr(node, "variable"):
                below[node] = [one for one, _ in node.next_functions if one is not None]
                unseen += below[node]
        return below


def tried(random: np.random.Generator, log: Log) -> Iterator[Program]:
    """The programs; each finds out something of its own."""
    add, mul = functions(log)

    def leaf() -> Any:
        return minigrad.tensor(random.uniform(0.4, 1.2, 3), requires_grad=True)

    x, w, v = leaf(), leaf(), leaf()
    yield Program("x * w + x", {"x": x, "w": w}, add.apply(mul.apply(x, w), x))
    x, w = leaf(), leaf()
    a = mul.apply(x, w)
    long_arm = mul.apply(mul.apply(a, v), v)
    y = mul.apply(add.apply(a, v), long_arm)
    name = "a = x * w; y = (a + v) * (a * v * v)"
    yield Program(name, {"x": x, "w": w, "v": v}, y)
    x, data = leaf(), leaf().detach()
    yield Program("(data + x) * x", {"x": x}, mul.apply(add.apply(data, x), x))
    yield at_random(random, add, mul)
    x = y = leaf()
    for _ in range(30):
        y = add.apply(y, y)
    yield Program("30 sums of a tensor with itself", {"x": x}, y)
    x = y = leaf()
    for _ in range(5000):
        y = add.apply(y, x)
    yield Program("a chain of 5000 sums", {"x": x}, y)


def at_random(random: np.random.Generator, add: Any, mul: Any) -> Program:
    """200 nodes, each used by a later one; the numbers stay near 1."""
    leaves = {
        name: minigrad.tensor(random.uniform(0.9, 1.1, 3), requires_grad=True)
        for name in "abc"
    }
    a, b, c = leaves.values()
    made = [a, b, c, add.apply(a, b)]
    made.append(mul.apply(made[-1], c))
    for _ in range(99):
        older = made[random.integers(max(0, len(made) - 8), len(made))]
        half = minigrad.tensor(random.uniform(0.45, 0.55, 3))
        function = add if random.random() < 0.7 else mul
        made.append(function.apply(made[-1], older))
        made.append(mul.apply(made[-1], half / (0.5 * made[-1].detach().abs())))
    return Program("200 nodes at random", leaves, made[-1])


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Each program once; then how long the answer is."""
    unusable = handed.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    log = Log()
    for program in tried(random, log):
        found = look_at_one(answer, program, random, log)
        if found is not None:
            return [found]
    lines = lines_of(answer)
    if lines > MOST_LINES:
        what = f"backward has {lines} lines that do something; {MOST_LINES} are enough"
        hint = "Can an order of the nodes (05.3) take the place of some of them?"
        return [Finding((), what, ANSWER, hint=hint)]
    return []


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


def look_at_one(
    answer: Callable[..., Any],
    program: Program,
    random: np.random.Generator,
    log: Log,
) -> Finding | None:
    """What is wrong with one program; None if nothing is."""
    g = minigrad.tensor(random.uniform(0.5, 1.5, 3))
    leaves, root = list(program.leaves.values()), program.result.grad_fn
    log.start(10**6)
    right = minigrad.autograd.grad(program.result, leaves, g, retain_graph=True)
    wanted = dict(log.runs)
    before = [minigrad.tensor(random.uniform(1, 2, 3)) for _ in leaves[1:]]
    for leaf, gradient in zip(leaves[1:], before, strict=True):
        leaf.grad = gradient.clone()
    below = program.nodes()
    log.start(3 * len(below) + 3)
    try:
        with no_engine():
            answer(root, g)
    except Exception as error:
        if says_todo(error):
            raise
        return crashed(program, error, len(below))
    return (
        called_again(program, log)
        or written_into(program, log)
        or wrong_gradient(program, log, wanted, below)
        or wrong_leaf(program, right, before)
    )


@contextmanager
def no_engine() -> Iterator[None]:
    """The engine's own traversal is not to be had meanwhile."""

    def refuse(self: Any) -> None:
        raise EngineAskedError

    with mock.patch.object(GraphTask, "run", refuse):
        yield


def crashed(program: Program, error: Exception, size: int) -> Finding:
    """An exception, and what it comes from."""
    text = f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
    story = hint = ""
    if isinstance(error, RecursionError):
        story = "backward, or what it uses, calls itself for each node, and Python "
        story += "stops after some thousand calls inside each other."
        hint = "Which list could hold the nodes that have still to run?"
    elif isinstance(error, CalledTooOftenError):
        text = f"rules were called more than {3 * size} times for {size} nodes"
        story = "Every path is followed by itself: with n joins one after the other "
        story += "that is 2 to the power n calls."
        hint = "What may a node wait for, before its rule is called?"
    elif isinstance(error, EngineAskedError):
        text = "the engine's own backward was called"
        hint = "Call the rule of a node: node.apply(gradient). Who goes on from there?"
    elif isinstance(error, KeyError) and hasattr(error.args[0], "next_functions"):
        text = f"KeyError: the node {error.args[0].name()}"
        story = "A dictionary was asked for a node that is not in it."
        hint = "What waits for a node before the first gradient has come there?"
    elif "operand" in text and "'NoneType'" in text:
        story = "A gradient was added to a `.grad` that is still None."
        hint = "What is x.grad before the first gradient comes?"
    elif isinstance(error, RuntimeError) and "ambiguous" in text:
        story = "`if`, `or` and `not` ask a gradient for one answer; three numbers "
        story += "give none."
        hint = "Which question is meant: is it zero, or is there none yet?"
    elif "no attribute 'backward'" in text or "Expected output to be" in text:
        hint = "root is a node, and no tensor. What calls the rule of a node?"
    elif "'NoneType' object has no attribute" in text or text == "KeyError: None":
        story = "An edge that leads nowhere was followed."
        hint = "Data needs no gradient. What stands in next_functions for it?"
    elif "has no attribute 'apply'" in text:
        story = "A leaf's node, AccumulateGrad, was asked for a rule. It has none."
        hint = "How do you find out that a node belongs to a leaf? It has a variable."
    what = f"for {program.name}: {text}"
    return Finding((), what, ANSWER, looks_like=story, hint=hint, crashed=True)


def called_again(program: Program, log: Log) -> Finding | None:
    """A rule that was called more than once."""
    for node, times in log.times().items():
        if times > 1:
            what = f"for {program.name}, the rule of one {node.name()} was called "
            what += f"{times} times"
            story = "A node runs each time something arrives, not once with the sum."
            hint = "Both users of a tensor send a gradient to its node. After which of "
            hint += "them may its rule be called?"
            return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return None


def written_into(program: Program, log: Log) -> Finding | None:
    """A gradient that a rule had returned, and that was changed afterwards."""
    if are_close([(g.array, was) for g, was in log.returned]):
        return None
    for gradient, was in log.returned:
        if not np.array_equal(gradient.array, was):
            what = (
                f"for {program.name}, a gradient that a rule returned was {short(was)}"
            )
            what += f", and is {short(gradient.array)} now"
            story = "`+=` writes into the tensor itself. Add returned one tensor for "
            story += "both its arguments, so another place was changed, too."
            hint = "Which way of adding makes a new tensor?"
            return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return None


def wrong_gradient(
    program: Program, log: Log, wanted: dict[Any, Any], below: dict[Any, list[Any]]
) -> Finding | None:
    """The first rule that was called with something else than the sum."""
    ran = [node for node, _ in log.runs]
    if are_close([(got, wanted[node]) for node, got in log.runs]):
        return uncalled(program, len(ran), len(below))
    for turn, (node, got) in enumerate(log.runs):
        if np.allclose(got, wanted[node]):
            continue
        what = f"for {program.name}, the rule of one {node.name()} got {short(got)}; "
        what += f"{short(wanted[node])} arrives there in all"
        users = [user for user, receivers in below.items() if node in receivers]
        story = "What waited was overwritten by what came next."
        hint = "A second gradient comes for a node. Where is the first one then?"
        if all([np.allclose(got, one) for _, one in log.runs]):
            story = "Every rule was called with the same, which is what the root gets."
            hint = (
                "Each node has a gradient of its own. Where do you keep it until then?"
            )
        elif any(user not in ran[:turn] for user in users):
            story = "A join has its turn too early: a user of it has not sent its part."
            hint = "Which nodes may run: those that something has arrived at, or those "
            hint += "that nothing more has to come to?"
        return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return None


def are_close(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether the two of every pair are as good as equal; all in one go."""
    if not pairs:
        return True
    if any(one.shape != other.shape for one, other in pairs):
        return False
    ones, others = zip(*pairs, strict=True)
    return np.allclose(np.stack(ones), np.stack(others))


def uncalled(program: Program, ran: int, size: int) -> Finding | None:
    """Rules that were not called at all."""
    if ran == size:
        return None
    what = f"for {program.name}, not called: {size - ran} of {size} rules"
    hint = "Who puts a node on the list of those that can run?"
    if ran == 1:
        hint = (
            "The rule of the root returns one gradient for each edge. What becomes of "
        )
        hint += "them?"
    return Finding((), what, ANSWER, hint=hint)


def wrong_leaf(
    program: Program, right: Sequence[Any], before: Sequence[Any]
) -> Finding | None:
    """The first leaf with another ``.grad`` than it should have."""
    zero = np.zeros(3)
    for place, (name, leaf) in enumerate(program.leaves.items()):
        had = before[place - 1].numpy() if place else zero
        new = right[place].numpy()
        if leaf.grad is None:
            what = f"for {program.name}, {name}.grad is None"
            hint = "A leaf's node has the leaf as its variable. Who sets its .grad?"
            return Finding((), what, ANSWER, hint=hint)
        got = leaf.grad.detach().numpy()
        if got.shape == new.shape and np.allclose(got, had + new):
            if leaf.grad.requires_grad:
                what = f"for {program.name}, {name}.grad has a grad_fn of its own"
                hint = "Which line above `def` keeps backward from being recorded?"
                return Finding((), what, ANSWER, hint=hint)
            continue
        what = f"for {program.name}, {name}.grad is {short(got)}; "
        what += f"{short(had + new)} should be there"
        story, hint = "", "Go through the program by hand. What arrives at this leaf?"
        if place and np.allclose(got, new):
            what += f", of which {short(had)} was there before"
            story = "The gradient of a leaf is replaced, and not added to."
            hint = "x.grad may hold something already. What does backward do with it?"
        elif place == 0 and np.allclose(got, 2 * new):
            story = "All that arrives at x was added twice: its node had two turns."
            hint = (
                "Two gradients come to x. After which of them may its node have a turn?"
            )
        elif place == 0:
            story = "Two gradients arrive at x. What waited for its node, or stood in "
            story += ".grad, was overwritten by what came next."
            hint = "x is used twice. What is x.grad when the second gradient comes?"
        return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return None


def short(array: np.ndarray) -> str:
    """The numbers of a vector, to four digits."""
    return str(
        np.array2string(
            array, separator=", ", formatter={"float_kind": "{:.4g}".format}
        )
    )
