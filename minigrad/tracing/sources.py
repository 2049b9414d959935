"""The code a recording shows: which functions, their lines, coloured."""

from __future__ import annotations

import inspect
import io
import keyword
import linecache
import re
import sysconfig
import textwrap
import tokenize
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from types import CodeType
from typing import Any, Final

from minigrad.tracing.messages import message, word
from minigrad.tracing.values import SECRET

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
