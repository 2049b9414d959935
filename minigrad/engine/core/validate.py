"""What the engine refuses, and in which words.

A function either refuses what it is given, or returns the error for its caller to
raise, so that the ``raise`` stands where the rule is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.engine.core.node import _FunctionBase


def contains(tensors: tuple[Any, ...], tensor: Any) -> bool:
    """Whether this very object is among ``tensors``; ``in`` would compare values."""
    for candidate in tensors:  # noqa: SIM110  apply asks often; any() takes three times as long
        if candidate is tensor:
            return True
    return False


def sums_to(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether ``wanted`` broadcasts to ``shape``, so that copies can be summed."""
    new = len(shape) - len(wanted)
    if new < 0:
        return False
    for length, other in zip(wanted, shape[new:], strict=True):
        if length not in (1, other):
            return False
    return True


# hooks


def hook_name(hook: Any) -> str:
    """The hook's name in messages."""
    name = getattr(hook, "__name__", None)
    return name if isinstance(name, str) else "<unknown>"


def check_tuple(hook: Any, old: tuple[Any, ...], result: Any) -> None:
    """Refuse what cannot take the place of the gradients a node hook was given.

    Raises: HookTypeError, HookError.
    """
    if not isinstance(result, tuple):
        raise errors.HookTypeError(
            errors.message(
                hook_name(hook),
                f"expected tuple, but hook returned '{type(result).__name__}'",
                "return a tuple with one gradient for each given, or None",
            )
        )
    if len(result) != len(old):
        raise errors.HookError(
            errors.message(
                hook_name(hook),
                f"hook '{hook_name(hook)}' has returned an incorrect number of values "
                f"(got {len(result)}, but expected {len(old)})",
                "return one gradient for each given, or None to keep them all",
            )
        )
    for value, new in zip(old, result, strict=True):
        if new is not None:
            check_value(hook, value, new)


def check_value(hook: Any, old: Tensor | None, new: Any) -> None:
    """Refuse a value that cannot take the place of the gradient ``old``.

    Raises: HookTypeError, HookError.
    """
    if old is None:
        raise hook_refused(
            hook,
            "can't replace a None gradient with a non-None value",
            "return None where no gradient arrived",
        )
    if not isinstance(new, Tensor):
        raise errors.HookTypeError(
            errors.message(
                hook_name(hook),
                f"expected Variable, but hook returned '{type(new).__name__}'",
                "return a Tensor, or None to keep the gradient",
            )
        )
    if new.dtype != old.dtype:
        raise hook_refused(
            hook,
            f"hook '{hook_name(hook)}' has changed the type of value (was "
            f"{old.type()} got {new.type()})",
            f"return a Tensor of dtype {old.dtype}",
        )
    if new.shape != old.shape:
        raise hook_refused(
            hook,
            f"hook '{hook_name(hook)}' has changed the size of value, from "
            f"{list(old.shape)} to {list(new.shape)}",
            f"return a Tensor of shape {old.shape}",
        )


def hook_refused(hook: Any, what: str, fix: str) -> errors.HookError:
    """The error for a result of a hook that cannot be used."""
    return errors.HookError(errors.message(hook_name(hook), what, fix))


# leaves


def no_leaf_any_more(node: _FunctionBase) -> errors.GraphError:
    """The error for a leaf that was changed in place after a graph had used it."""
    return errors.GraphError(
        errors.message(
            "backward",
            "leaf variable has been moved into the graph interior: it was changed in "
            f"place by {node.name()} after it had been used as a leaf",
            "change a copy, x.clone()",
            "08",
        )
    )


# what a built-in operation is given


def no_forward_rule(operation: Any) -> errors.JvpMissingError:
    """The error for an operation that forward mode cannot pass."""
    name = operation.__name__.lower()
    return errors.JvpMissingError(
        errors.message(
            name,
            f"Trying to use forward AD with {name} that does not support it because it "
            "has not been implemented yet.",
            "use backward, or write the operation as a Function with a jvp",
            "11",
        )
    )


def check_operand(function: Any, value: Any, position: int) -> Any:
    """An argument that is not a Tensor, as it is.

    Raises: ArgumentTypeError for an array, which would leave the graph unnoticed, and
    in the place of the only operand.
    """
    if position == 0 and function.operands == 1:
        raise must_be_tensor(function.__name__.lower(), "input", 1, value)
    if isinstance(value, np.ndarray):
        raise errors.ArgumentTypeError(
            errors.message(
                function.__name__.lower(),
                "the argument must be Tensor, not numpy.ndarray "
                f"(of shape {value.shape})",
                "wrap it: minigrad.tensor(array)",
            )
        )
    return value


def must_be_tensor(
    where: str, name: str, position: int, value: Any
) -> errors.ArgumentTypeError:
    """The error for a number, a list or None in the place of a Tensor."""
    kind = "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    return errors.ArgumentTypeError(
        errors.message(
            f"{where}()",
            f"argument '{name}' (position {position}) must be Tensor, not {kind}",
            "wrap it: minigrad.tensor(value)",
        )
    )


# what forward leaves behind


def check_kept(
    ctx: Any,
    kept: tuple[Any, ...],
    dirty: tuple[Any, ...],
    inputs: tuple[Any, ...],
    result: Any,
) -> None:
    """Refuse to save an input that is also an output: is it before or after the node?

    Only in setup_context style; a forward that takes ctx means the input.
    """
    values = result if isinstance(result, tuple) else (result,)
    for value in values:
        if not isinstance(value, Tensor) or contains(dirty, value):
            continue
        is_detached = value._requires_grad and not ctx._edges
        if contains(inputs, value) and contains(kept, value) and not is_detached:
            raise errors.CtxUseError(
                errors.message(
                    f"{ctx._forward_cls.__name__}.setup_context",
                    "An input that has been returned as-is as output is being saved "
                    "for backward. This is not supported if you override setup_context",
                    "return a copy of it, x.clone(), or write a forward that takes ctx",
                    "09",
                )
            )


def check_marked(ctx_class: type, method: str, marked: tuple[Any, ...]) -> None:
    """Refuse anything but Tensors in ``ctx.mark_dirty`` and its sibling."""
    says = {
        "mark_dirty": "mark_dirty can only accept variables, but argument {} is of "
        "type {}",
        "mark_non_differentiable": "mark_non_differentiable only accepts variable "
        "arguments, but got argument {} of type {}",
    }[method]
    for position, value in enumerate(marked):
        if not isinstance(value, Tensor):
            raise errors.CtxUseError(
                errors.message(
                    f"{ctx_class.__name__.removesuffix('Backward')}.forward",
                    says.format(position, type(value).__name__),
                    f"give ctx.{method} Tensors only, one by one: ctx.{method}(a, b)",
                    "08" if method == "mark_dirty" else "07",
                )
            )


def not_returned(ctx: Any) -> errors.InplaceError:
    """The error for a dirty tensor that forward did not return."""
    return errors.InplaceError(
        errors.message(
            f"{type(ctx).__name__.removesuffix('Backward')}.forward",
            "Some elements marked as dirty during the forward method were not returned "
            "as output. The inputs that are modified inplace must all be outputs of "
            "the Function.",
            "return the very tensor that was given to ctx.mark_dirty",
            "08",
        )
    )


# what backward returns


def rule_name(node: Any) -> str:
    """The learner's method, for the first line of a message."""
    return f"{node._forward_cls.__name__}.backward"


def not_wanted(node: Any, position: int) -> errors.GradientKindError:
    """The error for a gradient of, say, a Python number."""
    return errors.GradientKindError(
        errors.message(
            rule_name(node),
            f"function {node.name()} returned a gradient different than None at "
            f"position {position + 1}, but the corresponding forward input was not a "
            "Variable (a Tensor)",
            f"return None in place {position + 1}",
            "04",
        )
    )


def not_a_tensor(node: Any, position: int, value: Any) -> errors.GradientKindError:
    """The error for a float, an array or a list where a Tensor belongs."""
    kind = type(value).__name__
    fix = {
        "list": "return a tuple of gradients, not a list: `return grad_a, grad_b`",
        "ndarray": "wrap the array: minigrad.tensor(array)",
    }.get(kind, "return a Tensor, or None for no gradient")
    return errors.GradientKindError(
        errors.message(
            rule_name(node),
            f"expected Variable or None (got {kind}) as the gradient of argument "
            f"{position + 1}",
            fix,
            "04",
        )
    )


def wrong_shape(
    node: _FunctionBase,
    slot: int,
    place: int,
    got: tuple[int, ...],
    wanted: tuple[int, ...],
) -> errors.GradientShapeError:
    """The error for a gradient that is not its input's shape.

    It is that of argument ``slot``, and of tensor ``place`` among the arguments.
    """
    return errors.GradientShapeError(
        errors.message(
            f"{node.operation_name()}.backward",
            f"Function {node.name()} returned an invalid gradient at index "
            f"{place} - got {list(got)} but expected shape compatible "
            f"with {list(wanted)}",
            f"return a gradient of shape {wanted} for argument {slot + 1}; only a "
            "gradient that is larger by broadcasting is summed down",
            "06",
        )
    )
