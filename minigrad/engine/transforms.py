"""Which function transforms (vmap, grad, jvp, ...) this thread is inside of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from minigrad import errors
from minigrad.engine.grad_mode import this_mode


class Transform:
    """One call of a function transform, open while its function runs.

    ``kind`` is "vmap", "grad" or "jvp"; ``depth`` counts from the outermost, 1.
    ``size`` and ``randomness`` are those of a vmap. ``of_gradients`` is a vmap that
    autograd opens for a batch of gradients: it takes Functions of either style.
    """

    __slots__ = ("depth", "is_open", "kind", "of_gradients", "randomness", "size")

    def __init__(
        self, kind: str, depth: int, size: int, randomness: str, of_gradients: bool
    ) -> None:
        self.kind = kind
        self.depth = depth
        self.size = size
        self.randomness = randomness
        self.of_gradients = of_gradients
        self.is_open = True


active: dict[Transform, None] = {}
"""The transforms that are open, in all threads: while empty, no call looks further."""


def opened_here() -> tuple[Transform, ...]:
    """The transforms that this thread is inside of, the innermost last."""
    return this_mode().transforms


def innermost_vmap() -> Transform | None:
    """The vmap whose examples the running code sees; None outside of all."""
    for transform in reversed(this_mode().transforms):
        if transform.kind == "vmap":
            return transform
    return None


def is_differentiating() -> bool:
    """Whether the innermost transform is one of reverse mode."""
    transforms = this_mode().transforms
    return bool(transforms) and transforms[-1].kind == "grad"


def is_mapped(function: str, takes_ctx: bool) -> bool:
    """Whether the running code sees one example of a vmap.

    Raises: TransformError inside of any transform, for a Function whose forward takes
    ctx: it cannot be run without making a graph.
    """
    open_here = opened_here()
    if not open_here:
        return False
    if takes_ctx:
        if all([transform.of_gradients for transform in open_here]):
            return False
        raise errors.TransformError(
            errors.message(
                f"{function}.apply",
                "In order to use an autograd.Function with functorch transforms (vmap, "
                "grad, jvp, jacrev, ...), it must override the setup_context "
                "staticmethod",
                "write forward without ctx, and move what it did with ctx into "
                "setup_context(ctx, inputs, output)",
                "15",
            )
        )
    return innermost_vmap() is not None


@contextmanager
def opened(
    kind: str, size: int = 0, randomness: str = "error", of_gradients: bool = False
) -> Iterator[Transform]:
    """A transform for the time of a ``with`` block, also if that raises."""
    mode = this_mode()
    outer = mode.transforms
    depth = outer[-1].depth + 1 if outer else 1
    transform = Transform(kind, depth, size, randomness, of_gradients)
    try:
        active[transform] = None
        mode.transforms = (*outer, transform)
        yield transform
    finally:
        mode.transforms = outer
        transform.is_open = False
        active.pop(transform, None)


@contextmanager
def outside_of(*transforms: Transform) -> Iterator[None]:
    """As if ``transforms`` were not there."""
    mode = this_mode()
    inner = mode.transforms
    mode.transforms = tuple([t for t in inner if t not in transforms])
    try:
        yield
    finally:
        mode.transforms = inner


@contextmanager
def below(transform: Transform) -> Iterator[None]:
    """As it was before ``transform`` was opened."""
    mode = this_mode()
    inner = mode.transforms
    mode.transforms = inner[: inner.index(transform)]
    try:
        yield
    finally:
        mode.transforms = inner


def check_randomness() -> None:
    """Refuse random numbers that may differ between the examples, or not.

    Raises: TransformError under a vmap with ``randomness="error"``.
    """
    transform = innermost_vmap()
    if transform is not None and transform.randomness == "error":
        raise errors.TransformError(
            errors.message(
                "vmap",
                "called random operation while in randomness error mode. Please "
                "either use the 'same' or 'different' randomness flags on vmap or "
                "perform the randomness operation out of vmap",
                "say what is meant: vmap(f, randomness='different')",
            )
        )


def refuse_requires_grad() -> None:
    """Refuse to make a leaf require grad where a transform decides that.

    Raises: TransformError inside of any transform.
    """
    if opened_here():
        raise errors.TransformError(
            errors.message(
                "Tensor.requires_grad_",
                "You are attempting to call Tensor.requires_grad_() (or perhaps using "
                "torch.autograd.functional.* APIs) inside of a function being "
                "transformed by a functorch transform, that is vmap, grad, vjp, ...",
                "give the tensor to the transform as an argument, or call "
                "requires_grad_() outside",
            )
        )


def refuse_backward() -> None:
    """Refuse to fill ``.grad`` from within a transform.

    Raises: TransformError inside of any transform.
    """
    if opened_here():
        raise errors.TransformError(
            errors.message(
                "backward",
                "backward() called inside a functorch transform. This is not "
                "supported, please use functorch.grad or functorch.vjp instead or "
                "call backward() outside of functorch transforms.",
                "use minigrad.func.grad or minigrad.func.vjp",
            )
        )
