"""The vertices of the graph: what every node has, and the one that ends at a leaf."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from minigrad.engine.core.accumulate import (
    accumulating,
    can_be_grad,
    copied,
    run_post_accumulate,
)
from minigrad.engine.core.saved import Packed, pack, take, unpack
from minigrad.engine.core.tensor import Array, Gradient, Tensor
from minigrad.engine.core.validate import (
    cannot_add_to,
    no_leaf_any_more,
    not_savable,
)
from minigrad.engine.grad_mode import _this_thread, modes
from minigrad.engine.hooks import Attached, _HookMixin, attached_to_leaf
from minigrad.engine.observe import may_keep, notify
from minigrad.engine.tensor_grad import SameAsTensor

FIRST_OF_ALL: Final = 2**64 - 1
"""The sequence number of nodes that run as soon as they are ready: AccumulateGrad."""


class NonTensorArgument:
    """Stands where an argument that is not a Tensor would have its edge."""

    def __repr__(self) -> str:
        return "not a tensor"


NOT_A_TENSOR: Final = NonTensorArgument()

Edge: TypeAlias = "_FunctionBase | tuple[_FunctionBase, int] | NonTensorArgument | None"
"""Where a gradient goes: a node's output 0, ``(node, k)`` for its output k, or None."""

OutputMetadata: TypeAlias = tuple[tuple[int, ...], "np.dtype[Any] | None"] | None
"""Shape and dtype of one output; None for an output that is not a Tensor.

A leaf whose gradient may be of any dtype has None for the dtype.
"""


class _FunctionBase:
    """A recorded operation: edges to where its inputs came from, and what it saved.

    The gradient travels along ``_edges``, one for each argument of forward.
    """

    __slots__ = (
        "__weakref__",
        "_attached",
        "_edges",
        "_metadata",
        "_number",
        "_output_metadata",
        "_saved",
        "needs_input_grad",
    )

    _edges: tuple[Edge, ...]
    needs_input_grad: tuple[bool, ...]
    _output_metadata: tuple[OutputMetadata, ...]
    _number: int
    _saved: tuple[Packed, ...]
    _metadata: dict[str, Any]
    _attached: Attached | None

    _forward_cls: ClassVar[Any]  # whose rule it calls

    # Attached by the module that defines them, which is built on this one.
    _input_metadata: ClassVar[Any]  # inspection
    _raw_saved_tensors: ClassVar[Any]  # inspection

    requires_grad = True

    _takes_detached = False

    saved_for_forward: tuple[Any, ...] | None = None
    """What ``saved_tensors`` is until ``apply`` ends, of a ctx that is asked for it."""

    # Whether the rule may return anything, also where no gradient is needed.
    _is_learners = False

    _view_history: weakref.ref[_FunctionBase] | None = None
    """After a change of a view in place: the history that the view got then."""

    def name(self) -> str:
        """The name of the node, as ``repr`` of a tensor shows it."""
        return type(self).__name__

    def operation_name(self) -> str:
        """What was run forward: the name without ``Backward``, and with its number
        unless that is 0.
        """
        operation, _, number = self.name().rpartition("Backward")
        return operation + number.removeprefix("0") if operation else self.name()

    @property
    def next_functions(self) -> tuple[tuple[_FunctionBase | None, int], ...]:
        """For each tensor argument of forward: the node it came from, and which output.

        A leaf that requires grad gives its AccumulateGrad, one that does not
        ``(None, 0)``.
        """
        pairs = (split_edge(edge) for edge in self._edges if edge is not NOT_A_TENSOR)
        return tuple(pairs)

    def _history_of_output(self) -> _FunctionBase:
        """The ``grad_fn`` of an output that this node saved: mostly the node itself.

        Of a view that it changed, the view's new history, while that is in use.
        """
        reference = self._view_history
        return (None if reference is None else reference()) or self

    def _sequence_nr(self) -> int:
        """The place of this node in the order of creation; newer is greater."""
        return self._number

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict for whatever is worth noting about this node; anomaly mode does."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata = {}
            return self._metadata

    def _set_sequence_nr(self, number: int) -> None:
        """Change the place of this node in the order of creation."""
        self._number = number

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors given to ``save_for_backward``, checked each time they are read.

        Raises: SavedFreedError after backward released them; SavedModifiedError if
        one was changed in place since.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        saved = self._saved
        if type(saved) is not tuple:
            saved = take(self, saved)
        tensors: list[Tensor | None] = []
        for item in saved:
            if isinstance(item, Tensor) and item._version_counter is None:
                tensors.append(item)
            else:
                tensors.append(unpack(item, self))
        return tuple(tensors)

    def _keep_saved(self, *tensors: Tensor | None) -> None:
        """Save ``tensors``: from now on a change in place is noticed.

        Raises: SavedTypeError for anything but a Tensor or None.
        """
        hooks = _this_thread.mode.saved_tensors_hooks
        packed: list[Packed] = []
        for tensor in tensors:
            if tensor is None:
                packed.append(None)
            elif not isinstance(tensor, Tensor):
                raise not_savable(self, len(packed), tensor)
            elif hooks is not None:
                packed.append(hooks.pack(tensor, self))
            elif tensor._version_counter is None and tensor._grad_node is not self:
                packed.append(tensor)  # at version 0
            else:
                packed.append(pack(tensor, self))
        self._saved = tuple(packed)

    def _run_backward(
        self, gradients: list[Gradient | None], create_graph: bool
    ) -> Any:
        """Call the node's rule with one gradient for each of its outputs.

        So it is for a built-in operation; other nodes have their own way.
        """
        for gradient in gradients:
            if gradient is not None:
                returned = self._forward_cls.backward(self, *gradients)
                return returned if type(returned) is tuple else (returned,)
        return (None,) * len(self._edges)

    def _gradients_by_edge(
        self, returned: Any, as_tensors: bool
    ) -> list[Gradient | None]:
        """One gradient per edge, from whatever the rule returned."""
        return list(returned) if isinstance(returned, tuple) else [returned]


class AccumulateGrad(_FunctionBase, _HookMixin):
    """Where the graph ends at a leaf: adds what arrives into the leaf's ``.grad``."""

    __slots__ = ("variable",)

    __call__: ClassVar[Callable[..., Any]]  # inspection

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable
        self._edges = ()
        self.needs_input_grad = ()
        array, wanted = variable.array, variable._grad_dtype
        dtype = array.dtype if isinstance(wanted, SameAsTensor) else wanted
        self._output_metadata = ((array.shape, dtype),)
        self._number = FIRST_OF_ALL
        self._saved = ()
        hooks = variable._tensor_hooks
        self._attached = None if hooks is None else attached_to_leaf(hooks)
        if modes.observed:
            notify("node_made", self)

    def name(self) -> str:
        """torch's name for this node, with its C++ namespace."""
        return "torch::autograd::AccumulateGrad"

    def _run_backward(self, gradients: list[Any], create_graph: bool) -> tuple[()]:
        """Add the only gradient of ``gradients`` to the leaf's ``.grad``."""
        leaf = self.variable
        if gradients[0] is not None and leaf._grad_node is not None:
            raise no_leaf_any_more(leaf._grad_node)
        if gradients[0] is not None and leaf._requires_grad:
            with accumulating:
                old = leaf._grad
                if old is None:
                    new = first_grad(leaf, gradients, create_graph)
                else:
                    new = sum_of(old, gradients[0], create_graph)
                leaf._grad = new
            if modes.observed:
                notify("gradient_accumulated", leaf, old is None, gradients[0], new)
        if leaf._post_accumulate_hooks is not None:
            run_post_accumulate(leaf, leaf._post_accumulate_hooks)
            task = _this_thread.mode.task
            if task is not None:
                task.leave_open_modes()
        return ()

    def _gradients_by_edge(
        self, returned: Any, as_tensors: bool
    ) -> list[Gradient | None]:
        return []


def first_grad(leaf: Tensor, gradients: list[Gradient], create_graph: bool) -> Tensor:
    """The ``.grad`` of a leaf that had none: the array that arrived, or a copy.

    The leaf may keep the array if nothing but the list ``gradients`` refers to it: no
    ctx, hook, caller or other gradient, and no Tensor or view of theirs. A later change
    of ``.grad`` would reach them. A variable is a reference, too, so Python is asked
    for their number before there is one.
    """
    (references,) = map(sys.getrefcount, gradients)
    (gradient,) = gradients
    if isinstance(gradient, Tensor):
        if create_graph:
            return gradient.clone()  # it may be on its way to another leaf, too
        return Tensor(copied(gradient.array, leaf.array))

    is_held = references > OF_THE_LIST or (modes.observed and may_keep())
    if is_held or not can_be_grad(gradient, leaf.array):
        gradient = copied(gradient, leaf.array)
    return Tensor(gradient)


OF_THE_LIST: Final = 2
"""The references that ``sys.getrefcount`` counts: the list's, and its own argument."""


def sum_of(old: Tensor, gradient: Gradient, create_graph: bool) -> Tensor:
    """``old`` after ``gradient`` was added in place; with a graph, a new Tensor."""
    if isinstance(gradient, Tensor) and create_graph:
        total: Tensor = old + gradient
        return total
    if not old.array.flags.writeable:
        raise cannot_add_to(old)
    if isinstance(gradient, Tensor):
        return old.add_(gradient)  # with its tangents
    np.add(old.array, gradient, out=old.array)
    old._bump_version()
    return old


def split_edge(edge: Edge) -> tuple[Any, int]:
    """An edge as torch shows it: the node (or None), and which of its outputs."""
    return edge if type(edge) is tuple else (edge, 0)


def needs_gradient(edge: Edge) -> bool:
    """Whether there is a node at the other end of ``edge``."""
    return edge is not None and edge is not NOT_A_TENSOR


def edge_of(tensor: Tensor) -> Edge:
    """Where a gradient for ``tensor`` goes; None if it requires none."""
    if tensor._base is not None:
        edge: Edge = tensor._edge_of_view()
        return edge
    node = tensor._grad_node
    if node is not None:
        return (node, tensor.output_nr) if tensor.output_nr else node
    return accumulate_node(tensor) if tensor._requires_grad else None


def collect_edges(
    inputs: tuple[object, ...],
) -> tuple[tuple[bool, ...], tuple[Edge, ...]]:
    """For each argument: does it require grad, and where would its gradient go?

    No edges at all if the call isn't recorded: under no_grad, or if no argument
    requires grad. Tensors inside lists, tuples and dicts are not seen.
    """
    needs = []
    for value in inputs:
        needs.append(isinstance(value, Tensor) and value._requires_grad)
    if True not in needs or not _this_thread.mode.grad_enabled:
        return tuple(needs), ()
    edges: list[Edge] = []
    for value in inputs:
        if not isinstance(value, Tensor):
            edges.append(NOT_A_TENSOR)
        elif value._base is not None:
            edges.append(value._edge_of_view())
        elif value._grad_node is not None:
            node = value._grad_node
            edges.append((node, value.output_nr) if value.output_nr else node)
        elif value._requires_grad:
            reference = value._accumulate_node
            leaf = None if reference is None else reference()
            edges.append(leaf or new_accumulate_node(value))
        else:
            edges.append(None)
    return tuple(needs), tuple(edges)


def accumulate_node(leaf: Tensor) -> AccumulateGrad:
    """The leaf's node: the same one for as long as a graph uses it."""
    reference = leaf._accumulate_node
    node = None if reference is None else reference()
    return new_accumulate_node(leaf) if node is None else node


def new_accumulate_node(leaf: Tensor) -> AccumulateGrad:
    """A node for a leaf without one, unless another thread has just made it."""
    with accumulating:
        reference = leaf._accumulate_node
        node = None if reference is None else reference()
        if node is None:
            node = AccumulateGrad(leaf)
            leaf._accumulate_node = weakref.ref(node)
        return node


def metadata_of_output(array: Array) -> tuple[OutputMetadata, ...] | None:
    """Shape and dtype of the only output of a node; None if it can have no gradient.

    Most outputs are like the one before: their nodes share what says so.
    """
    global latest
    metadata = latest
    ((shape, dtype),) = metadata
    if array.dtype is dtype and array.shape == shape:
        return metadata
    if array.dtype.kind not in "fc":
        return None
    metadata = latest = ((array.shape, array.dtype),)
    return metadata


latest: tuple[tuple[tuple[int, ...], Any]] = (((), None),)
"""What ``metadata_of_output`` gave last."""
