"""``vmap`` as an interpreter: every call is made once, on all examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad import errors
from minigrad.engine import batching, mapped_functions
from minigrad.engine.batched import (
    BatchedTensor,
    front,
    holds_batched,
    one_for_each,
    pull,
)
from minigrad.engine.builtin import Builtin
from minigrad.engine.function import Function
from minigrad.engine.gradients import grad as plain_grad
from minigrad.engine.gradients import zeros_for
from minigrad.engine.interpreters import inner, opened, opened_here, with_stack
from minigrad.engine.mapped_gradients import Ends, number_of_gradients
from minigrad.engine.randomness import rand
from minigrad.engine.standing_in import StandIn
from minigrad.engine.tensor import Tensor
from minigrad.engine.transforms import Transform, run


class Vmap(Transform):
    """One call of a vmap: its boxes are BatchedTensors, and it takes them off.

    ``of_gradients`` is one that autograd opens for a batch of gradients: it takes
    Functions of either style.
    """

    kind = "vmap"

    def __init__(
        self, size: int, randomness: str = "error", of_gradients: bool = False
    ) -> None:
        super().__init__()
        self.size = size
        self.randomness = randomness
        self.of_gradients = of_gradients

    def another(self) -> Vmap:
        """A vmap over as many examples, for the methods of a Function."""
        return Vmap(self.size, self.randomness)

    def apply(self, function: type[Function], inputs: tuple[Any, ...]) -> Any:
        """The operation on all examples, by the rule that it has for that."""
        if issubclass(function, Builtin):
            if not holds_batched(inputs):
                return self.below(run, function, inputs)
            return batching.apply_to_examples(function, inputs, self)
        if function.setup_context is not Function.setup_context:
            return mapped_functions.apply_to_examples(function, inputs, self)
        if not self.of_gradients:
            return super().apply(function, inputs)
        here = opened_here()
        seen = StandIn(function, lambda *call: with_stack(here, *call))
        return self.below(seen.apply, *inputs)

    def apply_in_place(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The operation in place, on every example."""
        operation, tensor, *others = args
        if not holds_batched((tensor, *others)):
            return self.below(call, *args)
        change = batching.apply_in_place_to_examples
        self.below(change, operation, tensor, tuple(others), self)
        return tensor

    def one_by_one(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A function that needs the memory of an example, for one after the other."""
        return batching.call_for_examples(*args)

    def one_for_each(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A new tensor for each example of the one it was asked of."""
        return one_for_each(*args)

    def reshape_to(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Every example in another shape."""
        input, lengths = args
        if not isinstance(input, BatchedTensor):
            return inner(call)(*args)
        whole = front(input)
        return BatchedTensor(whole.reshape(whole.shape[0], *lengths), input.transform)

    def check_picks(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Refuse to pick another number of elements for each example.

        Raises: TransformError.
        """
        for pick in args[0]:
            if isinstance(pick, BatchedTensor) and pick.dtype.kind == "b":
                raise errors.TransformError(
                    errors.message(
                        "Tensor",
                        "vmap: We do not support batching operators that can support "
                        "dynamic shape. Attempting to batch over indexing with a "
                        "boolean mask: each example may pick another number of "
                        "elements",
                        "keep the shape: minigrad.where(mask, x, 0.0)",
                    )
                )

    def number_in(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """An index that is a number: every example may have its own."""
        (pick,) = args
        return pick if isinstance(pick, BatchedTensor) else inner(call)(pick)

    def update_statistics(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Refuse to update statistics of no example by those of every example.

        Raises: TransformError.
        """
        if isinstance(args[0], BatchedTensor):
            raise errors.TransformError(
                errors.message(
                    "batch_norm",
                    "Batch norm got a batched tensor as input while the running_mean "
                    "or running_var, which will be updated in place, were not batched.",
                    "set track_running_stats=False, or call eval() first",
                )
            )

    def draw(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Random numbers for the examples."""
        return batching.draw_for_examples(call, args, kwargs, self)

    def drop(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Dropout: whether the examples drop the same, is decided where it is drawn."""
        input, p = args
        return input * ((rand(*input.shape) >= p).to(input.dtype) / (1 - p))

    def make_like(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A new tensor like every example."""
        input, *facts = args
        if not isinstance(input, BatchedTensor):
            return inner(call)(*args)
        made = call(input.value, *facts)
        return BatchedTensor(made, input.transform, input.batch_dim)

    def lay_like(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A new tensor in the order of another; that of one example is nobody's."""
        return args[1] if holds_batched(args) else inner(call)(*args)

    def random_numbers(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse random numbers that may differ between the examples, or not.

        Raises: TransformError under ``randomness="error"``.
        """
        batching.check_randomness(self)
        return self.below(call, *args, **kwargs)


def grad_for_each(
    outputs: Ends,
    inputs: Ends,
    grad_outputs: Sequence[Tensor | None],
    **options: Any,
) -> tuple[Tensor | None, ...]:
    """``autograd.grad`` for every gradient in a batch of them, in one backward.

    Raises: GradientArgumentError unless each is a batch of the output's shape.
    """
    size = number_of_gradients(outputs, grad_outputs)
    materialize_grads = options.pop("materialize_grads")
    if materialize_grads:
        options["allow_unused"] = True
    transform = Vmap(size, of_gradients=True)
    with opened(transform):
        one = [
            BatchedTensor(gradient, transform)
            if isinstance(gradient, Tensor)
            else gradient
            for gradient in grad_outputs
        ]
        found = plain_grad(outputs, inputs, one, **options)
        results = [None if g is None else pull(g, transform) for g in found]
    if materialize_grads:
        pairs = zip(results, inputs, strict=True)
        create_graph = options["create_graph"]
        return tuple([zeros_for(x, create_graph) if g is None else g for g, x in pairs])
    return tuple(results)
