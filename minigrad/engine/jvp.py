"""Inside ``apply``: the tangents of what an operation made, by the rule ``jvp``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from minigrad import errors
from minigrad.engine.grad_mode import is_recording, with_forward_limit
from minigrad.engine.levels import Level, active_levels
from minigrad.engine.outputs import can_have_gradient, contains
from minigrad.engine.tangents import (
    forward_base_of,
    forward_root_of,
    keep_tangent,
    set_tangent,
    set_tangent_in_place,
    tangent_of,
)
from minigrad.engine.tensor import Tensor

if TYPE_CHECKING:
    from minigrad.engine.builtin import Builtin
    from minigrad.engine.function import BackwardCFunction

Tangents = list[Tensor | None]


def tangents_of(inputs: Iterable[Any], level: Level) -> Tangents:
    """For each argument its tangent; None for a plain tensor, and for no tensor."""
    return [tangent_of(x, level) if isinstance(x, Tensor) else None for x in inputs]


class BuiltinJvpCtx:
    """The ctx of one jvp of a built-in operation; no node, and gone afterwards."""

    saved_values: tuple[Any, ...] = ()

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


def carry_through_builtin(
    operation: type[Builtin], inputs: tuple[Any, ...], output: Any
) -> None:
    """Give the outputs of a built-in operation their tangents at every active level.

    Outer levels come first: the tangents at an inner level are computed from values
    that are dual at the outer ones already.
    """
    outputs = output if type(output) is tuple else (output,)
    if not any([one.dtype.kind in "fc" for one in outputs]):
        return
    for level in active_levels():
        tangents = tangents_of(inputs, level)
        if all([tangent is None for tangent in tangents]):
            continue
        with with_forward_limit(level.number), np.errstate(all="ignore"):
            found = builtin_tangents(operation, inputs, output, tangents)
            for one, tangent in zip(outputs, found, strict=True):
                if tangent is None or one.dtype.kind not in "fc":
                    continue
                if operation.returns_view:
                    keep_tangent(one, tangent, level)
                    continue
                if operation.tangent_names_operands:
                    tangent = named(tangent, inputs)
                tangent = stretched(tangent, one.shape)
                set_tangent(one, of_its_own(tangent, tangents), level)


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


def stretched(tangent: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The tangent of an operand that was broadcast, in the shape of the output."""
    # Imported here because operations are built on what is in this module.
    from minigrad.engine.structural import Expand

    return tangent if tangent.shape == shape else Expand.apply(tangent, shape)


def of_its_own(tangent: Tensor, given: Tangents) -> Tensor:
    """A tangent in memory of its own, which no change of another one reaches."""
    # Imported here because operations are built on what is in this module.
    from minigrad.engine.structural import Clone

    if tangent._base is None and not contains(tuple(given), tangent):
        return tangent
    copied: Tensor = Clone.apply(tangent)
    return copied


def named(tangent: Tensor, inputs: tuple[Any, ...]) -> Tensor:
    """``tangent``, in the graph of each input that requires grad."""
    # Imported here because operations are built on what is in this module.
    from minigrad.engine.structural import WithZeros

    recorded = [x for x in inputs if isinstance(x, Tensor) and x._requires_grad]
    if not recorded or not is_recording():
        return tangent
    result: Tensor = WithZeros.apply(tangent, *recorded)
    return result


def carry_through_function(
    ctx: BackwardCFunction,
    inputs: tuple[Any, ...],
    result: Any,
    outputs: list[Any],
    dirty: tuple[Any, ...],
    non_differentiable: tuple[Any, ...],
) -> None:
    """Give the outputs of a learner's Function their tangents at every active level.

    Raises: JvpMissingError; TangentError for what jvp must not return.
    """
    values = result if isinstance(result, tuple) else (result,)
    where = f"{ctx._forward_cls.__name__}.jvp"
    for level in active_levels():
        tangents = tangents_of(inputs, level)
        if all([tangent is None for tangent in tangents]):
            continue
        versions = [None if one is None else one._version for one in tangents]
        given = list(tangents)
        if ctx._materialize_grads:
            given = [
                zeros_if_plain(x, t) for x, t in zip(inputs, tangents, strict=True)
            ]
        with with_forward_limit(level.number):
            returned = call_jvp(ctx, given, len(outputs))
            for position, tangent in enumerate(returned):
                value, output = values[position], outputs[position]
                if not isinstance(value, Tensor):
                    continue
                if not can_have_gradient(value, non_differentiable):
                    check_is_none(ctx, position, tangent)
                elif contains(dirty, value):
                    place = position_of(ctx, inputs, value)
                    old = tangents[place]
                    if old is None:
                        set_tangent_in_place(output, tangent, level, where)
                    else:
                        check_in_place(ctx, tangent, old, versions[place])
                else:
                    attach(ctx, inputs, output, tangent, level)


def zeros_if_plain(value: Any, tangent: Tensor | None) -> Tensor | None:
    """The tangent that jvp is given: zeros for a floating-point tensor without one."""
    if tangent is None and isinstance(value, Tensor) and value.dtype.kind in "fc":
        return Tensor(np.zeros(value.shape, value.dtype))
    return tangent


def call_jvp(ctx: BackwardCFunction, given: Tangents, wanted: int) -> tuple[Any, ...]:
    """What the learner's jvp returns, one tangent for each output.

    Raises: TangentError for another number of them, or for what is no Tensor.
    """
    answer = ctx._forward_cls.jvp(ctx, *given)
    returned: tuple[Any, ...] = answer if isinstance(answer, tuple) else (answer,)
    for position, tangent in enumerate(returned):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise refused(
                ctx,
                f"expected Variable or None (got {type(tangent).__name__}) for grad "
                f"output {position}.",
                "return a Tensor for each output, several as a tuple",
            )
    if len(returned) != wanted:
        raise refused(
            ctx,
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{wanted} but got {len(returned)})",
            "return one tangent for each output of forward, and None for an output "
            "that is no differentiable Tensor",
        )
    return returned


def attach(
    ctx: BackwardCFunction,
    inputs: tuple[Any, ...],
    output: Tensor,
    tangent: Tensor | None,
    level: Level,
) -> None:
    """Give an output that was not changed in place the tangent that jvp returned."""
    where = f"{ctx._forward_cls.__name__}.jvp"
    base = forward_base_of(output)
    for value in inputs:
        if base is None or not isinstance(value, Tensor):
            continue
        if forward_root_of(value) is base:
            of_input = tangent_of(value, level)
            if of_input is None:
                set_tangent_in_place(output, tangent, level, where)
                return
            check_is_view(ctx, tangent, of_input)
            break
    set_tangent(output, tangent, level, where)


def position_of(ctx: BackwardCFunction, inputs: tuple[Any, ...], value: Tensor) -> int:
    """Which argument a dirty output is.

    Raises: TangentError if it is none.
    """
    for position, candidate in enumerate(inputs):
        if candidate is value:
            return position
    raise refused(
        ctx,
        "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an "
        "input, there is no need to pass it to mark_dirty().",
        "mark the input that forward changed, and return that input",
        "forward",
    )


def check_is_none(
    ctx: BackwardCFunction, position: int, tangent: Tensor | None
) -> None:
    """Refuse a tangent for an integer output, or one that forward marked."""
    if tangent is not None:
        raise refused(
            ctx,
            f"Function's jvp returned a gradient at position {position}, but  the "
            "corresponding forward output is not a differentiable Tensor. You should "
            "return None at that position instead.",
            f"return None in place {position + 1}",
        )


def check_in_place(
    ctx: BackwardCFunction, tangent: Tensor | None, given: Tensor, version: int | None
) -> None:
    """Refuse a tangent that was not changed in place as its tensor was."""
    fix = "change the tangent as forward changes its input, and return it: t.mul_(2)"
    if tangent is None or tangent._version == version:
        raise refused(
            ctx,
            "An inplace custom Function is not modifying the forward mode gradients "
            "inplace. If the forward is modifying an input inplace, then the jvp "
            "function must modify the corresponding gradient inplace.",
            fix,
        )
    if tangent is not given:
        raise refused(
            ctx,
            "An inplace custom Function is not returning the forward mode gradients "
            "as-is. If the forward is modifying an input inplace, then the jvp "
            "function must modify the gradient inplace and return it as-is.",
            fix,
        )


def check_is_view(
    ctx: BackwardCFunction, tangent: Tensor | None, of_input: Tensor
) -> None:
    """Refuse a tangent that is not a view, as the output is, of the input's tangent."""
    fix = "do with the tangent what forward does: for x.view(2, 3), t.view(2, 3)"
    base = None if tangent is None else forward_base_of(tangent)
    if base is None:
        raise refused(
            ctx,
            "A custom Function's forward is returning a view (or an input as-is) but "
            "the jvp is not returning a view.",
            fix,
        )
    if base is not forward_root_of(of_input):
        raise refused(
            ctx,
            "A custom Function is returning a view but the jvp is not returning a view "
            "of the given grad input, or of the same base as it.",
            fix,
        )


LESSON: Final = "11"


def refused(
    ctx: BackwardCFunction, what: str, fix: str, method: str = "jvp"
) -> errors.TangentError:
    """The error for a tangent that does not fit its output."""
    where = f"{ctx._forward_cls.__name__}.{method}"
    return errors.TangentError(errors.message(where, what, fix, LESSON))
