"""Each family of operations is imported when one of its names is first used.

Importing all of them takes longer than all the rest of minigrad, and a program uses
few. So Tensor has a placeholder for each method, and ``functions`` a name for each
function, that know the family. Their first use imports it, waits until all of it is
there (another thread may be importing it) and puts the method in the place of its
placeholder. Nothing is in the way afterwards.

``_homes``, which says where each name is, is written from the op table by
``python -m minigrad build``: run it after adding an operation.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from minigrad.engine._tensor_methods import TensorMethods
from minigrad.ops import _homes


def by_name(families: Mapping[str, str]) -> dict[str, str]:
    """For each name its family, from the names in each family."""
    return {name: family for family, text in families.items() for name in text.split()}


FUNCTIONS = by_name(_homes.BOTH) | by_name(_homes.FUNCTIONS)
METHODS = by_name(_homes.BOTH) | by_name(_homes.METHODS)
"""The family of every function, and of every method of Tensor."""

CALLS: dict[str, Callable[..., Any]] = {}
"""The functions of the families that are imported: operations, composites, aliases."""

ADDED: dict[str, Callable[..., Any]] = {}
"""The methods that these families give to Tensor."""


class Later:
    """Stands in Tensor for a method whose family has not been imported yet."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        method = loaded(self.name, METHODS, ADDED)
        setattr(TensorMethods, self.name, method)
        return method.__get__(tensor, owner)


def loaded(name: str, homes: Mapping[str, str], table: Mapping[str, Any]) -> Any:
    """What the family of ``name`` puts into ``table`` when it is imported.

    Raises: AttributeError if it does not: then ``_homes`` is older than the family.
    """
    module = f"minigrad.ops.{homes[name]}"
    importlib.import_module(module)
    if name not in table:
        says = f"{module} has no operation {name!r}; run: python -m minigrad build"
        raise AttributeError(says, name=name)
    return table[name]


def add(name: str, method: Callable[..., Any]) -> None:
    """Make it Tensor's method: at once, or, where a placeholder is, at its first use.

    Its family is still being imported, so another thread must not find it yet.
    """
    ADDED[name] = method
    if not isinstance(vars(TensorMethods).get(name), Later):
        setattr(TensorMethods, name, method)


def load_all() -> None:
    """Import every family, for whoever goes through all operations."""
    for family in families():
        importlib.import_module(f"minigrad.ops.{family}")
    for name in METHODS:
        hasattr(TensorMethods, name)  # to ask is a first use


def families() -> list[str]:
    """The modules beside this one; those with an underscore are the machinery."""
    files = [name for name in os.listdir(os.path.dirname(__file__)) if name[0] != "_"]
    return sorted([name.removesuffix(".py") for name in files if name[-3:] == ".py"])


def put_placeholders() -> None:
    """Give Tensor every method, so that ``dir`` and ``hasattr`` know them all."""
    for name in METHODS:
        setattr(TensorMethods, name, Later(name))
