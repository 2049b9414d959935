"""The tensor that a function sees under ``vmap``: one example, standing for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from minigrad import errors
from minigrad.engine import observe
from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.examples import first_example, moved, repeated
from minigrad.engine.interpreters import opened_here, with_stack
from minigrad.engine.tensor_properties import Size, TensorProperties

if TYPE_CHECKING:
    from minigrad.transforms.vmap import Vmap


def about_an_example(name: str) -> Any:
    """A question of TensorProperties, asked of one example."""
    question = getattr(TensorProperties, name)

    def ask(self: BatchedTensor, *args: Any, **kwargs: Any) -> Any:
        return question(Tensor(self._an_example()), *args, **kwargs)

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = question.__doc__
    return ask


class BatchedTensor(Tensor):
    """One example of ``value``, whose dimension ``batch_dim`` counts all.

    Its shape is that of the example. It has no array and no graph of its own: an
    operation on it is done, and recorded, on ``value``. Under several vmaps ``value``
    is itself a BatchedTensor, of a vmap further out.
    """

    __slots__ = ("batch_dim", "transform", "value")

    batch_dim: int
    transform: Vmap
    value: Tensor

    def __init__(self, value: Tensor, transform: Vmap, batch_dim: int = 0) -> None:
        self.value = value
        self.transform = transform
        self.batch_dim = batch_dim
        observe.notify("tensor_mapped", self)

    if not TYPE_CHECKING:  # the attributes of Tensor are properties here

        @property
        def array(self) -> Array:
            """Refused: it would be the array of one example, which does not exist."""
            if self.transform.is_open:
                raise no_storage("its array")
            return self.value.array

        @property
        def _requires_grad(self) -> bool:
            return is_differentiating() and self.value._requires_grad

        @property
        def _grad_node(self) -> Any:
            return self.value._grad_node if is_differentiating() else None

        @property
        def output_nr(self) -> int:
            return self.value.output_nr

        @property
        def _version_counter(self) -> Any:
            return self.value._version_counter

        @_requires_grad.setter
        def _requires_grad(self, value: bool) -> None:
            raise no_requires_grad()

        @_version_counter.setter
        def _version_counter(self, counter: Any) -> None:
            self.value._version_counter = counter

        @property
        def data(self) -> Tensor:
            """Refused.

            Raises: TransformError.
            """
            raise errors.TransformError.at(
                "Tensor.data",
                "accessing `data` under vmap transform is not allowed",
                "use detach()",
            )

    @property
    def shape(self) -> Size:
        """The lengths of one example."""
        lengths = self.value.shape
        return Size(lengths[: self.batch_dim] + lengths[self.batch_dim + 1 :])

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.value.dtype

    @property
    def ndim(self) -> int:  # type: ignore[override]  # nor can that of Tensor be set
        """The number of dimensions of one example."""
        return self.value.ndim - 1

    def dim(self) -> int:
        """The number of dimensions of one example."""
        return self.value.ndim - 1

    def _physical(self) -> Tensor:
        """The tensor with an array and a graph below all batching."""
        return physical(self)

    def _an_example(self) -> Array:
        """An array with the shape, the dtype and the steps of one example."""
        return first_example(self.value, self.batch_dim)

    numel = nelement = about_an_example("numel")
    size = about_an_example("size")
    stride = about_an_example("stride")
    is_contiguous = about_an_example("is_contiguous")
    is_floating_point = about_an_example("is_floating_point")
    is_complex = about_an_example("is_complex")
    is_signed = about_an_example("is_signed")
    element_size = about_an_example("element_size")
    __len__ = about_an_example("__len__")
    ndimension = dim

    def detach(self) -> Tensor:
        """The example without the graph."""
        return BatchedTensor(self.value.detach(), self.transform, self.batch_dim)

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad)`` with the gradient of one example.

        Raises: HookError for a tensor whose graph the running function cannot see.
        """
        self._check_can_have_hooks("Tensor.register_hook")

        stack = opened_here()

        def for_all(grad: Tensor) -> Tensor | None:
            result = with_stack(stack, hook, batched_like(grad, self))
            return result if result is None else whole_like(result, self)

        return physical(self).register_hook(for_all)

    def numpy(self) -> Array:
        """Refused.

        Raises: TransformError.
        """
        raise no_storage("numpy()")

    def tolist(self) -> Any:
        """Refused.

        Raises: TransformError.
        """
        raise no_storage("tolist()")

    def item(self) -> NoReturn:
        """Refused: the function runs once, and every example has its own number.

        Raises: TransformError.
        """
        raise errors.TransformError.at(
            "Tensor.item",
            "vmap: It looks like you're calling .item() on a Tensor. We don't "
            "support vmap over calling .item() on a Tensor: it stands for "
            f"{self.transform.size} examples at once",
            "use operations on tensors in its place, or call item() outside",
        )

    def __bool__(self) -> NoReturn:
        raise errors.TransformError.at(
            "bool",
            "vmap: It looks like you're attempting to use a Tensor in some "
            "data-dependent control flow. The function runs once for all "
            f"{self.transform.size} examples, and they may not agree",
            "choose elementwise, with minigrad.where",
        )

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __repr__(self) -> str:
        inside = repr(self.value).replace("\n", "\n    ")
        where = f"lvl={self.transform.depth}, bdim={self.batch_dim}"
        return f"BatchedTensor({where}, value=\n    {inside}\n)"


def no_storage(what: str) -> errors.NoStorageError:
    """The error for a question about the memory of one example."""
    return errors.NoStorageError.at(
        "vmap",
        "Cannot access data pointer of Tensor that doesn't have storage: under "
        f"vmap a tensor stands for all examples at once, so {what} is not there",
        "use operations on tensors, or write an autograd.Function with a vmap "
        "staticmethod: it is given the whole batch",
    )


def holds_batched(values: Any) -> bool:
    """Whether a BatchedTensor is among ``values``, or in a container among them."""
    for value in values:
        if isinstance(value, BatchedTensor):
            return True
        if type(value) in (tuple, list) and holds_batched(value):
            return True
    return False


def front(tensor: BatchedTensor) -> Tensor:
    """All examples, with the dimension that counts them moved to the front."""
    return moved(tensor.value, tensor.batch_dim, 0)


def pull(tensor: Tensor, transform: Vmap) -> Tensor:
    """All examples of ``transform``, along the first dimension.

    A tensor that is not batched there is the same in every example.
    """
    if not isinstance(tensor, BatchedTensor):
        return repeated(tensor, transform.size)
    if tensor.transform is transform:
        return front(tensor)
    if tensor.transform.depth < transform.depth:
        return repeated(tensor, transform.size)
    inner = pull(front(tensor), transform)
    return BatchedTensor(inner.transpose(0, 1), tensor.transform)


def push(tensor: Tensor, transform: Vmap) -> Tensor:
    """One example of ``transform``, which the first dimension of ``tensor`` counts."""
    if isinstance(tensor, BatchedTensor) and tensor.transform.depth > transform.depth:
        inner = push(front(tensor).transpose(0, 1), transform)
        return BatchedTensor(inner, tensor.transform)
    return BatchedTensor(tensor, transform)


def pull_all(tensor: Tensor, levels: list[Vmap]) -> Tensor:
    """The examples of all ``levels``, the outermost along the first dimension."""
    for transform in reversed(levels):
        tensor = pull(tensor, transform)
    return tensor


def push_all(tensor: Tensor, levels: list[Vmap]) -> Tensor:
    """One example of all ``levels``: the inverse of ``pull_all``."""
    for transform in levels:
        tensor = push(tensor, transform)
    return tensor


def batched_like(tensor: Tensor, pattern: Tensor) -> Tensor:
    """One example of a tensor that has the shape of ``physical(pattern)``."""
    if not isinstance(pattern, BatchedTensor):
        return tensor
    inner = batched_like(tensor, pattern.value)
    return push(moved(inner, pattern.batch_dim, 0), pattern.transform)


def whole_like(tensor: Tensor, pattern: Tensor) -> Tensor:
    """All examples of ``tensor``, in the shape of ``physical(pattern)``."""
    if not isinstance(pattern, BatchedTensor):
        return tensor
    outer = moved(pull(tensor, pattern.transform), 0, pattern.batch_dim)
    return whole_like(outer, pattern.value)


def one_for_each(tensor: Tensor, pattern: Tensor) -> Tensor:
    """A copy of ``tensor`` for each example of ``pattern``, if that is batched."""
    for transform in levels_of([pattern]):
        tensor = BatchedTensor(repeated(tensor, transform.size).clone(), transform)
    return tensor


def levels_of(tensors: list[Any]) -> list[Vmap]:
    """The open vmaps that any of ``tensors`` is batched in, the outermost first."""
    found: set[Vmap] = set()
    for tensor in tensors:
        while isinstance(tensor, BatchedTensor):
            if tensor.transform.is_open:
                found.add(tensor.transform)
            tensor = tensor.value
    return sorted(found, key=lambda transform: transform.depth)


def physical(tensor: Tensor) -> Tensor:
    """The tensor with an array and a graph below all batching."""
    while isinstance(tensor, BatchedTensor):
        tensor = tensor.value
    return tensor


def mapped_dims(tensor: Tensor) -> tuple[int, ...]:
    """The dimensions of ``physical(tensor)`` that count examples."""
    if not isinstance(tensor, BatchedTensor):
        return ()
    below = mapped_dims(tensor.value)
    kept = [dim for dim in range(physical(tensor).ndim) if dim not in below]
    return tuple(sorted([*below, kept[tensor.batch_dim]]))


def with_physical(tensor: Tensor, new: Tensor) -> Tensor:
    """``tensor`` with another physical tensor of the same shape."""
    if not isinstance(tensor, BatchedTensor):
        return new
    inner = with_physical(tensor.value, new)
    return BatchedTensor(inner, tensor.transform, tensor.batch_dim)


def levels_of_stack() -> list[Any]:
    """The vmaps that the running code is inside of, the outermost first."""
    return [one for one in opened_here() if one.kind == "vmap"]


def is_differentiating() -> bool:
    """Whether the innermost transform is one of reverse mode."""
    stack = opened_here()
    return bool(stack) and stack[-1].kind == "grad"


def no_requires_grad() -> errors.TransformError:
    """The error for making a leaf require grad where a transform decides that."""
    return errors.TransformError.at(
        "Tensor.requires_grad_",
        "You are attempting to call Tensor.requires_grad_() (or perhaps using "
        "torch.autograd.functional.* APIs) inside of a function being "
        "transformed by a functorch transform, that is vmap, grad, vjp, ...",
        "give the tensor to the transform as an argument, or call "
        "requires_grad_() outside",
    )
