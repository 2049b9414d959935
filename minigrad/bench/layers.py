"""What the rows of the kernels time: programs of layers, and kernels on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.kernels import (
    activations,
    fused,
    lookup,
    losses,
    normalization,
    pooling,
    randomness,
    softmax,
    steps,
)

Program = Callable[[], Any]


class Case(NamedTuple):
    """One kernel at one size, forward and backward.

    ``program`` goes through the graph, with minigrad or torch under torch's name;
    ``on_arrays`` calls the kernels themselves, or their twins; ``in_torch`` calls
    torch's, without a graph. Each returns what it computed: two sides have to return
    the same. ``random`` ones draw other numbers, so that only the share of zeros can be
    compared.
    """

    name: str
    program: Callable[[Any], Program]
    on_arrays: Callable[[Any], Program]
    in_torch: Callable[[Any], Program]
    random: bool = False
    goal: float | None = None
    """Of its own, beside torch; it does not count in the mean of the others then."""
    products: Callable[[], Program] | None = None
    """Makes the matrix products in it, which BLAS computes: it needs at least those."""


def normal(*shape: int, seed: int = 0) -> Any:
    """Normal numbers in float32."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def chosen(kernel: Any, twin: bool) -> Any:
    """The kernel itself, or the same in plain NumPy."""
    return kernel.twin if twin else kernel


def through(
    torch: Any, function: Callable[..., Any], *arrays: Any, upstream: Any = None
) -> Program:
    """Forward and backward of ``function``: its result, and the first gradient."""
    inputs = [torch.tensor(array, requires_grad=True) for array in arrays]
    grad = None if upstream is None else torch.tensor(upstream)

    def run() -> Any:
        for one in inputs:
            one.grad = None
        output = function(*inputs)
        output.backward(grad)
        return output.detach().numpy(), inputs[0].grad.numpy()

    return run


def softmax_case(n: int, d: int) -> Case:
    """Of rows, forward and backward."""
    x, g = normal(n, d), normal(n, d, seed=1)

    def program(torch: Any) -> Program:
        return through(torch, lambda x: x.softmax(1), x, upstream=g)

    def on_arrays(twin: Any) -> Program:
        forward = chosen(softmax.softmax_of_rows, twin)
        backward = chosen(softmax.softmax_backward_of_rows, twin)

        def run() -> Any:
            y = forward(x)
            return y, backward(g, y)

        return run

    def in_torch(torch: Any) -> Program:
        rows, grad = torch.tensor(x), torch.tensor(g)
        backward = torch.ops.aten._softmax_backward_data

        def run() -> Any:
            y = rows.softmax(1)
            return y.numpy(), backward(grad, y, 1, rows.dtype).numpy()

        return run

    return Case(f"softmax {n}x{d}", program, on_arrays, in_torch)


def cross_entropy_case(n: int, d: int) -> Case:
    """Of scores and classes, forward and backward."""
    x, classes = normal(n, d), np.random.default_rng(1).integers(0, d, n)

    def program(torch: Any) -> Program:
        target = torch.tensor(classes)
        loss = torch.nn.functional.cross_entropy
        return through(torch, lambda x: loss(x, target), x)

    def on_arrays(twin: Any) -> Program:
        forward = chosen(softmax.log_softmax_of_rows, twin)
        backward = chosen(softmax.log_softmax_backward_of_rows, twin)
        nll, nll_backward = (
            chosen(one, twin) for one in (losses.nll, losses.nll_backward)
        )
        weight, each = np.empty(0, np.float32), np.full(1, 1 / n, np.float32)

        def run() -> Any:
            logs = forward(x)
            _, (total, number), _ = nll(logs, classes, weight, -100)
            loss = np.float32(total / number)
            return loss, backward(nll_backward(each, classes, weight, -100, d), logs)

        return run

    def in_torch(torch: Any) -> Program:
        rows, target, one = torch.tensor(x), torch.tensor(classes), torch.ones(())
        aten, options = torch.ops.aten, (None, 1, -100)

        def run() -> Any:
            logs = rows.log_softmax(1)
            loss, number = aten.nll_loss_forward(logs, target, *options)
            grad = aten.nll_loss_backward(one, logs, target, *options, number)
            into = aten._log_softmax_backward_data(grad, logs, 1, rows.dtype)
            return loss.numpy(), into.numpy()

        return run

    return Case(f"cross-entropy {n}x{d}", program, on_arrays, in_torch)


def layer_norm_case(n: int, d: int) -> Case:
    """Of rows, forward and backward."""
    x, weight, bias, g = normal(n, d), normal(d), normal(d, seed=1), normal(n, d)

    def program(torch: Any) -> Program:
        def norm(x: Any, weight: Any, bias: Any) -> Any:
            return torch.nn.functional.layer_norm(x, (d,), weight, bias)

        return through(torch, norm, x, weight, bias, upstream=g)

    def on_arrays(twin: Any) -> Program:
        forward = chosen(normalization.layer_norm, twin)
        backward = chosen(normalization.layer_norm_backward, twin)

        def run() -> Any:
            y, mean, rstd = forward(x, weight, bias, 1e-5)
            return y, backward(g, x, weight, mean, rstd)[0]

        return run

    def in_torch(torch: Any) -> Program:
        rows, scale, shift, grad = map(torch.tensor, (x, weight, bias, g))
        aten, all_three = torch.ops.aten, [True] * 3

        def run() -> Any:
            y, mean, rstd = aten.native_layer_norm(rows, [d], scale, shift, 1e-5)
            into = aten.native_layer_norm_backward(
                grad, rows, [d], mean, rstd, scale, shift, all_three
            )
            return y.numpy(), into[0].numpy()

        return run

    return Case(f"layer norm {n}x{d}", program, on_arrays, in_torch)


def batch_norm_case(*shape: int) -> Case:
    """Of channels in training, forward and backward."""
    channels = shape[1]
    x, weight, bias = normal(*shape), normal(channels), normal(channels, seed=1)
    g = normal(*shape, seed=1)
    flat = shape[0], channels, int(np.prod(shape[2:], dtype=int))

    def program(torch: Any) -> Program:
        mean, var = torch.zeros(channels), torch.ones(channels)

        def norm(x: Any, weight: Any, bias: Any) -> Any:
            norm = torch.nn.functional.batch_norm
            return norm(x, mean, var, weight, bias, training=True)

        return through(torch, norm, x, weight, bias, upstream=g)

    def on_arrays(twin: Any) -> Program:
        forward = chosen(normalization.batch_norm, twin)
        backward = chosen(normalization.batch_norm_backward, twin)

        def run() -> Any:
            y, mean, var = forward(x.reshape(flat), weight, bias, 1e-5)
            rstd = 1 / np.sqrt(var + np.float32(1e-5))
            return y, backward(g.reshape(flat), x.reshape(flat), weight, mean, rstd)[0]

        return run

    def in_torch(torch: Any) -> Program:
        input, scale, shift, grad = map(torch.tensor, (x, weight, bias, g))
        aten, all_three = torch.ops.aten, [True] * 3
        nothing = None, None

        def run() -> Any:
            y, mean, rstd = aten.native_batch_norm(
                input, scale, shift, *nothing, True, 0.1, 1e-5
            )
            into = aten.native_batch_norm_backward(
                grad, input, scale, *nothing, mean, rstd, True, 1e-5, all_three
            )
            return y.numpy().reshape(flat), into[0].numpy().reshape(flat)

        return run

    name = "x".join([str(length) for length in shape])
    return Case(f"batch norm {name}", program, on_arrays, in_torch)


def gelu_case(size: int) -> Case:
    """Elementwise, forward and backward."""
    x, g = normal(size), normal(size, seed=1)

    def program(torch: Any) -> Program:
        return through(torch, torch.nn.functional.gelu, x, upstream=g)

    def on_arrays(twin: Any) -> Program:
        forward = chosen(activations.gelu, twin)
        backward = chosen(activations.gelu_backward, twin)
        return lambda: (forward(x), backward(g, x))

    def in_torch(torch: Any) -> Program:
        input, grad = torch.tensor(x), torch.tensor(g)
        aten = torch.ops.aten
        return lambda: (
            aten.gelu(input).numpy(),
            aten.gelu_backward(grad, input).numpy(),
        )

    return Case(f"GELU {size}", program, on_arrays, in_torch)


class GatedSum(minigrad.autograd.Function):
    """values * sigmoid(gates) + rest, with one loop forward and one back."""

    @staticmethod
    def forward(ctx: Any, values: Any, gates: Any, rest: Any) -> Any:
        ctx.save_for_backward(values, gates)
        arrays = values.numpy(), gates.numpy(), rest.numpy()
        return minigrad.from_numpy(fused.gated_sum(*arrays))

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        saved = [one.numpy() for one in (grad_output, *ctx.saved_tensors)]
        gradients = fused.gated_sum_backward(*saved)
        return *map(minigrad.from_numpy, gradients), grad_output


def gated_sum_case(size: int) -> Case:
    """Several elementwise steps in one loop; torch takes one after the other."""
    x, gates, rest, g = [normal(size, seed=seed) for seed in range(4)]

    def program(torch: Any) -> Program:
        function = GatedSum.apply if torch is minigrad else in_steps
        return through(torch, function, x, gates, rest, upstream=g)

    def in_steps(x: Any, gates: Any, rest: Any) -> Any:
        return x * gates.sigmoid() + rest

    def on_arrays(twin: Any) -> Program:
        forward = chosen(fused.gated_sum, twin)
        backward = chosen(fused.gated_sum_backward, twin)
        return lambda: (forward(x, gates, rest), *backward(g, x, gates))

    def in_torch(torch: Any) -> Program:
        values, gate, other, grad = map(torch.tensor, (x, gates, rest, g))
        slope = torch.ops.aten.sigmoid_backward

        def run() -> Any:
            share = gate.sigmoid()
            into = grad * share, slope(grad * values, share)
            y = values * share + other
            return tuple([one.numpy() for one in (y, *into)])

        return run

    return Case(f"gated sum {size}", program, on_arrays, in_torch, goal=1.0)


def dropout_case(size: int) -> Case:
    """Elementwise, forward and backward."""
    x, g = normal(size), normal(size, seed=1)

    def program(torch: Any) -> Program:
        dropout = torch.nn.functional.dropout
        return through(torch, lambda x: dropout(x, 0.25), x, upstream=g)

    def on_arrays(twin: Any) -> Program:
        drop = chosen(randomness.drop, twin)
        options = 1, 2, 2**30, 4 / 3
        return lambda: (drop(x, *options), drop(g, *options))

    def in_torch(torch: Any) -> Program:
        input, grad = torch.tensor(x), torch.tensor(g)

        def run() -> Any:
            kept = torch.empty_like(input).bernoulli_(0.75).div_(0.75)
            return (input * kept).numpy(), (grad * kept).numpy()

        return run

    return Case(f"dropout {size}", program, on_arrays, in_torch, random=True)


def embedding_case(length: int, width: int, number: int) -> Case:
    """Rows of a table by number, forward and backward."""
    table, g = normal(length, width), normal(number, width, seed=1)
    words = np.random.default_rng(2).integers(0, length, number)

    def program(torch: Any) -> Program:
        indices = torch.tensor(words)
        embedding = torch.nn.functional.embedding
        return through(torch, lambda w: embedding(indices, w), table, upstream=g)

    def on_arrays(twin: Any) -> Program:
        add = chosen(lookup.add_rows, twin)

        def run() -> Any:
            into = np.zeros_like(table)
            add(into, words, g)
            return table[words], into

        return run

    def in_torch(torch: Any) -> Program:
        weight, indices, grad = map(torch.tensor, (table, words, g))
        backward = torch.ops.aten.embedding_dense_backward

        def run() -> Any:
            rows = torch.embedding(weight, indices)
            return rows.numpy(), backward(grad, indices, length, -1, False).numpy()

        return run

    return Case(
        f"embedding {length}x{width}, {number} rows", program, on_arrays, in_torch
    )


def max_pool_case(number: int, channels: int, length: int) -> Case:
    """Of windows of 2x2 that lie side by side, forward and backward."""
    half = length // 2
    x, g = (
        normal(number, channels, length, length),
        normal(number, channels, half, half),
    )
    pairs = (2, 2), (half, half), (2, 2), (0, 0), (1, 1)
    planes, given = x.reshape(-1, length, length), g.reshape(number * channels, -1)

    def program(torch: Any) -> Program:
        pool = torch.nn.functional.max_pool2d
        return through(torch, lambda x: pool(x, 2), x, upstream=g)

    def on_arrays(twin: Any) -> Program:
        forward = chosen(pooling.max_pool, twin)
        add = chosen(pooling.add_at, twin)

        def run() -> Any:
            values, where = forward(planes, *pairs)
            into = np.zeros((len(planes), length * length), x.dtype)
            add(into, where.reshape(given.shape), given)
            return values.reshape(g.shape), into.reshape(x.shape)

        return run

    def in_torch(torch: Any) -> Program:
        images, grad = torch.tensor(x), torch.tensor(g)
        aten, options = torch.ops.aten, ([2, 2], [2, 2], [0, 0], [1, 1], False)

        def run() -> Any:
            y, where = aten.max_pool2d_with_indices(images, *options)
            back = aten.max_pool2d_with_indices_backward
            return y.numpy(), back(grad, images, *options, where).numpy()

        return run

    name = f"max pool {number}x{channels}x{length}x{length}"
    return Case(name, program, on_arrays, in_torch)


def adam_case(size: int) -> Case:
    """A step of a parameter: beside torch's default, and beside its fused kernel."""
    values, g = normal(size), normal(size, seed=1)

    def program(torch: Any) -> Program:
        parameter = torch.nn.Parameter(torch.tensor(values))
        parameter.grad = torch.tensor(g)
        optimizer = torch.optim.Adam([parameter])

        def run() -> Any:
            optimizer.step()
            return (parameter.detach().numpy(),)

        return run

    def on_arrays(twin: Any) -> Program:
        step = chosen(steps.adam, twin)
        memory, mean, square = values.copy(), np.zeros_like(g), np.zeros_like(g)
        made = [0]

        def run() -> Any:
            made[0] += 1
            length = 0.001 / (1 - 0.9 ** made[0])
            spread = math.sqrt(1 - 0.999 ** made[0])
            step(memory, g, mean, square, length, 0.9, 0.999, 1e-8, spread)
            return (memory,)

        return run

    def in_torch(torch: Any) -> Program:
        parameter = torch.nn.Parameter(torch.tensor(values))
        parameter.grad = torch.tensor(g)
        optimizer = torch.optim.Adam([parameter], fused=True)

        def run() -> Any:
            optimizer.step()
            return (parameter.detach().numpy(),)

        return run

    return Case(f"Adam step {size}", program, on_arrays, in_torch)


def layer_cases() -> list[Case]:
    """Every kernel, small and large."""
    return [
        softmax_case(64, 10),
        softmax_case(512, 1000),
        cross_entropy_case(64, 10),
        cross_entropy_case(512, 1000),
        layer_norm_case(64, 64),
        layer_norm_case(1024, 512),
        batch_norm_case(64, 32),
        batch_norm_case(32, 64, 16, 16),
        gelu_case(4096),
        gelu_case(1_000_000),
        gated_sum_case(4096),
        gated_sum_case(1_000_000),
        dropout_case(4096),
        dropout_case(1_000_000),
        embedding_case(100, 16, 256),
        embedding_case(10_000, 64, 8192),
        max_pool_case(64, 16, 8),
        max_pool_case(32, 64, 32),
        adam_case(8192),
        adam_case(1_000_000),
    ]


def our_program(case: Case) -> Program:
    """The program with minigrad under torch's name."""
    return case.program(minigrad)


def our_kernels(case: Case) -> Program:
    """The kernels alone."""
    return case.on_arrays(False)


def in_numpy(case: Case) -> Program:
    """The same in plain NumPy."""
    return case.on_arrays(True)
