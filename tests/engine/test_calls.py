"""How many Python functions one apply and one backward call, and in how many files.

A learner at the level *Everything* meets each of them, and each takes its time.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import minigrad

PACKAGE = str(Path(minigrad.__file__).parent)


class Mul(minigrad.autograd.Function):
    """a * b."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        a, b = ctx.saved_tensors
        return grad * b, grad * a


def called(run: Callable[[], Any]) -> tuple[int, int]:
    """The functions of the package that ``run`` calls, and the files they are in."""
    files = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PACKAGE):
            files.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return len(files), len(set(files))


def leaves() -> Any:
    return [minigrad.tensor([1.0, 2.0], requires_grad=True) for _ in range(2)]


def chain(step: Callable[[Any, Any], Any], length: int) -> Any:
    x, y = leaves()
    for _ in range(length):
        x = step(x, y)
    return x.sum()


def for_each_node(step: Callable[[Any, Any], Any]) -> tuple[float, float]:
    """What a node more costs, forward and backward: that of ten, by ten."""
    counts = []
    for length in (2, 12):
        chain(step, length).backward()
        made: list[Any] = []
        forward, _ = called(lambda: made.append(chain(step, length)))  # noqa: B023
        backward, _ = called(made[0].backward)
        counts.append((forward, backward))
    few, many = counts
    return (many[0] - few[0]) / 10, (many[1] - few[1]) / 10


def test_one_apply_calls_few_functions_in_few_files() -> None:
    x, y = leaves()
    Mul.apply(x, y).sum().backward()
    made: list[Any] = []
    functions, files = called(lambda: made.append(Mul.apply(x, y)))
    assert functions <= 15
    assert files <= 6


def test_its_backward_calls_few_functions_in_few_files() -> None:
    x, y = leaves()
    Mul.apply(x, y).sum().backward()
    functions, files = called(Mul.apply(x, y).sum().backward)
    assert functions <= 34
    assert files <= 7


def test_custom_node_takes_few_functions() -> None:
    forward, backward = for_each_node(Mul.apply)
    assert forward <= 11
    assert backward <= 12


def test_built_in_node_takes_few_functions() -> None:
    forward, backward = for_each_node(lambda a, b: a * b)
    assert forward <= 7
    assert backward <= 5


def test_counting_finds_a_function_more() -> None:
    forward, _ = for_each_node(lambda a, b: Mul.apply(a, b).detach() * b)
    assert forward > 11 + 7
