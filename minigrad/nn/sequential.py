"""Modules that run one after the other."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from minigrad.nn.module import Module


class Sequential(Module):
    """Each module gets what the one before it returned.

    They are named by their number, or as in the OrderedDict that is given instead.
    See: torch ``nn.Sequential``.

    >>> minigrad.nn.Sequential(minigrad.nn.Linear(2, 3), minigrad.nn.Identity())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): Identity()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = list(args[0].items())
        else:
            named = [(str(place), module) for place, module in enumerate(args)]
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """What the last module returns."""
        for module in self:
            input = module(input)
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Sequential(
                OrderedDict(
                    itertools.islice(self._modules.items(), *index.indices(len(self)))
                )
            )
        return list(self._modules.values())[index]
