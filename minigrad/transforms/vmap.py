"""``vmap`` as an interpreter: every call is made once, on all examples."""

from __future__ import annotations

from typing import Any

from minigrad import errors
from minigrad.engine import gradients
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.interpreters import opened, opened_here, undispatched, with_stack
from minigrad.engine.randomness import rand
from minigrad.transforms import vmap_builtins, vmap_functions
from minigrad.transforms.function_proxy import FunctionProxy
from minigrad.transforms.transform import Transform, apply_of
from minigrad.transforms.vmap_gradients import number_of_gradients
from minigrad.transforms.vmap_tensor import (
    BatchedTensor,
    front,
    holds_batched,
    one_for_each,
    pull,
)


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
                return self.below(apply_of(function), *inputs)
            return vmap_builtins.apply_to_examples(function, inputs, self)
        if function.setup_context is not Function.setup_context:
            return vmap_functions.apply_to_examples(function, inputs, self)
        if not self.of_gradients:
            return super().apply(function, inputs)
        here = opened_here()
        seen = FunctionProxy(function, lambda *call: with_stack(here, *call))
        return self.below(seen.apply, *inputs)

    def apply_in_place(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The operation in place, on every example."""
        operation, tensor, *others = args
        if not holds_batched((tensor, *others)):
            return self.below(call, *args)
        change = vmap_builtins.apply_in_place_to_examples
        self.below(change, operation, tensor, tuple(others), self)
        return tensor

    def one_by_one(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A function that needs the memory of an example, for one after the other."""
        return vmap_builtins.call_for_examples(*args)

    def one_for_each(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A new tensor for each example of the one it was asked of."""
        return one_for_each(*args)

    def reshape_to(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Every example in another shape."""
        input, lengths = args
        if not isinstance(input, BatchedTensor):
            return undispatched(call)(*args)
        whole = front(input)
        return BatchedTensor(whole.reshape(whole.shape[0], *lengths), input.transform)

    def check_picks(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Refuse to pick another number of elements for each example.

        Raises: TransformError.
        """
        for pick in args[0]:
            if isinstance(pick, BatchedTensor) and pick.dtype.kind == "b":
                raise errors.TransformError.at(
                    "Tensor",
                    "vmap: We do not support batching operators that can support "
                    "dynamic shape. Attempting to batch over indexing with a boolean "
                    "mask: each example may pick another number of elements",
                    "keep the shape: minigrad.where(mask, x, 0.0)",
                )

    def number_in(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """An index that is a number: every example may have its own."""
        (pick,) = args
        return pick if isinstance(pick, BatchedTensor) else undispatched(call)(pick)

    def update_statistics(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Refuse to update statistics of no example by those of every example.

        Raises: TransformError.
        """
        if isinstance(args[0], BatchedTensor):
            raise errors.TransformError.at(
                "batch_norm",
                "Batch norm got a batched tensor as input while the running_mean "
                "or running_var, which will be updated in place, were not batched.",
                "set track_running_stats=False, or call eval() first",
            )

    def change_shape(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Another shape, or order of dimensions, for every example."""
        tensor, out_of_place, *_, given, named = args
        if not isinstance(tensor, BatchedTensor):
            return self.below(call, *args)
        result = out_of_place(tensor, *given, **named)
        tensor.value, tensor.batch_dim = result.value, result.batch_dim
        return tensor

    def draw(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Random numbers for the examples."""
        return vmap_builtins.draw_for_examples(call, args, kwargs, self)

    def drop(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Dropout: whether the examples drop the same, is decided where it is drawn."""
        input, p = args
        return input * ((rand(*input.shape) >= p).to(input.dtype) / (1 - p))

    def make_like(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A new tensor like every example."""
        input, *facts = args
        if not isinstance(input, BatchedTensor):
            return undispatched(call)(*args)
        made = call(input.value, *facts)
        return BatchedTensor(made, input.transform, input.batch_dim)

    def lay_like(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """A new tensor in the order of another; one example has none."""
        return args[1] if holds_batched(args) else undispatched(call)(*args)

    def random_numbers(self, call: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Refuse random numbers that may differ between the examples, or not.

        Raises: TransformError under ``randomness="error"``.
        """
        vmap_builtins.check_randomness(self)
        return self.below(call, *args, **kwargs)


def grad_for_each(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> Any:
    """``autograd.grad`` for every gradient in a batch of them, in one backward.

    Raises: GradientArgumentError unless each is a batch of the output's shape.
    """
    gradients.check_options(materialize_grads, allow_unused)
    wanted = gradients.some_inputs_of(inputs)
    ends = gradients.outputs_of(outputs, "grad")
    given = gradients.gradients_of(ends, grad_outputs, "grad")
    transform = Vmap(number_of_gradients(ends, given), of_gradients=True)
    with opened(transform):
        one = [
            BatchedTensor(gradient, transform)
            if isinstance(gradient, Tensor)
            else gradient
            for gradient in given
        ]
        unused = allow_unused or materialize_grads
        found = gradients.grad(ends, wanted, one, retain_graph, create_graph, unused)
        results = [None if g is None else pull(g, transform) for g in found]
    if materialize_grads:
        for place, tensor in enumerate(wanted):
            if results[place] is None:
                results[place] = gradients.zeros_for(tensor, create_graph)
    return gradients.in_form_of(inputs, tuple(results))
