"""A lesson and its exercises as pages: run once, players and answers put aside."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from minigrad.course.author import slides
from minigrad.course.check import Exercise, with_code
from minigrad.course.exercises import catalogue, flat
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

FORGET = re.compile(r"course\.(progress|review)\(|.*\ngym\(\)\Z", re.DOTALL)
"""Cells that tell about one learner: there is none yet."""

UNWRITTEN = ("NotImplementedError", "KeyError")
"""What an exercise's cells raise, as nobody has written its functions yet."""

_CELL = re.compile(r"\S*ipykernel_\d+\S+\.py:(\d+)")
_LINK = re.compile(r"\[([^\]]*)\]\(([\w./]+\.ipynb)\)")
_HREF = re.compile(r"""href=(['"])([\w./]+\.ipynb)(?:#[^'"]*)?\1""")
_ASKS = re.compile(r'(exercise|check|hint)\("([\w.]+)"')


def page_of(
    book: NotebookNode, path: Path, shared: Shared, addresses: Addresses
) -> NotebookNode:
    """A notebook that was run, as Sphinx reads it, with all it shows."""
    edition = addresses.in_edition(str(path))
    text = flat("\n".join([cell.source for cell in book.cells]))
    waits = ""
    for cell in book.cells:
        if cell.cell_type == "markdown":
            waits = "" if ends_waiting(cell) else waits
            waits = SHOWS if "**Predict" in cell.source else waits
            cell.source = _LINK.sub(addresses.as_html, cell.source)
            continue
        if asks := _ASKS.match(cell.source):
            as_exercise(cell, asks[1], asks[2], text)
            continue
        show(cell, shared, addresses)
        if path.stem in addresses.exercises:
            cell.outputs = [o for o in cell.outputs if o.get("ename") not in UNWRITTEN]
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
    actions = ACTIONS + (TO_ANSWER if path.stem in addresses.exercises else "")
    actions = actions.replace("EDITION", edition).replace("NAME", path.name)
    number = f"{path.name[:2]} " if path.name[0].isdigit() else ""
    title = number + title.removeprefix("# ")
    book.cells[0].source = f"# {title}\n\n{actions}\n{rest}"
    return book


def lead_on(book: NotebookNode, other: Path, addresses: Addresses) -> None:
    """Lead from a lesson's page to its exercises, below it in the list; or back."""
    first, text = book.cells[0], "The lesson"
    if other.stem in addresses.exercises:
        text = "Exercises"
        first.source += TREE.replace("NAME", other.stem)
    link = f'<a href="{addresses.of(other.name)}">{text}</a>'
    first.source = first.source.replace("</p>", f"\n{link}</p>", 1)


ACTIONS = """\
<p class="minigrad-actions"><a href="EDITION">Open in the browser edition</a>
<a href="../download/NAME" download>Download the notebook</a></p>
"""
TO_ANSWER = """\
<p>Here you read the exercises. To answer and check them you need Python: open them in
the browser edition, or download them.</p>
"""
TREE = "\n\n```{toctree}\n:hidden:\n\nExercises <../exercises/NAME>\n```\n"
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


RESET = "%reset -f"
"""Runs between two notebooks, so that the second knows no name of the first."""


def executed(paths: Sequence[Path]) -> list[NotebookNode]:
    """Notebooks with their outputs, run in one kernel, and sources as they're written.

    Raises: nbclient's CellExecutionError if a cell fails that is not meant to.
    """
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    books = [nbformat.read(path, as_version=4) for path in paths]
    cells = [cell for book in books for cell in [*book.cells, new_code_cell(RESET)]]
    written = [cell.source for cell in cells]
    for cell in cells:
        if cell.cell_type == "code":
            cell.source = to_run(cell.source)
    ran = iter(zip(slides.run(new_notebook(cells=cells)).cells, written, strict=True))
    for book in books:
        book.cells = []
        for cell, source in ran:
            if source == RESET:
                break
            book.cells.append(cell)
            cell.source = source
    return books


def to_run(source: str) -> str:
    """A cell with what it runs here: nobody commits or checks, no slider is moved."""
    if source.startswith(("check(", "hint(")):
        return ""
    if "course.predict(" in source:
        _, call, (_, _, choices) = slides.prediction_in(source)
        before = source.splitlines()[: call.lineno - 1]
        asks = "\n".join(source.splitlines()[call.lineno - 1 :])
        shows = asks.rstrip().removesuffix(")").rstrip().removesuffix(",")
        shows = f"_outcome = {shows}, show=True)"
        return "\n".join([*before, shows, ASKED.replace("CHOICES", repr(choices))])
    return _LIVE.sub(lambda call: LIVE.replace("CALL", call[0]), source)


def show(cell: NotebookNode, shared: Shared, addresses: Addresses) -> None:
    """Keep of a cell's outputs what a page shows, with its links and players."""
    if FORGET.match(cell.source):
        cell.outputs = []
    slides.keep_last_bar(cell)
    for output in cell.outputs:
        if "text" in output:
            output.text = _CELL.sub(r"line \1", output.text)
        data = output.get("data", {})
        data.pop("application/vnd.jupyter.widget-view+json", None)
        if "text/html" in data:
            data["text/html"] = shared.taken_out(
                _HREF.sub(
                    lambda found: f'href="{addresses.of(found[2])}"', data["text/html"]
                )
            )


def as_prediction(cell: NotebookNode, shared: Shared) -> None:
    """Make the cell a form; what is said to an answer waits in a file."""
    _, question, choices = slides.prediction_in(cell.source)[2]
    outcomes = [o.data[OUTCOMES] for o in cell.outputs if OUTCOMES in o.get("data", {})]
    shown = "".join(
        [html_of(o) for o in cell.outputs if OUTCOMES not in o.get("data", {})]
    )
    answer = shared.keep_packed(json.dumps({"outcomes": outcomes[0], "shown": shown}))
    asked = [{"id": "", "text": question, "choices": choices}]
    spec = {"key": answer, **forms.asked(asked, title="Predict")}
    listed = "".join([f"<li>{with_code(choice)}</li>" for choice in choices])
    as_markdown(
        cell,
        f'<div class="minigrad-prediction" data-answer="{answer}" '
        f'data-spec="{html.escape(json.dumps(spec))}"><p><b>Predict.</b> '
        f'{with_code(question)}</p><ol type="a">{listed}</ol></div>',
    )


def as_markdown(cell: NotebookNode, page: str) -> None:
    """Make the cell HTML as it is, without code."""
    cell.cell_type = "markdown"
    cell.source = f"`````{{raw}} html\n{page}\n`````"
    cell.metadata = type(cell.metadata)()
    for name in ("outputs", "execution_count"):
        del cell[name]


def as_exercise(cell: NotebookNode, call: str, name: str, text: str) -> None:
    """Show what the cell asks, without the answer; hints are folded one by one.

    What the ``text`` of the notebook doesn't say or ask for is below the check.
    """
    asked = catalogue.load(name)
    hints = "".join(
        [folded(f"Hint {i}", hint) for i, hint in enumerate(asked.hints, start=1)]
    )
    if call == "exercise":
        as_markdown(cell, f'<div class="minigrad-asked">{sheet_of(asked)}</div>')
    elif call == "hint":
        as_markdown(cell, hints)
    else:
        below = "" if f'hint("{name}"' in text else hints
        has_form = f'exercise("{name}"' in text
        if not has_form and flat(asked.statement) not in text:
            below = folded("What the check asks", asked.statement) + below
        cell.outputs = [note(below)] if below else []
        if has_form and not below:
            as_markdown(cell, "<!-- the form's Commit checks it -->")


def sheet_of(asked: Exercise) -> str:
    """What an exercise asks: its questions with their choices, or lines to order."""
    parts = [paragraphs(asked.statement)]
    for question in asked.questions:
        parts.append(f"<p><b>{question.id}.</b> {with_code(question.text)}</p>")
        if question.program:
            parts.append(f"<pre>{html.escape(question.program)}</pre>")
        choices = [f"<li>{with_code(choice)}</li>" for choice in question.choices]
        parts.append(f"<ul>{''.join(choices)}</ul>" if choices else "")
    lines = [f"{line.id}  {line.text}" for line in asked.lines]
    parts.append(f"<pre>{html.escape(chr(10).join(lines))}</pre>" if lines else "")
    return "".join(parts)


def folded(label: str, text: str) -> str:
    """Paragraphs that wait for a click."""
    return f"<details><summary>{label}</summary>{paragraphs(text)}</details>"


def paragraphs(text: str) -> str:
    """Text as HTML, with its paragraphs."""
    return "".join([f"<p>{with_code(part)}</p>" for part in text.split("\n\n")])


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
