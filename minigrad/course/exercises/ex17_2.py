"""17.2: two Functions that run wherever their import leads."""

from __future__ import annotations

import importlib
import importlib.util
import types
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import Array, Case, Contract, Crossing, Faults, Finding
from minigrad.course.check.probes import seen
from minigrad.course.check.probes.devices import on_second_device
from minigrad.course.exercises import by_formula
from minigrad.course.exercises.gym.random_inputs import numbers
from minigrad.course.exercises.messages import Messages

say = Messages(__name__)

LARGE = 100.0
"""Its exp has no place in float32."""

METHODS = ("forward", "backward", "setup_context", "jvp", "vmap")


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


LATER = dict.fromkeys(
    ("0 axes", "size 0"),
    "what is left of NumPy, or of the cpu, stumbles there, and has words of its own",
)


def stated(
    name: str, right: dict[str, str], wrong: dict[str, Any], **crossing: float
) -> SimpleNamespace:
    """A Function by its formulas: of the result, and of each argument's gradient."""
    arguments = tuple([argument for argument in right if argument != "result"])
    contract = Contract(name, arguments, second_derivative="wanted")
    return SimpleNamespace(
        CONTRACT=contract,
        cases=lambda random: cases(random, len(arguments)),
        CROSSING=Crossing(dict.fromkeys(arguments, "..."), LATER, **crossing),
        **by_formula.spec_of({"right": right, "wrong": wrong}, contract, __name__),
    )


LENGTH = "sqrt(x * x + y * y)"
PARTS = (
    stated(
        "Softplus",
        {"result": "log(1 + exp(x))", "x": "g / (1 + exp(-x))"},
        {},
        size=30.0,
    ),
    stated(
        "Hypot",
        {"result": LENGTH, "x": f"g * x / {LENGTH}", "y": f"g * y / {LENGTH}"},
        {"L03": [{"x": "g * x / (x * x + y * y)", "y": "g * y / (x * x + y * y)"}]},
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
        if moved.bound:
            yield say("bound", name=name, bound=", ".join(moved.bound))
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
