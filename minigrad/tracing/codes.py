"""The code objects that a recording shows, and what is known of each beforehand."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Sequence
from functools import cache
from types import CodeType
from typing import Any, Final, NamedTuple

from minigrad.engine.core.backward import GraphTask
from minigrad.engine.core.function import Function
from minigrad.tracing.sources import SourceStore, is_ours, phases_of

STORY: Final = 1
LINES: Final = 2
ENGINE: Final = 3
APPLY_PHASES: Final = (
    "collect inputs",
    "create ctx",
    "run forward",
    "wrap outputs",
    "link outputs",
    "take what was saved",
)
BACKWARD_PHASES: Final = (
    "pick the next ready node",
    "call its backward",
    "check what it returned",
    "add into the receivers",
    "release",
)
UNSHOWN: Final = ("observed", "cls", "ctx", "self")
"""Local names that are left out: ctx has a pane of its own, the flag serves us."""
GRADIENT_RULES: Final = ("backward", "vjp")
"""The story itself tells that these are called, as forward is, and what they return."""
RULES: Final = ("forward", "setup_context", *GRADIENT_RULES, "jvp")
RUNNING: Final = frozenset({"apply", "_run_backward", "unrecorded", "_run_on_arrays"})
"""What runs a rule, of which no line may be heard."""
SETTING: Final = ("STORE_", "DELETE_")
"""How the names of instructions begin that bind or unbind something."""
APPLY_CODE: Final[CodeType] = vars(Function)["apply"].__func__.__code__
ENGINE_CODES: Final = {
    APPLY_CODE: APPLY_PHASES,
    GraphTask.run.__code__: BACKWARD_PHASES,
}
PHASES: Final = {
    name: {"of": of, "name": name}
    for of, names in (("apply", APPLY_PHASES), ("backward", BACKWARD_PHASES))
    for name in names
}
"""Each phase by its name, as an event of it has it."""


class Reach(NamedTuple):
    """The variables that a line can have changed; ``bound`` are others after it.

    ``runs`` says whether it runs a rule, which may leave things on its ctx.
    """

    names: Sequence[str]
    bound: frozenset[Any]
    runs: bool


NOTHING: Final = Reach((), frozenset(), False)


class Stop(NamedTuple):
    """A line: the step in which it is next, the phase it is in, what it can change."""

    event: dict[str, Any]
    phase: dict[str, str] | None
    reach: Reach


class ShownCode:
    """A code object: its source, its variables, and what each of its lines does."""

    def __init__(self, code: CodeType, role: str, sources: SourceStore) -> None:
        self.code = code
        self.role = role
        self.is_engine = role == "engine"
        self.source = sources.add(code, role)
        self.title: str = sources.sources[self.source]["name"]
        self.head = sources.head(self.source)
        is_module = code.co_name == "<module>"
        is_class_body = not is_module and not code.co_flags & inspect.CO_OPTIMIZED
        # What the body of a class does is to define: that is shown to those who ask.
        self.level = ENGINE if self.is_engine or is_class_body else LINES
        self.is_rule = code.co_name in RULES
        self.is_gradient_rule = code.co_name in GRADIENT_RULES
        self.names = shown_names(code)
        self.before_first = 1 if is_module else code.co_firstlineno
        self.stops: dict[int, Stop] = {}
        names = ENGINE_CODES.get(code, ())
        within = phases_of(sources.lines[self.source], names) if names else {}
        self._phases = {line: PHASES[name] for line, name in within.items()}
        self.reach = Reach(self.names, frozenset(self.names), False)
        self._reaches = reaches_of(code) if names else {}

    def stop(self, offset: int) -> Stop:
        """What is known of a line; of the engine's few variables can have changed."""
        known = self.stops.get(offset)
        if known is None:
            reach = self.reach
            event: dict[str, Any] = {"k": "line"}
            phase = self._phases.get(offset)
            if phase is not None:
                event["ph"] = phase
            if self.is_engine:
                reach = self._reaches.get(offset + self.before_first, NOTHING)
            event["lvl"] = self.level
            known = self.stops[offset] = Stop(event, phase, reach)
        return known


def shown_names(code: CodeType) -> list[str]:
    """The variables of a function that are shown."""
    names = (*code.co_varnames, *code.co_cellvars)
    if code.co_name == "<module>":
        names = code.co_names
    return [name for name in names if name not in UNSHOWN and not name.startswith("__")]


@cache
def reaches_of(code: CodeType) -> dict[int, Reach]:
    """For each line of the engine's what it can have changed."""
    lines: dict[int, list[dis.Instruction]] = {}
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = line_of(instruction) or line
        lines.setdefault(line, []).append(instruction)
    return {line: reach_of(steps, shown_names(code)) for line, steps in lines.items()}


def reach_of(steps: list[dis.Instruction], names: list[str]) -> Reach:
    """What the instructions of one line bind, and what they can hand to a call."""
    bound: set[Any] = set()
    used: set[Any] = set()
    outside: set[Any] = set()
    for step in steps:
        several = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        (bound if step.opname.startswith(SETTING) else used).update(several)
        if step.opname in ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD"):
            outside.add(step.argval)
    # What is called may change what it is given, and an item of a list be replaced.
    calls = any([step.opname.startswith(("CALL", "STORE_SUBSCR")) for step in steps])
    changed = [n for n in names if n in bound or (calls and n in used)]
    return Reach(changed, frozenset(bound), bool(outside & RUNNING))


def line_of(instruction: dis.Instruction) -> int | None:
    """The line at which an instruction stands, if Python says it of this one."""
    number = getattr(instruction, "line_number", None)  # from Python 3.13 on
    return instruction.starts_line if number is None else number


def codes_of(item: Any) -> list[CodeType]:
    """The code objects of a function, a method, a class's rules, or a code object."""
    if isinstance(item, CodeType):
        return [item]
    if isinstance(item, type):
        found = [getattr(item, name, None) for name in RULES]
        return [code for one in found for code in codes_of(one)]
    function = getattr(item, "__func__", item)
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    return (
        [code] if isinstance(code, CodeType) and not is_ours(code.co_filename) else []
    )
