"""Look at an answer: run it in many ways and write down facts, judging nothing."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import linecache
import operator
import os
import textwrap
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

import minigrad
from minigrad import Tensor
from minigrad.autograd import Function
from minigrad.course.facts import (
    Array,
    Attribute,
    Case,
    Crash,
    Declared,
    Facts,
    Pass,
    Returned,
    Second,
    Trial,
)
from minigrad.course.limits import Deadline, OutOfTimeError

_Kept = dict[str, list[object]]

_PACKAGE = str(Path(minigrad.__file__).parent) + os.sep


class StoppedError(Exception):
    """The time was up while the answer ran; says on which case, and in which phase."""

    def __init__(self, case: str, phase: str) -> None:
        super().__init__(case, phase)
        self.case, self.phase = case, phase


def observe(
    answer: type[Function], case: Case, deadline: Deadline | None = None
) -> Facts:
    """Run ``answer`` on one case in every way a mistake could show itself.

    Raises: StoppedError if it still runs at the deadline (an hour, without one).
    """
    watch = _Watch(answer, deadline or Deadline(3600.0))
    try:
        return _observe(watch, case)
    except OutOfTimeError:
        raise StoppedError(case.name, watch.phase) from None


def _observe(watch: _Watch, case: Case) -> Facts:
    before, on_class, shared = watch.class_state(), *watch.kept_elsewhere()
    everything = (True,) * len(case.inputs)
    g = case.upstream
    trials = [
        _trial(watch, "plain", case.inputs, everything, [g]),
        _trial(watch, "double", case.inputs, everything, [2.0 * g]),
        _trial(watch, "zero", case.inputs, everything, [0.0 * g]),
        _trial(watch, "again", case.inputs, everything, [g, g]),
    ]
    for i in range(len(case.inputs)):
        needed = tuple(i == j for j in range(len(case.inputs)))
        trials.append(_trial(watch, f"only {i}", case.inputs, needed, [g]))
    if len({a.shape for a in case.inputs}) == 1:
        one = (case.inputs[0],) * len(case.inputs)
        trials.append(_trial(watch, "same", one, everything, [g], same=True))
    trials += _two_live_calls(watch, case)
    second = _second(watch, case)
    after = watch.class_state()
    changed = {name for name, value in after.items() if before.get(name) is not value}
    on_class_now, shared_now = watch.kept_elsewhere()
    declared = replace(
        declare(watch.answer, tuple(sorted(changed))),
        tensors_on_class=_grown(on_class, on_class_now),
        tensors_shared=_grown(shared, shared_now),
    )
    return Facts(case, declared, tuple(trials), second)


def declare(answer: type[Function], state_on_class: tuple[str, ...] = ()) -> Declared:
    """Read the class: decorators, style, and names saved against names unpacked."""
    own = vars(answer)
    methods = [
        m for m in ("forward", "setup_context", "backward", "vjp", "jvp") if m in own
    ]
    saved, unpacked = _names_in_source(answer)
    return Declared(
        name=answer.__name__,
        not_static=tuple(m for m in methods if not isinstance(own[m], staticmethod)),
        own_setup_context="setup_context" in own,
        saved_names=saved,
        unpacked_names=unpacked,
        state_on_class=state_on_class,
    )


def _trial(
    watch: _Watch,
    name: str,
    arrays: tuple[Array, ...],
    needed: tuple[bool, ...],
    upstreams: Sequence[Array],
    same: bool = False,
) -> Trial:
    call = _Call(watch, arrays, needed, same=same)
    call.forward()
    for i, upstream in enumerate(upstreams):
        call.backward(upstream, keep=i + 1 < len(upstreams))
    return call.trial(name)


def _two_live_calls(watch: _Watch, case: Case) -> tuple[Trial, Trial]:
    """Two calls before the first backward: does either see the other's values?"""
    everything = (True,) * len(case.inputs)
    other = tuple(a[..., ::-1] * 1.5 + 0.25 if a.ndim else a + 1.0 for a in case.inputs)
    first = _Call(watch, case.inputs, everything)
    second = _Call(watch, other, everything)
    first.forward()
    second.forward()
    first.backward(case.upstream)
    returned = first.raw_copies()
    second.backward(case.upstream * 1.25)
    rewritten = not _same(returned, first.raw_copies())
    return first.trial("first", rewritten=rewritten), second.trial("second")


def _second(watch: _Watch, case: Case) -> Second | None:
    """Derivatives of the gradients; None if they cannot be had, or raise."""
    call = _Call(watch, case.inputs, (True,) * len(case.inputs))
    call.forward()
    y = call.output
    if not isinstance(y, Tensor) or y.grad_fn is None or y.shape != case.upstream.shape:
        return None
    g = minigrad.tensor(case.upstream, requires_grad=True)
    weights = tuple(
        np.linspace(0.5, 1.5, a.size).reshape(a.shape) * (i + 1)
        for i, a in enumerate(case.inputs)
    )
    crashes: list[Crash] = []
    with watch.phase_of("backward", crashes):
        first = minigrad.autograd.grad(
            y, call.tensors, g, create_graph=True, allow_unused=True
        )
        terms = [
            (f * minigrad.tensor(w)).sum()
            for f, w in zip(first, weights, strict=True)
            if f is not None and f.requires_grad
        ]
        if terms:
            # backward, since grad would pass by a node that refuses to be derived.
            functools.reduce(operator.add, terms).backward()
    found = [x.grad for x in (*call.tensors, g)]
    return None if crashes else Second(weights, tuple(_copy(f) for f in found))


class _Watch:
    """A subclass of the answer that hands every call on unchanged and looks at it.

    So neither the answer nor the engine is patched. ``raw`` is what backward returned
    last, ``finished`` whether it came to its end.
    """

    def __init__(self, answer: type[Function], deadline: Deadline) -> None:
        self.answer = answer
        self.deadline = deadline
        self.phase = ""
        self.raw: object = None
        self.finished = False
        self.upstream_changed = False
        self.save_calls = 0
        self.function = self._subclass()

    def reset(self) -> None:
        """Forget what was seen before the next forward or backward."""
        self.raw, self.finished = None, False
        self.upstream_changed, self.save_calls = False, 0

    @contextlib.contextmanager
    def phase_of(self, phase: str, crashes: list[Crash]) -> Iterator[None]:
        """Run code of the answer; what it raises is noted in ``crashes``.

        Except KeyboardInterrupt (the learner's own wish to stop) and the deadline.
        """
        self.phase = phase
        try:
            with self.deadline.watching():
                yield
        except (KeyboardInterrupt, OutOfTimeError):
            raise
        except BaseException as error:
            crashes.append(_crash(phase, error))

    def class_state(self) -> dict[str, object]:
        """Everything stored on the class, and on the class of its ctx."""
        nodes: dict[str, object] = dict(vars(self.function._backward_cls))
        own = dict(vars(self.answer._backward_cls)) | dict(vars(self.answer))
        return {f"ctx class.{name}": value for name, value in nodes.items()} | own

    def kept_elsewhere(self) -> tuple[_Kept, _Kept]:
        """Tensors and arrays kept on the class, and in variables its code shares."""
        name = self.answer.__name__
        on_class = {
            f"{name}.{key.removeprefix('ctx class.')}": _arrays_in(value)
            for key, value in self.class_state().items()
        }
        shared: _Kept = {}
        for value in vars(self.answer).values():
            function = getattr(value, "__func__", value)
            if inspect.isfunction(function):
                try:
                    variables = inspect.getclosurevars(function)
                except ValueError:  # a variable of an outer function, not set yet
                    continue
                for key, item in {**variables.globals, **variables.nonlocals}.items():
                    shared[key] = _arrays_in(item)
        return on_class, shared

    def _subclass(self) -> type[Function]:
        answer = self.answer
        methods = [
            m
            for m in ("backward", "vjp")
            if getattr(answer, m) is not getattr(Function, m)
        ]
        namespace: dict[str, Any] = {"__module__": answer.__module__}
        if len(methods) == 1:
            namespace[methods[0]] = staticmethod(
                self._seen(getattr(answer, methods[0]))
            )
        function: Any = type(answer.__name__, (answer,), namespace)
        node = answer._backward_cls

        def counted(ctx: Any, *tensors: Any) -> None:
            self.save_calls += 1
            node.save_for_backward(ctx, *tensors)

        # A ctx is an instance of the answer's own ctx class, as the answer may ask.
        body = {"_forward_cls": function, "save_for_backward": counted}
        module = {"__module__": node.__module__}
        function._backward_cls = type(node.__name__, (node,), body | module)
        return cast(type[Function], function)

    def _seen(self, own: Callable[..., Any]) -> Callable[..., Any]:
        def backward(ctx: Any, *upstreams: Any) -> Any:
            before = [_copy(g) for g in upstreams]
            self.raw = own(ctx, *upstreams)
            self.finished = True
            self.upstream_changed = not _same(before, [_copy(g) for g in upstreams])
            return self.raw

        return backward


class _Call:
    """One call of the answer under watch, with the backward passes through it."""

    def __init__(
        self,
        watch: _Watch,
        arrays: tuple[Array, ...],
        needed: tuple[bool, ...],
        same: bool = False,
    ) -> None:
        self.watch, self.arrays, self.needed = watch, arrays, needed
        self.tensors = [
            minigrad.tensor(a.copy(order="K"), requires_grad=n)
            for a, n in zip(arrays, needed, strict=True)
        ]
        if same:
            self.tensors = [self.tensors[0]] * len(arrays)
        self.output: object = None
        self.raw: object = None
        self.facts: dict[str, Any] = {}
        self.passes: list[Pass] = []

    def forward(self) -> None:
        """Apply the answer and look at the output, its ctx and the inputs."""
        self.watch.reset()
        crashes: list[Crash] = []
        with self.watch.phase_of("forward", crashes):
            self.output = self.watch.function.apply(*self.tensors)
        if crashes:
            self.facts["crash"] = crashes[0]
            return
        self.facts["save_calls"] = self.watch.save_calls
        self.facts["forward_changed_input"] = self._inputs_changed()
        if isinstance(self.output, Tensor):
            self.facts["output"] = _copy(self.output)
            self.facts["recorded"] = self.output.requires_grad
            if self.output.grad_fn is not None:
                self.facts |= self._on_ctx(self.output.grad_fn)

    def backward(self, upstream: Array, *, keep: bool = False) -> None:
        """Send ``upstream`` through the recorded call."""
        y = self.output
        if not isinstance(y, Tensor) or y.grad_fn is None or y.shape != upstream.shape:
            return
        self.watch.reset()
        for x in self.tensors:
            x.grad = None
        crashes: list[Crash] = []
        with self.watch.phase_of("backward", crashes):
            y.backward(minigrad.tensor(upstream), retain_graph=keep)
        self.raw = self.watch.raw
        self.passes.append(
            Pass(
                upstream=upstream.copy(),
                crash=crashes[0] if crashes else None,
                returned_kind=type(self.raw).__name__ if self.watch.finished else "",
                returned=tuple(
                    Returned(type(v).__name__, _copy(v)) for v in _listed(self.raw)
                ),
                gradients=tuple(_copy(x.grad) for x in self.tensors),
                upstream_changed=self.watch.upstream_changed,
            )
        )
        if not self.facts["forward_changed_input"]:
            self.facts["backward_changed_input"] = self._inputs_changed()

    def raw_copies(self) -> list[Array | None]:
        """What backward returned, as it looks now."""
        return [_copy(v) for v in _listed(self.raw)]

    def trial(self, name: str, *, rewritten: bool = False) -> Trial:
        """The facts of this call."""
        return Trial(
            name=name,
            inputs=tuple(a.copy() for a in self.arrays),
            needed=self.needed,
            output_kind=type(self.output).__name__,
            passes=tuple(self.passes),
            rewritten=rewritten,
            **self.facts,
        )

    def _inputs_changed(self) -> bool:
        pairs = zip(self.tensors, self.arrays, strict=True)
        return any(not np.array_equal(x.array, a) for x, a in pairs)

    def _on_ctx(self, ctx: Any) -> dict[str, Any]:
        """What forward left there: saved tensors, and attributes that hold arrays."""
        kept = [s.tensor for s in ctx._raw_saved_tensors if s.tensor is not None]
        attributes = []
        for name, value in vars(ctx).items():
            array = value.array if isinstance(value, Tensor) else value
            if isinstance(array, np.ndarray):
                shares = any(np.shares_memory(array, x.array) for x in self.tensors)
                kind = type(value).__name__
                attributes.append(Attribute(name, kind, array.copy(), shares))
        saved = tuple(t.array.copy() for t in kept)
        left = bool(saved or vars(ctx))
        return {"saved": saved, "attributes": tuple(attributes), "kept": left}


def _arrays_in(value: object, depth: int = 3) -> list[object]:
    """The tensors and arrays that ``value`` is, or holds in containers."""
    if isinstance(value, Tensor | np.ndarray):
        return [value]
    if isinstance(value, Mapping):
        items = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        items = list(value)
    else:
        return []
    return [a for item in items for a in _arrays_in(item, depth - 1)] if depth else []


def _grown(before: _Kept, after: _Kept) -> tuple[str, ...]:
    """The names that hold an array which they did not hold before."""
    old = {id(a) for arrays in before.values() for a in arrays}
    return tuple(
        sorted(
            name
            for name, arrays in after.items()
            if any(id(a) not in old for a in arrays)
        )
    )


def _listed(value: object) -> list[object]:
    """What backward returned, as a list whatever it was."""
    return list(value) if isinstance(value, tuple | list) else [value]


def _copy(value: object) -> Array | None:
    if isinstance(value, Tensor):
        return value.array.copy()
    if isinstance(value, np.ndarray | np.generic | int | float):
        return np.array(value)
    return None


def _same(a: list[Array | None], b: list[Array | None]) -> bool:
    return len(a) == len(b) and all(
        (x is None and y is None)
        or (x is not None and y is not None and np.array_equal(x, y))
        for x, y in zip(a, b, strict=True)
    )


def _crash(stage: str, error: BaseException) -> Crash:
    """Describe ``error`` by the last frame of it that is not ours."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [
        f
        for f in frames
        if not f.filename.startswith(_PACKAGE) and "site-packages" not in f.filename
    ]
    kinds = tuple(k.__name__ for k in type(error).__mro__)
    if not theirs:
        return Crash(stage, kinds, str(error), inside=False)
    last = theirs[-1]
    line = last.line or linecache.getline(last.filename, last.lineno or 0).strip()
    return Crash(stage, kinds, str(error), True, last.name, line, last.lineno or 0)


def _names_in_source(answer: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names given to save_for_backward and names that saved_tensors is unpacked to."""
    saved: list[str] = []
    unpacked: list[str] = []
    for value in vars(answer).values():
        function = getattr(value, "__func__", value)
        code = getattr(function, "__code__", None)
        if code is None:
            continue
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        try:
            tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
        except (SyntaxError, IndexError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _attribute(node.func) == (
                "save_for_backward"
            ):
                saved = [a.id for a in node.args if isinstance(a, ast.Name)]
            if isinstance(node, ast.Assign) and _attribute(node.value) == (
                "saved_tensors"
            ):
                target = node.targets[0]
                if isinstance(target, ast.Tuple):
                    unpacked = [e.id for e in target.elts if isinstance(e, ast.Name)]
    return tuple(saved), tuple(unpacked)


def _attribute(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""
