"""What a recording ran: its code, with a copy of all that it started from.

And the modes that were switched on around it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import inspect
import io
import linecache
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, NoReturn

import numpy as np

from minigrad import errors, lint
from minigrad.engine import anomaly, dtypes, randomness
from minigrad.engine.grad_mode import running_task, this_mode
from minigrad.engine.interpreters import current_kind
from minigrad.tracing.codes import is_ours
from minigrad.tracing.copies import (
    CannotCopyError,
    Copier,
    Start,
    copied_anew,
    names_of,
)
from minigrad.tracing.trace import Trace

SESSION: Final = "__minigrad_again__"
"""The name of the recording in a block that runs again."""
MOST_BYTES: Final = 200_000_000
FUTURE: Final = 0x1FE0000
"""The flags of a code object that ``from __future__`` has set."""
OUTSIDE: Final = frozenset(
    {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.system", "os.truncate"}
    | {"socket.connect", "subprocess.Popen"}
)
"""Audit events of what would be done twice."""
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
UNSEEN: Final = ("__pycache__", os.devnull)

OF_A_THREAD: Final = (
    "forward_limit",
    "grad_enabled",
    "inference_enabled",
    "rules_see_tensors",
    "saved_tensors_hooks",
    "saved_tensors_hooks_refused",
)
"""The modes that each thread has of its own."""
Json = dict[str, Any]
Cell = tuple[CodeType, str]
"""Code that holds a block, and the variable in which that finds its recording."""

_here = threading.local()


class WhatIfError(errors.MinigradError, RuntimeError):
    """A recording whose program cannot be run again as it was."""


class ReachedOutsideError(BaseException):
    """The program is about to change something of which it has no copy.

    Not an Exception, for the program might catch that and go on.
    """


class Modes:
    """The modes of this thread, the settings of all, and where random numbers are."""

    def __init__(self) -> None:
        generator = randomness.default_generator
        self._attributes: list[tuple[Any, str, Any]] = [
            *[(this_mode(), name, getattr(this_mode(), name)) for name in OF_A_THREAD],
            (dtypes, "_default_dtype", dtypes.default_dtype()),
            (generator, "_seed", generator._seed),
            (generator, "_numbers", copy.deepcopy(generator._numbers)),
        ]
        found = anomaly.is_anomaly_enabled(), anomaly.is_anomaly_check_nan_enabled()
        self._setters: list[tuple[Callable[..., Any], Any]] = [
            (lambda modes: anomaly.set_anomaly_enabled(*modes), found),
            (lint.switch, lint.is_teaching()),
            (random.setstate, random.getstate()),
            (np.random.set_state, np.random.get_state()),
            (lambda settings: np.seterr(**settings), np.geterr()),
        ]

    def put(self) -> None:
        """Make everything as it was when this was made."""
        for owner, name, value in self._attributes:
            # A generator moves on: this one may be asked for again.
            setattr(owner, name, copy.deepcopy(value) if name == "_numbers" else value)
        for setter, state in self._setters:
            setter(state)

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """These modes inside the block, and those of now after it."""
        now = Modes()
        try:
            self.put()
            yield
        finally:
            now.put()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed in the block, and nothing warned of."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


@dataclass
class Program:
    """A program that can run again from where it started; ``why_not`` if it cannot.

    ``code`` finds the recording in the variable ``session``; without it the program is
    a call. ``edits`` are made on the way; ``proof`` is how they find their moments.
    """

    code: CodeType | None = None
    session: str = SESSION
    start: Start | None = None
    modes: Modes | None = None
    options: Json | None = None
    why_not: str = ""
    edits: tuple[Any, ...] = ()
    proof: Any = None
    theirs: dict[int, Any] | None = None

    def run(self, session: Any) -> None:
        """Run on a fresh copy of the start; what it prints and raises is kept quiet.

        ``session`` can refuse what the program is about to do outside: it ends there.
        """
        assert self.start is not None
        assert self.modes is not None
        made = None
        with contextlib.suppress(ReachedOutsideError), refused_outside(session.refuse):
            home, made, session.start = copied_anew(self.start)
        if made is None:
            return  # what makes a copy would have reached outside
        values, known, hooks, call, variables = made
        session.names = [*known, home]
        home |= values
        del made, values  # they keep alive what nobody else refers to
        ends = contextlib.suppress(Exception, ReachedOutsideError)
        with ends, refused_outside(session.refuse), self.modes.in_force(), quiet():
            this_mode().saved_tensors_hooks = hooks
            home[self.session] = session
            if self.code is None:
                function, args, kwargs = call
                with session:
                    function(*args, **kwargs)
            elif self.code.co_flags & inspect.CO_OPTIMIZED:
                FunctionType(self.code, home)(**variables)
            else:
                exec(self.code, home)


@contextlib.contextmanager
def refused_outside(refuse: Callable[[str], NoReturn]) -> Iterator[None]:
    """Let ``refuse`` raise in the block before this thread does any of it."""
    listen_outside()
    asks, builtins.input = builtins.input, lambda *_: refuse("asks for input()")
    _here.refuse = refuse
    try:
        yield
    finally:
        _here.refuse, builtins.input = None, asks


@cache
def listen_outside() -> None:
    """Hear what programs do outside: for good, as Python can't take that back."""

    def heard(event: str, args: tuple[Any, ...]) -> None:
        refuse = getattr(_here, "refuse", None)
        if refuse is None:
            return
        if event in OUTSIDE:
            refuse(f"calls {event}")
        is_seen = event == "open" and not any([one in str(args[0]) for one in UNSEEN])
        if is_seen and args[2] & WRITES:
            refuse(f"writes to {args[0]}")

    sys.addaudithook(heard)


def remember(*about: Any) -> Program:
    """The program that is about to be recorded, of which program_of is told."""
    try:
        return program_of(*about)
    except CannotCopyError as error:
        return Program(why_not=str(error))
    except Exception as error:  # a recording must not fail for what may never be asked
        why = f"the program can't be copied ({type(error).__name__}: {error})"
        return Program(why_not=why)


def program_of(
    driver: FrameType | None, call: Any, cell: Cell | None, most: int, options: Json
) -> Program:
    """The program with a copy of its start; it is a call, a cell, or what stands there.

    Raises: CannotCopyError.
    """
    if current_kind() or running_task() is not None:
        raise CannotCopyError(
            "the program began inside a function transform or a backward"
        )
    code, session = cell or (None, SESSION)
    if call is not None:
        home = home_of(call[0], driver)
    elif driver is None:
        raise CannotCopyError("no program of yours is around the recording")
    else:
        home, code = driver.f_globals, code or block_of(driver)
    here: Json = {} if driver is None else driver.f_locals
    around: Json = {} if driver is None else driver.f_globals
    uses = () if code is None else code.co_varnames[: code.co_argcount]
    variables = {name: here[name] for name in uses}
    hooks = this_mode().saved_tensors_hooks
    copier = Copier(home, most)
    copier.asked |= {} if code is None else names_of(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copier.take({"the call": call, "hooks": hooks, **variables})
    met, asked = copier.met, copier.asked
    values = {n: one for n, one in home.items() if n in asked or id(one) in met}
    known = [
        {n: one for n, one in space.items() if id(one) in met and n not in variables}
        for space in (here, around)
        if space is not home
    ]
    start = copier.started(values, known, hooks, call, variables)
    return Program(code, session, start, Modes(), options)


def why_not(trace: Trace) -> tuple[str, str]:
    """Why the program of a recording can't run again, and what to do; else nothing."""
    if trace.program is None:
        return (
            "this recording doesn't have what its program starts from",
            "record the program again, with minigrad.record(keep_values=True), "
            "%%step --as trace or step(function, x, keep_values=True)",
        )
    if trace.program.why_not:
        return (
            trace.program.why_not,
            "put all that the program uses up inside the block, or record a call of a "
            "function: step(function, x, keep_values=True)",
        )
    if "torch" in trace.data["meta"].get("engines", ()):
        return (
            "torch ran, and doesn't let anyone change what it's about to use",
            "record the program with import minigrad as torch",
        )
    return "", ""


def cannot_run(why: str, fix: str) -> WhatIfError:
    """The error for a program that cannot be run again."""
    return WhatIfError(errors.message("what_if", f"can't run it again: {why}", fix))


def home_of(function: Callable[..., Any], driver: FrameType | None) -> Json:
    """The variables that a function of the learner's looks up."""
    plain = getattr(function, "__func__", function)
    owner = getattr(function, "__self__", None)
    rules = [getattr(owner, name, None) for name in ("forward", "backward")]
    for one in (*rules, inspect.unwrap(plain)):
        if isinstance(one, FunctionType) and not is_ours(one.__code__.co_filename):
            return one.__globals__
    return {} if driver is None else driver.f_globals


def block_of(driver: FrameType) -> CodeType:
    """The block that ``driver`` is about to enter, with the variables that it uses.

    Raises: CannotCopyError if its text is not to be had, or means nothing alone.
    """
    code, inside = driver.f_code, with_statement(driver)
    is_function = code.co_flags & inspect.CO_OPTIMIZED
    if not is_function and driver.f_locals is not driver.f_globals:
        raise CannotCopyError("the program stands in the body of a class")
    alone: list[ast.stmt] = [inside]
    if is_function:
        used = {node.id for node in ast.walk(inside) if isinstance(node, ast.Name)}
        name = "around" if code.co_name.startswith("<") else code.co_name
        parameters = ", ".join([name for name in driver.f_locals if name in used])
        alone = ast.parse(f"def {name}({parameters}): pass").body
        ast.copy_location(alone[0], inside).body = [inside]  # type: ignore[attr-defined]
        alone[0].lineno, alone[0].col_offset = code.co_firstlineno, 0
    tree = ast.fix_missing_locations(ast.Module(alone, []))
    flags = code.co_flags & FUTURE
    try:
        made: CodeType = compile(
            tree, code.co_filename, "exec", flags, dont_inherit=True
        )
    except SyntaxError as error:
        raise CannotCopyError(f"the program cannot stand alone: {error.msg}") from None
    if alone != [inside]:
        (made,) = [one for one in made.co_consts if isinstance(one, CodeType)]
        made = made.replace(co_qualname=code.co_qualname)
    if made.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        raise CannotCopyError("the program yields or awaits")
    return made


def with_statement(driver: FrameType) -> ast.With:
    """The statement that ``driver`` runs, with SESSION in the place of its recording.

    Managers that were entered before stay outside: what ran last is ours. Raises:
    CannotCopyError if it is not to be found.
    """
    lines = linecache.getlines(driver.f_code.co_filename, driver.f_globals)
    ran = list(driver.f_code.co_positions())[: driver.f_lasti // 2 + 1]
    turns = {place: turn for turn, place in enumerate(ran)}
    found: dict[int, tuple[ast.With, ast.withitem]] = {}
    for node in ast.walk(ast.parse("".join(lines))):
        if not isinstance(node, ast.With):
            continue
        for item in node.items:
            at = item.context_expr
            place = at.lineno, at.end_lineno, at.col_offset, at.end_col_offset
            here = node.lineno <= driver.f_lineno <= (at.end_lineno or 0)
            if here and place in turns:
                found[turns[place]] = node, item
    if not found:
        raise CannotCopyError("the program's lines can't be found")
    node, first = found[max(found)]
    del node.items[: node.items.index(first)]
    name = ast.Name(SESSION, ast.Load())
    first.context_expr = ast.copy_location(name, first.context_expr)
    return node
