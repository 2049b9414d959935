"""Lesson 01 says its program and its answers are the same in torch: they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad.course import build

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "notebooks/src/01_where_ctx_comes_from.py"


def answers(module: Any) -> list[str]:
    """Run the lesson's cells with ``mg`` meaning ``module``; the values they show."""
    names: dict[str, Any] = {"mg": module}
    values = []
    for cell in build.read_cells(SOURCE.read_text("utf8"), SOURCE.name):
        if cell.markdown:
            continue
        code = build.code(cell, solved=True)
        if "import minigrad" in code or "mg.step" in code or "course." in code:
            continue
        tree = ast.parse(code.removeprefix("%%step\n"))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(SOURCE), "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(
                compile(ast.Expression(last.value), str(SOURCE), "eval"), names
            )
            values.append(re.sub(r" object at 0x\w+", "", repr(value)))
    return values


def in_torchs_words(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("minigrad.", "torch."))


def test_answers_of_the_lesson_are_the_same_in_torch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    torch = pytest.importorskip("torch")
    ours, our_text = answers(minigrad), capsys.readouterr().out
    theirs, their_text = answers(torch), capsys.readouterr().out
    assert len(ours) >= 6
    assert [in_torchs_words(value) for value in ours] == [
        re.sub(r"\s+", "", value) for value in theirs
    ]
    address = r" object at 0x\w+"
    assert in_torchs_words(re.sub(address, "", our_text)) == re.sub(
        r"\s+", "", re.sub(address, "", their_text)
    )
