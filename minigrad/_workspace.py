"""The learner's own copies: laid out, updated beside what was changed, never over it.

With the standard library alone, because ``lab`` needs it before anything is installed.
Beside the copies the folder holds ``progress.jsonl``, ``attempts`` (what a reset has
put aside) and ``.minigrad/shipped`` (each notebook as it was laid out last).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHIPPED = Path(".minigrad/shipped")
PATTERNS = ("notebooks/*.ipynb", "exercises/*/*.ipynb")

NEW, UPDATED, BESIDE, RENAMED = "new", "updated", "beside", "renamed"


@dataclass(frozen=True)
class Laid:
    """One notebook that was written: its path in the workspace, and why.

    ``why`` is NEW, UPDATED (the learner had not changed the old one), BESIDE (they had;
    ``path`` is the new file's, next to theirs) or RENAMED (with all that is theirs).
    """

    path: Path
    why: str


def shipped(root: Path) -> Path:
    """Where the notebooks are as they are shipped: in a clone its root.

    A wheel has them inside the package.
    """
    inside = root / "minigrad/_shipped"
    return inside if inside.is_dir() else root


def folder(root: Path, environ: Mapping[str, str]) -> Path:
    """MINIGRAD_HOME; else ``workspace`` in a clone of one's own, else ~/minigrad."""
    chosen = environ.get("MINIGRAD_HOME")
    if chosen:
        return Path(chosen).expanduser().resolve()
    own = shipped(root) == root and os.access(root, os.W_OK)
    return root / "workspace" if own else Path.home() / "minigrad"


def around(path: Path) -> Path | None:
    """The workspace that ``path`` lies in; None if it lies in none."""
    for place in (path, *path.parents):
        if (place / SHIPPED).is_dir():
            return place
    return None


def lay_out(root: Path, workspace: Path) -> list[Laid]:
    """Copy what the workspace lacks; lay a new version beside a changed copy.

    A copy that the learner changed is never written to. Two of these may run at once.
    Raises: OSError, with all of the learner's files as they were.
    """
    laid = []
    root = shipped(root)
    for pattern in PATTERNS:
        for source in sorted(root.glob(pattern)):
            name = source.relative_to(root)
            if rename(workspace, name):
                laid.append(Laid(name, RENAMED))
            one = lay_one(source.read_bytes(), workspace, name)
            if one is not None:
                laid.append(one)
    return laid


def former(name: Path) -> Path | None:
    """What exercises were called before they had names of their own; None for others.

    >>> former(Path("exercises/05_x/05_exercises.ipynb")).as_posix()
    'exercises/05_x/05_x.ipynb'
    """
    if not re.fullmatch(r"\d\d_exercises\.ipynb", name.name):
        return None
    return name.with_name(f"{name.parent.name}.ipynb")


def rename(workspace: Path, name: Path) -> bool:
    """Give exercises their new name, with what the learner did; whether it was done.

    A note stays at the old name: a lesson that the learner has changed links to it.
    """
    old = former(name)
    before = read(workspace / SHIPPED / old) if old else None
    if old is None or before is None:
        return False
    moved = not (workspace / name).exists() and move(workspace / old, workspace / name)
    if not (workspace / old).exists():
        write_whole(note_to(name.name), workspace / old)
    if not (workspace / SHIPPED / name).exists():
        write_whole(before, workspace / SHIPPED / name)
    (workspace / SHIPPED / old).unlink(missing_ok=True)
    return moved


def move(source: Path, target: Path) -> bool:
    """Move a file to a free name: aside first, so that only one of two can do it."""
    aside = source.with_name(f".{source.name}.{os.getpid()}.moving")
    try:
        source.replace(aside)
    except FileNotFoundError:
        return False
    if aside.read_bytes() == note_to(target.name):
        aside.replace(source)
        return False
    aside.replace(free_name(target, "moved") if target.exists() else target)
    return True


def note_to(name: str) -> bytes:
    """A notebook that says where the exercises are now."""
    text = (
        f"# These exercises have a new name\n\nThey are in [{name}]({name}) now, with "
    )
    cell = {
        "cell_type": "markdown",
        "id": "renamed",
        "metadata": {},
        "source": f"{text}all that you did. Nothing of yours is in this notebook.",
    }
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(book, indent=1) + "\n").encode()


def lay_one(content: bytes, workspace: Path, name: Path) -> Laid | None:
    """Bring one notebook up to date; None if there was nothing to do."""
    target, record = workspace / name, workspace / SHIPPED / name
    before = read(record)
    mine = read(target)
    if mine is None:
        write_whole(content, target)
        laid = Laid(name, NEW)
    elif mine == content or before == content:
        # It is there, or it was laid out (or beside) and what became of it is theirs.
        laid = None
    elif mine == before and replace_if_still(target, before, content):
        laid = Laid(name, UPDATED)
    else:
        laid = Laid(lay_beside(content, before, target).relative_to(workspace), BESIDE)
    if before != content:
        write_whole(content, record)
    return laid


def lay_beside(content: bytes, before: bytes | None, target: Path) -> Path:
    """Write a new version next to the learner's; an untouched earlier one gives way."""
    earlier = target.with_name(f"{target.stem} (updated){target.suffix}")
    untouched = before is not None and read(earlier) == before
    if untouched and before and replace_if_still(earlier, before, content):
        return earlier
    beside = free_name(target, "updated")
    write_whole(content, beside)
    return beside


def replace_if_still(target: Path, expected: bytes, content: bytes) -> bool:
    """Exchange the file for ``content`` unless it has changed meanwhile.

    It is moved aside first and looked at there, so that nothing saved in between can
    be lost; if it did change, it goes back.
    """
    aside = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.replace(aside)
    if aside.read_bytes() != expected:
        back = target if not target.exists() else free_name(target, "saved meanwhile")
        aside.replace(back)
        return False
    write_whole(content, target)
    aside.unlink()
    return True


def reset_notebook(workspace: Path, name: Path) -> Path | None:
    """Put a notebook back into its shipped form; answer where the old one went.

    None if it was gone or in its shipped form already.
    Raises: FileNotFoundError if nothing of that name was shipped.
    """
    content = (workspace / SHIPPED / name).read_bytes()
    target = workspace / name
    mine = read(target)
    if mine == content:
        return None
    kept = None if mine is None else keep_attempt(workspace, name)
    write_whole(content, target)
    return kept


def reset_section(workspace: Path, name: Path, number: str) -> Path | None:
    """Put the cells of exercise ``number`` back into their shipped form.

    All other cells stay, and so do cells that the learner added. The notebook as it
    was is kept; the answer says where (None: there was nothing to put back).
    Raises: FileNotFoundError; ValueError if the copy is no notebook any more.
    """
    target = workspace / name
    shipped = json.loads((workspace / SHIPPED / name).read_bytes())
    mine = read(target)
    if mine is None:
        return reset_notebook(workspace, name)
    notebook = json.loads(mine)
    if not restore_cells(notebook, shipped, number):
        return None
    kept = keep_attempt(workspace, name)
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    write_whole(text.encode(), target)
    return kept


def restore_cells(notebook: Any, shipped: Any, number: str) -> bool:
    """Exchange the cells of a section in ``notebook``; whether anything changed."""
    cells = notebook["cells"]
    places = {cell.get("id"): index for index, cell in enumerate(cells)}
    changed = False
    previous = -1
    for cell in section(shipped, number):
        place = places.get(cell["id"])
        if place is None:
            cells.insert(previous + 1, cell)
            places = {other.get("id"): index for index, other in enumerate(cells)}
            place, changed = previous + 1, True
        elif text_of(cells[place]) != text_of(cell):
            cells[place], changed = cell, True
        previous = place
    return changed


def section(notebook: Any, number: str) -> list[Any]:
    """The cells from the heading ``## 01.4 ...`` to the next heading of that rank."""
    found: list[Any] = []
    inside = False
    for cell in notebook["cells"]:
        text = text_of(cell)
        if cell["cell_type"] == "markdown" and text.startswith("## "):
            inside = text.startswith(f"## {number} ")
        if inside:
            found.append(cell)
    return found


def text_of(cell: Any) -> str:
    """A cell's source, whether it is kept in one piece or by lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def keep_attempt(workspace: Path, name: Path) -> Path:
    """A copy of the learner's notebook in ``attempts``, under the time of day."""
    stamp = time.strftime("%Y-%m-%d %H.%M.%S")
    kept = workspace / "attempts" / name.with_name(f"{name.stem} {stamp}{name.suffix}")
    while kept.exists():
        kept = free_name(kept, "again")
    write_whole((workspace / name).read_bytes(), kept)
    return kept


def free_name(path: Path, word: str) -> Path:
    """``name (word).ipynb``, or with a number if that is taken."""
    candidate = path.with_name(f"{path.stem} ({word}){path.suffix}")
    number = 2
    while candidate.exists():
        candidate = path.with_name(f"{path.stem} ({word} {number}){path.suffix}")
        number += 1
    return candidate


def read(path: Path) -> bytes | None:
    """The bytes of a file; None if it is not there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def write_whole(content: bytes, target: Path) -> None:
    """Write a file so that an interruption leaves no half of it under its name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
