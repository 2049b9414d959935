"""The lessons say that their programs have the same answers in torch: they have."""

from __future__ import annotations

import ast
import gc
import re
import threading
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import minigrad
from minigrad.course import build

SOURCES = Path(__file__).resolve().parents[2] / "notebooks/src"
LESSONS = {
    "01_where_ctx_comes_from": 11,
    "02_what_should_ctx_remember": 6,
    "03_how_long_does_it_remember": 4,
    "04_who_needs_a_gradient": 8,
    "05_how_backward_finds_its_way": 10,
    "06_shapes_that_stretched": 4,
    "07_several_outputs": 7,
    "08_changing_things_in_place": 12,
}
"""How many values each shows: one that is no longer compared would go unseen."""

PYTHONS = (NotImplementedError, RuntimeError, TypeError, Exception)
TEACHES = (
    "import minigrad",
    "mg.step",
    "mg.live",
    "mg.record",
    "mg.plot_lines",
    "trace.explain",
)


def answers(source: Path, module: Any) -> list[str]:
    """Run the lesson's cells with ``mg`` meaning ``module``; the values they show.

    A cell that is meant to raise shows which of Python's exceptions it is.
    """
    course = mock.MagicMock()
    names: dict[str, Any] = {
        "mg": module,
        "course": course,
        "gc": gc,
        "threading": threading,
    }
    values = []
    for cell in build.read_cells(source.read_text("utf8"), source.name):
        code = "" if cell.markdown else build.code(cell, solved=True)
        if any(words in code for words in TEACHES):
            continue
        try:
            value = last_value(code.removeprefix("%%step\n"), source, names)
        except Exception as error:
            assert "raises-exception" in cell.tags
            value = next(kind for kind in PYTHONS if isinstance(error, kind)).__name__
        if value is not None and not isinstance(value, mock.MagicMock):
            values.append(re.sub(r" object at 0x\w+", "", repr(value)))
    return values


def last_value(code: str, source: Path, names: dict[str, Any]) -> Any:
    """Run the code of a cell; the value of its last line, None if that has none."""
    tree = ast.parse(code)
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    exec(compile(tree, str(source), "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), str(source), "eval"), names)


def in_torchs_words(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("minigrad.", "torch."))


@pytest.mark.filterwarnings("ignore:.*is not a leaf Tensor is being accessed")
@pytest.mark.parametrize("lesson", LESSONS)
def test_answers_of_the_lesson_are_the_same_in_torch(
    lesson: str, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    source = SOURCES / f"{lesson}.py"
    ours, our_text = answers(source, minigrad), capsys.readouterr().out
    theirs, their_text = answers(source, torch), capsys.readouterr().out
    assert len(ours) == LESSONS[lesson]
    assert [in_torchs_words(value) for value in ours] == [
        re.sub(r"\s+", "", value) for value in theirs
    ]
    address = r" object at 0x\w+"
    assert in_torchs_words(re.sub(address, "", our_text)) == re.sub(
        r"\s+", "", re.sub(address, "", their_text)
    )
