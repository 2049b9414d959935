"""The picture: what calls were given, where it stops, and what it says there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
from minigrad import nn
from minigrad.autograd import Function
from minigrad.tracing import Recorder, Trace, log
from minigrad.tracing.trace import TraceFileError
from minigrad.views.picture import pictures_of
from minigrad.views.recording import record
from tests.tracing import happenings
from tests.tracing.any_program import faults
from tests.tracing.pictures import inconsistencies
from tests.tracing.programs import Scale, events_of, record_failure, record_scale
from tests.views import folding

OLDER = Path(__file__).with_name("schema_1.json")
MOST_STOPS = 9
Json = dict[str, Any]


class Mul(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        return g * w, g * x


class Wrong(Mul):
    """Adds what it should multiply: what arrives has no slope here."""

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        return g + w, g + x


class Square(Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * g


class Split(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, at: int) -> Any:
        return x[:at], x[at:]

    @staticmethod
    def backward(ctx: Any, a: Any, b: Any) -> Any:
        return mg.cat([a, b]), None


def number(value: float) -> Any:
    return mg.tensor(value, requires_grad=True)


def recorded(program: Callable[[], Any]) -> Trace:
    trace = Trace()
    with Recorder(trace, watch=program):
        program()
    return trace


def diamond() -> None:
    x = number(0.0)
    a = x.exp()
    b = a * 3
    c = a**2
    y = b + c
    y.backward()


def saved_late() -> None:
    x = number(3.0)
    y = Square.apply(Square.apply(x))
    y.backward()


def calls_of(program: Callable[[], Any]) -> list[Json]:
    """The events of the calls that joined the graph."""
    return [e for e in recorded(program).data["events"] if "ins" in e]


def said(program: Callable[[], Any], words: str) -> list[str]:
    return [one for one in recorded(program).sentences(0) if words in one]


@pytest.mark.parametrize("lines", [False, True])
def test_product_is_told_in_few_stops_with_reasons(lines: bool) -> None:
    x, w = number(2.0), number(5.0)
    trace = Trace()
    with Recorder(trace, lines=lines):
        y = Mul.apply(x, w)
        y.backward()
    told = trace.sentences(level=0)
    assert len(told) <= MOST_STOPS
    assert told == [
        "Mul.apply creates ctx: an empty box for this one call.",
        "forward puts x and w into the box, because backward will need both.",
        "forward returns 10. Its work is done; the box is still here.",
        "Mul.apply ties the box to y. The ctx is y.grad_fn: a node of the graph, "
        "with edges to x and w.",
        "backward begins with 1 at y: if y grows by 1, y grows by 1.",
        "The box opens: x = 2 and w = 5 are there. "
        "Mul's backward returns 5 for x and 2 for w.",
        "x gets 5 \u00d7 1 = 5, because w was 5; "
        "w gets 2 \u00d7 1 = 2, because x was 2.",
        "The saved values aren't needed any more, so the box of Mul lets them go.",
        "x.grad is 5 and w.grad is 2.",
    ]


def test_node_that_leads_nowhere_is_tied_without_a_word_of_edges() -> None:
    def program() -> None:
        x = number(2.0)
        with mg.no_grad():
            row = x.view(1)
        Mul.apply(row, row)

    assert said(program, "ties the box to") == [
        "Mul.apply ties the box to the result: the ctx is now its grad_fn, a node of "
        "the graph."
    ]


def beside_built_in() -> None:
    a, w = number(2.0), number(5.0)
    y = Mul.apply(a, w)
    z = y + w * 3 + a * 4
    z.backward()


def test_built_in_operation_beside_its_namesake_says_once_whose_it_is() -> None:
    assert said(beside_built_in, "Its box keeps") == [
        "5 \u00d7 3 = 15. Its box keeps 3 for backward. "
        "MulBackward0 is the built-in one, not your Mul.",
        "2 \u00d7 4 = 8. Its box keeps 4 for backward.",
    ]
    assert said(diamond, "MulBackward0") == []


def test_last_gradient_before_a_grad_changes_is_marked() -> None:
    events = recorded(beside_built_in).data["events"]
    leaves = {e["n"] for e in events if e["k"] == "grad.accumulate"}
    to_leaves = [e for e in events if e["k"] == "grad" and e["n"] in leaves]
    assert [bool(e.get("fills")) for e in to_leaves] == [
        not e["left"] for e in to_leaves
    ]
    assert [e.get("fills") for e in to_leaves].count(True) == len(leaves) == 2

    def asked() -> None:
        x = number(3.0)
        mg.autograd.grad(x * 2, x)

    (grad,) = events_of(recorded(asked), "grad")
    assert "fills" not in grad


def test_paths_that_meet_wait_and_add_up() -> None:
    assert recorded(diamond).sentences(level=0) == [
        "a = exp(0) = 1. Its box keeps its result for backward.",
        "b = 1 \u00d7 3 = 3. Its box keeps 3 for backward.",
        "c = 1 ** 2 = 1. Its box keeps a and 2 for backward.",
        "y = 3 + 1 = 4. Its box stays empty: backward needs no values.",
        "backward begins with 1 at y. "
        "2 edges lead to a, so it must wait for 2 gradients.",
        "b gets 1, just as it arrived; c gets 1, just as it arrived.",
        "a gets 2 \u00d7 1 = 2. "
        "That's 1 of 2: a waits, or it would pass on too little.",
        "a gets 3 \u00d7 1 = 3. Both are here: 2 + 3 = 5, because a was used twice.",
        "x gets 1 \u00d7 5 = 5, because a was 1.",
        "x.grad is 5.",
    ]


def packed_by_hooks(pack: Callable[[Any], Any]) -> Callable[[], Any]:
    def program() -> Any:
        x = number(2.0)
        with mg.autograd.graph.saved_tensors_hooks(pack, lambda packed: x):
            return x.sin()

    return program


def test_box_holds_what_a_hook_put_in_place_of_the_value() -> None:
    (told,) = said(packed_by_hooks(lambda tensor: "file7"), "sin(2)")
    assert told.endswith("In its box, where the value would be: 'file7'.")
    (told,) = said(packed_by_hooks(lambda tensor: (tensor, "f")), "sin(2)")
    assert told.endswith("where the value would be: what the hook returned.")
    (told,) = said(checkpointed, "= sin(")
    assert told.endswith("where the value would be: computed again when needed.")


def checkpointed() -> Any:
    x = number(2.0)
    y = mg.utils.checkpoint.checkpoint(mg.sin, x, use_reentrant=False)
    return y


def test_call_has_its_arguments_and_outputs_with_values_and_names() -> None:
    trace = recorded(diamond)
    exp, times, _, plus = [e for e in trace.data["events"] if "ins" in e]
    values = trace.data["values"]
    assert [e["op"] for e in (exp, times, plus)] == ["exp", "a * 3", "b + c"]
    (x,), (a,) = exp["ins"], exp["outs"]
    assert (x["name"], x["needs"], x["leaf"]) == ("x", True, "n0")
    assert values[x["v"]["v"]]["rows"] == [[0.0]]
    assert (a["name"], a["nr"], values[a["v"]["v"]]["rows"]) == ("a", 0, [[1.0]])
    again, three = times["ins"]
    assert (again["t"], again["n"], again["name"]) == (a["t"], exp["n"], "a")
    assert three == {"text": "3"}
    assert plus["outs"][0]["name"] == "y"


def test_nodes_of_one_name_are_told_apart_everywhere() -> None:
    trace = recorded(saved_late)
    labels = [e["label"] for e in trace.data["events"] if "ins" in e]
    assert labels == ["Square 1", "Square 2"]
    assert "Square 1 gets 18." in trace.sentences(0)
    held = folding.memory_at(trace.data, len(trace)).values()
    assert [item["of"] for item in held if item["key"] == "saved.0"] == labels


def test_setup_context_is_what_fills_the_box() -> None:
    assert said(saved_late, "into the box")[0].startswith("setup_context puts x into")


def test_formula_is_written_as_people_write_it() -> None:
    def program() -> None:
        x, w = mg.tensor([1.0, 2.0], requires_grad=True), number(3.0)
        loss = ((1 - x) * (x + w) ** 2 / -2).sum()
        loss.backward()

    assert [e["op"] for e in calls_of(program)] == [
        "1 - x",
        "x + w",
        "(x + w) ** 2",
        "(1 - x) * (x + w) ** 2",
        "div",
        "sum",
    ]


def test_several_outputs_none_data_and_plain_values_are_told() -> None:
    def program() -> None:
        x, X = mg.tensor([1.0, 2.0, 3.0], requires_grad=True), mg.ones(1)
        p, _q = Split.apply(x, 1)
        y = p * X
        y.backward()

    split, times = calls_of(program)
    assert [one.get("text", one.get("name")) for one in split["ins"]] == ["x", "1"]
    assert [(one["name"], one["nr"]) for one in split["outs"]] == [("p", 0), ("_q", 1)]
    data = times["ins"][1]
    assert (data["name"], data["needs"]) == ("X", False)
    assert not {"n", "leaf"} & set(data)
    assert said(program, "Split.apply ties one box to its outputs 0 and 1")
    assert said(program, "X doesn't require grad: no edge leads there.")
    assert said(program, "Nothing arrived for output 1 of Split, so backward is given")


def test_call_that_joins_no_graph_has_its_values_too() -> None:
    def program() -> None:
        Scale.apply(mg.tensor(2.0), 3)

    (call,) = calls_of(program)
    assert (call["k"], call["op"], call["label"]) == ("phase", "Scale", "Scale")
    assert [one.get("needs") for one in call["ins"]] == [False, None]
    assert "n" not in call
    assert said(program, "so the box is thrown away")


def test_change_in_place_is_the_same_tensor_in_a_new_version() -> None:
    def program() -> None:
        x = number(2.0)
        y = x * 3
        y.mul_(5)
        y.backward()

    _, change = calls_of(program)
    before, after = change["ins"][0], change["outs"][0]
    assert change["op"] == "y *= 5"
    assert before["t"] == after["t"]
    assert (before.get("ver", 0), after["ver"]) == (0, 1)
    assert said(program, "y was changed in place: it's 30 now, version 1.")


def test_stale_value_stops_backward_and_is_named() -> None:
    def program() -> None:
        x = number(2.0)
        y = x * 1
        z = Mul.apply(y, y)
        y.add_(1)
        with pytest.raises(RuntimeError):
            z.backward()

    told = recorded(program).sentences(0)
    assert any("The box of Mul counts on version 0." in one for one in told)
    assert (
        "backward stops: the box kept y at version 0, and y has changed since." in told
    )


def test_second_pass_into_grad_tells_what_was_there() -> None:
    def program() -> None:
        x = number(2.0)
        (x * 5).backward()
        (x * 5).backward()

    trace = recorded(program)
    first, second = events_of(trace, "grad.accumulate")
    assert (first["old"], second["old"]["v"]) == (None, first["new"]["v"])
    assert trace.sentences(0)[-1] == (
        "x.grad was 5, and 5 more makes 10: gradients add up until you clear them."
    )


def test_slope_stands_where_a_rule_multiplies_and_nowhere_else() -> None:
    def slopes(program: Callable[[], Any]) -> list[Any]:
        return [e.get("slope") for e in events_of(recorded(program), "grad")]

    def apply(function: Any) -> Callable[[], Any]:
        def program() -> None:
            x, w = number(2.0), number(5.0)
            function(x, w).backward()

        return program

    of_product = [{"x": "5", "of": "w"}, {"x": "2", "of": "x"}]
    assert slopes(apply(Mul.apply)) == of_product
    assert slopes(apply(lambda x, w: x * w)) == of_product
    assert slopes(apply(lambda x, w: x - w)) == [{"x": "1"}, {"x": "-1"}]
    assert slopes(apply(lambda x, w: x**2)) == [{"x": "4"}]
    assert slopes(apply(Wrong.apply)) == [None, None]


def test_modules_group_the_nodes_that_they_make() -> None:
    mg.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))

    def program() -> None:
        model(mg.ones(4, 2)).sum().backward()

    data = recorded(program).data
    modules = {one["id"]: one for one in data["graph"]["modules"]}
    labels = [modules[n["module"]]["label"] for n in data["graph"]["nodes"][:-1]]
    assert labels == [*["linear 1"] * 3, "relu", *["linear 2"] * 3]
    whole = modules[modules["m1"]["in"]]
    assert (whole["kind"], whole["in"]) == ("Sequential", None)
    told = [e["why"] for e in data["events"] if e["k"] == "module"]
    assert told[0] == "linear 1 gives an array of 4 x 3. There is 1 node inside."


def test_names_of_outputs_are_found_without_lines_at_the_end() -> None:
    x, trace = number(2.0), Trace()
    with Recorder(trace, lines=False):
        y = x * 3
        z = y + 1
    assert [e["outs"][0]["name"] for e in events_of(trace, "graph.node")[1:]] == [
        "y",
        "z",
    ]
    assert float(z) == 7


def test_no_picture_sentence_is_long_or_speaks_of_the_engine() -> None:
    for program in happenings.PROGRAMS:
        data = happenings.recorded(program).data
        assert inconsistencies(data) == []
        assert any(event["lvl"] == 0 for event in data["events"])
    for where in ("forward", "backward"):
        assert inconsistencies(record_failure(where).data) == []
    told = record_failure("backward").sentences(0)
    assert told[-1] == "It stops here: KeyError: 'nor here'"


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_random_programs_are_told_as_they_ran(start: int) -> None:
    found = [(s, f) for s in range(start, start + 50) for f in faults(s)]
    assert found == []


def test_levels_hold_each_other() -> None:
    trace = record_scale()
    counts = [len(trace.sentences(level)) for level in range(4)]
    assert counts == sorted(set(counts))


def test_recording_of_schema_1_opens_and_has_a_picture(tmp_path: Path) -> None:
    trace = Trace.load(OLDER)
    raw = json.loads(OLDER.read_text(encoding="utf-8"))["events"]
    says = [e["say"] for e in raw if e["lvl"] <= 1]
    assert trace.sentences(1) == says
    assert trace.sentences(0)[:2] == says[:2]
    (picture,) = pictures_of(trace.data)
    assert [part["k"] for part in picture["parts"]].count("call") == 2
    again = Trace.load(trace.save(tmp_path / "again.json"))
    assert again.data == trace.data


def test_damaged_recording_of_schema_1_is_refused(tmp_path: Path) -> None:
    text = OLDER.read_text(encoding="utf-8").replace('"e":[', '"no":[')
    broken = tmp_path / "broken.json"
    broken.write_text(text, encoding="utf-8")
    with pytest.raises(TraceFileError, match="damaged: KeyError\\('e'\\)"):
        Trace.load(broken)


def test_graph_from_before_is_told_from_its_leaves_on() -> None:
    a = number(2.0).exp()
    y = a * 3 + a
    trace = Trace()
    with Recorder(trace):
        y.backward()
    assert inconsistencies(trace.data) == []
    older = [event for event in trace.data["events"] if "ins" in event]
    assert [event["op"] for event in older] == ["exp", "mul", "add"]
    assert [one["v"] for event in older for one in event["ins"]] == [None] * 4


def test_long_recording_without_its_middle_is_consistent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log, "MOST_EVENTS", 40)
    monkeypatch.setattr(log, "SLACK", 10)
    w, trace = number(1.0), Trace()
    with Recorder(trace, lines=False):
        loss = w * 2
        for _ in range(60):
            loss = loss * 0.5 + w
        loss.backward()
    assert trace.data["meta"]["truncated"]
    assert inconsistencies(trace.data) == []
    missing = [one for one in calls_in(trace) if one["needs"] and "v" not in one]
    assert missing == []


def calls_in(trace: Trace) -> list[Json]:
    """All tensors that calls of a recording were given."""
    given = [one for event in trace.data["events"] for one in event.get("ins", ())]
    return [one for one in given if "text" not in one]


def test_question_is_a_stop_of_the_picture_with_its_own_words() -> None:
    with record() as trace:
        number(2.0).exp().backward()
    trace.ask("What arrives?", ["7.389", "2"], "7.389", before="the leaf gets")
    (asked,) = events_of(trace, "ask")
    assert (asked["lvl"], asked["why"]) == (0, "What arrives?")


def test_text_of_the_picture_is_that_of_level_0() -> None:
    with record("two") as trace:
        number(2.0).mul(3).backward()
    text = trace.to_markdown(level=0)
    assert "1. 2 \u00d7 3 = 6. Its box keeps 3 for backward." in text
    assert "is ready and runs next" not in text
    assert "MulBackward0 is ready and runs next" in trace.to_markdown(level=1)
