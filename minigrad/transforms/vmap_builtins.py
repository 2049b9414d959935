"""What ``vmap`` does with a built-in operation: all examples in one call."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import errors
from minigrad.engine import pytree
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.examples import Stack, Unbind, VmapInfo, all_batched, lined_up
from minigrad.engine.inplace import apply_in_place
from minigrad.ops.shape import check_range, in_example
from minigrad.transforms.vmap_tensor import BatchedTensor, front, levels_of, no_storage

if TYPE_CHECKING:
    from minigrad.transforms.vmap import Vmap


def apply_to_examples(
    operation: type[Builtin], inputs: tuple[Any, ...], transform: Vmap
) -> Any:
    """The operation on every example; ``inputs`` hold BatchedTensors.

    Elementwise operations line up the examples. Another has a ``vmap`` staticmethod,
    as a Function may, or is called for one example after the other.
    """
    values, in_dims = transform.below(at_the_front, inputs, transform)
    if all([dim is None for dim in in_dims]):
        return transform.below(operation.apply, *values)
    output, out_dims = transform.below(
        examples_of, operation, transform, in_dims, values
    )
    return batched_outputs(output, out_dims, transform)


def examples_of(
    operation: type[Builtin],
    transform: Vmap,
    in_dims: tuple[Any, ...],
    values: tuple[Any, ...],
) -> tuple[Any, Any]:
    """All results at once, and the dimension that counts them."""
    if operation.elementwise:
        return operation.apply(*lined_up(values, in_dims)), 0
    found: Any = NotImplemented
    if operation.vmap is not Function.vmap:
        info = VmapInfo(transform.size, transform.randomness)
        found = operation.vmap(info, in_dims, *values)
    elif operation.dim_at is not None:
        found = with_dims_shifted(operation, transform.size, in_dims, values)
    if found is not NotImplemented:
        result: tuple[Any, Any] = found
        return result
    if not operation.one_by_one:
        raise without_a_rule(operation)
    return one_by_one(operation.apply, transform.size, in_dims, values), 0


def with_dims_shifted(
    operation: type[Builtin],
    size: int,
    in_dims: tuple[Any, ...],
    values: tuple[Any, ...],
) -> Any:
    """An operation along some dimensions, which now come after that of the examples."""
    dim, options = values[operation.dim_at or 0], values[(operation.dim_at or 0) + 1 :]
    input, *others = all_batched(size, in_dims, values)
    rank = input.ndim - 1
    if dim is None and any([option is True for option in options]):
        dim = tuple(range(rank))
    if rank == 0 or dim is None:
        if any([isinstance(value, Tensor) for value in others]):
            return NotImplemented
        for one in dim if isinstance(dim, tuple) else (dim,):
            check_range(np.empty(()), one or 0)
        input = input.reshape(size, math.prod(input.shape[1:]))
        shifted: Any = 1
    elif isinstance(dim, (tuple, list)):
        shifted = tuple([in_example(input, one) for one in dim])
    else:
        shifted = in_example(input, dim)
    others[(operation.dim_at or 0) - 1] = shifted
    output = operation.apply(input, *others)
    if rank == 0:
        several = type(output) is tuple
        flat = [one.reshape(size) for one in (output if several else (output,))]
        output = tuple(flat) if several else flat[0]
    return output, 0


def without_a_rule(operation: type[Builtin]) -> errors.TransformError:
    """The error for an operation that says nothing of batches."""
    name = operation.__name__.lower()
    return errors.TransformError.at(
        f"vmap, {name}",
        f"Batching rule not implemented for {name}; the fallback path doesn't work",
        "write a vmap staticmethod for it, or let it say one_by_one = True",
        "15",
    )


def leaves_of(values: Any) -> list[Any]:
    """The values, also those in tuples and lists among them."""
    found = []
    for value in values:
        if type(value) in (tuple, list):
            found.extend(leaves_of(value))
        else:
            found.append(value)
    return found


def without(value: Any) -> Any:
    """What is left of a BatchedTensor whose vmap is over: all examples."""
    if type(value) in (tuple, list):
        return type(value)([without(item) for item in value])
    while isinstance(value, BatchedTensor) and not value.transform.is_open:
        value = value.value
    return value


def at_the_front(
    inputs: tuple[Any, ...], transform: Vmap
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The inputs with all examples at the front, and for each 0 or None."""
    values: list[Any] = []
    in_dims: list[Any] = []
    for given in inputs:
        value = without(given)
        dim: Any = None
        if isinstance(value, BatchedTensor) and value.transform is transform:
            value, dim = front(value), 0
        elif type(value) in (tuple, list):
            inside, dims = at_the_front(tuple(value), transform)
            value = type(value)(inside)
            dim = dims if any([one is not None for one in leaves_of(dims)]) else None
        values.append(value)
        in_dims.append(dim)
    return tuple(values), tuple(in_dims)


def batched_outputs(output: Any, out_dims: Any, transform: Vmap) -> Any:
    """The results as the mapped function sees them."""
    if isinstance(output, tuple):
        dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(output)
        pairs = zip(output, dims, strict=True)
        return tuple([batched_outputs(one, dim, transform) for one, dim in pairs])
    return output if out_dims is None else BatchedTensor(output, transform, out_dims)


def one_by_one(
    call: Callable[..., Any],
    size: int,
    in_dims: tuple[Any, ...],
    values: tuple[Any, ...],
) -> Any:
    """What ``call`` gives for each example in turn, stacked."""
    results = [call(*example) for example in examples_in(values, in_dims, size)]
    if not results:
        return pytree.mapped(none_of, call(*blank(values, in_dims)))
    leaves = [pytree.flatten(result)[0] for result in results]
    structure = pytree.flatten(results[0])[1]
    stacked = [Stack.apply(*same) for same in zip(*leaves, strict=True)]
    return pytree.unflatten(stacked, structure)


def examples_in(
    values: tuple[Any, ...], in_dims: tuple[Any, ...], size: int
) -> list[tuple[Any, ...]]:
    """The inputs of each example."""
    columns: list[Any] = []
    for value, dim in zip(values, in_dims, strict=True):
        if dim is None:
            columns.append([value] * size)
        elif isinstance(dim, tuple):
            inside = examples_in(tuple(value), dim, size)
            columns.append([type(value)(one) for one in inside])
        else:
            columns.append(Unbind.apply(value))
    return [tuple([column[index] for column in columns]) for index in range(size)]


def blank(values: tuple[Any, ...], in_dims: tuple[Any, ...]) -> list[Any]:
    """Zeros in the shapes of one example, to learn the shape of a result from."""
    found: list[Any] = []
    for value, dim in zip(values, in_dims, strict=True):
        if dim is None:
            found.append(value)
        elif isinstance(dim, tuple):
            found.append(type(value)(blank(tuple(value), dim)))
        else:
            found.append(Tensor(np.zeros(value.shape[1:], value.dtype)))
    return found


def none_of(output: Tensor) -> Tensor:
    """No results, of the shape that one would have."""
    return Tensor(np.zeros((0, *output.shape), output.dtype))


def call_for_examples(
    call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A function of tensors that needs their memory, for each example in turn."""
    names = tuple(kwargs)
    inputs = (*args, *kwargs.values())
    levels = levels_of(leaves_of(inputs))
    if not levels:
        raise no_storage("the memory of a tensor from outside the call")
    transform = levels[-1]
    values, in_dims = at_the_front(inputs, transform)

    def positional(*given: Any) -> Any:
        named = dict(zip(names, given[len(args) :], strict=True))
        return call(*given[: len(args)], **named)

    output = one_by_one(positional, transform.size, in_dims, values)
    return pytree.mapped(lambda leaf: BatchedTensor(leaf, transform), output)


def apply_in_place_to_examples(
    operation: type[Builtin], tensor: Tensor, args: tuple[Any, ...], transform: Vmap
) -> Tensor:
    """The operation in place, on every example.

    Raises: TransformError if ``tensor`` is one and the same for all examples, which
    would have to write different values into it.
    """
    (value, *values), (dim, *in_dims) = at_the_front((tensor, *args), transform)
    if all([one is None for one in (dim, *in_dims)]):
        apply_in_place(operation, value, *values)
        return tensor
    if dim is None:
        raise shared_by_all(operation, transform)
    if operation.elementwise:
        apply_in_place(operation, *lined_up((value, *values), (dim, *in_dims)))
        return tensor
    others = examples_in(tuple(values), tuple(in_dims), transform.size)
    for index in range(transform.size):
        apply_in_place(operation, value[index], *others[index])
    return tensor


def shared_by_all(operation: type[Builtin], transform: Vmap) -> errors.TransformError:
    """The error for writing the values of all examples into one tensor."""
    return errors.TransformError.at(
        f"{operation.__name__.lower()}_",
        "vmap: inplace arithmetic(self, *extra_args) is not possible because there "
        "exists a Tensor `other` in extra_args that has more elements than `self`. "
        "This happened due to `other` being vmapped over but `self` not being "
        f"vmapped over: {transform.size} examples would write into one tensor",
        "use the form that returns a new tensor",
    )


def draw_for_examples(
    draw: Callable[..., Tensor],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    transform: Vmap,
) -> Tensor:
    """Random numbers for the examples of a vmap.

    Raises: TransformError if it was not told whether they may differ, or if they shall
    be the same and depend on the example.
    """
    values, in_dims = transform.below(at_the_front, args, transform)
    is_batched = any([dim is not None for dim in in_dims])
    check_randomness(transform)
    if transform.randomness == "same" and is_batched:
        raise errors.TransformError.at(
            f"vmap, {draw.__name__}",
            "vmap: same randomness is asked for, with an argument that differs "
            "from example to example",
            "draw from something that is the same for all, or use "
            "randomness='different'",
        )
    if transform.randomness == "same":
        same: Tensor = transform.below(draw, *values, **kwargs)
        return same
    one = functools.partial(draw, **kwargs)
    whole = transform.below(one_by_one, one, transform.size, in_dims, values)
    return BatchedTensor(whole, transform)


def check_randomness(transform: Vmap) -> None:
    """Refuse random numbers that may differ between the examples, or not.

    Raises: TransformError under a vmap with ``randomness="error"``.
    """
    if transform.randomness == "error":
        raise errors.TransformError.at(
            "vmap",
            "called random operation while in randomness error mode. Please "
            "either use the 'same' or 'different' randomness flags on vmap or "
            "perform the randomness operation out of vmap",
            "say what is meant: vmap(f, randomness='different')",
        )
