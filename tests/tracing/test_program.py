"""The block around a recording runs again, wherever it stands."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.edits import Again, first_difference

seen: list[Any] = []


@contextlib.contextmanager
def noted(name: str) -> Iterator[str]:
    seen.append(name)
    yield name


def same_again(trace: Trace) -> int:
    """Run the program again: it must tell the same. How many steps it has."""
    control = Trace()
    assert trace.program is not None
    Again(control, trace.program).run()
    assert first_difference(trace, control) is None
    assert len(trace) > 3
    return len(trace)


class Inside:
    """A block in a method, which uses what is around it."""

    factor = 3.0

    def run(self, x: Any, count: int = 2) -> Trace:
        trace = Trace()

        def scaled(one: Any) -> Any:
            nonlocal count
            count += 1
            return one * count * self.factor

        with noted("before"), Recorder(trace, keep_values=True) as _, noted("after"):
            total = sum([scaled(x) for _ in range(count)])
            total.sum().backward()
        return trace


def test_block_in_a_method_with_closures_and_other_managers() -> None:
    seen.clear()
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    same_again(Inside().run(x))
    assert seen == ["before", "after"]


def test_block_that_returns() -> None:
    trace = Trace()

    def inner(x: Any) -> Any:
        with Recorder(trace, keep_values=True):
            y = x * 2
            y.backward()
            return y

    inner(mg.tensor(1.0, requires_grad=True))
    same_again(trace)


def test_modes_around_the_block_are_put_back() -> None:
    trace = Trace()
    np.random.seed(3)
    mg.manual_seed(4)
    with mg.no_grad(), Recorder(trace, keep_values=True):
        x = mg.randn(2) * float(np.random.rand())
        with mg.enable_grad():
            y = mg.rand(2, requires_grad=True)
            (x * y).sum().backward()
    state = np.random.rand(), mg.rand(1).item()
    np.random.seed(3)
    mg.manual_seed(4)
    np.random.rand(), mg.randn(2), mg.rand(2)
    assert state == (np.random.rand(), mg.rand(1).item())
    same_again(trace)
    assert mg.is_grad_enabled()


def test_error_of_the_block_comes_again() -> None:
    trace = Trace()
    with contextlib.suppress(KeyError), Recorder(trace, keep_values=True):
        x = mg.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        raise KeyError("at the end")
    assert "KeyError" in trace.data["meta"]["error"]
    same_again(trace)


def test_call_runs_again_with_the_names_of_the_caller() -> None:
    w = mg.tensor(2.0, requires_grad=True)
    trace = mg.step(lambda: (w * 3).backward(), keep_values=True)
    assert "w gets 3 \u00d7 1 = 3." in trace.sentences()
    same_again(trace)


def test_tensor_with_two_names_is_called_as_before(tmp_path: Path) -> None:
    source = (
        "x = mg.tensor(2.0, requires_grad=True)\n"
        "other = x\n"
        "with Recorder(trace, keep_values=True):\n"
        "    (other * other).backward()\n"
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    trace = Trace()
    names = {"Recorder": Recorder, "trace": trace, "mg": mg}
    exec(compile(source, str(path), "exec"), names)
    assert "x gets 2 \u00d7 1 = 2, because x was 2" in " ".join(trace.sentences(1))
    same_again(trace)


def why_not(source: str) -> str:
    trace = Trace()
    names = {"Recorder": Recorder, "trace": trace, "mg": mg}
    exec(compile(source, "<nowhere>", "exec"), names)
    assert trace.program is not None
    return trace.program.why_not


def test_program_without_its_text_says_so() -> None:
    source = "with Recorder(trace, keep_values=True):\n    mg.ones(2) * 2\n"
    assert why_not(source) == "the program's lines can't be found"


def yielding(trace: Trace) -> Iterator[Any]:
    with Recorder(trace, keep_values=True):
        yield mg.ones(2) * 2


def test_block_that_yields_says_so() -> None:
    trace = Trace()
    list(yielding(trace))
    assert trace.program is not None
    assert trace.program.why_not == "the program yields or awaits"
    in_a_loop = Trace()
    for _ in range(2):
        with Recorder(in_a_loop, keep_values=True):
            _ = mg.ones(2) * 2
            break
    assert in_a_loop.program is not None
    says = "the program cannot stand alone: 'break' outside loop"
    assert says in in_a_loop.program.why_not


held = mg.tensor(5.0, requires_grad=True)


def times_held(x: Any) -> None:
    (x * held).backward()


def test_names_inside_and_outside_are_kept_apart() -> None:
    def by_name(held: Any) -> Trace:
        return mg.step(times_held, held, keep_values=True)

    trace = by_name(mg.tensor(2.0, requires_grad=True))
    leaves = [node["tensor"] for node in trace.data["graph"]["nodes"][:2]]
    assert leaves == ["held", "held"]
    same_again(trace)


def test_block_that_is_over_is_not_the_program() -> None:
    ran: list[int] = []
    with mg.no_grad():
        ran.append(1)
    session = mg.record(keep_values=True)
    trace = session.__enter__()
    (mg.tensor(2.0, requires_grad=True) * 3).backward()
    session.__exit__(None, None, None)
    assert trace.program is not None
    assert "lines can't be found" in trace.program.why_not
    assert ran == [1]


def test_block_in_the_body_of_a_class_says_so() -> None:
    class Body:
        with mg.record(keep_values=True) as trace:
            (mg.tensor(2.0, requires_grad=True) * 3).backward()

    assert Body.trace.program is not None
    assert "the body of a class" in Body.trace.program.why_not


class Writes:
    """What writes a file when it is copied."""

    path = ""

    def __init__(self) -> None:
        self.kept = 3.0

    def __setstate__(self, state: Any) -> None:
        with open(self.path, "w"):  # copies know no module here
            pass


def test_copy_that_would_write_a_file_is_refused(tmp_path: Path) -> None:
    Writes.path = str(tmp_path / "copied.txt")
    one = Writes()
    with mg.record(keep_values=True) as trace:
        (mg.tensor(2.0, requires_grad=True) * one.kept).backward()
    with pytest.raises(mg.errors.MinigradError, match="writes to"):
        trace.what_if("MulBackward0 is ready", gradient=2.0)
    assert not Path(Writes.path).exists()


def test_array_of_a_class_that_is_installed_is_copied() -> None:
    kind = type("Quantity", (np.ndarray,), {"__module__": "an_installed_one"})
    units = np.array([2.0, 1.0]).view(kind)
    with mg.record(keep_values=True) as trace:
        units[0] += 1
        (mg.tensor([1.0, 1.0], requires_grad=True) * mg.tensor(np.asarray(units))).sum()
    assert same_again(trace) > 0
    assert units.tolist() == [3.0, 1.0]
