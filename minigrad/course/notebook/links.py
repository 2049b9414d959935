"""Links to the learner's notebooks, from the folder that a kernel runs in."""

from __future__ import annotations

import html
import json
import os
import re
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
        address = f"{address}#{place_of(heading, workspace / notebook)}"
    return f"<a href='{html.escape(address, quote=True)}' style='{style}'>{text}</a>"


def place_of(heading: str, notebook: Path) -> str:
    """Where a heading is, as the end of an address.

    By its cell, where that is known: JupyterLab finds a heading only once its cell has
    been drawn, so a notebook that the link itself opens would stay at its top.
    """
    try:
        cells = json.loads(notebook.read_text("utf8"))["cells"]
        line = re.compile(rf"#+ {re.escape(heading)}\s*$", re.MULTILINE)
        for cell in cells:
            if cell["cell_type"] == "markdown" and line.search("".join(cell["source"])):
                return f"cell-id={cell['id']}"
    except (OSError, ValueError, LookupError, TypeError):
        pass  # the learner's own copy may be anything, or not be there
    return heading.replace(" ", "-")
