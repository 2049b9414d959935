"""What can be edited in a recording, and its program run again with such edits."""

from __future__ import annotations

import copy
import functools
import gc
import itertools
import json
import re
import weakref
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from minigrad.engine import observe
from minigrad.engine.core.node import AccumulateGrad, accumulate_node, split_edge
from minigrad.engine.core.saved import Record, share_tangents
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.nn.parameter import Parameter
from minigrad.tracing.copies import exact_copy
from minigrad.tracing.foreign import version_of
from minigrad.tracing.listening import Hearing
from minigrad.tracing.log import step
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import attributes_of
from minigrad.tracing.places import Place, refused
from minigrad.tracing.program import (
    Program,
    ReachedOutsideError,
    cannot_run,
    why_not,
)
from minigrad.tracing.recorder import Recorder
from minigrad.tracing.story import joins_story
from minigrad.tracing.trace import Trace
from minigrad.tracing.values import brief

Json = dict[str, Any]
Told = TypeVar("Told", bound=Trace)

ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
KEY: Final = re.compile(r'"(?:v|tan)": "([^"]+)"')
UNTIMELY: Final = ("ask", "mem.gone", "what.if")
"""What is told at no certain time: of memory, by the teacher; and of edits."""
TOLD: Final = ("k", "say", "n", "e", "slot", "cid", "g", "total", "new")
"""What an event tells of the engine; its ctx may have been told by an untimely one."""
PLAIN: Final = (Tensor, Parameter)


@dataclass
class Edit:
    """A value that takes the place of another, while the program runs again.

    It waits for its moment, ``when``, and if it's sent along an ``edge``, until the
    node there has run. Once it's made, ``said`` is what was edited, the old value and
    the new one, and where the page shows it.
    """

    place: Place
    value: Any
    when: Hashable = None
    edge: Any = None
    said: Json | None = None


class Again(Recorder[Trace]):
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
        for edit in program.edits:
            self.to_come.setdefault(edit.when, []).append(edit)
        self._program = program
        self._reached = ""
        self._born: dict[int, tuple[weakref.ref[Any], Hashable]] = {}
        self._count = self._leaves = 0
        self._returning: dict[int, list[Edit]] = {}
        """What is to be done when a node has run, by its id."""
        # What the engine is at.
        self._event: Json = {"k": ""}
        self._tensor: Any = None
        self._task: Any = None
        self._node: Any = None
        self._gradients: Any = None

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
        self._program.run(self)
        if self._reached:
            raise cannot_run(
                f"it {self._reached}, and would do that once more",
                "record only what computes: do the rest before, and let it reach its "
                "tensors by variables of its own cell or file",
            )
        return self

    def __enter__(self) -> Trace:
        super().__enter__()
        for names in self.names:
            self._log.names.add(names)
        self._log.told = self._told
        for tensor in self.start:
            self.leaf_created(tensor)
        self._hearing.hears_first(self)
        observe.add(self._hearing)
        return self.trace

    def refuse(self, does: str) -> NoReturn:
        """Stop the program before it does what it must not."""
        self._reached = self._reached or does
        raise ReachedOutsideError

    def _refuse_theirs(self, tensor: Tensor, how: str) -> None:
        """Stop before a tensor of the learner's own is used."""
        known = (self._program.theirs or {}).get(id(tensor))
        if known is not None and known() is tensor:
            self.refuse(f"changes a tensor of yours that has no copy ({how})")

    def _told(self, event: Json) -> None:
        if event["k"] not in UNTIMELY:
            self._count += 1
            self.order[id(event)] = self._count
            self._event = event
            self._come_to((self._count, event["k"], event.get("n")))

    def leaf_created(self, tensor: Tensor) -> None:
        self._leaves += 1
        self._tensor = tensor
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
            self._tensor = one
            self._come_to(use)

    def backward_started(self, task: Any) -> None:
        self._task = task

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if isinstance(node, AccumulateGrad):
            self._refuse_theirs(node.variable, "backward has come to one")
        self._node, self._gradients = node, gradients

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        for edit in self._returning.pop(id(node), ()):
            self._story.say_returned(node, gradients)
            self._node, self._gradients = node, gradients
            self._attempt(edit)

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        self._tensor = leaf

    def _come_to(self, when: Hashable) -> None:
        for edit in self.to_come.pop(when, ()):
            if edit.edge:
                self._returning.setdefault(id(self._node), []).append(edit)
            else:
                self._attempt(edit)

    def _attempt(self, edit: Edit) -> None:
        try:
            self._make(edit)
        except Exception as error:  # the program might catch it, and go on
            self.failure = error

    def _make(self, edit: Edit) -> None:
        """Change what the engine is about to use, and tell it."""
        place, log, event, old = edit.place, self._log, self._event, None
        key, edge, kind = place.key, edit.edge, event["k"]
        if place.kind == "entry":
            self._put_on_ctx(edit, *key.split(".", 1))
        elif place.kind == "leaf":
            old = exact_copy(self._tensor.array)
            new = self._tensor.array[...] = numbers_for(old, edit.value)
            self._tell(edit, place.owner, old, new, t=key[0])
        elif edge:
            to, _ = split_edge(self._node._edges[edge["slot"]])
            old, new = replaced(self._gradients, edge["slot"], edit.value)
            self._tell(edit, message("what-if.for", node=log.called(to)), old, new)
        elif kind == "grad.accumulate":
            leaf, node = self._tensor, event["n"]
            old, new = leaf._grad, in_place_of(leaf._grad, edit.value)
            new._share_version(old)
            leaf._grad = new
            name = f"{log.names.of(leaf) or message('tensor.leaf')}.grad"
            log.memory.look_at_grad(leaf, node, name)
            self._tell(edit, name, old, new, n=node)
        else:
            to, slot, waiting, node = self._node, key, self._gradients, event.get("n")
            is_ready = kind == "node.enter"
            if not is_ready:
                to, slot, _ = self._task.roots[key]
                waiting, node = self._task.waiting[to], event["roots"][key]["n"]
            words = "what-if.arrives" if is_ready else "what-if.for"
            what = message(words, node=log.called(to))
            roots = () if is_ready else [root[:2] for root in self._task.roots]
            if roots.count((to, slot)) > 1:
                raise LookupError(f"{what} is a sum of several here")
            old, new = replaced(waiting, slot, edit.value)
            total = log.values.ref(new)
            self._tell(edit, what, old, new, n=node, slot=slot, total=total)

    def _put_on_ctx(self, edit: Edit, family: str, name: str) -> None:
        """Let a node have saved another value, or another attribute.

        What is packed is another each time it is unpacked: what it was is known only
        then, as unpacking has effects, such as those of a checkpoint.
        """
        cards = list(self._log.cards.values())
        nodes: list[Any] = [card() for card in cards if card.ctx == edit.place.ctx]
        node = nodes[0] if nodes else None
        if node is None:
            raise LookupError(f"{edit.place.owner} is gone at this step")
        tell = functools.partial(self._tell, edit, str(edit.place), ctx=node)
        if family != "saved":
            tell(*replaced(attributes_of(node), name, edit.value))
            return
        saved = list(node._saved)
        packed = saved[int(name)]
        if isinstance(packed, HookedRecord):
            saved[int(name)] = kept = copy.copy(packed)

            @functools.wraps(packed.unpack_hook)
            def unpack(held: Any) -> Any:
                old = packed.unpack_hook(held)
                new = in_place_of(old, edit.value)
                tell(old, new)
                return new

            kept.unpack_hook = unpack
            node._saved = type(node._saved)(saved)
            return
        old = packed.tensor if isinstance(packed, Record) else packed
        saved[int(name)] = new = in_place_of(old, edit.value)
        # A change of the old one in place is noticed as it would have been.
        new._share_version(old)
        new._detached_at = old._detached_at
        if isinstance(packed, Record):
            saved[int(name)] = Record(new, packed.version, packed.output_nr)
        node._saved = type(node._saved)(saved)
        tell(old, new)

    def _tell(
        self, edit: Edit, what: str, old: Any, new: Any, ctx: Any = None, **more: Any
    ) -> None:
        log, place = self._log, edit.place
        log.program_ran()
        is_open = ctx is None or log.ctxs.is_open(ctx)
        if not is_open:
            log.ctxs.open(ctx, log.cards.of(ctx))
        more |= {"old": log.values.ref(old, what), "new": log.values.ref(new, what)}
        if ctx is not None:
            what = message("what-if.of", what=what, node=place.owner)
        said = {"what": what, "old": brief(old), "new": brief(new)}
        # What is packed is told each time it is unpacked.
        edit.said = edit.said or said | {"place": place.shown[0]}
        key = "what-if.leaf-starts" if place.kind == "leaf" else "what-if"
        log.emit((step, "what.if", message(key, **said), "", more))
        if not is_open:
            log.ctxs.close(ctx)


def replaced(held: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """Put another value in the place of one: the old one and the new."""
    old = held[key]
    if isinstance(old, Tensor):
        held[key] = in_place_of(old, value)
    elif isinstance(old, (np.ndarray, np.generic)):
        held[key] = numbers_for(np.asarray(old), value)
    else:
        held[key] = value if callable(value) else copy.deepcopy(value)
    return old, held[key]


def numbers_for(old: Any, value: Any) -> Any:
    """New numbers in the shape and dtype of ``old``, in the same order in memory."""
    new = np.empty_like(old)
    new[...] = value(old.copy()) if callable(value) else value
    return new


def in_place_of(old: Tensor, value: Any) -> Tensor:
    """A Tensor with other numbers, in the same place of the graph as ``old``."""
    new = Tensor(numbers_for(old.array, value))
    node = old.grad_fn
    if node is not None:
        new._set_history(node, old.output_nr)
    elif old._requires_grad:
        new._requires_grad = True
        new._accumulate_node = weakref.ref(accumulate_node(old))
    if old._tangents is not None:
        share_tangents(old, new)
    return new


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
            both = timely(trace.data["events"]), timely(control.data["events"])
            said = [[f"“{event['say']}”" for event in one] for one in both]
            was, now = [(one[step - 1 :] or ["not there"])[0] for one in said]
            raise cannot_run(
                f"it doesn't do the same twice. Step {step} was {was}; now it is {now}",
                "let it read nothing that changes between two runs: give each random "
                "generator of your own a seed, and read no clock",
            )
        events = timely(control.data["events"])
        order = [again.order.get(id(event), 0) for event in events]
        program.proof = order, again.births
    return program


def edited(trace: Told, edits: list[Edit]) -> Told:
    """The program of ``trace`` once more, with ``edits``, which are marked.

    Raises: WhatIfError if the program cannot do the same until there;
    ArgumentValueError if nothing reads what was edited.
    """
    program, new = proved(trace), type(trace)()
    for edit in edits:
        plan(trace, edit, *program.proof)
    changed = replace(program, edits=(*program.edits, *edits), proof=None)
    again = Again(new, changed).run()
    if again.failure is not None:
        raise cannot_run(f"{again.failure}", "take another step") from None
    for edit in itertools.chain(*again.to_come.values()):
        raise cannot_run(
            f"it doesn't come any more to the step at which {edit.place} is edited",
            "undo that edit first, or take another step",
        )
    if not all([edit.said for edit in edits]):
        raise refused(
            "nothing reads what you changed after this step",
            "take a step before it is read",
        )
    before = trace.data["meta"].get("edits", [])
    new.data["meta"]["edits"] = before + [edit.said for edit in edits]
    new.program = changed
    return new


def plan(trace: Trace, edit: Edit, order: list[int], births: Json) -> None:
    """Let an edit wait for the birth of a tensor, or for what is told at its step.

    What is sent along an edge is edited when the node that then begins has run; what a
    hook unpacks, before its node reads it.
    """
    place, data = edit.place, trace.data
    if place.kind == "leaf":
        edit.when = births[place.key]
        return
    events = data["events"][: place.position]
    node = events[-1].get("n") if events[-1]["k"] == "hook.unpack" else None
    if place.edge:
        edges = {one["id"]: one for one in data["graph"]["edges"]}
        edit.edge = edges[place.edge]
        node = edit.edge["from"]
    begins = [at for at, e in enumerate(events, 1) if e["k"] == "node.enter"]
    begins = [at for at in begins if events[at - 1]["n"] == node]
    before = timely(events[: begins[-1]] if begins else events)
    number = order[len(before) - 1] if before else 0
    if not number:
        raise cannot_run("nothing has happened at this step", "take a later one")
    edit.when = number, before[-1]["k"], before[-1].get("n")


def timely(events: list[Json]) -> list[Json]:
    """The steps that are told at a certain time."""
    return [event for event in events if event["k"] not in UNTIMELY]


def first_difference(first: Trace, second: Trace) -> int | None:
    """The first timely step, counted from 1, at which two recordings differ."""
    both = first.data, second.data
    told_by = [[told(e, d["values"]) for e in timely(d["events"])] for d in both]
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
