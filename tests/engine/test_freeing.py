"""When saved values go, whatever they were kept in: rules F16-F19, F29, G, S."""

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import Boom, leaf, raises, rule, square

AGAIN = "Trying to backward through the graph a second time"


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """What is freed here is freed by reference counts alone."""
    gc.disable()
    yield
    gc.enable()


class Kept:
    """What a pack hook keeps: a Python object, so that its end can be seen."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor.detach()


def hooks(torch: Any, kept: list[Any]) -> Any:
    """Hooks that keep a ``Kept`` for each tensor; ``kept`` has weak references."""

    def pack(tensor: Any) -> Kept:
        packed = Kept(tensor)
        kept.append(weakref.ref(packed))
        return packed

    graph = torch.autograd.graph
    return graph.saved_tensors_hooks(pack, lambda packed: packed.tensor)


def alive(kept: list[Any]) -> list[bool]:
    return [reference() is not None for reference in kept]


@pytest.mark.rule("F16", "F29", "S01")
@pytest.mark.parametrize("kind", ["built-in", "custom"])
def test_packed_values_go_with_backward_unless_the_graph_is_retained(
    torch: Any, kind: str
) -> None:
    kept: list[Any] = []
    x = leaf(torch, 3.0)
    with hooks(torch, kept):
        y = x.exp() if kind == "built-in" else square(torch).apply(x)
    y.backward(retain_graph=True)
    assert alive(kept) == [True]
    y.backward()
    assert alive(kept) == [False]
    with raises(torch, errors.SavedFreedError, AGAIN):
        y.backward()


@pytest.mark.rule("F19", "N18")
def test_failing_backward_frees_the_nodes_that_ran(torch: Any) -> None:
    kept: list[Any] = []
    x = leaf(torch, 3.0)

    def fail(ctx: Any, grad: Any) -> Any:
        raise Boom

    F = rule(torch, lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], fail)
    with hooks(torch, kept):
        first = x.exp()
        second = F.apply(first)
        third = second.exp()
    with pytest.raises(Boom):
        third.backward()
    assert alive(kept) == [True, True, False]
    first.backward()
    assert alive(kept) == [False, True, False]
    with raises(torch, errors.SavedFreedError, AGAIN):
        third.backward()


@pytest.mark.rule("F18")
def test_saved_values_are_there_until_the_node_has_returned(torch: Any) -> None:
    kept: list[Any] = []
    seen: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        del x
        seen.append(alive(kept))
        return grad * ctx.saved_tensors[0]

    F = rule(torch, lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], backward)
    with hooks(torch, kept):
        y = F.apply(leaf(torch, 3.0))
    y.backward()
    assert (seen, alive(kept)) == ([[True]], [False])


@pytest.mark.rule("F17", "F16")
def test_create_graph_without_retain_graph_still_frees(torch: Any) -> None:
    kept: list[Any] = []
    x = leaf(torch, 3.0)
    with hooks(torch, kept):
        y = x.exp()
    torch.autograd.grad(y, x, create_graph=True, retain_graph=False)
    assert alive(kept) == [False]
    y = x.exp()
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x)


@pytest.mark.rule("G05")
def test_packed_values_go_with_the_graph(torch: Any) -> None:
    kept: list[Any] = []
    with hooks(torch, kept):
        y = (leaf(torch, 3.0).exp() * 2).exp()
    assert alive(kept) == [True, True]
    del y
    assert alive(kept) == [False, False]


@pytest.mark.rule("G05", "S09")
def test_handle_does_not_keep_what_was_freed(torch: Any) -> None:
    y = leaf(torch, 3.0).exp()
    kept: list[Any] = []

    def pack(tensor: Any) -> Any:
        packed = Kept(tensor)
        kept.append(weakref.ref(packed))
        return packed

    handle = y.grad_fn._raw_saved_result
    handle.register_hooks(pack, lambda packed: packed.tensor)
    assert alive(kept) == [True]
    y.backward()
    assert (alive(kept), handle.data) == ([False], None)


@pytest.mark.rule("G03", "S14")
def test_copies_of_changed_values_go_with_backward(torch: Any) -> None:
    x = leaf(torch, 3.0)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as values:
        assert values is not None
        h = x * 1
        y = h * h
        h.mul_(10)
        y.backward()
        with raises(torch, errors.SavedFreedError, AGAIN):
            y.backward()
        h.mul_(10)
    assert (x.grad.item(), h.item()) == (6.0, 300.0)


def hooked(torch: Any) -> None:
    with hooks(torch, []):
        y = square(torch).apply(leaf(torch, 3.0)).exp().sin()
    y.backward()


def hooked_and_dropped(torch: Any) -> None:
    with hooks(torch, []):
        square(torch).apply(leaf(torch, 3.0)).exp().sin()


def saved_on_cpu_twice_differentiated(torch: Any) -> None:
    x = leaf(torch, 3.0)
    with torch.autograd.graph.save_on_cpu():
        y = square(torch).apply(x.sin() * x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(slope, x)


def checkpointed(torch: Any) -> None:
    checkpoint = torch.utils.checkpoint.checkpoint
    x = leaf(torch, 3.0)
    y = checkpoint(lambda x: square(torch).apply(x.sin()), x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()


def checkpointed_and_dropped(torch: Any) -> None:
    checkpoint = torch.utils.checkpoint.checkpoint
    checkpoint(lambda x: x.sin().exp(), leaf(torch, 3.0), use_reentrant=False)


def checkpointed_reentrant(torch: Any) -> None:
    checkpoint = torch.utils.checkpoint.checkpoint
    x = leaf(torch, 3.0)
    checkpoint(lambda x: x.sin().exp(), x, use_reentrant=True).backward()


def changed_in_place(torch: Any) -> None:
    x = leaf(torch, 3.0)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        h = x.exp()
        y = h * h
        h.mul_(10)
        y.backward()


def failing(torch: Any) -> None:
    def fail(packed: Any) -> Any:
        raise Boom

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), fail):
        y = leaf(torch, 3.0).exp().sin()
    with pytest.raises(Boom):
        y.backward()


def in_inference_mode(torch: Any) -> None:
    with torch.inference_mode():
        square(torch).apply(torch.ones(2)).exp().reshape(2, 1).mul_(2)


@pytest.mark.rule("G02", "G05")
@pytest.mark.parametrize(
    "program",
    [
        hooked,
        hooked_and_dropped,
        saved_on_cpu_twice_differentiated,
        checkpointed,
        checkpointed_and_dropped,
        checkpointed_reentrant,
        changed_in_place,
        failing,
        in_inference_mode,
    ],
    ids=lambda program: program.__name__,
)
def test_collector_finds_no_tensor_that_was_left_behind(
    torch: Any, program: Callable[[Any], None]
) -> None:
    program(torch)
    gc.freeze()
    program(torch)
    assert [thing for thing in gc.get_objects() if torch.is_tensor(thing)] == []
