"""The player's code as a page has it: the modules of ``player/``, joined and shortened.

``python -m minigrad.views.script`` makes the files in ``bundles/`` of them; that takes
npx, which fetches terser and esbuild. Who has changed a module or a style sheet and not
made them anew is shown them as they are written.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import subprocess
import sys
from functools import cache
from typing import Final

from minigrad.tracing import messages

FOLDER: Final = pathlib.Path(__file__).parent / "player"
BUNDLES: Final = FOLDER.parent / "bundles"
SHEETS: Final = {
    "page": ("player", "presenter"),
    "compare": ("player", "presenter", "compare"),
    "live": ("player", "presenter", "live"),
}
"""The style sheets of a page, by the module that starts it."""
STARTS: Final = {
    "page": "start();",
    "compare": "startComparison();",
    "live": "startLive();",
    "unpack": "",
}
"""What the modules that are bundled do at last."""
LIVE: Final = ("live.",)
TWO: Final = ("compare.",)
"""Beginnings of texts that only a live player has a place for, or a comparison."""
ESBUILD: Final = ("npx", "--yes", "esbuild@0.28.2", "--minify", "--loader=css")
TERSER: Final = ("npx", "--yes", "terser@5.51.4", "--module", "-c", "passes=2", "-m")

IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


def source(name: str) -> str:
    """One module as it is written."""
    folder = FOLDER.parent if name == "unpack" else FOLDER
    return (folder / f"{name}.js").read_text(encoding="utf-8")


@cache
def modules(first: str) -> tuple[str, ...]:
    """A module and all that it needs, each after those that it imports."""
    found: dict[str, None] = {}
    for _, needed in IMPORT.findall(source(first)):
        found |= dict.fromkeys(modules(needed))
    return (*found, first)


def joined(first: str) -> str:
    """A module with all that it needs, which imports and exports nothing."""
    sources = [IMPORT.sub("", source(name)) for name in modules(first)]
    return "".join([_EXPORT.sub("", one) for one in sources]) + STARTS[first]


def stamp(code: str) -> str:
    """The first line of what was made of some code."""
    return f"// {hashlib.blake2b(code.encode(), digest_size=16).hexdigest()}"


def sheets(first: str) -> str:
    """The style sheets of a page as they are written."""
    paths = [FOLDER / f"{name}.css" for name in SHEETS[first]]
    return "".join([path.read_text("utf-8") for path in paths])


@cache
def bundle(first: str) -> str:
    """The joined modules shortened, if that was made of them as they are now."""
    return _shortened(BUNDLES / f"{first}.js", joined(first))


@cache
def style(first: str = "page") -> str:
    """The style sheets shortened, if that was made of them as they are now."""
    return _shortened(BUNDLES / f"{first}.css", sheets(first))


def _shortened(file: pathlib.Path, written: str) -> str:
    made = file.read_text(encoding="utf-8") if file.is_file() else ""
    head, _, short = made.partition("\n")
    return short if head == stamp(written) else written


def module(first: str = "page") -> str:
    """All that a page runs: the texts, the player, and its start."""
    return _texts(first) + bundle(first)


def _texts(first: str) -> str:
    """The table of messages as the page has it, without words that stay the same."""
    table = messages.in_use.table
    said = table["page"].items()
    left_out = {"page": (*LIVE, *TWO), "compare": LIVE}.get(first, ())
    page = {key: text for key, text in said if not key.startswith(left_out)}
    words = {word: text for word, text in table["words"].items() if word != text}
    texts = {"MESSAGES": page, "WORDS": words}
    return "".join(
        f"const {name}={json.dumps(told, ensure_ascii=False, separators=(',', ':'))};"
        for name, told in texts.items()
    )


def main() -> int:
    """Make all bundles."""
    BUNDLES.mkdir(exist_ok=True)
    for first in STARTS:
        _make(BUNDLES / f"{first}.js", joined(first), TERSER)
    for first in SHEETS:
        _make(BUNDLES / f"{first}.css", sheets(first), ESBUILD)
    return 0


def _make(file: pathlib.Path, written: str, command: tuple[str, ...]) -> None:
    done = subprocess.run(
        command, input=written, stdout=subprocess.PIPE, text=True, check=True
    )
    file.write_text(f"{stamp(written)}\n{done.stdout}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
