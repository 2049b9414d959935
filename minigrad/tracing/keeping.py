"""Keeping a recording's values in full, so that every node can be run again."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from minigrad.engine import interpreters
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.node import NOT_A_TENSOR, AccumulateGrad
from minigrad.engine.core.saved_hooks import HookedRecord
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.interpreters import current_kind
from minigrad.engine.observe import EVERYTHING
from minigrad.engine.views import CopySlices
from minigrad.tracing.kept import (
    KeptValues,
    Run,
    array_of,
    copied,
    exact_copy,
    node_like,
    span_of,
)
from minigrad.tracing.log import EventLog
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import label_of


class Keeping:
    """An observer of the engine that keeps what each rule was given and returned."""

    def __init__(self, log: EventLog, most: int) -> None:
        self.kept = KeptValues(most=most)
        self._log = log
        self._rules: dict[int, Run] = {}

    def keeps(self, node: Any, gradients: list[Any]) -> bool:
        """Whether what ``node`` is given is kept."""
        return True

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        run = self._rules[id(task)] = self._run("backward", label_of(node), [])
        if self.kept.is_full or not self.keeps(node, gradients):
            return
        run.given = self._copy(gradients)
        if isinstance(node, AccumulateGrad):
            return
        run.node = node_like(node, self._copy_of)
        run.create_graph = task.create_graph
        run.carries_tensors = task.carries_tensors
        if current_kind() not in ("", "level"):
            run.skipped = message("terms.transform")

    def hook_called(
        self, kind: str, node: Any, slot: int, hook: Any, given: Any, result: Any
    ) -> None:
        run = next(reversed(self._rules.values()), None)
        if kind == "post" and run is not None and run.found is None:
            values = iter(given)
            run.has_hooks = True
            run.found = [
                None if edge is NOT_A_TENSOR else self._copy(next(values))
                for edge in node._edges
            ]

    def tensor_unpacked(self, hook: Any, node: Any, packed: Any, tensor: Any) -> None:
        run = next(reversed(self._rules.values()), None)
        for like in with_inner(None if run is None else run.node):
            saved = [
                self._copy(tensor) if is_packed(one) and one.packed is packed else one
                for one in like._saved
            ]
            like._saved = tuple(saved)

    def node_returned(self, task: Any, node: Any, gradients: tuple[Any, ...]) -> None:
        run = self._rules.pop(id(task), None)
        if run is None or run.node is None:
            return
        if run.found is None:
            run.found = self._copy(list(gradients))
        for like in with_inner(run.node):  # hold nothing that a hook has packed
            like._saved = tuple([None if is_packed(o) else o for o in like._saved])
        self._add(run)

    def backward_finished(self, task: Any) -> None:
        self._rules.pop(id(task), None)

    def _run(self, what: str, label: str, given: Any) -> Run:
        return Run(what, label, self._event(), given)

    def _event(self) -> Any:
        """The step of the story that has just been told."""
        return self._log.events[-1] if self._log.events else None

    def _add(self, run: Run) -> None:
        if not self.kept.is_full:
            self.kept.runs.append(run)

    def _copy(self, value: Any) -> Any:
        """``value`` as it is now."""
        return None if self.kept.is_full else copied(value, self._copy_of)

    def _copy_of(self, array: Any) -> Any:
        self.kept.size += span_of(array)
        if self.kept.size > self.kept.most:
            self.kept.is_full = True
            self.kept.runs.clear()
        return exact_copy(array)


class Keeper(Keeping):
    """Keeps what each node was given and returned, and each sum of gradients."""

    observes = EVERYTHING

    def __init__(self, log: EventLog, most: int) -> None:
        super().__init__(log, most)
        self._calls: dict[int, tuple[Any, Any, Run]] = {}
        self._totals: dict[tuple[int, int, int], tuple[Any, Any]] = {}
        self._grads: dict[int, Any] = {}
        self._touched: set[int] = set()

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        if self.kept.is_full:
            return
        run = self._run("forward", ctx.name(), self._copy(list(inputs)))
        run.function = function
        run.node = node_like(ctx, self._copy_of)
        if interpreters.kinds() - {"level"}:
            run.skipped = message("terms.transform")
        elif issubclass(function, Builtin) and any([callable(x) for x in inputs]):
            run.skipped = message("terms.random")
        self._calls[id(ctx)] = (weakref.ref(ctx), inputs[0] if inputs else None, run)

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        known, first, run = self._calls.pop(id(ctx), (None, None, None))
        if known is not None and run is not None and known() is ctx:
            run.event = self._event()
            run.in_place = any([one is first for one in outputs])
            run.found = self._copy(list(outputs))
            self._add(run)

    def backward_started(self, task: Any) -> None:
        for node, slot, gradient in task.roots:
            before = self._totals.get((id(task), id(node), slot))
            told = self._copy(gradient)
            if before is not None and told is not None:
                told = array_of(before[1]) + array_of(told)
            self._totals[id(task), id(node), slot] = (node, told)

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        super().node_picked(task, node, gradients)
        self._check_arrival(task, node, self._rules[id(task)].given)
        if isinstance(node, AccumulateGrad):
            self._grads[id(node.variable)] = self._copy(node.variable._grad)

    def hook_called(
        self, kind: str, node: Any, slot: int, hook: Any, given: Any, result: Any
    ) -> None:
        super().hook_called(kind, node, slot, hook, given, result)
        if kind in ("tensor", "pre"):
            self._touched.add(id(node))

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
        if gradient is None:
            return
        place = (id(task), id(receiver), receiver_slot)
        before = self._totals.get(place)
        now = self._copy(total)
        self._totals[place] = (receiver, now)
        if before is not None:
            given = [before[1], self._copy(gradient)]
            run = self._run("sum", label_of(receiver), given)
            run.found = [now]
            self._add(run)

    def gradient_accumulated(
        self, leaf: Tensor, first: bool, gradient: Any, new: Tensor
    ) -> None:
        before = self._grads.pop(id(leaf), None)
        label, name = "AccumulateGrad", self._log.names.of(leaf)
        if name is not None:
            label = message("node.of", node=label, tensor=name)
        given = [one for one in (before, self._copy(gradient)) if one is not None]
        run = self._run("accumulate", label, given)
        run.found = [self._copy(new)]
        self._add(run)

    def backward_finished(self, task: Any) -> None:
        super().backward_finished(task)
        self._totals = {k: v for k, v in self._totals.items() if k[0] != id(task)}

    def _check_arrival(self, task: Any, node: Any, given: list[Any]) -> None:
        """What a node is given is what waited there, unless a hook has changed it."""
        if id(node) in self._touched:
            self._touched.discard(id(node))
            return
        places = [(id(task), id(node), slot) for slot in range(len(given))]
        waited = [self._totals.get(place, (None, None))[1] for place in places]
        run = self._run("arrival", label_of(node), waited)
        run.found = given
        self._add(run)


def is_packed(saved: Any) -> bool:
    """Whether a saved value is still what a hook has packed."""
    return isinstance(saved, HookedRecord)


def with_inner(like: Any) -> Iterator[Any]:
    """A node, and those inside it that a change of a view has wrapped."""
    while like is not None:
        yield like
        like = like.inner if isinstance(like, CopySlices) else None
