"""The exercises of lesson 08: right answers pass, wrong ones are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minigrad as mg
from minigrad.course import catalogue, examine
from tests.course.test_first_lessons import made

ENDINGS = ["right", "an error", "right", "silently wrong", "an error"]


def test_endings_are_those_of_a_run() -> None:
    exercise = catalogue.load("08.1")
    truth = exercise.spec.truth()
    assert list(truth.values()) == ENDINGS
    for question in exercise.questions:
        assert set(question.wrong) <= set(question.choices) - {truth[question.id]}
    verdict = examine("08.1", ["an error"] * 5)
    assert verdict.state == "solved"
    assert "2 of 5 as you said" in verdict.message


def add_one(ctx: Any, x: Any) -> Any:
    x.add_(1)
    ctx.mark_dirty(x)
    return x


def marked_first(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.add_(1)


def by_hand(ctx: Any, x: Any) -> Any:
    x += mg.ones_like(x)
    ctx.mark_dirty(x)
    return x


def not_marked(ctx: Any, x: Any) -> Any:
    return x.add_(1)


def not_returned(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.add_(1).clone()


def another(ctx: Any, x: Any) -> Any:
    x = x + 1
    ctx.mark_dirty(x)
    return x


def not_in_place(ctx: Any, x: Any) -> Any:
    return x + 1


def hands_on(ctx: Any, g: Any) -> Any:
    return g


@pytest.mark.parametrize("forward", [add_one, marked_first, by_hand])
def test_right_add_one_passes(forward: Any) -> None:
    for seed in range(3):
        verdict = examine("08.2", made("AddOne_", forward, hands_on), seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("forward", "backward", "mistake"),
    [
        (not_marked, hands_on, "M02"),
        (not_returned, hands_on, "M03"),
        (another, hands_on, "M03"),
        (not_in_place, hands_on, "M03"),
        (add_one, lambda ctx, g: g.add_(1), "M01"),
        (add_one, lambda ctx, g: mg.ones_like(g), "C01"),
        (add_one, lambda ctx, g: None, "A16"),
    ],
)
def test_add_one_that_errs_is_named(forward: Any, backward: Any, mistake: str) -> None:
    verdict = examine("08.2", made("AddOne_", forward, backward))
    assert verdict.state in ("wrong", "crashed")
    assert mistake in verdict.mistakes, verdict.message


SHIPPED = catalogue.load("08.3").spec.SHIPPED


def square(*changes: tuple[str, str]) -> Any:
    source = SHIPPED
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    names: dict[str, Any] = {"mg": mg}
    exec(source, names)
    return names["Square_"]


SAVE = "ctx.save_for_backward(x)"
CHANGE = "return x.mul_(x)"
MARK = "        ctx.mark_dirty(x)\n"
COPY = (SAVE, "ctx.save_for_backward(x.clone())")


@pytest.mark.parametrize(
    "changes",
    [
        [COPY],
        [(SAVE, "ctx.save_for_backward(x * 1)")],
        [(SAVE, "ctx.save_for_backward(2 * x)"), ("grad_output * 2", "grad_output")],
        [(SAVE, "old = x.clone()\n        ctx.save_for_backward(old)")],
    ],
)
def test_square_that_keeps_the_old_value_passes(changes: Any) -> None:
    for seed in range(3):
        verdict = examine("08.3", square(*changes), seed=seed)
        assert verdict.state == "solved", verdict.message


def test_square_as_shipped_is_not_tried() -> None:
    assert examine("08.3", square()).state == "not tried"


@pytest.mark.parametrize(
    ("changes", "mistake", "says"),
    [
        ([(MARK, ""), (SAVE, f"{MARK.strip()}\n        {SAVE}")], "M04", "18"),
        ([(SAVE, "ctx.save_for_backward(x.detach())")], "M04", "18"),
        (
            [(SAVE, "pass"), (CHANGE, f"x.mul_(x)\n        {SAVE}\n        return x")],
            "M04",
            "",
        ),
        (
            [(SAVE, "ctx.save_for_backward(x, x.clone())"), ("(x,)", "(_, x)")],
            "K01",
            "",
        ),
        (
            [
                (SAVE, "ctx.old = x.clone()"),
                ("(x,) = ctx.saved_tensors", "x = ctx.old"),
            ],
            "S06",
            "",
        ),
        ([("* 2 * x", "* 2 * x.sqrt()")], "L01", ""),
        ([COPY, (MARK, "")], "M02", ""),
        ([COPY, (MARK, ""), (CHANGE, "return x * x")], "M03", "still holds"),
        ([COPY, (CHANGE, "return x.mul_(x).clone()")], "M03", ""),
        ([COPY, ("* 2 * x", "* x")], "L02", ""),
        ([COPY, ("grad_output * 2 * x", "x.mul_(2) * grad_output")], "M05", ""),
    ],
)
def test_square_that_is_not_repaired_is_named(
    changes: Any, mistake: str, says: str
) -> None:
    verdict = examine("08.3", square(*changes))
    assert verdict.state != "solved"
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message


def relu(*lines: str, rule: Callable[[Any], Any] = lambda y: y > 0) -> Any:
    source = "\n    ".join(["def forward(ctx, x):", *lines])
    names: dict[str, Any] = {"mg": mg}
    exec(source, names)
    return made("Relu_", names["forward"], lambda ctx, g: g * rule(*ctx.saved_tensors))


CLAMP, DIRTY, KEEP, RETURN = (
    "x.clamp_(min=0)",
    "ctx.mark_dirty(x)",
    "ctx.save_for_backward(x)",
    "return x",
)


@pytest.mark.parametrize(
    "answer",
    [
        relu(CLAMP, DIRTY, KEEP, RETURN),
        relu(KEEP, DIRTY, "return x.relu_()"),
        relu("x[x < 0] = 0", DIRTY, KEEP, RETURN),
        relu("x *= x > 0", DIRTY, KEEP, RETURN, rule=lambda y: y.sign()),
    ],
)
def test_right_relu_in_place_passes(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("08.5", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (relu("ctx.save_for_backward(x.clone())", CLAMP, DIRTY, RETURN), "K01"),
        (
            relu(
                "ctx.save_for_backward(x > 0)", CLAMP, DIRTY, RETURN, rule=lambda m: m
            ),
            "K01",
        ),
        (relu(KEEP, CLAMP, DIRTY, RETURN, rule=lambda x: ~(x < 0)), "M04"),
        (relu(KEEP, CLAMP, DIRTY, RETURN, rule=lambda x: x >= 0), "M04"),
        (relu(CLAMP, KEEP, RETURN), "M02"),
        (relu(CLAMP, DIRTY, KEEP, "return x.clone()"), "M03"),
        (
            relu(DIRTY, "y = x.clamp(min=0)", "ctx.save_for_backward(y)", "return y"),
            "M03",
        ),
        (relu("y = x.clamp(min=0)", "ctx.save_for_backward(y)", "return y"), "M03"),
        (relu(CLAMP, DIRTY, KEEP, RETURN, rule=lambda y: y), "L05"),
        (relu(CLAMP, DIRTY, "ctx.y = x", KEEP, RETURN), "S07"),
    ],
)
def test_relu_in_place_that_errs_is_named(answer: Any, mistake: str) -> None:
    verdict = examine("08.5", answer)
    assert verdict.state in ("wrong", "crashed")
    assert mistake in verdict.mistakes, verdict.message


def run(source: str, *names: str) -> list[Any]:
    scope: dict[str, Any] = {"mg": mg}
    exec(source, scope)
    return [scope[name] for name in names]


SHRINKS = {
    "block": "def shrink(w):\n    with mg.no_grad():\n        w.mul_(0.5)",
    "detach": "def shrink(w):\n    w.detach().mul_(0.5)",
    "switch": "def shrink(w):\n    w.requires_grad_(False)\n    w.mul_(0.5)\n"
    "    w.requires_grad_(True)",
    "decorated": "@mg.no_grad()\ndef shrink(w):\n    w *= 0.5",
    "refused": "def shrink(w):\n    w.mul_(0.5)",
    "data": "def shrink(w):\n    w.data.mul_(0.5)",
    "exchanged": "def shrink(w):\n    w.data = w.data * 0.5",
    "numpy": "def shrink(w):\n    w.detach().numpy()[...] *= 0.5",
    "another": "def shrink(w):\n    w = w * 0.5",
    "frozen": "def shrink(w):\n    w.requires_grad_(False).mul_(0.5)",
    "nothing": "def shrink(w):\n    pass",
    "returned": "def shrink(w):\n    with mg.no_grad():\n        return w * 0.5",
    "no call": "def shrink(w):\n    with mg.no_grad:\n        w.mul_(0.5)",
    "twice": "def shrink(w):\n    with mg.no_grad():\n        w.mul_(0.25)",
}
HALVES = {
    "clone": "def halved(w):\n    return w.clone().mul_(0.5)",
    "product": "def halved(w):\n    return w * 0.5",
    "by steps": "def halved(w):\n    h = w * 1\n    h /= 2\n    return h",
    "refused": "def halved(w):\n    return w.mul_(0.5)",
    "data": "def halved(w):\n    return w.data.clone().mul_(0.5)",
    "detached": "def halved(w):\n    return w.detach().clone().mul_(0.5)",
    "shared": "def halved(w):\n    return w.detach().mul_(0.5)",
    "block": "def halved(w):\n    with mg.no_grad():\n        return w * 0.5",
    "new leaf": "def halved(w):\n    new = mg.tensor(w.tolist(), requires_grad=True)\n"
    "    return new * 0.5",
    "nothing": "def halved(w):\n    w.clone().mul_(0.5)",
    "more": "def halved(w):\n    return w.clone().mul_(0.25)",
    "slope": "def halved(w):\n    return (w * 0.25) + w.detach() * 0.25",
}


@pytest.mark.parametrize("half", ["clone", "product", "by steps"])
@pytest.mark.parametrize("shrink", ["block", "detach", "switch", "decorated"])
def test_legal_rewrites_pass(shrink: str, half: str) -> None:
    source = f"{SHRINKS[shrink]}\n{HALVES[half]}"
    verdict = examine("08.4", run(source, "shrink", "halved"))
    assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("shrink", "half", "says"),
    [
        ("refused", "clone", "The leaf rule"),
        ("data", "clone", "The `.data` trick"),
        ("exchanged", "clone", "The `.data` trick"),
        ("numpy", "clone", "The `.data` trick"),
        ("another", "clone", "A name inside of a function can mean another one"),
        ("nothing", "clone", "Which object does the caller hold"),
        ("returned", "clone", "nobody takes what shrink returns"),
        ("no call", "clone", "Which two signs are missing there?"),
        ("twice", "clone", "after shrink(w)"),
        ("frozen", "clone", "w requires no grad any more"),
        ("block", "refused", "where: halved"),
        ("block", "data", "Which copy of w keeps its history?"),
        ("block", "detached", "no way back to w: its grad_fn is None"),
        ("block", "new leaf", "its grad_fn is MulBackward0"),
        ("block", "new leaf", "ends at another leaf"),
        ("block", "shared", "Whose memory did you write into?"),
        ("block", "block", "no_grad: the change was not recorded"),
        ("block", "nothing", "halved(w) returned a NoneType"),
        ("block", "more", "halved(w) is ["),
        ("block", "slope", "by how much does its half grow?"),
    ],
)
def test_illegal_rewrite_is_named(shrink: str, half: str, says: str) -> None:
    source = f"{SHRINKS[shrink]}\n{HALVES[half]}"
    verdict = examine("08.4", run(source, "shrink", "halved"))
    assert verdict.state in ("wrong", "crashed")
    assert says in verdict.message


@pytest.mark.parametrize(
    ("id", "answer", "says"),
    [
        ("08.4", [len], "check was given 1 thing, not 2"),
        ("08.4", [0.5, len], "not the function shrink"),
        ("08.6", [dict], "check was given 1 thing, not 2"),
        ("08.6", [{}, dict], "not the class Toy"),
    ],
)
def test_two_have_to_be_handed_over(id: str, answer: Any, says: str) -> None:
    verdict = examine(id, answer)
    assert verdict.state == "wrong"
    assert says in verdict.message


TOYS = """\
class Toy:
    def __init__(self, values):
        self.values = values
        self.count = [0]

    def add_(self, number):
        self.values[:] = [value + number for value in self.values]
        self.count[0] += 1

    def view(self):
        twin = Toy(self.values)
        twin.count = self.count
        return twin

    def clone(self):
        return Toy(list(self.values))


class Saved:
    def __init__(self, toy):
        self.toy = toy
        self.version = toy.count[0]

    def unpack(self):
        if self.toy.count[0] != self.version:
            raise RuntimeError("changed")
        return self.toy
"""
WITH_OBJECTS = """\
class Counter:
    number = 0

class Toy:
    def __init__(self, values, counter=None):
        self.values = values
        self.counter = counter or Counter()

    def add_(self, number):
        self.values[:] = [value + number for value in self.values]
        self.counter.number += 1

    def view(self):
        return Toy(self.values, self.counter)

    def clone(self):
        return Toy(list(self.values))


class Saved:
    def __init__(self, toy):
        self.toy, self.then = toy, toy.counter.number

    def unpack(self):
        if self.toy.counter.number > self.then:
            raise RuntimeError("changed")
        return self.toy
"""
WITH_A_BASE = (
    ("        self.count = [0]", "        self.base, self.changes = self, 0"),
    ("self.count[0] += 1", "self.base.changes += 1"),
    ("twin.count = self.count", "twin.base = self.base"),
    ("toy.count[0]", "toy.base.changes"),
)


def toys(*changes: tuple[str, str], source: str = TOYS) -> list[Any]:
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return run(source, "Toy", "Saved")


@pytest.mark.parametrize(
    "answer", [toys(), toys(source=WITH_OBJECTS), toys(*WITH_A_BASE)]
)
def test_right_counters_pass(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("08.6", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


COUNT = "self.count[0] += 1"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            [
                ("toy.count[0]\n", "list(toy.values)\n"),
                ("toy.count[0] !=", "toy.values !="),
            ],
            "What counts is what the numbers are",
        ),
        ([("twin.count = self.count", "twin.count = list(self.count)")], "A view has"),
        ([("twin.count = self.count", "pass")], "A view has a count of its own"),
        ([(COUNT, "pass")], "It never complains"),
        ([(COUNT, "self.count[0] += number")], "what was added to them in all"),
        ([("raise RuntimeError", "print")], "a difference is found and nothing raised"),
        ([("twin.count = self.count", "twin = self")], "returned the toy itself"),
        ([("toy.count[0]", "toy.count")], "It never complains"),
        ([(COUNT, "self.count[0] = 1")], "A flag says that there was a change"),
        ([(COUNT, "self.count[0] += number != 0")], "Only what makes a difference"),
        (
            [
                ("        self.count = [0]\n", ""),
                ("class Toy:", "class Toy:\n    count = [0]"),
            ],
            "All toys count together",
        ),
        (
            [
                ("self.version = toy", "toy.then = toy"),
                ("self.version:", "self.toy.then:"),
            ],
            "What was noted is kept on the toy",
        ),
        ([("!= self.version", "!= 0")], "It expects version 0"),
        (
            [
                (
                    "return Toy(list(self.values))",
                    "twin = self.view(); twin.values = list(self.values); return twin",
                )
            ],
            "A clone shares the count",
        ),
        ([("return self.toy\n", "return self.toy.values\n")], "The toy does not come"),
        ([("toy.count[0] != self", "toy.count is not self")], "complains whatever"),
        ([("        return self.toy\n", "")], "saved.unpack() returns None"),
        (
            [('raise RuntimeError("changed")', 'raise ValueError("changed")')],
            "raises ValueError: changed, no RuntimeError",
        ),
        ([('raise RuntimeError("changed")', "return None")], "nobody is stopped by it"),
        ([('raise RuntimeError("changed")', "assert False")], "AssertionError, no Run"),
        ([("!= self.version", "== self.version")], "only there"),
    ],
)
def test_counter_that_errs_is_named(changes: Any, says: str) -> None:
    verdict = examine("08.6", toys(*changes))
    assert verdict.state in ("wrong", "crashed")
    assert says in verdict.message


def test_counter_that_is_right_on_the_told_histories_only_is_found_out() -> None:
    forgets = toys((COUNT, "self.count[0] = (self.count[0] + 1) % 3"))
    remembers_two = toys(("[0] += 1", "[0] = min(self.count[0] + 1, 2)"))
    for answer in (forgets, remembers_two):
        said = examine("08.6", answer, seed=2).message
        assert "where: one that was made up" in said
        assert "The 12 histories end right, and a longer one does not" in said


def test_counters_as_shipped_are_not_tried() -> None:
    source = TOYS.replace("self.count = [0]", 'raise NotImplementedError("TODO: x")')
    assert examine("08.6", toys(source=source)).state == "not tried"
