"""The lessons say that their programs have the same answers in torch: they have."""

from __future__ import annotations

import ast
import gc
import re
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import minigrad
from minigrad.course.author import build

ROOT = Path(__file__).resolve().parents[2]
LESSONS = {
    "01_where_ctx_comes_from": 10,
    "02_what_should_ctx_remember": 8,
    "03_how_long_does_it_remember": 4,
    "04_who_needs_a_gradient": 9,
    "05_how_backward_finds_its_way": 9,
    "06_shapes_that_stretched": 8,
    "07_several_outputs": 8,
    "08_changing_things_in_place": 8,
    "09_forward_without_ctx": 10,
    "10_differentiating_the_derivative": 16,
    "11_going_forwards": 11,
    "12_trading_memory_for_time": 8,
    "13_is_my_gradient_right": 15,
}
"""How many values each shows: one that is no longer compared would go unseen."""

CURIOUS = {
    "01_where_ctx_comes_from": 2,
    "04_who_needs_a_gradient": 1,
    "05_how_backward_finds_its_way": 3,
    "06_shapes_that_stretched": 1,
    "08_changing_things_in_place": 3,
}
"""The same for the sections of the exercises that are for the curious."""

PYTHONS = (NotImplementedError, RuntimeError, TypeError, Exception)
TEACHES = (
    "import minigrad",
    "mg.step",
    "mg.live",
    "mg.record",
    "mg.plot_lines",
    "trace.explain",
)


def curious(source: Path) -> list[build.Cell]:
    """The cells from the first section for the curious on."""
    cells = build.read_cells(source.read_text("utf8"), source.name)
    first = next(c.number for c in cells if "# ## For the curious" in c.lines[0])
    return cells[first - 1 :]


def answers(source: Path, module: Any) -> list[str]:
    """Run the source's cells with ``mg`` meaning ``module``; the values they show.

    A cell that is meant to raise shows which of Python's exceptions it is; a prediction
    shows what its program returns.
    """
    course = mock.MagicMock(predict=outcome)
    names: dict[str, Any] = {
        "mg": module,
        "course": course,
        "gc": gc,
        "threading": threading,
        "time": time,
    }
    values = []
    exercises = source.parts[-3] == "solutions"
    cells = build.read_cells(source.read_text("utf8"), source.name)
    for cell in curious(source) if exercises else cells:
        code = "" if cell.markdown else build.code(cell, solved=True)
        if any(words in code for words in TEACHES):
            continue
        try:
            value = last_value(re.sub(r"\A%%step.*\n", "", code), source, names)
        except Exception as error:
            assert "raises-exception" in cell.tags
            value = kind_of(error)
        if value is not None and "MagicMock" not in repr(value):
            values.append(re.sub(r" object at 0x\w+", "", repr(value)))
    return values


def outcome(
    label: str, question: str, choices: list[str], then: Any = None, **_: Any
) -> Any:
    """What the program of a prediction returns, or that it raises."""
    try:
        return then()
    except Exception as error:
        return kind_of(error)


def kind_of(error: Exception) -> str:
    """Which of Python's exceptions it is."""
    return next(kind for kind in PYTHONS if isinstance(error, kind)).__name__


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
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # by its own jvp
@pytest.mark.parametrize(
    ("folder", "name", "count"),
    [("notebooks", *each) for each in LESSONS.items()]
    + [("solutions", *each) for each in CURIOUS.items()],
)
def test_answers_are_the_same_in_torch(
    folder: str,
    name: str,
    count: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "teaching", nullcontext, raising=False)
    source = ROOT / folder / "src" / f"{name}.py"
    ours, our_text = answers(source, minigrad), capsys.readouterr().out
    theirs, their_text = answers(source, torch), capsys.readouterr().out
    assert len(ours) == count
    assert [in_torchs_words(value) for value in ours] == [
        re.sub(r"\s+", "", value) for value in theirs
    ]
    address = r" object at 0x\w+"
    assert in_torchs_words(re.sub(address, "", our_text)) == re.sub(
        r"\s+", "", re.sub(address, "", their_text)
    )
