"""Keeping a recording's values in full, so that every node can be run again."""

from __future__ import annotations

import weakref
from typing import Any, Final

import numpy as np

from minigrad.engine import transforms
from minigrad.engine.builtin import Builtin
from minigrad.engine.node import (
    NOT_A_TENSOR,
    AccumulateGrad,
    split_edge,
)
from minigrad.engine.saved import FREED, Record
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.tensor import Tensor
from minigrad.tracing.kept import (
    Kept,
    KeptValues,
    NodeState,
    Receiver,
    Run,
    exact_copy,
    forget_packed,
    span_of,
)
from minigrad.tracing.log import EventLog
from minigrad.tracing.messages import message
from minigrad.tracing.nodes import attributes_of, label_of

SLOTS: Final = ("geometry", "slot", "_materialize_grads")
"""What some kinds of nodes hold beside what all hold."""


class Keeper:
    """An observer of the engine that keeps what each node was given and returned."""

    def __init__(self, log: EventLog, most: int) -> None:
        self.kept = KeptValues(most=most)
        self._log = log
        self._calls: dict[int, tuple[Any, Any, Run]] = {}
        self._rules: dict[int, Run] = {}
        self._totals: dict[tuple[int, int, int], tuple[Any, Any]] = {}
        self._grads: dict[int, Any] = {}
        self._touched: set[int] = set()

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        run = self._run("forward", ctx.name(), [self._copy(one) for one in inputs])
        run.function = function
        run.node = self._state(ctx)
        if transforms.active:
            run.skipped = message("terms.transform")
        elif issubclass(function, Builtin) and any([callable(x) for x in inputs]):
            run.skipped = message("terms.random")
        self._calls[id(ctx)] = (weakref.ref(ctx), inputs[0] if inputs else None, run)

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        known, first, run = self._calls.pop(id(ctx), (None, None, None))
        if known is not None and run is not None and known() is ctx:
            run.event = self._event()
            run.in_place = any([one is first for one in outputs])
            run.found = [self._copy(one) for one in outputs]
            self._add(run)

    def backward_started(self, task: Any) -> None:
        for node, slot, gradient in task.roots:
            before = self._totals.get((id(task), id(node), slot))
            told = self._copy(gradient)
            if before is not None:
                told = Kept(before[1].array + told.array, False)
            self._totals[id(task), id(node), slot] = (node, told)

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        given = [self._copy(gradient) for gradient in gradients]
        self._check_arrival(task, node, given)
        if isinstance(node, AccumulateGrad):
            self._grads[id(node.variable)] = self._copy(node.variable._grad)
            return
        run = self._run("backward", label_of(node), given)
        run.node = self._state(node)
        run.create_graph = task.create_graph
        run.carries_tensors = task.carries_tensors
        if transforms.active:
            run.skipped = message("terms.transform")
        self._rules[id(task)] = run

    def hook_called(
        self, kind: str, node: Any, slot: int, hook: Any, given: Any, result: Any
    ) -> None:
        if kind in ("tensor", "pre"):
            self._touched.add(id(node))
        elif kind == "post":
            run = next(reversed(self._rules.values()), None)
            if run is not None and run.found is None:
                values = iter(given)
                run.has_hooks = True
                run.found = [
                    None if edge is NOT_A_TENSOR else self._copy(next(values))
                    for edge in node._edges
                ]

    def tensor_unpacked(self, hook: Any, node: Any, packed: Any, tensor: Any) -> None:
        run = next(reversed(self._rules.values()), None)
        state = None if run is None else run.node
        while state is not None:
            for place, one in enumerate(state.packed):
                if one is packed and one is not None:
                    state.saved[place] = self._copy(tensor)
            state = state.inner

    def node_returned(self, task: Any, node: Any, gradients: tuple[Any, ...]) -> None:
        run = self._rules.pop(id(task), None)
        if run is None:
            return
        if run.found is None:
            run.found = [self._copy(gradient) for gradient in gradients]
        forget_packed(run.node)
        self._add(run)

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
            run = self._run(
                "sum", label_of(receiver), [before[1], self._copy(gradient)]
            )
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
        self._rules.pop(id(task), None)
        self._totals = {k: v for k, v in self._totals.items() if k[0] != id(task)}

    def _check_arrival(self, task: Any, node: Any, given: list[Any]) -> None:
        """What a node is given is what waited there, unless a hook has changed it."""
        if id(node) in self._touched:
            self._touched.discard(id(node))
            return
        waited = [self._totals.get((id(task), id(node), i)) for i in range(len(given))]
        run = self._run(
            "arrival",
            label_of(node),
            [None if one is None else one[1] for one in waited],
        )
        run.found = given
        self._add(run)

    def _run(self, what: str, label: str, given: list[Any]) -> Run:
        return Run(what, label, self._event(), given)

    def _event(self) -> Any:
        """The step of the story that has just been told."""
        return self._log.events[-1] if self._log.events else None

    def _add(self, run: Run) -> None:
        if not self.kept.is_full:
            self.kept.runs.append(run)

    def _state(self, node: Any) -> NodeState:
        saved = () if node._saved is FREED else tuple(node._saved)
        inner = getattr(node, "inner", None)
        return NodeState(
            kind=type(node),
            edges=tuple([self._edge(edge) for edge in node._edges]),
            outputs=node._output_metadata,
            number=node._number,
            needs=node.needs_input_grad,
            saved=[self._saved(one) for one in saved],
            packed=[o.packed if isinstance(o, HookedRecord) else None for o in saved],
            attributes={k: self._copy(v) for k, v in attributes_of(node).items()},
            slots={n: getattr(node, n) for n in SLOTS if hasattr(node, n)},
            inner=None if inner is None else self._state(inner),
        )

    def _edge(self, edge: Any) -> Any:
        if edge is None or edge is NOT_A_TENSOR:
            return edge
        receiver, slot = split_edge(edge)
        return Receiver(receiver._output_metadata), slot

    def _saved(self, packed: Any) -> Any:
        tensor = packed.tensor if isinstance(packed, Record) else packed
        return self._copy(tensor) if isinstance(tensor, Tensor) else None

    def _copy(self, value: Any) -> Any:
        """``value`` as it is now: Tensors and arrays copied, also inside a list."""
        if self.kept.is_full:
            return None
        if isinstance(value, Tensor):
            array = self._count(value.array)
            return Kept(array, True, bool(value._requires_grad))
        if isinstance(value, (np.ndarray, np.generic)):
            return Kept(self._count(value), False)
        if type(value) in (list, tuple):
            return type(value)([self._copy(item) for item in value])
        if type(value) is dict:
            return {key: self._copy(item) for key, item in value.items()}
        return value

    def _count(self, array: Any) -> Any:
        copy = exact_copy(array)
        self.kept.size += span_of(array)
        if self.kept.size > self.kept.most:
            self.kept.is_full = True
            self.kept.runs.clear()
        return copy
