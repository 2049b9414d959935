"""The tensor: an array, and how it came about."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias
from weakref import ref

import numpy as np
from numpy import ndarray

from minigrad import errors
from minigrad.engine import inference, interpreters
from minigrad.engine._tensor_methods import TensorMethods
from minigrad.engine.dtypes import check_can_require_grad, default_dtype
from minigrad.engine.grad_mode import (
    _this_thread,
    is_inference_mode_enabled,
    modes,
)
from minigrad.engine.hooks import follow
from minigrad.engine.observe import notify
from minigrad.engine.tensor_conversions import TensorConversions
from minigrad.engine.tensor_grad import TensorGrad
from minigrad.engine.tensor_hooks import TensorHooks
from minigrad.engine.tensor_memory import (
    NO_COUNTER,
    PlainViews,
    VersionCounter,
    ViewKind,
    become_view_of,
    remember_memory,
    update_views,
    whole_memory,
)

if TYPE_CHECKING:
    from minigrad.engine.core.node import AccumulateGrad, _FunctionBase

Array: TypeAlias = "np.ndarray[Any, Any]"

Gradient: TypeAlias = "Array | Tensor"
"""How a gradient travels: as an array, or as a Tensor if it has a graph."""


class Tensor(TensorMethods, TensorConversions, TensorGrad, TensorHooks):
    """An array that knows which operation made it.

    ``array`` holds the values; ``grad_fn`` is the node of the operation (None for a
    leaf) and ``output_nr`` tells which of its outputs this is. Make one with
    ``minigrad.tensor``.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_grad_node",
        "_requires_grad",
        "_version_counter",
        "array",
        "output_nr",
    )

    array: Array
    output_nr: int
    _requires_grad: bool
    _grad_node: _FunctionBase | None
    _version_counter: VersionCounter | None

    # What few tensors have stays on the class until one of them sets it.
    _accumulate_node: ref[AccumulateGrad] | None = None
    _base: Tensor | None = None
    _view_kind: ViewKind | None = None
    _detached_at: int | None = None
    _history_version = 0
    _is_leaf_by_request = False
    _plain_views: PlainViews | None = None
    _memory: Array | None = None  # where a detached part of something larger lies
    _forward_base: Tensor | Literal[False] | None = None  # where it is not _base
    _level: Any = None
    _tangents: dict[Any, Tensor] | None = None

    # Attached by the modules that define them, which are built on this one.
    backward: ClassVar[Callable[..., None]]  # gradients
    detach: ClassVar[Callable[[Tensor], Tensor]]  # detached
    detach_: ClassVar[Callable[[Tensor], Tensor]]  # detached
    data: Any  # detached
    _grad_fn: ClassVar[Any]  # detached
    __copy__: ClassVar[Callable[[Tensor], Tensor]]  # detached
    __deepcopy__: ClassVar[Callable[[Tensor, dict[int, Any]], Tensor]]  # detached
    _history_of_view: ClassVar[Callable[[Tensor], _FunctionBase | None]]  # views
    _edge_of_view: ClassVar[Callable[[Tensor], Any]]  # views
    _rebase_history: ClassVar[Callable[..., None]]  # views
    _check_in_place: ClassVar[Callable[[Tensor, str], None]]  # views
    _sum_to: ClassVar[Callable[[Any, tuple[int, ...]], Any]]  # structural
    _to_dtype: ClassVar[Callable[[Any, Any], Any]]  # structural

    # NumPy leaves `array * tensor` to Tensor.__rmul__ instead of looping over it.
    __array_ufunc__ = None

    def __init__(self, array: object, requires_grad: bool = False) -> None:
        self.array = array if type(array) is ndarray else array_of(array)
        self._requires_grad = requires_grad
        self._grad_node = None
        self.output_nr = 0
        self._version_counter = None
        if inference.open_blocks and is_inference_mode_enabled():
            self._version_counter = NO_COUNTER

    @property
    def grad_fn(self) -> _FunctionBase | None:
        """The node that made it; None for a leaf."""
        return self._grad_node if self._base is None else self._history_of_view()

    @interpreters.dispatched("read_values")
    def __reduce_ex__(self, protocol: Any) -> Any:
        """For pickle: values and ``requires_grad``; graph and ``.grad`` stay here."""
        return unpickled, (self.array, self._requires_grad)

    def _refuse_deletion(self) -> None:
        raise errors.RequiresGradError.at(
            "Tensor.requires_grad",
            "requires_grad must be a bool; it cannot be deleted",
            "set it to False",
        )

    def _set_requires_grad(self, value: bool) -> None:
        if value is not True and value is not False:
            raise errors.RequiresGradError.at(
                "Tensor.requires_grad",
                f"requires_grad must be a bool, not {type(value).__name__}",
                "set it to True or False",
            )
        node = None if value else self._grad_node
        if node is not None:
            raise errors.RequiresGradError.at(
                "Tensor.requires_grad",
                "you can only change requires_grad flags of leaf variables. "
                f"This one was made by {node.name()}",
                "use detach() to get a tensor outside the graph",
                "04",
            )
        if value:
            check_can_require_grad(self.dtype.dtype, "Tensor.requires_grad")
            if self._version_counter is NO_COUNTER:
                inference.check_inside(
                    "Tensor.requires_grad",
                    "Setting requires_grad=True on inference tensor outside "
                    "InferenceMode",
                )
        self._requires_grad = value
        if self._base is not None:
            self._is_leaf_by_request = value
            self._requires_grad = value or self._base._requires_grad
        else:
            self._update_views()

    requires_grad = property(
        operator.attrgetter("_requires_grad"),
        _set_requires_grad,
        _refuse_deletion,
        doc="Whether operations on this tensor are recorded.",
    )

    @interpreters.dispatched("require_grad")
    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` and return the tensor itself."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it."""
        return self.grad_fn is None

    @property
    def _version(self) -> int:
        """How often the memory was changed in place."""
        counter = self._version_counter
        return 0 if counter is None else counter.value

    def _bump_version(self) -> None:
        """Note one change in place."""
        if self._version_counter is None:
            self._version_counter = VersionCounter()
        if self._version_counter is not NO_COUNTER:
            self._version_counter.value += 1
        if modes.observed:
            notify("changed_in_place", self)

    def _an_example(self) -> Array:
        """An array with its shape, its dtype and its steps."""
        return self.array

    def _physical(self) -> Tensor:
        """The tensor itself; of a tensor under vmap, the one that has an array."""
        return self

    def is_inference(self) -> bool:
        """Whether it was made in inference mode, and is no view of a normal tensor."""
        return self._version_counter is NO_COUNTER

    def _seen_version(self) -> int:
        """The version, or 0 for an inference tensor, which has none."""
        counter = self._version_counter
        return 0 if counter is None or counter is NO_COUNTER else counter.value

    def _prepare_change(self) -> None:
        """To be called before the memory is written: may it be, and who keeps a copy?

        Raises: InferenceError for an inference tensor outside of inference mode.
        """
        if self._version_counter is NO_COUNTER:
            inference.check_inside(
                "Tensor", "Inplace update to inference tensor outside InferenceMode"
            )
        mode = _this_thread.mode
        if mode.before_change is not None:
            mode.before_change(self)

    def _share_version(self, other: Tensor) -> None:
        """Count changes together with ``other``, whose memory this tensor uses."""
        if other._version_counter is None:
            other._version_counter = VersionCounter()
        self._version_counter = other._version_counter

    def _set_history(self, node: _FunctionBase, output_nr: int) -> None:
        """Say that ``node`` made this tensor, as its output ``output_nr``."""
        if self._grad_node is not None:
            self._leave_history(node, output_nr)
        self._grad_node = node
        self.output_nr = output_nr
        self._requires_grad = True

    def _leave_history(self, node: _FunctionBase, output_nr: int) -> None:
        """A new history replaces one: hooks stay there, retaining grad goes along."""
        if self._retains_grad:
            follow(self, node, output_nr)

    _become_view_of = become_view_of
    _update_views = update_views
    _remember_memory = remember_memory
    _whole_memory = whole_memory

    def _is_view(self) -> bool:
        return self._base is not None

    def __pos__(self) -> Tensor:
        return self

    __hash__ = object.__hash__


def unpickled(array: Array, requires_grad: bool) -> Tensor:
    """The leaf that pickle stored as these two."""
    return Tensor(array, requires_grad)


def array_of(values: object) -> Array:
    """The array of a NumPy number, or of a list, which becomes floating point.

    Raises: ArgumentTypeError for a whole number: torch's is a length, not a value.
    See: torch ``Tensor``, which takes the default dtype where ``tensor`` infers one.
    """
    if type(values) is int:
        raise errors.ArgumentTypeError.at(
            "Tensor",
            f"a whole number is not taken here, got {values}: in torch it is a "
            "length, and the elements are whatever the memory held",
            f"say what is meant: minigrad.empty({values}) or minigrad.tensor({values})",
        )
    if not isinstance(values, list | tuple):
        return np.asarray(values)
    return np.asarray(values, default_dtype())
