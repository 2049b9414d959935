"""Recording a program once more, with edits at some of its steps."""

from __future__ import annotations

import builtins
import contextlib
import gc
import itertools
import json
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, NoReturn

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing.editing import (
    UNTIMELY,
    Birth,
    Editor,
    ReachedOutsideError,
    StepEdit,
)
from minigrad.tracing.hearing import Hearing
from minigrad.tracing.program import Program
from minigrad.tracing.recorder import Recorder
from minigrad.tracing.trace import Trace

Json = dict[str, Any]

ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
TOLD: Final = ("k", "say", "n", "e", "slot", "cid", "g", "total", "new")
"""What an event tells of the engine; its ctx may have been told by an untimely one."""
DOES: Final = {
    "os.mkdir": "makes a folder",
    "os.remove": "removes a file",
    "os.rename": "renames a file",
    "os.rmdir": "removes a folder",
    "os.system": "runs a command",
    "os.truncate": "writes to a file",
    "socket.connect": "opens a connection",
    "subprocess.Popen": "starts another program",
}
"""By the audit event."""
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
UNSEEN: Final = ("__pycache__", os.devnull)


_here = threading.local()


class WhatIfError(errors.MinigradError, RuntimeError):
    """A recording whose program cannot be run again as it was."""


class Again(Recorder):
    """Records a program that runs again, on copies of all that it started from."""

    def __init__(self, trace: Trace, program: Program) -> None:
        super().__init__(trace, **(program.options or {}))
        self.editor = Editor({}, {})
        self.names: list[dict[str, Any]] = []
        self.start: list[Tensor] = []
        self._program = program

    def run(self) -> None:
        """Run the program; ``trace`` is filled.

        Raises: WhatIfError if it reaches for what is the learner's own.
        """
        if observe.has(Hearing):
            raise cannot_run(
                "a recording is under way", "ask after its `with` block has ended"
            )
        theirs = self._program.theirs
        if theirs is None:
            # Their real types: whatever else lives here may not like to be asked its
            # class.
            found = [one for one in gc.get_objects() if issubclass(type(one), Tensor)]
            theirs = self._program.theirs = {id(one): weakref.ref(one) for one in found}
            del found
        self.editor = Editor(self._program.edits, theirs)
        refused = refused_outside(self.editor.refuse)
        with contextlib.suppress(ReachedOutsideError), refused:
            self._program.run(self)
        if self.editor.reached:
            raise cannot_run(
                f"it {self.editor.reached}, and would do that once more",
                "record only what computes: do the rest before, and let it reach its "
                "tensors by variables of its own cell or file",
            )

    def __enter__(self) -> Again:
        super().__enter__()
        for names in self.names:
            self._log.names.add(names)
        self.editor.listen(self._story, self.start)
        self._hearing.hears_first(self.editor)
        observe.add(self._hearing)
        return self


@contextlib.contextmanager
def refused_outside(refuse: Callable[[str], NoReturn]) -> Iterator[None]:
    """Let ``refuse`` raise in the block before this thread does any of it."""
    _listen()
    asks = builtins.input
    builtins.input = lambda *_: refuse("asks for input()")
    _here.refuse = refuse
    try:
        yield
    finally:
        _here.refuse = None
        builtins.input = asks


@cache
def _listen() -> None:
    sys.addaudithook(_heard)  # for good: Python cannot take one back


def _heard(event: str, args: tuple[Any, ...]) -> None:
    refuse = getattr(_here, "refuse", None)
    if refuse is None:
        return
    does = DOES.get(event)
    if event == "open" and args[2] & WRITES:
        path = str(args[0])
        does = "" if any([one in path for one in UNSEEN]) else f"writes to {path}"
    if does:
        refuse(does)


@dataclass(frozen=True)
class Proof:
    """That a program does the same twice: when each step is told, and what it tells.

    ``order`` has for each step, in its place, its number in the order of telling.
    """

    order: list[int]
    tellings: list[str]
    births: Mapping[tuple[str, int], Birth]


def proved(trace: Trace) -> Proof:
    """Run the program of ``trace`` again as it was; it must tell the same.

    Raises: WhatIfError if it cannot run again, or tells something else.
    """
    program = runnable(trace)
    proof: Proof | None = program.proof
    if proof is None:
        control = Trace()
        editor = run_again(control, program)
        step = first_difference(trace, control)
        if step is not None:
            raise not_the_same_twice(step, saying(trace, step), saying(control, step))
        numbers = [editor.order.get(id(event), 0) for event in timely(control)]
        program.proof = proof = Proof(
            numbers, in_order(control, numbers), editor.births
        )
    return proof


def run_with(trace: Trace, edit: StepEdit, new: Trace) -> None:
    """Fill ``new`` with the program of ``trace``, run again with ``edit``.

    It begins after a step; or where the tensor of a key gets the numbers that it has
    at a version. Raises: WhatIfError if the program cannot do the same until there.
    """
    proof, when = proved(trace), edit.when
    program = runnable(trace)
    number: int | Birth
    if isinstance(when, tuple):
        number = proof.births[when]
    else:
        before = [e for e in trace.data["events"][:when] if e["k"] not in UNTIMELY]
        number = proof.order[len(before) - 1] if before else 0
    if number == 0:
        raise cannot_run("nothing has happened at this step", "take a later one")
    edits = {**program.edits, number: (*program.edits.get(number, ()), edit)}
    changed = replace(program, edits=edits, proof=None)
    editor = run_again(new, changed)
    until = editor.made.get(id(edit), 0)
    numbers = [editor.order.get(id(event), 0) for event in timely(new)]
    now = in_order(new, [number * (number <= until) for number in numbers])
    for place in range(until):
        if proof.tellings[place : place + 1] != now[place : place + 1]:
            raise not_the_same_twice(place + 1, saying(trace, place + 1), "another")
    if editor.failure is not None:
        raise cannot_run(f"{editor.failure}", "take another step") from None
    new.program = changed


def run_again(trace: Trace, program: Program) -> Editor:
    """Fill ``trace`` with ``program``, run again with its edits."""
    again = Again(trace, program)
    again.run()
    return again.editor


def runnable(trace: Trace) -> Program:
    """The program of a recording.

    Raises: WhatIfError if it was not kept, or cannot run again.
    """
    refusal = why_not(trace)
    if refusal is not None:
        raise cannot_run(*refusal)
    assert trace.program is not None
    return trace.program


def why_not(trace: Trace) -> tuple[str, str] | None:
    """Why the program of a recording can't run again, and what to do."""
    program = trace.program
    if program is None:
        return (
            "this recording doesn't have what its program starts from",
            "record the program again, with minigrad.record(keep_values=True), "
            "%%step --as trace or step(function, x, keep_values=True)",
        )
    if program.why_not:
        return (
            program.why_not,
            "put all that the program uses up inside the block, or record a call of a "
            "function: step(function, x, keep_values=True)",
        )
    if "torch" in trace.data["meta"].get("engines", ()):
        return (
            "torch ran, and doesn't let anyone change what it's about to use",
            "record the program with import minigrad as torch",
        )
    return None


def not_the_same_twice(step: int, was: str, now: str) -> WhatIfError:
    """The error for a program that reads what the recording does not know."""
    return WhatIfError(
        errors.message(
            "what_if",
            f"the program doesn't do the same twice. Step {step} was {was}; run again "
            f"it is {now}",
            "let it read nothing that changes between two runs: give each random "
            "generator of your own a seed, and read no clock",
        )
    )


def cannot_run(why: str, fix: str) -> WhatIfError:
    """The error for a program that cannot be run again."""
    return WhatIfError(errors.message("what_if", f"can't run it again: {why}", fix))


def timely(trace: Trace) -> list[Json]:
    """The steps that are told at a certain time."""
    return [event for event in trace.data["events"] if event["k"] not in UNTIMELY]


def tellings(trace: Trace) -> list[str]:
    """What the timely steps tell."""
    return [told(event, trace.data["values"]) for event in timely(trace)]


def in_order(trace: Trace, numbers: list[int]) -> list[str]:
    """The same of those that have a number, in the order in which it was told."""
    values = trace.data["values"]
    by_number = {n: e for n, e in zip(numbers, timely(trace), strict=True) if n}
    return [told(by_number[number], values) for number in sorted(by_number)]


def first_difference(first: Trace, second: Trace) -> int | None:
    """The first timely step, counted from 1, at which two recordings differ."""
    pairs = itertools.zip_longest(tellings(first), tellings(second))
    differ = (place for place, (one, other) in enumerate(pairs, 1) if one != other)
    return next(differ, None)


def saying(trace: Trace, step: int) -> str:
    """The sentence of a timely step."""
    events = timely(trace)
    return f"“{events[step - 1]['say']}”" if step <= len(events) else "not there"


def told(event: Json, values: Json) -> str:
    """What an event tells, without where in memory anything lay."""
    shown: Json = {key: known(event[key], values) for key in TOLD if key in event}
    for key in ("ins", "outs"):  # their names may come later
        shown[key] = [known(one.get("v"), values) for one in event.get(key, ())]
    return ADDRESS.sub("0x", json.dumps(shown, sort_keys=True, default=str))


def known(item: Any, values: Json) -> Any:
    """A part of an event, with what is known of an array in the place of its key.

    The key of a large array is made of where it lies, too.
    """
    if isinstance(item, list):
        return [known(one, values) for one in item]
    if not isinstance(item, dict):
        return item
    return {
        key: values.get(one, one) if key in ("v", "tan") else known(one, values)
        for key, one in item.items()
    }
