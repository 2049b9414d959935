"""What the functions of ``autograd.functional`` share: preparing, pulling, refusing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.autograd._gradients import grad
from minigrad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.examples import Stack
from minigrad.engine.structural import Expand

Tensors = tuple[Tensor, ...]
Gradients = tuple[Tensor | None, ...]

OUTPUT: Final = "returns a single Tensor"
INPUT: Final = "is a single Tensor"


def as_tensors(value: Any, what: str, where: str) -> tuple[bool, Tensors]:
    """Whether ``value`` is a single tensor, and it as a tuple.

    Raises: ArgumentTypeError for anything but a Tensor or a tuple of Tensors.
    """
    if isinstance(value, Tensor):
        return True, (value,)
    single = not isinstance(value, tuple)
    for index, item in enumerate((value,) if single else value):
        if not isinstance(item, Tensor):
            which = f"given {what}" if single else f"value at index {index}"
            raise errors.ArgumentTypeError.at(
                where,
                f"The {what} given to {where} must be either a Tensor or a tuple "
                f"of Tensors but the {which} has type {type(item)}.",
                "give a Tensor, or a tuple of Tensors (no list)",
            )
    return single, value


def prepared(
    value: Any, what: str, where: str, create_graph: bool
) -> tuple[bool, Tensors]:
    """Tensors on the memory of the given ones, to be differentiated by.

    With ``create_graph`` one that requires grad stays connected to its past.
    """
    single, tensors = as_tensors(value, what, where)
    return single, tuple([connected(tensor, create_graph) for tensor in tensors])


def connected(tensor: Tensor, create_graph: bool, needs: bool = True) -> Tensor:
    """A view in the graph, or a leaf of its own."""
    if create_graph and tensor.requires_grad:
        view: Tensor = Expand.apply(tensor, tensor.shape)
        return view
    return tensor.detach().requires_grad_(needs)


def called(
    func: Callable[..., Any], points: Tensors, where: str
) -> tuple[bool, Tensors]:
    """Whether ``func`` returns a single tensor, and its outputs."""
    return as_tensors(func(*points), "outputs of the user-provided function", where)


def single_element(
    func: Callable[..., Any], points: Tensors, where: str, strict: bool
) -> Tensors:
    """The one output of ``func``, which has one element.

    Raises: DerivativeError.
    """
    single, outputs = called(func, points, where)
    check_reached(outputs, strict)
    if not single:
        raise errors.DerivativeError.at(
            where,
            f"The function given to {where} should return a single Tensor, but it "
            f"returned a tuple of {len(outputs)}",
            "return the tensor itself, without a tuple",
        )
    if outputs[0].numel() != 1:
        raise errors.DerivativeError.at(
            where,
            f"The Tensor returned by the function given to {where} should contain "
            f"a single element, but it has {outputs[0].numel()}",
            "reduce it, for example with sum()",
        )
    return outputs


def weights_of(
    v: Any,
    where: str,
    create_graph: bool,
    others: Tensors,
    single: bool,
    which: str,
) -> Tensors | None:
    """``v`` as a tuple that fits ``others``; None stands for a single 1.

    Raises: DerivativeError.
    """
    if v is None:
        if len(others) == 1 and others[0].numel() == 1:
            return None
        subject = "input to the user-provided function"
        if which == OUTPUT:
            subject = "user-provided function"
        raise errors.DerivativeError.at(
            where,
            f"The vector v can only be None if the {subject} {which} with a "
            "single element.",
            f"give v: one tensor of shape {tuple(others[0].shape)}"
            if len(others) == 1
            else f"give v: a tuple of {len(others)} tensors",
        )
    _, given = as_tensors(v, "v", where)
    if len(given) != len(others):
        raise errors.DerivativeError.at(
            where,
            "The given v should contain a single Tensor."
            if single
            else f"v is a tuple of invalid length: should be {len(others)} but "
            f"got {len(given)}.",
            "give one tensor for each",
        )
    for index, (own, other) in enumerate(zip(given, others, strict=True)):
        if own.shape != other.shape:
            entry = "" if single else f"Entry {index} in "
            raise errors.DerivativeError.at(
                where,
                f"{entry}v has invalid size: should be torch.Size({list(other.shape)}) "
                f"but got torch.Size({list(own.shape)}).",
                f"give v the shape {tuple(other.shape)}",
            )
    return tuple([connected(own, create_graph, needs=False) for own in given])


def pull(
    outputs: Gradients,
    points: Tensors,
    weights: Gradients | None,
    create_graph: bool,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> Gradients:
    """The gradients of the outputs that are in a graph, weighted; None for no path.

    ``batched``: the first dimension of the weights counts gradients.
    """
    if weights is None:
        weights = (None,) * len(outputs)
    pairs = [
        (output, weight)
        for output, weight in zip(outputs, weights, strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(points)
    gradients: Gradients = grad(
        [output for output, _ in pairs],
        points,
        [weight for _, weight in pairs],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )
    return gradients


def push(
    func: Callable[..., Any], points: Tensors, tangents: list[Tensor]
) -> tuple[bool, Tensors, Tensors]:
    """Whether there is a single output, the outputs, and the tangent of each."""
    with dual_level():
        duals = [make_dual(x, t) for x, t in zip(points, tangents, strict=True)]
        single, outputs = called(func, tuple(duals), "jacobian")
        pairs = [unpack_dual(output) for output in outputs]
    results = [
        zeros_like(primal) if tangent is None else tangent for primal, tangent in pairs
    ]
    return single, tuple([primal for primal, _ in pairs]), tuple(results)


def across(columns: list[Tensor], output: Tensor, point: Tensor) -> Tensor:
    """The columns of a Jacobian in the shape of the output, then the input's."""
    shape = (*output.shape, *point.shape)
    if not columns:
        return Tensor(np.zeros(shape, output.dtype))
    rows = stacked(columns, (len(columns), output.numel()), output.dtype)
    return rows.transpose(0, 1).reshape(shape)


def zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of the same shape and dtype."""
    return Tensor(np.zeros(tensor.shape, tensor.dtype))


def zeros_for(tensors: Tensors) -> Tensors:
    """Zeros to differentiate by: their value does not count, only their place."""
    return tuple([zeros_like(tensor).requires_grad_() for tensor in tensors])


def requires_grad(gradient: Tensor | None) -> bool:
    """Whether there is a gradient, and it is in a graph itself."""
    return gradient is not None and gradient.requires_grad


def released(tensors: Tensors, create_graph: bool) -> Tensors:
    """The results, outside the graph unless it was asked for."""
    return tensors if create_graph else tuple([x.detach() for x in tensors])


def unwrapped(tensors: Tensors, single: bool) -> Any:
    """The results in the form the learner used: a tensor or a tuple."""
    return tensors[0] if single else tensors


INDEPENDENT: Final = (
    "The output of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode."
)
NO_TRICK: Final = (
    "The gradient with respect to the input is independent of entry {} in the "
    "grad_outputs when using the double backward trick to compute forward mode "
    "gradients. This is not allowed in strict mode."
)
NO_JACOBIAN: Final = (
    "The jacobian of the user-provided function is independent of input {}. This is "
    "not allowed in strict mode."
)
NO_HESSIAN: Final = (
    "The hessian of the user-provided function is independent of entry {} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the "
    "double backward trick to replace forward mode AD."
)
NO_SECOND: Final = (
    "The gradient with respect to input {} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode."
)
LINEAR: Final = (
    "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {} is independent of the input. This is not "
    "allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a linear function for example)."
)


def filled(
    gradients: Gradients, like: Tensors, strict: bool, create_graph: bool, says: str
) -> Tensors:
    """The gradients, with zeros for those that are missing.

    Raises: DerivativeError with ``strict`` for a missing one, and with
    ``create_graph`` for one that is constant.
    """
    kind = "jacobian" if says in (INDEPENDENT, NO_TRICK) else "hessian"
    results = []
    for index, (gradient, other) in enumerate(zip(gradients, like, strict=True)):
        if strict and gradient is None:
            raise independent(says.format(index))
        if strict and create_graph and not requires_grad(gradient):
            raise independent(
                f"The {kind} of the user-provided function is independent of input "
                f"{index}. This is not allowed in strict mode when create_graph=True."
            )
        results.append(zeros_like(other) if gradient is None else gradient)
    return tuple(results)


def check_reached(outputs: Tensors, strict: bool) -> None:
    """With ``strict``, refuse an output that no gradient reaches."""
    for index, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise independent(
                f"Output {index} of the user-provided function does not require "
                "gradients. The outputs must be computed in a differentiable manner "
                "from the input when running in strict mode."
            )


def check_recorded(gradients: Gradients, strict: bool, says: str) -> None:
    """With ``strict``, refuse a gradient that is missing, or constant."""
    for index, gradient in enumerate(gradients):
        if strict and gradient is None:
            raise independent(INDEPENDENT.format(index))
        if strict and not requires_grad(gradient):
            raise independent(says.format(index))


def independent(what: str) -> errors.DerivativeError:
    """The error of strict mode for a derivative that is zero by construction."""
    return errors.DerivativeError.at(
        "strict mode",
        what,
        "compute it from the input with recorded operations, or leave strict out: "
        "then the derivative is 0",
    )


def check_options(
    where: str, strategy: str, create_graph: bool, strict: bool, vectorize: bool
) -> None:
    """Refuse options that do not go together.

    Raises: ArgumentAssertionError; UnsupportedOptionError; DerivativeError.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise errors.ArgumentAssertionError.at(
            where,
            'Expected strategy to be either "forward-mode" or "reverse-mode", not '
            f"{strategy!r}",
            'take "forward-mode" if there are more outputs than inputs',
        )
    forward = strategy == "forward-mode"
    if forward and create_graph:
        raise unsupported(
            where,
            '`create_graph=True` and `strategy="forward-mode"` are not supported '
            "together (yet).",
            'set create_graph=False or strategy="reverse-mode"',
        )
    if strict and (forward or vectorize):
        other = '`strategy="forward-mode"`' if forward else "`vectorized=True`"
        raise errors.DerivativeError.at(
            where,
            f"`strict=True` and {other} are not supported together (yet).",
            "set strict=False, or leave the other out",
        )
    if forward and not vectorize:
        raise unsupported(
            where,
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is "
            "only implemented for `vectorize=True`.",
            "add vectorize=True",
        )


def unsupported(where: str, what: str, fix: str) -> errors.UnsupportedOptionError:
    """The error for options that torch has not brought together either."""
    return errors.UnsupportedOptionError.at(where, what, fix, "11")


def stacked(rows: list[Tensor], shape: tuple[int, ...], dtype: Any) -> Tensor:
    """The rows as one tensor of ``shape``; recorded, if they are in a graph."""
    if not rows:
        return Tensor(np.zeros(shape, dtype))
    whole: Tensor = Stack.apply(*rows)
    return whole.reshape(shape)


def basis_of(tensor: Tensor) -> Tensor:
    """For each element of ``tensor``, a tensor with 1 there and 0 elsewhere."""
    number = tensor.numel()
    return Tensor(np.eye(number, dtype=tensor.dtype).reshape(number, *tensor.shape))
