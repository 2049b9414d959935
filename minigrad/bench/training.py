"""One training step of an MLP, 64-128-64-10 with a batch of 64 and Adam, on each side.

Beside torch's default and fused Adam, beside the same by hand in plain NumPy, and
beside jax, which compiles the whole step; and that of ``nn.replay`` beside jax's.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import minigrad
from minigrad.bench.floor import bounded
from minigrad.bench.harness import Program
from minigrad.bench.rows import Row, Task, compared, imported, missing

Widths = tuple[int, int, int, int]

WIDTHS = 64, 128, 64, 10
BATCH = 64
RATE, BETA1, BETA2, EPS = 0.001, 0.9, 0.999, 1e-8
GOALS = {
    "torch, default": 0.30,
    "torch, fused": 0.45,
    "plain NumPy": 1.0,
    "jax.jit": None,
}
"""For our time over theirs."""

REPLAYED_GOALS = {"jax.jit": 1.0, "torch, fused": None}
"""The same for the step that ``nn.replay`` has recorded."""


def start(batch: int = BATCH, widths: Widths = WIDTHS) -> tuple[Any, Any, list[Any]]:
    """Inputs, classes, and for each layer its weight and its bias."""
    random = np.random.default_rng(0)
    x = random.standard_normal((batch, widths[0])).astype(np.float32)
    classes = random.integers(0, widths[-1], batch)
    parameters = []
    for inside, outside in itertools.pairwise(widths):
        weight = random.standard_normal((outside, inside)) / math.sqrt(inside)
        parameters += [weight.astype(np.float32), np.zeros(outside, np.float32)]
    return x, classes, parameters


def step_of(
    torch: Any, batch: int = BATCH, widths: Widths = WIDTHS, **options: Any
) -> Program:
    """With minigrad or torch under torch's name; each call returns its loss."""
    step, inputs, target, _ = parts_of(torch, batch, widths, **options)
    return lambda: step(inputs, target).item()


def replayed_step() -> Program:
    """The step that ``nn.replay`` has recorded, begun again from the start."""
    step, inputs, target, begin = parts_of(minigrad)
    replayed = minigrad.nn.replay(step)
    while not replayed.is_recorded:
        replayed(inputs, target)
    begin()
    return lambda: replayed(inputs, target).item()


def parts_of(
    torch: Any, batch: int = BATCH, widths: Widths = WIDTHS, **options: Any
) -> tuple[Any, Any, Any, Callable[[], None]]:
    """The step as a function of inputs and classes; these; and what begins again."""
    nn = torch.nn
    sizes = list(itertools.pairwise(widths))
    model = nn.Sequential(
        nn.Linear(*sizes[0]),
        nn.ReLU(),
        nn.Linear(*sizes[1]),
        nn.ReLU(),
        nn.Linear(*sizes[2]),
    )
    x, classes, parameters = start(batch, widths)
    inputs, target = torch.tensor(x), torch.tensor(classes)
    optimizer = torch.optim.Adam(model.parameters(), RATE, **options)
    criterion = nn.CrossEntropyLoss()

    def begin() -> None:
        optimizer.state.clear()
        with torch.no_grad():
            for parameter, values in zip(model.parameters(), parameters, strict=True):
                parameter.copy_(torch.tensor(values))

    def step(inputs: Any, target: Any) -> Any:
        optimizer.zero_grad()
        loss = criterion(model(inputs), target)
        loss.backward()
        optimizer.step()
        return loss

    begin()
    return step, inputs, target, begin


def step_in_numpy() -> Program:
    """The same by hand: forward, backward, Adam."""
    x, classes, parameters = start()
    means = [np.zeros_like(one) for one in parameters]
    squares = [np.zeros_like(one) for one in parameters]
    rows = np.arange(BATCH)
    made = [0]

    def run() -> Any:
        inputs, values = [], x
        for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
            inputs.append(values)
            values = values @ weight.T + bias
            if len(inputs) < 3:
                values = np.maximum(values, 0)
        values -= values.max(1, keepdims=True)
        powers = np.exp(values)
        total = powers.sum(1, keepdims=True)
        loss = -np.mean((values - np.log(total))[rows, classes])
        grad = powers / total
        grad[rows, classes] -= 1
        grad /= BATCH
        slopes: list[Any] = []
        for layer in (2, 1, 0):
            slopes = [grad.T @ inputs[layer], grad.sum(0), *slopes]
            if layer:
                grad = (grad @ parameters[2 * layer]) * (inputs[layer] > 0)
        made[0] += 1
        length = RATE / (1 - BETA1 ** made[0])
        spread = math.sqrt(1 - BETA2 ** made[0])
        every = zip(parameters, slopes, means, squares, strict=True)
        for parameter, slope, mean, square in every:
            mean *= BETA1
            mean += (1 - BETA1) * slope
            square *= BETA2
            square += (1 - BETA2) * slope * slope
            parameter -= length * mean / (np.sqrt(square) / spread + EPS)
        return float(loss)

    return run


def step_in_jax(jax: Any) -> Program:
    """The whole step compiled: forward, backward, Adam."""
    numpy = jax.numpy
    x, classes, parameters = start()
    inputs, target = numpy.asarray(x), numpy.asarray(classes)

    def loss_of(parameters: Any) -> Any:
        values = inputs
        for layer in range(3):
            values = values @ parameters[2 * layer].T + parameters[2 * layer + 1]
            values = numpy.maximum(values, 0) if layer < 2 else values
        logs = jax.nn.log_softmax(values)
        return -numpy.mean(logs[numpy.arange(BATCH), target])

    def step(parameters: Any, means: Any, squares: Any, made: Any) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(parameters)
        means = [
            BETA1 * m + (1 - BETA1) * g for m, g in zip(means, slopes, strict=True)
        ]
        squares = [
            BETA2 * s + (1 - BETA2) * g * g
            for s, g in zip(squares, slopes, strict=True)
        ]
        length = RATE / (1 - BETA1**made)
        spread = numpy.sqrt(1 - BETA2**made)
        every = zip(parameters, means, squares, strict=True)
        moved = [p - length * m / (numpy.sqrt(s) / spread + EPS) for p, m, s in every]
        return loss, moved, means, squares

    compiled = jax.jit(step)
    zeros = [numpy.zeros_like(one) for one in parameters]
    state: list[Any] = [[numpy.asarray(one) for one in parameters], zeros, zeros, 0]

    def run() -> Any:
        loss, *moved = compiled(*state[:3], state[3] + 1.0)
        state[:] = [*moved, state[3] + 1]
        return float(loss)

    return run


def made_by(against: str, torch: Any) -> Program | None:
    """The step of another side; None if that is not installed."""
    if against == "plain NumPy":
        return step_in_numpy()
    if against == "jax.jit":
        jax = imported("jax")
        return None if jax is None else step_in_jax(jax)
    if torch is None:
        return None
    return step_of(torch, fused=True) if against == "torch, fused" else step_of(torch)


def training_row(against: str, torch: Any, seconds: float) -> Iterator[Row]:
    """A step beside one of the others; their losses have to be the same."""
    name = "MLP step, 64-128-64-10, batch 64, Adam"
    theirs = made_by(against, torch)
    if theirs is None:
        yield missing(name, against, GOALS[against])
        return
    # jax computes in threads of its own: this clock counts those of both sides.
    clock = time.process_time
    ours = step_of(minigrad)
    goal = GOALS[against]
    row = compared(name, ours, theirs, goal, against, seconds=seconds, clock=clock)
    yield bounded(row, step_of(minigrad), step_in_numpy(), seconds=seconds / 3)
    if against in REPLAYED_GOALS:
        theirs = made_by(against, torch)
        goal, ours = REPLAYED_GOALS[against], replayed_step()
        shown = f"{name}, in nn.replay"
        yield compared(shown, ours, theirs, goal, against, seconds=seconds, clock=clock)


def training_tasks(torch: Any, seconds: float) -> Iterator[Task]:
    """One for each of the others."""
    for against in GOALS:
        yield Task(
            f"MLP step beside {against}",
            partial(training_row, against, torch, seconds),
        )
