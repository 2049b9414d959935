"""Whether a learner's rule can run once more without anybody noticing."""

from __future__ import annotations

import builtins
import dis
import inspect
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.function import Function
from minigrad.tracing.marks import ATOMS
from minigrad.tracing.sources import is_installed, is_ours

WRITES: Final = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"}
READS: Final = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"}
ASKS: Final = {"input", "open", "exec", "eval", "setattr", "delattr", "globals", "next"}
UNCHANGED: Final = (BuiltinFunctionType, np.ufunc, np.dtype)


def what_it_touches(kind: Any) -> str:
    """The first name outside of a rule that running it again might change; else empty.

    ``kind`` is the class of a node. What a rule prints is caught by whoever runs it.
    """
    function = getattr(kind, "_forward_cls", None)
    if function is None or issubclass(function, Builtin):
        return ""
    rules = [getattr(function, name, None) for name in ("backward", "vjp")]
    found = [
        touched(inspect.unwrap(rule), {function})
        for rule in rules
        if rule is not None and rule not in (Function.backward, Function.vjp)
    ]
    return next(filter(None, found), "")


def touched(function: Any, seen: set[Any]) -> str:
    """The same of one function, and of those that it calls by name."""
    if not isinstance(function, FunctionType):
        return getattr(function, "__name__", type(function).__name__)
    if function in seen or not is_theirs(function.__code__):
        return ""
    seen.add(function)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names = {**vars(builtins), **function.__globals__}
    names |= {name: cell.cell_contents for name, cell in cells if holds(cell)}
    return touched_by(function.__code__, names, seen)


def touched_by(code: CodeType, names: dict[str, Any], seen: set[Any]) -> str:
    """The same of some code, in which ``names`` mean something."""
    stores = ""
    classes: list[str] = []
    for step in dis.get_instructions(code):
        name = str(step.argval)
        if step.opname in WRITES and name not in code.co_cellvars:
            return name
        if step.opname == "STORE_ATTR":
            stores = name
        if step.opname in READS and name in names:
            value = names[name]
            if isinstance(value, type) and is_defined_by_learner(value):
                classes.append(name)
                stores = stores or mutable_in(value)
            found = name if name in ASKS else touched_value(name, value, seen)
            if found:
                return found
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    found_inside = [touched_by(one, names, seen) for one in inner]
    by_class = classes[0] if stores and classes else ""
    return next(filter(None, [by_class, *found_inside]), "")


def touched_value(name: str, value: Any, seen: set[Any]) -> str:
    """``name`` if what it stands for may be changed by who has it."""
    if isinstance(value, FunctionType):
        return touched(value, seen)
    if isinstance(value, type):
        return ""
    if isinstance(value, ModuleType):
        path = getattr(value, "__file__", None) or ""
        own = path and not (is_ours(path) or is_installed(path))
        return name if own or value.__name__ == "__main__" else ""
    fixed = isinstance(value, UNCHANGED) or type(value) in ATOMS
    if type(value) is tuple:
        fixed = all([not touched_value(name, item, seen) for item in value])
    return "" if fixed else name


def is_theirs(code: CodeType) -> bool:
    """Whether a program's own code is meant, and no library's."""
    return not (is_ours(code.co_filename) or is_installed(code.co_filename))


def is_defined_by_learner(value: type) -> bool:
    """Whether a class belongs to the program that was recorded."""
    codes = [one.__code__ for one in vars(value).values() if hasattr(one, "__code__")]
    return not codes or any([is_theirs(code) for code in codes])


def mutable_in(value: type) -> str:
    """An attribute of a class that all calls share and may change."""
    for name, held in vars(value).items():
        rule = isinstance(held, (FunctionType, staticmethod, classmethod, property))
        made = name.startswith("_") or isinstance(held, type)
        if not (rule or made or type(held) in ATOMS):
            return name
    return ""


def holds(cell: Any) -> bool:
    """Whether a variable of an outer function has a value."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
