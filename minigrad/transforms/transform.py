"""The function transforms (vmap, grad, jvp, ...) that this thread is inside of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad import errors
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.function import Function
from minigrad.engine.grad_mode import _this_thread
from minigrad.engine.interpreters import Interpreter, opened_here, undispatched
from minigrad.transforms import vmap_gradients
from minigrad.transforms.vmap_tensor import no_requires_grad


class Transform(Interpreter):
    """One call of a function transform, open while its function runs.

    ``depth`` counts from the outermost, 1. This class itself leaves every call as it
    is, and refuses those that a transformed function must not make.
    """

    def __init__(self) -> None:
        outer = opened_here()
        self.depth = depth_of(outer) + 1

    def below(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``call(*args)``, as it was before this transform was opened."""
        mode = _this_thread.mode
        stack = mode.interpreters
        try:  # for the reason that stands in `unrecorded`
            mode.interpreters = stack[: stack.index(self)]
            return call(*args, **kwargs)
        finally:
            mode.interpreters = stack

    def apply(self, function: type[Function], inputs: tuple[Any, ...]) -> Any:
        """The same Function one level below.

        Raises: TransformError for one whose forward takes ctx: it cannot be run without
        making a graph.
        """
        if function.setup_context is Function.setup_context:
            raise takes_ctx(function)
        return self.below(apply_of(function), *inputs)

    def require_grad(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse to make a leaf require grad: the transform decides that.

        Raises: TransformError.
        """
        raise no_requires_grad()

    def grad(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """``autograd.grad``: of examples, by that of whole batches."""
        return vmap_gradients.grad(undispatched(call), *args, **kwargs)

    def backward(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse to fill ``.grad`` from within a transform.

        Raises: TransformError.
        """
        raise errors.TransformError.at(
            "backward",
            "backward() called inside a functorch transform. This is not "
            "supported, please use functorch.grad or functorch.vjp instead or "
            "call backward() outside of functorch transforms.",
            "use minigrad.func.grad or minigrad.func.vjp",
        )


class Pushing(Transform):
    """The mark of a ``func.jvp``; its level of forward mode is for all threads."""

    kind = "jvp"


def apply_of(function: type[Function]) -> Callable[..., Any]:
    """Its ``apply``; if a learner's class has another, the one that this calls."""
    if issubclass(function, Builtin):
        return function.apply
    apply: Any = Function.apply
    own: Callable[..., Any] = apply.__func__.__get__(function)
    return own


def depth_of(stack: tuple[Interpreter, ...]) -> int:
    """How many transforms are around what is opened on top of ``stack``."""
    depths = [one.depth for one in stack if isinstance(one, Transform)]
    return max(depths, default=0)


def takes_ctx(function: type[Function]) -> errors.TransformError:
    """The error for a Function in the older style."""
    return errors.TransformError.at(
        f"{function.__name__}.apply",
        "In order to use an autograd.Function with functorch transforms (vmap, grad, "
        "jvp, jacrev, ...), it must override the setup_context staticmethod",
        "write forward without ctx, and move what it did with ctx into "
        "setup_context(ctx, inputs, output)",
        "15",
    )
