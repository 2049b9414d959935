"""Hearing a call of a learner's Function of torch's: apply, forward, setup_context."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from minigrad.tracing.foreign import ForeignNode, nothing
from minigrad.tracing.torch_recorder.doors import next_call_heard, tensors_in
from minigrad.tracing.torch_recorder.graph import is_torchs, outputs_of, raw_saved
from minigrad.tracing.torch_recorder.telling import TorchTelling


class TorchCalls:
    """Hears each call of ``apply``; ``_calls`` are those under way, one in another."""

    def __init__(self, telling: TorchTelling) -> None:
        self._tell = telling
        self._calls: list[ForeignNode] = []

    def hearing_apply(self, base: Any) -> Callable[..., Any]:
        """``apply`` of the class that all Functions come from, heard."""
        function = self._tell.torch.autograd.Function

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            above: Any = super(base, cls)
            run = functools.partial(above.apply, *args, **kwargs)
            is_theirs = issubclass(cls, function) and not is_torchs(cls)
            if is_theirs and self._tell.listens():
                return self._apply(cls, args, run)
            return run()

        return apply

    def sets_flag(self, run: Any, ctx: Any, *given: Any) -> Any:
        """``set_materialize_grads`` is called: what it sets is nowhere to be read."""
        if self._tell.listens() and self._calls:
            (value,) = given or run.keywords.values()
            self._calls[-1].flags["materialize_grads"] = value
        return run()

    def saves(self, run: Callable[[], Any], ctx: Any, *tensors: Any) -> Any:
        """Forward or setup_context calls ``save_for_backward``."""
        result = run()
        if self._calls:
            self._tell.tell(self._saves, self._calls[-1], ctx)
        return result

    def _saves(self, node: ForeignNode, ctx: Any) -> None:
        if node.ctx() not in (None, ctx):
            return  # of a call that is not heard
        node.holds_ctx(ctx)
        node.reads_marks()
        no_setup = self._tell.torch.autograd.Function.setup_context
        takes_ctx = node._forward_cls.setup_context is no_setup
        by = "forward" if takes_ctx else "setup_context"
        self._tell.story.say_put(node, by)

    def _apply(self, cls: Any, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        with contextlib.ExitStack() as open_now:
            node = None
            with self._tell.looking():
                node = self._call_begins(cls, args, open_now)
            try:
                result = run()
            except BaseException:
                if node is not None:
                    self._tell.log.ctxs.close(node)
                raise
        if node is not None:
            with self._tell.looking():
                self._call_ends(node, result)
            node.lets_go()
        return result

    def _call_begins(
        self, cls: Any, args: tuple[Any, ...], open_now: contextlib.ExitStack
    ) -> ForeignNode:
        self._tell.say("apply")
        tensor = self._tell.torch.Tensor
        needs = [isinstance(value, tensor) and value.requires_grad for value in args]
        edges: tuple[Any, ...] = ()
        if self._tell.torch.is_grad_enabled() and any(needs):
            self._tell.meet_all(args)
            edges = tuple([self._tell.graph.edge_of(value) for value in args])
        node = ForeignNode(f"{cls.__name__}Backward", edges, cls)
        node.needs_input_grad = tuple(needs)
        self._tell.story.ctx_created(node, cls, args)
        self._calls.append(node)
        open_now.callback(self._calls.remove, node)
        self._hear_rules(cls, node, open_now)
        return node

    def _hear_rules(
        self, cls: Any, node: ForeignNode, open_now: contextlib.ExitStack
    ) -> None:
        """Hear when forward and setup_context of this call begin and end."""
        function = self._tell.torch.autograd.Function
        takes_ctx = cls.setup_context is function.setup_context

        def begins(*args: Any) -> None:
            with self._tell.looking():
                if takes_ctx:
                    node.holds_ctx(args[0])
                else:
                    self._tell.say("setup")
                self._tell.story.say_forward_runs()

        def keeps(ctx: Any, *args: Any) -> None:
            with self._tell.looking():
                node.holds_ctx(ctx)
                node.reads_marks()

        ends = keeps if takes_ctx else nothing
        open_now.enter_context(next_call_heard(cls, "forward", begins, ends))
        if not takes_ctx:
            setup = next_call_heard(cls, "setup_context", nothing, keeps)
            open_now.enter_context(setup)

    def _call_ends(self, node: ForeignNode, result: Any) -> None:
        outputs = result if isinstance(result, tuple) else (result,)
        ctx = node.ctx()
        recorded = ctx is not None and any(
            [tensor.grad_fn is ctx for tensor in tensors_in(self._tell.torch, outputs)]
        )
        told = node.to_save or ()
        dirty = node.flags.get("dirty", ())
        self._tell.story.marked = dirty
        for tensor in dirty:
            self._tell.happenings.changed_in_place(tensor)
        self._tell.story.marked = None
        if recorded:
            node._output_metadata = outputs_of(ctx)
            self._tell.graph.add(ctx, node)
        self._tell.story.say_wired(node, outputs, recorded)
        node.forgets_marks()
        slots = dict(enumerate(raw_saved(ctx))) if recorded else {}
        for number, tensor in enumerate(told if recorded else ()):
            self._tell.graph.keep(node, str(number), slots.get(number), tensor)
        self._tell.story.saved_taken(node, told)
        self._tell.meet_tangents(outputs, node._forward_cls.__name__)
