"""Traces written by hand, event by event: what the views are tested with."""

from __future__ import annotations

import hashlib
import re
import textwrap
from typing import Any

import numpy as np

Json = dict[str, Any]

TOKEN = re.compile(
    r"""(?P<c>\#.*)|(?P<s>'''.*'''|\"[^\"]*\"|'[^']*')|(?P<n>\b\d[\d.e-]*\b)"""
    r"""|(?P<k>\b(?:class|def|return|for|while|if|not|in|is|None|with|True|False)\b)"""
    r"""|(?P<f>(?<=def )\w+|(?<=class )\w+|@\w+)"""
)


def tokens(line: str) -> list[list[str]]:
    parts: list[list[str]] = []
    end = 0
    for match in TOKEN.finditer(line):
        if match.start() > end:
            parts.append(["", line[end : match.start()]])
        parts.append([match.lastgroup or "", match.group()])
        end = match.end()
    if end < len(line):
        parts.append(["", line[end:]])
    return parts


class Story:
    """Collects sources, values and events into the dict of a trace."""

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
            "sources": [],
            "values": {},
            "ctxs": [],
            "graph": {
                "dot": None,
                "svg": None,
                "renderer": None,
                "nodes": [],
                "edges": [],
            },
            "events": [],
        }
        self.names: dict[str, int] = {}
        self.depth = 0
        self.cid: str | None = None
        self.phase: Json | None = None

    def source(self, name: str, role: str, file: str, first: int, text: str) -> None:
        lines = textwrap.dedent(text).strip("\n").split("\n")
        self.names[name] = len(self.data["sources"])
        self.data["sources"].append(
            {
                "name": name,
                "role": role,
                "file": file,
                "first": first,
                "tokens": [tokens(line) for line in lines],
            }
        )

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

    def tensor(
        self, value: Any, name: str | None, rg: bool = False, fn: str | None = None
    ) -> Json:
        key = self.array(value)["v"]
        return {"t": "T", "v": key, "rg": rg, "name": name, "ver": 0, "fn": fn}

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
        event: Json = {"k": kind, "say": say, "lvl": lvl, "d": self.depth}
        if self.phase:
            event["ph"] = self.phase
        if self.cid:
            event["cid"] = self.cid
        self.data["events"].append(event | more)

    def call(self, name: str, say: str, lvl: int, **more: Any) -> None:
        self.depth += 1
        self.event("call", say, lvl, s=self.names[name], l=0, **more)

    def line(self, name: str, line: int, say: str, lvl: int, **more: Any) -> None:
        self.event("line", say, lvl, s=self.names[name], l=line, **more)

    def leave(self, name: str, line: int, say: str, lvl: int, val: Any) -> None:
        self.event("return", say, lvl, s=self.names[name], l=line, val=val)
        self.depth -= 1

    def in_phase(self, of: str, name: str) -> None:
        self.phase = {"of": of, "name": name}


PLAIN = {"t": "P", "r": ""}


def plain(text: str) -> Json:
    return {"t": "P", "r": text}


def several(*refs: Json) -> Json:
    return {"t": "L", "i": list(refs)}


APPLY = """
@classmethod
def apply(cls, *args):
    inputs = collect_inputs(cls, args)

    ctx = cls.new_ctx(inputs)

    with no_grad():
        result = cls.run_forward(ctx, args)

    ctx.take_saved(result)

    outputs = wrap_outputs(ctx, result)

    ctx.link_outputs(inputs, outputs)
    return unpack(outputs)
"""

RUN = """
def run(self):
    while self.ready:
        node, gradients = self.pick_newest()

        returned = node.call_backward(gradients)

        checked = node.check(returned)

        for edge, gradient in zip(node.edges, checked):
            self.send(node, edge, gradient)

        self.release(node)
"""

MUL = """
class MulConstant(Function):
    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant
        ctx.save_for_backward(x)
        return x * constant

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.constant, None
"""


def _sources(story: Story, driver: str) -> None:
    forward, backward = textwrap.dedent(MUL).strip().split("\n\n")
    story.source("cell", "driver", "notebook cell", 1, driver)
    story.source("Function.apply", "engine", "engine/core/function.py", 118, APPLY)
    story.source(
        "MulConstant.forward",
        "user",
        "notebook cell",
        2,
        "\n".join(forward.split("\n")[1:]),
    )
    story.source("GraphTask.run", "engine", "engine/core/backward.py", 64, RUN)
    story.source("MulConstant.backward", "user", "notebook cell", 8, backward)


def _forward(story: Story, value: Any, constant: int, fails: bool = False) -> None:
    """The events of ``MulConstant.apply(x, constant)`` up to its wired node."""
    x = story.tensor(value, "x", rg=True)
    apply, forward = "Function.apply", "MulConstant.forward"
    story.call(apply, "Python calls MulConstant.apply.", 3, loc={"x": x})
    story.in_phase("apply", "collect inputs")
    story.line(apply, 2, "apply looks at its two arguments: x is a tensor.", 3)
    story.event("phase", "Collect inputs: of the two arguments, x needs a gradient.")
    story.in_phase("apply", "create ctx")
    story.line(apply, 4, "apply makes the ctx of this call.", 3)
    story.cid = "c0"
    needs = several(plain("True"), plain("False"))
    story.event(
        "ctx.new",
        "A new ctx: MulConstantBackward, made for this one call.",
        ctx={
            "id": "c0",
            "set": {
                "needs_input_grad": needs,
                "flag.materialize_grads": plain("True"),
            },
            "del": [],
        },
    )
    story.in_phase("apply", "run forward")
    story.line(apply, 7, "apply runs your forward.", 3)
    constant_ref = plain(str(constant))
    story.call(
        forward,
        f"forward is called with x and constant = {constant}.",
        2,
        loc={"x": x, "constant": constant_ref},
    )
    story.line(forward, 2, "About to put constant on ctx.", 2)
    story.line(
        forward,
        3,
        f"ctx.constant is now {constant}.",
        2,
        ctx={"id": "c0", "set": {"attr.constant": constant_ref}, "del": []},
    )
    story.event(
        "ctx.save",
        "save_for_backward notes x: it becomes saved[0].",
        s=story.names[forward],
        l=3,
        ctx={"id": "c0", "set": {"saved.0": story.saved(value, "x")}, "del": []},
    )
    story.line(forward, 4, "The last line multiplies x by the constant.", 2)
    if fails:
        error = (
            "TypeError: can't multiply sequence by non-int of type 'Tensor'\n"
            '  fix: multiply by a number, not by <b>"text"</b>'
        )
        story.event(
            "exception",
            "forward fails here: TypeError.",
            s=story.names[forward],
            l=4,
            err=error,
        )
        story.depth -= 1
        for name, line in ((apply, 7), ("cell", 1)):
            story.event(
                "exception",
                f"The error passes through {name}.",
                2,
                s=story.names[name],
                l=line,
                err=error,
            )
            story.depth -= 1
        story.data["meta"]["error"] = error
        return
    product = story.array(np.asarray(value) * constant)
    story.leave(forward, 4, "forward returns the product.", 2, product)
    story.in_phase("apply", "take what was saved")
    story.event("phase", "Take what was saved: ctx now holds x for backward.")
    story.in_phase("apply", "wrap outputs")
    story.line(apply, 11, "apply wraps the array in a Tensor.", 3)
    story.event("phase", "Wrap outputs: the array becomes the tensor y.")
    story.in_phase("apply", "link outputs")


def mul_constant(size: int = 3) -> Json:
    """``MulConstant.apply(x, 10).sum().backward()``."""
    value = np.arange(1, size + 1, dtype="float32")
    story = Story("MulConstant.apply(x, 10), then sum and backward")
    _sources(
        story,
        """
        x = tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = MulConstant.apply(x, 10)
        y.sum().backward()
        print(x.grad)
        """,
    )
    story.node("n0", "MulConstantBackward", ctx="c0")
    story.node("n1", "AccumulateGrad", kind="accumulate", tensor="x")
    story.node("n2", "SumBackward0", ctx="c1")
    story.edge("e0", "n0", "n1", 0)
    story.edge("e1", "n2", "n0", 0)
    x = story.tensor(value, "x", rg=True)
    story.call("cell", "The program starts.", 2)
    story.line("cell", 0, "x is made: a leaf that asks for its gradient.", 2)
    story.line("cell", 1, "Next: MulConstant.apply(x, 10).", 2, loc={"x": x})
    _forward(story, value, 10)
    story.event(
        "graph.node",
        "Link outputs: y.grad_fn is this ctx, its edge 0 leads to x.",
        n="n0",
        e=["e0"],
        ctx={
            "id": "c0",
            "set": {"edges": several(plain("AccumulateGrad x"), plain("None"))},
            "del": [],
        },
    )
    y = story.tensor(value * 10, "y", rg=True, fn="MulConstantBackward")
    story.leave("Function.apply", 14, "apply returns y.", 3, y)
    story.phase, story.cid = None, None
    story.line("cell", 2, "y is there. Next: its sum, then backward.", 2, loc={"y": y})
    story.cid = "c1"
    story.event(
        "ctx.new",
        "sum makes its own ctx: SumBackward0.",
        ctx={
            "id": "c1",
            "set": {
                "needs_input_grad": several(plain("True")),
                "attr.shape": plain(f"({size},)"),
            },
            "del": [],
        },
    )
    story.event(
        "graph.node",
        "The sum's node is wired to MulConstantBackward.",
        n="n2",
        e=["e1"],
        ctx={"id": "c1", "set": {"edges": several(plain("MulConstantBackward"))}},
    )
    one, ones = story.array(1.0), story.array(np.ones(size))
    tens = story.array(np.full(size, 10.0))
    run, backward = "GraphTask.run", "MulConstant.backward"
    story.depth += 1
    story.event(
        "backward.begin",
        "backward starts at SumBackward0 with the gradient 1.",
        create_graph=False,
        retain=False,
        roots=[{"n": "n2", "slot": 0, "g": one}],
    )
    story.depth -= 1
    story.call(run, "The traversal starts.", 3)
    story.in_phase("backward", "pick the next ready node")
    story.event("node.enter", "Pick SumBackward0: it is ready.", n="n2", g=[one])
    story.in_phase("backward", "call its backward")
    story.line(run, 4, "Call its backward.", 3)
    story.in_phase("backward", "check what it returned")
    story.line(run, 6, "Check what it returned.", 3)
    story.in_phase("backward", "add into the receivers")
    story.event(
        "grad",
        "The gradient [1, 1, 1] travels to MulConstantBackward.",
        e="e1",
        n="n0",
        g=ones,
        total=ones,
    )
    story.in_phase("backward", "release")
    story.event("node.exit", "SumBackward0 is done.", n="n2")
    story.cid = "c0"
    story.in_phase("backward", "pick the next ready node")
    story.event(
        "node.enter", "Pick MulConstantBackward: its gradient is in.", n="n0", g=[ones]
    )
    story.in_phase("backward", "call its backward")
    story.line(run, 4, "Call its backward: yours.", 3)
    story.call(
        backward,
        "Your backward is called with grad_output = [1, 1, 1].",
        2,
        loc={"grad_output": ones},
    )
    story.line(backward, 2, "About to read saved_tensors.", 2)
    story.line(
        backward,
        3,
        "x is back; grad_output is multiplied by ctx.constant.",
        2,
        loc={"x": story.saved(value, "x")},
    )
    story.leave(
        backward,
        3,
        "backward returns a gradient for x, and None for constant.",
        2,
        several(tens, plain("None")),
    )
    story.in_phase("backward", "check what it returned")
    story.event("phase", "Check: two gradients for two inputs, the shapes fit.")
    story.in_phase("backward", "add into the receivers")
    story.event(
        "grad",
        "The gradient [10, 10, 10] travels to AccumulateGrad of x.",
        e="e0",
        n="n1",
        g=tens,
        total=tens,
    )
    story.in_phase("backward", "release")
    story.event(
        "ctx.free",
        "Release: saved[0] is dropped.",
        ctx={"id": "c0", "set": {"saved.0": plain("freed")}, "del": []},
    )
    story.event("node.exit", "MulConstantBackward is done.", n="n0")
    story.cid = None
    story.in_phase("backward", "pick the next ready node")
    story.event("node.enter", "Pick AccumulateGrad of x.", n="n1", g=[tens])
    story.in_phase("backward", "call its backward")
    story.event(
        "grad.accumulate",
        "x.grad was None, now it is [10, 10, 10].",
        n="n1",
        old=None,
        new=tens,
    )
    story.in_phase("backward", "release")
    story.event("node.exit", "AccumulateGrad is done.", n="n1")
    story.phase = None
    story.event("backward.end", "No node is waiting: backward is over.")
    story.depth -= 1
    story.line("cell", 3, "Print the gradient.", 2)
    story.leave("cell", 3, "The program ends.", 2, plain("None"))
    story.data["events"][-1]["out"] = "tensor([10., 10., 10.])\n"
    return story.data


def fan_in() -> Json:
    """``(2 * x + 3 * x).backward()``: at x arrive 2 and 3, together 5."""
    story = Story("Two ways lead to x: their gradients add up")
    story.source(
        "cell",
        "driver",
        "notebook cell",
        1,
        """
        x = tensor(7.0, requires_grad=True)
        a = x * 2
        b = x * 3
        (a + b).backward()
        """,
    )
    story.node("n0", "MulBackward0", ctx="c0")
    story.node("n1", "AccumulateGrad", kind="accumulate", tensor="x")
    story.node("n2", "MulBackward0", ctx="c1")
    story.node("n3", "AddBackward0", ctx="c2")
    for id, start, to, slot in (
        ("e0", "n0", "n1", 0),
        ("e1", "n2", "n1", 0),
        ("e2", "n3", "n0", 0),
        ("e3", "n3", "n2", 1),
    ):
        story.edge(id, start, to, slot)
    x = story.tensor(7.0, "x", rg=True)
    one, two, three, five = (story.array(float(n)) for n in (1, 2, 3, 5))
    story.call("cell", "The program starts.", 2)
    story.line("cell", 0, "x is made.", 2)
    story.line("cell", 1, "Next: a = x * 2.", 2, loc={"x": x})
    story.event("graph.node", "a's node leads to x.", n="n0", e=["e0"])
    story.line("cell", 2, "Next: b = x * 3.", 2)
    story.event("graph.node", "b's node leads to x as well.", n="n2", e=["e1"])
    story.line("cell", 3, "Next: add both, then backward.", 2)
    story.event("graph.node", "The sum has two edges.", n="n3", e=["e2", "e3"])
    story.event(
        "backward.begin",
        "backward starts with 1.",
        create_graph=False,
        retain=False,
        roots=[{"n": "n3", "slot": 0, "g": one}],
    )
    story.event("node.enter", "Pick AddBackward0.", n="n3", g=[one])
    story.event("grad", "1 goes to a.", e="e2", n="n0", g=one, total=one)
    story.event("grad", "1 goes to b.", e="e3", n="n2", g=one, total=one)
    story.event("node.exit", "AddBackward0 is done.", n="n3")
    story.event("node.enter", "Pick b's MulBackward0.", n="n2", g=[one])
    story.event("grad", "3 goes to x.", e="e1", n="n1", g=three, total=three)
    story.event("node.exit", "b's node is done.", n="n2")
    story.event("node.enter", "Pick a's MulBackward0.", n="n0", g=[one])
    story.event(
        "grad",
        "2 goes to x, where 3 waits: together 5.",
        e="e0",
        n="n1",
        g=two,
        total=five,
    )
    story.event("node.exit", "a's node is done.", n="n0")
    story.event("node.enter", "Pick AccumulateGrad of x.", n="n1", g=[five])
    story.event("grad.accumulate", "x.grad is now 5.", n="n1", old=None, new=five)
    story.event("node.exit", "AccumulateGrad is done.", n="n1")
    story.event("backward.end", "Nothing waits any more.")
    return story.data


def failing() -> Json:
    """A forward that raises; one of its values looks like markup."""
    story = Story("A forward that fails")
    _sources(
        story,
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = MulConstant.apply(x, "ten")
        """,
    )
    story.node("n0", "AccumulateGrad", kind="accumulate", tensor="x")
    story.call("cell", "The program starts.", 2)
    story.line("cell", 1, "Next: MulConstant.apply(x, 'ten').", 2)
    _forward(story, [1.0, 2.0], 10, fails=True)
    return story.data


def grid() -> Json:
    """Larger values: a matrix with negative numbers, a changed version, a wide one."""
    story = Story("Heat maps")
    story.source("cell", "driver", "notebook cell", 1, "y = Blur.apply(image)")
    story.node("n0", "BlurBackward", ctx="c0", outputs=2)
    story.node("n1", "AccumulateGrad", kind="accumulate", tensor="image")
    story.edge("e0", "n0", "n1", 0)
    story.call("cell", "The program starts.", 2)
    story.line("cell", 0, "Next: Blur.apply(image).", 2)
    story.cid = "c0"
    small = np.array([[0.5, -1.25, 3.0], [1e-5, 2e6, -0.125]])
    large = np.sin(np.arange(400)).reshape(20, 20)
    saved = story.saved(small, "small", now=1)
    story.event(
        "ctx.save",
        "Two matrices are saved.",
        ctx={
            "id": "c0",
            "set": {"saved.0": saved, "saved.1": story.saved(large, "image")},
        },
    )
    story.event("graph.node", "The node is wired.", n="n0", e=["e0"])
    return story.data
