"""Links to the learner's notebooks, from the folder that a kernel runs in."""

from __future__ import annotations

import html
import os
from pathlib import Path

from minigrad import _workspace


def link(text: str, notebook: str, heading: str = "", style: str = "") -> str:
    """Text that opens a notebook of the workspace, at a heading of it if one is given.

    ``text`` is HTML already. Outside a workspace there is nothing to open: plain text.
    """
    workspace = _workspace.around(Path.cwd())
    if workspace is None:
        return text
    address = os.path.relpath(workspace / notebook).replace(os.sep, "/")
    if heading:
        address = f"{address}#{heading.replace(' ', '-')}"
    return f"<a href='{html.escape(address, quote=True)}' style='{style}'>{text}</a>"
