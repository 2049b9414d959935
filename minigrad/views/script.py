"""The player's code: the modules of ``player/`` joined into one, without a bundler."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from minigrad.tracing import messages

FOLDER: Final = pathlib.Path(__file__).parent / "player"
MODULES: Final = (
    "messages",
    "dom",
    "values",
    "folding",
    "story",
    "phases",
    "steps",
    "tips",
    "controls",
    "saving",
    "presenter",
    "code",
    "drawing",
    "badges",
    "listing",
    "graph",
    "ctx",
    "whatif",
    "found",
    "asks",
    "memory",
    "timeline",
    "inspector",
    "asking",
    "numbers",
    "keys",
    "player",
    "compare",
    "page",
)
"""Each imports only from those before it; joined, they share one namespace."""

LIVE_MODULES: Final = ("channel", "live")
"""Those that only a live player needs, after the others."""

IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)
_GAP = re.compile(
    r"""
    (?P<kept> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\]|\\.)*`
        | (?:(?<=[(,!]) | (?<=[=,:?&|]\ )) /(?![/*])(?:[^/\\\[\n]|\\. | \[[^]\n]*\])+/ )
    | (?: \s | //[^\n]* | /\*.*?\*/ )+                       # spaces and comments
    """,
    re.DOTALL | re.VERBOSE,
)
_NEEDS_MORE: Final = frozenset(";{,([=?:&|<>*!")
"""Behind these no statement ends, whatever the next line has."""
_GOES_ON: Final = frozenset("}).,;:?=&|")
"""Before these none does that the end of the line would end."""
_NOT_STYLE = re.compile(
    r"""
    /\*.*?\*/                   # comments
    | (?<=[{};,/])\s*\n\s*      # line breaks, where nothing depends on them
    | [ ](?=\{) | (?<=[:;,])[ ]
    """,
    re.DOTALL | re.VERBOSE,
)


def source(name: str) -> str:
    """One module as it is written."""
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


def module() -> str:
    """All modules as one, which imports and exports nothing.

    Spaces and comments stay behind: a notebook carries the code once for every player
    in it.
    """
    return _joined(MODULES)


def live_module() -> str:
    """The same for a live player."""
    return _joined((*MODULES, *LIVE_MODULES))


def _joined(names: Iterable[str]) -> str:
    parts = [_EXPORT.sub("", IMPORT.sub("", source(name))) for name in names]
    return _texts() + without_gaps("".join(parts))


def _texts() -> str:
    """The table of messages as the page has it, without words that stay the same."""
    table = messages.in_use.table
    words = {word: text for word, text in table["words"].items() if word != text}
    texts = {"MESSAGES": table["page"], "WORDS": words}
    return "".join(
        f"const {name}={json.dumps(told, ensure_ascii=False, separators=(',', ':'))};"
        for name, told in texts.items()
    )


def without_gaps(code: str) -> str:
    """JavaScript with the same tokens, and no space or comment between them.

    >>> without_gaps("const a = 1; // one\\nif (a) {\\n  go( a + +a );\\n}\\n")
    'const a=1;if(a){go(a+ +a);}'
    """
    return _GAP.sub(_without_gap, code)


def _without_gap(found: re.Match[str]) -> str:
    if found["kept"]:
        return found[0]
    before = found.string[found.start() - 1 : found.start()]
    after = found.string[found.end() : found.end() + 1]
    can_end = before not in _NEEDS_MORE and after not in _GOES_ON
    if "\n" in found[0] and before and after and can_end:
        return "\n"
    is_word = re.match(r"[\w$]{2}", before + after) is not None
    return " " if is_word or (before == after and before in "+-") else ""


@cache
def unpacking() -> str:
    """What unpacks a page, before anything else is there."""
    text = (FOLDER.parent / "unpack.js").read_text(encoding="utf-8")
    return without_gaps(text)


def style() -> str:
    """The player's style sheet."""
    return _sheet("player")


def live_style() -> str:
    """The style sheets of a live player."""
    return style() + _sheet("live")


def _sheet(name: str) -> str:
    """A style sheet without comments, line breaks and indentation."""
    text = (FOLDER / f"{name}.css").read_text(encoding="utf-8")
    return _NOT_STYLE.sub("", text)
