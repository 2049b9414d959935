"""What a recording tells of the bytes that nodes and leaves keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minigrad as mg
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.values import bytes_text
from tests.tracing.programs import Scale, events_of
from tests.views import folding

Json = dict[str, Any]


def recorded(program: Callable[[], None]) -> Trace:
    trace = Trace()
    with Recorder(trace, watch=program):
        program()
    return trace


def alive_after(trace: Trace) -> list[int]:
    """The bytes alive after each event that changes them."""
    events = trace.data["events"]
    changed = [at for at, event in enumerate(events, 1) if "mem" in event]
    return [folding.bytes_alive(folding.memory_at(trace.data, at)) for at in changed]


def items_of(trace: Trace) -> list[tuple[str, str, int, str | None]]:
    """Owner, key, bytes, and by whom it was let go, of all that was ever kept."""
    memory = folding.memory_at(trace.data, len(trace))
    return [
        (item["of"], item["key"], item["bytes"], item.get("by"))
        for item in memory.values()
    ]


def test_saved_values_are_let_go_node_by_node_and_grad_stays() -> None:
    x = mg.ones(10).requires_grad_()

    def chain() -> None:
        y = x.exp().sin().sum()
        y.backward()

    trace = recorded(chain)
    # exp keeps its result, sin its input: the same 40 bytes twice, counted once
    assert alive_after(trace) == [40, 40, 40, 0, 40]
    by = "backward, which doesn't need it any more"
    assert items_of(trace) == [
        ("exp", "saved.0", 40, by),
        ("sin", "saved.0", 40, by),
        ("x.grad", "grad", 40, None),
    ]


def test_deleted_graph_lets_go_and_that_is_a_step_of_the_story() -> None:
    def forget() -> None:
        x = mg.ones(3).requires_grad_()
        y = Scale.apply(x, 2.0).exp()
        del y
        x.sum()

    trace = recorded(forget)
    (gone,) = events_of(trace, "mem.gone")
    assert gone["say"] == (
        "ExpBackward0 and ScaleBackward are gone: nothing refers to them any more. "
        "Released: 24 bytes."
    )
    line = trace.data["sources"][gone["s"]]["tokens"][gone["l"]]
    assert "".join(text for _, text in line).strip() == "del y"
    assert {item[3] for item in items_of(trace)} == {
        "nothing refers to the node any more"
    }


def test_graph_that_is_held_lets_nothing_go() -> None:
    def keep() -> None:
        x = mg.ones(3).requires_grad_()
        y = Scale.apply(x, 2.0)
        x.sum()
        del x
        assert y.grad_fn is not None

    trace = recorded(keep)
    assert events_of(trace, "mem.gone") == []
    assert items_of(trace) == [("Scale", "saved.0", 12, None)]


def test_array_on_ctx_is_kept_beyond_backward() -> None:
    class Remembers(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            ctx.several = [x * 2, "words"]
            return x * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

    x = mg.ones(5).requires_grad_()
    y: list[Tensor] = []

    def program() -> None:
        y.append(Remembers.apply(x))
        y[0].sum().backward()

    assert items_of(recorded(program)) == [
        ("Remembers", "attr.x", 20, None),
        ("Remembers", "attr.several.0", 20, None),
        ("x.grad", "grad", 20, None),
    ]


def test_what_a_change_of_a_view_has_wrapped_is_let_go_with_it() -> None:
    def change_view() -> None:
        y = mg.ones(3).requires_grad_() * 2
        y[:2].mul_(mg.ones(2).requires_grad_())
        y.sum().backward()

    trace = recorded(change_view)
    kept = [one for one in items_of(trace) if one[0] == "set y[\u2026]"]
    assert [one[1] for one in kept] == ["saved.0", "saved.1"]
    assert {one[3] for one in kept} == {"backward, which doesn't need it any more"}


def test_attribute_of_ctx_may_be_called_inner() -> None:
    class Keeps(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            ctx.inner = x
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
            return g * 3

    x = mg.ones(2).requires_grad_()
    trace = recorded(lambda: Keeps.apply(x).sum().backward())
    assert items_of(trace)[0][:3] == ("Keeps", "attr.inner", 8)


def test_grad_set_to_none_is_let_go() -> None:
    x = mg.ones(4).requires_grad_()

    def program() -> None:
        x.sum().backward()
        x.grad = None
        x.sum()

    (item,) = items_of(recorded(program))
    assert item == ("x.grad", "grad", 16, "nothing refers to this .grad any more")


def test_view_keeps_all_of_the_memory_it_shows() -> None:
    def program() -> None:
        base = mg.ones(100)
        y = base[:2] * mg.ones(2).requires_grad_()
        y.sum()

    kept = [item[2] for item in items_of(recorded(program))]
    assert kept == [400]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1, "1 byte"),
        (9_999, "9999 bytes"),
        (40_000, "40 kB"),
        (4_000_000, "4000 kB"),
        (12_345_678, "12.35 MB"),
    ],
)
def test_bytes_are_told_in_a_unit_that_fits(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_what_a_checkpoint_runs_again_is_kept_until_its_nodes_are_done() -> None:
    x = mg.ones(10).requires_grad_()

    def program() -> None:
        layers = mg.utils.checkpoint.checkpoint(three_sines, x, use_reentrant=False)
        layers.backward(mg.ones(10))

    trace = recorded(program)
    kinds = [event["k"] for event in trace.data["events"]]
    at = [kinds.index(kind) + 1 for kind in ("rerun.begin", "rerun.end")]
    kept = [folding.bytes_alive(folding.memory_at(trace.data, n)) for n in at]
    assert kept == [0, 120]
    assert alive_after(trace)[-1] == 40  # .grad
    by = "backward, which doesn't need it any more"
    held = [(of, by) for of, _, _, by in items_of(trace) if of in SINES]
    assert held == [(of, by) for of in SINES]


SINES = ("sin 1", "sin 2", "sin 3")


def three_sines(x: Tensor) -> Tensor:
    return x.sin().sin().sin()


class Keeps(mg.autograd.Function):
    """Keeps one argument as it should, the other as an attribute."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.w = w
        return x * w

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.w, g * ctx.saved_tensors[0]


@pytest.mark.parametrize("lines", [False, True])
def test_memory_counts_what_is_on_a_ctx_from_the_moment_it_is_there(
    lines: bool,
) -> None:
    trace = Trace()
    x, w = (mg.ones(10).requires_grad_() for _ in range(2))
    with Recorder(trace, lines=lines):
        y = Keeps.apply(x, w).sum()
        y.backward()
    box: Json = {}
    seen = []
    for at, event in enumerate(trace.data["events"], 1):
        change = event.get("ctx", {"id": None, "set": {}})
        if change["id"] == "c0":
            box |= change["set"]
        there = [
            key
            for key, ref in box.items()
            if key in ("saved.0", "attr.w") and ref["t"] != "P"
        ]
        memory = folding.memory_at(trace.data, at).values()
        held = [i["key"] for i in memory if i["of"] == "Keeps" and "until" not in i]
        assert sorted(held) == sorted(there)
        if event["lvl"] == 0:
            seen.append(len(there))
    assert seen[:4] == [0, 1, 2, 2]
    assert seen[-1] == 1  # the attribute


def test_what_forward_saved_in_vain_is_no_step_of_its_own() -> None:
    x = mg.ones(10)
    trace = recorded(lambda: Keeps.apply(x, x))
    assert items_of(trace) == []
    assert events_of(trace, "mem.gone") == []
