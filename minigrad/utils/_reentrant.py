"""The older checkpoint: a custom Function whose backward runs a backward inside."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import enable_grad, no_grad, running_task
from minigrad.engine.gradients import backward as run_backward
from minigrad.utils._randomness import same_random_numbers, state_of_randomness


class CheckpointFunction(Function):
    """Runs a function without recording, and again with recording in backward."""

    @staticmethod
    def forward(
        ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any
    ) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng_state = state_of_randomness(preserve_rng_state)
        ctx.inputs = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.tensor_places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.save_for_backward(*[args[place] for place in ctx.tensor_places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        check_accumulates()
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.tensor_places, ctx.saved_tensors, strict=True):
            inputs[place] = tensor
        detached = detach_variable(tuple(inputs))
        with (
            observe.recomputation(),
            same_random_numbers(ctx.rng_state),
            enable_grad(),
        ):
            outputs = ctx.run_function(*detached)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)

        roots, gradients = [], []
        for output, gradient in zip(outputs, grad_outputs, strict=False):
            if isinstance(output, Tensor) and output.requires_grad:
                roots.append(output)
                gradients.append(gradient)
        if not roots:
            raise errors.GraphError.at(
                "torch.utils.checkpoint",
                "none of output has requires_grad=True, this checkpoint() is not "
                "necessary",
                "call the function itself",
                "12",
            )
        run_backward(roots, gradients)
        grads = [x.grad if isinstance(x, Tensor) else None for x in detached]
        return None, None, *grads


def check_accumulates() -> None:
    """Refuse a backward that is not to fill every ``.grad``.

    Raises: CheckpointError.
    """
    task = running_task()
    if task is not None and task.needed is not None:
        raise errors.CheckpointError.at(
            "torch.utils.checkpoint",
            "When use_reentrant=True, torch.utils.checkpoint is incompatible with "
            ".grad() or passing an `inputs` parameter to .backward(). The backward "
            "inside of it cannot know which gradients are wanted outside",
            "pass use_reentrant=False, or call .backward() without inputs",
            "12",
        )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no input requires grad: then the call is not recorded."""
    if not any([x.requires_grad for x in inputs if isinstance(x, Tensor)]):
        warnings.warn(
            errors.message(
                "torch.utils.checkpoint",
                "None of the inputs have requires_grad=True. Gradients will be None",
                "pass use_reentrant=False, which sees tensors inside the function too",
                "12",
            ),
            UserWarning,
            stacklevel=2,
        )


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs as leaves of their own, which require grad as before.

    Raises: GraphError for anything but a tuple.
    """
    if not isinstance(inputs, tuple):
        raise errors.GraphError.at(
            "detach_variable",
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}",
            "give a tuple",
        )
    return tuple([leaf_of(x) if isinstance(x, Tensor) else x for x in inputs])


def leaf_of(tensor: Tensor) -> Tensor:
    """The values of ``tensor`` as a leaf that requires grad if it does."""
    leaf = tensor.detach()
    leaf.requires_grad = tensor.requires_grad
    return leaf
