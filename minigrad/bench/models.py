"""Models from end to end, on the data in the package: a step beside one of torch's.

Both sides begin with the same parameters and see the same batches, so their losses stay
together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.bench.harness import interleaved
from minigrad.bench.rows import Row, ratio_row

STEPS = 30
"""After so many, the losses of both sides are compared."""

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


def step_of(torch: Any, model: Model, start: dict[str, Any]) -> Callable[[], Any]:
    """A training step with Adam on the next batch; each call returns its loss."""
    own = model.make(torch)
    with torch.no_grad():
        for name, parameter in own.named_parameters():
            parameter.copy_(torch.tensor(start[name]))
    batches = [(torch.tensor(x), torch.tensor(y)) for x, y in model.batches]
    optimizer = torch.optim.Adam(own.parameters(), 0.001)
    made = [0]

    def run() -> Any:
        x, y = batches[made[0] % len(batches)]
        made[0] += 1
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(own(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return run


def model_rows(torch: Any, seconds: float, steps: int = STEPS) -> Iterator[Row]:
    """A step of each model, and the loss of both sides after some."""
    for model in models():
        minigrad.manual_seed(0)
        start = parameters_of(model.make(minigrad))
        programs = {"ours": step_of(minigrad, model, start)}
        if torch is not None:
            programs["theirs"] = step_of(torch, model, start)
        losses = [[run() for _ in range(steps)] for run in programs.values()]
        shown = f"a step: {model.name}, batch {BATCH}"
        lost = ", ".join([f"{one[-1]:.4f}" for one in losses])
        found = interleaved(programs, 1, seconds)
        if torch is None:
            took = f"{found['ours'].median * 1e6:.1f} us"
            yield Row(shown, took, "-", f"loss {lost}", "1.00")
            continue
        if not np.allclose(losses[0], losses[1], rtol=0.01):
            yield Row(shown, "-", "-", f"different losses {lost}", "-")
            continue
        row = ratio_row(shown, found["ours"], found["theirs"], 1.0)
        measured = f"{row.measured} loss {lost}"
        yield dataclasses.replace(row, measured=measured)
