"""The rows of training: steps of three models with Adam, on the data in the package.

Both sides begin with the same parameters and see the same batches, so their losses stay
together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.bench.harness import Program, agree
from minigrad.bench.reasons import called_most, python_calls
from minigrad.bench.rows import Other, Peer, Row, Task, Timed, explained

BEFORE = 100
"""So many steps are made before the losses of both sides are compared."""

BATCH = 64
RATE, BETA1, BETA2, EPS = 0.001, 0.9, 0.999, 1e-8
WIDTH, HEADS = 64, 4
LETTERS = 27
"""Those of the alphabet, and 0 for the end of a name."""

LENGTH = 12
"""The longest name has 11 letters."""


class Model(NamedTuple):
    """How a model is made with either module, and its batches as arrays."""

    name: str
    make: Callable[[Any], Any]
    batches: list[tuple[Any, Any]]


def digit_batches(flat: bool) -> list[tuple[Any, Any]]:
    """Images in a mixed order, and their digits."""
    images, labels = minigrad.nn.data.digits()
    x = images.flatten(1) if flat else images
    order = np.random.default_rng(0).permutation(len(x))
    chosen = [order[i : i + BATCH] for i in range(0, len(x) - BATCH, BATCH)]
    return [(x.numpy()[one], labels.numpy()[one]) for one in chosen]


def name_batches() -> list[tuple[Any, Any]]:
    """Names as numbers from 1 to 26, and at each place the letter that comes next."""
    names = minigrad.nn.data.names()
    letters = np.zeros((len(names), LENGTH + 1), np.int64)
    for row, name in zip(letters, names, strict=True):
        row[1 : len(name) + 1] = [ord(letter) - ord("a") + 1 for letter in name]
    order = np.random.default_rng(0).permutation(len(names))
    chosen = [order[i : i + BATCH] for i in range(0, len(names) - BATCH, BATCH)]
    return [
        (letters[one, :-1].copy(), letters[one, 1:].reshape(-1).copy())
        for one in chosen
    ]


def perceptron(torch: Any) -> Any:
    """Two hidden layers."""
    nn = torch.nn
    sizes = (64, 128), (128, 64), (64, 10)
    one, two, three = [nn.Linear(*size) for size in sizes]
    return nn.Sequential(one, nn.ReLU(), two, nn.ReLU(), three)


def convolutional(torch: Any) -> Any:
    """Two convolutions, each with its pooling, and a linear layer."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def character_model(torch: Any) -> Any:
    """Embedding, one block of causal attention and a perceptron, scores of letters."""
    nn = torch.nn

    class Letters(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.letters = nn.Embedding(LETTERS, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            self.norm = nn.LayerNorm(WIDTH)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.again = nn.LayerNorm(WIDTH)
            self.wide = nn.Linear(WIDTH, 4 * WIDTH)
            self.back = nn.Linear(4 * WIDTH, WIDTH)
            self.scores = nn.Linear(WIDTH, LETTERS)
            self.register_buffer("here", torch.arange(LENGTH))
            self.register_buffer("later", torch.ones(LENGTH, LENGTH).triu(1).bool())

        def forward(self, x: Any) -> Any:
            x = self.letters(x) + self.places(self.here)
            y = self.norm(x)
            options = {"attn_mask": self.later, "is_causal": True}
            found, _ = self.attention(y, y, y, need_weights=False, **options)
            x = x + found
            x = x + self.back(nn.functional.gelu(self.wide(self.again(x))))
            return self.scores(x).flatten(0, 1)

    return Letters()


def models() -> list[Model]:
    """The three of them."""
    return [
        Model("MLP 64-128-64-10 on digits", perceptron, digit_batches(flat=True)),
        Model("CNN on digits", convolutional, digit_batches(flat=False)),
        Model("character model on names", character_model, name_batches()),
    ]


def start_of(model: Model) -> list[Any]:
    """Its parameters before the first step, as arrays."""
    minigrad.manual_seed(0)
    return [one.detach().numpy().copy() for one in model.make(minigrad).parameters()]


def step_of(
    model: Model, torch: Any, before: int = 0, replayed: bool = False, **options: Any
) -> Program:
    """A training step on the next batch, with Adam: its loss. ``before`` are made.

    ``replayed``: by ``nn.replay``, which has recorded it.
    """
    own = model.make(torch)
    batches = [(torch.tensor(x), torch.tensor(y)) for x, y in model.batches]
    optimizer = torch.optim.Adam(own.parameters(), RATE, **options)

    def begin() -> None:
        optimizer.state.clear()
        with torch.no_grad():
            for parameter, values in zip(
                own.parameters(), start_of(model), strict=True
            ):
                parameter.copy_(torch.tensor(values))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(own(x), y)
        loss.backward()
        optimizer.step()
        return loss

    begin()
    run: Any = torch.nn.replay(step) if replayed else step
    while replayed and not run.is_recorded:
        run(*batches[0])
    begin()
    every = itertools.cycle(batches)
    for _ in range(before):
        run(*next(every))
    return lambda: run(*next(every)).item()


def step_in_numpy(numpy: Any = np) -> Program:
    """The step of the perceptron by hand: forward, backward, Adam."""
    model = models()[0]
    parameters, every = start_of(model), itertools.cycle(model.batches)
    means = [np.zeros_like(one) for one in parameters]
    squares = [np.zeros_like(one) for one in parameters]
    rows, made = np.arange(BATCH), itertools.count(1)

    def run() -> Any:
        values, classes = next(every)
        inputs = []
        for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
            inputs.append(values)
            values = values @ weight.T + bias
            if len(inputs) < 3:
                values = np.maximum(values, 0)
        values -= values.max(1, keepdims=True)
        powers = np.exp(values)
        total = powers.sum(1, keepdims=True)
        loss = -np.mean((values - np.log(total))[rows, classes])
        grad = powers / total
        grad[rows, classes] -= 1
        grad /= BATCH
        slopes: list[Any] = []
        for layer in (2, 1, 0):
            slopes = [grad.T @ inputs[layer], grad.sum(0), *slopes]
            if layer:
                grad = (grad @ parameters[2 * layer]) * (inputs[layer] > 0)
        number = next(made)
        length, spread = RATE / (1 - BETA1**number), math.sqrt(1 - BETA2**number)
        four = zip(parameters, slopes, means, squares, strict=True)
        for parameter, slope, mean, square in four:
            mean += (1 - BETA1) * (slope - mean)
            square += (1 - BETA2) * (slope * slope - square)
            parameter -= length * mean / (np.sqrt(square) / spread + EPS)
        return float(loss)

    return run


def step_in_jax(jax: Any) -> Program:
    """The whole step of the perceptron compiled: forward, backward, Adam."""
    numpy, model = jax.numpy, models()[0]

    def loss_of(parameters: Any, x: Any, classes: Any) -> Any:
        for layer in range(3):
            x = x @ parameters[2 * layer].T + parameters[2 * layer + 1]
            x = numpy.maximum(x, 0) if layer < 2 else x
        return -numpy.mean(jax.nn.log_softmax(x)[numpy.arange(BATCH), classes])

    def adam(number: Any, slope: Any, parameter: Any, mean: Any, square: Any) -> Any:
        mean = BETA1 * mean + (1 - BETA1) * slope
        square = BETA2 * square + (1 - BETA2) * slope * slope
        length, spread = RATE / (1 - BETA1**number), numpy.sqrt(1 - BETA2**number)
        return (
            parameter - length * mean / (numpy.sqrt(square) / spread + EPS),
            mean,
            square,
        )

    @jax.jit  # type: ignore[untyped-decorator]
    def step(number: Any, state: Any, x: Any, classes: Any) -> Any:
        parameters = [parameter for parameter, _, _ in state]
        loss, slopes = jax.value_and_grad(loss_of)(parameters, x, classes)
        three = zip(slopes, state, strict=True)
        return loss, [adam(number, slope, *own) for slope, own in three]

    state: Any = [
        (one, np.zeros_like(one), np.zeros_like(one)) for one in start_of(model)
    ]
    batches = [(numpy.asarray(x), numpy.asarray(y)) for x, y in model.batches]
    made = enumerate(itertools.cycle(batches), 1)

    def run() -> Any:
        nonlocal state
        number, batch = next(made)
        loss, state = step(float(number), state, *batch)
        return float(loss)

    return run


def stay_together(ours: Any, theirs: Any) -> bool:
    """Whether two losses agree; after many steps the last places have added up."""
    return agree(ours, theirs, rtol=0.02, atol=0.005)


def calls_row(name: str, quick: bool) -> Iterator[Row]:
    """How many functions written in Python a step runs: it can be counted anywhere."""
    step = step_of(models()[0], minigrad)
    step()
    row = Row(name, python_calls(step), goal=300, unit="functions")
    yield explained(row, lambda: f"called most: {called_most(step)}")


def model_tasks() -> list[Task]:
    """The step of the perceptron on all sides; those of the others beside torch."""
    perceptron, *others = models()
    name, step = f"step: {perceptron.name}", partial(step_of, perceptron)
    fused = partial(step, fused=True)
    eager = (
        Peer("torch", 0.50),
        Peer("torch, fused", 0.65, 0.45, fused),
        Peer("NumPy, by hand", 1.0, None, step_in_numpy),
        Peer("jax.jit", None, None, step_in_jax),
    )
    replayed = (
        Peer("jax.jit", 1.0, None, step_in_jax),
        Peer("torch, fused", None, None, fused),
    )
    tasks: list[Task] = [
        Timed(name, step, eager),
        Timed(f"{name}, in nn.replay", partial(step, replayed=True), replayed),
        Other(f"{name}: Python functions", calls_row),
    ]
    for model in others:
        make = partial(step_of, model, before=BEFORE)
        peers = (Peer("torch", 1.0),)
        tasks.append(Timed(f"step: {model.name}", make, peers, same=stay_together))
    return tasks
