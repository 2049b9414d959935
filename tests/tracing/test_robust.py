"""Programs that no recording may stumble over."""

from __future__ import annotations

import gc
import json
import signal
import sys
import threading
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine import observe
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.log import EventLog
from minigrad.tracing.pictures import picture
from minigrad.views import graph
from minigrad.views.recording import record, step
from tests.tracing import happenings
from tests.tracing.happenings import Cube
from tests.tracing.programs import Breaks, events_of
from tests.views.folding import facts_at, state_at


def shipped(trace: Trace) -> str:
    """The recording as it is saved: always JSON."""
    return json.dumps(trace.data, allow_nan=False)


class Stops(mg.autograd.Function):
    """Ctrl-C comes while forward or backward runs."""

    @staticmethod
    def forward(ctx: Any, x: Any, where: str) -> Any:
        ctx.where = where
        if where == "forward":
            raise KeyboardInterrupt
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_ctrl_c_leaves_a_recording_up_to_there(where: str) -> None:
    def program() -> None:
        x = mg.tensor(1.0, requires_grad=True)
        Stops.apply(Cube.apply(x), where).backward()

    trace = step(program)
    assert trace.data["meta"]["error"] == "KeyboardInterrupt"
    (stopped,) = events_of(trace, "exception")
    name = trace.data["sources"][stopped["s"]]["name"]
    assert name == f"Stops.{where}"
    labels = [node["label"] for node in trace.data["graph"]["nodes"]]
    assert "CubeBackward" in labels
    assert ("StopsBackward" in labels) == (where == "backward")
    x = mg.tensor(1.0, requires_grad=True)
    (x * 2).backward()
    assert x.grad is not None
    assert x.grad.item() == 2


def test_ctrl_c_in_a_with_block_is_raised_and_kept() -> None:
    trace = Trace()
    x = mg.tensor(1.0, requires_grad=True)
    with pytest.raises(KeyboardInterrupt), Recorder(trace):
        Stops.apply(x * 2, "forward")
    assert trace.data["meta"]["error"] == "KeyboardInterrupt"
    assert len(events_of(trace, "graph.node")) == 2


def test_signal_of_ctrl_c_ends_the_program_and_not_the_recording() -> None:
    def program() -> None:
        x = mg.tensor(1.0, requires_grad=True)
        y = Cube.apply(x)
        signal.raise_signal(signal.SIGINT)
        y.backward()

    # What ran before in this process may have left another handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        trace = step(program)
    finally:
        signal.signal(signal.SIGINT, before)
    assert trace.data["meta"]["error"] == "KeyboardInterrupt"
    labels = [node["label"] for node in trace.data["graph"]["nodes"]]
    assert labels == ["AccumulateGrad", "CubeBackward"]
    assert events_of(trace, "backward.begin") == []


def test_ctrl_c_at_any_step_leaves_a_usable_recording_and_nobody_listening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tracing, emit = sys.gettrace(), EventLog.emit
    told, stop = 0, 0

    def interrupted(log: EventLog, *args: Any, **fields: Any) -> None:
        nonlocal told, stop
        emit(log, *args, **fields)
        told += 1  # the lines of this function may be told, too
        if told >= stop > 0:
            stop = 0
            raise KeyboardInterrupt

    monkeypatch.setattr(EventLog, "emit", interrupted)
    usable = 0
    while stop == 0:
        told, stop = 0, usable + 1
        trace = step(happenings.hooks)
        shipped(trace)
        assert state_at(trace.data, len(trace))["say"] == trace.sentences(3)[-1]
        facts_at(trace.data, len(trace))
        assert not observe.has(object)
        assert sys.gettrace() is tracing
        if stop == 0:
            assert trace.data["meta"]["error"] == "KeyboardInterrupt"
            usable += 1
    assert usable > 40


def test_exception_names_line_and_reason_and_keeps_the_graph_so_far() -> None:
    def program() -> None:
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        Breaks.apply(y, "forward")

    trace = step(program)
    (failed,) = events_of(trace, "exception")
    assert failed["say"].startswith("Breaks.forward, line ")
    assert failed["say"].endswith("stops with KeyError: 'no such thing'")
    labels = [node["label"] for node in trace.data["graph"]["nodes"]]
    assert labels == ["AccumulateGrad", "ExpBackward0"]


def test_recursion_without_end_is_recorded_up_to_its_error() -> None:
    def deeper(x: Any, depth: int) -> Any:
        return deeper(x * 1.0, depth + 1)

    trace = Trace()
    x = mg.tensor(1.0, requires_grad=True)
    with pytest.raises(RecursionError), Recorder(trace, watch=deeper):
        deeper(x, 0)
    assert trace.data["meta"]["error"].startswith("RecursionError")
    assert len(trace) > 100
    shipped(trace)


def test_backward_of_many_levels_of_calls_is_recorded() -> None:
    def down(x: Any, depth: int) -> Any:
        return x if depth == 0 else down(x * 1.0, depth - 1)

    trace = Trace()
    x = mg.tensor(1.0, requires_grad=True)
    with Recorder(trace, watch=down):
        down(x, 50).backward()
    assert len(trace.data["graph"]["nodes"]) == 51
    assert max(event["d"] for event in trace.data["events"]) > 50


def test_threads_of_the_program_leave_no_step_and_go_on() -> None:
    grads: list[float] = []

    def elsewhere() -> None:
        x = mg.tensor(3.0, requires_grad=True)
        Cube.apply(x).backward()
        assert x.grad is not None
        grads.append(x.grad.item())

    trace = Trace()
    x = mg.tensor(2.0, requires_grad=True)
    with Recorder(trace):
        threads = [threading.Thread(target=elsewhere) for _ in range(4)]
        for thread in threads:
            thread.start()
        Cube.apply(x).backward()
        for thread in threads:
            thread.join()
    assert grads == [27.0] * 4
    labels = [node["label"] for node in trace.data["graph"]["nodes"]]
    assert labels == ["AccumulateGrad", "CubeBackward"]


def test_thousands_of_printed_lines_are_printed_and_fit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trace = Trace()
    with Recorder(trace):
        for number in range(2_000):
            print(number)
    assert len(capsys.readouterr().out.split()) == 2_000
    assert trace.data["meta"]["truncated"] is False
    assert len(trace) <= 4_002


def test_class_redefined_between_recordings_shows_its_own_lines() -> None:
    found = []
    for factor in (2, 3):
        source = (
            "class Times(Function):\n"
            "    @staticmethod\n"
            f"    def forward(ctx, x):\n        return x * {factor}\n"
            "    @staticmethod\n"
            f"    def backward(ctx, grad):\n        return grad * {factor}\n"
        )
        names: dict[str, Any] = {"Function": mg.autograd.Function}
        exec(compile(source, f"<ipython-input-{factor}-0>", "exec"), names)
        trace = Trace()
        x = mg.tensor(1.0, requires_grad=True)
        with Recorder(trace):
            y = names["Times"].apply(x)
            y.backward()
        found.append(y.item())
        returned = [e for e in events_of(trace, "return") if e["lvl"] == 2]
        assert returned
    assert found == [2.0, 3.0]


def test_deleted_tensors_are_collected_while_recorded() -> None:
    trace = Trace()
    x = mg.ones(4).requires_grad_()
    with Recorder(trace):
        y = x * 2
        z = y.exp()
        del y
        z.sum().backward()
        del z
        del x
    gc.collect()
    shipped(trace)
    assert events_of(trace, "backward.end")


MARKUP = "<script>alert(1)</script>"


def test_markup_and_unicode_in_names_and_values_are_text() -> None:
    names: dict[str, Any] = {"Function": mg.autograd.Function, "mg": mg}
    source = (
        "class Größe(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x, note):\n"
        "        ctx.note = note\n        return x * 2\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad):\n        return grad * 2, None\n"
    )
    exec(compile(source, "<ipython-input-9-0>", "exec"), names)
    trace = record(MARKUP)
    with trace as recording:
        ξ = mg.tensor(1.0, requires_grad=True)
        ψ = names["Größe"].apply(ξ, f"{MARKUP} \u2028 \ud800 🙂")
        ψ.backward()
    page = recording._repr_mimebundle_()["text/html"]
    assert MARKUP not in page
    said = " ".join(recording.sentences(level=1))
    assert "GrößeBackward" in said
    assert "ξ.grad was empty" in said


def test_markup_in_the_names_of_classes_and_attributes_is_text() -> None:
    class Keeps(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            setattr(ctx, MARKUP, x.shape)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * 2

    evil = type(MARKUP, (Keeps,), {})
    with record(MARKUP) as recording:
        evil.apply(mg.tensor(1.0, requires_grad=True)).backward()
    bundle = recording._repr_mimebundle_()
    assert [node["label"] for node in recording.data["graph"]["nodes"]][1:] == [
        f"{MARKUP}Backward"
    ]
    assert MARKUP not in bundle["text/html"]
    drawn = graph.svg_of(graph.dot_of(recording.data))
    assert drawn is not None
    assert MARKUP not in drawn[0]
    assert MARKUP in bundle["text/plain"]


@pytest.mark.parametrize("lines", [True, False])
def test_ten_megabytes_are_recorded_as_a_corner(lines: bool) -> None:
    x = mg.ones((1600, 1600)).requires_grad_()
    trace = Trace()
    with Recorder(trace, lines=lines):
        raw = x.array + 1
        (x * Cube.apply(x)).sum().backward()
    assert raw.nbytes > 10_000_000
    assert len(shipped(trace)) < (70_000 if lines else 30_000)
    values = trace.data["values"].values()
    assert all(len(value["rows"]) <= 8 for value in values)


def test_array_that_is_not_a_number_here_and_there_is_counted() -> None:
    x = np.ones((300, 300), dtype=np.float32)
    x[0, 1] = np.nan
    x[2, 3] = np.inf
    x[5, 5] = -7.0
    shown = picture(x)
    assert (shown["min"], shown["max"], shown["nan"]) == (-7.0, 1.0, 1)


def test_broadcast_array_has_the_range_of_what_it_repeats() -> None:
    shown = picture(np.broadcast_to(np.float32([[1.0], [np.nan]]), (2, 500)))
    assert (shown["min"], shown["max"], shown["nan"]) == (1.0, 1.0, 500)


def test_integers_too_large_for_a_float_have_a_range() -> None:
    shown = picture(np.array([2**62, -3]))
    assert (shown["min"], shown["max"], shown["nan"]) == (-3.0, 2.0**62, 0)
