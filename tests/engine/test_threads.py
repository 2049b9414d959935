"""Several threads: who runs a backward, what each has for itself: rules Z."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minigrad
from tests.engine.support import leaf, logged, rule


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    """Threads take turns after every few instructions, not only every 5 ms."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def in_threads(number: int, work: Callable[[int], None]) -> None:
    """Let threads do ``work`` at once, and raise what any of them raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(number)

    def run(index: int) -> None:
        try:
            start.wait(30)
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]


@pytest.mark.rule("Z01")
def test_backward_runs_on_the_thread_that_asks_for_it(torch: Any) -> None:
    seen: list[int] = []

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(threading.get_ident())
        return grad

    y = rule(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch, 2.0))

    def work(index: int) -> None:
        y.backward()
        seen.append(threading.get_ident())

    in_threads(1, work)
    assert seen[0] == seen[1] != threading.get_ident()


@pytest.mark.rule("Z02")
def test_backward_may_run_in_another_thread_than_forward(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = x * x
    in_threads(1, lambda index: y.backward())
    assert x.grad.item() == 6.0


@pytest.mark.rule("Z03")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_contributions_of_several_threads_are_not_lost(torch: Any, size: int) -> None:
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)

    def work(index: int) -> None:
        for _ in range(10):
            (x * (index + 1)).sum().backward()

    in_threads(4, work)
    assert (x.grad.min().item(), x.grad.max().item()) == (100.0, 100.0)


@pytest.mark.rule("Z03")
def test_one_graph_may_be_run_by_several_threads(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = logged(torch, "F", [])(x * x) * x

    def work(index: int) -> None:
        for _ in range(20):
            y.backward(retain_graph=True)

    in_threads(4, work)
    assert x.grad.item() == 80 * 2 * 3 * 4.0


@pytest.mark.rule("Z03", "G06")
def test_threads_that_begin_with_one_leaf_share_its_node(torch: Any) -> None:
    for _ in range(20):
        x = leaf(torch, 2.0)
        products: list[Any] = []

        def work(index: int, x: Any = x, products: Any = products) -> None:
            products.append(x * (index + 1))

        in_threads(4, work)
        total = products[0] + products[1] + products[2] + products[3]
        assert torch.autograd.grad(total, x)[0].item() == 10.0


@pytest.mark.rule("Z03")
def test_each_backward_has_its_own_hook_calls(torch: Any) -> None:
    seen: list[float] = []
    x, z = leaf(torch, 1.0), leaf(torch, 1.0)
    torch.autograd.graph.register_multi_grad_hook(
        [x, z], lambda grads: seen.append(grads[0].item() + grads[1].item())
    )

    def work(index: int) -> None:
        for _ in range(10):
            (x * index + z * 100).backward()

    in_threads(3, work)
    assert sorted(seen) == [100.0] * 10 + [101.0] * 10 + [102.0] * 10


@pytest.mark.rule("Z04", "T10")
def test_grad_mode_and_hooks_on_saved_tensors_belong_to_a_thread(torch: Any) -> None:
    log: list[str] = []
    x = leaf(torch, 3.0)

    def pack(tensor: Any) -> Any:
        log.append("pack")
        return tensor

    def work(index: int) -> None:
        log.append(str(torch.is_grad_enabled()))
        (x * x).backward()

    with (
        torch.no_grad(),
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
    ):
        in_threads(1, work)
    assert (log, x.grad.item()) == (["True"], 6.0)


@pytest.mark.rule("Z04", "P01")
def test_sequence_numbers_belong_to_a_thread(torch: Any) -> None:
    x = leaf(torch, 3.0)
    here = (x * 1).grad_fn._sequence_nr()
    numbers: list[int] = []

    def work(index: int) -> None:
        numbers.extend((x * 1).grad_fn._sequence_nr() for _ in range(3))

    in_threads(1, work)
    there = (x * 1).grad_fn._sequence_nr()
    assert there == here + 1
    assert [number - numbers[0] for number in numbers] == [0, 1, 2]


def fail_in_one_thread(torch: Any, failing_leaf: Any, x: Any) -> None:
    """Rules that raise in one thread, while two others reach ``x``."""

    def backward(ctx: Any, grad: Any) -> Any:
        raise ZeroDivisionError

    failing = rule(torch, lambda ctx, x: x * 1, backward)

    def work(index: int) -> None:
        for _ in range(10):
            if index == 0:
                with pytest.raises(ZeroDivisionError):
                    failing.apply(failing_leaf).backward()
            else:
                (x * 3).backward()

    in_threads(3, work)


@pytest.mark.rule("Z04")
def test_error_in_one_thread_leaves_the_others_alone(torch: Any) -> None:
    x = leaf(torch, 2.0)
    fail_in_one_thread(torch, leaf(torch, 2.0), x)
    assert x.grad.item() == 60.0


@pytest.mark.rule("Z04")
def test_error_in_one_thread_leaves_a_leaf_of_all_threads_alone() -> None:
    # Of minigrad only: torch 2.13 can stand still here. Function.apply waits, holding
    # the GIL, for the lock of the leaf's AccumulateGrad node, and an operation of
    # another thread has that lock and waits for the GIL.
    x = leaf(minigrad, 2.0)
    fail_in_one_thread(minigrad, x, x)
    assert x.grad.item() == 60.0
