"""Histories of toys and of what is saved of them, told or made up; and how they end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class History:
    """Lines that are run after ``t = Toy([...])``; does the last one raise?

    If not, it returns a toy with these ``values``, or with those of the beginning and
    what was ``added`` to them.
    """

    story: str
    lines: str
    raises: bool
    added: float = 0.0
    values: tuple[float, ...] = ()


def drawn(
    random: np.random.Generator, start: tuple[float, ...], raises: bool
) -> History:
    """A history of some fifteen lines that ends as it is told to."""
    while True:
        history = Telling(random, start).history()
        if history.raises == raises:
            return history


class Telling:
    """A history while it is made up: which toys there are, on which list each is."""

    def __init__(self, random: np.random.Generator, start: tuple[float, ...]) -> None:
        self.random = random
        self.lists: list[list[float]] = [list(start)]
        self.changes = [0]
        self.toys = {"t": 0}
        self.saved: dict[str, tuple[int, int]] = {}
        self.lines: list[str] = []

    def history(self) -> History:
        """Some fifteen lines, and one that reads what was saved in one of them."""
        steps = (self.another, self.view, self.clone, self.save, self.change)
        for _ in range(14):
            steps[self.random.choice(5, p=(0.05, 0.15, 0.1, 0.25, 0.45))]()
        if not self.saved:
            self.save()
        name = str(self.random.choice(list(self.saved)))
        place, version = self.saved[name]
        self.lines.append(f"{name}.unpack()")
        return History(
            "one that was made up",
            "; ".join(self.lines),
            self.changes[place] != version,
            values=tuple(self.lists[place]),
        )

    def any_toy(self) -> str:
        """The name of a toy."""
        return str(self.random.choice(list(self.toys)))

    def new_toy(self, made: str, place: int) -> None:
        """A line that makes a toy on this list."""
        name = f"t{len(self.toys) + 1}"
        self.toys[name] = place
        self.lines.append(f"{name} = {made}")

    def new_list(self, values: list[float]) -> int:
        """The place of a list that nobody has changed."""
        self.lists.append(values)
        self.changes.append(0)
        return len(self.lists) - 1

    def another(self) -> None:
        """A toy of its own."""
        values = self.random.uniform(1, 3, 2).round(1).tolist()
        self.new_toy(f"Toy({values})", self.new_list(list(values)))

    def view(self) -> None:
        """A toy on the list of another."""
        toy = self.any_toy()
        self.new_toy(f"{toy}.view()", self.toys[toy])

    def clone(self) -> None:
        """A toy on a list with the same numbers."""
        toy = self.any_toy()
        self.new_toy(f"{toy}.clone()", self.new_list(list(self.lists[self.toys[toy]])))

    def save(self) -> None:
        """A toy is saved."""
        toy = self.any_toy()
        name = f"saved{len(self.saved) + 1}"
        self.saved[name] = self.toys[toy], self.changes[self.toys[toy]]
        self.lines.append(f"{name} = Saved({toy})")

    def change(self) -> None:
        """A number is added to a list, which may be 0."""
        toy, number = self.any_toy(), int(self.random.integers(-2, 3))
        place = self.toys[toy]
        self.lists[place] = [value + number for value in self.lists[place]]
        self.changes[place] += 1
        self.lines.append(f"{toy}.add_({number})")
