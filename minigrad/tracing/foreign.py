"""What a recording needs to know of another engine: torch, where it is imported.

minigrad never imports torch. Everything here asks ``sys.modules`` for it.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.engine.core.tensor import Tensor
from minigrad.nn.module import Module


class TorchSeen(NamedTuple):
    """What is shown of a tensor of another engine."""

    array: Any
    version: int
    requires_grad: bool
    node: str | None
    dtype: str = ""
    """The name of a dtype that NumPy does not have; the numbers are then copies."""
    tangents: tuple[tuple[Any, int], ...] = ()
    """Of each tangent its numbers and its version."""


def torch_module() -> Any:
    """torch, if the program has imported it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") and hasattr(torch, "overrides") else None


def is_torch_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor of torch's."""
    return is_torchs(value, "torch", "Tensor")


def is_torchs(value: Any, module: str, name: str) -> bool:
    """Whether ``value`` is of the class of that name, in a module of torch's."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor of either engine."""
    return isinstance(value, Tensor) or is_torch_tensor(value)


def seen_torch(tensor: Any) -> TorchSeen:
    """What is shown of a tensor of torch's.

    Raises: whatever torch does about one whose numbers cannot be read, as inside vmap.
    """
    with unheard():
        array, dtype = torch_array(tensor)
        node = tensor.grad_fn
        tangent = torch_tangent(tensor)
        is_dual = tangent is not None
        return TorchSeen(
            array,
            version_of(tensor),
            bool(tensor.requires_grad),
            None if node is None else node.name(),
            dtype,
            ((torch_array(tangent)[0], version_of(tangent)),) if is_dual else (),
        )


def torch_tangent(tensor: Any) -> Any:
    """What runs beside a tensor of torch's in forward mode; None if nothing does."""
    torch = sys.modules["torch"]
    level = torch.autograd.forward_ad._current_level
    if level < 0:
        return None
    try:
        with torch.no_grad():  # else looking would make a node
            return torch._VF._unpack_dual(tensor, level=level).tangent
    except RuntimeError:
        return None  # torch cannot tell it inside some of its own rules


def torch_array(tensor: Any) -> tuple[Any, str]:
    """The numbers, in the same memory where that can be, and a dtype NumPy lacks."""
    torch = sys.modules["torch"]
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise TypeError("a tensor that computes in its own way is not read")
    plain = tensor.detach()
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    plain = plain.cpu().resolve_conj().resolve_neg()
    try:
        return plain.numpy(), ""
    except TypeError:
        return plain.float().numpy(), str(plain.dtype).removeprefix("torch.")


def maker_of(tensor: Any) -> Any:
    """The node whose output ``tensor`` is, or None; nothing is made by looking.

    A view of memory that was changed since gets its new node when it is next used.
    """
    if not isinstance(tensor, Tensor):
        return tensor.grad_fn
    if tensor._base is None or tensor._history_version == tensor._seen_version():
        return tensor._grad_node
    return None


def version_of(tensor: Any) -> int:
    """How often a tensor was changed in place; 0 for what does not count it."""
    if isinstance(tensor, Tensor):
        return tensor._seen_version()
    if not is_torch_tensor(tensor):
        return 0
    try:
        return int(tensor._version)
    except RuntimeError:
        return 0  # made in inference mode


@contextlib.contextmanager
def unheard() -> Any:
    """Look at torch's tensors; no mode of the program's, nor ours, hears of it."""
    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        yield


def is_model(value: Any) -> bool:
    """Whether ``value`` is a layer or a model of either engine."""
    if isinstance(value, Module):
        return True
    return "torch.nn" in sys.modules and is_torchs(value, "torch.nn", "Module")


class SavedSeen:
    """What a node of torch's saved, as it was then; nothing is kept alive.

    ``tensor`` is None for what a hook of the learner's made of it.
    """

    def __init__(self, tensor: Any, kept: Any) -> None:
        self.is_packed = tensor is None
        self.now: Callable[[], Any] = nothing if tensor is None else weakref.ref(tensor)
        """The tensor, while somebody else has it."""
        self.kept = kept

    def mark(self) -> tuple[Any, ...]:
        """Differs when what is shown has changed."""
        tensor = self.now()
        version = None if tensor is None else version_of(tensor)
        return ("saved", str(self.kept), version)


class ForeignNode:
    """A node of torch's, as the story asks about it, and what is known of its ctx.

    It holds no tensor: recording keeps nothing alive.
    """

    is_leaf = False
    variable: Any = None
    to_save: Any = None

    def __init__(
        self,
        name: str,
        edges: tuple[Any, ...],
        function: Any,
        outputs: tuple[Any, ...] = (None,),
    ) -> None:
        self._name = name
        self._edges = edges
        self._forward_cls = function
        self._output_metadata = outputs
        self.is_users = isinstance(function, type)
        self.needs_input_grad: tuple[bool, ...] = ()
        self.saved: dict[str, Any] = {}
        self.fixed: dict[str, Any] = {}
        self.flags: dict[str, Any] = {}
        self.freed = False
        self.ctx: Callable[[], Any] = nothing
        self._held: Any = None

    @property
    def _materialize_grads(self) -> bool:
        """Whether backward gets zeros for an output that nothing arrived at."""
        return self.is_users and self.flags.get("materialize_grads", True)

    def name(self) -> str:
        """The name that torch gives the node."""
        return self._name

    def sees_ctx(self, ctx: Any) -> None:
        """From now on ctx, an object of Python's, can be looked at."""
        self.ctx = weakref.ref(ctx)

    def holds_ctx(self, ctx: Any) -> None:
        """Keep ctx until apply has been told: one that is not recorded dies before."""
        self.sees_ctx(ctx)
        self._held = ctx

    def lets_go(self) -> None:
        """Apply has ended, and been told: ctx lives as long as without a recording."""
        self._held = None

    def attributes(self) -> dict[str, Any]:
        """What the learner put on ctx; of a built-in node its saved plain values."""
        ctx = self.ctx()
        return self.fixed if ctx is None else dict(vars(ctx))

    def reads_marks(self) -> None:
        """Take what forward told ctx: the tensors to save, and which are dirty."""
        ctx = self.ctx()
        if ctx is None:
            return
        self.to_save = ctx.to_save if isinstance(ctx.to_save, tuple) else None
        marks = {
            "dirty": ctx.dirty_tensors,
            "non_differentiable": ctx.non_differentiable,
        }
        self.flags |= {flag: marked for flag, marked in marks.items() if marked}

    def forgets_marks(self) -> None:
        """Apply has ended: torch has taken them off ctx."""
        self.to_save = None
        for flag in ("dirty", "non_differentiable"):
            self.flags.pop(flag, None)


def nothing(*facts: Any) -> None:
    """Stands for a reference to what is not there, and tells nothing."""
