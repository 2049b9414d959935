"""Forward mode as functions of functions: jvp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.engine import pytree
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import EVERY_LEVEL, forward_limit, with_forward_limit
from minigrad.engine.interpreters import opened
from minigrad.func.reverse import (
    Argnums,
    check_are_tensors,
    check_argnums,
    refused,
    two_parts,
)
from minigrad.transforms.forward_ad_duals import check_floating, make_dual, unpack_dual
from minigrad.transforms.forward_ad_interpreter import enter_level
from minigrad.transforms.forward_ad_levels import Level, exit_level
from minigrad.transforms.transform import Pushing

WHERE = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """``func(*primals)``, and how it changes along ``tangents``.

    Both are tuples with one tensor, or tree of tensors, for each argument. With
    ``has_aux``, ``aux`` is returned as the third. ``strict`` refuses an output that
    does not depend on the inputs; else its tangent is zeros.
    See: torch ``func.jvp``.

    >>> x, t = minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 10.0])
    >>> minigrad.func.jvp(lambda x: x * x, (x,), (t,))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    return jvp_by(func, primals, tangents, None, strict=strict, has_aux=has_aux)


def linearize(
    func: Callable[..., Any], *primals: Any
) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)``, and the function of tangents that is its slope there.

    The second runs ``func`` again each time; torch keeps a trace of the first run.
    See: torch ``func.linearize``.

    >>> x, t = minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 10.0])
    >>> value, slope = minigrad.func.linearize(lambda x: x * x, x)
    >>> value, slope(t)
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """

    def slope_along(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), slope_along


def jvp_by(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    argnums: Argnums | None,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """``jvp`` along some of the arguments; None: along all of them."""
    if not isinstance(primals, tuple):
        raise refused(
            WHERE,
            "Expected primals to be a tuple. E.g. it should be valid to call "
            "f(*primals)",
            "write jvp(f, (x,), (t,))",
        )
    chosen = primals
    if argnums is not None:
        positions = check_argnums(primals, argnums)
        several = tuple([primals[position] for position in positions])
        chosen = several[0] if isinstance(argnums, int) else several
    values, directions, structure = pairs_of(chosen, tangents)
    for value, direction in zip(values, directions, strict=True):
        check_floating(value, direction)
    with level() as here:
        duals = [make_dual(x, t, here) for x, t in zip(values, directions, strict=True)]
        inputs = pytree.unflatten(list(duals), structure)
        args = inputs
        if argnums is not None:
            given = (inputs,) if isinstance(argnums, int) else inputs
            by_place = dict(zip(positions, given, strict=True))
            args = [by_place.get(place, value) for place, value in enumerate(primals)]
        output = func(*args)
        aux = None
        if has_aux:
            output, aux = two_parts(output, WHERE)
            aux = pytree.mapped(lambda leaf: value_of(leaf, here), aux)
        leaves, out_structure = pytree.flatten(output)
        check_are_tensors(leaves, WHERE)
        found = [parts_of(leaf, here, strict) for leaf in leaves]
    results = pytree.unflatten([value for value, _ in found], out_structure)
    slopes = pytree.unflatten([slope for _, slope in found], out_structure)
    return (results, slopes, aux) if has_aux else (results, slopes)


@contextmanager
def level() -> Iterator[Level]:
    """A level of forward mode for a ``with`` block."""
    here = enter_level()
    try:
        with (
            opened(Pushing()),
            with_forward_limit(forward_limit() or EVERY_LEVEL),
        ):
            yield here
    finally:
        exit_level(here)


def pairs_of(
    primals: Any, tangents: Any
) -> tuple[list[Any], list[Any], pytree.Structure]:
    """The leaves of both, and how they are nested.

    Raises: TransformError if they are nested in different ways, or hold no Tensors.
    """
    values, structure = pytree.flatten(primals)
    directions, other = pytree.flatten(tangents)
    if structure != other:
        raise refused(
            WHERE,
            "Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got "
            f"primals with structure {structure} and tangents with structure {other}",
            "give one tangent for each primal",
        )
    for name, leaves in (("primals", values), ("tangents", directions)):
        if not leaves:
            raise refused(
                WHERE,
                f"Expected {name} to contain at least one Tensor.",
                "give at least one argument",
            )
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise refused(
                    WHERE,
                    f"Expected {name} to only contain Tensors, got {type(leaf)}",
                    "make it a Tensor",
                )
    return values, directions, structure


def value_of(value: Any, here: Level) -> Any:
    """An auxiliary output without its tangent.

    Raises: TransformError for what is no Tensor.
    """
    if not isinstance(value, Tensor):
        raise refused(
            WHERE,
            f"Expected tensors, got unsupported type {type(value)}",
            "return Tensors only",
        )
    return unpack_dual(value, here)[0]


def parts_of(output: Tensor, here: Level, strict: bool) -> tuple[Tensor, Tensor]:
    """The value and the tangent of an output; zeros for one that does not change.

    Raises: TransformError in place of zeros if ``strict``.
    """
    value, tangent = unpack_dual(output, here)
    if tangent is not None:
        return value, tangent
    if strict:
        raise refused(
            "jvp(f, primals, tangents, strict=True)",
            "The output of f is independent of the inputs. This is not allowed with "
            "strict=True.",
            "let the output depend on the inputs, or leave strict out",
        )
    return value, Tensor(np.zeros(value.shape, value.dtype))
