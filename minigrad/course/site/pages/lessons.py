"""A lesson as a page: run once, its players and the answers it asks for put aside."""

from __future__ import annotations

import ast
import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from minigrad.course.author import slides
from minigrad.course.check import with_code
from minigrad.course.site.pages.addresses import Addresses
from minigrad.course.site.pages.shared import Shared
from minigrad.views import forms

if TYPE_CHECKING:
    from nbformat import NotebookNode

OUTCOMES = "application/vnd.minigrad.outcomes+json"
ASKED = f"""\
import dataclasses as _dataclasses
display({{"{OUTCOMES}": {{
    _choice: _dataclasses.replace(_outcome, said=_choice)._repr_html_()
    for _choice in CHOICES
}}}}, raw=True)
_outcome.trace
"""
"""What a prediction runs here: what is said to each choice, and then its recording."""

LIVE = """\
_live = CALL.recording
if _live.drawn is not None:
    display(_live.drawn)
_live
"""
"""What a live player shows here: its first run."""

_LIVE = re.compile(r"^mg\.live\(.*\)\Z", re.MULTILINE)

FORGET = ("course.progress(", "course.review(")
"""Calls that tell about one learner: there is none yet."""

_LINK = re.compile(r"\[([^\]]*)\]\(([\w./]+\.ipynb)\)")
_HREF = re.compile(r"""href=(['"])([\w./]+\.ipynb)(?:#[^'"]*)?\1""")


def page_of(path: Path, shared: Shared, addresses: Addresses) -> NotebookNode:
    """The notebook of a lesson as Sphinx reads it, with all it shows.

    Raises: nbclient's CellExecutionError if a cell fails that is not meant to.
    """
    book = executed(path)
    book.metadata.pop("widgets", None)  # a page of widgets asks the network for them
    edition = addresses.in_edition(f"notebooks/{path.name}")
    waits = ""
    for cell in book.cells:
        if cell.cell_type == "markdown":
            waits = "" if ends_waiting(cell) else waits
            waits = SHOWS if "**Predict" in cell.source else waits
            cell.source = _LINK.sub(addresses.as_html, cell.source)
            continue
        show(cell, shared, addresses)
        if _LIVE.search(cell.source):
            cell.outputs.append(note(NEEDS_PYTHON.replace("EDITION", edition)))
        if "course.predict(" in cell.source:
            waits = SHOWS_LATER
            as_prediction(cell, shared)
            continue
        waits = "" if ends_waiting(cell) else waits
        tags = cell.metadata.setdefault("tags", [])
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            tags.append("remove-input")
        if waits and cell.outputs:
            tags.append("hide-output")
            cell.metadata["mystnb"] = {"code_prompt_show": waits}
            cell.metadata["mystnb"]["code_prompt_hide"] = waits
    title, _, rest = book.cells[0].source.partition("\n")
    actions = ACTIONS.replace("EDITION", edition).replace("NAME", path.name)
    title = title.removeprefix("# ")
    book.cells[0].source = f"# {path.name[:2]} {title}\n\n{actions}\n{rest}"
    return book


ACTIONS = """\
<p class="minigrad-actions"><a href="EDITION">Open in the browser edition</a>
<a href="../download/NAME" download>Download the notebook</a></p>
"""
NEEDS_PYTHON = """\
<p>Sliders and inputs need Python: <a href="EDITION">open this lesson in the browser
edition</a>. Here its first run plays.</p>
"""
SHOWS = "What it shows"
SHOWS_LATER = "After your Commit: what it shows"
"""The words on what is folded, because it gives the answer to a question away."""


def ends_waiting(cell: NotebookNode) -> bool:
    """Whether what comes now has nothing to do with the question before it."""
    tags = {"try", "because"} & set(cell.metadata.get("tags", []))
    return bool(tags) or cell.source.startswith("## ")


def note(page: str) -> NotebookNode:
    """An output that is HTML."""
    from nbformat.v4 import new_output

    made: NotebookNode = new_output("display_data", {"text/html": page})
    return made


def executed(path: Path) -> NotebookNode:
    """The notebook with its outputs, and its sources as they are written."""
    import nbformat

    book = nbformat.read(path, as_version=4)
    written = [cell.source for cell in book.cells]
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.source = to_run(cell.source)
    ran = slides.run(book)
    for cell, source in zip(ran.cells, written, strict=True):
        cell.source = source
    return ran


def to_run(source: str) -> str:
    """A cell with what it runs here: nobody commits, and no slider is moved."""
    if "course.predict(" in source:
        last = ast.parse(source).body[-1]
        before = source.splitlines()[: last.lineno - 1]
        asks = "\n".join(source.splitlines()[last.lineno - 1 :])
        _, choices = asked_by(source)
        shows = asks.rstrip().removesuffix(")").rstrip().removesuffix(",")
        shows = f"_outcome = {shows}, show=True)"
        return "\n".join([*before, shows, ASKED.replace("CHOICES", repr(choices))])
    return _LIVE.sub(lambda call: LIVE.replace("CALL", call[0]), source)


def asked_by(source: str) -> tuple[str, list[str]]:
    """The question of a prediction, and its choices."""
    last = ast.parse(source).body[-1]
    assert isinstance(last, ast.Expr)  # the question, with nothing behind it
    assert isinstance(last.value, ast.Call)
    _, question, choices = map(ast.literal_eval, last.value.args[:3])
    return question, choices


def show(cell: NotebookNode, shared: Shared, addresses: Addresses) -> None:
    """Keep of a cell's outputs what a page shows, with its links and players."""
    if cell.source.startswith(FORGET):
        cell.outputs = []
    slides.keep_last_bar(cell)
    for output in cell.outputs:
        data = output.get("data", {})
        for kind in ("image/svg+xml", "application/vnd.jupyter.widget-view+json"):
            data.pop(kind, None)
        if "text/html" in data:
            data["text/html"] = shared.taken_out(
                _HREF.sub(
                    lambda found: f'href="{addresses.of(found[2])}"', data["text/html"]
                )
            )


def as_prediction(cell: NotebookNode, shared: Shared) -> None:
    """Make the cell a form; what is said to an answer waits in a file."""
    question, choices = asked_by(cell.source)
    outcomes = [o.data[OUTCOMES] for o in cell.outputs if OUTCOMES in o.get("data", {})]
    shown = "".join(
        [html_of(o) for o in cell.outputs if OUTCOMES not in o.get("data", {})]
    )
    answer = shared.keep_packed(json.dumps({"outcomes": outcomes[0], "shown": shown}))
    asked = [{"id": "", "text": question, "choices": choices}]
    spec = {"key": answer, **forms.asked("Predict", "", asked, {})}
    listed = "".join([f"<li>{with_code(choice)}</li>" for choice in choices])
    form = (
        f'<div class="minigrad-prediction" data-answer="{answer}" '
        f'data-spec="{html.escape(json.dumps(spec))}"><p><b>Predict.</b> '
        f'{with_code(question)}</p><ol type="a">{listed}</ol></div>'
    )
    cell.cell_type = "markdown"
    cell.source = f"`````{{raw}} html\n{form}\n`````"
    cell.metadata = type(cell.metadata)()
    for name in ("outputs", "execution_count"):
        del cell[name]


def html_of(output: NotebookNode) -> str:
    """An output as HTML, where no notebook's own code shows it."""
    data = output.get("data", {})
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        name = html.escape(data.get("text/plain", ""))
        return f'<img alt="{name}" src="data:image/png;base64,{data["image/png"]}">'
    text = output.get("text", data.get("text/plain", ""))
    return f"<pre>{html.escape(text)}</pre>"
