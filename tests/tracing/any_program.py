"""Random programs under a recording: nothing changes, and all that is told agrees.

``python -m tests.tracing.any_program 1000`` looks at a thousand of them.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import minigrad as mg
from minigrad.engine import observe
from minigrad.tracing import Recorder, Trace
from tests.parity.differential import run
from tests.parity.differential.statements import write_program
from tests.tracing.pictures import Ears, inconsistencies, told_otherwise
from tests.views.folding import bytes_alive, memory_at

Json = dict[str, Any]


def recorded(seed: int, lines: bool) -> tuple[str, str, Json, Ears]:
    """What the program of ``seed`` did alone, what it did recorded, the recording, and
    what else was heard."""
    source = write_program(seed).source
    trace, ears = Trace(), Ears()
    alone = run.run(source, mg)
    with Recorder(trace, lines=lines, watch=run.compiled(source)):
        observe.add(ears)
        watched = run.run(source, mg)
        observe.remove(ears)
    json.dumps(trace.data, allow_nan=False)
    return repr(alone), repr(watched), trace.data, ears


def disagreements(data: Json) -> list[str]:
    """Where a sentence and the graph do not say the same; empty if nowhere."""
    found = []
    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    edges = {edge["id"]: edge for edge in data["graph"]["edges"]}
    called = {n: [label] for n, label in labels.items()}
    for node in data["graph"]["nodes"]:
        if node["kind"] == "accumulate":
            called[node["id"]] = [node["tensor"] or "the leaf"]
    for event in data["events"]:
        if "label" in event and "n" in event:
            names = [one.get("name") for one in event["outs"]]
            called[event["n"]] += [event["label"], *filter(None, names)]
    there: set[str] = set()
    running: list[str] = []
    for at, event in enumerate(data["events"], 1):
        kind, say, node = event["k"], event["say"], event.get("n")

        def wrong(what: str, at: int = at, say: str = say) -> None:
            found.append(f"step {at}, {say!r}: {what}")

        if kind == "graph.node":
            there.add(event["n"])
            for edge in event["e"]:
                if edges[edge]["from"] != node or edges[edge]["to"] not in there:
                    wrong(f"{edge} does not lead from {node} to what is there")
            if "with edges to " in say:
                names = re.split(", | and ", say.split("with edges to ")[1][:-1])
                ends = ends_of(event, edges, called)
                strange = [n for n in names if not any([n in end for end in ends])]
                if strange or any(map(set(names).isdisjoint, ends)):
                    wrong(f"its edges lead to {ends}")
        if node is not None and node not in there and kind != "tangent":
            wrong(f"{node} is not in the graph yet")
        elif kind in ("node.enter", "node.exit"):
            if labels[event["n"]] not in say:
                wrong(f"it does not name {labels[event['n']]}")
        elif kind == "ctx.free":
            if not any([name in say for name in called[event["n"]]]):
                wrong(f"it does not name {labels[event['n']]}")
        elif kind == "grad":
            edge = edges[event["e"]]
            gets = [f"{name} gets " for name in called[edge["to"]]]
            if edge["to"] != node or not say.startswith(tuple(gets)):
                wrong(f"{event['e']} leads to {edge['to']}")
            if edge["from"] not in running:
                wrong(f"{edge['from']} is not at work")
        if kind == "node.enter":
            running.append(event["n"])
        elif kind == "node.exit":
            if event["n"] not in running:
                wrong("it was not at work")
            else:
                running.remove(event["n"])
        elif kind == "backward.begin":
            for root in event["roots"]:
                if root["n"] not in there:
                    wrong("its root is not in the graph")
    return found


def ends_of(event: Json, edges: Json, called: dict[str, list[str]]) -> list[list[str]]:
    """For each edge of a new node, what the node or tensor it leads to is called."""
    ends = []
    for edge in [edges[name] for name in event["e"]]:
        given = event["ins"][edge["slot"]]
        leads = given.get("n", given.get("leaf")) == edge["to"]
        ends.append([given["name"]] if given["name"] and leads else called[edge["to"]])
    return ends


def memory_faults(data: Json) -> list[str]:
    """What does not add up in the bytes that are kept."""
    known: set[str] = set()
    found = []
    for at, event in enumerate(data["events"], 1):
        change = event.get("mem", {"add": [], "del": []})
        for drop in change["del"]:
            if drop["id"] not in known | {item["id"] for item in change["add"]}:
                found.append(f"step {at}: {drop['id']} is let go without being there")
            known.discard(drop["id"])
        dropped = {drop["id"] for drop in change["del"]}
        known |= {item["id"] for item in change["add"]} - dropped
    if found:
        return found
    end = memory_at(data, len(data["events"]))
    if {id for id, item in end.items() if "until" not in item} != known:
        found.append("what is kept at the end is not what was not let go")
    if bytes_alive(end) < 0:
        found.append("fewer than no bytes")
    return found


def faults(seed: int, lines: bool = False) -> list[str]:
    """All that is wrong with the recording of one program."""
    alone, watched, data, ears = recorded(seed, lines)
    changed = [] if alone == watched else [f"recording changed it: {watched[:300]}"]
    told = [*told_otherwise(data, ears), *inconsistencies(data)]
    return [*changed, *disagreements(data), *memory_faults(data), *told]


def main() -> int:
    """Look at as many programs as are asked for; 1 if anything is wrong."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    wrong = 0
    for seed in range(count):
        for lines in (False, True):
            for fault in faults(seed, lines)[:3]:
                print(f"program {seed}, lines={lines}: {fault}", flush=True)
                wrong += 1
    print(f"{count} programs, recorded twice each: {wrong} faults")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
