"""Take the engine's rules out of a process: what it computes there has no derivative.

Then there is nothing that an answer could borrow, by whatever way it gets there.
"""

from __future__ import annotations

import gc
import inspect
import re
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from minigrad.course.check import forbidden_api
from minigrad.engine.builtin import Builtin
from minigrad.ops import _later, _registry

REFUSED = (
    "the engine was asked for a derivative, and where an answer is graded it has none: "
    "write the formula"
)

_collected: list[FunctionType] = []

asked: list[bool] = []
"""Is not empty once somebody has asked for one that is not there."""

_NOTE = f"from {__name__} import asked; asked.append(True)"


def collect() -> None:
    """Note which functions are rules; to be called once everything is imported."""
    every = [each for each in gc.get_objects() if type(each) is FunctionType]
    ours = [each for each in every if (each.__module__ or "").startswith("minigrad")]
    _collected[:] = found_among(ours)


def take_away() -> None:
    """From now on none of them is there in this process."""
    forbidden_api.empty(_collected, REFUSED, _NOTE)


def found_among(functions: Iterable[FunctionType]) -> list[FunctionType]:
    """The rules of all operations, and what works for rules alone."""
    operations = _below(Builtin)
    found: dict[FunctionType, None] = {}
    for operation in operations:
        for method in ("backward", "jvp"):
            rule = inspect.getattr_static(operation, method)
            if inspect.getattr_static(Builtin, method) is not rule:
                found |= dict.fromkeys(_functions_in(rule))
    # Slopes that are operations themselves, so that they can be differentiated again.
    slopes = {each.__name__ for each in operations if _SLOPE.search(each.__name__)}
    rest = {each for each in functions if each not in found}
    public = {*_later.CALLS, *_registry.METHODS}
    for each in filter(_is_in, set(rest)):
        owner = each.__qualname__.partition(".")[0]
        if owner in slopes or _SLOPE.search(each.__name__):
            found[each] = None
    while True:
        rest -= set(found)
        only_there = _named_by(found) - _named_by(rest) - public
        named = {each for each in rest if each.__name__ in only_there}
        alone = {each for each in named if _is_in(each) and is_by_itself(each)}
        if not alone:
            return list(found)
        found |= dict.fromkeys(alone)


def _is_in(function: FunctionType) -> bool:
    return (function.__module__ or "").startswith(("minigrad.ops.", "minigrad.kernels"))


def is_by_itself(function: FunctionType) -> bool:
    """Whether its module has it under its name, so that whoever calls it says that."""
    found = function.__globals__.get(function.__name__)
    return found is function and function.__qualname__ == function.__name__


_SLOPE = re.compile("slope|backward|tangent|jvp", re.IGNORECASE)


def _below(operation: type[Any]) -> list[type[Any]]:
    below = [each for one in operation.__subclasses__() for each in _below(one)]
    return list(dict.fromkeys([operation, *below]))


def _functions_in(rule: object) -> Iterator[FunctionType]:
    """A rule behind its decorator, and the functions that it closes over."""
    function = getattr(rule, "__func__", rule)
    if isinstance(function, FunctionType):
        yield function
        for cell in function.__closure__ or ():
            yield from _functions_in(cell.cell_contents)


def _named_by(functions: Iterable[FunctionType]) -> set[str]:
    """All names that their code asks for."""
    codes = [function.__code__ for function in functions]
    found: set[str] = set()
    while codes:
        code = codes.pop()
        found |= {*code.co_names}
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found
