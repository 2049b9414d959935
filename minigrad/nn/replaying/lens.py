"""For one call of a step: built-in code is noted as a whole, tensors show no values.

Attributes of classes and modules are exchanged for that call, and put back: so the
engine has nothing in it for this, and no other call takes longer. Other threads go on
as before: what stands in their place asks whose call it is.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import MethodType
from typing import Any

import numpy as np

from minigrad.engine import gradients, memory_order, observe, strides
from minigrad.engine.builtin import Builtin
from minigrad.engine.core import accumulate, node
from minigrad.engine.core import tensor as tensors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import this_mode
from minigrad.engine.hooks import register
from minigrad.engine.randomness import source
from minigrad.engine.tensor_grad import TensorGrad
from minigrad.nn.module import Module
from minigrad.nn.replaying.alike import PLAIN
from minigrad.nn.replaying.calls import Move, defaults_of, run_rule
from minigrad.nn.replaying.noted import Noted, real
from minigrad.nn.replaying.recording import Recording
from minigrad.ops.embedding import drawn_seed
from minigrad.optim import SGD, Adam

WHOLE: tuple[Callable[..., Any], ...] = (
    accumulate.copied,
    strides.laid_out,
    strides.shown,
    strides.strided,
    strides.summed_into_base,
    gradients.in_own_memory,
    memory_order.copy_in_order,
    memory_order.in_rows,
    memory_order.ordered_by,
)
"""Functions of the engine that fill new memory: each is noted as one call."""

_one_at_a_time = threading.RLock()


class ThisThread(threading.local):
    """Whether a step is noted in this thread."""

    notes = False


this_thread = ThisThread()


@contextmanager
def noting(recording: Recording) -> Iterator[None]:
    """Note in ``recording`` what this thread computes inside the block."""
    with _one_at_a_time, ExitStack() as undo:
        lens = Lens(recording, undo)
        lens.look_at_operations()
        lens.look_at_tensors()
        lens.look_at_modules()
        recording.is_open = True
        undo.callback(setattr, recording, "is_open", False)
        this_thread.notes = True
        undo.callback(setattr, this_thread, "notes", False)
        yield


class Lens:
    """What is exchanged; ``undo`` puts it back."""

    def __init__(self, recording: Recording, undo: ExitStack) -> None:
        self._recording = recording
        self._undo = undo

    def _swap(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner)[name]
        self._undo.callback(setattr, owner, name, before)
        setattr(owner, name, value)

    def _swap_everywhere(self, others: dict[Callable[..., Any], Any]) -> None:
        """Functions, in all modules that have imported them."""
        others_by_id = {id(function): other for function, other in others.items()}
        for name, module in list(sys.modules.items()):
            if name.startswith("minigrad.") and not name.startswith(__package__):
                for key, found in list(vars(module).items()):
                    if id(found) in others_by_id:
                        self._swap(module, key, others_by_id[id(found)])

    def _noted(self, function: Any) -> Any:
        """``function``, noted as one call where the step gets to it."""
        recording = self._recording

        def noted(*args: Any, **options: Any) -> Any:
            if recording.is_mine():
                return recording.note(function, *args, **options)
            return function(*args, **options)

        return noted

    def _noted_rule(self, function: Any) -> Any:
        """``backward`` of a built-in operation, with what its ctx holds."""
        recording = self._recording

        def noted(ctx: Any, *gradients: Any) -> Any:
            if not recording.is_mine() or this_mode().rules_see_tensors:
                return function(ctx, *gradients)
            found = vars(ctx).items()
            attributes = {name: value for name, value in found if name[0] != "_"}
            attributes = defaults_of(type(ctx)) | attributes
            saved, needs = ctx.saved_values, ctx.needs_input_grad
            return recording.note(
                run_rule, function, needs, saved, attributes, *gradients
            )

        return noted

    def look_at_operations(self) -> None:
        """Bodies of built-in operations, and of the engine's own helpers."""
        for operation in {*subclasses(Builtin)}:
            for name, noted in (
                ("forward", self._noted),
                ("backward", self._noted_rule),
            ):
                body = vars(operation).get(name)
                if isinstance(body, staticmethod):
                    self._swap(operation, name, staticmethod(noted(body.__func__)))
                elif isinstance(body, classmethod):
                    self._swap(operation, name, of_class(noted, body.__func__))
        for optimizer in (SGD, Adam):
            self._swap(optimizer, "_move", self._noted_move(optimizer._move))
        others = {function: self._noted(function) for function in WHOLE}
        others |= {drawn_seed: self._noted_draw(), register: self._refused_hook()}
        others[source] = self._refused_source()
        self._swap_everywhere(others)
        self._swap(node, "added", self._heard_gradient())
        self._swap(node, "is_own", lambda *args: False)
        self._undo.enter_context(observe.unobserved())
        self._swap(strides, "address_of", lambda array: address_of(real(array)))

    def _noted_move(self, move: Any) -> Any:
        recording = self._recording

        def look_and_move(
            optimizer: Any, memory: Any, gradient: Any, param: Any, group: Any
        ) -> None:
            if not recording.is_mine():
                move(optimizer, memory, gradient, param, group)
                return
            recording.look_at_optimizer(optimizer, param, group)
            recording.note(Move(move, optimizer, param, group), memory, gradient)

        return look_and_move

    def _noted_draw(self) -> Any:
        recording = self._recording
        return lambda: (
            recording.draw(drawn_seed) if recording.is_mine() else drawn_seed()
        )

    def _refused_source(self) -> Any:
        recording = self._recording

        def refuse_source(generator: Any) -> Any:
            if recording.is_mine():
                recording.refuse(
                    "random numbers are drawn, and not by dropout",
                    "draw them outside of the step, and give them in a tensor",
                )
            return source(generator)

        return refuse_source

    def _heard_gradient(self) -> Any:
        recording = self._recording

        def add(leaf: Tensor, *args: Any) -> Tensor:
            if recording.is_mine():
                recording.accumulate(leaf)
            return accumulate.added(leaf, *args)

        return add

    def _refused_hook(self) -> Any:
        recording = self._recording

        def refuse_hook(hooks: Any, hook: Any) -> Any:
            if recording.is_mine():
                recording.refuse(
                    "a hook is registered in the step; a replay has no graph to call "
                    "it from",
                    "do what the hook does in the step itself",
                )
            return register(hooks, hook)

        return refuse_hook

    def look_at_tensors(self) -> None:
        """``tensor.array`` gives a Noted; its changes are counted in replays too."""
        recording = self._recording
        place: Any = vars(Tensor)["array"]
        bump, to_numpy, array_of = (
            Tensor._bump_version,
            Tensor.__array__,
            tensors.array_of,
        )

        def get(tensor: Tensor) -> Any:
            array = place.__get__(tensor, Tensor)
            return recording.read(tensor, array) if recording.is_mine() else array

        def put(tensor: Tensor, value: Any) -> None:
            if recording.is_mine():
                before = place.__get__(tensor, Tensor) if is_set(tensor) else None
                value = recording.written(tensor, value, before)
            place.__set__(tensor, value)

        def is_set(tensor: Tensor) -> bool:
            try:
                place.__get__(tensor, Tensor)
            except AttributeError:
                return False
            return True

        def count(tensor: Tensor) -> None:
            older = recording.counted_with(tensor) if recording.is_mine() else None
            if older is None:
                bump(tensor)
            else:
                recording.note(bump, older)

        def convert(tensor: Tensor, *args: Any, **options: Any) -> Any:
            if recording.is_mine():
                return tensor.array.__array__()
            return to_numpy(tensor, *args, **options)

        def array_or_noted(values: Any) -> Any:
            if type(values) is not Noted:
                return array_of(values)
            is_array = type(real(values)) is np.ndarray
            return values if is_array else recording.note(array_of, values)

        def set_grad(tensor: Tensor, value: Any) -> None:
            if recording.is_mine():
                recording.read(tensor, place.__get__(tensor, Tensor))
            grad.__set__(tensor, value)

        grad: Any = vars(TensorGrad)["grad"]
        self._swap(TensorGrad, "grad", grad.setter(set_grad))
        self._swap(Tensor, "array", property(get, put))
        self._swap(Tensor, "_bump_version", count)
        self._swap(Tensor, "__array__", convert)
        self._swap(tensors, "array_of", array_or_noted)

    def look_at_modules(self) -> None:
        """Remember how the modules are set that the step calls."""
        recording, call = self._recording, Module.__call__

        def heard(module: Module, *args: Any, **kwargs: Any) -> Any:
            if recording.is_mine():
                watch_module(recording, module)
            return call(module, *args, **kwargs)

        self._swap(Module, "__call__", heard)


def watch_module(recording: Recording, module: Module) -> None:
    """Its options, whether it trains, and what is registered under its names."""
    own, kind = vars(module), type(module).__name__
    for name, value in own.items():
        if isinstance(value, PLAIN):
            recording.watch(own, name, value, kind)
    for table in ("_parameters", "_buffers", "_modules"):
        for name, value in own[table].items():
            recording.watch(own[table], name, value, kind)
    for inner in module.modules():
        recording.watch(vars(inner), "training", inner.training, type(inner).__name__)


address_of = strides.address_of


def of_class(noted: Any, function: Any) -> Any:
    """A class method that notes ``function`` bound to the class."""

    def call(kind: type[Any], *args: Any, **options: Any) -> Any:
        return noted(MethodType(function, kind))(*args, **options)

    return classmethod(call)


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    """All of them, at any depth."""
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)
