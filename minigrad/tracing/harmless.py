"""Whether a learner's rule can run once more without anybody noticing."""

from __future__ import annotations

import builtins
import dis
import inspect
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.function import Function
from minigrad.tracing.codes import is_installed, is_ours
from minigrad.tracing.messages import message
from minigrad.tracing.values import ATOMS

WRITES: Final = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"}
READS: Final = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"}
JUMPS: Final = {*dis.hasjrel, *dis.hasjabs}
ASKS: Final = {"input", "open", "exec", "eval", "setattr", "delattr", "globals", "next"}
WHILE: Final = "while"
UNCHANGED: Final = (BuiltinFunctionType, np.ufunc, np.dtype)


def harm_of(kind: Any) -> str:
    """Why a rule should not be run again unasked; empty if nobody would notice.

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
    name = next(filter(None, found), "")
    if name == WHILE:
        return message("terms.while")
    return message("terms.uses", name=name) if name else ""


def touched(function: Any, seen: set[Any]) -> str:
    """The first name outside of a function that it, or one it calls, might change."""
    if not isinstance(function, FunctionType):
        return getattr(function, "__name__", type(function).__name__)
    if function in seen or not is_learners(function.__code__.co_filename):
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
    if has_while_loop(code):
        return WHILE
    for step in dis.get_instructions(code):
        name = str(step.argval)
        if step.opname in WRITES and name not in code.co_cellvars:
            return name
        if step.opname == "STORE_ATTR":
            stores = name
        if step.opname in READS and name in names:
            value = names[name]
            is_class = isinstance(value, type)
            if is_class and is_learners_module(sys.modules.get(value.__module__)):
                classes.append(name)
                stores = stores or mutable_in(value)
            found = name if name in ASKS else touched_value(name, value, seen)
            if found:
                return found
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    found_inside = [touched_by(one, names, seen) for one in inner]
    by_class = classes[0] if stores and classes else ""
    return next(filter(None, [by_class, *found_inside]), "")


def has_while_loop(code: CodeType) -> bool:
    """Whether a jump leads back to anything but the head of a ``for``."""
    steps = list(dis.get_instructions(code))
    heads = {step.offset for step in steps if step.opname == "FOR_ITER"}
    jumps = [step for step in steps if step.opcode in JUMPS]
    back = {step.argval for step in jumps if step.argval <= step.offset}
    return not back <= heads


def touched_value(name: str, value: Any, seen: set[Any]) -> str:
    """``name`` if what it stands for may be changed by who has it."""
    if isinstance(value, FunctionType):
        return touched(value, seen)
    if isinstance(value, type):
        return ""
    if isinstance(value, ModuleType):
        return name if is_learners_module(value) else ""
    fixed = isinstance(value, UNCHANGED) or type(value) in ATOMS
    if type(value) is tuple:
        fixed = all([not touched_value(name, item, seen) for item in value])
    return "" if fixed else name


def is_learners(path: str) -> bool:
    """Whether a file is a program's own, and no library's."""
    return not (is_ours(path) or is_installed(path))


def is_learners_module(module: ModuleType | None) -> bool:
    """Whether a module is the program's own, and no library."""
    if module is None or module.__name__ == "__main__":
        return True
    path = getattr(module, "__file__", None)
    return path is not None and is_learners(path)


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
