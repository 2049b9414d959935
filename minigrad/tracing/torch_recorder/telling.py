"""What all that hear torch share: the story they tell, and what torch does not show."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.tracing.calls import UNHEARD
from minigrad.tracing.foreign import ForeignNode, nothing, torch_tangent, unheard
from minigrad.tracing.happenings import Happenings
from minigrad.tracing.messages import message
from minigrad.tracing.torch_recorder.doors import tensors_in
from minigrad.tracing.torch_recorder.graph import TorchGraph, key_of
from minigrad.tracing.values import error_text


class TorchTelling:
    """Tells what torch does in the thread that records, as far as it can be seen.

    Where looking at torch fails, ``failure`` says why, and nobody listens any more.
    """

    def __init__(
        self, torch: Any, happenings: Happenings, spoke: Callable[[], None]
    ) -> None:
        self.failure: str | None = None
        self.said: list[str] = []
        self.torch = torch
        self.happenings = happenings
        self.story, self.log = happenings.story, happenings.log
        self.told = happenings.graph
        self.spoke = spoke
        self.graph = TorchGraph(torch, self.log.values)
        self.tasks: list[Any] = []
        self.is_over = False
        self._tangents: dict[int, tuple[Callable[[], Any], int]] = {}
        self._thread = threading.get_ident()
        self.told.entry_of = self._entry_of

    def place_of(self, output: Any) -> tuple[Any, int]:
        """The node of which something is an output, and which; None without one."""
        if not isinstance(output, self.torch.Tensor):
            return output.node, output.output_nr  # a GradientEdge
        if not output.requires_grad:
            return None, 0
        if output.grad_fn is None:
            return self.torch.autograd.graph.get_gradient_edge(output).node, 0
        return output.grad_fn, output.output_nr

    def _entry_of(self, node: Any) -> Any:
        """The story's node for one of torch's; any other is itself."""
        if not isinstance(node, self.torch.autograd.graph.Node):
            return node
        with self.looking():
            return self.graph.known(node) or node

    def packed(self, hook: Any, tensor: Any, packed: Any) -> None:
        """A pack hook has returned."""
        self.happenings.tensor_packed(hook, tensor, packed)

    def unpacked(self, hook: Any, packed: Any, tensor: Any) -> None:
        """An unpack hook has returned, for the node whose rule torch runs just now."""
        now = self.torch._C._current_autograd_node()
        reader = None if now is None else self.graph.find(now)
        self.happenings.tensor_unpacked(hook, reader, packed, tensor)

    def meet_all(
        self, result: Any, in_place: bool = False, args: tuple[Any, ...] = ()
    ) -> None:
        """Tell of the nodes that made what a call with ``args`` has returned, or has
        changed."""
        found = tuple(tensors_in(self.torch, result))
        for tensor in found:
            if tensor.requires_grad and tensor.grad_fn is not None:
                made = (tensor, tensor._base) if in_place else found
                self.meet(tensor.grad_fn, made, args)

    def meet_tangents(self, result: Any, maker: str | None) -> None:
        """Tell of the tangents that run beside what ``maker`` has returned."""
        if self.torch.autograd.forward_ad._current_level < 0:
            return
        for tensor in tensors_in(self.torch, result):
            tangent = torch_tangent(tensor)
            known, version = self._tangents.get(id(tensor), (nothing, 0))
            is_told = known() is tensor and version == tensor._version
            if tangent is not None and not is_told:
                self._tangents[id(tensor)] = weakref.ref(tensor), tensor._version
                self.spoke()
                self.happenings.tangent_given(tensor, tangent, maker)

    def meet(
        self, root: Any, made: tuple[Any, ...] = (), args: tuple[Any, ...] = ()
    ) -> None:
        """Tell of the nodes at and below ``root`` that the recording has seen made.

        ``made``, tensors or None, are what one of them may have made of ``args``.
        """
        unmet = self.graph.unmet(root)
        self.graph.find(root)
        for node in sorted(unmet, key=key_of):
            if self.graph.is_new(node):
                self.spoke()
                entry = self.graph.find(node)
                outputs = [o for o in made if o is not None and o.grad_fn is node]
                given = self._given(entry, args)
                self.story.say_joined(entry, tuple(outputs), given)

    def _given(self, entry: ForeignNode, args: tuple[Any, ...]) -> list[Any]:
        """Which of ``args`` the node was given, one for each edge, where that is known.

        torch has its own order: what needs a gradient is known by its edge, and the
        rest is taken as it comes, if nothing is left over.
        """
        values = [one for arg in args for one in (arg if type(arg) is list else [arg])]
        by_edge = [(self.graph.edge_of(value), value) for value in values]
        rest = [v for edge, v in by_edge if edge is None or edge is NOT_A_TENSOR]
        if len(rest) != entry._edges.count(None):
            rest = [UNHEARD] * entry._edges.count(None)
        found = []
        for edge in entry._edges:
            fits = [value for known, value in by_edge if known == edge]
            found.append(rest.pop(0) if edge is None else (*fits, UNHEARD)[0])
        return found

    def say(self, about: str) -> None:
        """Say once what cannot be seen, where it first matters."""
        self.spoke()
        unseen = message(f"torch.unseen.{about}")
        if unseen not in self.said:
            self.said.append(unseen)
            self.story.note(unseen)

    def listens(self) -> bool:
        """Whether what happens now is to be told."""
        here = threading.get_ident() == self._thread
        return here and self.failure is None and not self.is_over

    def tell(self, tell: Callable[..., None], *facts: Any) -> None:
        """Look and tell what happens now, if it is to be told."""
        if self.listens():
            with self.looking():
                tell(*facts)

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """Look and tell; where that fails, the program goes on, and torch unheard."""
        try:
            with unheard():
                yield
        except Exception as error:
            self.failure = error_text(error)
            self.story.note(message("torch.stumbled", error=self.failure))
