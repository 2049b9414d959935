"""Random programs, run once with minigrad and once with torch, fact by fact."""

from typing import Any

import numpy as np
import pytest

import minigrad

SHAPES = [(), (3,), (1, 3), (2, 1), (2, 3)]


def functions(torch: Any, log: list[Any]) -> dict[str, Any]:
    """Custom Functions of every build; each notes its name and what it was given."""

    def note(name: str, *grads: Any) -> None:
        log.append((name, [None if g is None else g.detach().numpy() for g in grads]))

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            note("Scaled", grad)
            return grad * ctx.factor, None

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            note("Product", grad)
            x, y = ctx.saved_tensors
            needs_x, needs_y = ctx.needs_input_grad
            return grad * y if needs_x else None, grad * x if needs_y else None

    class Tanh(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.tanh()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            note("Tanh", grad)
            (y,) = ctx.saved_tensors
            return grad * (1 - y * y)

    class SinCos(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.set_materialize_grads(False)
            return x.sin(), x.cos()

        @staticmethod
        def backward(ctx: Any, grad_sin: Any, grad_cos: Any) -> Any:
            note("SinCos", grad_sin, grad_cos)
            (x,) = ctx.saved_tensors
            total = None
            if grad_sin is not None:
                total = grad_sin * x.cos()
            if grad_cos is not None:
                part = -grad_cos * x.sin()
                total = part if total is None else total + part
            return total

    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            sign = x > 0
            ctx.mark_non_differentiable(sign)
            return x * 2, sign, x, "text"

        @staticmethod
        def backward(ctx: Any, double: Any, sign: Any, same: Any, text: Any) -> Any:
            note("Split", double, sign, same, text)
            return double * 2 + same

    made = (Scaled, Product, Tanh, SinCos, Split)
    return {function.__name__: function.apply for function in made}


def step(torch: Any, custom: dict[str, Any], pool: list[Any], random: Any) -> list[Any]:
    """The results of one random operation on tensors of the pool."""
    x, y = (pool[random.integers(len(pool))] for _ in range(2))
    kind = random.integers(12)
    if kind == 0:
        return [custom["Scaled"](x, float(random.integers(1, 4)) / 4)]
    if kind == 1:
        return [custom["Product"](x, y)]
    if kind == 2:
        return [custom["Tanh"](x)]
    if kind == 3:
        return list(custom["SinCos"](x))
    if kind == 4:
        double, _, same, _ = custom["Split"](x)
        return [double * 0.5, same]
    if kind == 5:
        return [x + y]
    if kind == 6:
        return [(x * y).tanh()]
    if kind == 7:
        return [x.sum(), x.mean()]
    if kind == 8:
        return [x.expand(2, 3).reshape(3, 2).transpose(0, 1)]
    if kind == 9:
        return [x.expand(2, 3) @ y.expand(2, 3).transpose(0, 1).sin()]
    if kind == 10:
        changed = x * 1.5
        changed.tanh_()
        return [changed]
    return [x.sigmoid() - y.detach()]


def program(torch: Any, seed: int) -> list[Any]:
    """Facts about a random graph: values, order, gradients, second gradients."""
    random = np.random.default_rng(seed)
    log: list[Any] = []
    custom = functions(torch, log)
    leaves = [
        torch.tensor(random.uniform(-1, 1, shape), requires_grad=bool(i != 1))
        for i, shape in enumerate(random.permutation(np.array(SHAPES, object))[:4])
    ]
    pool = list(leaves)
    for _ in range(int(random.integers(4, 14))):
        made = step(torch, custom, pool, random)
        # A product of matrices has its own shape; what comes after needs a common one.
        pool += [t if tuple(t.shape) in SHAPES else t.mean() for t in made]
    loss = pool[-1].sum()
    for used in pool[-4:-1]:
        loss = loss + used.mean()

    facts: list[Any] = [loss.item(), [t.requires_grad for t in pool]]
    facts.append([(t.output_nr, t.is_leaf) for t in pool])
    wanted = [t for t in leaves if t.requires_grad]
    if not loss.requires_grad:
        return facts
    loss.backward(retain_graph=True)
    facts.append([None if t.grad is None else t.grad.numpy().copy() for t in wanted])
    facts.append(list(log))

    middle = [t for t in pool if t.requires_grad][-3:]
    log.clear()
    some = torch.autograd.grad(loss, middle, retain_graph=True, allow_unused=True)
    facts.append([None if g is None else g.numpy() for g in some])
    facts.append(list(log))

    firsts = torch.autograd.grad(loss, wanted, create_graph=True, allow_unused=True)
    total = sum(((g * g).sum() for g in firsts if g is not None), loss * 0)
    seconds = torch.autograd.grad(total, wanted, allow_unused=True)
    facts.append([None if g is None else g.numpy() for g in seconds])
    return facts


def same(ours: Any, theirs: Any) -> None:
    """Equal facts; numbers to 1e-12."""
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(theirs, (float, np.ndarray)):
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    else:
        assert ours == theirs


@pytest.mark.parametrize("seed", range(150))
def test_random_program_has_the_same_facts(torch: Any, seed: int) -> None:
    same(program(minigrad, seed), program(torch, seed))


def test_random_programs_reach_every_custom_function(torch: Any) -> None:
    seen: set[str] = set()
    for seed in range(40):
        facts = program(minigrad, seed)
        seen |= {name for name, _ in facts[4]} if len(facts) > 4 else set()
    assert seen == {"Scaled", "Product", "Tanh", "SinCos", "Split"}


def test_comparison_sees_a_difference() -> None:
    with pytest.raises(AssertionError):
        same([np.array([1.0, 2.0])], [np.array([1.0, 2.1])])
    with pytest.raises(AssertionError):
        same([("A", [None])], [("B", [None])])
