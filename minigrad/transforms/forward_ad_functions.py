"""After ``Function.apply``: the tangents of the outputs, by the learner's ``jvp``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import errors
from minigrad.engine.core.function import can_have_gradient
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.core.validate import contains
from minigrad.transforms.forward_ad_levels import Level
from minigrad.transforms.forward_ad_tangents import (
    forward_base_of,
    forward_root_of,
    set_tangent,
    set_tangent_in_place,
    tangent_of,
    tangents_of,
)

if TYPE_CHECKING:
    from minigrad.engine.core.ctx import BackwardCFunction


def hand_on(
    call: JvpCall,
    values: tuple[Any, ...],
    outputs: list[Any],
    dirty: tuple[Any, ...],
    non_differentiable: tuple[Any, ...],
) -> None:
    """Run jvp, and hang on each output what it returned for it."""
    for position, tangent in enumerate(call.run(len(outputs))):
        value, output = values[position], outputs[position]
        if not isinstance(value, Tensor):
            continue
        if not can_have_gradient(value, non_differentiable):
            call.check_is_none(position, tangent)
        elif contains(dirty, value):
            call.attach_in_place(value, output, tangent)
        else:
            call.attach(output, tangent)


def zeros_if_plain(value: Any, tangent: Tensor | None) -> Tensor | None:
    """The tangent that jvp is given: zeros for a floating-point tensor without one."""
    if tangent is None and isinstance(value, Tensor) and value.dtype.kind in "fc":
        return Tensor(np.zeros(value.shape, value.dtype))
    return tangent


class JvpCall:
    """One run of a learner's jvp: the inputs' tangents at one level, as they were."""

    def __init__(
        self, ctx: BackwardCFunction, inputs: tuple[Any, ...], level: Level
    ) -> None:
        self.ctx = ctx
        self.inputs = inputs
        self.level = level
        self.where = f"{ctx._forward_cls.__name__}.jvp"
        self.tangents = tangents_of(inputs, level)
        self.versions = [None if t is None else t._version for t in self.tangents]

    def run(self, wanted: int) -> tuple[Any, ...]:
        """What jvp returns, one tangent for each output.

        Raises: TangentError for another number of them, or for what is no Tensor.
        """
        given = list(self.tangents)
        if self.ctx._materialize_grads:
            pairs = zip(self.inputs, self.tangents, strict=True)
            given = [zeros_if_plain(value, tangent) for value, tangent in pairs]
        answer = self.ctx._forward_cls.jvp(self.ctx, *given)
        returned: tuple[Any, ...] = answer if isinstance(answer, tuple) else (answer,)

        for position, tangent in enumerate(returned):
            if tangent is not None and not isinstance(tangent, Tensor):
                raise self.refused(
                    f"expected Variable or None (got {type(tangent).__name__}) for "
                    f"grad output {position}.",
                    "return a Tensor for each output, several as a tuple",
                )
        if len(returned) != wanted:
            raise self.refused(
                "Function's jvp returned an invalid number of forward gradients "
                f"(expected {wanted} but got {len(returned)})",
                "return one tangent for each output of forward, and None for an output "
                "that is no differentiable Tensor",
            )
        return returned

    def check_is_none(self, position: int, tangent: Tensor | None) -> None:
        """Refuse a tangent for an integer output, or one that forward marked."""
        if tangent is not None:
            raise self.refused(
                f"Function's jvp returned a gradient at position {position}, but  the "
                "corresponding forward output is not a differentiable Tensor. You "
                "should return None at that position instead.",
                f"return None in place {position + 1}",
            )

    def attach(self, output: Tensor, tangent: Tensor | None) -> None:
        """Give an output that was not changed in place the tangent jvp returned."""
        base = forward_base_of(output)
        for value in self.inputs:
            if base is None or not isinstance(value, Tensor):
                continue
            if forward_root_of(value) is base:
                of_input = tangent_of(value, self.level)
                if of_input is None:
                    set_tangent_in_place(output, tangent, self.level, self.where)
                    return
                self.check_is_view(tangent, of_input)
                break
        maker = self.ctx._forward_cls
        set_tangent(output, tangent, self.level, self.where, maker)

    def check_is_view(self, tangent: Tensor | None, of_input: Tensor) -> None:
        """Refuse a tangent that is no view of the input's, as the output is."""
        fix = "do with the tangent what forward does: for x.view(2, 3), t.view(2, 3)"
        base = None if tangent is None else forward_base_of(tangent)
        if base is None:
            raise self.refused(
                "A custom Function's forward is returning a view (or an input as-is) "
                "but the jvp is not returning a view.",
                fix,
            )
        if base is not forward_root_of(of_input):
            stands_alone = forward_base_of(of_input) is None
            whose = "the" if stands_alone else "the same base as the"
            raise self.refused(
                "A custom Function is returning a view but the jvp is not returning a "
                f"view of {whose} given grad input.",
                fix,
            )

    def attach_in_place(
        self, value: Tensor, output: Tensor, tangent: Tensor | None
    ) -> None:
        """Check that the tangent of a dirty input was changed as the input was.

        A plain input becomes dual.
        """
        place = self.place_of(value)
        given = self.tangents[place]
        if given is None:
            set_tangent_in_place(output, tangent, self.level, self.where)
            return
        fix = (
            "change the tangent as forward changes its input, and return it: t.mul_(2)"
        )
        if tangent is None or tangent._version == self.versions[place]:
            raise self.refused(
                "An inplace custom Function is not modifying the forward mode "
                "gradients inplace. If the forward is modifying an input inplace, then "
                "the jvp function must modify the corresponding gradient inplace.",
                fix,
            )
        if tangent is not given:
            raise self.refused(
                "An inplace custom Function is not returning the forward mode "
                "gradients as-is. If the forward is modifying an input inplace, then "
                "the jvp function must modify the gradient inplace and return it "
                "as-is.",
                fix,
            )

    def place_of(self, value: Tensor) -> int:
        """Which argument a dirty output is.

        Raises: TangentError if it is none.
        """
        for place, candidate in enumerate(self.inputs):
            if candidate is value:
                return place
        raise self.refused(
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is "
            "not an input, there is no need to pass it to mark_dirty().",
            "mark the input that forward changed, and return that input",
        )

    def refused(self, what: str, fix: str) -> errors.TangentError:
        """The error for a tangent that does not fit its output."""
        return errors.TangentError.at(self.where, what, fix, "11")
