"""01.2: lines of apply in a learner's order, run on an engine of a few lines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from minigrad.course.check import Finding, crash_of, questions
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

HEAD = "def apply(cls, *inputs):\n"


class Value:
    """A number that may require grad; what stands for a tensor here."""

    def __init__(self, number: float, requires_grad: bool = False) -> None:
        self.number = number
        self.requires_grad = requires_grad
        self.grad_fn: Any = None


class Engine:
    """Grad mode and what was seen while an ``apply`` ran on it."""

    def __init__(self) -> None:
        self.grad_mode = SimpleNamespace(enabled=True)
        self.recorded_inside: list[bool] = []
        self.seen_by_forward: list[Any] = []

    @contextlib.contextmanager
    def no_grad(self) -> Iterator[None]:
        """Record nothing in the block."""
        before, self.grad_mode.enabled = self.grad_mode.enabled, False
        try:
            yield
        finally:
            self.grad_mode.enabled = before

    def function(self) -> Any:
        """A class like ``Mul``, with a forward that looks around."""

        def forward(ctx: Any, *inputs: Value) -> Value:
            self.recorded_inside.append(self.grad_mode.enabled)
            self.seen_by_forward.append(ctx)
            return Value(inputs[0].number * inputs[1].number)

        made = type("MulBackward", (), {})
        return SimpleNamespace(backward_class=made, forward=forward, ctx=None)


def run_lines(lines: Sequence[str]) -> Finding | None:
    """Run the lines as ``apply``; what goes wrong, or None."""
    engine = Engine()
    names: dict[str, Any] = {
        "grad_mode": engine.grad_mode,
        "no_grad": engine.no_grad,
        "edge_of": lambda value: ("edge", value),
    }
    unread = questions.defined_by(HEAD, lines, names)
    if unread:
        return say("unread", error=unread[0], line=unread[1])
    mul = engine.function()
    x, y = Value(2.0, requires_grad=True), Value(3.0)
    try:
        first, second = names["apply"](mul, x, y), names["apply"](mul, x, y)
        plain = names["apply"](mul, y, y)
    except (NameError, AttributeError) as error:
        return say.of_crash("too_early", crash_of("", error), error=error)
    return what_is_wrong(engine, first, second, plain)


def what_is_wrong(
    engine: Engine, first: Any, second: Any, plain: Any
) -> Finding | None:
    """Compare what came out with what apply promises."""
    if first is None:
        return say("nothing")
    if any(engine.recorded_inside):
        return say("recorded")
    if first.grad_fn is not engine.seen_by_forward[0]:
        return say("not_wired", node=first.grad_fn)
    if first.grad_fn is second.grad_fn:
        return say("shared")
    if plain.grad_fn is not None:
        return say("wired")
    if len(getattr(first.grad_fn, "edges", [])) != 2:
        return say("no_edges")
    return None
