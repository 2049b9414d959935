"""The player's code as a page has it: the modules of ``player/``, joined and shortened.

``python -m minigrad.views.script`` makes the files in ``bundles/`` of them. That takes
npx, which fetches terser and esbuild, and the package zopfli. If you change a module or
a style sheet and don't run it, you see your files as you wrote them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Final

import numpy as np

from minigrad.tracing import messages

FOLDER: Final = pathlib.Path(__file__).parent / "player"
BUNDLES: Final = FOLDER.parent / "bundles"
SHEETS: Final = {
    "page": ("player", "presenter"),
    "compare": ("player", "presenter", "compare"),
    "live": ("player", "presenter", "edits", "live"),
    "edits": ("edits",),
    "asks": ("asks",),
}
"""The style sheets of a page, or of a part, by the module that starts it."""
STARTS: Final = {
    "page": "start();",
    "compare": "startComparison();",
    "live": "startLive();",
    "edits": 'document.querySelector("main").edits(editsOver);',
    "asks": 'document.querySelector("main").asks = Asks;',
    "unpack": "",
}
"""What the modules that are bundled do at last."""
FILES: Final = (*[f"{n}.js" for n in STARTS], *[f"{n}.css" for n in SHEETS])
ESBUILD: Final = ("npx", "--yes", "esbuild@0.28.2", "--minify", "--loader=css")
QUICK: Final = partial(gzip.compress, mtime=0)
PACKS_BEST: Final = "passes=2,pure_getters,sequences=false,unsafe"
TERSER: Final = ("npx", "--yes", "terser@5.51.4", "--module", "-m", "-c", PACKS_BEST)

IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
# The digits of a page are what is printed, but for what HTML would escape, and \.
_DIGITS = bytes([digit for digit in range(32, 127) if digit not in b"&'<\\"])
_LITERAL = re.compile(r'"([\w.-]+)"')
_FAMILY = re.compile(r"message\(`([\w.]+)\$\{")
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


def written(file: str) -> str:
    """What a file of ``bundles/`` is made of: modules, or style sheets."""
    first, _, kind = file.partition(".")
    if kind == "js":
        return joined(first)
    paths = [FOLDER / f"{name}.css" for name in SHEETS[first]]
    return "".join([path.read_text("utf-8") for path in paths])


@cache
def bundle(file: str) -> str:
    """Joined modules or style sheets, short if that was made of them as they are."""
    return _shortened(file, written(file))


def _shortened(file: str, long: str) -> str:
    path = BUNDLES / file
    made = path.read_text(encoding="utf-8") if path.is_file() else ""
    head, _, short = made.partition("\n")
    return short if head == stamp(long) else long


def code(first: str = "page", *parts: str) -> str:
    """All that a page runs, as ``unpack.js`` takes it: style and module.

    ``parts`` are what only some pages need; each has a scope of its own.
    """
    styles = [bundle(f"{one}.css") for one in (first, *parts)]
    modules = [f"{{{bundle(f'{part}.js')}}}" for part in parts]
    script = "".join([*modules, bundle(f"{first}.js")])
    return "".join([*styles, "\0", _with_texts(script, first, *parts)])


@cache
def packed_code(language: messages.Language, *names: str) -> str:
    """That code packed: small, if that was made of it as it is now."""
    text = code(*names)
    small = _shortened(f"{'-'.join(names)}.packed", text)
    return packed(text) if small == text else small


def packed(text: str, compress: Callable[[bytes], bytes] = QUICK) -> str:
    """Compressed, in digits that HTML leaves as they are (see unpack.js).

    Two of them have 13 bits, and one at the end has 6.
    """
    small = np.frombuffer(compress(text.encode()), np.uint8)
    bits = np.unpackbits(small, bitorder="little")
    last = len(bits) % 13
    groups = np.pad(bits, (0, -len(bits) % 13)).reshape(-1, 13)
    pairs = divmod(groups @ (1 << np.arange(13)), len(_DIGITS))
    digits = np.stack(pairs[::-1], 1).ravel()[: -1 if 0 < last < 7 else None]
    return bytes(np.frombuffer(_DIGITS, np.uint8)[digits]).decode()


def _with_texts(script: str, *names: str) -> str:
    """A script with the texts that it says: most in the place of their keys.

    Those whose keys it makes, or that have two forms, stand in a table before it; so do
    the words that have another one in this language.
    """
    table = messages.in_use.table
    page, literals = table["page"], set(_LITERAL.findall(script))
    families = tuple(_FAMILY.findall("".join(map(joined, names))))
    two = {key for key in literals if f"{key}.one" in page}
    apart = {
        key: text
        for key, text in page.items()
        if key.startswith(families) or key.removesuffix(".one") in two
    }
    said = {
        key: json.dumps(page[key], ensure_ascii=False) for key in {*page} - {*apart}
    }
    words = {word: text for word, text in table["words"].items() if word != text}
    tables = {"MESSAGES": apart, "WORDS": words}
    consts = [
        f"const {name}={json.dumps(told, ensure_ascii=False, separators=(',', ':'))};"
        for name, told in tables.items()
    ]
    return "".join(
        [*consts, _LITERAL.sub(lambda key: said.get(key[1], key[0]), script)]
    )


def main() -> int:
    """Make all bundles."""
    BUNDLES.mkdir(exist_ok=True)
    for file in FILES:
        command = TERSER if file.endswith(".js") else ESBUILD
        short = subprocess.check_output(command, input=written(file), text=True)
        _keep(file, written(file), short)
    bundle.cache_clear()
    from zopfli import gzip as smallest

    _keep("page.packed", code(), packed(code(), smallest.compress))
    return 0


def _keep(file: str, long: str, short: str) -> None:
    (BUNDLES / file).write_text(f"{stamp(long)}\n{short}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
