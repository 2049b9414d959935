"""A level of forward mode as an interpreter: it gives the outputs their tangents."""

from __future__ import annotations

from typing import Any

from minigrad.engine import interpreters
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.function import Function
from minigrad.engine.core.saved import FREED, Record, keep_tangent
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.inplace import old_value, share_memory
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.structural import Clone
from minigrad.engine.views import CopySlices
from minigrad.transforms.forward_ad_builtins import carry_at
from minigrad.transforms.forward_ad_functions import JvpCall, hand_on
from minigrad.transforms.forward_ad_levels import Level, active_levels
from minigrad.transforms.forward_ad_tangents import (
    Tangents,
    overwrite_with,
    set_tangent_in_place,
    tangent_of,
    tangents_of,
)
from minigrad.transforms.function_proxy import FunctionProxy
from minigrad.transforms.transform import apply_of


class ForwardLevel(Level):
    """Makes each call one level below, and then computes the tangents of its outputs.

    A tangent hangs on its tensor, so the call itself gets the tensors as they are, and
    what it saves keeps its tangents: for backward, and for a level above.
    """

    def apply(self, function: type[Function], inputs: tuple[Any, ...]) -> Any:
        """A Function on ``inputs``, followed by its jvp if one of them is dual."""
        tangents = tangents_of(inputs, self)
        is_dual = any([tangent is not None for tangent in tangents])
        if issubclass(function, Builtin):
            output = self.below(apply_of(function), *inputs)
            if is_dual:
                self._follow_builtin(function, inputs, output, tangents)
            return output
        if not is_dual:
            return self.below(apply_of(function), *inputs)
        call = FunctionProxy(function)
        output = self.below(call.apply, *inputs)
        outputs = list(output) if isinstance(output, tuple) else [output]
        self.below(self._follow_function, call, inputs, outputs)
        return output

    def _follow_builtin(
        self,
        operation: type[Builtin],
        inputs: tuple[Any, ...],
        output: Any,
        tangents: Tangents,
    ) -> None:
        """Give the outputs of a built-in operation their tangents."""
        outputs = output if type(output) is tuple else (output,)
        if any([one.dtype.kind in "fc" for one in outputs]):
            self.below(carry_at, self, operation, inputs, output, tangents)
            self._give_tangents_to_saved(outputs[0]._grad_node, outputs)

    def _follow_function(
        self, call: FunctionProxy, inputs: tuple[Any, ...], outputs: list[Any]
    ) -> None:
        """Give the outputs of a learner's Function what its jvp returns.

        jvp finds in ``ctx.saved_tensors`` what was saved for it, and nothing else.
        """
        ctx = call.ctx
        values = call.result if isinstance(call.result, tuple) else (call.result,)
        saved = ctx._saved
        ctx._saved, ctx.saved_for_forward = (), call.saved_for_forward
        try:
            run = JvpCall(ctx, inputs, self)
            hand_on(run, values, outputs, call.dirty, call.non_differentiable)
        finally:
            ctx._saved, ctx.saved_for_forward = saved, None
        self._give_tangents_to_saved(ctx, outputs)

    def _give_tangents_to_saved(self, node: Any, outputs: Any) -> None:
        """Let what a node has kept of its own outputs have their tangents."""
        saved = () if node is None or node._saved is FREED else node._saved
        for kept in saved:
            if isinstance(kept, Record) and kept.output_nr is not None:
                tangent = tangent_of(outputs[kept.output_nr], self)
                if tangent is not None:
                    keep_tangent(kept.tensor, tangent, self)
            elif isinstance(kept, HookedRecord) and kept.is_own_output:
                kept.tangents = outputs[kept.output_nr]._tangents

    def apply_in_place(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """An operation in place: the tangent is overwritten as the values are."""
        operation, tensor, *others = args
        if all([tangent is None for tangent in tangents_of((tensor, *others), self)]):
            return self.below(call, *args)
        before = [
            self._old_value(value) if is_part_of(value, tensor) else value
            for value in (tensor, *others)
        ]
        old = tangent_of(tensor, self)
        kept = tangent_of(before[0], self)
        new = tangent_of(self.apply(operation, tuple(before)), self)
        self.below(call, *args)
        if old is not None and kept is not None:
            self._keep_old(tensor, old, kept)
        if new is not None:
            if old is None:
                self.below(set_tangent_in_place, tensor, new, self)
                self._give_tangents_to_saved(node_of_change(tensor), (tensor,))
            else:
                self.below(overwrite_with, old, new)
        return tensor

    def _old_value(self, tensor: Tensor) -> Tensor:
        """A copy of a tensor that is about to change, with its tangents until now."""
        before = old_value(tensor)
        for level in active_levels():
            tangent = tangent_of(tensor, level)
            if tangent is not None:
                keep_tangent(before, level.below(Clone.apply, tangent), level)
        return before

    def _keep_old(self, tensor: Tensor, old: Tensor, kept: Tensor) -> None:
        """Let the node of a change keep the tangent that its input had before."""
        node = node_of_change(tensor)
        for saved in () if node is None or node._saved is FREED else node._saved:
            if isinstance(saved, HookedRecord):
                known = saved.tangents or {}
                if not saved.is_own_output and known.get(self) is old:
                    saved.tangents = {**known, self: kept}
                continue
            value = saved.tensor if isinstance(saved, Record) else saved
            tangents = getattr(value, "_tangents", None) or {}
            if tangents.get(self) is old and not share_memory(value, tensor):
                keep_tangent(value, kept, self)


def is_part_of(value: Any, tensor: Tensor) -> bool:
    """Whether a change of ``tensor`` is one of ``value``."""
    return isinstance(value, Tensor) and share_memory(value, tensor)


def node_of_change(tensor: Tensor) -> Any:
    """The node of an operation in place that was the last to change ``tensor``."""
    owner = tensor if tensor._base is None else tensor._base
    node = owner._grad_node
    return node.inner if isinstance(node, CopySlices) else node


def enter_level() -> ForwardLevel:
    """Open a level inside those that are open."""
    return interpreters.put_everywhere(ForwardLevel)
