"""``generate_vmap_rule``: forward, setup_context, backward and jvp run under vmap.

A Function is made for the call that takes and gives whole batches. Each of its methods
opens a vmap of the same size, and calls the learner's method inside it: that sees one
example. What it saves is unwrapped, and wrapped again when backward reads it. What it
keeps elsewhere, such as in an attribute of ctx, stays an example: the methods share one
vmap, which opens again for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from minigrad.engine import pytree
from minigrad.engine.core.ctx import FunctionMeta, rule_of
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.examples import moved
from minigrad.engine.interpreters import opened, opened_here
from minigrad.engine.structural import SumTo
from minigrad.transforms.transform import depth_of
from minigrad.transforms.vmap_tensor import BatchedTensor, pull

if TYPE_CHECKING:
    from minigrad.transforms.vmap import Vmap


def run_generated(
    function: type[Function], transform: Vmap, in_dims: Any, values: Any
) -> tuple[Any, Any]:
    """The Function on a batch: ``(output, out_dims)``."""
    batch = Batch(function, transform, in_dims)
    output = batch.generated().apply(*values)
    return output, batch.out_dims


class Batch:
    """One call of a Function on a batch, and which dimensions count the examples."""

    def __init__(self, function: type[Function], transform: Vmap, in_dims: Any) -> None:
        self.function = function
        self.transform = transform.another()
        self.in_dims = in_dims
        self.out_dims: Any = None
        self.saved_dims: Any = ()
        self.saved_for_forward_dims: Any = ()
        self.shapes: list[tuple[int, ...] | None] = []

    def generated(self) -> type[Function]:
        """The Function that takes the whole batch."""
        body = {
            "forward": staticmethod(self.forward),
            "setup_context": staticmethod(self.setup_context),
            "backward": staticmethod(self.backward),
            "generate_vmap_rule": True,
            "_made_for": self.function,
            "__module__": self.function.__module__,
        }
        if self.function.jvp is not Function.jvp:
            body["jvp"] = staticmethod(self.jvp)
        name = f"Vmapped{self.function.__name__}"
        found: type[Function] = FunctionMeta(name, (Function,), body)  # type: ignore[assignment]  # the metaclass makes Functions
        return found

    @contextmanager
    def open(self) -> Iterator[Vmap]:
        """The vmap of the methods, inside of whatever is open now."""
        self.transform.depth = depth_of(opened_here()) + 1
        with opened(self.transform):
            yield self.transform

    def forward(self, *values: Any) -> Any:
        """The learner's forward on one example, and its output for all."""
        with self.open() as transform:
            inputs = wrapped(values, self.in_dims, transform)
            output, self.out_dims = unwrapped(self.function.forward(*inputs), transform)
        return output

    def setup_context(self, ctx: Any, inputs: Any, output: Any) -> None:
        """The learner's setup_context, which sees and saves examples."""
        with self.open() as transform:
            examples = wrapped(inputs, self.in_dims, transform)
            self.shapes = [getattr(value, "shape", None) for value in examples]
            self.function.setup_context(
                CtxOfExample(ctx, self, transform),
                examples,
                wrapped(output, self.out_dims, transform),
            )

    def backward(self, ctx: Any, *grads: Any) -> Any:
        """The learner's backward; what it returns is summed to the input's shape."""
        several = isinstance(self.out_dims, tuple)
        out_dims = self.out_dims if several else (self.out_dims,)
        rule = rule_of(self.function)
        with self.open() as transform:
            returned = rule(
                CtxOfExample(ctx, self, transform), *wrapped(grads, out_dims, transform)
            )
            if not isinstance(returned, tuple):
                returned = (returned,)
            return tuple(
                [
                    self.gradient(gradient, position, transform)
                    for position, gradient in enumerate(returned)
                ]
            )

    def gradient(self, gradient: Any, position: int, transform: Vmap) -> Any:
        """The gradient of the whole batch of one input, from that of an example."""
        if not isinstance(gradient, Tensor) or position >= len(self.shapes):
            return gradient
        in_dim, shape = self.in_dims[position], self.shapes[position]
        if isinstance(in_dim, tuple):
            return gradient
        if in_dim is None:
            is_batched = batch_dim_in(gradient, transform) is not None
            return pull(gradient, transform).sum(0) if is_batched else gradient
        if shape is not None and gradient.shape != shape:
            gradient = SumTo.apply(gradient, shape)
        return moved(pull(gradient, transform), 0, in_dim)

    def jvp(self, ctx: Any, *tangents: Any) -> Any:
        """The learner's jvp on the tangents of one example."""
        with self.open() as transform:
            returned = self.function.jvp(
                CtxOfExample(ctx, self, transform, for_forward=True),
                *wrapped(tangents, self.in_dims, transform),
            )
            several = isinstance(returned, tuple)
            out_dims = self.out_dims if several else (self.out_dims,)
            pairs = zip(returned if several else (returned,), out_dims, strict=True)
            found = tuple([tangent(one, dim, transform) for one, dim in pairs])
        return found if several else found[0]


def tangent(value: Any, dim: int | None, transform: Vmap) -> Any:
    """The tangent of the whole batch of one output, from that of an example."""
    if not isinstance(value, Tensor):
        return value
    if dim is None:
        return value
    return moved(pull(value, transform), 0, dim)


class CtxOfExample:
    """The ctx that the learner's methods see: it saves examples as whole batches.

    Everything else is asked of, and set on, the ctx of the call.
    """

    def __init__(
        self, ctx: Any, batch: Batch, transform: Vmap, for_forward: bool = False
    ) -> None:
        vars(self).update(
            _ctx=ctx, _batch=batch, _transform=transform, _for_forward=for_forward
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep all examples of ``tensors``."""
        values, self._batch.saved_dims = unwrapped(tensors, self._transform)
        self._ctx.save_for_backward(*values)

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep all examples of ``tensors``, for jvp."""
        values, self._batch.saved_for_forward_dims = unwrapped(tensors, self._transform)
        self._ctx.save_for_forward(*values)

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward changed in place."""
        self._ctx.mark_dirty(*unwrapped(args, self._transform)[0])

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs carry no gradient."""
        self._ctx.mark_non_differentiable(*unwrapped(args, self._transform)[0])

    @property
    def _forward_cls(self) -> type[Function]:
        """The learner's class, for messages."""
        function: type[Function] = self._batch.function
        return function

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """One example of what was saved."""
        batch = self._batch
        dims = batch.saved_for_forward_dims if self._for_forward else batch.saved_dims
        saved: tuple[Any, ...] = wrapped(self._ctx.saved_tensors, dims, self._transform)
        return saved


def batch_dim_in(value: Any, transform: Vmap) -> int | None:
    """The dimension that counts the examples; None if there are none."""
    if isinstance(value, BatchedTensor) and value.transform is transform:
        return value.batch_dim
    return None


def wrapped(values: Any, dims: Any, transform: Vmap) -> Any:
    """One example of each tensor that has a dimension in ``dims``."""
    leaves, structure = pytree.flatten(values)
    spread = pytree.spread(dims, structure) or []
    found = [
        BatchedTensor(leaf, transform, dim)
        if dim is not None and isinstance(leaf, Tensor)
        else leaf
        for leaf, dim in zip(leaves, spread, strict=True)
    ]
    return pytree.unflatten(found, structure)


def unwrapped(values: Any, transform: Vmap) -> tuple[Any, Any]:
    """All examples of each tensor, and the dimensions that count them."""
    leaves, structure = pytree.flatten(values)
    dims = [batch_dim_in(leaf, transform) for leaf in leaves]
    pairs = zip(leaves, dims, strict=True)
    found = [leaf if dim is None else leaf.value for leaf, dim in pairs]
    return pytree.unflatten(found, structure), pytree.unflatten(dims, structure)
