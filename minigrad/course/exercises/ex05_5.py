"""05.5: a learner's own backward, on graphs of the engine's nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.course.check import Array, Crash, Finding, pass_on_todo, submission
from minigrad.course.check.probes import seen, traversals
from minigrad.course.check.probes.traversals import Traversal

ANSWER = "backward"
MOST_LINES = 15
ADD, MUL = 0, 1


class Program:
    """A program of sums and products, while it is written down; its leaves come first.

    A place is that of an input from 0 on, and that of a result from -1 on downward.
    """

    def __init__(self, name: str, **leaves: Array) -> None:
        self.name, self.leaves = name, list(leaves)
        self.inputs: list[Array] = list(leaves.values())
        self.results: list[Array] = []
        self.steps: list[tuple[int, int, int]] = []

    def value(self, place: int) -> Array:
        """The numbers at a place."""
        return self.inputs[place] if place >= 0 else self.results[-1 - place]

    def data(self, value: Array) -> int:
        """The place of numbers that need no gradient."""
        self.inputs.append(value)
        return len(self.inputs) - 1

    def add(self, x: int, y: int) -> int:
        """The place of a sum."""
        return self._step(ADD, x, y, self.value(x) + self.value(y))

    def mul(self, x: int, y: int) -> int:
        """The place of a product."""
        return self._step(MUL, x, y, self.value(x) * self.value(y))

    def _step(self, kind: int, x: int, y: int, result: Array) -> int:
        self.steps.append((kind, x, y))
        self.results.append(result)
        return -len(self.results)

    def gradients(self, upstream: Array) -> tuple[Array, Array]:
        """What has to arrive at each step, and at each leaf."""
        at_step = np.zeros((len(self.steps), 3))
        at_input = np.zeros((len(self.inputs), 3))
        at_step[-1] = upstream
        for number in reversed(range(len(self.steps))):
            kind, x, y = self.steps[number]
            for to, other in ((x, y), (y, x)):
                slope = 1.0 if kind == ADD else self.value(other)
                there, place = (at_input, to) if to >= 0 else (at_step, -1 - to)
                there[place] += at_step[number] * slope
        return at_step, at_input[: len(self.leaves)]

    def users(self, number: int) -> list[int]:
        """The steps that use the result of this one."""
        place = -1 - number
        return [at for at, (_, *both) in enumerate(self.steps) if place in both]

    def node(self, number: int) -> str:
        """The name of the node of a step."""
        return "AddBackward" if self.steps[number][0] == ADD else "MulBackward"


def tried(random: np.random.Generator) -> Iterator[Program]:
    """The programs; each finds out something of its own."""

    def leaf() -> Array:
        return random.uniform(0.4, 1.2, 3)

    program = Program("x * w + x", x=leaf(), w=leaf())
    program.add(program.mul(0, 1), 0)
    yield program
    name = "a = x * w; y = (a + v) * (a * v * v)"
    program = Program(name, x=leaf(), w=leaf(), v=leaf())
    a = program.mul(0, 1)
    long_arm = program.mul(program.mul(a, 2), 2)
    program.mul(program.add(a, 2), long_arm)
    yield program
    program = Program("(data + x) * x", x=leaf())
    program.mul(program.add(program.data(leaf()), 0), 0)
    yield program
    yield at_random(random)
    program = Program("30 sums of a tensor with itself", x=leaf())
    y = 0
    for _ in range(30):
        y = program.add(y, y)
    yield program
    program = Program("a chain of 5000 sums", x=leaf())
    y = 0
    for _ in range(5000):
        y = program.add(y, 0)
    yield program


def at_random(random: np.random.Generator) -> Program:
    """200 nodes, each used by a later one; the numbers stay near 1."""
    leaves = {name: random.uniform(0.9, 1.1, 3) for name in "abc"}
    program = Program("200 nodes at random", **leaves)
    made = [0, 1, 2, program.add(0, 1)]
    made.append(program.mul(made[-1], 2))
    for _ in range(99):
        older = made[random.integers(max(0, len(made) - 8), len(made))]
        step = program.add if random.random() < 0.7 else program.mul
        made.append(step(made[-1], older))
        half = random.uniform(0.45, 0.55, 3) / (0.5 * np.abs(program.value(made[-1])))
        made.append(program.mul(made[-1], program.data(half)))
    return program


def look_at(answer: Any, random: np.random.Generator) -> list[Finding]:
    """Each program once; then how long the answer is."""
    unusable = submission.no_function(answer, ANSWER)
    if unusable:
        return [unusable]
    beside: Finding | None = None
    for program in tried(random):
        upstream = random.uniform(0.5, 1.5, 3)
        before = random.uniform(1, 2, (len(program.leaves) - 1, 3))
        plain = traversals.Program(
            len(program.leaves),
            np.array(program.inputs),
            np.array(program.steps),
            upstream,
            before,
            3 * len(program.steps) + 3,
        )
        found = seen(traversals.traverse, (answer,), plain)
        fault = fault_in(found, program, upstream, before)
        if fault is not None and not fault.values_right:
            return [fault]
        beside = beside or fault
    if beside is not None:
        return [beside]
    if found.lines > MOST_LINES:
        what = f"backward has {found.lines} lines that do something; {MOST_LINES} "
        what += "are enough"
        hint = "Can an order of the nodes (05.3) take the place of some of them?"
        return [Finding((), what, ANSWER, hint=hint, values_right=True)]
    return []


def fault_in(
    found: Traversal, program: Program, upstream: Array, before: Array
) -> Finding | None:
    """What is wrong with one program; None if nothing is."""
    if found.crash is not None:
        return crashed(program, found.crash)
    at_steps, at_leaves = program.gradients(upstream)
    return (
        called_again(program, found)
        or written_into(program, found)
        or wrong_gradient(program, found, at_steps)
        or wrong_leaf(program, found, at_leaves, before)
        or recorded(program, found)
    )


def crashed(program: Program, crash: Crash) -> Finding:
    """An exception, and what it comes from."""
    pass_on_todo(crash)
    text = f"{crash.kinds[0]}: {crash.text}".rstrip(": ").splitlines()[0]
    story = hint = ""
    if "RecursionError" in crash.kinds:
        story = "backward, or what it uses, calls itself for each node, and Python "
        story += "stops after some thousand calls inside each other."
        hint = "Which list could hold the nodes that have still to run?"
    elif "CalledTooOftenError" in crash.kinds:
        size = len(program.steps)
        text = f"rules were called more than {3 * size} times for {size} nodes"
        story = "Every path is followed by itself: with n joins one after the other "
        story += "that is 2 to the power n calls."
        hint = "What may a node wait for, before its rule is called?"
    elif "EngineAskedError" in crash.kinds:
        text = "the engine's own backward was called"
        hint = "Call the rule of a node: node.apply(gradient). Who goes on from there?"
    elif text.startswith("KeyError: the node"):
        story = "A dictionary was asked for a node that is not in it."
        hint = "What waits for a node before the first gradient has come there?"
    elif "operand" in text and "'NoneType'" in text:
        story = "A gradient was added to a `.grad` that is still None."
        hint = "What is x.grad before the first gradient comes?"
    elif "RuntimeError" in crash.kinds and "ambiguous" in text:
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


def called_again(program: Program, found: Traversal) -> Finding | None:
    """A rule that was called more than once."""
    for number, times in Counter(found.called.tolist()).items():
        if times > 1:
            what = f"for {program.name}, the rule of one {program.node(number)} was "
            what += f"called {times} times"
            story = "A node runs each time something arrives, not once with the sum."
            hint = "Both users of a tensor send a gradient to its node. After which of "
            hint += "them may its rule be called?"
            return Finding((), what, ANSWER, looks_like=story, hint=hint)
    return None


def written_into(program: Program, found: Traversal) -> Finding | None:
    """A gradient that a rule had returned, and that was changed afterwards."""
    if not found.written:
        return None
    was, now = found.written
    what = f"for {program.name}, a gradient that a rule returned was {short(was)}"
    what += f", and is {short(now)} now"
    story = "`+=` writes into the tensor itself. Add returned one tensor for "
    story += "both its arguments, so another place was changed, too."
    hint = "Which way of adding makes a new tensor?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint)


def wrong_gradient(program: Program, found: Traversal, wanted: Array) -> Finding | None:
    """The first rule that was called with something else than the sum."""
    called = found.called.tolist()
    right = np.isclose(found.received, wanted[called]).all(axis=1)
    if right.all():
        return uncalled(program, called)
    turn = int(np.argmin(right))
    number, got = called[turn], found.received[turn]
    if found.odd is not None and np.isnan(got).all():
        got = found.odd
    what = f"for {program.name}, the rule of one {program.node(number)} got "
    what += f"{short(got)}; {short(wanted[number])} arrives there in all"
    story = "What waited was overwritten by what came next."
    hint = "A second gradient comes for a node. Where is the first one then?"
    if np.allclose(found.received, got if got.shape == (3,) else np.nan):
        story = "Every rule was called with the same, which is what the root gets."
        hint = "Each node has a gradient of its own. Where do you keep it until then?"
    elif any(user not in called[:turn] for user in program.users(number)):
        story = "A join has its turn too early: a user of it has not sent its part."
        hint = "Which nodes may run: those that something has arrived at, or those "
        hint += "that nothing more has to come to?"
    return Finding((), what, ANSWER, looks_like=story, hint=hint)


def uncalled(program: Program, called: Sequence[int]) -> Finding | None:
    """Rules that were not called at all."""
    size = len(program.steps)
    ran = len(set(called) & set(range(size)))
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
    program: Program, found: Traversal, right: Array, before: Array
) -> Finding | None:
    """The first leaf with another ``.grad`` than it should have."""
    had_before = [np.zeros(3), *before]
    came = zip(program.leaves, found.leaves, had_before, right, strict=True)
    for place, (name, leaf, had, new) in enumerate(came):
        got = leaf.grad
        if got is None:
            what = f"for {program.name}, {name}.grad is None"
            hint = "A leaf's node has the leaf as its variable. Who sets its .grad?"
            return Finding((), what, ANSWER, hint=hint)
        if got.shape == new.shape and np.allclose(got, had + new):
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


def recorded(program: Program, found: Traversal) -> Finding | None:
    """A leaf that has the right numbers, with a way back from them."""
    for name, leaf in zip(program.leaves, found.leaves, strict=True):
        if leaf.recorded:
            what = f"for {program.name}, {name}.grad has a grad_fn of its own"
            hint = "Which line above `def` keeps backward from being recorded?"
            return Finding((), what, ANSWER, hint=hint, values_right=True)
    return None


def short(array: np.ndarray) -> str:
    """The numbers of a vector, to four digits."""
    return str(
        np.array2string(
            array, separator=", ", formatter={"float_kind": "{:.4g}".format}
        )
    )
