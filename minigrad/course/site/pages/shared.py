"""Files that pages share: code of players, recordings, answers; loaded when near."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from pathlib import Path

CODE = '<script type="application/gzip" id="code">'
"""Where the part of a player's page begins that is the same in all of them."""

RUN_IT = "Run this cell, or trust the notebook, to step through"
"""What a notebook says where no player plays."""

_FRAME = re.compile(
    r"<iframe srcdoc='([^']*)'(.*?)background:var\(--jp-layout-color0,Canvas\)"
)
_GRAPH = re.compile(r'<img (alt="[^"]*") src="data:image/svg\+xml;base64,([^"]*)"')


class Shared:
    """A folder of scripts and pictures, each named by the hash of its content."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    def keep(self, content: str) -> str:
        """Write text as a script that a page can load from a file, too; its name."""
        name = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
        script = f'(window.minigrad ??= {{}})["{name}"] = {json.dumps(content)};\n'
        (self.folder / f"{name}.js").write_text(script, "utf8")
        return name

    def keep_packed(self, content: str) -> str:
        """The same, so that who looks at the script can't read it."""
        packed = gzip.compress(content.encode(), 9, mtime=0)
        return self.keep(base64.b64encode(packed).decode())

    def taken_out(self, shown: str, up: str = "../") -> str:
        """HTML that a cell shows, with what its players carry put into files.

        The page is ``up`` from the front page.
        """
        shown = _FRAME.sub(self._frame, shown)
        shown = _GRAPH.sub(lambda found: self._graph(found, up), shown)
        return shown.replace(RUN_IT, "JavaScript plays")

    def _frame(self, found: re.Match[str]) -> str:
        page = html.unescape(found[1])
        recording, mark, code = page.partition(CODE)
        assert mark, "a player's page has no code"
        names = (
            f'data-page="{self.keep(recording)}" data-code="{self.keep(mark + code)}"'
        )
        return f"<iframe {names}{found[2]}background:none"

    def _graph(self, found: re.Match[str], up: str) -> str:
        picture = base64.b64decode(found[2])
        name = hashlib.blake2b(picture, digest_size=8).hexdigest()
        (self.folder / f"{name}.svg").write_bytes(picture)
        return f'<img {found[1]} loading="lazy" src="{up}_static/shared/{name}.svg"'
