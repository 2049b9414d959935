"""What built-in operations refuse to be given, and in which words."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from minigrad import errors

if TYPE_CHECKING:
    from minigrad.engine.builtin import Builtin

Given = TypeVar("Given")


def no_forward_rule(operation: type) -> errors.JvpMissingError:
    """The error for an operation that forward mode cannot pass."""
    name = operation.__name__.lower()
    return errors.JvpMissingError.at(
        name,
        f"Trying to use forward AD with {name} that does not support it because it "
        "has not been implemented yet.",
        "use backward, or write the operation as a Function with a jvp",
        "11",
    )


def check_operand(function: type[Builtin], value: Given, position: int) -> Given:
    """An argument that is not a Tensor, as it is.

    Raises: ArgumentTypeError for an array, which would leave the graph unnoticed, and
    in the place of the only operand.
    """
    if position == 0 and function.operands == 1:
        raise must_be_tensor(function.__name__.lower(), "input", 1, value)
    if isinstance(value, np.ndarray):
        raise errors.ArgumentTypeError.at(
            function.__name__.lower(),
            f"the argument must be Tensor, not numpy.ndarray (of shape {value.shape})",
            "wrap it: minigrad.tensor(array)",
        )
    return value


def must_be_tensor(
    where: str, name: str, position: int, value: object
) -> errors.ArgumentTypeError:
    """The error for a number, a list or None in the place of a Tensor."""
    kind = "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    return errors.ArgumentTypeError.at(
        f"{where}()",
        f"argument '{name}' (position {position}) must be Tensor, not {kind}",
        "wrap it: minigrad.tensor(value)",
    )
