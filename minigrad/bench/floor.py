"""What bounds the engine: the arithmetic alone, and what Python runs around it."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

import minigrad
from minigrad.bench.harness import Program, interleaved
from minigrad.bench.programs import leaf
from minigrad.bench.rows import Row, with_unit


def chain_on_arrays(size: int, length: int, backward: bool) -> Program:
    """What ``builtin_chain`` computes, by hand: NumPy's calls and nothing else."""
    x, weight, bias = (leaf(minigrad, size).detach().numpy() for _ in range(3))

    def run() -> Any:
        inputs, y = [], x
        for _ in range(length // 4):
            inputs.append(y)
            y = np.tanh(y * weight + bias + x)
        if not backward:
            return y
        last, grad, output = y, np.ones_like(y), y
        into_x, into_weight, into_bias = np.zeros((3, size), y.dtype)
        for input in reversed(inputs):
            grad = grad - grad * output * output
            into_x = into_x + grad
            into_bias = into_bias + grad
            into_weight = into_weight + grad * input
            grad = grad * weight
            output = input
        return last, into_x + grad, into_weight, into_bias

    return run


def custom_on_arrays(size: int, length: int, backward: bool) -> Program:
    """What ``custom_chain`` computes, by hand."""
    x = leaf(minigrad, size).detach().numpy()

    def run() -> Any:
        y = x
        for _ in range(length):
            y = y * 1.001
        if not backward:
            return y
        grad = np.ones_like(y)
        for _ in range(length):
            grad = grad * 1.001
        return y, grad

    return run


def double_backward_on_arrays(length: int) -> Program:
    """What ``double_backward`` computes, by hand: squares, slopes, slopes of slopes."""
    x = leaf(minigrad, 100).detach().numpy()

    def run() -> Any:
        inputs, y = [], x
        for _ in range(length):
            inputs.append(y)
            y = y * y
        grad = np.ones_like(y)
        arrived = []
        for input in reversed(inputs):
            arrived.append(grad)
            grad = 2.0 * grad * input
        of_grad, of_inputs = np.ones_like(y), []
        for input, came in zip(inputs, reversed(arrived), strict=True):
            of_inputs.append(2.0 * of_grad * came)
            of_grad = 2.0 * of_grad * input
        second = np.zeros_like(y)
        for input, directly in zip(reversed(inputs), reversed(of_inputs), strict=True):
            second = 2.0 * second * input + directly
        return grad, second

    return run


def python_calls(program: Program) -> int:
    """How many functions written in Python a run calls.

    >>> python_calls(lambda: sorted([2, 1], key=lambda number: -number))
    3
    """
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        program()
    finally:
        sys.setprofile(None)
    return calls


def bounded(
    row: Row, ours: Program, arithmetic: Program, units: int = 1, seconds: float = 1.0
) -> Row:
    """The row; one that misses its goal says what it would take to meet it.

    ``arithmetic`` computes the same by hand, in NumPy.
    """
    ratio, goal = row.ratio, row.limit
    if ratio is None or goal is None or ratio.median <= goal:
        return row
    programs = {"minigrad": ours, "NumPy": arithmetic}
    found = interleaved(programs, units, seconds, rounds=5)
    whole, alone = found["minigrad"].median, found["NumPy"].median
    calls = python_calls(ours) / units
    for_each = (whole - alone) / calls
    room = (whole * goal / ratio.median - alone) / for_each
    note = (
        f"by hand in NumPy: {with_unit(alone)}; around it {calls:.0f} Python functions "
        f"run, {with_unit(for_each)} each; the goal has room for {max(room, 0):.0f}"
    )
    return replace(row, note="\n".join([row.note, note]).strip())
