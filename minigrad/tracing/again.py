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
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, NoReturn

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.node import AccumulateGrad
from minigrad.engine.core.tensor import Tensor
from minigrad.nn.parameter import Parameter
from minigrad.tracing.edits import Edit, Moment, Place
from minigrad.tracing.foreign import version_of
from minigrad.tracing.hearing import Hearing
from minigrad.tracing.program import Program
from minigrad.tracing.recorder import Recorder
from minigrad.tracing.story import joins_story
from minigrad.tracing.trace import Trace

Json = dict[str, Any]

ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
KEY: Final = re.compile(r'"(?:v|tan)": "([^"]+)"')
UNTIMELY: Final = ("ask", "mem.gone", "what.if")
"""What is told at no certain time: of memory, by the teacher; and of edits."""
TOLD: Final = ("k", "say", "n", "e", "slot", "cid", "g", "total", "new")
"""What an event tells of the engine; its ctx may have been told by an untimely one."""
PLAIN: Final = (Tensor, Parameter)
OUTSIDE: Final = frozenset(
    {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.system", "os.truncate"}
    | {"socket.connect", "subprocess.Popen"}
)
"""Audit events of what would be done twice."""
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
UNSEEN: Final = ("__pycache__", os.devnull)

_here = threading.local()


class WhatIfError(errors.MinigradError, RuntimeError):
    """A recording whose program cannot be run again as it was."""


class ReachedOutsideError(BaseException):
    """The program is about to change something of which it has no copy.

    Not an Exception, for the program might catch that and go on.
    """


class Again(Recorder):
    """Records a program that runs again, on copies of all that it started from.

    It hears the engine before the story does, and makes the edits of the program.
    """

    observes = observe.EVERYTHING

    def __init__(self, trace: Trace, program: Program) -> None:
        super().__init__(trace, **(program.options or {}))
        self.names: list[Json] = []
        self.start: list[Tensor] = []
        self.order: dict[int, int] = {}
        """The number of each event in the order of telling, by its id."""
        self.births: dict[tuple[str, int], Hashable] = {}
        """Where each tensor that a call was given, by its key and its version, got its
        numbers: as one of the leaves, by their order, or just before."""
        self.failure: Exception | None = None
        self.to_come: dict[Hashable, list[Edit]] = {}
        for when, edit in program.edits:
            self.to_come.setdefault(when, []).append(edit)
        self._program = program
        self._reached = ""
        self._born: dict[int, tuple[weakref.ref[Any], Hashable]] = {}
        self._count = self._leaves = 0
        self._returning: dict[int, list[Edit]] = {}
        """What is to be done when a node has run, by its id."""

    def run(self) -> Again:
        """Run the program; ``trace`` is filled.

        Raises: WhatIfError if it reaches for what is the learner's own.
        """
        if observe.has(Hearing):
            raise cannot_run(
                "a recording is under way", "ask after its `with` block has ended"
            )
        if self._program.theirs is None:
            # Their real types: whatever else lives here may not like to be asked its
            # class.
            found = [one for one in gc.get_objects() if issubclass(type(one), Tensor)]
            self._program.theirs = {id(one): weakref.ref(one) for one in found}
            del found
        with contextlib.suppress(ReachedOutsideError), refused_outside(self._refuse):
            self._program.run(self)
        if self._reached:
            raise cannot_run(
                f"it {self._reached}, and would do that once more",
                "record only what computes: do the rest before, and let it reach its "
                "tensors by variables of its own cell or file",
            )
        return self

    def __enter__(self) -> Again:
        super().__enter__()
        for names in self.names:
            self._log.names.add(names)
        self._log.told = self._told
        self._now = Moment(self._log)
        for tensor in self.start:
            self.leaf_created(tensor)
        self._hearing.hears_first(self)
        observe.add(self._hearing)
        return self

    def _refuse(self, does: str) -> NoReturn:
        """Stop the program before it does what it must not."""
        self._reached = self._reached or does
        raise ReachedOutsideError

    def _refuse_theirs(self, tensor: Tensor, how: str) -> None:
        """Stop before a tensor of the learner's own is used."""
        known = (self._program.theirs or {}).get(id(tensor))
        if known is not None and known() is tensor:
            self._refuse(f"changes a tensor of yours that has no copy ({how})")

    def _told(self, event: Json) -> None:
        if event["k"] not in UNTIMELY:
            self._count += 1
            self.order[id(event)] = self._count
            self._now.event = event
            self._come_to((self._count, event["k"], event.get("n")))

    def _come_to(self, when: Hashable) -> None:
        for edit in self.to_come.pop(when, ()):
            if edit.place.edge:
                self._returning.setdefault(id(self._now.node), []).append(edit)
            else:
                self._attempt(edit)

    def _attempt(self, edit: Edit) -> None:
        try:
            edit.make(self._now)
        except Exception as error:  # the program might catch it, and go on
            self.failure = error

    def leaf_created(self, tensor: Tensor) -> None:
        self._leaves += 1
        self._now.tensor = tensor
        self._come_to(self._leaves)
        self._born[id(tensor.array)] = weakref.ref(tensor.array), self._leaves

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        tensors = [one for one in inputs if isinstance(one, Tensor)]
        for one in tensors:
            self._refuse_theirs(one, f"{ctx.operation_name()} is given one")
        plain = all([type(one) in PLAIN for one in tensors])
        for one in tensors if plain and joins_story(ctx, function) else ():
            use = self._log.calls.key_of(one), version_of(one)
            if use in self.births:
                continue
            array, born = self._born.get(id(one.array), (None, None))
            is_as_born = use[1] == 0 and array is not None and array() is one.array
            self.births[use] = born if is_as_born else use
            self._now.tensor = one
            self._come_to(use)

    def backward_started(self, task: Any) -> None:
        self._now.task = task

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if isinstance(node, AccumulateGrad):
            self._refuse_theirs(node.variable, "backward has come to one")
        self._now.node, self._now.gradients = node, gradients

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        for edit in self._returning.pop(id(node), ()):
            self._story.say_returned(node, gradients)
            self._now.node, self._now.gradients = node, gradients
            self._attempt(edit)

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        self._now.tensor = leaf


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
    if event in OUTSIDE:
        refuse(f"calls {event}")
    if event == "open" and args[2] & WRITES:
        path = str(args[0])
        if not any([one in path for one in UNSEEN]):
            refuse(f"writes to {path}")


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


def proved(trace: Trace) -> Program:
    """The program of ``trace``, once it has run again as it was, and told the same.

    Raises: WhatIfError if it cannot run again, or tells something else.
    """
    program, refusal = trace.program, why_not(trace)
    if program is None or refusal[0]:
        raise cannot_run(*refusal)
    if program.proof is None:
        control = Trace()
        again = Again(control, program).run()
        step = first_difference(trace, control)
        if step is not None:
            said = [[f"“{e['say']}”" for e in timely(one)] for one in (trace, control)]
            was, now = [(one[step - 1 :] or ["not there"])[0] for one in said]
            raise cannot_run(
                f"it doesn't do the same twice. Step {step} was {was}; now it is {now}",
                "let it read nothing that changes between two runs: give each random "
                "generator of your own a seed, and read no clock",
            )
        order = [again.order.get(id(event), 0) for event in timely(control)]
        program.proof = order, again.births
    return program


def run_with(trace: Trace, edits: list[Edit], new: Trace) -> None:
    """Fill ``new`` with the program of ``trace``, run again with ``edits``.

    Raises: WhatIfError if the program cannot do the same until there.
    """
    program = proved(trace)
    planned = [(when(trace, edit.place, *program.proof), edit) for edit in edits]
    changed = replace(program, edits=(*program.edits, *planned), proof=None)
    again = Again(new, changed).run()
    if again.failure is not None:
        raise cannot_run(f"{again.failure}", "take another step") from None
    for edit in itertools.chain(*again.to_come.values()):
        raise cannot_run(
            f"it doesn't come any more to the step at which {edit.place} is edited",
            "undo that edit first, or take another step",
        )
    new.program = changed


def when(
    trace: Trace, place: Place, order: list[int], births: Mapping[Any, Hashable]
) -> Hashable:
    """What an edit waits for: the birth of a tensor, or what is told at its step."""
    if place.kind == "leaf":
        return births[place.key]
    before = list(filter(is_timely, trace.data["events"][: place.position]))
    number = order[len(before) - 1] if before else 0
    if not number:
        raise cannot_run("nothing has happened at this step", "take a later one")
    return number, before[-1]["k"], before[-1].get("n")


def is_timely(event: Json) -> bool:
    """Whether a step is told at a certain time."""
    return event["k"] not in UNTIMELY


def timely(trace: Trace) -> list[Json]:
    """The steps that are."""
    return list(filter(is_timely, trace.data["events"]))


def first_difference(first: Trace, second: Trace) -> int | None:
    """The first timely step, counted from 1, at which two recordings differ."""
    told_by = [[told(e, t.data["values"]) for e in timely(t)] for t in (first, second)]
    pairs = itertools.zip_longest(*told_by)
    differ = (place for place, (one, other) in enumerate(pairs, 1) if one != other)
    return next(differ, None)


def told(event: Json, values: Json) -> str:
    """What an event tells, without where in memory anything lay."""
    shown: Json = {key: event[key] for key in TOLD if key in event}
    for key in ("ins", "outs"):  # their names may come later
        shown[key] = [one.get("v") for one in event.get(key, ())]
    text = json.dumps(shown, sort_keys=True, default=str)
    # The key of a large array is made of where it lies, too.
    text = KEY.sub(lambda found: str(values.get(found[1], found[1])), text)
    return ADDRESS.sub("0x", text)
