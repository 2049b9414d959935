"""Recording a program once more, with edits at some of its steps."""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import re
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn, Protocol

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.node import AccumulateGrad
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.observe import EVERYTHING
from minigrad.nn.parameter import Parameter
from minigrad.tracing.foreign import version_of
from minigrad.tracing.hearing import Hearing
from minigrad.tracing.outside import refused_outside
from minigrad.tracing.program import Program
from minigrad.tracing.recorder import Recorder
from minigrad.tracing.story import Story, joins_story
from minigrad.tracing.trace import Trace

Json = dict[str, Any]

ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
TOLD: Final = ("k", "say", "n", "e", "slot", "cid", "g", "total", "new")
"""What an event tells of the engine; its ctx may have been told by an untimely one."""
PLAIN: Final = (Tensor, Parameter)
UNTIMELY: Final = ("ask", "mem.gone", "what.if")
"""What is told at no certain time: of memory, by the teacher; and of edits."""


class WhatIfError(errors.MinigradError, RuntimeError):
    """A recording whose program cannot be run again as it was."""


class ReachedOutsideError(BaseException):
    """The program is about to change something of which it has no copy.

    Not an Exception, for the program might catch that and go on.
    """


class Edit(Protocol):
    """Something that changes what the engine is about to use."""

    def make(self, editor: Editor, event: Json) -> None:
        """Change it, right after ``event`` was told."""


Birth = tuple[str, int | str, int]
"""Where a tensor gets its first numbers: "start" and its place among those that the
program starts from, "made" and its number among those that it makes, or "used", its
key and its version in the first call that shows them.
"""
Edits = Mapping[int | Birth, tuple[Edit, ...]]
"""After which event each is made, in the order of telling; or to which tensor."""


class Editor:
    """Hears the engine while a program runs again, and makes the edits it is given.

    ``theirs`` refers to the learner's own tensors, by their ids: none may be used.
    """

    observes = EVERYTHING

    def __init__(self, edits: Edits, theirs: Mapping[int, weakref.ref[Any]]) -> None:
        self.order: dict[int, int] = {}
        """The number of each event in the order of telling, by its id."""
        self.told = 0
        self.at_work: dict[str, Any] = {}
        self.totals: dict[tuple[int, int, int], Any] = {}
        self.births: dict[tuple[str, int], Birth] = {}
        """Of each tensor that a call was given, by its key and its version."""
        self.failure: Exception | None = None
        self.made: dict[int, int] = {}
        """After which event each edit was first made, by its id."""
        self.reached = ""
        self._born: dict[int, tuple[weakref.ref[Any], Birth]] = {}
        self._leaves = 0
        self._used: set[Birth] = set()
        self._edits = edits
        self._theirs = theirs

    def listen(self, story: Story, start: list[Tensor]) -> None:
        """Hear what ``story`` tells, from now on; the program has its ``start``."""
        self.story = story
        self.log = story._log
        self.log.told = self._told
        for place, tensor in enumerate(start):
            self._is_born(tensor, ("start", place, 0))

    def leaf_created(self, tensor: Tensor) -> None:
        self._leaves += 1
        self._is_born(tensor, ("made", self._leaves, 0))

    def _is_born(self, tensor: Tensor, birth: Birth) -> None:
        self._make(birth, {"k": "leaf", "tensor": tensor})
        self._born[id(tensor.array)] = weakref.ref(tensor.array), birth

    def birth_of(self, tensor: Tensor, version: int) -> Birth:
        """Where a tensor got the numbers that it has at this version."""
        known = self._born.get(id(tensor.array))
        if version == 0 and known is not None and known[0]() is tensor.array:
            return known[1]
        return "used", self.log.calls.key_of(tensor), version

    def _is_theirs(self, tensor: Tensor) -> bool:
        known = self._theirs.get(id(tensor))
        return known is not None and known() is tensor

    def refuse(self, does: str) -> NoReturn:
        """Stop the program before it does what it must not."""
        self.reached = self.reached or does
        raise ReachedOutsideError

    def _refuse(self, how: str) -> NoReturn:
        """Stop before a tensor of the learner's own is used."""
        self.refuse(f"changes a tensor of yours that has no copy ({how})")

    def _told(self, event: Json) -> None:
        if event["k"] in UNTIMELY:
            return
        self.told += 1
        self.order[id(event)] = self.told
        self._make(self.told, event)

    def _make(self, when: int | Birth, event: Json) -> None:
        for edit in self._edits.get(when, ()):
            self.made.setdefault(id(edit), self.told)
            try:
                edit.make(self, event)
            except Exception as error:  # the program might catch it, and go on
                self.failure = error

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        tensors = [one for one in inputs if isinstance(one, Tensor)]
        for value in tensors:
            if self._is_theirs(value):
                self._refuse(f"{ctx.operation_name()} is given one")
        plain = all([type(one) in PLAIN for one in tensors])
        if plain and joins_story(ctx, function):
            for value in tensors:
                self._is_used(value)

    def _is_used(self, tensor: Tensor) -> None:
        version = version_of(tensor)
        key = self.log.calls.key_of(tensor)
        birth = self.births.setdefault((key, version), self.birth_of(tensor, version))
        if birth[0] == "used" and birth not in self._used:
            self._used.add(birth)
            self._make(birth, {"k": "leaf", "tensor": tensor})

    def backward_started(self, task: Any) -> None:
        self.totals = {k: v for k, v in self.totals.items() if k[0] != id(task)}
        for node, slot, _ in task.roots:
            self.totals[id(task), id(node), slot] = task.waiting[node][slot]
        self.at_work = {"task": task}

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if isinstance(node, AccumulateGrad):
            leaf = node.variable
            if self._is_theirs(leaf):
                self._refuse("backward has come to one")
        self.at_work = {"task": task, "node": node, "gradients": gradients}

    def gradient_sent(
        self,
        task: Any,
        node: Any,
        slot: int,
        receiver: Any,
        receiver_slot: int,
        gradient: Any,
        total: Any,
    ) -> None:
        place = id(task), id(receiver), receiver_slot
        self.at_work = {
            "task": task,
            "receiver": receiver,
            "slot": receiver_slot,
            "sent": gradient,
            "before": self.totals.get(place),
        }
        self.totals[place] = total

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        self.at_work = {"leaf": leaf}


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


def run_with(trace: Trace, edit: Edit, when: int | tuple[str, int], new: Trace) -> None:
    """Fill ``new`` with the program of ``trace``, run again with ``edit``.

    It is made after the step ``when``; or to the tensor of this key, where it gets the
    numbers that it has at this version. Raises: WhatIfError if the program cannot run
    again as it was until there.
    """
    proof = proved(trace)
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
    program = trace.program
    if program is None:
        raise cannot_run(
            "this recording did not keep what its program starts from",
            "record with minigrad.record(keep_values=True), %%step --as trace or "
            "step(function, x, keep_values=True), and ask before saving",
        )
    if program.why_not:
        raise cannot_run(
            program.why_not,
            "put all that the program uses up inside the block, or record a call of a "
            "function: step(function, x, keep_values=True)",
        )
    if "torch" in trace.data["meta"].get("engines", ()):
        raise cannot_run(
            "torch ran, whose engine lets nobody change what it is about to use",
            "record the program with import minigrad as torch",
        )
    return program


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
