"""Both ways of hearing lines tell the same."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from minigrad.engine import observe
from minigrad.tracing import Recorder, Trace, listening, recorder

BACKENDS = ["settrace", *(["monitoring"] if hasattr(sys, "monitoring") else [])]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "settrace":
        monkeypatch.setattr(recorder, "choose_backend", listening.SettraceBackend)
    return str(request.param)


def told(program: Callable[[], Any]) -> list[str]:
    """Function and kind of the steps of ``program``, and the text of an exception."""
    trace = Trace()
    with contextlib.suppress(ValueError), Recorder(trace):
        program()
    names = [source["name"].split(".")[-1] for source in trace.data["sources"]]
    return [
        f"{names[event['s']]} {event.get('err', event['k'])}"
        for event in trace.data["events"]
        if event["k"] != "line" and names[event["s"]] != "told"
    ]


def pairs() -> Iterator[Any]:
    yield 1
    yield None
    return 2


def inner() -> int:
    return 1


async def pause() -> int:
    await asyncio.sleep(0)
    return inner()


async def count() -> AsyncIterator[int]:
    yield 1
    await asyncio.sleep(0)
    yield 2


def loop() -> None:
    for _ in pairs():
        inner()


def leave_early() -> None:
    started = pairs()
    next(started)
    started.close()
    inner()


def delegate() -> None:
    def outer() -> Iterator[Any]:
        yield from pairs()
        inner()

    list(outer())


def throw_into() -> None:
    started = pairs()
    next(started)
    started.throw(ValueError("in"))


def fail() -> None:
    raise ValueError("real")


def wait() -> None:
    async def main() -> None:
        await asyncio.gather(pause(), pause())

    asyncio.run(main())


def loop_async() -> None:
    async def main() -> None:
        async for _ in count():
            inner()

    asyncio.run(main())


STEPS = {
    loop: "loop call, pairs call, inner call, inner return, inner call, inner return, "
    "pairs return, loop return",
    leave_early: "leave_early call, pairs call, inner call, inner return, "
    "leave_early return",
    delegate: "delegate call, outer call, pairs call, pairs return, inner call, "
    "inner return, outer return, delegate return",
    throw_into: "throw_into call, pairs call, pairs ValueError: in, pairs return, "
    "throw_into return",
    fail: "fail call, fail ValueError: real, fail return",
    wait: "wait call, main call, pause call, pause call, inner call, inner return, "
    "pause return, inner call, inner return, pause return, main return, wait return",
    loop_async: "loop_async call, main call, count call, inner call, inner return, "
    "inner call, inner return, count return, main return, loop_async return",
}


@pytest.mark.parametrize(("program", "steps"), STEPS.items())
def test_suspension_is_no_step_and_failures_are(
    backend: str, program: Callable[[], Any], steps: str
) -> None:
    assert told(program) == steps.split(", ")


def test_depth_of_a_suspended_generator_is_not_counted(backend: str) -> None:
    trace = Trace()
    with Recorder(trace, watch=(loop,)):
        loop()
    depths = {e["say"]: e["d"] for e in trace.data["events"] if e["k"] == "call"}
    assert depths["inner is called."] == depths["pairs is called."]


def test_failed_start_leaves_nobody_listening(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Any) -> None:
        raise RuntimeError("no start")

    chosen = listening.SettraceBackend
    if backend == "monitoring":
        chosen = listening.MonitoringBackend
    with monkeypatch.context() as patch:
        patch.setattr(chosen, "start", refuse)
        with pytest.raises(RuntimeError, match="no start"), Recorder(Trace()):
            pass
    assert not observe.has(object)


@pytest.mark.skipif(not listening.free_tools(), reason="Python 3.12 has sys.monitoring")
def test_settrace_helps_out_where_no_tool_number_is_free() -> None:
    monitoring: Any = sys.monitoring
    taken = listening.free_tools()
    for tool in taken:
        monitoring.use_tool_id(tool, "another")
    try:
        trace = Trace()
        with Recorder(trace):
            inner()
    finally:
        for tool in taken:
            monitoring.free_tool_id(tool)
    assert trace.data["meta"]["backend"] == "settrace"
    assert "inner is called." in trace.sentences()
