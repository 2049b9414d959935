"""The edits of a program that runs again: other values in the place of some."""

from __future__ import annotations

import copy
import functools
import operator
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import numpy as np

from minigrad.engine.core.node import AccumulateGrad, accumulate_node, split_edge
from minigrad.engine.core.saved import Record, share_tangents
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.observe import EVERYTHING
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.nn.parameter import Parameter
from minigrad.tracing.copies import exact_copy
from minigrad.tracing.foreign import version_of
from minigrad.tracing.log import step
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import attributes_of
from minigrad.tracing.story import Story, joins_story
from minigrad.tracing.values import brief

Json = dict[str, Any]

PLAIN: Final = (Tensor, Parameter)
UNTIMELY: Final = ("ask", "mem.gone", "what.if")
"""What is told at no certain time: of memory, by the teacher; and of edits."""


class ReachedOutsideError(BaseException):
    """The program is about to change something of which it has no copy.

    Not an Exception, for the program might catch that and go on.
    """


Birth = tuple[str, int | str, int]
"""Where a tensor gets its first numbers: "start" and its place among those that the
program starts from, "made" and its number among those that it makes, or "used", its
key and its version in the first call that shows them.
"""
Edits = Mapping[int | Birth, "tuple[StepEdit, ...]"]
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
        self.returning: dict[int, StepEdit] = {}
        """What is to be done when a node has run, by its id."""
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
            self._attempt(edit.make, event)

    def _attempt(self, change: Callable[..., None], *given: Any) -> None:
        try:
            change(self, *given)
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
        self.at_work = {"task": task}

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if isinstance(node, AccumulateGrad):
            leaf = node.variable
            if self._is_theirs(leaf):
                self._refuse("backward has come to one")
        self.at_work = {"task": task, "node": node, "gradients": gradients}

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        edit = self.returning.pop(id(node), None)
        if edit is not None:
            self.story.say_returned(node, gradients)
            self._attempt(edit.put_sent, node, gradients)

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        self.at_work = {"leaf": leaf}


@dataclass
class StepEdit:
    """Values that take the place of those at a step, while the program runs again.

    ``when`` is the step after which there is something to do; of a leaf its key and
    version (see run_with).
    """

    when: int | tuple[str, int]
    ctx: str
    owner: str
    values: dict[str, dict[Any, Any]]
    said: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """What was edited, the old value and the new one; and where the page shows it."""

    def make(self, editor: Editor, event: Json) -> None:
        """Change what the engine is about to use, and tell it."""
        self.said = {}
        for key, value in self.values.get("leaf", {}).items():
            old, new = change_leaf(event["tensor"], value)
            self._tell(editor, self.owner, old, new, f"leaf {key}", t=key)
            return
        if self.values["sent"]:
            editor.returning[id(editor.at_work["node"])] = self
            return
        self._put_on_ctx(editor)
        for slot, value in self.values["gradient"].items():
            what, old, new, where = change_gradient(editor, event, slot, value)
            is_waiting = "slot" in where
            shown = f"waits {where['n']} {where['slot']}" if is_waiting else ""
            self._tell(editor, what, old, new, shown or f"grad {where['n']}", **where)

    def put_sent(self, editor: Editor, node: Any, gradients: list[Any]) -> None:
        """Let a node that has run send another gradient: none is added up yet."""
        for (slot, edge), value in self.values["sent"].items():
            old, gradients[slot] = gradients[slot], like(gradients[slot], value)
            receiver, _ = split_edge(node._edges[slot])
            what = message("what-if.for", node=editor.log.called(receiver))
            self._tell(editor, what, old, gradients[slot], f"edge {edge}")
        self._put_on_ctx(editor)

    def _put_on_ctx(self, editor: Editor) -> None:
        """Change saved values and attributes."""
        node: Any = editor.log.cards.ctx_with(self.ctx) if self.ctx else None
        if node is None and (self.values["saved"] or self.values["attributes"]):
            raise LookupError(f"{self.owner} is gone at this step")
        for place, value in self.values["saved"].items():
            what, entry = f"saved[{place}]", f"entry {self.ctx} saved.{place}"
            tell = functools.partial(self._tell, editor, what, place=entry, node=node)
            if isinstance(node._saved[place], HookedRecord):
                change_packed(node, place, value, tell)
            else:
                tell(*change_saved(node, place, value))
        for name, value in self.values["attributes"].items():
            old = attributes_of(node)[name]
            new = attributes_of(node)[name] = like(old, value)
            entry = f"entry {self.ctx} attr.{name}"
            self._tell(editor, f"ctx.{name}", old, new, entry, node)

    def _tell(
        self,
        editor: Editor,
        what: str,
        old: Any,
        new: Any,
        place: str,
        node: Any = None,
        **more: Any,
    ) -> None:
        log = editor.log
        whole = what
        if node is not None:
            whole = message("what-if.of", what=what, node=self.owner)
        # What is packed is told each time it is unpacked.
        self.said[whole, brief(old), brief(new)] = place
        is_open = node is None or log.ctxs.is_open(node)
        if not is_open:
            log.ctxs.open(node, log.cards.of(node))
        log.program_ran()
        key = "what-if.leaf-starts" if "t" in more else "what-if"
        say = message(key, what=whole, old=brief(old), new=brief(new))
        more |= {"old": log.values.ref(old, what), "new": log.values.ref(new, what)}
        log.emit((step, "what.if", say, "", more))
        if not is_open:
            log.ctxs.close(node)


def change_leaf(leaf: Tensor, value: Any) -> tuple[Any, Any]:
    """Let a tensor start with other numbers: the old and the new.

    Whoever shares its memory has them, too.
    """
    old = exact_copy(leaf.array)
    new = numbers_for(old, value)
    leaf.array[...] = new
    return old, new


def change_saved(node: Any, place: int, value: Any) -> tuple[Any, Any]:
    """Let ``node`` have saved another value: the old one and the new."""
    packed = node._saved[place]
    old = packed.tensor if isinstance(packed, Record) else packed
    new = in_place_of(old, value)
    # A change of the old one in place is noticed as it would have been.
    new._share_version(old)
    new._detached_at = old._detached_at
    is_record = isinstance(packed, Record)
    kept = Record(new, packed.version, packed.output_nr) if is_record else new
    put_saved(node, place, kept)
    return old, new


def change_packed(
    node: Any, place: int, value: Any, tell: Callable[[Any, Any], None]
) -> None:
    """Let what ``node`` keeps packed be another value each time it is unpacked.

    What it was is known only then: unpacking has effects, as of a checkpoint.
    """
    record = copy.copy(node._saved[place])
    before = record.unpack_hook

    @functools.wraps(before)
    def unpack(packed: Any) -> Any:
        old = before(packed)
        new = in_place_of(old, value)
        tell(old, new)
        return new

    record.unpack_hook = unpack
    put_saved(node, place, record)


def put_saved(node: Any, place: int, kept: Any) -> None:
    """Let ``node`` keep something else for one of its saved values."""
    saved = [kept if i == place else one for i, one in enumerate(node._saved)]
    node._saved = type(node._saved)(saved)


def change_gradient(
    editor: Editor, event: Json, slot: int, value: Any
) -> tuple[str, Any, Any, Json]:
    """Let another gradient be where one is now: its name, the old one, the new one.

    And where in the graph that is, for the picture: ``total`` now waits there.
    """
    ref = editor.log.values.ref
    work, kind = editor.at_work, event["k"]
    if kind == "grad.accumulate":
        leaf = work["leaf"]
        old, new = leaf._grad, in_place_of(leaf._grad, value)
        new._share_version(old)
        leaf._grad = new
        name = editor.log.names.of(leaf) or message("tensor.leaf")
        editor.log.memory.look_at_grad(leaf, event["n"], f"{name}.grad")
        return f"{name}.grad", old, new, {"n": event["n"]}
    if kind == "node.enter":
        old, new = work["gradients"][slot], like(work["gradients"][slot], value)
        work["gradients"][slot] = new
        arrives = editor.log.called(work["node"])
        where = message("what-if.arrives", node=arrives)
        return where, old, new, {"n": event["n"], "slot": slot, "total": ref(new)}
    task = work["task"]
    receiver, place, old = task.roots[slot]
    new = like(old, value)
    parts = with_root(task.roots, slot, new)
    total = new if len(parts) == 1 else sum_like(task.waiting[receiver][place], parts)
    task.waiting[receiver][place] = total
    name = message("what-if.for", node=editor.log.called(receiver))
    node = event["roots"][slot]["n"]
    return name, old, new, {"n": node, "slot": place, "total": ref(total)}


def with_root(roots: Any, slot: int, new: Any) -> list[Any]:
    """What waits where one root's gradient is another: several may wait together."""
    node, place, _ = roots[slot]
    return [
        new if number == slot else gradient
        for number, (other, its_place, gradient) in enumerate(roots)
        if other is node and its_place == place
    ]


def sum_like(total: Any, parts: list[Any]) -> Any:
    """The sum of ``parts`` in the place of ``total``, of which it has the history."""
    arrays = [one.array if isinstance(one, Tensor) else one for one in parts]
    return like(total, functools.reduce(operator.add, arrays))


def like(old: Any, value: Any) -> Any:
    """``value`` as a Tensor, an array or a plain thing, as ``old`` is one."""
    if isinstance(old, Tensor):
        return in_place_of(old, value)
    if isinstance(old, (np.ndarray, np.generic)):
        return numbers_for(np.asarray(old), value)
    return value if callable(value) else copy.deepcopy(value)


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
