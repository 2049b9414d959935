"""House rules for lessons and exercises, read off their sources."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.author import build
from minigrad.course.check import Verdict
from minigrad.errors import ArgumentValueError
from minigrad.mistakes import TABLE

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks/src").glob("*.py"))
EXERCISES = sorted((ROOT / "solutions/src").glob("*.py"))
MAY_IMPORT = {
    *("contextlib", "functools", "gc", "itertools", "math", "random"),
    *("matplotlib", "minigrad", "numpy", "threading", "time"),
}


def cells_of(path: Path) -> list[build.Cell]:
    return build.read_cells(path.read_text("utf8"), path.name)


def text_of(cell: build.Cell) -> str:
    return build.prose(cell) if cell.markdown else build.code(cell, solved=True)


def words(text: str) -> int:
    lines = [line for line in text.splitlines() if not line.startswith(("#", "|"))]
    return len(" ".join(lines).split())


def problems(cells: list[build.Cell], *, lesson: bool) -> Iterator[str]:
    """Every broken rule, as one line of text."""
    texts = [text_of(cell) for cell in cells]
    prose = [t for t, c in zip(texts, cells, strict=True) if c.markdown]
    titles = [t for t in prose if re.search(r"^# ", t, re.MULTILINE)]
    if len(titles) != 1 or not texts[0].startswith("# "):
        yield "not exactly one '#' title, in the first cell"
    if not re.search(r"^You will\n(\* .*(\n(?!\* |$).*)*\n?){3}", texts[0], re.M):
        yield "the first cell has no 'You will' in three lines"
    first_code = next((t for t, c in zip(texts, cells, strict=True) if not c.markdown))
    if "mg.teaching()" not in first_code:
        yield "the first code cell does not turn teaching mode on"
    for text, cell in zip(texts, cells, strict=True):
        if not cell.markdown:
            if len(text.splitlines()) > 25:
                yield f"cell {cell.number}: more than 25 lines"
            for name in imports(text):
                if name not in MAY_IMPORT:
                    yield f"cell {cell.number}: imports {name}"
        if cell.markdown and re.search("[\U0001f300-\U0001faff]", text):
            yield f"cell {cell.number}: emoji"
    shipped = [cell for cell in cells if "solution" not in cell.tags]
    for markdown, run in groupby(shipped, key=lambda c: c.markdown):
        if not markdown and len(list(run)) > 3:
            yield "more than three code cells without words"
    for before, after in pairwise(cells):
        if before.markdown and not after.markdown and before.number > 1:
            count = words(build.prose(before))
            if not (20 if lesson else 8) <= count <= 80:
                yield f"cell {before.number}: {count} words before code"
    if lesson:
        yield from lesson_problems(cells, texts)


def lesson_problems(cells: list[build.Cell], texts: list[str]) -> Iterator[str]:
    tags = [tag for cell in cells for tag in cell.tags]
    for tag in ("predict", "step", "explain", "try", "because", "recall"):
        if tag not in tags:
            yield f"no cell tagged {tag}"
    whole = "\n".join(texts)
    if "## What to remember" not in whole:
        yield "no 'What to remember'"
    if "n PyTorch this is" not in whole:
        yield "no 'in PyTorch this is'"
    cards = [
        text for cell, text in zip(cells, texts, strict=True) if "recall" in cell.tags
    ]
    if "\n".join(cards).count("<summary>") != 3:
        yield "not three recall cards"
    for number, cell in enumerate(cells):
        after = [c for c in cells[number + 1 :] if c.markdown][:1]
        if "try" in cell.tags and not any("explain" in c.tags for c in after):
            yield f"cell {cell.number}: no answer after the Try"
    if whole.count("**Predict.**") + whole.count("course.predict(") < 2:
        yield "fewer than two predictions"


def imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(re.sub(r"^%.*", "", text, flags=re.MULTILINE))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def links(path: Path) -> Iterator[str]:
    for cell in cells_of(path):
        if cell.markdown:
            yield from re.findall(r"\]\(([^)#]+\.ipynb)\)", build.prose(cell))


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_lesson_keeps_the_house_rules(path: Path) -> None:
    assert "\n".join(problems(cells_of(path), lesson=True)) == ""


@pytest.mark.parametrize("path", EXERCISES, ids=lambda p: p.stem)
def test_exercise_keeps_the_house_rules(path: Path) -> None:
    assert list(problems(cells_of(path), lesson=False)) == []


def test_nothing_that_new_left_to_be_written_is_still_to_be_written() -> None:
    notes = (ROOT / "notebooks/src").glob("*.md")
    cards = (ROOT / "minigrad/course/notebook/recall_cards").glob("*.toml")
    written = [*LESSONS, *EXERCISES, *notes, *cards]
    assert [p.name for p in written if "TODO" in p.read_text("utf8")] == []


def test_rules_refuse_a_careless_notebook() -> None:
    code = "# %%\nimport os\n" + "x = 1\n" * 25 + "\n"
    text = "# %% [markdown]\n# Words.\n\n" + code * 4 + '# %% tags=["try"]\nx = 1\n'
    found = "\n".join(problems(build.read_cells(text, "bad.py"), lesson=True))
    assert "title" in found
    assert "You will" in found
    assert "teaching mode" in found
    assert "more than 25 lines" in found
    assert "imports os" in found
    assert "more than three code cells" in found
    assert "no cell tagged predict" in found
    assert "no answer after the Try" in found
    assert "recall cards" in found


@pytest.mark.parametrize("path", EXERCISES, ids=lambda p: p.stem)
def test_what_a_verdict_says_to_step_through_works_in_the_notebook(path: Path) -> None:
    case = Verdict("gym.Power", "gym.Power", "wrong", case=0)
    (said,) = re.findall("`(.*?)`", case.message)
    first = next(text_of(cell) for cell in cells_of(path) if not cell.markdown)
    names: dict[str, object] = {}
    exec("\n".join(re.findall("^import.*|^from.*", first, re.MULTILINE)), names)
    with pytest.raises(ArgumentValueError, match=r"no check of gym\.Power in this"):
        eval(said, names)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_links_of_a_lesson_lead_to_notebooks(path: Path) -> None:
    found = list(links(path))
    assert found
    for link in found:
        assert (ROOT / "notebooks" / link).resolve().is_file()


@pytest.mark.parametrize("path", EXERCISES, ids=lambda p: p.stem)
def test_links_of_an_exercise_lead_to_notebooks(path: Path) -> None:
    for link in links(path):
        assert (ROOT / "exercises" / path.stem / link).resolve().is_file()


def test_names_in_the_source_table_exist() -> None:
    (lesson,) = [p for p in LESSONS if p.stem.startswith("01_")]
    rows = re.findall(
        r"^# \| .*?\| `([\w.]+)`, `(\w+\.py)` \|", lesson.read_text(), re.M
    )
    assert len(rows) >= 12
    for name, file in rows:
        tree = ast.parse((ROOT / "minigrad/engine/core" / file).read_text("utf8"))
        assert defined(tree, name.split(".")), f"{name} in {file}"


def defined(tree: ast.AST, path: list[str]) -> bool:
    kinds = (ast.ClassDef, ast.FunctionDef)
    found = [
        node
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, kinds) and node.name == path[0]
    ]
    return any(len(path) == 1 or defined(node, path[1:]) for node in found)


NOTES = (
    "Goal",
    "Minutes",
    "Planned error",
    "Vote 1",
    "Vote 2",
    "Draw",
    "Misconceptions",
    "If late, drop",
    "If early, add",
    "Often argued",
)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_lesson_has_instructor_notes_with_every_part(path: Path) -> None:
    notes = path.with_name(f"{path.stem}.instructor.md").read_text("utf8")
    flat = " ".join(notes.split())
    assert [part for part in NOTES if f"**{part}" not in flat] == []
    assert "Type, with the room watching" in flat
    for name in re.findall(r"\b[A-Z]\d\d\b", notes):
        assert name in TABLE


def test_notes_without_a_part_would_be_found() -> None:
    assert [part for part in NOTES if f"**{part}" not in "**Goal.**"] != []


def named_in_the_core(table: str) -> list[tuple[str, str]]:
    """What lesson 01's table of phases names, with the module it says it is in."""
    return re.findall(r"\| `(\w[\w.]*)`, `(\w+)\.py` \|", table)


def is_there(name: str, module: str) -> bool:
    found: Any = importlib.import_module(f"minigrad.engine.core.{module}")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None and found.__module__ == f"minigrad.engine.core.{module}"


def test_table_of_phases_names_what_is_in_the_core() -> None:
    named = named_in_the_core(LESSONS[1].read_text("utf8"))
    assert len(named) == 14
    assert [pair for pair in named if not is_there(*pair)] == []
    assert not is_there("AccumulateGrad._accumulate", "node")
    assert not is_there("collect_edges", "function")
