"""Hooks, changes in place, unused outputs, a second graph, tangents, checkpoints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.tracing import Recorder, Trace, listening, recorder
from minigrad.tracing.budget import ctx_changes
from minigrad.utils.checkpoint import checkpoint
from minigrad.views import graph, picture
from tests.tracing import happenings
from tests.tracing.programs import Breaks, events_of
from tests.views import folding

GOLDEN = Path(__file__).with_name("happenings.sentences.txt")
Json = dict[str, Any]


def facts_after(trace: Trace, event: Json) -> Json:
    at = next(i for i, e in enumerate(trace.data["events"], 1) if e is event)
    return folding.facts_at(trace.data, at)


def numbers(trace: Trace, ref: Json | None) -> list[Any]:
    assert ref is not None
    value = trace.data["values"][ref["v"]]
    return [x for row in value["rows"] for x in row]


@pytest.mark.parametrize("backend", ["the better", "settrace"])
def test_stories_are_the_golden_ones_with_either_backend(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend == "settrace":
        monkeypatch.setattr(recorder, "choose_backend", listening.SettraceBackend)
    assert happenings.told() == GOLDEN.read_text(encoding="utf-8")


def test_hook_is_a_step_with_what_went_in_and_what_came_out() -> None:
    trace = happenings.recorded(happenings.hooks)
    kinds = [e["k"] for e in trace.data["events"] if e["k"].startswith("hook.")]
    assert kinds == ["hook.pre", "hook.post", "hook.tensor", "hook.accumulated"]
    (hooked,) = events_of(trace, "hook.tensor")
    assert numbers(trace, hooked["g"]) == [6.0]
    assert numbers(trace, hooked["new"]) == [60.0]
    waiting = facts_after(trace, hooked)["waiting"][hooked["n"]]["0"]
    assert numbers(trace, waiting["total"]) == [60.0]
    (post,) = events_of(trace, "hook.post")
    assert post["new"] is None


def test_rule_has_returned_once_each_time_it_runs_whatever_its_hooks_do() -> None:
    def once_more(*given: Any) -> None:
        with mg.enable_grad():
            happenings.Cube.apply(mg.tensor(1.0, requires_grad=True)).backward()

    def fails(*given: Any) -> None:
        raise LookupError

    def program() -> None:
        y = happenings.Cube.apply(mg.tensor(2.0, requires_grad=True))
        y.grad_fn.register_hook(happenings.look)
        y.grad_fn.register_hook(once_more)
        handle = y.grad_fn.register_hook(fails)
        with pytest.raises(LookupError):
            y.backward(retain_graph=True)
        handle.remove()
        y.backward()

    events = happenings.recorded(program).data["events"]
    returned = [e["returned"] for e in events if "returned" in e]
    assert len(returned) == 2 + 2  # of y, and of what its second hook does


def test_packed_value_counts_with_its_own_bytes() -> None:
    trace = happenings.recorded(happenings.saved_hooks)
    (packed,) = events_of(trace, "hook.pack")
    assert "(8 bytes)" in packed["say"]
    items = folding.memory_at(trace.data, len(trace)).values()
    saved = [i for i in items if i["key"] == "saved.0"]
    assert [item["bytes"] for item in saved] == [8, 4]
    assert saved[0]["by"] == "another value took its place"
    assert saved[0]["until"] <= saved[1]["at"]
    (unpacked,) = events_of(trace, "hook.unpack")
    assert numbers(trace, unpacked["new"]) == [1.0, 2.0]


@pytest.mark.parametrize("lines", [True, False])
def test_handle_moves_to_the_new_node_with_each_change_in_place(lines: bool) -> None:
    trace = Trace()
    with Recorder(trace, lines=lines):
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        y.mul_(3)
        y.add_(1)
        y.sum().backward()
    assert [event["ver"] for event in events_of(trace, "inplace")] == [1, 2]
    nodes = [e for e in events_of(trace, "graph.node") if e["lvl"] <= 1]
    handles = [facts_after(trace, node)["handles"].get("y") for node in nodes[:3]]
    # Without lines, and before Python 3.13 made `f_locals` a live view (PEP 667), a
    # function's variables are looked at when the recording ends.
    is_live = lines or sys.version_info >= (3, 13)
    last = nodes[2]["n"]
    assert handles == ([n["n"] for n in nodes[:3]] if is_live else [None, None, last])
    after = facts_after(trace, trace.data["events"][-1])["handles"]
    assert after["y"] == nodes[2]["n"]


def test_deleted_variable_is_told_as_gone_and_another_as_it_was() -> None:
    def program() -> None:
        x = mg.tensor(1.0, requires_grad=True)
        y = x * 2
        del x
        y.backward()

    told = [e["loc"] for e in mg.step(program).data["events"] if "loc" in e]
    assert [name for one in told for name, ref in one.items() if ref is None] == ["x"]
    assert "y" in {name for one in told for name in one}


def test_what_is_no_change_in_place_is_not_called_one() -> None:
    trace = happenings.recorded(happenings.hooks)
    assert events_of(trace, "inplace") == []


def test_change_in_place_is_shown_at_once_on_all_that_saved_the_value() -> None:
    trace = happenings.recorded(happenings.changed_after_saving)
    events = trace.data["events"]
    (at,) = [i for i, e in enumerate(events, 1) if e["k"] == "inplace"]
    names = {ctx["id"]: ctx["name"] for ctx in trace.data["ctxs"]}
    told = {
        names[change["id"]]: [
            folding.value_text(trace.data, ref) for ref in change["set"].values()
        ]
        for change in ctx_changes(events[at - 1])
    }
    assert list(told) == ["CubeBackward", "MulBackward0"]
    for (text,) in told.values():
        assert "y float32 [2] ⚠ saved at version 0, now version 1" in text
    # nothing is at work then: the learner's own ctx is the one that is shown
    shown = folding.state_at(trace.data, at)["ctx"]
    assert names[shown["id"]] == "CubeBackward"
    assert "now version 1" in shown["entries"]["saved.0"]


def test_change_in_place_after_backward_is_on_no_ctx() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        y = x * 1
        z = y * y
        kept = happenings.Cube.apply(y)
        z.sum().backward()
        with mg.no_grad():
            y.mul_(3)
    (changed,) = events_of(trace, "inplace")
    assert "The box of Cube counts on version 0." in changed["say"]
    assert "others" not in changed
    assert kept.requires_grad


def test_adding_to_grad_is_no_change_in_place_of_its_own() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        (x * 2).backward()
        (x * 2).backward()
    assert x.grad is not None
    assert x.grad._version == 1
    assert events_of(trace, "inplace") == []


@pytest.mark.parametrize("materialize", [True, False])
def test_unused_output_is_given_zeros_or_none(materialize: bool) -> None:
    program = happenings.zeros_for_unused if materialize else happenings.none_for_unused
    trace = happenings.recorded(program)
    unused = events_of(trace, "grad.zeros", "grad.absent")
    assert {e["k"] for e in unused} == {"grad.zeros" if materialize else "grad.absent"}
    assert [event["slot"] for event in unused] == [1, 2]
    waiting = facts_after(trace, unused[0])["waiting"][unused[0]["n"]]["1"]["total"]
    if materialize:
        assert numbers(trace, waiting) == [0.0, 0.0]
    else:
        assert waiting is None


def test_output_without_gradient_is_drawn_so() -> None:
    trace = happenings.recorded(happenings.zeros_for_unused)
    (node,) = [n for n in trace.data["graph"]["nodes"] if n["outputs"] == 3]
    assert "out 1<" in graph.dot_of(trace.data)
    (shown,) = picture.pictures_of(trace.data)
    (part,) = [one for one in shown["parts"] if one["id"] == node["id"]]
    assert part["plain"] == [2]


def test_second_graph_lies_above_the_first() -> None:
    trace = happenings.recorded(happenings.double_backward)
    orders = {n["label"]: n["order"] for n in trace.data["graph"]["nodes"]}
    assert orders == {
        "CubeBackward": 1,
        "AccumulateGrad": 1,
        "PowBackward0": 2,
        "MulBackward0": 2,
    }
    ids = {n["label"]: n["id"] for n in trace.data["graph"]["nodes"]}
    drawn = graph.dot_of(trace.data)
    pair = f"{ids['PowBackward0']} -> {ids['CubeBackward']} [style=invis]"
    assert pair in drawn
    assert drawn.count("invis") == 1


def test_backward_without_create_graph_makes_no_second_graph() -> None:
    trace = happenings.recorded(happenings.in_place)
    assert {n["order"] for n in trace.data["graph"]["nodes"]} == {1}
    assert "invis" not in graph.dot_of(trace.data)


def test_error_in_a_recorded_backward_ends_its_graph() -> None:
    def fail(grad: Any) -> None:
        raise KeyError("no")

    x = mg.tensor(2.0, requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        y = x * x
        y.register_hook(fail)
        with pytest.raises(KeyError):
            mg.autograd.grad(y, x, create_graph=True)
        (x * x).backward()
    assert {n["order"] for n in trace.data["graph"]["nodes"]} == {1}


@pytest.mark.parametrize("tries", [1, 2])
def test_node_that_an_error_has_ended_is_at_work_no_more(tries: int) -> None:
    class Tries(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            for _ in range(tries):
                with mg.enable_grad():
                    y = Breaks.apply(mg.tensor(1.0, requires_grad=True), "backward")
                with pytest.raises(KeyError):
                    y.backward()
            return grad

    x = mg.tensor(2.0, requires_grad=True)
    with Recorder(Trace(), lines=False) as trace:
        Tries.apply(x).backward()
    (tried,) = [one["id"] for one in trace.data["ctxs"] if "Tries" in one["name"]]
    _, *inside = events_of(trace, "backward.begin")
    (returned,) = [one for one in trace.data["events"] if "returned" in one]
    assert [one["cid"] for one in (*inside, returned)] == [tried] * (tries + 1)


def test_tangents_run_with_the_values() -> None:
    trace = happenings.recorded(happenings.forward_mode)
    tangents = events_of(trace, "tangent")
    assert [numbers(trace, e["t"])[0] for e in tangents] == [2.0, 8.0, 16.0]
    assert [numbers(trace, e["g"])[0] for e in tangents] == [1.0, 12.0, 24.0]
    shown = [e["loc"]["x"] for e in events_of(trace, "line") if "x" in e.get("loc", {})]
    assert folding.value_text(trace.data, shown[-1]).endswith("tangent 1 2")


def test_tangent_stands_beside_the_node_of_its_output() -> None:
    trace = happenings.recorded(happenings.forward_mode_in_a_graph)
    event = events_of(trace, "tangent")[-1]
    tangents = facts_after(trace, event)["tangents"]
    assert numbers(trace, tangents[event["n"]]) == [3.0]


def test_recomputation_is_seen_as_such() -> None:
    trace = happenings.recorded(happenings.recomputed)
    kinds = [
        e["k"]
        for e in trace.data["events"]
        if e["k"] in ("rerun.begin", "rerun.end", "graph.node") and e["lvl"] <= 1
    ]
    assert kinds == ["graph.node"] * 2 + ["rerun.begin", "graph.node", "rerun.end"]
    again = [(n["label"], n["again"]) for n in trace.data["graph"]["nodes"]]
    assert [label for label, is_again in again if is_again] == ["MulBackward0"]
    assert events_of(trace, "exception") == []
    assert "(run again)" in graph.dot_of(trace.data)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_recomputation_that_fails_is_over(use_reentrant: bool) -> None:
    def fails_again(x: mg.Tensor) -> mg.Tensor:
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        return x.sin()

    calls: list[int] = []
    trace = Trace()
    x = mg.tensor(2.0, requires_grad=True)
    with Recorder(trace):
        y = checkpoint(fails_again, x, use_reentrant=use_reentrant)
        with pytest.raises(ZeroDivisionError):
            y.backward()
        y = x * 2
    assert len(events_of(trace, "rerun.begin")) == 1
    assert events_of(trace, "rerun.end") == []
    again = {n["label"]: n["again"] for n in trace.data["graph"]["nodes"]}
    assert again["MulBackward0"] is False


def test_training_step_is_told_layer_by_layer() -> None:
    trace = happenings.recorded(happenings.training_step)
    (layer,) = events_of(trace, "module")
    assert layer["say"] == "model gives [[1]]. There is 1 node inside."
    shown = {e["n"] for e in events_of(trace, "graph.node") if e["lvl"] <= 1}
    labels = {n["id"]: n["label"] for n in trace.data["graph"]["nodes"]}
    assert {labels[node] for node in shown} == {
        "SubBackward0",
        "PowBackward0",
        "MeanBackward0",
    }
    names = [n["tensor"] for n in trace.data["graph"]["nodes"] if n["tensor"]]
    assert sorted(names) == ["model.bias", "model.weight"]


def test_grad_that_is_set_to_none_is_shown_no_more() -> None:
    trace = happenings.recorded(happenings.training_step)
    last = [e for e in trace.data["events"] if e["k"] == "backward.end"][-1]
    assert len(facts_after(trace, last)["grads"]) == 2
    assert facts_after(trace, trace.data["events"][-1])["grads"] == {}


def test_layer_that_fails_is_left() -> None:
    trace = Trace()
    x = mg.ones(2).requires_grad_()
    with Recorder(trace):
        with pytest.raises(RuntimeError):
            mg.nn.Linear(3, 1)(x)
        y = x * 2
    assert y.requires_grad
    (node,) = [e for e in events_of(trace, "graph.node") if "x * 2" in e["say"]]
    assert node["lvl"] <= 1


@pytest.mark.parametrize("is_compiled", [True, False])
def test_compiled_kernel_is_one_step_and_one_as_written_has_lines(
    is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINIGRAD_JIT", "1")
    halved = happenings.halved
    kernel = halved if is_compiled else halved.py_func
    kernel(np.ones(2))  # compiled before the recording
    events = happenings.recorded(lambda: kernel(np.ones(2))).data["events"]
    told = [e["say"] for e in events if "halved" in e["say"]]
    compiled = [say for say in told if "halved is compiled: its loop" in say]
    lines = [say for say in told if say.startswith("halved, line")]
    assert (len(compiled), len(lines)) == ((1, 0) if is_compiled else (0, 7)), told
