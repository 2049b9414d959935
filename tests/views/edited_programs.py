"""Random programs with edits: each must do what one written so would do.

``python -m tests.views.edited_programs 300`` makes 300 edits: of leaves, saved values,
gradients and ``.grad``. The program that is written so has another number in its text,
or a line that changes by hooks what the edit changes. A second argument is added to the
numbers of that program, to see that a difference is found.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import minigrad as mg
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.places import gradients_at, places_at
from minigrad.views.recording import Recording
from tests.parity.differential import run
from tests.parity.differential.statements import write_program

Json = dict[str, Any]

LEAF = re.compile(r"(?m)^t\d+ = torch\.tensor\((.+), dtype=torch\.(\w+)")
ADDRESS = re.compile(r"0x[0-9a-f]+")
NOT_TOLD = ("what.if", "mem.gone")
OF_THE_RUN = ("mem", "place")
"""Which memory something lies in, and the number of a node among all of a process."""
OF_VALUES = ("graph.node", "node.enter", "grad.accumulate", "grad.captured")
EDITS_OF_EACH = 2
TRIES = 4

OTHER: Final = '''
class Other(torch.autograd.Function):
    """Other numbers in the place of ``old``, whose history they have."""

    @staticmethod
    def forward(ctx, old, numbers):
        return torch.tensor(numbers, dtype=old.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


def only_at(turn, change):
    """``change``, made the one time that it is asked for the number of ``turn``."""
    turns = iter(range(1_000_000))
    return lambda given, *_: change(given) if next(turns) == turn else given


def other_one(place, numbers):
    """What makes other numbers of one of several gradients."""
    return lambda given: tuple(
        [Other.apply(g, numbers) if i == place else g for i, g in enumerate(given)]
    )


def other_grad(numbers):
    """What puts other numbers into a leaf's ``.grad``."""
    return lambda leaf: setattr(leaf, "grad", Other.apply(leaf.grad, numbers))


def other_saved(turn, numbers):
    """Hooks that give back other numbers for one saved value."""
    turns = iter(range(1_000_000))

    def unpack(kept):
        old, version, of_turn = kept
        if old._version != version:
            raise RuntimeError("modified by an inplace operation")
        return Other.apply(old, numbers) if of_turn == turn else old

    return torch.autograd.graph.saved_tensors_hooks(
        lambda old: (old, old._version, next(turns)), unpack
    )
'''
"""What the lines of a program that is written so need; it makes no step of its own."""
SAVED: Final = "with other_saved({turn}, {numbers}):"
GRADIENT: Final = (
    "{name}.grad_fn.register_prehook(only_at({turn}, other_one({slot}, {numbers})))"
)
SENT: Final = (
    "{name}.grad_fn.register_hook(only_at({turn}, other_one({slot}, {numbers})))"
)
GRAD: Final = (
    "{name}.register_post_accumulate_grad_hook(only_at({turn}, other_grad({numbers})))"
)


def program(source: str) -> Callable[[], Any]:
    """A function of the source, which is no variable of it."""
    return lambda: run.run(source, mg)


def shown(data: Json) -> str:
    """All that the steps and the graph tell, with the values in full."""
    values = data["values"]

    def full(item: Any) -> Any:
        if isinstance(item, list):
            return [full(one) for one in item]
        if not isinstance(item, dict):
            return item
        return {
            key: full(values.get(one, one) if isinstance(one, str) else one)
            for key, one in item.items()
            if key not in OF_THE_RUN
        }

    steps = [event for event in data["events"] if event["k"] not in NOT_TOLD]
    graph = {key: data["graph"][key] for key in ("nodes", "edges")}
    told = full([steps, graph, data["ctxs"]])
    return ADDRESS.sub("0x", json.dumps(told, sort_keys=True))


def numbers_like(given: str, dtype: str, chance: random.Random) -> Any:
    """Other numbers in the shape of those that a source has."""
    return other_numbers(np.shape(json.loads(given)), dtype, chance)


def other_numbers(shape: Any, dtype: str, chance: random.Random) -> Any:
    """Numbers that are no others when they are written down."""
    least = 3 if dtype == "int64" else 15
    new = [chance.randint(-least, least) for _ in range(int(np.prod(shape)))]
    return (np.array(new).reshape(shape) / (1 if least == 3 else 8)).tolist()


def key_of(data: Json, numbers: Any, dtype: str) -> str | None:
    """The leaf that starts with these numbers, if a call is given it so."""
    for event in data["events"]:
        for one in event.get("ins", ()):
            if one.get("v") and "n" not in one and not one.get("ver"):
                value = data["values"][one["v"]["v"]]
                there = [one for row in value["rows"] for one in row]
                kind = value["dtype"], tuple(value["shape"])
                same = there == np.ravel(numbers).tolist()
                if same and kind == (dtype, np.shape(numbers)):
                    return str(one["t"])
    return None


def edits(seed: int, off: float = 0) -> Iterator[tuple[str, Recording, Recording]]:
    """Edits of leaves of a program: what was edited, that run, and one from scratch.

    The numbers of that are ``off`` by so much.
    """
    chance = random.Random(f"edit {seed}")
    source = write_program(seed).source
    leaves = list(LEAF.finditer(source))
    for leaf in chance.sample(leaves, min(len(leaves), EDITS_OF_EACH)):
        given, dtype = leaf.groups()
        # Numbers of its own, by which it is found.
        first, second = (numbers_like(given, dtype, chance) for _ in range(2))
        before, after = source[: leaf.start(1)], source[leaf.end(1) :]
        trace = mg.step(program(f"{before}{first}{after}"), keep_values=True)
        key = key_of(trace.data, first, dtype)
        if key is not None:
            edited = trace.what_if(leaf={key: second}).recording
            written = moved(second, off)
            scratch = mg.step(program(f"{before}{written}{after}"))
            yield f"program {seed}, {key}: {first} -> {second}", edited, scratch


@dataclass
class Inner:
    """An edit of what is inside a run, and the program in which that is so.

    ``asked`` is what what_if is given.
    """

    kind: str
    asked: Json
    source: str

    def __str__(self) -> str:
        return f"{self.kind}, {self.asked}"


def inner_edits(
    seed: int, off: float = 0
) -> Iterator[tuple[Inner, Recording, Recording]]:
    """An edit of each kind that a program has a place for, as ``edits`` yields them.

    One that makes a difference, if it is found.
    """
    chance = random.Random(f"inner edit {seed}")
    source = write_program(seed).source
    trace = recorded(source)
    before = computed(trace)
    found = list(places(source, trace.data, chance, off))
    for kind in ("saved", "gradient", "sent", "grad"):
        of_it = [one for one in found if one.kind == kind]
        runs = []
        for one in chance.sample(of_it, min(len(of_it), TRIES)):
            runs.append((one, trace.what_if(**one.asked).recording))
            if computed(runs[-1][1]) != before:
                break
        if runs:
            one, edited = runs[-1]
            yield one, edited, recorded(one.source)


def recorded(source: str) -> Recording:
    """A recording of a program, without its lines; it ends with each ``.grad``."""
    with mg.record(lines=False, keep_values=True) as trace:
        for facts in run.run(source, mg).left.values():
            if isinstance(facts, dict) and facts.get("grad") is not None:
                _ = mg.tensor(facts["grad"][0], requires_grad=True) * 1
    return trace


def places(
    source: str, data: Json, chance: random.Random, off: float
) -> Iterator[Inner]:
    """What can be edited inside, wherever a line of the program can change the same."""
    made, names = nodes_of_statements(source)
    hooked = {event["n"] for event in data["events"] if event["k"][:5] == "hook."}
    entered: Counter[str] = Counter()
    accumulated: Counter[str] = Counter()
    by_node = {
        nodes[-1]: (target, node)
        for node, nodes in made
        if (target := target_of(node)) and nodes
    }
    sent = {edge["id"]: edge for edge in data["graph"]["edges"]}
    for at, event in enumerate(data["events"], 1):
        kind, node = event["k"], event.get("n", "")
        if kind == "node.enter":
            entered[node] += 1
        edge = sent.get(event["e"]) if kind == "grad" else None
        of = edge["from"] if edge else node
        if kind in ("node.enter", "grad") and of in by_node and of not in hooked:
            name, statement = by_node[of]
            turn = entered[of] - 1
            for found in gradients_at(data, at):
                slot, numbers = found.key, numbers_for(data, found.ref, chance)
                text = SENT if edge else GRADIENT
                place = edge["slot"] if edge else slot
                where = {"name": name, "turn": turn, "slot": place}
                line = text.format(**where, numbers=moved(numbers, off))
                asked = {"step": at, "gradient": {slot: numbers}}
                written = with_line(source, statement, line)
                yield Inner("sent" if edge else "gradient", asked, written)
        if kind == "grad.accumulate":
            leaf = leaf_called(source, names[node])
            turn = accumulated[node]
            accumulated[node] += 1
            if leaf is not None and node not in hooked:
                numbers = numbers_for(data, event["new"], chance)
                where = {"name": names[node], "turn": turn}
                line = GRAD.format(**where, numbers=moved(numbers, off))
                asked = {"step": at, "gradient": {0: numbers}}
                yield Inner("grad", asked, with_line(source, leaf, line))
    yield from saved_places(source, data, made, chance, off)


def saved_places(
    source: str,
    data: Json,
    made: list[tuple[ast.stmt, list[str]]],
    chance: random.Random,
    off: float,
) -> Iterator[Inner]:
    """What nodes have saved: its numbers are packed in the order of the nodes."""
    told = {
        e["n"]: at for at, e in enumerate(data["events"], 1) if e["k"] == "graph.node"
    }
    nodes = {node["id"]: node for node in data["graph"]["nodes"]}
    used = {e["n"] for e in data["events"] if e["k"] == "node.enter"}
    for statement, of_it in made:
        turn = 0
        for node in of_it:
            if nodes[node]["kind"] == "accumulate":
                continue
            at = told[node]
            there = {
                int(one.key.removeprefix("saved.")): one.ref
                for one in places_at(data, at, node)
                if str(one.key).startswith("saved.")
            }
            for place, ref in sorted(there.items()):
                value = data["values"].get(ref.get("v"))
                if value is None:
                    continue
                numbers = numbers_for(data, ref, chance)
                asked = {"step": at, "node": node, "saved": {place: numbers}}
                line = SAVED.format(turn=turn, numbers=moved(numbers, off))
                turn += 1
                if node in used and value["dtype"].startswith("float"):
                    around = with_line(source, statement, line, around=True)
                    yield Inner("saved", asked, around)


def nodes_of_statements(
    source: str,
) -> tuple[list[tuple[ast.stmt, list[str]]], dict[str, str]]:
    """The statements of a program that make nodes, and these; the names of leaves."""
    trace = Trace()
    with Recorder(trace, watch=run.compiled(source)):
        run.run(source, mg)
    data = trace.data
    own = max(i for i, s in enumerate(data["sources"]) if s["name"] == "your program")
    simple = [
        one
        for one in ast.walk(ast.parse(source))
        if isinstance(one, (ast.Assign, ast.Expr))
    ]
    found: dict[ast.stmt, list[str]] = {}
    line = 0
    for event in data["events"]:
        if event["k"] == "line" and event["s"] == own:
            line = event["l"] + 1
        if event["k"] == "graph.node":
            for one in simple:
                if one.lineno <= line <= (one.end_lineno or 0):
                    found.setdefault(one, []).append(event["n"])
    nodes = data["graph"]["nodes"]
    return list(found.items()), {node["id"]: node["tensor"] for node in nodes}


def target_of(statement: ast.stmt) -> str | None:
    """The one variable that a statement makes."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


def leaf_called(source: str, name: str | None) -> ast.stmt | None:
    """The statement that makes a leaf."""
    for one in ast.parse(source).body:
        if target_of(one) == name and "requires_grad=True" in ast.unparse(one):
            return one
    return None


def with_line(source: str, statement: ast.stmt, line: str, around: bool = False) -> str:
    """The program with a line after a statement, or with one that it stands in."""
    lines = source.splitlines()
    first, last = statement.lineno - 1, statement.end_lineno or 0
    indent = " " * statement.col_offset
    if around:
        lines[first:last] = [f"    {one}" for one in lines[first:last]]
        last = first
    lines.insert(last, indent + line)
    return OTHER + "\n".join(lines) + "\n"


def moved(numbers: Any, off: float) -> Any:
    """Numbers that are off by so much."""
    return (np.array(numbers) + off).tolist() if off else numbers


def numbers_for(data: Json, ref: Json, chance: random.Random) -> Any:
    """Other numbers for a value of a recording."""
    value = data["values"][ref["v"]]
    return other_numbers(value["shape"], value["dtype"], chance)


def computed(recording: Recording) -> list[Any]:
    """What a run computes: the values of its calls, and each gradient where it arrives.

    Where a value was edited it is told with the new one; what the lines of a program
    that is written so do is left out.
    """
    data = recording.data
    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    told: list[Any] = []
    before = ""
    for event in data["events"]:
        kind = event["k"]
        if kind == "what.if" and before == "node.enter" and "n" in event:
            told[-1][2][event.get("slot", 0)] = event["new"]["v"]
        before = kind
        label = labels.get(event.get("n", ""), "")
        if kind not in OF_VALUES or label.startswith("Other"):
            continue
        if kind == "graph.node":
            refs = [one.get("v") for one in event.get("outs", ())]
        elif kind == "node.enter":
            refs = event["g"]
        else:
            refs = [event["new" if kind == "grad.accumulate" else "g"]]
        told.append([kind, label, [ref and ref.get("v") for ref in refs]])
    values = data["values"]
    end = data["meta"].get("error", "")
    return [[*one[:2], [values.get(ref) for ref in one[2]]] for one in told] + [end]


def main() -> int:
    """Make as many edits as are asked for; 1 if one shows something else."""
    parser = argparse.ArgumentParser(description="Compare edits with programs.")
    parser.add_argument("edits", type=int, nargs="?", default=100)
    parser.add_argument("off", type=float, nargs="?", default=0.0)
    asked = parser.parse_args()
    most, off = asked.edits, asked.off
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    seed = 0
    while counts.total() < most:
        for what, edited, scratch in edits(seed, off):
            counts["leaf"] += 1
            if shown(edited.data) != shown(scratch.data):
                wrong["leaf"] += 1
                print(what, flush=True)
        for one, edited, scratch in inner_edits(seed, off):
            counts[one.kind] += 1
            if computed(edited) != computed(scratch):
                wrong[one.kind] += 1
                print(f"program {seed}: {one}", flush=True)
        seed += 1
    print(f"{dict(counts)} edits of {seed} programs: {dict(wrong)} differ")
    return min(wrong.total(), 1)


if __name__ == "__main__":
    sys.exit(main())
