"""The edits of a program that runs again: other values in the place of some."""

from __future__ import annotations

import copy
import functools
import operator
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.engine.core.node import accumulate_node
from minigrad.engine.core.saved import Record, share_tangents
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.tracing.again import Editor
from minigrad.tracing.copies import exact_copy
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import attributes_of
from minigrad.tracing.values import brief

Json = dict[str, Any]


@dataclass
class StepEdit:
    """Values that take the place of those at a step, while the program runs again.

    ``when`` is the number of the step; of a leaf its key and version (see run_with).
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
        node: Any = editor.log.ctxs.with_id(self.ctx) if self.ctx else None
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
        for slot, value in self.values["gradient"].items():
            what, old, new, where = change_gradient(editor, event, slot, value)
            shown = f"waits {where['n']} {where['slot']}" if "slot" in where else ""
            shown = f"edge {event['e']}" if event["k"] == "grad" else shown
            shown = shown or f"grad {where['n']}"
            self._tell(editor, what, old, new, shown, **where)

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
        log.emit(
            {
                "k": "what.if",
                "lvl": 1,
                "say": message(key, what=whole, old=brief(old), new=brief(new)),
                "old": log.values.ref(old, what),
                "new": log.values.ref(new, what),
                **more,
            }
        )
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
    if kind == "backward.begin":
        receiver, place, old = task.roots[slot]
        new = like(old, value)
        parts = with_root(task.roots, slot, new)
    else:
        receiver, place, old = work["receiver"], work["slot"], work["sent"]
        new = like(old, value)
        parts = [one for one in (work["before"], new) if one is not None]
    total = new if len(parts) == 1 else sum_like(task.waiting[receiver][place], parts)
    task.waiting[receiver][place] = total
    editor.totals[id(task), id(receiver), place] = total
    name = message("what-if.for", node=editor.log.called(receiver))
    node = event["n"] if kind == "grad" else event["roots"][slot]["n"]
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
