"""17.2: two Functions that run wherever their import leads."""

from __future__ import annotations

import importlib
import importlib.util
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import (
    Array,
    Arrays,
    Case,
    Contract,
    Crossing,
    Faults,
    Finding,
    Part,
)
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.devices import on_second_device
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

LARGE = 100.0
"""Its exp has no place in float32."""

METHODS = ("forward", "backward", "setup_context", "jvp", "vmap")


def softplus(x: Array) -> Array:
    """log(1 + exp(x)), for numbers that aren't large."""
    return np.asarray(np.log(1 + np.exp(x)))


def slope_of_softplus(g: Array, x: Array) -> Arrays:
    """Its right gradient."""
    return (np.asarray(g / (1 + np.exp(-x))),)


def hypot(x: Array, y: Array) -> Array:
    """The length of (x, y), element by element."""
    return np.asarray(np.sqrt(x * x + y * y))


def slopes_of_hypot(g: Array, x: Array, y: Array) -> Arrays:
    """Its right gradients."""
    length = hypot(x, y)
    return g * x / length, g * y / length


def cases(random: np.random.Generator, inputs: int) -> list[Case]:
    """Two shapes in both dtypes, one transposed in memory."""
    found = []
    for shape, dtype in (((3,), np.float64), ((2, 3), np.float64), ((4,), np.float32)):
        name = f"{'x' if inputs == 1 else 'x, y'} of shape {shape}, {dtype.__name__}"
        drawn = [numbers(random, *shape).astype(dtype) for _ in range(inputs + 1)]
        found.append(Case(name, tuple(drawn[1:]), drawn[0]))
    turned = [numbers(random, 3, 2).T for _ in range(inputs)]
    found.append(Case("transposed in memory", tuple(turned), numbers(random, 2, 3)))
    return found


def no_wrong_gradients(g: Array, *inputs: Array) -> Iterator[tuple[str, Arrays]]:
    """No formula of a mistake is expected: the formulas are given."""
    return iter(())


LATER = dict.fromkeys(
    ("0 axes", "size 0"),
    "what is left of NumPy, or of the cpu, stumbles there, and has words of its own",
)

PARTS = (
    Part(
        Contract(name="Softplus", arguments=("x",)),
        softplus,
        lambda random: cases(random, 1),
        slope_of_softplus,
        no_wrong_gradients,
        CROSSING=Crossing({"x": "..."}, LATER, size=30.0),
    ),
    Part(
        Contract(name="Hypot", arguments=("x", "y")),
        hypot,
        lambda random: cases(random, 2),
        slopes_of_hypot,
        no_wrong_gradients,
        CROSSING=Crossing({"x": "...", "y": "..."}, LATER),
    ),
)


def prepare() -> None:
    """Import torch, where it's installed: that may take longer than an answer may."""
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch")


def look_at_rest(functions: Sequence[Any], rest: Sequence[Any]) -> Faults:
    """What needs the cpu; and, where torch is installed, the same class in torch."""
    for part, function in zip(PARTS, functions, strict=True):
        name, count = part.CONTRACT.name, len(part.CONTRACT.arguments)
        inputs = np.split(np.arange(1.0, 4.0 * count + 1), count)
        moved = seen(on_second_device, (function,), *inputs)
        if moved.leaves:
            numpys = moved.leaves[0].startswith(("x.", "from_numpy"))
            key = "left.numpy" if numpys else "left.made"
            yield say(key, name=name, step=moved.leaves[0])
        if importlib.util.find_spec("torch") and not hasattr(function, "stands_for"):
            crash = crash_in_torch(function, inputs)
            if crash:
                yield say("torch", name=name, error=crash)


def remarks_on(answer: Sequence[Any]) -> list[Finding]:
    """What a port keeps of the original, and the review of the lesson asks for."""
    with np.errstate(over="ignore"), minigrad.teaching(False):
        result = answer[0].apply(minigrad.tensor([LARGE]))
    return [] if result.isfinite().all() else [say("large", name="Softplus", x=LARGE)]


def crash_in_torch(function: Any, inputs: Sequence[Array]) -> str:
    """What torch raises when the class runs there; empty if it gives our numbers."""
    torch = importlib.import_module("torch")
    ported = in_other_engine(function, torch)
    leaves = [torch.tensor(each, requires_grad=True) for each in inputs]
    try:
        y = ported.apply(*leaves)
        found = torch.autograd.grad(y.sum(), leaves)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    right = on_second_device(function, *inputs)
    pairs = zip((y, *found), (right.value, *right.gradients), strict=True)
    same = [
        mine is not None and np.allclose(theirs.detach().numpy(), mine)
        for theirs, mine in pairs
    ]
    return "" if all(same) else "other numbers than here"


def in_other_engine(function: Any, engine: Any) -> Any:
    """The same class with its methods' code, where torch and mg mean that engine."""
    body: dict[str, Any] = {}
    for name in METHODS:
        method = vars(function).get(name)
        if method is not None:
            own = method.__func__
            names = {**own.__globals__, "torch": engine, "mg": engine}
            body[name] = staticmethod(types.FunctionType(own.__code__, names, name))
    return type(function.__name__, (engine.autograd.Function,), body)
