"""Random programs under a recording; a thousand of them by a command."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import minigrad as mg
from tests.tracing import happenings
from tests.tracing.any_program import disagreements, faults, memory_faults
from tests.tracing.programs import events_of

Json = dict[str, Any]


@pytest.mark.parametrize("seed", range(5))
def test_recording_changes_nothing_and_agrees_with_itself(seed: int) -> None:
    assert faults(seed, lines=seed % 2 == 0) == []


@pytest.mark.parametrize("program", happenings.PROGRAMS)
def test_sentence_and_graph_agree_whatever_happens(program: Any) -> None:
    data = happenings.recorded(program).data
    assert disagreements(data) + memory_faults(data) == []


def of_kind(data: Json, kind: str) -> Json:
    found: Json = next(e for e in data["events"] if e["k"] == kind and "n" in e)
    return found


def other_edge(data: Json) -> None:
    wired, *_ = (e for e in data["events"] if e["k"] == "graph.node" and e["e"])
    data["graph"]["edges"][0]["to"] = wired["n"]


def other_name(data: Json) -> None:
    of_kind(data, "node.enter")["say"] = "Somebody is ready and runs next."


def other_ends(data: Json) -> None:
    (tied,) = [e for e in data["events"] if "with edges to x." in e["say"]]
    tied["say"] = tied["say"].replace("edges to x", "edges to y")


def one_end_more(data: Json) -> None:
    (tied,) = [e for e in data["events"] if "with edges to x." in e["say"]]
    tied["say"] = tied["say"].replace("edges to x", "edges to x and y")


def other_receiver(data: Json) -> None:
    of_kind(data, "grad")["n"] = of_kind(data, "node.enter")["n"]


def left_out(data: Json) -> None:
    data["events"].remove(of_kind(data, "graph.node"))


def let_go_twice(data: Json) -> None:
    change = next(e["mem"] for e in data["events"] if e.get("mem", {}).get("del"))
    change["del"].append({"id": "m99", "by": "nobody"})


@pytest.mark.parametrize(
    "spoil",
    [
        *(other_edge, other_name, other_ends, one_end_more, other_receiver),
        *(left_out, let_go_twice),
    ],
)
def test_recording_that_disagrees_is_found_out(spoil: Callable[[Json], None]) -> None:
    data = happenings.recorded(happenings.saved_hooks).data
    spoiled = copy.deepcopy(data)
    spoil(spoiled)
    assert disagreements(data) + memory_faults(data) == []
    assert disagreements(spoiled) + memory_faults(spoiled) != []


def test_view_changed_in_place_is_in_the_graph() -> None:
    def program() -> None:
        x = mg.ones(4).requires_grad_()
        y = x * 2
        y[:2].mul_(3)
        y.sum().backward()

    trace = happenings.recorded(program)
    labels = [node["label"] for node in trace.data["graph"]["nodes"]]
    assert "CopySlices" in labels
    (changed,) = events_of(trace, "inplace")
    assert changed["say"].startswith("a part of y was changed in place: it's [6, 6]")
    said = " ".join(trace.sentences(level=1))
    assert "was in the graph already" not in said
    assert disagreements(trace.data) + memory_faults(trace.data) == []
