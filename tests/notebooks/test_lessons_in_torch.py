"""The lessons say that their programs have the same answers in torch: they have."""

from __future__ import annotations

import ast
import gc
import re
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import minigrad
from minigrad.course.author import build

ROOT = Path(__file__).resolve().parents[2]
LESSONS = {
    "01_where_ctx_comes_from": 8,
    "02_what_should_ctx_remember": 8,
    "03_how_long_does_it_remember": 4,
    "04_who_needs_a_gradient": 9,
    "05_how_backward_finds_its_way": 9,
    "06_shapes_that_stretched": 8,
    "07_several_outputs": 9,
    "08_changing_things_in_place": 8,
    "09_forward_without_ctx": 8,
    "10_differentiating_the_derivative": 15,
    "11_going_forwards": 11,
    "12_trading_memory_for_time": 8,
    "13_is_my_gradient_right": 12,
    "14_is_it_faster": 7,
    "15_one_rule_for_a_batch": 11,
    "16_train_something_real": 11,
    "17_to_pytorch_and_back": 6,
}
"""How many values each shows: one that is no longer compared would go unseen."""

CURIOUS = {
    "01_where_ctx_comes_from": 2,
    "04_who_needs_a_gradient": 1,
    "05_how_backward_finds_its_way": 3,
    "06_shapes_that_stretched": 1,
    "08_changing_things_in_place": 3,
    "10_differentiating_the_derivative": 1,
    "12_trading_memory_for_time": 1,
    "13_is_my_gradient_right": 2,
}
"""The same for the sections of the exercises that are for the curious."""

PYTHONS = (NotImplementedError, RuntimeError, TypeError, Exception)
TEACHES = (
    "mg.step",
    "mg.live",
    "mg.record",
    "mg.plot_lines",
    "mg.training",
    "trace.explain",
    "bench.",
    "interleaved(",
    "in_two_threads(count)",
    "gains()",
    "loop_over_vmap()",
    "ten_steps()",
    "nn.replay(",
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
        "np": np,
        "threading": threading,
        "time": time,
    }
    values = []
    exercises = source.parts[-3] == "solutions"
    cells = build.read_cells(source.read_text("utf8"), source.name)
    for cell in curious(source) if exercises else cells:
        code = "" if cell.markdown else build.code(cell, solved=True)
        if "import minigrad" in code:
            code = imports(code, but=names)
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


def imports(code: str, but: dict[str, Any]) -> str:
    """The imports of a cell, but for names that are there."""
    kept = [
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and not {name.asname or name.name for name in node.names} & but.keys()
    ]
    return ast.unparse(ast.Module(kept, []))


def outcome(
    label: str,
    question: str,
    choices: list[str],
    then: Any = None,
    so: Any = None,
    **_: Any,
) -> Any:
    """What the program of a prediction returns, or that it raises.

    Without a program it's what came true.
    """
    if then is None:
        return so(None)
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


def data_for(torch: Any) -> SimpleNamespace:
    """What comes with minigrad, as torch's tensors."""

    def digits() -> list[Any]:
        return [torch.tensor(one.numpy()) for one in minigrad.nn.data.digits()]

    def letters(names: list[str]) -> list[Any]:
        return [torch.tensor(one.numpy()) for one in minigrad.nn.data.letters(names)]

    return SimpleNamespace(digits=digits, letters=letters, names=minigrad.nn.data.names)


def in_torchs_words(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("minigrad.", "torch."))


@pytest.mark.filterwarnings("ignore:.*is not a leaf Tensor is being accessed")
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # by its own jvp
@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")  # NumPy's, of torch
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
    tmp_path: Path,
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "teaching", nullcontext, raising=False)
    monkeypatch.setattr(torch.nn, "data", data_for(torch), raising=False)
    monkeypatch.chdir(tmp_path)
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
