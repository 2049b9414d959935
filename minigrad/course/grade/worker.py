"""In the box: load one submission, run what the judge asks for, say what was seen.

Everything here may be changed by the submission that it runs. It holds no expected
value, and nobody outside believes it more than a stranger.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import pkgutil
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import minigrad
from minigrad.autograd.function import Error
from minigrad.course.check import Call as OneCall
from minigrad.course.check import (
    Case,
    Contract,
    Deadline,
    Facts,
    OutOfTimeError,
    Second,
    Watch,
    as_imported,
    calls,
    crash_of,
    declare,
    examination,
    observation,
    own_random_numbers,
    submission,
)
from minigrad.course.check.probes import batches, table
from minigrad.course.check.probes.reviews import reviewed
from minigrad.course.check.probes.traversals import traverse
from minigrad.course.grade import frames, rules, serialization, stubs
from minigrad.course.grade import messages as say
from minigrad.engine import observe
from minigrad.engine.core.backward import run_here
from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.mistakes import TABLE
from minigrad.nn import data
from minigrad.tracing import messages as sentences

_MOST_ERRORS = 20

running = examination.running  # the limits of the box bound its memory


def prepare() -> None:
    """Import everything that a worker may need, before there is one.

    Of minigrad everything at all: what a worker has of it are no files any more.
    """
    stubs.set_up()
    import_all()
    keep_data()
    numbers = [np.ones(2), np.ones(2)]

    class Warm(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    contract = Contract("Warm", ("x", "y"))
    case = Case("warm", (numbers[0], numbers[1]), np.ones(2))
    with examination.answers_running(Deadline(60.0)):
        observation.observe(Warm, contract, [case], derived=rules.are_there)
    rules.asked.clear()
    guard = rules.guard
    asking: list[Any] = [calls.Call.second, batches.gradients_of, Desk.back]
    guard.asking.update([each.__code__ for each in asking])
    entering: list[Any] = [BackwardCFunction._run_backward, BackwardCFunction.apply]
    guard.entering.update([each.__code__ for each in entering])
    guard.traversal = run_here.__code__
    if rules.are_there:
        observe.add(SameEdges())


_ROOMS = "autograd engine func kernels nn nn.data ops optim tracing utils"


def import_all() -> None:
    """Import every module of the engine: later there are no files to import from."""
    rooms = [importlib.import_module(f"minigrad.{room}") for room in _ROOMS.split()]
    for package in (minigrad, *rooms):
        for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not found.ispkg and found.name not in _PROGRAMS:
                importlib.import_module(found.name)
    importlib.import_module("minigrad.bench")


_PROGRAMS = {
    f"minigrad.{name}"
    for name in ("__main__", "_bootstrap", "_installer", "_workspace")
}


class SameEdges:
    """An observer: a ctx sends its gradients to where its inputs came from.

    An answer may read its edges; with others, rules of the engine would do its work.
    """

    observes, keeps, comes_last = observe.FUNCTIONS, False, True

    def __init__(self) -> None:
        self.made: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        """Note where they lead; what once_differentiable records is the engine's."""
        if function is not Error:
            self.made[ctx] = ctx._edges

    def node_picked(self, task: Any, node: Any, gradients: Any) -> None:
        """Raises: RuntimeError if they lead elsewhere now."""
        edges = node._edges
        if rules.guard.watches() and self.made.get(node, edges) is not edges:
            rules.refuse()


def keep_data() -> None:
    """Read what else is in minigrad's files, while there are any."""
    # Teaching mode looks up what a mistake is called; both are kept once read.
    len(TABLE)
    sentences.read(sentences.ENGLISH)
    data.digits()
    data.names()


def serve(requests: int, replies: int) -> None:
    """Answer until nobody asks any more."""
    rules.guard.home = os.getpid()
    desk = Desk()
    while True:
        try:
            header, body = frames.read(requests, header_bytes=2**31, body_bytes=2**31)
        except frames.GoneError:
            return
        asked: Any = serialization.unpacked(header, body, say.ASKED, trusted=True)
        answer = desk.answer(asked)
        frames.write(replies, *serialization.packed(answer))


class Desk:
    """The submission, once it is loaded, and the calls of it that are still alive."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.calls: dict[int, tuple[OneCall, Watch]] = {}
        self.returned: list[tuple[minigrad.Tensor, list[minigrad.Tensor]]] = []

    def answer(self, asked: Any) -> Any:
        """What is to be said to one message."""
        answers: dict[type, Callable[[Any], Any]] = {
            say.Load: self.load,
            say.Observe: self.observe,
            say.Forward: self.forward,
            say.Backward: self.backward,
            say.Call: self.call,
            say.Back: self.back,
            say.Look: self.look,
        }
        return answers[type(asked)](asked)

    def load(self, asked: say.Load) -> say.Loaded:
        """Run the cells one by one; one that fails does not keep the others."""
        stubs.handed_over.clear()
        names: dict[str, Any] = {"__name__": "__main__"}
        sys.modules["__main__"].__dict__.update(names)
        names = sys.modules["__main__"].__dict__
        errors: list[str] = []
        deadline = Deadline(asked.seconds)
        too_late = False
        with own_random_numbers(asked.seed), running(deadline):
            for number, source in enumerate(asked.cells, 1):
                try:
                    with deadline.watching():
                        failed = run_cell(source, number, names)
                except OutOfTimeError:
                    errors.append(f"cell {number} was still running")
                    too_late = True
                    break
                except BaseException as error:
                    failed = error
                if failed is not None:
                    errors.append(f"cell {number}: {_named(failed)}")
        self.answers = find(asked, names)
        shipped = bool(asked.shipped) and _quietly(
            lambda: submission.are_as_shipped(
                self.answers, submission.shipped_under(asked.names, asked.shipped)
            )
        )
        found = tuple([described(each) for each in self.answers])
        rules.guard.on = True
        rules.asked.clear()  # to try things is what a notebook is for
        return say.Loaded(found, tuple(errors[:_MOST_ERRORS]), too_late, bool(shipped))

    def observe(self, asked: say.Observe) -> say.Observed:
        """Look at a Function in every way in which a mistake could show itself.

        Or, with rules, at what only they can say of it: how its gradients change.
        """
        deadline = Deadline(asked.seconds)
        answer = self.answers[asked.place]
        given = answer, asked.contract, asked.cases, deadline
        facts, seconds = list[Facts](), list[Second | None]()
        try:
            with (
                as_imported.in_force(),
                own_random_numbers(asked.seed),
                running(deadline),
            ):
                if asked.second:
                    seconds = observation.derive(*given)
                else:
                    facts = observation.observe(*given, derived=False)
        except observation.StoppedError as stopped:
            return say.Observed(case=stopped.case, phase=stopped.phase)
        return say.Observed(tuple(facts), tuple(seconds), asked=bool(rules.asked))

    def forward(self, asked: say.Forward) -> say.Forwarded:
        """One call of apply, kept for a backward."""
        answer = self.answers[asked.place]
        deadline = Deadline(3600.0)
        handle = len(self.calls)
        with as_imported.in_force(), running(deadline):
            watch = Watch(answer, deadline)
            before = watch.contents_of_class()
            names = tuple(["x"] * len(asked.arguments))
            contract = Contract(answer.__name__, names)
            call = OneCall(watch, contract, asked.arguments, asked.needs).forward()
        self.calls[handle] = call, watch
        if "crash" in call.facts:
            return say.Forwarded(handle, crash=call.facts["crash"])
        now = watch.contents_of_class()
        changed = [name for name, value in now.items() if before.get(name) != value]
        results = call.results()
        saved: tuple[int, ...] = ()
        kept: list[tuple[str, int]] = []
        if call.ctx is not None:
            things = [*call.arguments, *reversed(results)]
            places = {id(t): n for n, t in enumerate(call.arguments)}
            places |= {id(t): -1 - n for n, t in enumerate(results)}
            tensors = [t for t in things if call.engine.is_tensor(t)]
            known = {id(t) for t in tensors}
            held = call.engine.saved(call.ctx)
            saved = tuple([places[id(t)] for t in held if id(t) in known])
            parts = call.named_parts(vars(call.ctx))
            kept = [(name, places[id(t)]) for name, t in parts if id(t) in known]
        return say.Forwarded(
            handle,
            several=isinstance(call.result, tuple),
            outputs=call.facts["outputs"],
            saved=saved,
            kept=tuple([name for name, _ in kept]),
            kept_places=tuple([place for _, place in kept]),
            on_class=tuple(sorted({n.removeprefix("ctx class.") for n in changed})),
            dirty=call.facts["dirty"],
            marked=call.facts["marked"],
            materialize_grads=call.facts.get("materialize_grads", True),
        )

    def backward(self, asked: say.Backward) -> say.Went:
        """Backward through a call that was made before."""
        call, watch = self.calls[asked.handle]
        with as_imported.in_force(), running(watch.deadline):
            for place, value in zip(asked.changed, asked.values, strict=True):
                if value is not None:
                    with minigrad.no_grad():
                        call.arguments[place].copy_(minigrad.tensor(value))
            call.backward(asked.upstreams)
        if not call.passes:
            return say.Went()
        run = call.passes[-1]
        if watch.finished:
            # What an engine says of it the judge finds out with its own.
            is_sequence = isinstance(watch.raw, tuple | list)
            kind = run.returned_kind if is_sequence else "one"
            return say.Went(None, kind, run.returned)
        return say.Went(run.crash)

    def call(self, asked: say.Call) -> say.Called:
        """Call a plain function; unlike a Function it may ask for derivatives."""
        rules.guard.on = False
        try:
            with as_imported.in_force(), running(Deadline(3600.0)):
                given = [alive(each) for each in asked.arguments]
                before = {n: kept for n, t in enumerate(given) if (kept := state_of(t))}
                value = self.answers[asked.place](*given)
        except BaseException as error:
            return say.Called(crash_of("your answer", error))
        finally:
            rules.guard.on = True
        effects = [effect_on(n, given[n], old) for n, old in before.items()]
        handle = -1
        if isinstance(value, minigrad.Tensor) and value.grad_fn is not None:
            handle = len(self.returned)
            self.returned.append((value, [given[n] for n in before]))
        found = tuple([each for each in effects if each])
        return say.Called(None, as_message(value), handle, found)

    def look(self, asked: say.Look) -> say.Looked:
        """Let the answers meet live objects, which are made of plain data in here."""
        answers = [self.answers[place] for place in asked.places]
        # Who writes a traversal gets none, not even one kept from before.
        own_traversal = asked.look == traverse.__name__
        # A Function of one's own has no formula to be checked: it may differentiate.
        own_function = asked.look == reviewed.__name__
        has_formula = "Function" in map(_kind, answers) and not own_function
        rules.guard.on = own_traversal or has_formula
        try:
            with as_imported.in_force(), running(Deadline(3600.0)):
                given = [alive(each) for each in asked.given]
                return say.Looked(None, table.LOOKS[asked.look](*answers, *given))
        except BaseException as error:
            return say.Looked(crash_of("your answer", error))
        finally:
            rules.guard.on = True

    def back(self, asked: say.Back) -> say.Came:
        """The gradients of what a plain function was given."""
        value, given = self.returned[asked.handle]
        wanted = [t for t in given if t.requires_grad]
        try:
            with as_imported.in_force(), running(Deadline(3600.0)):
                upstream = minigrad.tensor(asked.upstream)
                found = minigrad.autograd.grad(
                    value, wanted, upstream, retain_graph=True, allow_unused=True
                )
        except BaseException as error:
            return say.Came(crash_of("your answer", error))
        arrived = iter(found)
        gradients = [next(arrived) if t.requires_grad else None for t in given]
        return say.Came(
            None, tuple([None if x is None else x.numpy() for x in gradients])
        )


def state_of(value: Any) -> Any:
    """What may change of a tensor; None for anything else."""
    if not isinstance(value, minigrad.Tensor):
        return None
    return value.array.copy(), value._version, value.requires_grad


def effect_on(place: int, tensor: Any, before: Any) -> say.Effect | None:
    """What has changed of it; None if nothing has."""
    numbers, version, requires_grad = before
    counted = tensor._version != version
    same = np.array_equal(tensor.array, numbers, equal_nan=True)
    if same and not counted and tensor.requires_grad == requires_grad:
        return None
    return say.Effect(place, tensor.array.copy(), counted, tensor.requires_grad)


def alive(value: Any) -> Any:
    """An argument as the answer is given it."""
    if isinstance(value, say.Tensor):
        return minigrad.tensor(value.value).requires_grad_(value.requires_grad)
    if isinstance(value, say.Source):
        names: dict[str, Any] = {"minigrad": minigrad, "Any": Any}
        exec(value.text, names)
        return names["Given"]
    return value


def as_message(value: Any) -> Any:
    """What the answer returned, as it is told to the judge."""
    if isinstance(value, minigrad.Tensor):
        return say.Tensor(value.detach().numpy(), value.requires_grad)
    if isinstance(value, tuple | list):
        parts = [as_message(each) for each in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def run_cell(source: str, number: int, names: dict[str, Any]) -> BaseException | None:
    """Run one cell, its source known to whoever asks for it; what it raised first.

    A statement that fails doesn't keep the next ones: where the engine has no rules,
    a cell that tries its answer fails before it hands it over.
    """
    source = without_magic(source)
    file = f"<cell {number}>"
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[file] = len(source), None, lines, file
    program = ast.parse(source, file)
    first: BaseException | None = None
    for statement in program.body:
        code = compile(ast.Module([statement], []), file, "exec")
        try:
            exec(code, names)
        except OutOfTimeError:
            raise
        except BaseException as error:
            first = first or error
    return first


def without_magic(source: str) -> str:
    """A cell without the lines that only a notebook understands.

    >>> without_magic("%matplotlib inline\\nx = 1 % 2")
    'pass\\nx = 1 % 2'
    """
    lines = []
    for line in source.split("\n"):
        word = line.lstrip()
        blank = line[: len(line) - len(word)]
        lines.append(blank + "pass" if word[:1] in ("%", "!", "?") else line)
    return "\n".join(lines)


def find(asked: say.Load, names: Mapping[str, Any]) -> list[Any]:
    """What was given to check last; else what bears the names of the exercise."""
    if asked.exercise in stubs.handed_over:
        given = stubs.handed_over[asked.exercise]
        if len(asked.names) < 2:  # a list may be the answer itself
            return [given]
        several = list(given) if isinstance(given, list | tuple) else [given]
        if len(several) == len(asked.names):
            return several
    return [names.get(name, MISSING) for name in asked.names] or [MISSING]


MISSING = types.SimpleNamespace()
"""Stands for an answer that is not there."""


def described(answer: Any) -> say.Found:
    """What the judge is told of an answer before it asks for anything."""
    kind = _kind(answer)
    name = str(getattr(answer, "__name__", type(answer).__name__))
    if kind == "Function":
        plain_ones = _quietly(lambda: declare(answer).not_static) or ()
        return say.Found(kind, name, None, plain_ones, has_own_apply(answer))
    return say.Found(kind, name, answer if kind == "value" else None)


def has_own_apply(answer: type[Any]) -> bool:
    """Whether the class, or the class of the class, says what apply is."""
    own = answer.__mro__[: answer.__mro__.index(minigrad.autograd.Function)]
    return any("apply" in vars(each) for each in (*own, *type(answer).__mro__))


def _kind(answer: Any) -> str:
    if answer is MISSING:
        return "missing"
    if isinstance(answer, type):
        is_function = issubclass(answer, minigrad.autograd.Function)
        return "Function" if is_function else "class"
    return "callable" if callable(answer) else "value"


def _quietly(ask: Callable[[], Any]) -> Any:
    """What ``ask`` says; None if code of the answer that it met raised."""
    try:
        return ask()
    except Exception:
        return None


def _named(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error!s:.300}"
    except Exception:
        return type(error).__name__
