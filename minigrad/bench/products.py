"""Convolution and attention: kernels whose time is mostly that of matrix products."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from minigrad.bench.layers import Case, Program, normal, through
from minigrad.kernels import attention, convolution
from minigrad.kernels._jit import in_numpy

FORWARD, BACKWARD = 1.5, 2.0
"""The goals of a convolution, beside torch."""

SHORT, LONG = 1.0, 1.2
"""Those of attention, of up to 128 places and of more."""


def in_words(twin: bool, run: Program) -> Program:
    """``run``, with NumPy in the place of compiled loops if that is asked for."""
    if not twin:
        return run

    def plain() -> Any:
        with in_numpy():
            return run()

    return plain


def products_alone(weight: Any, places: int, backward: bool) -> Program:
    """The matrix products of a convolution, in its chunks, of columns that are there.

    Forward there is one in a chunk; backward one for the images and one for the weight.
    """
    matrix = weight.reshape(len(weight), -1)
    outputs, height = matrix.shape
    chunk = max(1, convolution.CHUNK // height)
    widths = [min(chunk, places - start) for start in range(0, places, chunk)]
    columns = {width: normal(height, width) for width in set(widths)}
    results = {width: normal(outputs, width) for width in set(widths)}
    spare = {width: normal(max(height, outputs), width) for width in set(widths)}

    def run() -> Any:
        for width in widths:
            if backward:
                np.matmul(matrix.T, results[width], out=spare[width][:height])
                last = columns[width] @ results[width].T
            else:
                last = np.matmul(matrix, columns[width], out=spare[width][:outputs])
        return last

    return run


def convolution_case(
    number: int, channels: int, length: int, outputs: int, size: int, backward: bool
) -> Case:
    """Of square images whose size it keeps: forward, or the three gradients."""
    x = normal(number, channels, length, length)
    weight = normal(outputs, channels, size, size, seed=1) / np.float32(
        math.sqrt(channels * size * size)
    )
    bias, g = normal(outputs), normal(number, outputs, length, length, seed=2)
    g /= np.float32(math.sqrt(g.size))
    zeros = size // 2, size // 2
    sliding = convolution.Sliding(before=zeros, after=zeros)

    def program(torch: Any) -> Program:
        def convolve(x: Any, weight: Any, bias: Any) -> Any:
            return torch.nn.functional.conv2d(x, weight, bias, padding=zeros)

        return through(torch, convolve, x, weight, bias, upstream=g)

    def forward() -> Any:
        return (convolution.convolve(x, weight, bias, sliding),)

    def gradients() -> Any:
        return (
            convolution.convolve_images(g, weight, (length, length), sliding),
            convolution.convolve_weight(g, x, (size, size), sliding),
            np.add.reduce(np.add.reduce(g, 0), (1, 2)),
        )

    def on_arrays(twin: Any) -> Program:
        return in_words(bool(twin), gradients if backward else forward)

    def in_torch(torch: Any) -> Program:
        images, kernels, shift, grad = map(torch.tensor, (x, weight, bias, g))
        back = torch.ops.aten.convolution_backward
        options = [1, 1], list(zeros), [1, 1], False, [0, 0], 1, [True] * 3

        def run_forward() -> Any:
            return (torch.conv2d(images, kernels, shift, padding=zeros).numpy(),)

        def run_backward() -> Any:
            found = back(grad, images, kernels, [outputs], *options)
            return tuple([one.numpy() for one in found])

        return run_backward if backward else run_forward

    kind = "backward" if backward else "forward"
    name = f"conv2d {kind} {number}x{channels}x{length}x{length}, {outputs} of {size}"
    goal = BACKWARD if backward else FORWARD
    places = number * length * length
    products = partial(products_alone, weight, places, backward)
    return Case(name, program, on_arrays, in_torch, goal=goal, products=products)


def attention_case(number: int, heads: int, places: int, width: int) -> Case:
    """Causal: forward, and the gradients of query, key and value."""
    query, key, value, g = (
        normal(number, heads, places, width, seed=seed) for seed in range(4)
    )
    stacks = [x.reshape(-1, places, width) for x in (query, key, value)]
    scale = 1 / math.sqrt(width)

    def program(torch: Any) -> Program:
        def attend(*three: Any) -> Any:
            attend = torch.nn.functional.scaled_dot_product_attention
            return attend(*three, is_causal=True)

        return through(torch, attend, query, key, value, upstream=g)

    def run() -> Any:
        q, k, v = stacks
        found = attention.attend(q, k, v, None, scale, True)
        given = g.reshape(-1, places, width)
        back = attention.attend_back(given, q, k, v, None, scale, True)
        return tuple([one.reshape(g.shape) for one in (found, *back)])

    def on_arrays(twin: Any) -> Program:
        return in_words(bool(twin), run)

    def in_torch(torch: Any) -> Program:
        three = [torch.tensor(x) for x in (query, key, value)]
        grad = torch.tensor(g)
        forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        back = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward

        def run() -> Any:
            found, spread = forward(*three, 0.0, True)
            slopes = back(grad, *three, found, spread, 0.0, True)
            return tuple([one.numpy() for one in (found, *slopes)])

        return run

    name = f"causal attention {number}x{heads} heads, {places} places of {width}"
    goal = SHORT if places <= 128 else LONG
    return Case(name, program, on_arrays, in_torch, goal=goal)


def product_cases() -> list[Case]:
    """Small and large, forward and backward."""
    sizes = [(64, 1, 8, 16, 3), (64, 16, 8, 32, 3), (16, 3, 32, 32, 5)]
    sizes.append((32, 32, 28, 64, 3))
    convolutions = [
        convolution_case(*size, backward)
        for backward in (False, True)
        for size in sizes
    ]
    return [
        *convolutions,
        attention_case(32, 1, 16, 64),
        attention_case(8, 4, 128, 16),
        attention_case(4, 4, 128, 32),
        attention_case(2, 4, 256, 64),
    ]
