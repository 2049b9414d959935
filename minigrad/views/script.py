"""The player's code: the modules of ``player/`` joined into one, without a bundler."""

from __future__ import annotations

import json
import pathlib
import re
from functools import cache
from typing import Final

from minigrad.tracing import messages

FOLDER: Final = pathlib.Path(__file__).parent / "player"
SHEETS: Final = {"page": ("player",), "live": ("player", "live")}
"""The style sheets of a page, by the module that starts it."""

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


@cache
def modules(first: str) -> tuple[str, ...]:
    """A module and all that it needs, each after those that it imports."""
    found: dict[str, None] = {}
    for _, needed in IMPORT.findall(source(first)):
        found |= dict.fromkeys(modules(needed))
    return (*found, first)


def module(first: str = "page") -> str:
    """What a page needs as one module, which imports and exports nothing.

    Spaces and comments stay behind: a notebook carries the code once for every player
    in it.
    """
    sources = [IMPORT.sub("", source(name)) for name in modules(first)]
    return _texts() + without_gaps("".join([_EXPORT.sub("", one) for one in sources]))


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


def style(first: str = "page") -> str:
    """The style sheets of a page, without comments, line breaks and indentation."""
    paths = [FOLDER / f"{name}.css" for name in SHEETS[first]]
    return "".join([_NOT_STYLE.sub("", path.read_text("utf-8")) for path in paths])
