"""Each family of operations is imported when one of its names is first used.

Importing all of them takes longer than all the rest of minigrad, and a program uses
few. So Tensor has a placeholder for each method (and ``functions`` for each function)
that knows in which family the method is. To import the family replaces its
placeholders, as ``@op`` puts the methods there; nothing is in the way afterwards.

``_homes``, which says where each name is, is written from the op table by
``python -m minigrad build``: run it after adding an operation.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from minigrad.engine._tensor_methods import TensorMethods
from minigrad.ops._homes import METHODS


class Later:
    """Stands in Tensor for a method whose family has not been imported yet."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        method = loaded(self.name, METHODS, vars(TensorMethods))
        return method.__get__(tensor, owner)


def loaded(name: str, homes: dict[str, str], place: Mapping[str, Any]) -> Any:
    """What the family of ``name`` puts into ``place`` when it is imported.

    Raises: AttributeError if it does not: then ``_homes`` is older than the family.
    """
    module = f"minigrad.ops.{homes[name]}"
    importlib.import_module(module)
    found = place.get(name)
    if found is None or isinstance(found, Later):
        raise AttributeError(
            f"{module} has no operation {name!r}; run: python -m minigrad build",
            name=name,
        )
    return found


def load_all() -> None:
    """Import every family, for whoever goes through all operations."""
    for family in families():
        importlib.import_module(f"minigrad.ops.{family}")


def families() -> list[str]:
    """The modules beside this one; those with an underscore are the machinery."""
    files = [name for name in os.listdir(os.path.dirname(__file__)) if name[0] != "_"]
    return sorted([name.removesuffix(".py") for name in files if name[-3:] == ".py"])


def put_placeholders() -> None:
    """Give Tensor every method, so that ``dir`` and ``hasattr`` know them all."""
    for name in METHODS:
        setattr(TensorMethods, name, Later(name))
