"""What the views are tested with: small recordings, and traces written by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg

Json = dict[str, Any]

CELL = {"name": "cell", "role": "driver", "file": "notebook cell", "first": 1}


class Story:
    """Collects values, nodes and events into the dict of a trace."""

    def __init__(self, title: str) -> None:
        self.data: Json = {
            "schema": "minigrad.trace/2",
            "meta": {
                "python": "3.11.4",
                "minigrad": "0.1.0",
                "backend": "settrace",
                "title": title,
                "truncated": False,
            },
            "sources": [{**CELL, "tokens": [[["", "y = Blur.apply(image)"]]]}],
            "values": {},
            "ctxs": [],
            "graph": {"nodes": [], "edges": []},
            "events": [],
        }

    def array(self, value: Any, dtype: str = "float32") -> Json:
        array = np.asarray(value, dtype=dtype)
        key = hashlib.blake2b(
            array.tobytes() + str((array.shape, dtype)).encode(), digest_size=4
        ).hexdigest()
        table = array.reshape(-1, array.shape[-1] if array.ndim else 1)[:8, :8]
        self.data["values"][key] = {
            "shape": list(array.shape),
            "dtype": dtype,
            "min": float(array.min()),
            "max": float(array.max()),
            "nan": int(np.isnan(array).sum()),
            "rows": [[float(f"{x:.4g}") for x in row] for row in table],
            "cut": table.size < array.size,
        }
        return {"t": "A", "v": key}

    def saved(self, value: Any, name: str, now: int = 0) -> Json:
        key = self.array(value)["v"]
        return {"t": "S", "v": key, "name": name, "ver": 0, "now": now, "out": None}

    def node(self, id: str, label: str, **more: Any) -> None:
        node = {"id": id, "label": label, "kind": "function", "ctx": None}
        node |= {"tensor": None, "outputs": 1} | more
        self.data["graph"]["nodes"].append(node)
        if node["ctx"]:
            name = label.removesuffix("Backward")
            self.data["ctxs"].append(
                {"id": node["ctx"], "name": label, "function": name, "node": id}
            )

    def edge(self, id: str, start: str, to: str, slot: int, to_slot: int = 0) -> None:
        edge = {"id": id, "from": start, "to": to, "slot": slot, "to_slot": to_slot}
        self.data["graph"]["edges"].append(edge)

    def event(self, kind: str, say: str, lvl: int = 1, **more: Any) -> None:
        event = {"k": kind, "say": say, "lvl": lvl, "d": 1, "s": 0, "l": 0}
        self.data["events"].append(event | more)


def plain(text: str) -> Json:
    return {"t": "P", "r": text}


class MulConstant(mg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mg.Tensor, constant: Any) -> mg.Tensor:
        ctx.constant = constant
        ctx.save_for_backward(x)
        return x * constant

    @staticmethod
    def backward(ctx: Any, grad_output: mg.Tensor) -> tuple[mg.Tensor, None]:
        (_x,) = ctx.saved_tensors
        return grad_output * ctx.constant, None


def recorded(title: str, program: Callable[[], None]) -> Json:
    """A recording that opens at *Phases*; of the engine's lines it tells nothing."""
    data = mg.step(program).at_level("phases").data
    data["meta"]["title"] = title
    told = [e for e in data["events"] if (e["k"], e["lvl"]) != ("line", 3)]
    return {**data, "events": told}


def mul_constant() -> Json:
    """``MulConstant.apply(x, 10).sum().backward()``."""

    def program() -> None:
        x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = MulConstant.apply(x, 10)
        y.sum().backward()

    return recorded("MulConstant.apply(x, 10), then sum and backward", program)


def fan_in() -> Json:
    """``(2 * x + 3 * x).backward()``: at x arrive 2 and 3, together 5."""

    def program() -> None:
        x = mg.tensor(7.0, requires_grad=True)
        a = x * 2
        b = x * 3
        (a + b).backward()

    data = recorded("Two ways lead to x: their gradients add up", program)
    for event in data["events"]:
        event["lvl"] = min(event["lvl"], 2)  # a stop at each
    return data


class Fails(MulConstant):
    @staticmethod
    def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
        ctx.constant = 10
        raise TypeError("not by <b>ten</b>")


def failing() -> Json:
    """A forward that raises, with what looks like markup."""

    def program() -> None:
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        Fails.apply(x)

    return recorded("A forward that fails", program)


def grid() -> Json:
    """Larger values: a matrix with negative numbers, a changed version, a wide one."""
    story = Story("Heat maps")
    story.node("n0", "BlurBackward", ctx="c0", outputs=2)
    story.node("n1", "AccumulateGrad", kind="accumulate", tensor="image")
    story.edge("e0", "n0", "n1", 0)
    story.event("call", "The program starts.", 2)
    story.event("line", "Next: Blur.apply(image).", 2)
    small = np.array([[0.5, -1.25, 3.0], [1e-5, 2e6, -0.125]])
    large = np.sin(np.arange(400)).reshape(20, 20)
    saved = {"saved.0": story.saved(small, "small", now=1)}
    saved["saved.1"] = story.saved(large, "image")
    kept = {"id": "c0", "set": saved}
    story.event("ctx.save", "Two matrices are saved.", cid="c0", ctx=kept)
    story.event("graph.node", "The node is wired.", cid="c0", n="n0", e=["e0"])
    return story.data
