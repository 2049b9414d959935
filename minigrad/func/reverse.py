"""Reverse mode as functions of functions: grad, vjp, jacrev, hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minigrad import errors
from minigrad.autograd._saved_tensors import disable_saved_tensors_hooks
from minigrad.engine import pytree
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import is_grad_enabled
from minigrad.engine.interpreters import opened
from minigrad.transforms.reverse_ad import ReverseLevel, recording, slopes

Argnums = int | tuple[int, ...]


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes the gradient of ``func``, which returns one number.

    ``argnums`` says by which positional arguments. With ``has_aux``, ``func`` returns
    ``(output, aux)``, and the new function ``(gradient, aux)``. No ``.grad`` changes.

    Raises: TransformError; see torch ``func.grad``.

    >>> minigrad.func.grad(lambda x: (x**3).sum())(minigrad.tensor([1.0, 2.0]))
    tensor([ 3., 12.])
    """
    compute = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        slope, value = compute(*args, **kwargs)
        return (slope, value[1]) if has_aux else slope

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes ``(gradient, value)`` of ``func`` together.

    With ``has_aux``: ``(gradient, (value, aux))``.
    See: torch ``func.grad_and_value``.
    """

    @functools.wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        with level() as here:
            args, inputs = differentiable(here, args, argnums)
            output = func(*args, **kwargs)
            aux = None
            if has_aux:
                output, aux = two_parts(output, "grad_and_value(f)(*args)")
                aux = here.finished(aux)
            check_is_number(output)
            leaves, structure = pytree.flatten(inputs)
            found = slopes([output], leaves, [None], True)
        slope = here.finished(pytree.unflatten(list(found), structure))
        value = here.finished(output)
        return (slope, (value, aux)) if has_aux else (slope, value)

    return gradient_and_value


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)``, and the function from a cotangent to the gradients.

    The cotangent is nested as the output is; the gradients are a tuple, one for each
    of ``primals``. With ``has_aux``, ``aux`` is returned as the third.
    See: torch ``func.vjp``.

    >>> value, back = minigrad.func.vjp(lambda x: x * x, minigrad.tensor([1.0, 2.0]))
    >>> back(minigrad.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)
    """
    return vjp_by(func, primals, None, has_aux)


def vjp_by(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    argnums: Argnums | None,
    has_aux: bool,
) -> Any:
    """``vjp`` with respect to some of the arguments; None: to all of them."""
    with level() as here:
        if argnums is None:
            args = inputs = here.inputs(primals)
        else:
            args, inputs = differentiable(here, primals, argnums)
        output = func(*args)
        aux = None
        if has_aux:
            output, aux = two_parts(output, "vjp(f, *primals)")
            aux = here.finished(aux)
        leaves, structure = pytree.flatten(output)
        check_are_tensors(leaves, "vjp(f, *primals)")
        flat_inputs, inputs_structure = pytree.flatten(inputs)
        check_are_floating(leaves, "vjp(f, ...)")
    results = here.finished(output)

    def back(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        """The gradients of the primals, weighted by the cotangents of the outputs."""
        given, own = pytree.flatten(cotangents)
        if own != structure:
            raise errors.TransformError.at(
                "vjp",
                "Expected pytree structure of cotangents to be the same as pytree "
                f"structure of outputs to the function. cotangents: {own}, primal "
                f"output: {structure}",
                "give one cotangent for each output, nested like them",
            )
        recorded = is_grad_enabled() if create_graph is None else create_graph
        with recording(recorded):
            found = slopes(leaves, flat_inputs, given, recorded)
        return here.finished(pytree.unflatten(list(found), inputs_structure))

    return (results, back, aux) if has_aux else (results, back)


NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. "
    "Please open an issue with your use case."
)


@contextmanager
def level() -> Iterator[ReverseLevel]:
    """A level of reverse mode for a ``with`` block; what runs in it is recorded."""
    found = ReverseLevel()
    with disable_saved_tensors_hooks(NO_HOOKS), opened(found), recording(True):
        yield found


def differentiable(
    here: ReverseLevel, args: tuple[Any, ...], argnums: Argnums
) -> tuple[tuple[Any, ...], Any]:
    """The arguments with those of ``argnums`` as inputs of the level; and those alone.

    Raises: TransformError for positions that are not there.
    """
    positions = check_argnums(args, argnums)
    chosen = {position: here.inputs(args[position]) for position in positions}
    new = tuple([chosen.get(position, value) for position, value in enumerate(args)])
    if isinstance(argnums, int):
        return new, chosen[positions[0]]
    return new, tuple([chosen[position] for position in positions])


def check_argnums(args: tuple[Any, ...], argnums: Any) -> list[int]:
    """The positions of the arguments to differentiate by, from 0.

    Raises: TransformError.
    """
    fix = "give positions of arguments, from 0: argnums=(0, 1)"
    if isinstance(argnums, int):
        wanted: tuple[Any, ...] = (argnums,)
    elif isinstance(argnums, tuple):
        wanted = argnums
        if not wanted:
            raise refused("argnums", "argnums must be non-empty", fix)
        if len(set(wanted)) != len(wanted):
            what = f"argnums elements must be unique, got {argnums}"
            raise refused("argnums", what, fix)
    else:
        what = f"argnums must be int or Tuple[int, ...], got: {type(argnums)}"
        raise refused("argnums", what, fix)
    for position in wanted:
        if not -len(args) <= position < len(args):
            what = f"Got argnum={position}, but only {len(args)} positional inputs"
            raise refused("argnums", what, fix)
    return [position % len(args) for position in wanted]


def two_parts(output: Any, where: str) -> tuple[Any, Any]:
    """``(output, aux)``.

    Raises: TransformError for anything else.
    """
    if isinstance(output, tuple) and len(output) == 2:
        return output
    raise refused(
        where,
        "output of function f should be a tuple: (output, aux) if has_aux is True",
        "return (output, aux)",
    )


def check_is_number(output: Any) -> None:
    """Refuse an output that has no gradient of the input's shape.

    Raises: TransformError.
    """
    where = "grad_and_value(f)(*args)"
    if not isinstance(output, Tensor):
        raise refused(
            where,
            f"Expected f(*args) to return a Tensor, got {type(output)}",
            "return one Tensor with one element",
        )
    if output.ndim != 0:
        raise refused(
            where,
            f"Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs "
            "instead?",
            "reduce it, for example with sum()",
        )


def check_are_tensors(leaves: list[Any], where: str) -> None:
    """Refuse outputs that are not Tensors, and none at all.

    Raises: TransformError.
    """
    if not leaves:
        raise refused(
            where,
            f"Expected f to be a function that has non-empty output (got "
            f"output = {leaves})",
            "return at least one Tensor",
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise refused(
                where,
                f"expected f(*primals) to return only tensors, got "
                f"unsupported type {type(leaf)}",
                "return Tensors, or mark the rest with has_aux=True",
            )


def check_are_floating(leaves: list[Tensor], where: str) -> None:
    """Refuse outputs that do not change by a little.

    Raises: TransformError.
    """
    for leaf in leaves:
        if leaf.dtype.kind not in "fc":
            raise refused(
                where,
                f"All outputs of f must be floating-point or complex "
                f"Tensors, got Tensor with dtype torch.{leaf.dtype.name}",
                "return it as aux, with has_aux=True",
            )


def refused(where: str, what: str, fix: str) -> errors.TransformError:
    """The error for a function or an argument that a transform cannot use."""
    return errors.TransformError.at(where, what, fix)
