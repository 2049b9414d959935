"""``replay``: what a step computes is recorded once, and then run without the graph."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.errstate import NUMPY_WARNINGS, SILENCE
from minigrad.engine.pytree import flatten, mapped, unflatten
from minigrad.nn.replaying.alike import refused, same
from minigrad.nn.replaying.guard import (
    Arguments,
    Guard,
    modes,
    refuse_listeners,
    settings_of,
)
from minigrad.nn.replaying.lens import noting, this_thread
from minigrad.nn.replaying.program import (
    Program,
    check_alike,
    results_of,
    without_graph,
)
from minigrad.nn.replaying.recording import Recording


def replay(step: Callable[..., Any]) -> Replay:
    """The step as a function that goes through its calls again, without the graph.

    ``step`` is a whole training step: gradients to None, loss, backward, optimizer. Its
    first call runs as it is; the second and the third are recorded, and compared to the
    bit with what was recorded. Later calls run that: the bodies of the operations and
    of their rules, in the same order, on the arrays of the new arguments. Parameters,
    optimizer states, running statistics, dropout's random numbers, versions and
    ``.grad`` change as in the step. It returns tensors without a graph. The Python code
    of the step does not run: no ``print`` and no count in it.

    Raises: ReplayError while recording, if the step reads a tensor's value into Python,
    changes its inputs, or computes from other numbers than in the call before; and
    later, if an argument has another shape, dtype, memory layout or (being no tensor)
    value, if a tensor of the step was replaced or a module set otherwise, and while
    hooks, a recorder, anomaly mode, forward mode or a transform are to see the graph.
    The options of optimizers may change. What is refused has changed no value.
    Not noticed is what changes only later and stands neither in the code of the step,
    or of a function that it names, nor in a module that it calls: a number that a
    method of an object takes from it, a branch on a clock. Give it as an argument.

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


class Replay:
    """What ``replay`` makes of a step; ``is_recorded`` after its third call.

    ``text`` is then the program that runs in place of the step.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._step = step
        self._name = getattr(step, "__name__", type(step).__name__)
        self._has_run = False
        self._candidate: tuple[Arguments, Program] | None = None
        self._recorded: tuple[Guard, Arguments, Program] | None = None
        self._lock = threading.RLock()

    @property
    def is_recorded(self) -> bool:
        """Whether calls run what was recorded."""
        return self._recorded is not None

    @property
    def text(self) -> str:
        """The source of the program; nothing before it is recorded."""
        return "" if self._recorded is None else self._recorded[2].text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if this_thread.notes:  # a part of another step, which is being recorded
            return mapped(without_graph, self._step(*args, **kwargs))
        with self._lock:
            if self._recorded is not None:
                guard, arguments, program = self._recorded
                guard.check()
                return run(program, arguments.arrays(args, kwargs))
            if self._has_run:
                return mapped(without_graph, self._record(args, kwargs))
            result = self._step(*args, **kwargs)
            self._has_run = True
            return mapped(without_graph, result)

    def _record(self, args: Any, kwargs: Any) -> Any:
        """Run the step once and note it; the second time, compare.

        Raises: ReplayError, after all values are again as they were before.
        """
        refuse_listeners(self._name)
        arguments = Arguments(self._name, args, kwargs)
        if self._candidate is not None:
            arrays = self._candidate[0].arrays(args, kwargs)
        recording = Recording(self._name, modes())
        try:
            result, program = self._noted(recording, arguments)
            if self._candidate is None:
                self._candidate = arguments, program
            else:
                first = self._candidate[1]
                check_alike(first, program)
                self._compare(first, program, arrays, result)
                self._recorded = Guard(first.recording), arguments, first
                first.recording.forget()
                self._candidate = None
        except Exception as error:
            refusal = recording.refusal
            if refusal is not None or isinstance(error, errors.ReplayError):
                recording.restore()
            if refusal is not None and error is not refusal:
                raise refusal from error  # NumPy or the step has made another of it
            raise
        return result

    def _noted(self, recording: Recording, arguments: Arguments) -> tuple[Any, Program]:
        """Run the step on the arguments, and make a program of what it calls."""
        for setting in settings_of(self._step):
            recording.watch(*setting)
        leaves = [
            recording.give(leaf) if isinstance(leaf, Tensor) else leaf
            for leaf in arguments.leaves
        ]
        args, kwargs = unflatten(leaves, arguments.structure)
        with noting(recording):
            result = self._step(*args, **kwargs)
        recording.close()
        inputs = sum([isinstance(leaf, Tensor) for leaf in leaves])
        return result, Program(recording, inputs, results_of(recording, result))

    def _compare(
        self, first: Program, second: Program, arrays: list[Array], result: Any
    ) -> None:
        """Run the first recording where the step has run, and compare to the bit.

        Raises: ReplayError.
        """
        recording = second.recording
        leaves, _ = flatten(result)
        wanted = values_after(recording, leaves)
        recording.restore()
        leaves, _ = flatten(run(first, arrays))
        found = values_after(recording, leaves)
        differing = [name for name in wanted if not same(wanted[name], found.get(name))]
        if differing:
            raise refused(
                self._name,
                f"what was recorded computes other values than the step: "
                f"{', '.join(differing)}",
                "call the step itself; please report what it does",
            )


def run(program: Program, arrays: list[Array]) -> Any:
    """Run what was recorded, without NumPy's warnings."""
    warnings = NUMPY_WARNINGS.get()
    try:
        NUMPY_WARNINGS.set(SILENCE)
        return program.run(arrays)
    finally:
        NUMPY_WARNINGS.set(warnings)


def values_after(recording: Recording, returned: list[Any]) -> dict[str, Any]:
    """Copies of all that a step leaves behind."""
    found: dict[str, Any] = {}
    for number, value in enumerate(returned):
        is_tensor = isinstance(value, Tensor)
        found[f"result {number + 1}"] = value.array.copy() if is_tensor else value
    for number, known in enumerate(recording.known.values()):
        of = f"of tensor {number + 1}, of shape {known.array.shape}"
        found[f"the values {of}"] = known.array.copy()
        grad = known.tensor._grad
        found[f"the gradient {of}"] = None if grad is None else grad.array.copy()
    return found
