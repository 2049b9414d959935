"""Random programs of views and changes in place, on both engines, step by step.

Every step may end in an exception; then its class is the fact that is compared.
"""

import argparse
import collections
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad

Random = np.random.Generator
Step = Callable[[Any, Random, list[Any]], Any]

SHAPES = [(3,), (2, 3), (3, 3), (2, 1, 3), ()]


def functions(torch: Any) -> dict[str, Any]:
    """Custom Functions that return views, or change their first argument."""

    class Dirty(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: Any) -> Any:
            ctx.save_for_backward(k)
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (k,) = ctx.saved_tensors
            return grad * 2, grad.sum() * k * 0

    class DirtyPair(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.add_(1)
            ctx.mark_dirty(x)
            return x, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return a + 3 * b

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 1.5

    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape = x.shape
            return x.view(-1)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.reshape(ctx.shape)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x, x * 2

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return a + 2 * b

    made = (Dirty, DirtyPair, Same, Flat, Twice)
    return {function.__name__: function.apply for function in made}


def pick(random: Random, pool: list[Any]) -> Any:
    return pool[int(random.integers(len(pool)))]


def number(random: Random) -> float:
    return float(random.integers(-4, 5)) / 2


def some_index(torch: Any, random: Random, x: Any) -> Any:
    """An index that mostly fits the first dimensions of ``x``."""
    items: list[Any] = []
    for length in tuple(x.shape)[: int(random.integers(1, 3))]:
        kind = random.integers(6)
        if kind == 0:
            items.append(int(random.integers(-length, length + 1)))
        elif kind == 1:
            start = int(random.integers(length))
            items.append(slice(start, int(random.integers(length + 1))))
        elif kind == 2:
            items.append(slice(None, None, int(random.integers(1, 3))))
        elif kind == 3:
            items.append(torch.tensor(random.integers(0, length, 2)))
        elif kind == 4:
            items.append([int(random.integers(length))])
        else:
            items.append(slice(None))
    if random.random() < 0.15:
        items.insert(int(random.integers(len(items) + 1)), None)
    if random.random() < 0.15:
        items.append(...)
    return items[0] if len(items) == 1 and random.random() < 0.7 else tuple(items)


VIEWS: dict[str, Step] = {
    "select": lambda m, r, x: x.select(int(r.integers(-1, 2)), int(r.integers(2))),
    "index": lambda m, r, x: x[some_index(m, r, x)],
    "transpose": lambda m, r, x: x.transpose(0, -1),
    "flat": lambda m, r, x: x.view(-1),
    "reshape": lambda m, r, x: x.reshape(-1),
    "unsqueeze": lambda m, r, x: x.unsqueeze(int(r.integers(-1, 2))),
    "squeeze": lambda m, r, x: x.squeeze(),
    "expand": lambda m, r, x: x.expand(2, *x.shape),
    "diagonal": lambda m, r, x: x.diagonal(),
    "unbind": lambda m, r, x: x.unbind()[0],
    "split": lambda m, r, x: x.split(2, -1)[-1],
    "narrow": lambda m, r, x: x.narrow(-1, 1, 2),
    "strided": lambda m, r, x: x.as_strided((2,), (1,), int(r.integers(2))),
    "detach": lambda m, r, x: x.detach(),
    "data": lambda m, r, x: x.data,
}

CHANGES: dict[str, Callable[[Any, Random, Any, Any], Any]] = {
    "mul_": lambda m, r, x, y: x.mul_(number(r)),
    "mul_by": lambda m, r, x, y: x.mul_(y),
    "add_": lambda m, r, x, y: x.add_(y),
    "sub_self": lambda m, r, x, y: x.sub_(x),
    "tanh_": lambda m, r, x, y: x.tanh_(),
    "zero_": lambda m, r, x, y: x.zero_(),
    "fill_": lambda m, r, x, y: x.fill_(y),
    "fill_number": lambda m, r, x, y: x.fill_(number(r)),
    "copy_": lambda m, r, x, y: x.copy_(y),
    "set_index": lambda m, r, x, y: x.__setitem__(some_index(m, r, x), y),
    "set_number": lambda m, r, x, y: x.__setitem__(some_index(m, r, x), number(r)),
    "detach_": lambda m, r, x, y: x.detach_(),
    "requires": lambda m, r, x, y: x.requires_grad_(),
    "retain": lambda m, r, x, y: x.retain_grad(),
}

RESULTS: dict[str, Callable[[Any, Random, Any, Any], Any]] = {
    "mul": lambda m, r, x, y: x * y,
    "tanh": lambda m, r, x, y: x.tanh(),
    "clone": lambda m, r, x, y: x.clone(),
    "sum": lambda m, r, x, y: x.sum(),
}


def step(
    torch: Any, custom: dict[str, Any], random: Random, pool: list[Any]
) -> tuple[str, Any]:
    """One random step: its name, and the tensors that it gave."""
    x, y = pick(random, pool), pick(random, pool)
    kind = random.integers(10)
    if kind < 4:
        name = list(VIEWS)[int(random.integers(len(VIEWS)))]
        return name, lambda: VIEWS[name](torch, random, x)
    if kind < 7:
        name = list(CHANGES)[int(random.integers(len(CHANGES)))]
        if name in ("zero_", "fill_", "fill_number") and repeats(x):
            # torch's own backward fails on what was filled after expand; ours works.
            return name, lambda: None
        if name in ("set_index", "set_number") and repeats(x):
            # torch writes, in an order of its own, and warns that it will not; ours
            # refuses.
            return name, lambda: None
        return name, lambda: CHANGES[name](torch, random, x, y)
    if kind < 8:
        name = list(custom)[int(random.integers(len(custom)))]
        if name == "Dirty":
            return name, lambda: custom[name](x, y)
        return name, lambda: custom[name](x)
    name = list(RESULTS)[int(random.integers(len(RESULTS)))]
    return name, lambda: RESULTS[name](torch, random, x, y)


def repeats(x: Any) -> bool:
    """Whether elements share memory, as after ``expand``."""
    lengths = zip(tuple(x.shape), x.stride(), strict=True)
    return any([length > 1 and step == 0 for length, step in lengths])


def class_of(error: Exception) -> str:
    """The built-in class of an exception, for ours the one it derives from."""
    kind = type(error)
    return (
        kind.__bases__[1] if kind.__module__ == "minigrad.errors" else kind
    ).__name__


def asked(question: Callable[[], Any]) -> Any:
    """The answer, or the class of the exception that came instead."""
    try:
        return question()
    except Exception as error:
        return class_of(error)


def facts_of(tensor: Any, pool: list[Any]) -> list[Any]:
    """What can be seen of one tensor from outside."""
    bases = [i for i, other in enumerate(pool) if other is tensor._base]
    return [
        tensor.detach().numpy().copy(),
        tensor._version,
        tensor.requires_grad,
        asked(lambda: tensor.is_leaf),
        asked(lambda: type(tensor.grad_fn).__name__),
        asked(lambda: names_below(tensor.grad_fn)),
        tensor.output_nr,
        tensor._is_view(),
        bases,
    ]


def names_below(node: Any) -> Any:
    """The names of the nodes that feed ``node``."""
    if node is None:
        return None
    return [None if n is None else (n.name(), i) for n, i in node.next_functions]


def program(torch: Any, seed: int, log: list[Any] | None = None) -> list[Any]:
    """The facts of a random program, after each of its steps."""
    random = np.random.default_rng(seed)
    custom = functions(torch)
    pool: list[Any] = []
    for _ in range(3):
        shape = SHAPES[int(random.integers(len(SHAPES)))]
        values = random.integers(-8, 9, shape) / 8
        pool.append(torch.tensor(values, requires_grad=bool(random.random() < 0.6)))
        pool.append(pool[-1] * 1)
    leaves = [tensor for tensor in pool if tensor.is_leaf]

    facts: list[Any] = []
    for _ in range(int(random.integers(3, 12))):
        # Each step draws from its own source, so that an exception moves no other.
        own = np.random.default_rng(random.integers(2**31))
        recording = own.random() < 0.85
        name, run = step(torch, custom, own, pool)
        made: Any = None
        outcome = "done"
        try:
            with torch.set_grad_enabled(recording):
                made = run()
        except Exception as error:
            outcome = class_of(error)
        facts.append((name, outcome, recording))
        for one in made if isinstance(made, tuple) else (made,):
            if isinstance(one, torch.Tensor) and not any([one is t for t in pool]):
                pool.append(one)
        facts.append([facts_of(tensor, pool) for tensor in pool])
        if log is not None:
            log.append((name, outcome))

    facts.append(("backward", backward(torch, random, pool)))
    facts.append([None if t.grad is None else t.grad.numpy().copy() for t in leaves])
    facts.append(("twice", second(torch, pool, leaves)))
    return facts


def backward(torch: Any, random: Random, pool: list[Any]) -> Any:
    """Backward from a weighted sum of some tensors of the pool."""

    def run() -> str:
        loss = torch.zeros((), dtype=torch.float64)
        for tensor in [pick(random, pool) for _ in range(4)]:
            loss = loss + (tensor * tensor).sum() * number(random)
        loss.backward(retain_graph=True)
        return "done"

    return asked(run)


def second(torch: Any, pool: list[Any], leaves: list[Any]) -> Any:
    """Second derivatives of the last tensors that have a graph."""
    wanted = [leaf for leaf in leaves if leaf.requires_grad]

    def run() -> Any:
        loss = sum([(tensor * tensor).sum() for tensor in pool[-2:]])
        firsts = torch.autograd.grad(
            loss, wanted, create_graph=True, materialize_grads=True
        )
        total = sum([(first * first).sum() for first in firsts])
        seconds = torch.autograd.grad(total, wanted, materialize_grads=True)
        return [one.detach().numpy() for one in (*firsts, *seconds)]

    return asked(run)


def difference(ours: Any, theirs: Any, where: str = "") -> str | None:
    """The first place where two trees of facts differ."""
    if isinstance(theirs, (list, tuple)):
        if not isinstance(ours, (list, tuple)) or len(ours) != len(theirs):
            return f"{where}: ours {ours}, torch's {theirs}"
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            found = difference(one, other, f"{where}[{i}]")
            if found is not None:
                return found
        return None
    if isinstance(theirs, np.ndarray):
        same = isinstance(ours, np.ndarray) and ours.shape == theirs.shape
        same = same and np.allclose(ours, theirs, rtol=1e-9, atol=1e-11, equal_nan=True)
    else:
        same = type(ours) is type(theirs) and ours == theirs
    return None if same else f"{where}: ours {ours!r}, torch's {theirs!r}"


def compare(torch: Any, seed: int) -> str | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        ours = program(minigrad, seed)
        return difference(ours, program(torch, seed))


@pytest.mark.parametrize("seed", range(150))
def test_views_and_changes_in_place_are_torchs(torch: Any, seed: int) -> None:
    assert compare(torch, seed) is None


def test_programs_do_every_step_and_mostly_succeed() -> None:
    log: list[Any] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(150):
            program(minigrad, seed, log)
    steps = collections.Counter([name for name, outcome in log if outcome == "done"])
    everything = {*VIEWS, *CHANGES, *RESULTS, *functions(minigrad)}
    assert set(steps) == everything
    assert sum(steps.values()) > 0.6 * len(log)


def main() -> None:
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    chosen = parser.parse_args()
    for seed in range(chosen.first, chosen.last):
        found = compare(torch, seed)
        if found is not None:
            print(seed, found[:300], flush=True)


if __name__ == "__main__":
    main()
