"""What is kept alive, for how long, and by whom: rules G; no recursion anywhere."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import minigrad
from tests.engine.support import leaf, rule


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """What is freed here is freed by reference counts alone."""
    gc.disable()
    yield
    gc.enable()


def keeping(torch: Any, keep: Any) -> Any:
    """x * 2, with ``keep(ctx, x, y)``."""

    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        keep(ctx, x, y)
        return y

    return rule(torch, forward, lambda ctx, grad: grad * 2)


@pytest.mark.rule("G01")
def test_output_put_on_ctx_makes_a_cycle(torch: Any) -> None:
    def keep(ctx: Any, x: Any, y: Any) -> None:
        ctx.y = y

    y = keeping(torch, keep).apply(leaf(torch, 2.0))
    ctx = weakref.ref(y.grad_fn)
    del y
    assert ctx() is not None
    gc.collect()
    assert ctx() is None


@pytest.mark.rule("G02")
def test_output_saved_by_its_own_ctx_makes_no_cycle(torch: Any) -> None:
    F = keeping(torch, lambda ctx, x, y: ctx.save_for_backward(y))
    y = F.apply(leaf(torch, 2.0))
    ctx = weakref.ref(y.grad_fn)
    assert ctx().saved_tensors[0].item() == 4.0
    del y
    assert ctx() is None


@pytest.mark.rule("G03")
@pytest.mark.parametrize("how", ["saved", "attribute"])
def test_backward_releases_what_was_saved_and_not_attributes(
    torch: Any, how: str
) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, x: Any, y: Any) -> None:
        middle = x * 7
        kept.append(weakref.ref(middle))
        if how == "saved":
            ctx.save_for_backward(middle)
        else:
            ctx.middle = middle

    y = keeping(torch, keep).apply(leaf(torch, 2.0))
    assert kept[0]() is not None
    y.backward()
    assert (kept[0]() is None) == (how == "saved")


@pytest.mark.rule("G03")
def test_saved_values_are_released_node_by_node(torch: Any) -> None:
    alive: list[Any] = []
    kept: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        middle = x * 7
        kept.append(weakref.ref(middle))
        ctx.save_for_backward(middle)
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        alive.append([ref() is not None for ref in kept])
        return grad * 2

    F = rule(torch, forward, backward)
    F.apply(F.apply(leaf(torch, 2.0))).backward()
    assert alive == [[True, True], [True, False]]


@pytest.mark.rule("G04")
def test_tensor_on_ctx_has_no_version_check(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return x * x

    x = leaf(torch, 3.0)
    y = rule(torch, forward, lambda ctx, grad: grad * 2 * ctx.x).apply(x)
    with torch.no_grad():
        x.add_(100)
    y.backward()
    assert x.grad.item() == 206.0


@pytest.mark.rule("G05")
def test_deleting_the_output_frees_the_graph(torch: Any) -> None:
    kept: list[Any] = []

    def keep(ctx: Any, x: Any, y: Any) -> None:
        middle = x * 7
        kept.append(weakref.ref(middle))
        ctx.save_for_backward(middle)

    y = keeping(torch, keep).apply(leaf(torch, 2.0))
    z = (y * 3).sum()
    del y
    assert kept[0]() is not None
    del z
    assert kept[0]() is None


@pytest.mark.rule("G06")
def test_graphs_of_one_leaf_share_its_accumulate_node(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y, z = x * 2, x * 3
    node = y.grad_fn.next_functions[0][0]
    assert z.grad_fn.next_functions[0][0] is node


@pytest.mark.rule("G06")
def test_leaf_holds_its_accumulate_node_weakly() -> None:
    x = leaf(minigrad, 2.0)
    y = x * 2
    node = weakref.ref(y.grad_fn.next_functions[0][0])
    assert node() is not None
    y.backward()
    del y
    assert node() is None
    assert x.grad.item() == 2.0


def test_graph_with_second_derivatives_is_freed_by_counts_alone(torch: Any) -> None:
    double = keeping(torch, lambda ctx, x, y: ctx.save_for_backward(x)).apply
    x = leaf(torch, 2.0)
    inner = double(x)
    y = inner.exp() * inner.sin()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(g, x)
    node = weakref.ref(inner.grad_fn)
    del inner, y, g
    assert node() is None


@pytest.mark.rule("G07")
@pytest.mark.parametrize("kind", ["built-in", "custom"])
def test_long_chain_needs_no_recursion(kind: str) -> None:
    import minigrad as torch

    step = keeping(torch, lambda *_: None).apply if kind == "custom" else None
    length = 100_000 if kind == "built-in" else 20_000
    x = leaf(torch, 1.0)
    y = x
    for _ in range(length):
        y = y + 1.0 if step is None else step(y)
        if step is not None:
            y = y * 0.5
    y.backward()
    assert x.grad.item() == 1.0

    node = weakref.ref(y.grad_fn.next_functions[0][0])
    del y
    assert node() is None


LOADED = """
import sys
import minigrad
heavy = {"numba", "graphviz", "graphviz_pure", "matplotlib", "ipywidgets", "IPython"}
print(sorted(heavy & set(sys.modules)), "minigrad" in sys.modules)
"""


def test_import_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] True\n"
