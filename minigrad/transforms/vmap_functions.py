"""What ``vmap`` does with a learner's Function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad import errors
from minigrad.engine import pytree
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.examples import VmapInfo
from minigrad.transforms.transform import apply_of
from minigrad.transforms.vmap_generated import run_generated, unwrapped
from minigrad.transforms.vmap_tensor import BatchedTensor

if TYPE_CHECKING:
    from minigrad.transforms.vmap import Vmap


def apply_to_examples(
    function: type[Function], inputs: tuple[Any, ...], transform: Vmap
) -> Any:
    """The Function on all examples of a vmap, by the rule it has for that.

    Raises: TransformError if it has none, or two.
    """
    check_has_one_rule(function)
    values, in_dims = unwrapped(inputs, transform)
    leaves = pytree.flatten(inputs)[0]
    if all([dim is None for dim in pytree.flatten(in_dims)[0]]):
        return transform.below(apply_of(function), *inputs)
    if function.generate_vmap_rule:
        output, out_dims = transform.below(
            run_generated, function, transform, in_dims, values
        )
    else:
        info = VmapInfo(transform.size, transform.randomness)
        returned = transform.below(function.vmap, info, in_dims, *values)
        output, out_dims = check_returned(function, returned)
    return batched_again(
        function,
        output,
        out_dims,
        dict_of(pytree.flatten(values)[0], leaves),
        transform,
    )


def dict_of(values: list[Any], originals: list[Any]) -> dict[int, Any]:
    """What each tensor was before it was unwrapped, by its identity."""
    pairs = zip(values, originals, strict=True)
    return {id(value): one for value, one in pairs if isinstance(value, Tensor)}


def batched_again(
    function: type[Function],
    output: Any,
    out_dims: Any,
    originals: dict[int, Any],
    transform: Vmap,
) -> Any:
    """The output as the mapped code sees it; an input that was returned is itself."""
    leaves, structure = pytree.flatten(output)
    dims = pytree.spread(out_dims, structure)
    if dims is None:
        raise errors.TransformError.at(
            f"{function.__name__}.vmap",
            "The autograd.Function's vmap staticmethod returned an incompatible "
            f"(output, out_dims) tuple. Expected out_dims={out_dims} to be compatible "
            f"with the structure of `output`, which is {structure}",
            "return one dimension, or None, for each output, nested like them",
            "15",
        )
    batched = []
    for leaf, dim in zip(leaves, dims, strict=True):
        if not isinstance(leaf, Tensor):
            batched.append(leaf)
        elif id(leaf) in originals:
            batched.append(originals[id(leaf)])
        else:
            batched.append(
                leaf if dim is None else BatchedTensor(leaf, transform, dim % leaf.ndim)
            )
    return pytree.unflatten(batched, structure)


def check_has_one_rule(function: type[Function]) -> None:
    """Refuse a Function that says nothing of batches, or two things.

    Raises: TransformError.
    """
    name = function.__name__
    overridden = function.vmap is not Function.vmap
    if function.generate_vmap_rule and overridden:
        raise errors.TransformError.at(
            name,
            f"You tried to vmap over {name}, but it has both "
            "generate_vmap_rule=True and an overridden vmap staticmethod",
            "keep one of the two",
            "15",
        )
    if not function.generate_vmap_rule and not overridden:
        raise errors.TransformError.at(
            name,
            f"You tried to vmap over {name}, but it does not have vmap support. "
            "Please override and implement the vmap staticmethod or set "
            "generate_vmap_rule=True",
            "write generate_vmap_rule = True in the class if its methods use "
            "operations on Tensors only; if they use NumPy, write "
            "vmap(info, in_dims, *args)",
            "15",
        )


def check_returned(function: type[Function], returned: Any) -> tuple[Any, Any]:
    """``(output, out_dims)`` from a vmap staticmethod.

    Raises: TransformError for anything but a tuple of two.
    """
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned
    got = f"Got a {type(returned)} instead"
    if isinstance(returned, tuple):
        got = f"Got {len(returned)} returns instead"
    raise errors.TransformError.at(
        f"{function.__name__}.vmap",
        "Expected the vmap staticmethod to have two returns, an output and "
        f"out_dims with pytree structure compatible with the output. {got}",
        "return (output, 0) if the first dimension of output counts the examples",
        "15",
    )
