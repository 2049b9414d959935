"""A Function out here whose forward and backward run in the box.

With it the look of an exercise's own module works as it does in a notebook, while the
numbers it compares with stay on this side. It keeps what the answer keeps: a tensor
that was saved there is saved here, a result on ctx is on this ctx.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import textwrap
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import minigrad
from minigrad import errors
from minigrad.course.check import Crash, Output, Returned, probes
from minigrad.course.grade import messages as say
from minigrad.course.grade.serialization import Other

Ask = Callable[[object, Any], Any]
"""Sends a message to the worker, and waits for an answer of the type that is named."""


def stand_in(
    found: say.Found, place: int, ask: Ask, ask_rule: Ask, ask_alone: Ask
) -> Any:
    """What the judge looks at in place of this answer.

    ``ask_rule`` asks for the forward and backward of a Function, ``ask`` for anything
    else; ``ask_alone`` asks a worker that has loaded nothing.
    """
    if found.kind == "Function":
        answer: Any = _function(found, place, ask_rule)
    elif found.kind == "class":
        answer = type(_name(found), (), {})
    elif found.kind == "callable":
        answer = _callable(found, place, ask)
    else:
        return found.value

    def ask_there(look: str, places: tuple[int, ...], given: tuple[Any, ...]) -> Any:
        asked = say.Look(look, places, tuple(map(_sendable, given)))
        looked = (ask if places else ask_alone)(asked, say.Looked)
        if looked.crash is not None:
            raise raised(looked.crash)
        return looked.seen

    probes.stands_for(answer, probes.Elsewhere(place, ask_there))
    return answer


def _name(found: say.Found) -> str:
    return found.name if found.name.isidentifier() else "Answer"


def _callable(found: say.Found, place: int, ask: Ask) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        sent = tuple(map(_sendable, arguments))
        called = ask(say.Call(place, sent), say.Called)
        if called.crash is not None:
            raise raised(called.crash)
        for effect in called.effects:
            _apply(effect, arguments)
        value = _alive(called.value)
        if called.handle < 0 or not isinstance(value, minigrad.Tensor):
            return value
        tensors = [each for each in arguments if isinstance(each, minigrad.Tensor)]
        return _with_way_back(value.detach(), called.handle, tensors, ask)

    call.__name__ = _name(found)
    return call


def _apply(effect: say.Effect, arguments: tuple[Any, ...]) -> None:
    """Do to a tensor out here what was done to it in the box."""
    if not 0 <= effect.place < len(arguments):
        return
    tensor = arguments[effect.place]
    fits = isinstance(tensor, minigrad.Tensor) and (
        tensor.shape == effect.value.shape and tensor.dtype == effect.value.dtype
    )
    if not fits:
        return
    if effect.counted:
        with minigrad.no_grad():
            tensor.copy_(minigrad.tensor(effect.value))
    else:
        tensor.array[...] = effect.value
    if tensor.is_leaf:
        tensor.requires_grad_(effect.requires_grad)


def _with_way_back(
    value: Any, handle: int, tensors: Sequence[Any], ask: Ask
) -> minigrad.Tensor:
    """A tensor whose gradients come from the box."""

    class Arrived(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return value

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            came = ask(say.Back(handle, upstream.numpy()), say.Came)
            if came.crash is not None:
                raise raised(came.crash)
            found = [None if g is None else minigrad.tensor(g) for g in came.gradients]
            return tuple(found)

    result: minigrad.Tensor = Arrived.apply(*tensors)
    return result


def _sendable(value: Any) -> Any:
    """An argument as it goes through the wall: a class as its source."""
    if isinstance(value, minigrad.Tensor):
        return say.Tensor(value.detach().numpy(), value.requires_grad)
    if isinstance(value, type) and issubclass(value, minigrad.autograd.Function):
        return say.Source(source_of(value))
    return value


def source_of(function: type[Any]) -> str:
    """What a Function does, without a name or a word that says what is wrong with it.

    It is the last class in there, and called Given.
    """
    if "source" in vars(function):
        return f"import minigrad\n{function.source}"
    line = [c for c in function.__mro__[::-1] if c.__module__ == function.__module__]
    texts = [textwrap.dedent(inspect.getsource(each)) for each in line]
    names = {each.__name__: f"Base{number}" for number, each in enumerate(line)}
    names[function.__name__] = "Given"
    program = ast.parse("\n".join(texts))
    for node in ast.walk(program):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        if isinstance(node, ast.ClassDef):
            node.name = names[node.name]
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body[0] = ast.Pass()
    return f"from typing import Any\nimport minigrad\n{ast.unparse(program)}\n"


def _alive(value: Any) -> Any:
    if isinstance(value, say.Tensor):
        return minigrad.tensor(value.value).requires_grad_(value.requires_grad)
    if isinstance(value, tuple | list):
        return type(value)(map(_alive, value))
    return value


def _function(found: say.Found, place: int, ask: Ask) -> type[Any]:
    def forward(ctx: Any, *arguments: Any) -> Any:
        return _forward(ctx, function, place, arguments, ask)

    def backward(ctx: Any, *upstreams: Any) -> Any:
        return _backward(ctx, upstreams, ask)

    methods: dict[str, Any] = {"forward": forward, "backward": backward}
    body = {
        name: method if name in found.not_static else staticmethod(method)
        for name, method in methods.items()
    }
    name = _name(found)
    function: Any = type(name, (minigrad.autograd.Function,), body)
    return function  # type: ignore[no-any-return]


class _There:
    """What one call needs to be gone on with: its number, and inputs with versions.

    They are held weakly: to be kept alive by this ctx would be a finding of its own.
    """

    def __init__(self, handle: int, arguments: Sequence[Any]) -> None:
        self.handle = handle
        self.inputs = [
            (place, weakref.ref(each), each._version)
            for place, each in enumerate(arguments)
            if isinstance(each, minigrad.Tensor)
        ]

    def changed(self) -> dict[int, Any]:
        """The inputs that were written into since, by place, with their numbers."""
        alive = [(place, reference(), old) for place, reference, old in self.inputs]
        return {
            place: tensor.detach().numpy().copy()
            for place, tensor, old in alive
            if tensor is not None and tensor._version != old
        }


_NUMBERS = itertools.count()


class _OnClass:
    """Stands where the answer has left something else on its class than before."""

    def __init__(self) -> None:
        self.number = next(_NUMBERS)

    def __repr__(self) -> str:
        return f"<what the answer left, {self.number}>"


def _forward(
    ctx: Any, function: type[Any], place: int, arguments: tuple[Any, ...], ask: Ask
) -> Any:
    tensors = [isinstance(each, minigrad.Tensor) for each in arguments]
    given = tuple(
        each.detach().numpy() if is_tensor else each
        for each, is_tensor in zip(arguments, tensors, strict=True)
    )
    # Outside forward it may be any of these; here only ctx still knows.
    needs = tuple(ctx.needs_input_grad)
    went = ask(say.Forward(place, given, needs), say.Forwarded)
    if went.crash is not None:
        raise raised(went.crash)
    outputs = [_output(each, arguments) for each in went.outputs]
    marked = [n for n in went.marked if 0 <= n < len(outputs)]
    ctx.mark_non_differentiable(*[outputs[n] for n in marked])
    ctx.mark_dirty(*[arguments[n] for n in went.dirty if 0 <= n < len(arguments)])
    ctx.set_materialize_grads(went.materialize_grads)
    things = [_at(n, arguments, outputs) for n in went.saved]
    saved = [each for each in things if isinstance(each, minigrad.Tensor)]
    if saved:
        ctx.save_for_backward(*saved)
    for name, number in zip(went.kept, went.kept_places, strict=True):
        if name.isidentifier() and not hasattr(ctx, name):
            setattr(ctx, name, _at(number, arguments, outputs))
    for name in went.on_class:
        known = vars(function).get(name)
        if name.isidentifier() and (
            isinstance(known, _OnClass) or not hasattr(function, name)
        ):
            setattr(function, name, _OnClass())
    ctx.there = _There(went.handle, arguments)
    if went.several:
        return tuple(outputs)
    return outputs[0] if outputs else None


def _output(output: Output, arguments: Sequence[Any]) -> Any:
    place = output.is_input
    if place is not None and 0 <= place < len(arguments):
        return arguments[place]
    if output.value is None:
        return None if output.kind == "NoneType" else Other(output.kind)
    if output.kind == "Tensor":
        return minigrad.tensor(output.value)
    return output.value


def _at(number: int, arguments: Sequence[Any], outputs: Sequence[Any]) -> Any:
    if number >= 0:
        return arguments[number] if number < len(arguments) else None
    return outputs[-1 - number] if -1 - number < len(outputs) else None


def _backward(ctx: Any, upstreams: tuple[Any, ...], ask: Ask) -> Any:
    # As in every backward, this is where a change in place is noticed.
    _ = ctx.saved_tensors
    there: _There = ctx.there
    changed = there.changed()
    gradients = tuple(None if g is None else g.detach().numpy() for g in upstreams)
    asked = say.Backward(
        there.handle, gradients, tuple(changed), tuple(changed.values())
    )
    went = ask(asked, say.Went)
    if went.crash is not None:
        raise raised(went.crash)
    found = [_returned(each) for each in went.returned]
    if went.kind == "one":
        return found[0] if found else None
    return found if went.kind == "list" else tuple(found)


def _returned(value: Returned) -> Any:
    if value.kind == "Tensor" and value.value is not None:
        return minigrad.tensor(value.value)
    return value.value


def raised(crash: Crash) -> BaseException:
    """The exception that the answer raised, of a type that is known here."""
    for kind in crash.kinds:
        found = getattr(errors, kind, None) or getattr(builtins, kind, None)
        if isinstance(found, type) and issubclass(found, Exception):
            try:
                made = found(crash.text)
            except Exception:
                continue
            vars(made)["crash"] = crash
            return made
    return RuntimeError(crash.text)
