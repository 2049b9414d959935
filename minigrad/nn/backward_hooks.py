"""Hooks on the gradients of a module: what ``register_full_backward_hook`` needs.

Two nodes that change nothing stand around the module's call: one that all its Tensors
pass on their way in, one on their way out. Backward comes to the outer one first, which
keeps the gradients of the outputs, and then to the inner one, which knows those of the
inputs and calls the hooks with both.
"""

from __future__ import annotations

import warnings
from typing import Any

from minigrad import errors
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import is_grad_enabled
from minigrad.engine.hooks import Hooks

Gradients = tuple[Tensor | None, ...]


class BackwardHookFunction(Function):
    """Its inputs as they are, all with one node."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
        constants = [tensor for tensor in inputs if not tensor.requires_grad]
        ctx.mark_non_differentiable(*constants)
        return inputs

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients


class HookedCall:
    """One call of a module that has hooks: what its two nodes tell each other."""

    def __init__(self, module: Any, hooks: Hooks) -> None:
        self.module = module
        self.hooks = list(hooks.values())
        self.inside: list[int] | None = None
        self.grad_outputs: Gradients | None = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Send the arguments through the first node."""
        args, node, self.inside = through_one_node(args)
        self.inputs = len(args)
        if node is not None:
            node.register_hook(self.after_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """Send what the module returned through the last node."""
        outputs = result if isinstance(result, tuple) else (result,)
        outputs, node, self.outside = through_one_node(outputs)
        self.outputs = len(outputs)
        if node is not None:
            node.register_hook(self.after_outputs)
        return outputs if isinstance(result, tuple) else outputs[0]

    def after_outputs(self, returned: Gradients, given: Gradients) -> None:
        """Keep the gradients of the outputs; there may be no inputs to wait for."""
        assert self.outside is not None
        self.grad_outputs = spread(self.outside, given, self.outputs)
        if self.inside is None:
            warnings.warn(
                errors.message(
                    type(self.module).__name__,
                    "Full backward hook is firing when gradients are computed with "
                    "respect to module outputs since no inputs require gradients.",
                    "let an input require grad, or leave the hook out",
                ),
                UserWarning,
                stacklevel=2,
            )
            nothing = (None,) * self.inputs
            for hook in self.hooks:
                self.check_changes_nothing(
                    hook(self.module, nothing, self.grad_outputs)
                )
            self.grad_outputs = None

    def after_inputs(self, returned: Gradients, given: Gradients) -> Any:
        """Call the hooks; what one returns is what the next one sees."""
        if self.grad_outputs is None:  # this gradient did not come by the outputs
            return None
        assert self.inside is not None
        grad_inputs = spread(self.inside, returned, self.inputs)
        for hook in self.hooks:
            changed = hook(self.module, grad_inputs, self.grad_outputs)
            if changed is not None:
                self.check_number(changed)
                grad_inputs = changed
        self.grad_outputs = None
        return tuple([grad_inputs[place] for place in self.inside])

    def check_number(self, changed: Any) -> None:
        """Refuse another number of gradients than the module has inputs.

        Raises: HookError.
        """
        if len(changed) != self.inputs:
            raise self.refused(
                "Backward hook returned an invalid number of grad_input, got "
                f"{len(changed)}, but expected {self.inputs}",
                "return a tuple with one gradient for each input, or None",
            )

    def check_changes_nothing(self, changed: Any) -> None:
        """Refuse gradients where no input wants one.

        Raises: HookError.
        """
        if changed is None:
            return
        if not isinstance(changed, tuple) or any([g is not None for g in changed]):
            raise self.refused(
                "Backward hook for Modules where no input requires gradient should "
                "always return None or None for all gradients.",
                "return nothing",
            )

    def refused(self, what: str, fix: str) -> errors.HookError:
        """The error for what a hook has returned."""
        return errors.HookError.at(type(self.module).__name__, what, fix)


def through_one_node(
    values: tuple[Any, ...],
) -> tuple[tuple[Any, ...], Any, list[int] | None]:
    """The values with their Tensors sent through one node, the node, and their places.

    Without a node, the values themselves, if nothing is recorded of them.
    """
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[place] for place in places]
    if not is_grad_enabled() or not any([tensor.requires_grad for tensor in tensors]):
        return values, None, None
    passed = BackwardHookFunction.apply(*tensors)
    node = next(tensor.grad_fn for tensor in passed if tensor.requires_grad)
    sent = dict(zip(places, passed, strict=True))
    return tuple([sent.get(i, value) for i, value in enumerate(values)]), node, places


def spread(places: list[int], gradients: Gradients, number: int) -> Gradients:
    """The gradients of Tensors in their places among all values; None elsewhere."""
    at_place = dict(zip(places, gradients, strict=True))
    return tuple([at_place.get(place) for place in range(number)])
