"""The code that a recording shows: its lines, coloured, and what each of them does."""

from __future__ import annotations

import dis
import inspect
import io
import keyword
import linecache
import re
import sysconfig
import textwrap
import tokenize
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple

from minigrad.engine.core.backward import GraphTask
from minigrad.engine.core.function import Function
from minigrad.tracing.messages import message, word
from minigrad.tracing.values import SECRET

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

Token = list[str]

PACKAGE = str(Path(__file__).resolve().parents[1])
INSTALLED = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
)

SECRET_WRITTEN: Final = re.compile(
    rf"""(?P<name>\w*({SECRET.pattern})\w*['"\]]*\s*(:\s*\w+\s*)?(:|=+)\s*)"""
    r"""[rbfu]*("(\\.|[^"\\])*"|'(\\.|[^'\\])*')""",
    re.IGNORECASE,
)
"""A text in quotes behind such a name: assigned, as an argument or in a dict."""


COLOURED: Final = {"COMMENT": "c", "NUMBER": "n", "STRING": "s", "FSTRING": "s"}
"""The class of a token by its name, or how that begins."""


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


class SourceStore:
    """The functions that a recording shows, by their code objects."""

    def __init__(self) -> None:
        self.sources: list[dict[str, Any]] = []
        self.index: dict[CodeType, int] = {}
        self.lines: list[list[str]] = []

    def add(self, code: CodeType, role: str) -> int:
        """The number of ``code`` among the sources; role: user, engine or driver."""
        if code in self.index:
            return self.index[code]
        lines = [without_secrets(line) for line in lines_of(code)]
        self.index[code] = len(self.sources)
        self.lines.append(lines)
        self.sources.append(
            {
                "name": title_of(code, role),
                "role": role,
                "file": file_label(code.co_filename),
                "first": 1 if code.co_name == "<module>" else code.co_firstlineno,
            }
        )
        return self.index[code]

    def finish(self) -> list[dict[str, Any]]:
        """All sources, coloured."""
        for source, lines in zip(self.sources, self.lines, strict=True):
            source["tokens"] = tokens_of("\n".join(lines))
        return self.sources

    def head(self, source: int) -> int:
        """The line of a source with its ``def``; decorators stand before it."""
        for number, line in enumerate(self.lines[source]):
            if line.lstrip().startswith(("def ", "async def ", "class ")):
                return number
        return 0


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


def is_users(filename: str) -> bool:
    """Whether a file is a cell of a notebook or of an IPython session."""
    return "ipykernel_" in filename or filename.startswith("<ipython-input")


def is_installed(filename: str) -> bool:
    """Whether a file came with Python or with a package: nothing a learner wrote."""
    return filename.startswith(INSTALLED) or filename.startswith("<frozen")


def is_ours(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return filename.startswith(PACKAGE)


def lines_of(code: CodeType) -> list[str]:
    """The source lines of a function, or of the whole cell for its top level."""
    return engines_lines(code) if is_ours(code.co_filename) else lines_in_file(code)


def lines_in_file(code: CodeType) -> list[str]:
    """The same, read anew: a learner's file may have changed."""
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return [message("source.missing")]
    if code.co_name != "<module>":
        lines = inspect.getblock(lines[code.co_firstlineno - 1 :])
    return textwrap.dedent("".join(lines)).rstrip("\n").split("\n")


engines_lines = cache(lines_in_file)
"""The same of code of this package, which stays as it is."""


def without_secrets(line: str) -> str:
    """A line in which no text is written that is given a name like a secret's."""
    hidden = word("(hidden)")
    return SECRET_WRITTEN.sub(lambda found: f'{found["name"]}"{hidden}"', line)


def title_of(code: CodeType, role: str) -> str:
    """What the card of a source is headed with."""
    if code.co_name == "<module>":
        return "your cell" if is_users(code.co_filename) else "your program"
    return code.co_qualname.split("<locals>.")[-1]


def file_label(filename: str) -> str:
    """Where a source is from, without a path of this machine."""
    if is_users(filename):
        return "notebook cell"
    if is_ours(filename):
        return f"minigrad{filename[len(PACKAGE) :]}".replace("\\", "/")
    return Path(filename).name


def phases_of(lines: list[str], names: tuple[str, ...]) -> dict[int, str]:
    """For each line of a display function: the phase it belongs to."""
    phases: dict[int, str] = {}
    phase = None
    for number, line in enumerate(lines):
        comment = line.strip().removeprefix("# ")
        if line.strip().startswith("#") and comment in names:
            phase = comment
        if phase is not None:
            phases[number] = phase
    return phases


def tokens_of(text: str) -> list[list[Token]]:
    """Per line: runs of ``[class, text]``.

    The classes: k keyword, s string, c comment, n number, f function or class name.
    """
    lines: list[list[Token]] = [[]]
    for kind, part in parts_of(text):
        for place, run in enumerate(part.split("\n")):
            if place:
                lines.append([])
            if run:
                lines[-1].append([kind, run])
    return lines


@lru_cache(maxsize=64)  # the engine's own functions are in every recording
def parts_of(text: str) -> tuple[tuple[str, str], ...]:
    """The whole text in parts, some with a colour; none has one if it has errors."""
    begins = [0, *accumulate([len(line) + 1 for line in text.split("\n")])]
    parts: list[tuple[str, str]] = []
    at, before = 0, ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if kind := kind_of(token, before):
                first, last = [begins[r - 1] + c for r, c in (token.start, token.end)]
                parts += [("", text[at:first]), (kind, text[max(at, first) : last])]
                at = max(at, last)
            before = token.string if token.string.strip() else before
    except (tokenize.TokenError, SyntaxError):
        return (("", text),)
    return (*parts, ("", text[at:]))


def kind_of(token: tokenize.TokenInfo, before: str) -> str:
    """The class of one token; ``before`` is the text of the one before it."""
    if token.type == tokenize.NAME:
        if keyword.iskeyword(token.string):
            return "k"
        return "f" if before in ("def", "class", "@") else ""
    return COLOURED.get(tokenize.tok_name[token.type].partition("_")[0], "")
