"""Take from the engine in a worker what the exercise asks for."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import minigrad
from minigrad import ops

_FAMILIES = ("minigrad.kernels", "minigrad.ops", "minigrad.nn")
"""Where an operation lies: its numbers, its rule, and what calls it."""

_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "cross_entropy": ("of_chances", "of_all_classes"),
    "dropout": ("drop",),
    "nll_loss": ("nll",),
}
"""What an operation is called in its kernel, and where it is one of several."""


def import_all() -> None:
    """Import every module of the engine: later there are no files to import from."""
    for package in (minigrad, *_packages()):
        for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not found.ispkg and found.name not in _PROGRAMS:
                importlib.import_module(found.name)
    importlib.import_module("minigrad.bench")


_PROGRAMS = {
    f"minigrad.{name}"
    for name in ("__main__", "_bootstrap", "_installer", "_workspace")
}


def _packages() -> Iterator[types.ModuleType]:
    names = "autograd engine func kernels nn nn.data ops optim tracing utils"
    for name in names.split():
        yield importlib.import_module(f"minigrad.{name}")


def collect() -> None:
    """Note, for each operation that is ever taken away, what computes it.

    To be called once, when everything is imported.
    """
    near = _functions()
    for name in {name for names in _BLANKS.values() for name in names}:
        _code_of[name] = list(_computing(name, near))


def codes_of(names: Iterable[str]) -> dict[types.CodeType, str]:
    """The code that is run by these operations, and by no other; changes nothing."""
    near = _functions()
    computing = {id(f): name for name in names for f in _computing(name, near)}
    others = {f.__code__ for f in near if id(f) not in computing}
    own = {f.__code__: computing[id(f)] for f in near if id(f) in computing}
    return {code: name for code, name in own.items() if code not in others}


def _functions() -> list[types.FunctionType]:
    functions = [each for each in gc.get_objects() if type(each) is types.FunctionType]
    return [f for f in functions if (f.__module__ or "").startswith(_FAMILIES)]


_code_of: dict[str, list[types.FunctionType]] = {}


def _computing(
    name: str, functions: Iterable[types.FunctionType]
) -> Iterator[types.FunctionType]:
    rows = [row for row in ops.OPS.values() if row.public_name == name]
    # Its class is called like it; a slope that is an operation itself, as NllSlope.
    title = name.title().replace("_", "")
    outer = (title, title.removesuffix("Loss") + "Slope")
    references = [row.reference for row in rows]
    words = (name, f"reference_{name}", *_OTHER_NAMES.get(name, ()))
    for function in functions:
        of_class = function.__qualname__.partition(".")[0] in outer
        own = any(
            function.__name__ == word or function.__name__.startswith(word + "_")
            for word in words
        ) or (of_class and function.__module__.startswith("minigrad.ops"))
        if own or any(function is each for each in references):
            yield function


def take_away(names: Iterable[str]) -> None:
    """Nothing computes these operations any more, under whatever name it is found.

    Their functions stay where they are, and say why there is nothing in them: no table,
    no subclass, no second name for them leads to what they did.
    """
    for name in names:
        says = (
            f"{name} does the work that this exercise asks for, so the engine's own was"
            " taken away while it is graded: write it with the operations that it's"
            " made of"
        )
        made: dict[str, Callable[..., Any]] = {}
        # Its text stands in its code, as what it replaces may have other variables.
        text = f"def refuse(*arguments, **options):\n    raise RuntimeError({says!r})\n"
        exec(text, made)
        refuser = made["refuse"]
        assert isinstance(refuser, types.FunctionType)
        for function in _code_of[name]:
            free = function.__code__.co_freevars
            function.__code__ = refuser.__code__.replace(co_freevars=free)
            function.__defaults__ = function.__kwdefaults__ = None


def of(exercise_id: str) -> tuple[str, ...]:
    """The operations that are not there while this exercise is graded."""
    return _BLANKS.get(exercise_id, ())


_BLANKS: dict[str, tuple[str, ...]] = {
    "03.5": ("relu",),
    "04.2": ("linear",),
    "14.3": ("cross_entropy", "nll_loss"),
    "16.2": ("linear", "relu", "embedding", "cross_entropy", "nll_loss"),
    "gym.CrossEntropy": ("cross_entropy", "nll_loss"),
    "gym.Dropout": ("dropout",),
    "gym.Embedding": ("embedding",),
    "gym.LayerNorm": ("layer_norm", "batch_norm"),
    "gym.Linear": ("linear",),
    "gym.LogSoftmax": ("log_softmax", "cross_entropy"),
    "gym.ReLU": ("relu",),
    "gym.Sigmoid": ("sigmoid",),
    "gym.Softmax": ("softmax", "scaled_dot_product_attention"),
}
"""Where the engine has the whole rule. What an answer is built from stays: x * y."""
