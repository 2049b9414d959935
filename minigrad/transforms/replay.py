"""``replay``: what a step computes is recorded once, and then run without the graph."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import NUMPY_WARNINGS, SILENCE
from minigrad.engine.interpreters import opened_here
from minigrad.engine.pytree import Structure, flatten, mapped, unflatten
from minigrad.transforms.replay_guard import (
    Arguments,
    Guard,
    modes,
    refuse_listeners,
    settings_of,
)
from minigrad.transforms.replay_notes import Program, refused, same
from minigrad.transforms.replay_recorder import Recorder

__all__ = ["Replay", "replay"]


def replay(step: Callable[..., Any]) -> Replay:
    """The step as a function that goes through its calls again, without the graph.

    ``step`` is a whole training step: gradients to None, loss, backward, optimizer. Its
    first call runs as it is, the second is recorded, and the third runs both ways: what
    was recorded has to compute the same bits as the step. Later calls run that alone:
    the bodies of the operations and of their rules, in the same order, on the arrays of
    the new arguments, and the optimizer's own step. Parameters, optimizer states,
    running statistics, dropout's random numbers, versions and ``.grad`` change as in
    the step. It returns tensors without a graph. The Python code of the step does not
    run (no ``print``, no count), but for the methods of Functions.

    Raises: ReplayError while recording, if the step reads a tensor's value into Python,
    changes its inputs, or computes other values in the next call; and later, if an
    argument has another shape, dtype, memory layout or (being no tensor) value, if a
    tensor of the step was replaced or a module set otherwise, and while hooks, a
    recorder, anomaly mode, forward mode or a transform are to see the graph. The
    options of optimizers may change. What is refused has changed no value.
    Not noticed is what changes only later and stands neither in the code of the step,
    or of a function that it names, nor in a module that it calls: a number that a
    method of an object takes from it, a branch on a clock. Give it as an argument. Nor
    is what NumPy does with ``tensor.array``, unless the first calls show it.

    >>> w = minigrad.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = minigrad.optim.SGD([w], lr=0.5)
    >>> def step(x):
    ...     optimizer.zero_grad()
    ...     loss = ((w - x) ** 2).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> fast = minigrad.nn.replay(step)
    >>> [fast(minigrad.tensor([3.0, i])).item() for i in (3.0, 2.0, 2.0, 4.0)]
    [5.0, 1.0, 0.0, 4.0]
    >>> w
    tensor([3., 4.], requires_grad=True)
    """
    return Replay(step)


class Recorded(NamedTuple):
    """A step that was recorded; ``untried``: what to compare its next call with."""

    guard: Guard
    untried: Recorder | None
    arguments: Arguments
    program: Program
    structure: Structure


class Replay:
    """What ``replay`` makes of a step; ``is_recorded`` after its third call.

    ``text`` is then the program that runs in place of the step.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._step = step
        self._name = getattr(step, "__name__", type(step).__name__)
        self._has_run = False
        self._recorded: Recorded | None = None
        self._lock = threading.RLock()

    @property
    def is_recorded(self) -> bool:
        """Whether calls run what was recorded."""
        return self._recorded is not None and self._recorded.untried is None

    @property
    def text(self) -> str:
        """The source of the program; nothing before it is recorded."""
        return "" if self._recorded is None else self._recorded.program.text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any([one.kind == "replay" for one in opened_here()]):
            # A part of another step, which is being recorded.
            return mapped(without_graph, self._step(*args, **kwargs))
        with self._lock:
            if self._recorded is not None:
                guard, untried, arguments, program, structure = self._recorded
                guard.check()
                arrays = arguments.arrays(args, kwargs)
                if untried is not None:
                    self._try(untried, arrays, args, kwargs)
                return unflatten(run(program, arrays), structure)
            if self._has_run:
                return self._record(args, kwargs)
            result = self._step(*args, **kwargs)
            self._has_run = True
            return mapped(without_graph, result)

    def _record(self, args: Any, kwargs: Any) -> Any:
        """Run the step once, and note what it computes.

        Raises: ReplayError, after all values are again as they were before.
        """
        refuse_listeners(self._name)
        arguments = Arguments(self._name, args, kwargs)
        recorder = Recorder(self._name, modes())
        for setting in settings_of(self._step):
            recorder.watch(setting)
        try:
            with recorder.listening():
                result = self._step(*recorder.give(args), **recorder.give(kwargs))
            recorder.close()
        except Exception as error:
            refusal = recorder.refusal
            if refusal is not None:
                recorder.restore()
                if error is not refusal:  # NumPy or the step has made another of it
                    raise refusal from error
            raise
        leaves, structure = flatten(mapped(without_graph, result))
        program = recorder.program([recorder.spec(leaf) for leaf in leaves])
        guard = Guard(recorder)
        self._recorded = Recorded(guard, recorder, arguments, program, structure)
        return unflatten(leaves, structure)

    def _try(
        self, recorder: Recorder, arrays: list[Array], args: Any, kwargs: Any
    ) -> None:
        """Run the step, then the program from the same start: are the bits the same?

        Afterwards all values are as before. If it raises, the next call records anew.
        Raises: ReplayError if they are not.
        """
        recorded, self._recorded = self._recorded, None
        assert recorded is not None
        recorder.look_again()
        try:
            leaves, structure = flatten(self._step(*args, **kwargs))
            wanted = {"the nesting": structure, **recorder.values_after(leaves)}
            recorder.restore()
            found = run(recorded.program, arrays)
            values = {"the nesting": recorded.structure, **recorder.values_after(found)}
        finally:
            recorder.restore()
        differing = [key for key in wanted if not same(wanted[key], values.get(key))]
        if differing:
            raise refused(
                self._name,
                "what was recorded computes other values than the next call of the "
                f"step: {', '.join(differing)}",
                "give what changes from call to call as an argument, in a tensor; keep "
                "what stays in tensors, and change those in place",
            )
        self._recorded = recorded._replace(untried=None)


def run(program: Program, arrays: list[Array]) -> list[Any]:
    """Run what was recorded, without NumPy's warnings."""
    warnings = NUMPY_WARNINGS.get()
    try:
        NUMPY_WARNINGS.set(SILENCE)
        return program.run(*arrays)
    finally:
        NUMPY_WARNINGS.set(warnings)


def without_graph(value: Any) -> Any:
    """A tensor without its graph; anything else as it is."""
    return value.detach() if isinstance(value, Tensor) else value
