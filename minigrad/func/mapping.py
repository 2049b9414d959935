"""``vmap``: a function of one example, applied to all examples of a batch at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad import errors
from minigrad.engine import pytree
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.examples import Stack, Unbind, moved, repeated
from minigrad.engine.interpreters import opened
from minigrad.transforms.vmap import Vmap
from minigrad.transforms.vmap_tensor import BatchedTensor


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``func`` on every example: it is written for one, runs once, and sees one.

    ``in_dims`` says which dimension of each argument counts the examples (None: the
    argument is the same for all), ``out_dims`` where that goes in each output; both
    may be nested as the arguments and the outputs are. ``randomness`` is "error",
    "different" or "same" for the examples. With ``chunk_size``, so many at a time.

    Raises: MappingError; TransformError for what cannot be done to all at once.
    See: torch ``func.vmap``.

    >>> weights = minigrad.tensor([1.0, 10.0])
    >>> minigrad.vmap(lambda x: (x * weights).sum())(minigrad.ones(3, 2))
    tensor([11., 11., 11.])
    """
    if randomness not in ("error", "different", "same"):
        raise errors.TransformError.at(
            "vmap",
            "Only allowed values for randomness are 'error', 'different', or "
            f"'same'. Got {randomness}",
            "choose one of the three",
        )
    if chunk_size is not None and chunk_size <= 0:
        raise errors.MappingError.at(
            "vmap",
            f"chunk_size should be None or greater than 0. (got {chunk_size})",
            "say how many examples to compute at a time",
        )

    @functools.wraps(func)
    def for_all(*args: Any, **kwargs: Any) -> Any:
        name = name_of(func)
        check_are_dims(out_dims, name)
        values, dims, structure = inputs_of(in_dims, args, name)
        size = size_of(values, dims)
        run = functools.partial(
            run_once, func, structure, out_dims, randomness, kwargs, name
        )
        if chunk_size is None or chunk_size >= size:
            return run(values, dims, size)
        return run_in_chunks(run, values, dims, size, chunk_size, out_dims)

    return for_all


def run_once(
    func: Callable[..., Any],
    structure: pytree.Structure,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
    name: str,
    values: list[Any],
    dims: list[int | None],
    size: int,
) -> Any:
    """``func`` on all examples in one call."""
    transform = Vmap(size, randomness)
    with opened(transform):
        leaves = [
            value if dim is None else BatchedTensor(value, transform, dim)
            for value, dim in zip(values, dims, strict=True)
        ]
        output = func(*pytree.unflatten(leaves, structure), **kwargs)
        return outputs_of(output, out_dims, transform, name)


def run_in_chunks(
    run: Callable[..., Any],
    values: list[Any],
    dims: list[int | None],
    size: int,
    chunk_size: int,
    out_dims: Any,
) -> Any:
    """``func`` on ``chunk_size`` examples at a time, and the outputs put together."""
    parts: list[list[Any]] = []
    structure = pytree.LEAF
    for start in range(0, size, chunk_size):
        stop = min(start + chunk_size, size)
        chunk = [
            value if dim is None else some_examples(value, dim, start, stop)
            for value, dim in zip(values, dims, strict=True)
        ]
        leaves, structure = pytree.flatten(run(chunk, dims, stop - start))
        parts.append(leaves)
    out = pytree.spread(out_dims, structure) or []
    joined = [
        same[0] if dim is None else joined_examples(same, dim)
        for same, dim in zip(zip(*parts, strict=True), out, strict=True)
    ]
    return pytree.unflatten(joined, structure)


def some_examples(tensor: Tensor, dim: int, start: int, stop: int) -> Tensor:
    """The examples from ``start`` to ``stop``."""
    examples = Unbind.apply(moved(tensor, dim, 0))[start:stop]
    return moved(Stack.apply(*examples), 0, dim)


def joined_examples(chunks: tuple[Tensor, ...], dim: int) -> Tensor:
    """The outputs of all chunks, one after the other."""
    dim %= chunks[0].ndim
    examples = [one for chunk in chunks for one in Unbind.apply(moved(chunk, dim, 0))]
    return moved(Stack.apply(*examples), 0, dim)


def name_of(func: Any) -> str:
    """The name of a function, for messages."""
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


def inputs_of(
    in_dims: Any, args: tuple[Any, ...], name: str
) -> tuple[list[Any], list[int | None], pytree.Structure]:
    """The leaves of the arguments, the dimension of each, and how they are nested.

    Raises: MappingError if ``in_dims`` does not fit the arguments.
    """
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise unfit(
            call,
            f"expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}",
            "give one dimension for all, or a tuple with one for each argument",
        )
    if not args:
        raise unfit(
            f"vmap({name})(<inputs>)",
            "got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported",
            "call the function that vmap returned with the batch",
        )
    leaves, structure = pytree.flatten(args)
    dims = pytree.spread(in_dims, structure)
    if dims is None:
        raise unfit(
            call,
            f"in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {pytree.flatten(in_dims)[1]} but inputs has "
            f"structure {structure}",
            "nest in_dims like the arguments; one dimension may stand for a whole part",
        )
    found = [check_dim(dim, leaf, call) for dim, leaf in zip(dims, leaves, strict=True)]
    return leaves, found, structure


def check_dim(dim: Any, leaf: Any, call: str) -> int | None:
    """The dimension of one argument that counts the examples, from 0.

    Raises: MappingError if it has none such.
    """
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise unfit(
            call,
            f"Got in_dim={dim} for an input but in_dim must be either an "
            "integer dimension or None",
            "count dimensions from 0, or from -1 for the last",
        )
    if not isinstance(leaf, Tensor):
        raise unfit(
            call,
            f"Got in_dim={dim} for an input but the input is of type "
            f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please use None "
            "as the respective in_dim",
            "give None for it in in_dims, or make it a Tensor",
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise unfit(
            call,
            f"Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {leaf.ndim} so expected in_dim to satisfy "
            f"-{leaf.ndim} <= in_dim < {leaf.ndim}",
            f"choose a dimension of its shape {tuple(leaf.shape)}",
        )
    return dim % leaf.ndim


def size_of(values: list[Any], dims: list[int | None]) -> int:
    """How many examples there are.

    Raises: MappingError if none of the arguments says, or they disagree.
    """
    pairs = zip(values, dims, strict=True)
    sizes = [value.shape[dim] for value, dim in pairs if dim is not None]
    if not sizes:
        raise unfit(
            "vmap",
            "Expected at least one Tensor to vmap over",
            "let in_dims name a dimension of at least one argument",
        )
    if any([size != sizes[0] for size in sizes]):
        raise unfit(
            "vmap",
            "Expected all tensors to have the same size in the mapped "
            f"dimension, got sizes {sizes} for the mapped dimension",
            "give as many examples in each argument, or None in in_dims for one that "
            "is the same for all",
        )
    return int(sizes[0])


def check_are_dims(out_dims: Any, name: str) -> None:
    """Refuse ``out_dims`` of anything but integers and None.

    Raises: MappingError.
    """
    for dim in pytree.flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise unfit(
                f"vmap({name}, ..., out_dims={out_dims})",
                "`out_dims` must be an int, None or a python collection of ints "
                "representing where in the outputs the vmapped dimension should appear",
                "give 0 to have the examples first",
            )


def outputs_of(output: Any, out_dims: Any, transform: Vmap, name: str) -> Any:
    """The outputs for all examples.

    Raises: MappingError if ``out_dims`` does not fit them, or one is no Tensor.
    """
    leaves, structure = pytree.flatten(output)
    dims = pytree.spread(out_dims, structure)
    if structure is pytree.LEAF and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = list(out_dims)
    if dims is None:
        raise unfit(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>)",
            f"out_dims is not "
            "compatible with the structure of `outputs`. out_dims has structure "
            f"{pytree.flatten(out_dims)[1]} but outputs has structure {structure}",
            "nest out_dims like the outputs; one dimension may stand for a whole part",
        )
    found = [
        all_examples(leaf, dim, transform, name)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]
    return pytree.unflatten(found, structure)


def all_examples(output: Any, dim: int | None, transform: Vmap, name: str) -> Any:
    """One output with its examples along ``dim``."""
    batched = isinstance(output, BatchedTensor) and output.transform is transform
    if dim is None:
        if batched:
            raise unfit(
                f"vmap({name}, ...)",
                f"`{name}` can not return a BatchedTensor when out_dim is None",
                "say in out_dims where the examples of this output go",
            )
        return output
    if not isinstance(output, Tensor):
        raise unfit(
            f"vmap({name}, ...)",
            f"`{name}` must only return Tensors, got type "
            f"{type(output)}. Did you mean to set out_dims= to None for output?",
            "return Tensors, or give None in out_dims for what is none",
        )
    if isinstance(output, BatchedTensor) and batched:
        value, source = output.value, output.batch_dim
    else:
        value, source = repeated(output, transform.size), 0
    if not -value.ndim <= dim < value.ndim:
        raise errors.DimensionError.at(
            f"vmap({name}, ...)",
            "Dimension out of range (expected to be in range of "
            f"[{-value.ndim}, {value.ndim - 1}], but got {dim})",
            "choose out_dims within the dimensions of the output",
        )
    return moved(value, source, dim % value.ndim)


def unfit(where: str, what: str, fix: str) -> errors.MappingError:
    """The error for arguments or outputs that ``in_dims``, ``out_dims`` do not fit."""
    return errors.MappingError.at(where, what, fix, "15")
