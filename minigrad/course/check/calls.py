"""One call of an answer under watch, and the backward passes through it."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.course.check import trials
from minigrad.course.check.facts import (
    Array,
    Arrays,
    Attribute,
    Contract,
    Crash,
    Output,
    Pass,
    Saved,
    Second,
    Tangent,
    Trial,
    copied,
    is_float,
)
from minigrad.course.check.heard import operations
from minigrad.course.check.side_effects import Lent
from minigrad.course.check.spy import Watch, equal, listed

MOST_RAN = 100
"""So many operations of one backward are noted."""

ELSEWHERE = ".hooks", ".numbers"
"""What is looked at elsewhere: a rule may watch its leaves, and hooks are judged."""

_Held = tuple[list[tuple[Array, Array]], list[tuple[Array, Array]]]


class Call:
    """Arrays become fresh tensors, leaves that require grad where it is needed.

    ``same``: one tensor takes the place of all of them. ``tensors``: those of another
    call are given again.
    """

    def __init__(
        self,
        watch: Watch,
        contract: Contract,
        inputs: tuple[Any, ...],
        needed: tuple[bool, ...],
        same: bool = False,
        tensors: Sequence[Any] = (),
    ) -> None:
        self.watch, self.contract, self.engine = watch, contract, watch.engine
        self.inputs, self.needed = inputs, needed
        self.leaves = [
            self.engine.tensor(value, need and is_float(value))
            if isinstance(value, np.ndarray)
            else value
            for value, need in zip(inputs, needed, strict=True)
        ]
        if same:
            self.leaves = [self.leaves[0]] * len(inputs)
        for place, tensor in enumerate(tensors):
            if self.engine.is_tensor(tensor):
                self.leaves[place] = tensor
        self.arguments = list(self.leaves)
        self.module = self.engine.module
        if contract.in_place:
            # A leaf that requires grad may not be changed in place.
            self.arguments[0] = self.engine.result(self.leaves[0])
        self.result: Any = None
        self.ctx: Any = None
        self.raw: object = None
        self.facts: dict[str, Any] = {}
        self.passes: list[Pass] = []

    def forward(self) -> Call:
        """Apply the answer, and look at the outputs, its ctx and the inputs."""
        self.watch.reset()
        self.watch.before_forward()
        crashes: list[Crash] = []
        named = self._lent()
        leaves = [t for t in named.values() if t.is_leaf and t.requires_grad]
        for leaf in leaves:
            # Some numbers, as an earlier backward would have left.
            leaf.grad = minigrad.Tensor(leaf.array.copy())
        lent = Lent(**named)
        with self.watch.phase_of("forward", crashes):
            self.result = self.engine.apply(self.watch.function, *self.arguments)
        left = tuple([n for n in lent.changed() if not n.endswith(ELSEWHERE)])
        for leaf in leaves:
            leaf.grad = None
        if crashes:
            self.facts["crash"] = crashes[0]
            return self
        self.facts |= {
            "left": left,
            "outputs": tuple(self._output(value) for value in self.results()),
            "changed": self._changed_inputs(),
            "save_calls": self.watch.save_calls,
            "dirty": self._places(self.watch.dirty, self.arguments),
            "marked": self._places(self.watch.marked, self.results()),
        }
        self.ctx = self._node()
        if self.ctx is not None:
            self.facts |= self._on_ctx(self.ctx)
        return self

    def _lent(self) -> dict[str, Any]:
        """The tensors by their names."""
        named = zip(self.contract.arguments, self.arguments, strict=True)
        is_ours = self.module is minigrad
        return {n: t for n, t in named if is_ours and self.engine.is_tensor(t)}

    def backward(
        self, upstreams: Arrays, *, keep: bool = False, layout: str = ""
    ) -> Call:
        """Send ``upstreams`` through the recorded call, None where there is none.

        ``layout``: how they lie in memory.
        """
        roots = self._roots(upstreams)
        if not roots:
            return self
        self.watch.reset()
        for leaf in self.leaves:
            if self.engine.is_tensor(leaf):
                leaf.grad = None
        before = self._held()
        crashes: list[Crash] = []
        heard: Any = contextlib.nullcontext(())
        asked = self.contract.skips_unneeded or self.contract.spares
        if asked and self.module is minigrad:
            heard = operations()
        modes = Lent()
        with heard as ran, self.watch.phase_of("backward", crashes):
            self.module.autograd.backward(
                [y for y, _ in roots],
                [self.engine.laid_out(g, layout) for _, g in roots],
                retain_graph=keep,
            )
        self._note_pass(upstreams, crashes, before, ran)
        self.facts["left_by_backward"] = modes.changed()
        return self

    def backward_of_the_sum(self) -> Call:
        """Send a gradient that is one number, expanded, as ``y.sum()`` does."""
        ones = tuple(
            np.ones(tuple(y.shape))
            if self.engine.is_tensor(y) and y.requires_grad
            else None
            for y in self.results()
        )
        roots = self._roots(ones)
        if not roots:
            return self
        self.watch.reset()
        before = self._held()
        crashes: list[Crash] = []
        results = [y for y, _ in roots]
        sent = [self.engine.expanded_ones(y) for y in results]
        with self.watch.phase_of("backward", crashes):
            self.module.autograd.backward(results, sent)
        self._note_pass(ones, crashes, before)
        return self

    def write_into(self, place: int) -> Call:
        """Change an input in place between forward and backward, unrecorded."""
        argument = self.arguments[place]
        with self.module.no_grad():
            # Signs and order change as well: masks depend on nothing else.
            argument.mul_(-1.5) if argument.is_floating_point() else argument.add_(1)
        return self

    def second(self, upstreams: Arrays) -> Second | None:
        """The derivative of the weighted gradients; None where there is no graph."""
        roots = self._roots(upstreams)
        if not roots:
            return None
        leaves = [
            x for x in self.leaves if self.engine.is_tensor(x) and x.requires_grad
        ]
        weights = trials.weights([tuple(x.shape) for x in leaves])
        gs = [self.engine.tensor(g, True) for _, g in roots]
        crashes: list[Crash] = []
        recorded = False
        with self.watch.phase_of("backward", crashes):
            first = self.module.autograd.grad(
                [y for y, _ in roots],
                leaves,
                gs,
                create_graph=True,
                allow_unused=True,
            )
            pairs = zip(first, weights, strict=True)
            terms = [
                (f * self.engine.tensor(w)).sum()
                for f, w in pairs
                if f is not None and f.requires_grad
            ]
            recorded = bool(terms)
            if terms:
                # backward, since grad would pass by a node that refuses to be derived.
                self.module.autograd.backward(terms)
        return Second(
            weights,
            tuple(self.watch.copy_of(x.grad) for x in (*leaves, *gs)),
            recorded,
            crashes[0] if crashes else None,
        )

    def raw_copies(self) -> list[Array | None]:
        """What backward returned, as it looks now."""
        return [self.watch.copy_of(v) for v in listed(self.raw)]

    def trial(self, name: str, *, rewritten: bool = False) -> Trial:
        """The facts of this call."""
        return Trial(
            name=name,
            inputs=tuple(copied(value) for value in self.inputs),
            needed=self.needed,
            passes=tuple(self.passes),
            rewritten=rewritten,
            **self.facts,
        )

    def results(self) -> tuple[Any, ...]:
        """What apply returned, one by one."""
        result = self.result
        return result if isinstance(result, tuple) else (result,)

    def _node(self) -> Any:
        """The ctx of this call, if it was recorded."""
        for value in self.results():
            node = (
                getattr(value, "grad_fn", None)
                if self.engine.is_tensor(value)
                else None
            )
            if isinstance(node, self.watch.function._backward_cls):
                return node
        return None

    def _roots(self, upstreams: Arrays) -> list[tuple[Any, Array]]:
        """The outputs to begin at, each with its gradient; none if one is malformed."""
        if "crash" in self.facts or len(self.results()) != len(upstreams):
            return []
        roots = []
        for y, g in zip(self.results(), upstreams, strict=True):
            if g is None:
                continue
            if not self.engine.is_tensor(y) or tuple(y.shape) != g.shape:
                return []
            if y.requires_grad:
                roots.append((y, g.astype(self.engine.memory(y).dtype)))
        return roots

    def _note_pass(
        self, upstreams: Arrays, crashes: list[Crash], before: _Held, ran: Any = ()
    ) -> None:
        self.raw = self.watch.raw
        self.passes.append(
            Pass(
                upstreams=tuple(None if g is None else g.copy() for g in upstreams),
                crash=crashes[0] if crashes else None,
                received=self.watch.received,
                returned_kind=type(self.raw).__name__ if self.watch.finished else "",
                returned=self.watch.returned,
                gradients=tuple(
                    self.watch.copy_of(x.grad) if self.engine.is_tensor(x) else None
                    for x in self.leaves
                ),
                upstream_changed=self.watch.upstream_changed,
                ran=tuple([f"{which.__name__} {of}" for which, of in ran[:MOST_RAN]]),
            )
        )
        if not self.facts["changed"]:
            self.facts["backward_changed_input"] = bool(self._changed_inputs())
        outputs, saved = before
        if _changed(outputs):
            self.facts["backward_changed_output"] = True
        if _changed(saved):
            self.facts["backward_changed_saved"] = True

    def _held(self) -> _Held:
        """The outputs, and the tensors on ctx, each with its numbers of now."""
        outputs = [y for y in self.results() if self.engine.is_tensor(y)]
        saved = self.engine.held(self.ctx) if self.ctx is not None else []
        now = (
            [self.engine.memory(t) for t in outputs],
            [self.engine.memory(t) for t in saved],
        )
        return [(a, a.copy()) for a in now[0]], [(a, a.copy()) for a in now[1]]

    def _output(self, value: Any) -> Output:
        (place, *_) = (*self._places((value,), self.arguments), -1)
        return Output(
            self.engine.kind_of(value),
            self.watch.copy_of(value),
            self.engine.is_tensor(value) and value.requires_grad,
            None if place < 0 else place,
        )

    def _changed_inputs(self) -> tuple[int, ...]:
        return tuple(
            i
            for i, (x, value) in enumerate(
                zip(self.arguments, self.inputs, strict=True)
            )
            if self.engine.is_tensor(x) and not equal(self.engine.memory(x), value)
        )

    def _places(
        self, marked: Sequence[object], among: Sequence[object]
    ) -> tuple[int, ...]:
        """Which of ``among`` were marked; -1 for something else."""
        places = {id(value): i for i, value in reversed(list(enumerate(among)))}
        return tuple(
            places.get(id(value), -1) if self.engine.is_tensor(value) else -1
            for value in marked
        )

    def _on_ctx(self, ctx: Any) -> dict[str, Any]:
        """What forward left there: saved tensors, and attributes that hold arrays."""
        packed = self.engine.saved(ctx)
        # A second call of save_for_backward replaces what the first one was given.
        given = zip(self.watch.given, self.watch.at_call, packed, strict=True)
        ends = [*self.arguments, *self.results()]
        memories = [self.engine.memory(x) for x in ends if self.engine.is_tensor(x)]

        def shares(array: Array) -> bool:
            return any([np.shares_memory(array, memory) for memory in memories])

        saved = tuple(
            Saved(
                at_call,
                self.engine.memory(now).copy(),
                any(tensor is end for end in ends),
                shares(self.engine.memory(now)),
            )
            for tensor, at_call, now in given
            if at_call is not None and now is not None
        )
        copies = [(t, self.watch.copy_of(t)) for t in self.watch.for_forward]
        for_forward = tuple(
            Saved(array, array, any(tensor is end for end in ends))
            for tensor, array in copies
            if array is not None
        )
        attributes = []
        for name, value in self.named_parts(vars(ctx)):
            is_tensor = self.engine.is_tensor(value)
            array = self.engine.memory(value) if is_tensor else value
            is_output = any(value is y for y in self.results())
            kind = type(value).__name__
            attributes.append(
                Attribute(name, kind, array.copy(), shares(array), is_output)
            )
        return {
            "saved": saved,
            "for_forward": for_forward,
            "attributes": tuple(attributes),
            "kept": bool(saved or vars(ctx)),
            "materialize_grads": self.engine.materializes(
                ctx, self.watch.materialize_grads
            ),
        }

    def named_parts(
        self, attributes: Mapping[str, Any], deep: int = 3
    ) -> Iterator[tuple[str, Any]]:
        """The tensors and arrays among attributes, and in what these hold.

        That is in containers, in what a function holds of the one around it, and in
        lists that are an input, number by number.
        """
        for name, value in attributes.items():
            if isinstance(value, np.ndarray) or self.engine.is_tensor(value):
                yield name, value
            elif isinstance(value, memoryview) or any(
                [is_list_of(value, x) for x in self.inputs]
            ):
                yield name, np.asarray(value)
            elif deep:
                yield from self.named_parts(dict(parts_of(name, value)), deep - 1)


def is_list_of(value: Any, array: Any) -> bool:
    """Whether these are the floats of an array, in a list."""
    if not (isinstance(value, list) and value and is_float(array)):
        return False
    return repr(value) in (repr(array.tolist()), repr(array.ravel().tolist()))


def parts_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a value holds, each part with its name."""
    if isinstance(value, Mapping):
        yield from [(f"{name}[{key!r}]", part) for key, part in value.items()]
    elif isinstance(value, list | tuple):
        yield from [(f"{name}[{i}]", part) for i, part in enumerate(value)]
    elif isinstance(value, functools.partial):
        yield from [(f"{name}.func", value.func), (f"{name}.args", value.args)]
        yield f"{name}.keywords", value.keywords
    elif inspect.isfunction(value):
        yield from [(f"{name}'s {key}", part) for key, part in closed_over(value)]
    elif inspect.ismethod(value) or inspect.isbuiltin(value):
        yield f"{name}.__self__", value.__self__
    elif hasattr(value, "__dict__") and not inspect.ismodule(value):
        yield from [(f"{name}.{key}", part) for key, part in vars(value).items()]


def closed_over(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function holds of the one around it, by its names."""
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        with contextlib.suppress(ValueError):  # not set yet
            yield name, cell.cell_contents


def forward_mode(
    watch: Watch, contract: Contract, inputs: tuple[Any, ...], tangents: Arrays
) -> Tangent:
    """Run the answer on dual numbers: a tangent for each argument, None for none."""
    engine, forward_ad = watch.engine, watch.engine.forward_ad()
    crashes: list[Crash] = []
    result: Arrays = ()
    given: list[tuple[Any, Array]] = []
    with watch.phase_of("jvp", crashes), forward_ad.dual_level():
        arguments: list[Any] = []
        for value, tangent in zip(inputs, tangents, strict=True):
            x = value
            if isinstance(value, np.ndarray):
                x = engine.tensor(value)
                given.append((x, value))
            if tangent is not None:
                direction = engine.tensor(tangent)
                given.append((direction, tangent))
                x = forward_ad.make_dual(x, direction)
            arguments.append(x)
        if contract.in_place:
            arguments[0] = arguments[0].clone()
        y = engine.apply(watch.function, *arguments)
        outputs = y if isinstance(y, tuple) else (y,)
        result = tuple(
            watch.copy_of(forward_ad.unpack_dual(each).tangent)
            if engine.is_tensor(each)
            else None
            for each in outputs
        )
    # What an in-place Function changes itself is a copy.
    changed = any([not equal(engine.memory(x), before) for x, before in given])
    return Tangent(tangents, result, crashes[0] if crashes else None, changed)


def _changed(pairs: list[tuple[Array, Array]]) -> bool:
    return any(not equal(now, before) for now, before in pairs)
