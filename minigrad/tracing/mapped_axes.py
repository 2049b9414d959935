"""The dimensions of a tensor that count the examples of a vmap, for its picture.

vmap says of each tensor that it maps which dimensions these are. What a rule makes of
such a tensor, vmap sees only when the rule returns: until then the dimension is
followed through whatever moves it or gives it other neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

Axes = tuple[int, ...]
RESHAPES: Final = ("View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Squeeze")


def mark(data: Mapping[str, Any], told: Mapping[str, Axes]) -> None:
    """Write ``ax`` at each value of a call that was mapped; ``told`` is by tensors."""
    axes = dict(told)
    shapes = {key: value["shape"] for key, value in data["values"].items()}
    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    for event in data["events"]:
        ins, outs = event.get("ins", ()), event.get("outs", ())
        if event["k"] == "graph.node" and len(outs) == 1 and ins and ins[0].get("v"):
            before, after = (shapes[one["v"]["v"]] for one in (ins[0], outs[0]))
            mapped = axes.get(ins[0]["t"], ())
            found = mapped and follow(event, labels[event["n"]], mapped, before, after)
            if found:
                axes.setdefault(outs[0]["t"], found)
        for one in (*ins, *outs):
            if one.get("v") and one.get("t") in axes:
                one["v"]["ax"] = list(axes[one["t"]])


def follow(
    event: Mapping[str, Any],
    label: str,
    axes: Axes,
    before: Sequence[int],
    after: Sequence[int],
) -> Axes:
    """Where these dimensions are in the result of an operation that moves data only."""
    kept = event.get("ctx", {}).get("set", {})
    operation = label.removesuffix("Backward0")
    if operation == "Permute":
        back = [int(one["r"]) for one in kept["attr.back"]["i"]]
        return tuple(sorted([back[axis] for axis in axes]))
    if operation == "Transpose":
        one, other = [int(dim["r"]) % len(before) for dim in kept["attr.dims"]["i"]]
        exchanged = {one: other, other: one}
        return tuple(sorted([exchanged.get(axis, axis) for axis in axes]))
    if operation == "T":
        return tuple(sorted([len(before) - 1 - axis for axis in axes]))
    if operation in RESHAPES:
        places = [place_after(axis, before, after) for axis in axes]
        return tuple([place for place in places if place is not None])
    return ()


def place_after(axis: int, before: Sequence[int], after: Sequence[int]) -> int | None:
    """The dimension of the new shape that is this one of the old: as long, with as many
    elements before it; None if it was split or joined."""
    ahead = math.prod(before[:axis])
    for place, length in enumerate(after):
        if length == before[axis] and math.prod(after[:place]) == ahead:
            return place
    return None
