"""After ``apply`` of a built-in: the tangents of the outputs, by its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.engine.core.saved import keep_tangent
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.core.validate import contains
from minigrad.engine.grad_mode import is_recording
from minigrad.engine.structural import Clone, Expand, ToCopy, WithZeros
from minigrad.transforms.forward_ad_levels import Level
from minigrad.transforms.forward_ad_tangents import (
    Tangents,
    notify_tangent,
    set_tangent,
)

if TYPE_CHECKING:
    from minigrad.engine.builtin import Builtin


class BuiltinJvpCtx:
    """The ctx of one jvp of a built-in operation; no node, and gone afterwards."""

    saved_values: tuple[Any, ...] = ()
    numbers: Any = None

    def __init__(self, operation: type[Builtin], tangents: Tangents) -> None:
        self.operation = operation
        self.needs_input_grad = tuple([tangent is not None for tangent in tangents])

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep ``tensors`` as they are, for ``saved_values``."""
        self.saved_values = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The same under the name that learners know."""
        return self.saved_values


def carry_at(
    level: Level,
    operation: type[Builtin],
    inputs: tuple[Any, ...],
    output: Any,
    tangents: Tangents,
) -> None:
    """Give the outputs their tangents at one level."""
    outputs = output if type(output) is tuple else (output,)
    with np.errstate(all="ignore"):
        found = builtin_tangents(operation, inputs, output, tangents)
        for one, tangent in zip(outputs, found, strict=True):
            if tangent is None or one.dtype.kind not in "fc":
                continue
            if operation.returns_view:
                keep_tangent(one, tangent, level)
                notify_tangent(one, tangent, operation, inputs)
                continue
            if operation.tangent_names_operands:
                tangent = named(tangent, inputs[operation.tangent_names_from :])
            tangent = stretched(tangent, one)
            own = of_its_own(tangent, tangents)
            set_tangent(one, own, level, maker=operation, inputs=inputs)


def builtin_tangents(
    operation: type[Builtin], inputs: tuple[Any, ...], output: Any, tangents: Tangents
) -> tuple[Tensor | None, ...]:
    """What the operation's jvp gives, one tangent for each output."""
    if operation.linear:
        if tangents[0] is None:
            return (None,) * (len(output) if type(output) is tuple else 1)
        found = operation.apply(tangents[0], *inputs[1:])
    else:
        ctx = BuiltinJvpCtx(operation, tangents)
        operation.setup_context(ctx, inputs, output)
        found = operation.jvp(ctx, *tangents)
    return found if type(found) is tuple else (found,)


def stretched(tangent: Tensor, output: Tensor) -> Tensor:
    """The tangent that one operand brought: in the output's dtype and shape."""
    cast: Tensor = ToCopy.apply(tangent, output.dtype)
    if cast.shape == output.shape:
        return cast
    expanded: Tensor = Expand.apply(cast, output.shape)
    return expanded


def of_its_own(tangent: Tensor, given: Tangents) -> Tensor:
    """A tangent in memory of its own, which no change of another one reaches."""
    if tangent._base is None and not contains(tuple(given), tangent):
        return tangent
    copied: Tensor = Clone.apply(tangent)
    return copied


def named(tangent: Tensor, inputs: tuple[Any, ...]) -> Tensor:
    """``tangent``, in the graph of each input that requires grad."""
    recorded = [x for x in inputs if isinstance(x, Tensor) and x._requires_grad]
    if not recorded or not is_recording():
        return tangent
    result: Tensor = WithZeros.apply(tangent, *recorded)
    return result
