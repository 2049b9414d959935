"""Models from end to end, on the data in the package: a step beside one of torch's.

Both sides begin with the same parameters and see the same batches, so their losses stay
together.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.bench.harness import (
    WARM_UP,
    DifferentResultsError,
    Measured,
    Phases,
    agree,
    in_phases,
)
from minigrad.bench.reasons import because, most_of_a_step
from minigrad.bench.rows import Row, Task, ratio_row, with_unit

STEPS = 300
"""So many of each side are timed, and their losses compared, step by step."""

LAST = 20
"""The final loss is the mean of so many."""

BATCH = 64
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
    """64-128-64-10."""
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
        Model("MLP on digits", perceptron, digit_batches(flat=True)),
        Model("CNN on digits", convolutional, digit_batches(flat=False)),
        Model("character model on names", character_model, name_batches()),
    ]


def parameters_of(model: Any) -> dict[str, Any]:
    """Names and values, as arrays."""
    return {name: p.detach().numpy().copy() for name, p in model.named_parameters()}


def step_of(torch: Any, model: Model, start: dict[str, Any]) -> Phases:
    """A training step with Adam on the next batch, phase by phase."""
    own = model.make(torch)
    with torch.no_grad():
        for name, parameter in own.named_parameters():
            parameter.copy_(torch.tensor(start[name]))
    batches = [(torch.tensor(x), torch.tensor(y)) for x, y in model.batches]
    optimizer = torch.optim.Adam(own.parameters(), 0.001)
    every = itertools.cycle(batches)

    def phases() -> Iterator[tuple[str, Any]]:
        x, y = next(every)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(own(x), y)
        yield "forward", loss.item()
        loss.backward()
        yield "backward", None
        optimizer.step()
        yield "Adam's step", None

    return phases


class Trained(NamedTuple):
    """Times of the phases of each step, on each side, and the losses."""

    times: dict[str, dict[str, Measured]]
    losses: dict[str, list[float]]

    def step(self, side: str) -> Measured:
        """Times of whole steps."""
        phases = [sides[side] for sides in self.times.values()]
        each = zip(*[phase.rounds for phase in phases], strict=True)
        return Measured(tuple(map(sum, each)), phases[0].turns)

    def final_loss(self, side: str) -> float:
        """The mean of the last steps: one batch is easier than another."""
        return float(np.mean(self.losses[side][-LAST:]))


def trained(model: Model, sides: dict[str, Any], steps: int) -> Trained:
    """Train on each side from the same start, with the same batches, in turns."""
    minigrad.manual_seed(0)
    start = parameters_of(model.make(minigrad))
    losses: dict[str, list[float]] = {side: [] for side in sides}

    def program(side: str) -> Phases:
        phases = step_of(sides[side], model, start)

        def heard() -> Iterator[tuple[str, Any]]:
            for phase, loss in phases():
                if loss is not None:
                    losses[side].append(loss)
                yield phase, loss

        return heard

    programs = {side: program(side) for side in sides}
    in_phases(programs, WARM_UP, stay_together)
    return Trained(in_phases(programs, steps, stay_together), losses)


def stay_together(ours: Any, theirs: Any) -> bool:
    """Whether two losses agree; after many steps the last places have added up."""
    return agree(ours, theirs, rtol=0.02, atol=0.005)


def model_rows(model: Model, torch: Any, steps: int = STEPS) -> Iterator[Row]:
    """A step of a model beside one of torch's, and what both have learned."""
    shown = f"a step: {model.name}, batch {BATCH}"
    sides = {"minigrad": minigrad} | ({} if torch is None else {"torch": torch})
    try:
        found = trained(model, sides, steps)
    except DifferentResultsError:
        yield Row(shown, against="torch", note="different losses")
        return
    lost = ", ".join([f"{side} {found.final_loss(side):.4f}" for side in sides])
    lost = f"loss after {steps} steps: {lost}"
    if torch is None:
        took = with_unit(found.step("minigrad").median)
        yield Row(shown, took, goal="1.00", note=lost)
        return
    row = ratio_row(shown, found.step("minigrad"), found.step("torch"), 1.0)
    assert row.ratio is not None  # both sides took turns
    ahead = row.ratio.median <= 1
    by = f"{abs(1 - row.ratio.median):.0%}"
    notes = [
        lost,
        f"{'ahead' if ahead else 'behind'} by {by}, {because(found.times, ahead)}",
    ]
    if not ahead:
        start = parameters_of(model.make(minigrad))
        where = most_of_a_step(step_of(minigrad, model, start))
        notes.append(f"where minigrad's step is, profiled: {where}")
    yield dataclasses.replace(row, note="\n".join(notes))


def model_tasks(torch: Any, quick: bool = False) -> Iterator[Task]:
    """The three models."""
    for model in models():
        steps = STEPS // 10 if quick else STEPS
        yield Task(model.name, partial(model_rows, model, torch, steps))
