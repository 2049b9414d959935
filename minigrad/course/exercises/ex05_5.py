"""05.5: a learner's own backward, on graphs of the engine's nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad.course.check import Array, Faults, Finding, first_line, left_behind
from minigrad.course.check.probes import seen, traversals
from minigrad.course.check.probes.traversals import Traversal
from minigrad.course.exercises.messages import Messages, in_short, named

say = Messages(__name__)

MOST_LINES = 15
ADD, MUL = 0, 1


class Program:
    """A program of sums and products, while it is written down; its leaves come first.

    A place is that of an input from 0 on, and that of a result from -1 on downward.
    """

    times = 1

    def __init__(self, name: str, **leaves: Array) -> None:
        self.name, self.leaves = name, list(leaves)
        self.inputs: list[Array] = list(leaves.values())
        self.results: list[Array] = []
        self.steps: list[tuple[int, int, int]] = []
        self.parts: dict[int, list[Array]] = {}
        self.to_data = np.zeros((0, 3))

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
        """What has to arrive at each step, and at each leaf; ``parts`` of these.

        ``to_data`` is what rules send to where no gradient is needed.
        """
        self.parts = {}
        at_step = np.zeros((len(self.steps), 3))
        at_input = np.zeros((len(self.inputs), 3))
        at_step[-1] = upstream
        for number in reversed(range(len(self.steps))):
            kind, x, y = self.steps[number]
            for to, other in ((x, y), (y, x)):
                slope = 1.0 if kind == ADD else self.value(other)
                there, place = (at_input, to) if to >= 0 else (at_step, -1 - to)
                there[place] += at_step[number] * slope
                self.parts.setdefault(to, []).append(at_step[number] * slope)
        self.to_data = at_input[len(self.leaves) :]
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
    program = Program("data * x + x", x=leaf())
    program.add(program.mul(program.data(leaf()), 0), 0)
    yield program
    program = Program("zeros * (x * w) + x", x=leaf(), w=leaf())
    zeros, a = program.data(np.zeros(3)), program.mul(0, 1)
    program.add(program.mul(zeros, a), 0)
    yield program
    program = Program("x + w, called twice", x=leaf(), w=leaf())
    program.times = 2
    program.add(0, 1)
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


def look_at(answer: Any, random: np.random.Generator) -> Faults:
    """Each program once; then how long the answer is."""
    beside: Finding | None = None
    for program in tried(random):
        upstream = random.uniform(0.5, 1.5, 3)
        count = len(program.leaves)
        before = random.uniform(1, 2, (count - 1 if program.times == 1 else 0, 3))
        plain = traversals.Program(
            count,
            np.array(program.inputs),
            np.array(program.steps),
            upstream,
            before,
            3 * len(program.steps) + 3,
            program.times,
        )
        found = seen(traversals.traverse, (answer,), plain)
        fault = fault_in(found, program, upstream, before)
        if fault is not None and not fault.values_right:
            yield fault
        beside = beside or fault
    if beside is not None:
        yield beside
    if found.lines > MOST_LINES:
        yield say("too_long", lines=found.lines, most=MOST_LINES)


def fault_in(
    found: Traversal, program: Program, upstream: Array, before: Array
) -> Finding | None:
    """What is wrong with one program; None if nothing is."""
    crash = found.crash
    if crash is not None:
        size, text = len(program.steps), first_line(crash)
        numbers = {"size": size, "most": 3 * size}
        return say.of_crash(
            "crashed", crash, program=program.name, text=text, **numbers
        )
    at_steps, at_leaves = program.gradients(upstream)
    return (
        called_again(program, found)
        or written_into(program, found)
        or wrong_gradient(program, found, at_steps)
        or wrong_leaf(program, found, at_leaves, before)
        or recorded(program, found)
        or left_behind("backward", found.changed)
    )


def called_again(program: Program, found: Traversal) -> Finding | None:
    """A rule that was called more than once."""
    for number, times in Counter(found.called.tolist()).items():
        if times > program.times:
            node = program.node(number)
            return say("called_again", program=program.name, node=node, times=times)
    return None


def written_into(program: Program, found: Traversal) -> Finding | None:
    """A gradient that a rule had returned, and that was changed afterwards."""
    if not found.written:
        return None
    was, now = found.written
    return say("written_into", program=program.name, was=was, now=now)


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
    name = "wrong_gradient"
    parts = program.parts.get(-1 - number, [])
    if number == len(program.steps) - 1:
        name = "wrong_gradient.root"
    elif np.allclose(found.received, got if got.shape == (3,) else np.nan):
        name = "wrong_gradient.same"
    elif any(user not in called[:turn] for user in program.users(number)):
        name = "wrong_gradient.early"
    elif len(parts) > 1 and any_is(got, parts):
        name = "wrong_gradient.overwritten"
    arrays = {"got": got, "wanted": wanted[number]}
    return say(name, program=program.name, node=program.node(number), **arrays)


def uncalled(program: Program, called: Sequence[int]) -> Finding | None:
    """Rules that were not called at all."""
    size = len(program.steps)
    ran = len(set(called) & set(range(size)))
    if ran == size:
        return None
    name = "uncalled.root_only" if ran == 1 else "uncalled"
    return say(name, program=program.name, left=size - ran, size=size)


def wrong_leaf(
    program: Program, found: Traversal, right: Array, before: Array
) -> Finding | None:
    """The first leaf with another ``.grad`` than it should have."""
    had_before = [*np.zeros((len(right) - len(before), 3)), *before]
    wanted = program.times * right
    came = zip(program.leaves, found.leaves, had_before, wanted, strict=True)
    for place, (leaf_name, leaf, had, new) in enumerate(came):
        got, said = leaf.grad, {"program": program.name, "leaf": leaf_name}
        if got is None:
            return say("leaf.none", **said)
        if got.shape == new.shape and np.allclose(got, had + new):
            continue
        parts = program.parts[place]
        usual = {
            "again": [got] if program.times > 1 else [],
            "replaced": [new] if had.any() else [],
            "twice": [] if had.any() else [2 * new],
            "beside": [had + new - p + d for p in parts for d in program.to_data],
            "overwritten": [had + each for each in parts] if len(parts) > 1 else [],
        }
        fits = partial(any_is, got)
        shown = " and ".join([*map(in_short, parts[:3]), *["more" for _ in parts[3:4]]])
        arrays = {"got": got, "wanted": had + new, "had": had, "parts": shown}
        return say(named("leaf", usual, fits), **said, **arrays)
    return None


def any_is(got: Array, told: Sequence[Array]) -> bool:
    """Whether one of these is what came."""
    return got.shape == (3,) and any([np.allclose(got, each) for each in told])


def recorded(program: Program, found: Traversal) -> Finding | None:
    """A leaf that has the right numbers, with a way back from them."""
    for name, leaf in zip(program.leaves, found.leaves, strict=True):
        if leaf.recorded:
            return say("recorded", program=program.name, leaf=name)
    return None
