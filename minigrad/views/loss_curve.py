"""A training loop you can watch: a progress bar, and the loss as it falls."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.views.forms import has_kernel
from minigrad.views.plots import Lines, plot_lines

POINTS: Final = 50  # of a line at most; each is the mean of the batches up to there
SHARE: Final = 0.1  # of the time, at most, goes into drawing
PAUSE: Final = 0.5  # seconds between two drawings, at least


class Training:
    """The batches of several epochs, one after the other; what ``training`` returns."""

    def __init__(self, batches: Any, epochs: int) -> None:
        self.batches = batches
        self.epochs = epochs
        self.noted: dict[str, list[float]] = {}
        """What ``note`` was given, by name; one number a batch."""
        self._begun = 0
        self._bar: Any = None
        self._handle: Any = None  # a place in the output of the cell
        self._next = 0.0  # when the curve may be drawn again

    def __len__(self) -> int:
        """How many batches there are in all epochs together."""
        return self.epochs * len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        """Begin anew, and hand out the batches; the bar and the curve follow."""
        self._begun = 0
        self.noted = {}
        self._next = 0.0
        if has_kernel():
            display = importlib.import_module("IPython.display").display
            self._handle = display({"text/plain": ""}, raw=True, display_id=True)
        self._bar = importlib.import_module("tqdm").tqdm(
            total=len(self), unit="batch", file=sys.stdout, dynamic_ncols=True
        )
        try:
            for epoch in range(self.epochs):
                self._bar.set_description(f"epoch {epoch + 1} of {self.epochs}")
                for batch in self.batches:
                    self._begun += 1
                    yield batch
                    self._bar.update()
        finally:
            self._bar.close()
            if self._handle is not None and self.noted:
                self._draw()

    def note(self, **numbers: Any) -> None:
        """Note the numbers of this batch, ``loss=loss`` say, for the curve.

        Takes numbers and Tensors of one element; the graph of a Tensor is not kept.
        Raises: ArgumentValueError for a Tensor of another size, for other names than
        the first time, and for two notes in one batch.
        """
        values = {}
        for name, value in numbers.items():
            if isinstance(value, Tensor):
                if value.numel() != 1:
                    raise refused(
                        f"{name} has the shape {tuple(value.shape)}",
                        f"note one number: {name}.mean(), say",
                    )
                value = value.item()
            values[name] = float(value)
        if self.noted and values.keys() != self.noted.keys():
            raise refused(
                f"got {', '.join(values) or 'nothing'}, and before "
                f"{', '.join(self.noted)}",
                "note the same names for every batch",
            )
        count = max(map(len, self.noted.values()), default=0)
        if self._begun <= count:
            raise refused(
                f"got {count + 1} notes for {self._begun} batches",
                "call it once for each batch, in the loop over the batches",
            )
        for name, value in values.items():
            self.noted.setdefault(name, []).append(value)
        if self._bar is not None:
            shown = {name: f"{value:.4g}" for name, value in values.items()}
            self._bar.set_postfix(shown, refresh=False)
        if self._handle is not None and time.monotonic() >= self._next:
            self._draw()

    def _draw(self) -> None:
        """Put the curve where the last one was; after a slow one, wait longer."""
        begun = time.monotonic()
        self._handle.update(self.curve())
        ended = time.monotonic()
        # The first one loads what draws, which is not how long a picture takes.
        cost = ended - begun if self._next else 0.0
        self._next = ended + max(PAUSE, cost / SHARE)

    def curve(self) -> Lines:
        """The curve so far: of many batches, each point is the mean of some.

        Raises: ArgumentValueError if nothing was noted.
        """
        if not self.noted:
            raise refused("nothing was noted", "call note(loss=loss) in the loop")
        count = len(next(iter(self.noted.values())))
        groups = np.array_split(np.arange(count), min(POINTS, count))
        with np.errstate(invalid="ignore"):  # inf - inf: the sentence says where
            lines = {
                name: [float(np.array(line)[group].mean()) for group in groups]
                for name, line in self.noted.items()
            }
        return plot_lines(
            [int(group[-1]) + 1 for group in groups],
            lines,
            x="batches",
            y=", ".join(lines),
            says=self._says(count, lines),
        )

    def _says(self, count: int, lines: dict[str, list[float]]) -> str:
        """The curve in words: from what to what, and where there is no number."""
        parts = []
        for name, line in lines.items():
            parts.append(f"{name} went from {line[0]:.3g} to {line[-1]:.3g}")
            lost = np.flatnonzero(~np.isfinite(self.noted[name]))
            if len(lost):
                value = self.noted[name][lost[0]]
                parts[-1] += f" ({value} for the first time in batch {lost[0] + 1})"
        return f"{count} of {len(self)} batches: {', '.join(parts)}."


def training(batches: Iterable[Any], epochs: int = 1) -> Training:
    """Go through the batches ``epochs`` times, with a progress bar and a live curve.

    In the loop, ``note`` what the curve is to show. In a notebook it is drawn anew
    as the numbers come; ``curve()`` is the picture of all of them, ``noted`` the
    numbers. Raises: ArgumentValueError for batches without a length, and for fewer
    than one epoch.

    >>> x = minigrad.tensor(4.0)
    >>> run = training([1.0, 3.0], epochs=2)
    >>> for target in run:
    ...     run.note(loss=(x - target) ** 2)
    0%|...
    >>> run.curve()
    4 of 4 batches: loss went from 9 to 1.
    (loss)
    batches  loss
          1     9
          2     1
          3     9
          4     1
    """
    if epochs < 1:
        raise refused(f"got epochs={epochs}", "ask for one epoch or more")
    if not isinstance(batches, Sized):
        raise refused(
            f"{type(batches).__name__} doesn't say how many batches it has",
            "give a DataLoader, or a list of batches",
        )
    return Training(batches, epochs)


def refused(what: str, fix: str) -> errors.ArgumentValueError:
    """The error for what the loop cannot be done with."""
    return errors.ArgumentValueError.at("training", what, fix)
