"""Random programs with edited leaves: each must do what one written so would do.

``python -m tests.views.edited_programs 300`` makes three hundred edits.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.views.recording import Recording
from tests.parity.differential import run
from tests.parity.differential.statements import write_program

Json = dict[str, Any]

LEAF = re.compile(r"(?m)^t\d+ = torch\.tensor\((.+), dtype=torch\.(\w+)")
ADDRESS = re.compile(r"0x[0-9a-f]+")
NOT_TOLD = ("what.if", "mem.gone")
OF_THE_RUN = ("mem", "place")
"""Which memory something lies in, and the number of a node among all of a process."""
EDITS_OF_EACH = 2


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
    old = np.array(json.loads(given))
    least = 3 if dtype == "int64" else 15
    new = [chance.randint(-least, least) for _ in range(old.size)]
    return (np.array(new).reshape(old.shape) / (1 if least == 3 else 8)).tolist()


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


def edits(seed: int) -> Iterator[tuple[str, Recording, Recording]]:
    """Edits of leaves of a program: what was edited, that run, and one from scratch."""
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
            scratch = mg.step(program(f"{before}{second}{after}"))
            yield f"program {seed}, {key}: {first} -> {second}", edited, scratch


def main() -> int:
    """Make as many edits as are asked for; 1 if one shows something else."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    count = wrong = seed = 0
    while count < most:
        for what, edited, scratch in edits(seed):
            count += 1
            if shown(edited.data) != shown(scratch.data):
                wrong += 1
                print(what, flush=True)
        seed += 1
    print(f"{count} edits of {seed} programs: {wrong} show something else")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
