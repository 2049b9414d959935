"""What a recording holds."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import threading
import weakref
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import minigrad as mg
from minigrad import tracing
from minigrad.engine import observe
from minigrad.tracing import Recorder, Trace, budget
from minigrad.tracing.recorder import RecordingError
from tests.tracing.any_program import disagreements, memory_faults
from tests.tracing.programs import (
    Breaks,
    Scale,
    events_of,
    record_failure,
    record_scale,
)
from tests.views.folding import facts_at, memory_at

GOLDEN = Path(__file__).with_name("scale.sentences.txt")
TRACING = str(Path(tracing.__file__).parent)


def test_sentences_are_the_golden_ones_with_either_backend() -> None:
    said = "\n".join(record_scale().sentences(level=2)) + "\n"
    assert said == GOLDEN.read_text(encoding="utf-8")


def scaled(y: Any) -> Any:
    return Scale.apply(y, 2.0)


def halved(y: Any) -> Any:
    return y * 0.5


@pytest.mark.parametrize(
    ("operation", "steps", "most"),
    [(scaled, 13, 139), (halved, 5, 37)],
)
def test_story_of_a_node_is_noted_in_few_calls(
    operation: Any, steps: int, most: int
) -> None:
    # From Python 3.13 on up to 6 more; 245 and 90 if each event is made at once.
    (few, steps_of_few), (many, steps_of_many) = (
        calls_to_note(operation, nodes) for nodes in (2, 12)
    )
    assert steps_of_many - steps_of_few == 10 * steps
    assert (many - few) / 10 <= most + 6 * (sys.version_info >= (3, 13))


def calls_to_note(operation: Any, nodes: int) -> tuple[int, int]:
    """The calls of the recorder while a program runs, and the steps that it tells."""
    made = 0

    def heard(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal made
        made += event == "call" and frame.f_code.co_filename.startswith(TRACING)

    trace = Trace()
    with Recorder(trace, lines=False):
        before = sys.getprofile()
        sys.setprofile(heard)
        y = mg.ones(1).requires_grad_()
        for _ in range(nodes):
            y = operation(y)
        y.sum().backward()
        sys.setprofile(before)
    return made, len(trace)


def test_step_that_is_told_later_has_the_numbers_of_its_moment() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    trace = Trace()
    with Recorder(trace, lines=False):
        y = x * 3
        y.sum().backward()
        for one in (x, y, x.grad):
            one.array[...] = -7
    shown = [picture["rows"] for picture in trace.data["values"].values()]
    assert [[1.0, 2.0]] in shown
    assert [[3.0, 6.0]] in shown
    assert [[3.0, 3.0]] in shown
    assert [[-7.0, -7.0]] not in shown


class Model:
    """Something that a call is given."""


def recorded_call() -> tuple[Trace, weakref.ref[Model]]:
    def program(model: Model) -> None:
        (mg.ones(2).requires_grad_() * 2).sum().backward()

    model, trace = Model(), Trace()
    with Recorder(trace, lines=False, call=(program, (model,), {})):
        program(model)
    return trace, weakref.ref(model)


def test_recording_that_nobody_has_read_holds_nothing_of_its_call() -> None:
    trace, model = recorded_call()
    gc.collect()
    assert model() is None
    assert len(trace) > 0


def test_story_alone_tells_the_same_story() -> None:
    # Without lines some names are found later, or not at all.
    without, told = [
        [
            say.replace("y * y", "Scale(x) * Scale(x)")
            .replace("Scale gets", "y gets")
            .replace("[10, 20, 30] and [10, 20, 30] for", "y and y for")
            for say in record_scale(lines=lines).sentences(level=1)
        ]
        for lines in (False, True)
    ]
    assert without == told
    assert record_scale(lines=False).sentences(level=3) != record_scale().sentences(3)


def test_phases_of_apply_come_in_their_order() -> None:
    phases = [
        event["ph"]["name"]
        for event in events_of(record_scale(), "phase", "ctx.new", "ctx.save")
        if event["ph"]["of"] == "apply"
    ]
    assert phases == [
        "collect inputs",
        "create ctx",
        "run forward",
        "wrap outputs",
        "take what was saved",
    ]


def test_phases_of_backward_come_in_their_order_for_a_users_node() -> None:
    trace = record_scale()
    node = trace.data["ctxs"][0]["node"]
    events = trace.data["events"]
    start = next(
        i for i, e in enumerate(events) if e["k"] == "node.enter" and e["n"] == node
    )
    phases = [e["ph"]["name"] for e in events[start:] if e["lvl"] <= 1 and "ph" in e]
    assert phases[:5] == [
        "pick the next ready node",
        "call its backward",
        "check what it returned",
        "add into the receivers",
        "release",
    ]


def test_ctx_shows_what_forward_puts_on_it_as_it_happens() -> None:
    changed = [
        (event["k"], sorted(event["ctx"]["set"]))
        for event in record_scale().data["events"]
        if event.get("cid") == "c0" and "ctx" in event
    ]
    assert changed[0] == ("ctx.new", ["edges", "needs_input_grad"])
    assert changed[1] == ("ctx.put", ["saved.0"])
    assert ("return", ["attr.factor"]) in changed or (
        "line",
        ["attr.factor"],
    ) in changed


def test_released_values_stay_as_freed_and_nothing_saved_stays_nothing() -> None:
    freed = {e["n"]: e.get("ctx") for e in events_of(record_scale(), "ctx.free")}
    scale, total = (record_scale().data["ctxs"][i]["node"] for i in (0, 2))
    assert freed[scale]["set"] == {"saved.0": {"t": "P", "r": "freed"}}
    assert freed[total] is None


def test_phase_told_late_stands_at_its_own_line() -> None:
    trace = record_scale()
    texts = {}
    for event in events_of(trace, "phase"):
        line = trace.data["sources"][event["s"]]["tokens"][event["l"]]
        texts[event["ph"]["name"]] = "".join(text for _, text in line).strip()
    assert texts["collect inputs"].startswith("takes_ctx =")
    assert texts["wrap outputs"].startswith("outputs, differentiable =")


def test_variable_of_the_engine_that_shares_what_changed_is_shown_anew() -> None:
    told = [e["loc"] for e in record_scale().data["events"] if "loc" in e]
    wrapped, wired, *_ = [local for local in told if "outputs" in local]
    assert "result" not in wrapped
    assert wired["outputs"]["i"][0]["fn"] == wired["result"]["fn"] == "ScaleBackward"


def test_name_python_made_is_no_local_of_the_learner() -> None:
    trace = Trace()
    with Recorder(trace):
        __hidden = 1
        shown = 2
    assert __hidden < shown
    names = {name for e in trace.data["events"] for name in e.get("loc", {})}
    assert not [name for name in names if name.startswith("__")]


def test_edges_on_ctx_name_the_leaf() -> None:
    (created,) = events_of(record_scale(), "ctx.new")
    assert created["ctx"]["set"]["edges"]["r"] == "AccumulateGrad of x"


def test_name_is_known_in_a_cell_that_runs_again() -> None:
    cell = """
with mg.record() as trace:
    x = mg.tensor(2.0, requires_grad=True); (x * 3).backward()
"""
    names: dict[str, Any] = {"mg": mg}
    for _ in range(2):
        exec(cell, names)
        said = [e["say"] for e in events_of(names["trace"], "grad.accumulate")]
        assert said == ["x.grad was empty. Now it is 3."]


def test_call_is_shown_at_the_def_and_not_at_its_decorator() -> None:
    trace = record_scale()
    sources = trace.data["sources"]
    calls = [e for e in events_of(trace, "call") if sources[e["s"]]["role"] == "user"]
    lines = [sources[e["s"]]["tokens"][e["l"]] for e in calls]
    heads = ["".join(text for _, text in line) for line in lines]
    assert [head.split("(")[0] for head in heads] == ["def forward", "def backward"]


def test_saved_value_shows_its_version_then_and_now() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        h = x * 1.0
        y = Scale.apply(h, 3.0)
        h.detach().mul_(2.0)
        y.sum().backward()
    versions = [
        (event["ctx"]["set"]["saved.0"]["ver"], event["ctx"]["set"]["saved.0"]["now"])
        for event in trace.data["events"]
        if event.get("ctx", {}).get("id") == "c1"
        and event["ctx"]["set"].get("saved.0", {}).get("t") == "S"
    ]
    assert versions == [(0, 0), (0, 1)]


def test_output_that_its_own_node_saves_is_shown_by_its_numbers() -> None:
    x = mg.tensor([0.0, 1.0], requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        x.exp()
    changes = [e["ctx"]["set"] for e in trace.data["events"] if "ctx" in e]
    (saved,) = [one["saved.0"] for one in changes if "saved.0" in one]
    assert (saved["t"], saved["out"], saved["now"]) == ("S", 0, 0)
    assert trace.data["values"][saved["v"]]["rows"] == [[1.0, 2.71828]]


def test_graph_has_an_edge_for_each_use() -> None:
    graph = record_scale().data["graph"]
    labels = {node["id"]: node["label"] for node in graph["nodes"]}
    edges = [(labels[e["from"]], labels[e["to"]], e["slot"]) for e in graph["edges"]]
    assert edges == [
        ("ScaleBackward", "AccumulateGrad", 0),
        ("MulBackward0", "ScaleBackward", 0),
        ("MulBackward0", "ScaleBackward", 1),
        ("SumBackward0", "MulBackward0", 0),
    ]


def test_nodes_from_before_the_recording_are_in_the_graph() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    trace = Trace()
    with Recorder(trace):
        y.backward()
    labels = [node["label"] for node in trace.data["graph"]["nodes"]]
    assert labels == ["AccumulateGrad", "MulBackward0"]


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_exception_marks_the_line_that_raised(where: str) -> None:
    trace = record_failure(where)
    (event,) = events_of(trace, "exception")
    source = trace.data["sources"][event["s"]]
    line = "".join(text for _, text in source["tokens"][event["l"]])
    assert source["name"] == f"Breaks.{where}"
    assert line.strip().startswith("raise KeyError")
    assert event["lvl"] <= 1
    assert trace.data["meta"]["error"].startswith("KeyError")


def test_exception_of_the_engine_names_the_learners_method() -> None:
    class Short(mg.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    a, b = (mg.tensor(2.0, requires_grad=True) for _ in range(2))
    trace = Trace()
    with pytest.raises(RuntimeError), Recorder(trace):
        Short.apply(a, b).backward()
    (event,) = events_of(trace, "exception")
    assert "Short.backward" in event["err"]


def test_caught_exception_leaves_no_ctx_at_work() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        with contextlib.suppress(KeyError):
            Breaks.apply(x, "forward")
        done = True
    assert done
    assert "cid" not in trace.data["events"][-1]


def test_recording_in_a_recording_is_refused_and_the_first_goes_on() -> None:
    trace = Trace()
    with Recorder(trace):
        with pytest.raises(RecordingError, match="already"), Recorder(Trace()):
            pass
        mg.tensor(1.0, requires_grad=True) * 2
    assert len(events_of(trace, "graph.node")) == 2


def test_nothing_listens_after_a_recording_even_after_an_error() -> None:
    record_failure("forward")
    assert not observe.has(object)


def test_other_threads_are_not_heard() -> None:
    def elsewhere() -> None:
        mg.tensor(1.0, requires_grad=True) * 2

    trace = Trace()
    with Recorder(trace):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert events_of(trace, "graph.node") == []


def test_recording_keeps_nothing_alive() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    gc.disable()
    try:
        with Recorder(Trace(), lines=False):
            node = weakref.ref(Scale.apply(x, 2.0).grad_fn)
            assert node() is None
    finally:
        gc.enable()


def test_recording_is_json_without_nan() -> None:
    x = mg.tensor([float("nan"), float("inf"), 1.0], requires_grad=True)
    trace = Trace()
    with Recorder(trace):
        Scale.apply(x, 2.0)
    text = json.dumps(trace.data, allow_nan=False)
    picture = next(v for v in json.loads(text)["values"].values() if v["nan"])
    assert picture["rows"] == [["nan", "inf", 1.0]]
    assert (picture["nan"], picture["max"]) == (1, 1.0)


def test_string_named_like_a_secret_is_hidden() -> None:
    names = ("swordfish", "herring")
    trace = Trace()
    with Recorder(trace):
        password = names[0]
        fish = names[1]
        length = len(password + fish)
    assert length == 16
    shown = {k: v for e in events_of(trace, "line") for k, v in e["loc"].items()}
    assert shown["password"]["r"] == "(hidden)"
    assert shown["fish"]["r"] == "'herring'"


def short_of_room(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("minigrad.tracing.log.MOST_EVENTS", most)
    monkeypatch.setattr("minigrad.tracing.log.SLACK", 3)


def test_long_recording_keeps_start_and_end_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = record_scale()
    assert whole.data["meta"]["truncated"] is False
    assert events_of(whole, "cut") == []
    short_of_room(monkeypatch, 20)
    trace = record_scale()
    assert trace.data["meta"]["truncated"] is True
    left_out = len(whole) - 20
    assert trace.data["meta"]["left_out"] == left_out
    assert trace.data["events"][:10] == whole.data["events"][:10]
    assert trace.sentences(3)[-10:] == whole.sentences(3)[-10:]
    (cut,) = events_of(trace, "cut")
    assert trace.data["events"].index(cut) == 10
    assert f"full: {left_out} steps left out here" in cut["say"]
    assert cut["say"].endswith("record a smaller part, or with lines=False.")


def test_recording_without_lines_is_not_advised_to_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short_of_room(monkeypatch, 10)
    (cut,) = events_of(record_scale(lines=False), "cut")
    assert cut["say"].endswith("To see them, record a smaller part.")


def test_many_steps_that_are_left_out_are_counted_in_groups() -> None:
    said = budget.cut_text(1234567, 2486, 10_000, 10_000)
    assert "1,234,567 steps left out here, between the first 10,000" in said


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("most", range(2, 60, 6))
def test_what_is_kept_of_a_long_recording_agrees(
    monkeypatch: pytest.MonkeyPatch, most: int, lines: bool
) -> None:
    def program() -> Trace:
        x = mg.ones(3).requires_grad_()
        trace = Trace()
        with Recorder(trace, lines=lines):
            for _ in range(4):
                Scale.apply(x, 2.0).exp().sum().backward()
        return trace

    whole = program()
    short_of_room(monkeypatch, most)
    trace = program()
    assert disagreements(trace.data) + memory_faults(trace.data) == []
    now, then = (
        [facts_at(one.data, len(one))["grads"], memory_at(one.data, len(one))]
        for one in (trace, whole)
    )
    assert [told(trace, ref) for ref in now[0].values()] == [
        told(whole, ref) for ref in then[0].values()
    ]
    alive = [[i for i in held.values() if "until" not in i] for _, held in (now, then)]
    assert len(alive[0]) == len(alive[1])


def told(trace: Trace, ref: dict[str, Any]) -> Any:
    return trace.data["values"][ref["v"]]["rows"]


def test_body_of_a_class_is_shown_only_with_the_engines_lines() -> None:
    with mg.record() as trace:

        class Twice(mg.autograd.Function):
            times = 2

            @staticmethod
            def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
                return x * Twice.times

        Twice.apply(mg.ones(1))

    assert [s for s in trace.sentences(3) if "times = 2" in s] != []
    told = trace.sentences(2)
    assert [s for s in told if "times = 2" in s or s.startswith("Twice is")] == []
    assert [s for s in told if "return x * Twice.times" in s] != []


def test_failure_in_the_body_of_a_class_has_its_line() -> None:
    with contextlib.suppress(ZeroDivisionError), mg.record() as trace:

        class Broken:
            times = 1 // 0

    (failed,) = events_of(trace, "exception")
    line = trace.data["sources"][failed["s"]]["tokens"][failed["l"]]
    assert "times = 1 // 0" in "".join(text for _, text in line)


@pytest.mark.parametrize("lines", [False, True])
def test_gradient_rule_is_called_as_it_is_written(lines: bool) -> None:
    def twice(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        return g * 2

    for name in ("backward", "vjp"):
        rules = {"forward": staticmethod(lambda ctx, x: x * 2), name: twice}
        rules[name] = staticmethod(twice)
        Twice = type("Twice", (mg.autograd.Function,), rules)
        Heir = type("Heir", (Twice,), {})
        with mg.record(lines=lines) as trace:
            Heir.apply(mg.ones(1).requires_grad_()).backward()
        called = [s.split()[0] for s in trace.sentences(1) if s.startswith("Heir.")]
        assert called == ["Heir.apply", "Heir.apply", f"Heir.{name}"]
