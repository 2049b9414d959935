"""01.2: lines of apply in a learner's order, run on an engine of a few lines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from minigrad.course.check import Finding

HEAD = "def apply(cls, *inputs):\n"
WHEN_MISSING = "Say each phase of apply aloud. Which of them has no line yet?"


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
    try:
        exec(compile(HEAD + "\n".join(lines) + "\n", "your apply", "exec"), names)
    except SyntaxError as error:
        line = lines[max((error.lineno or 2) - 2, 0)].strip()
        return Finding(
            (),
            f"Python cannot read it: {error.msg}",
            f"near {line!r}",
            looks_like="An indented line needs the right line above it.",
            hint="Which two lines are indented more than the others, and under what?",
        )
    mul = engine.function()
    x, y = Value(2.0, requires_grad=True), Value(3.0)
    try:
        first, second = names["apply"](mul, x, y), names["apply"](mul, x, y)
        plain = names["apply"](mul, y, y)
    except (NameError, AttributeError) as error:
        return Finding(
            (),
            f"{type(error).__name__}: {error}",
            "your apply, while it runs",
            looks_like=order_story(str(error)),
            hint="Look for the name in the message. Which line makes it?",
        )
    return what_is_wrong(engine, first, second, plain)


def order_story(text: str) -> str:
    """What it means that a name was not there yet."""
    if "'ctx'" in text:
        return "ctx made after forward, or after something else that uses it"
    return "A line uses a name that a later line makes."


def what_is_wrong(
    engine: Engine, first: Any, second: Any, plain: Any
) -> Finding | None:
    """Compare what came out with what apply promises."""
    where = "your apply"
    if first is None:
        return Finding((), "nothing is given back", where, hint="Where is `return`?")
    if any(engine.recorded_inside):
        return Finding(
            (),
            "forward ran while operations were being recorded",
            where,
            looks_like="forward run with recording on",
            hint="Which line switches recording off, and for which lines?",
        )
    if first.grad_fn is not engine.seen_by_forward[0]:
        return Finding(
            (),
            f"x requires grad, and the output's grad_fn is {first.grad_fn}",
            where,
            looks_like="Whether to record was asked where recording was off, or the"
            " wiring was left out.",
            hint="At which moment does `grad_mode.enabled` say what the caller wants?",
        )
    if first.grad_fn is second.grad_fn:
        return Finding((), "two calls share one ctx", where)
    if plain.grad_fn is not None:
        return Finding(
            (),
            "no input requires grad, and the output has a grad_fn",
            where,
            looks_like="node wired although nothing requires grad",
        )
    if len(getattr(first.grad_fn, "edges", [])) != 2:
        return Finding((), "ctx has no edges to where its inputs came from", where)
    return None
