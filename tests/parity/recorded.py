"""Programs for both engines, and what a recording tells that both must tell alike."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import minigrad
from minigrad.tracing import Recorder, Trace

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}
NUMBER = [], "float64"
"""What torch saves for a number of Python's, of which minigrad makes no tensor."""
TOLD = ("g", "total", "new", "returned")
OF_LINES = ("call", "line", "return", "note", "mem.gone")


def program(function: Program) -> Program:
    """Count ``function`` among the programs, which get an engine as ``torch``."""
    PROGRAMS[function.__name__] = function
    return function


def scale_class(torch: Any) -> Any:
    """x * factor; keeps x, which it does not need, and the factor."""

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * ctx.factor, None

    return Scale


def square_class(torch: Any) -> Any:
    """x * x, which keeps x."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad_output * x * 2.0

    return Square


@program
def a_function_whose_forward_takes_ctx(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = scale_class(torch).apply(x, 10)
    (y * y).sum().backward()
    return [y, x.grad]


@program
def a_function_with_setup_context(torch: Any) -> Any:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(a: Any, b: Any) -> Any:
            return a * b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.kind = "product"

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            a, b = ctx.saved_tensors
            return grad_output * b, grad_output * a

    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0])
    y = Product.apply(a, b)
    y.sum().backward()
    return [y, a.grad, b.grad]


@program
def a_chain_of_built_in_operations(torch: Any) -> Any:
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    y = (x.exp() * 2.0).tanh()
    y.sum().backward()
    return [y, x.grad]


@program
def one_tensor_used_three_times(torch: Any) -> Any:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x + x
    y.backward()
    return [y, x.grad]


@program
def several_outputs_one_unused_one_without_a_gradient(torch: Any) -> Any:
    class Parts(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            whole = x * 10
            ctx.mark_non_differentiable(whole)
            return x * 2, x * 3, whole

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any, third: Any) -> Any:
            assert second is None
            return first * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    first, second, third = Parts.apply(x)
    first.sum().backward()
    return [first, second, third, x.grad]


@program
def double_backward(torch: Any) -> Any:
    x = torch.tensor(3.0, requires_grad=True)
    (slope,) = torch.autograd.grad(square_class(torch).apply(x), x, create_graph=True)
    slope.backward()
    return [slope, x.grad]


@program
def in_place_with_mark_dirty(torch: Any) -> Any:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    z = Doubled.apply(y)
    z.sum().backward()
    return [z, x.grad]


@program
def an_error_in_backward(torch: Any) -> Any:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            raise KeyError("no such thing")

    x = torch.tensor(1.0, requires_grad=True)
    (Broken.apply(x) * 3.0).backward()


@program
def an_error_in_forward_that_is_caught(torch: Any) -> Any:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise KeyError("no such thing")

    x = torch.tensor(1.0, requires_grad=True)
    with contextlib.suppress(KeyError):
        Broken.apply(x)
    y = scale_class(torch).apply(x, 2.0)
    y.backward()
    return [y, x.grad]


@program
def hooks_of_every_kind(torch: Any) -> Any:
    told: list[Any] = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = scale_class(torch).apply(x, 3.0)
    y.register_hook(lambda g: told.append("y") or g * 2)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: told.append("before") or (gs[0] + 1,))
    y.grad_fn.register_hook(lambda gs, _: told.append("after") or (gs[0] * 10,))
    x.register_hook(lambda g: told.append("x"))
    x.register_post_accumulate_grad_hook(lambda leaf: told.append("arrived"))
    (y * y).sum().backward()
    return [y.grad, x.grad, *told]


@program
def two_backwards_into_one_grad(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (scale_class(torch).apply(x, 3.0) * 2.0).sum()
    y.backward(retain_graph=True)
    y.backward()
    return [x.grad]


@program
def the_gradient_of_a_tensor_in_the_middle(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2.0
    z = scale_class(torch).apply(y, 3.0) + x
    (slope,) = torch.autograd.grad(z.sum(), [y])
    return [slope, x.grad]


@program
def saved_tensors_with_hooks(torch: Any) -> Any:
    packed: list[Any] = []

    def pack(tensor: Any) -> int:
        packed.append(tensor.detach() * 1.0)
        return len(packed) - 1

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda place: packed[place]):
        y = square_class(torch).apply(x)
    y.sum().backward()
    return [x.grad, len(packed)]


@program
def a_call_that_nobody_asks_a_gradient_of(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Scale = scale_class(torch)
    with torch.no_grad():
        first = Scale.apply(x, 2.0)
    second = Scale.apply(torch.tensor([1.0, 2.0]), 2.0)
    return [first, second, first.requires_grad, second.requires_grad]


@program
def a_saved_tensor_that_is_changed_later(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1.0
    y = square_class(torch).apply(h)
    h.detach().mul_(2.0)
    y.sum().backward()


@program
def a_function_inside_a_function(torch: Any) -> Any:
    Scale = scale_class(torch)

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return Scale.apply(x, 2.0) * 3

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return Scale.apply(grad_output, 6.0)

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Outer.apply(x)
    y.sum().backward()
    return [y, x.grad]


def record(program: Program, torch: Any, lines: bool) -> tuple[Trace, Any]:
    """The recording of a program, and what it gave back or ended with."""
    trace = Trace()
    ended: Any = None
    with contextlib.suppress(Exception), Recorder(trace, lines=lines):
        try:
            ended = program(torch)
        except Exception as error:
            ended = error
            raise
    return trace, ended


def story_of(trace: Trace, lines: bool) -> list[Any]:
    """The events of the story: kind, node, phase, values, and the ctx at work.

    A built-in node's ctx is compared by its values: torch and minigrad name them
    differently, and what is no tensor they keep in ways of their own. torch does not
    tell when it lays a gradient aside that was asked for.
    """
    data = trace.data
    labels = {node["id"]: node["label"] for node in data["graph"]["nodes"]}
    users = {ctx["id"] for ctx in data["ctxs"] if is_users(ctx["name"])}
    ctxs: dict[str, dict[str, Any]] = {}
    told, captured = [], []
    for event in data["events"]:
        if "ctx" in event:
            change = event["ctx"]
            entries = ctxs.setdefault(change["id"], {})
            entries |= {k: plain(data, v) for k, v in change["set"].items()}
            for key in change["del"]:
                del entries[key]
        if event["k"] in (*OF_LINES, "hook.pack", "hook.unpack"):
            continue
        phase = event.get("ph", {}).get("name")
        if event["k"] == "exception":
            name = event["err"].partition(":")[0]
            told.append(
                (event["k"], name.replace("SavedModifiedError", "RuntimeError"))
            )
            continue
        cid = event.get("cid")
        seen = shown(ctxs.get(cid, {}), cid in users)
        if phase == "run forward" and not lines:
            continue  # minigrad tells of it when it is over
        if phase == "wrap outputs" and lines:
            seen = None  # minigrad has taken what was saved, and not yet kept it
        fields = {k: event[k] for k in TOLD if k in event}
        # torch may have added in place before it made the .grad of the sum.
        fields = {k: plain(data, value, ()) for k, value in fields.items()}
        if "returned" in fields:
            fields["returned"] = [one for one in fields["returned"] if one is not None]
        node = labels.get(event.get("n"))
        if event["k"] == "grad.captured":
            captured.append((node, event["slot"], fields))
            continue
        told.append((event["k"], event["lvl"], phase, node, fields, seen))
    return told + captured


def is_users(name: str) -> bool:
    """Whether a learner wrote the rule: names of built-in nodes end in a digit."""
    return not name[-1].isdigit()


def shown(entries: dict[str, Any], users: bool) -> Any:
    """What ctx shows, as far as both engines can tell."""
    if users:
        return dict(entries)
    saved = [value for key, value in entries.items() if key.startswith("saved.")]
    tensors = [one for one in saved if isinstance(one, tuple) and one[:2] != NUMBER]
    return sorted(map(str, tensors)), entries.get("edges")


def plain(data: Any, ref: Any, versions: tuple[str, ...] = ("ver", "now")) -> Any:
    """A value by its numbers and its version, whichever engine it is of."""
    if ref is None:
        return None
    if isinstance(ref, list):
        return [plain(data, item, versions) for item in ref]
    if ref["t"] == "P":
        return ref["r"]
    if ref["t"] == "L":
        return [plain(data, item, versions) for item in ref["i"]]
    value = data["values"][ref["v"]]
    about = value["shape"], value["dtype"], value["rows"], value["nan"]
    flags = ["requires grad"] if ref.get("rg") else []
    return (*about, *flags, *[ref[key] for key in versions if key in ref])


def both(program: Program, torch: Any, lines: bool) -> tuple[list[Any], list[Any]]:
    """The story of a program on minigrad, and on torch."""
    ours, _ = record(program, minigrad, lines)
    theirs, _ = record(program, torch, lines)
    return story_of(ours, lines), story_of(theirs, lines)
