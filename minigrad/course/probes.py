"""Look at an answer: run it on cases and write down plain facts, judging nothing.

Facts are arrays, counts, flags and text. They hold no expected value and no object of
the answer's, so they may come from another process.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import minigrad
from minigrad import Tensor
from minigrad.autograd import Function

Array = npt.NDArray[Any]

_PACKAGE = str(Path(minigrad.__file__).parent)


@dataclass(frozen=True)
class Case:
    """One set of inputs with its upstream gradient; all arrays of one dtype."""

    name: str
    inputs: tuple[Array, ...]
    upstream: Array


@dataclass(frozen=True)
class Crash:
    """An exception of the answer: its type and bases by name, and the learner's line.

    ``inside`` says whether the learner's code was running, or its call failed.
    """

    stage: str
    kinds: tuple[str, ...]
    text: str
    inside: bool
    function: str = ""
    line: str = ""
    number: int = 0


@dataclass(frozen=True)
class Returned:
    """One value that backward returned, before the engine touched it."""

    kind: str
    value: Array | None


@dataclass(frozen=True)
class Attribute:
    """A tensor or array that was kept as an attribute of ctx."""

    name: str
    kind: str
    value: Array
    shares_input: bool


@dataclass(frozen=True)
class Pass:
    """One run of backward: what went in, what came back, what arrived at the leaves."""

    upstream: Array
    crash: Crash | None = None
    returned_kind: str = ""
    returned: tuple[Returned, ...] = ()
    gradients: tuple[Array | None, ...] = ()
    upstream_changed: bool = False


@dataclass(frozen=True)
class Trial:
    """One call of apply and the backward passes through it.

    ``name`` is one of: plain, double, zero, again (two passes through one graph),
    only 0, only 1 (the other inputs frozen), first and second (two live calls).
    """

    name: str
    inputs: tuple[Array, ...]
    needed: tuple[bool, ...]
    crash: Crash | None = None
    output_kind: str = ""
    output: Array | None = None
    recorded: bool = False
    forward_changed_input: bool = False
    backward_changed_input: bool = False
    saved: tuple[Array, ...] = ()
    save_calls: int = 0
    attributes: tuple[Attribute, ...] = ()
    passes: tuple[Pass, ...] = ()
    rewritten: bool = False


@dataclass(frozen=True)
class Declared:
    """What can be read off the class itself, without running it."""

    name: str
    not_static: tuple[str, ...]
    own_setup_context: bool
    saved_names: tuple[str, ...]
    unpacked_names: tuple[str, ...]
    state_on_class: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """Everything that was seen on one case."""

    case: Case
    declared: Declared
    trials: tuple[Trial, ...]


def observe(answer: type[Function], case: Case) -> Facts:
    """Run ``answer`` on one case in every way a mistake could show itself."""
    before = _class_state(answer)
    everything = (True,) * len(case.inputs)
    g = case.upstream
    trials = [
        _trial(answer, "plain", case.inputs, everything, [g]),
        _trial(answer, "double", case.inputs, everything, [2.0 * g]),
        _trial(answer, "zero", case.inputs, everything, [0.0 * g]),
        _trial(answer, "again", case.inputs, everything, [g, g]),
    ]
    for i in range(len(case.inputs)):
        needed = tuple(i == j for j in range(len(case.inputs)))
        trials.append(_trial(answer, f"only {i}", case.inputs, needed, [g]))
    trials += _two_live_calls(answer, case)
    state = tuple(sorted(_class_state(answer) ^ before))
    names = {name.split("=")[0] for name in state}
    return Facts(case, declare(answer, tuple(sorted(names))), tuple(trials))


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
    answer: type[Function],
    name: str,
    arrays: tuple[Array, ...],
    needed: tuple[bool, ...],
    upstreams: Sequence[Array],
) -> Trial:
    call = _Call(answer, arrays, needed)
    call.forward()
    for i, upstream in enumerate(upstreams):
        call.backward(upstream, keep=i + 1 < len(upstreams))
    return call.trial(name)


def _two_live_calls(answer: type[Function], case: Case) -> tuple[Trial, Trial]:
    """Two calls before the first backward: does either see the other's values?"""
    everything = (True,) * len(case.inputs)
    other = tuple(a[..., ::-1] * 1.5 + 0.25 if a.ndim else a + 1.0 for a in case.inputs)
    first = _Call(answer, case.inputs, everything)
    second = _Call(answer, other, everything)
    first.forward()
    second.forward()
    first.backward(case.upstream)
    arrived = [_copy(x.grad) for x in first.tensors]
    returned = first.raw_copies()
    second.backward(case.upstream * 1.25)
    again = [_copy(x.grad) for x in first.tensors]
    rewritten = not _same(arrived, again) or not _same(returned, first.raw_copies())
    return first.trial("first", rewritten=rewritten), second.trial("second")


class _Call:
    """One call of the answer under watch.

    The watch is a subclass of the answer: it hands every call on unchanged and keeps
    what backward returned, so that neither the answer nor the engine is patched.
    """

    def __init__(
        self,
        answer: type[Function],
        arrays: tuple[Array, ...],
        needed: tuple[bool, ...],
    ) -> None:
        self.answer, self.arrays, self.needed = answer, arrays, needed
        self.tensors = [
            minigrad.tensor(a.copy(order="K"), requires_grad=n)
            for a, n in zip(arrays, needed, strict=True)
        ]
        self.output: object = None
        self.crash: Crash | None = None
        self.raw: object = None
        self.save_calls, self.upstream_changed = 0, False
        self.passes: list[Pass] = []
        self.saved: tuple[Array, ...] = ()
        self.attributes: tuple[Attribute, ...] = ()
        self.output_array: Array | None = None
        self.forward_changed = self.backward_changed = False

    def forward(self) -> None:
        """Apply the answer and look at the output, its ctx and the inputs."""
        try:
            watched = self._watched_answer()
            self.output = watched.apply(*self.tensors)
        except Exception as error:
            self.crash = _crash("forward", error)
            return
        self.forward_changed = self._inputs_changed()
        if isinstance(self.output, Tensor):
            self.output_array = _copy(self.output)
            self._look_at(self.output.grad_fn)

    def backward(self, upstream: Array, *, keep: bool = False) -> None:
        """Send ``upstream`` through the recorded call."""
        y = self.output
        if not isinstance(y, Tensor) or y.grad_fn is None:
            return
        if y.shape != upstream.shape:
            return
        g = minigrad.tensor(upstream.copy())
        self.raw, self.upstream_changed = None, False
        for x in self.tensors:
            x.grad = None
        try:
            y.backward(g, retain_graph=keep)
            crash = None
        except Exception as error:
            crash = _crash("backward", error)
        values = self.raw if isinstance(self.raw, tuple | list) else (self.raw,)
        self.passes.append(
            Pass(
                upstream=upstream.copy(),
                crash=crash,
                returned_kind=type(self.raw).__name__,
                returned=tuple(Returned(type(v).__name__, _copy(v)) for v in values),
                gradients=tuple(_copy(x.grad) for x in self.tensors),
                upstream_changed=self.upstream_changed,
            )
        )
        if not self.forward_changed:
            self.backward_changed = self._inputs_changed()

    def raw_copies(self) -> list[Array | None]:
        """What backward returned, as it looks now."""
        values = self.raw if isinstance(self.raw, tuple | list) else (self.raw,)
        return [_copy(v) for v in values]

    def trial(self, name: str, *, rewritten: bool = False) -> Trial:
        """The facts of this call."""
        return Trial(
            name=name,
            inputs=tuple(a.copy() for a in self.arrays),
            needed=self.needed,
            crash=self.crash,
            output_kind=type(self.output).__name__,
            output=self.output_array,
            recorded=isinstance(self.output, Tensor) and self.output.requires_grad,
            forward_changed_input=self.forward_changed,
            backward_changed_input=self.backward_changed,
            saved=self.saved,
            save_calls=self.save_calls,
            attributes=self.attributes,
            passes=tuple(self.passes),
            rewritten=rewritten,
        )

    def _watched_answer(self) -> type[Function]:
        """A subclass of the answer that keeps count of saves and what came back."""
        answer, name = self.answer, self.answer.__name__
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
        watched = type(name, (answer,), namespace)
        node_class = watched._backward_cls
        save = node_class.save_for_backward

        def counted(ctx: Any, *tensors: Any) -> None:
            self.save_calls += 1
            save(ctx, *tensors)

        node_class.save_for_backward = counted
        return watched

    def _seen(self, own: Callable[..., Any]) -> Callable[..., Any]:
        def backward(ctx: Any, *upstreams: Any) -> Any:
            before = [_copy(g) for g in upstreams]
            self.raw = value = own(ctx, *upstreams)
            self.upstream_changed |= not _same(before, [_copy(g) for g in upstreams])
            return value

        return backward

    def _inputs_changed(self) -> bool:
        pairs = zip(self.tensors, self.arrays, strict=True)
        return any(not np.array_equal(x.array, a) for x, a in pairs)

    def _look_at(self, ctx: Any) -> None:
        if ctx is None:
            return
        kept = [s.tensor for s in ctx._raw_saved_tensors if s is not None]
        self.saved = tuple(t.array.copy() for t in kept)
        found = []
        for name, value in vars(ctx).items():
            array = value.array if isinstance(value, Tensor) else value
            if isinstance(array, np.ndarray):
                shares = any(np.shares_memory(array, x.array) for x in self.tensors)
                kind = type(value).__name__
                found.append(Attribute(name, kind, array.copy(), shares))
        self.attributes = tuple(found)


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


def _class_state(answer: type[Function]) -> set[str]:
    """Names and identities of what is stored on the class and on its node class."""
    stores = (vars(answer), vars(answer._backward_cls))
    return {f"{name}={id(v)}" for store in stores for name, v in store.items()}


def _crash(stage: str, error: Exception) -> Crash:
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
