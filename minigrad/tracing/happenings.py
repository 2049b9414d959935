"""What happens beside apply and backward: hooks, changes in place, tangents, reruns."""

from __future__ import annotations

import inspect
import linecache
import re
from typing import Any, Final

from minigrad.engine.builtin import Builtin
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.inplace import name_in_place
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.tracing.codes import lines_of
from minigrad.tracing.foreign import ForeignNode, version_of
from minigrad.tracing.graph_log import GraphLog
from minigrad.tracing.log import ENGINE, STORY, EventLog, step
from minigrad.tracing.messages import message
from minigrad.tracing.story import Story
from minigrad.tracing.values import brief, bytes_text, called, plain, safely, seen
from minigrad.transforms.vmap_tensor import BatchedTensor, mapped_dims, physical

ABOUT_WHAT_IS_RETURNED: Final = ("A05", "R01", "T03", "A17")
"""The pieces of advice of teaching mode that mean a line with ``return``."""
CHECKPOINTS = ("minigrad.utils.", "torch.utils.checkpoint")
"""The modules whose own hooks forget saved values and compute them again."""


LAYERS = "minigrad.nn."
"""Where the layers are that come with this package: steps of the story."""


class Happenings:
    """An observer of what is no phase of apply or of backward."""

    def __init__(self, log: EventLog, graph: GraphLog, story: Story) -> None:
        self.log = log
        self.graph = graph
        self.story = story
        self._ref = log.values.ref

    def hook_called(
        self, kind: str, node: Any, slot: int, hook: Any, given: Any, result: Any
    ) -> None:
        """A hook of the learner's has returned."""
        self.log.program_ran()
        if comes_from_checkpoint(hook):
            return
        if kind == "post" and not isinstance(node, ForeignNode):
            self.story.say_returned(node, given)
        fields = {"n": self.graph.id_of(node), "slot": slot, "g": self._ref(given)}
        fields["hook"] = name_of_hook(hook)
        fields["new"] = None if result is None else self._ref(result)
        self.log.emit((step, f"hook.{kind}", None, "", fields))

    def tensor_packed(self, hook: Any, tensor: Tensor, packed: Any) -> None:
        """What is kept for a saved tensor is what a pack hook made of it."""
        self.log.program_ran()
        forgets = comes_from_checkpoint(hook)
        if forgets and self.graph.reruns:
            return
        name = called(seen(tensor, self.log.names.of))
        if forgets:
            say, new = message("checkpoint.forgets", tensor=name), plain("a note")
        else:
            say, new = packed_text(hook, name, tensor, packed), self._ref(packed)
        fields = {"g": self._ref(tensor), "new": new}
        self.log.emit((step, "hook.pack", say, "", fields))

    def tensor_unpacked(self, hook: Any, node: Any, packed: Any, tensor: Any) -> None:
        """An unpack hook has given a saved tensor back."""
        self.log.program_ran()
        remembers = comes_from_checkpoint(hook)
        if remembers and getattr(hook, "__name__", "") == "keep":
            return
        fields: dict[str, Any] = {"new": self._ref(tensor), "g": plain("a note")}
        if not remembers:
            fields |= {"g": self._ref(packed), "hook": name_of_hook(hook)}
        if node is not None:
            fields["n"] = self.graph.id_of(node)
        place = place_of_packed(node, packed)
        if place is not None:
            fields["place"] = place
        self.log.emit((step, "hook.unpack", None, "", fields))

    def changed_in_place(self, tensor: Any) -> None:
        """A version has gone up; of a ``.grad`` in backward that is told elsewhere."""
        self.log.program_ran()
        if self.story.adds_to_grad(tensor):
            return
        own = self.log.names.of(tensor)
        base = tensor._base if isinstance(tensor, Tensor) else None
        whole = None if base is None else self.log.names.of(base)
        others = self.log.ctxs.changes_by(tensor)
        fields = {"t": self._ref(tensor), "name": own or whole}
        fields["ver"] = version_of(tensor)
        if whole and not own:
            fields["part"] = True
        level = STORY if own or whole or others else ENGINE
        self.log.emit((step, "inplace", None, "", fields, level), others=others)

    def tangent_given(
        self,
        tensor: Tensor,
        tangent: Tensor,
        maker: Any = None,
        inputs: tuple[Any, ...] = (),
    ) -> None:
        """A value runs on with its tangent; ``maker`` is the operation it comes from,
        or its name. One of a built-in operation that joins no graph is told here."""
        self.log.program_ran()
        fields: dict[str, Any] = {}
        where, calls = self.log.node_of(tensor), self.log.calls
        if where is not None:
            fields["n"] = where
        else:
            given = calls.given(inputs)
            fields["key"] = calls.key_of(tensor)
            if given:
                fields |= {"call": f"call-{fields['key']}", "function": maker.__name__}
                fields |= calls.fields(given, (), "", calls.made((tensor,)))
        made_by = self.log.node_of(tangent)
        if made_by is not None:
            fields["gn"] = made_by
        if isinstance(maker, type):
            is_ours = issubclass(maker, Builtin)
            maker = name_in_place(maker)[:-1] if is_ours else maker.__name__
        name = self.log.names.of(tensor)
        fields |= {"t": self._ref(tensor), "g": self._ref(tangent)}
        say = tangent_text(name, maker, tensor, tangent)
        self.log.emit((step, "tangent", say, "", fields))

    def tensor_mapped(self, tensor: BatchedTensor) -> None:
        """A vmap has its examples in one tensor: its picture sets their axis apart."""
        calls = self.log.calls
        calls.mapped[calls.key_of(physical(tensor))] = mapped_dims(tensor)

    def advice_given(self, owner: Any, subject: str, warning: Any) -> None:
        """Teaching mode has found something in a class or a hook of the learner's."""
        advice = advice_of(owner, subject, warning)
        say = message("teaching", what=advice["what"].rstrip("."))
        phase = phase_of_advice(advice["what"])
        self.log.emit((step, "lint", say, phase, {"advice": advice}))

    def recomputation_started(self) -> None:
        """A checkpointed part runs once more."""
        self.log.program_ran()
        self.graph.reruns += 1
        self.log.emit((step, "rerun.begin", message("checkpoint.reruns")))

    def recomputation_finished(self, failed: bool) -> None:
        """All that was forgotten is there again; an exception has its own event."""
        self.log.program_ran()
        self.graph.reruns -= 1
        self.log.memory.look_at_packed()
        if not failed:
            self.log.emit((step, "rerun.end", message("checkpoint.is-back")))

    def gradient_captured(self, node: Any, slot: int, gradient: Any) -> None:
        """What ``grad`` was asked for is there."""
        fields = {"n": self.graph.id_of(node), "slot": slot, "g": self._ref(gradient)}
        self.log.emit((step, "grad.captured", None, "", fields))

    def module_entered(self, module: Any) -> None:
        """A layer of minigrad.nn runs: its nodes are one step of the story."""
        self.graph.enter_module(module)
        if not type(module).__module__.startswith(LAYERS):
            return
        self.log.program_ran()
        self.graph.modules.append(0)

    def module_left(self, module: Any, result: Any) -> None:
        """The layer has returned, or an exception has left it."""
        group = self.graph.open_groups.pop() if self.graph.open_groups else None
        if not type(module).__module__.startswith(LAYERS):
            return
        self.log.program_ran()
        nodes = self.graph.modules.pop()
        if nodes:
            fields = {"m": group, "nodes": nodes, "new": self._ref(result)}
            self.log.emit((step, "module", None, "", fields))


def place_of_packed(node: Any, packed: Any) -> int | None:
    """Which of its saved values ``node`` keeps as ``packed``."""
    for place, record in enumerate(getattr(node, "_saved", ())):
        if isinstance(record, HookedRecord) and record.packed is packed:
            return place
    return None


def comes_from_checkpoint(hook: Any) -> bool:
    """Whether a hook is one by which a checkpoint forgets and remembers."""
    owner = getattr(hook, "__self__", None)
    module = getattr(hook, "__module__", None) or type(owner).__module__
    return isinstance(module, str) and module.startswith(CHECKPOINTS)


def advice_of(owner: Any, subject: str, warning: Any) -> dict[str, Any]:
    """The parts of a piece of advice; ``line`` has a number and a text, or is None."""
    what, *rest = str(warning).split("\n")
    where, _, _ = what.partition(":")
    return {
        "id": warning.id,
        "what": what,
        "rest": [line.strip() for line in rest],
        "line": line_of(owner, where, warning.id, subject),
    }


def phase_of_advice(what: str) -> str:
    """When a class is looked at: after its forward, after its backward."""
    where = what.partition(":")[0]
    if where == "saved_tensors_hooks":
        return ""
    return "call its backward" if where.endswith(".backward") else "run forward"


def line_of(owner: Any, where: str, id: str, subject: str) -> list[Any] | None:
    """The line of a class or a hook that a piece of advice is about."""
    rule = getattr(owner, where.rpartition(".")[2], owner)
    code = getattr(inspect.unwrap(rule) if callable(rule) else rule, "__code__", None)
    if code is None or not linecache.getlines(code.co_filename):
        return None
    lines = lines_of(code)
    place = place_in(lines, id, subject)
    return [code.co_firstlineno + place, lines[place].strip()]


def place_in(lines: list[str], id: str, subject: str) -> int:
    """The line that speaks of what is meant; else the one that names the rule."""
    named = rf"\bctx\.{re.escape(subject)}\s*=" if subject.isidentifier() else "$^"
    if id in ABOUT_WHAT_IS_RETURNED:
        named = r"^\s*return\b"
    elif id in ("S03", "M04", "D01") or subject == "unread":
        named = r"\bsave_for_backward\("
    definition = [at for at, line in enumerate(lines) if re.match(r"\s*def ", line)]
    found = [at for at, line in enumerate(lines) if re.search(named, line)]
    return (found or definition or [0])[-1 if found else 0]


def name_of_hook(hook: Any) -> str:
    """A hook by the name it was defined with."""
    name = safely(lambda: str(getattr(hook, "__name__", "")), "")
    return name or f"<{type(hook).__name__}>"


def sized(text: str, value: Any) -> str:
    """What is kept, with its bytes where they are known."""
    array = value.array if isinstance(value, Tensor) else value
    size = getattr(array, "nbytes", None)
    if not isinstance(size, int):
        return text
    return message("tensor.sized", tensor=text, bytes=bytes_text(size))


def packed_text(hook: Any, name: str, tensor: Tensor, kept: Any) -> str:
    """A pack hook was called."""
    given, value = sized(name, tensor), sized(brief(kept), kept)
    name = name_of_hook(hook)
    return message("hook.packed", hook=name, tensor=given, value=value)


def tangent_text(
    name: str | None, maker: str | None, tensor: Tensor, tangent: Tensor
) -> str:
    """A tensor got a tangent."""
    told = brief(tangent)
    if name is None and maker:
        return message("tangent.given.maker", maker=maker, tangent=told)
    key = "tangent.given" if name else "tangent.given.value"
    return message(key, tensor=name or brief(tensor), tangent=told)
