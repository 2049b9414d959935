"""Nested tuples, lists and dicts ("pytrees") as a flat list of leaves, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Structure(NamedTuple):
    """How leaves are nested. ``kind`` is the container, None for a leaf.

    It prints as ``(*, [*, *])``, a star for each leaf.
    """

    kind: type[Any] | None = None
    keys: tuple[Any, ...] = ()
    parts: tuple[Structure, ...] = ()

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inside = [str(part) for part in self.parts]
        if issubclass(self.kind, dict):
            pairs = zip(self.keys, inside, strict=True)
            return "{" + ", ".join([f"{key!r}: {part}" for key, part in pairs]) + "}"
        text = ", ".join(inside)
        return f"[{text}]" if issubclass(self.kind, list) else f"({text})"


LEAF = Structure()


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves from left to right, and how they were nested; None is a leaf."""
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves)


def _collect(tree: Any, leaves: list[Any]) -> Structure:
    if isinstance(tree, dict):
        parts = tuple([_collect(value, leaves) for value in tree.values()])
        return Structure(type(tree), tuple(tree), parts)
    if isinstance(tree, (tuple, list)):
        parts = tuple([_collect(value, leaves) for value in tree])
        return Structure(type(tree), (), parts)
    leaves.append(tree)
    return LEAF


def unflatten(leaves: list[Any], structure: Structure) -> Any:
    """The tree of this structure with these leaves."""
    return _built(iter(leaves), structure)


def _built(leaves: Iterator[Any], structure: Structure) -> Any:
    kind = structure.kind
    if kind is None:
        return next(leaves)
    parts = [_built(leaves, part) for part in structure.parts]
    if issubclass(kind, dict):
        return kind(zip(structure.keys, parts, strict=True))
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with ``function`` applied to every leaf."""
    leaves, structure = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], structure)


def spread(prefix: Any, structure: Structure) -> list[Any] | None:
    """One value for each leaf: a leaf of ``prefix`` counts for all below its place.

    None if ``prefix`` is nested in another way than ``structure``.
    """
    values, own = flatten(prefix)
    found: list[Any] = []
    fits = _spread(iter(values), own, structure, found)
    return found if fits else None


def _spread(
    values: Iterator[Any], prefix: Structure, structure: Structure, found: list[Any]
) -> bool:
    if prefix.kind is None:
        found.extend([next(values)] * number_of_leaves(structure))
        return True
    same = prefix.kind is structure.kind and prefix.keys == structure.keys
    if not same or len(prefix.parts) != len(structure.parts):
        return False
    pairs = zip(prefix.parts, structure.parts, strict=True)
    return all([_spread(values, one, other, found) for one, other in pairs])


def number_of_leaves(structure: Structure) -> int:
    """How many leaves a structure has."""
    if structure.kind is None:
        return 1
    return sum([number_of_leaves(part) for part in structure.parts])
