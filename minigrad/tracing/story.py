"""The story: what the engine tells of apply, ctx, graph and backward, as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.ctx import no_setup_context
from minigrad.engine.core.tensor import Tensor
from minigrad.tracing import sentences
from minigrad.tracing.backward_story import BackwardStory
from minigrad.tracing.calls import Fact, value_of
from minigrad.tracing.foreign import maker_of
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.log import Event, EventLog, step
from minigrad.tracing.nodes import attributes_of

PhaseStart = Callable[[str], int | None]


class Story(BackwardStory):
    """An observer of the engine that writes what it hears into the event log.

    ``phase_start`` tells at which event the running apply entered a phase, so that
    the story of that phase stands where its first line is shown. If the log hears
    lines, ``phase_entered`` will be called.
    """

    def __init__(
        self,
        log: EventLog,
        graph: GraphLog,
        phase_start: PhaseStart,
        watch: Callable[[Any], None],
    ) -> None:
        super().__init__(log, graph, watch)
        self._phase_start = phase_start
        self.marked: tuple[Any, ...] | None = None  # dirty, while apply wraps outputs

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        if not joins_story(ctx, function):
            return
        log, cards = self._log, self._cards
        log.program_may_have_run()
        card = cards.get(id(ctx)) or cards.new(ctx)
        card.given = log.calls.given(inputs)
        if not card.is_users:
            return
        collected_at = None
        if self._hears_lines:
            self._watch(function)
            collected_at = self._phase_start("collect inputs")
        log.emit((inputs_collected, card.given, bool(ctx._edges)), at=collected_at)
        log.ctxs.open(ctx, card)
        log.emit((step, "ctx.new", None, "create ctx"))
        if not self._hears_lines:
            self.say_forward_runs()

    def values_saved(self, ctx: Any, tensors: tuple[Any, ...]) -> None:
        """Forward, or setup_context, calls ``save_for_backward``."""
        takes_ctx = ctx._forward_cls.setup_context is no_setup_context
        self.say_put(ctx, "forward" if takes_ctx else "setup_context")

    def say_put(self, ctx: Any, by: str) -> None:
        """The rule ``by`` has put tensors on ``ctx``."""
        at_work = self._log.ctxs.at_work
        if not at_work or at_work[-1][0] is not ctx:
            return
        self._log.ctxs.touched += 1
        self._log.emit((step, "ctx.put", None, "run forward", {"by": by}))

    def phase_entered(self, name: str) -> None:
        """The first line of a phase of the running apply or backward is next."""
        if name == "run forward" and self._log.ctxs.at_work:
            self.say_forward_runs()
        elif name == "call its backward" and self._card and self._card.is_users:
            self.say_rule_called(self._card)

    def say_forward_runs(self) -> None:
        """Forward is about to run."""
        self._log.emit((step, "phase", None, "run forward"))

    def forward_returned(self, ctx: Any, inputs: tuple[Any, ...], result: Any) -> None:
        if not ctx._is_learners:
            return
        self._log.program_may_have_run()
        self.marked = ctx.dirty_tensors or ()

    def saved_taken(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        self._log.ctxs.touched += 1
        if ctx._edges:  # else ctx is let go, with all that forward left on it
            self.say_saved(ctx, saved)
        self._log.ctxs.close(ctx)

    def say_saved(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        """Apply has taken what forward left on ``ctx``."""
        name_of = self._log.names.of
        to_save = [sentences.seen(one, name_of) for one in saved]
        size = self._graph.look_at_saved(ctx)
        say = sentences.saved, to_save, list(attributes_of(ctx)), size
        self._log.emit((step, "ctx.save", say, "take what was saved"), looked=True)

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        recorded = bool(ctx._edges) and is_maker(ctx, outputs)
        if ctx._is_learners:
            self.say_wired(ctx, outputs, recorded)
        elif recorded:
            self._graph.add(ctx, outputs)
        self.marked = None
        for output in outputs:
            base = output._base if isinstance(output, Tensor) else None
            if base is None:
                continue
            changed = maker_of(base)
            if changed is not None and self._graph.known(changed) is None:
                self._graph.add(changed, (base,))  # a view was changed in place

    def say_wired(self, ctx: Any, outputs: tuple[Any, ...], recorded: bool) -> None:
        """The call of ``ctx`` has its outputs; ``recorded``: it joins the graph."""
        card = self._cards.of(ctx)
        if not recorded and not self._log.ctxs.is_open(ctx):
            return  # its start was not heard
        log = self._log
        # Behind the changes in place that were told in this phase.
        is_first = self._hears_lines and not self.marked
        at = self._phase_start("wrap outputs") if is_first else None
        log.emit((step, "phase", None, "wrap outputs"), at=at)
        if recorded:
            self._graph.add(ctx, outputs, card)
        else:
            fields = {"function": ctx._forward_cls.__name__}
            fields |= log.calls.fields(card.given, (), "", log.calls.made(outputs))
            log.emit((step, "phase", None, "link outputs", fields))

    def say_joined(self, node: Any, outputs: tuple[Any, ...], given: list[Any]) -> None:
        """A node that was not heard being made has joined the graph.

        Of ``given``, one for each edge, those that are no tensor may be its node.
        """
        self._cards.of(node).given = self._log.calls.given(given)
        self._graph.add(node, outputs)

    def note(self, text: str) -> None:
        """Say something about the recording itself."""
        self._log.emit((step, "note", text))


def inputs_collected(given: tuple[Fact, ...], recorded: bool) -> Event:
    """The step at which apply has its inputs; what it was given is for a sentence."""
    fields = {"given": [*map(value_of, given)], "recorded": recorded}
    return step("phase", None, "collect inputs", fields)


def is_maker(ctx: Any, outputs: tuple[Any, ...]) -> bool:
    """Whether ``ctx`` is the node of one of these outputs."""
    for output in outputs:
        if isinstance(output, Tensor):
            if output._base is None:
                if output._grad_node is ctx:
                    return True
            elif maker_of(output) is ctx:
                return True
    return False


def joins_story(ctx: Any, function: Any) -> bool:
    """Whether a call is told of: one of a built-in operation if it may join a graph.

    Of the others a recording hears only beside one that observes everything.
    """
    return bool(ctx._edges) or not issubclass(function, Builtin)
