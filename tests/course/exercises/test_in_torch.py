"""What the exercises of lesson 17 say of torch is what torch does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.course import examine
from minigrad.course.check import Deadline, examination
from minigrad.course.exercises import catalogue, ex17_2, ex17_3
from minigrad.course.exercises.recorded import in_torch, result_of
from tests.answers import rows
from tests.course.exercises.in_torch import everything


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")  # NumPy's, of torch
def test_recorded_answers_are_those_of_torch(torch: Any) -> None:
    now = everything(torch)
    assert in_torch("17.1") == now["17.1"]
    for recorded, found in zip(in_torch("17.4"), now["17.4"], strict=True):
        assert recorded["dtypes"] == found["dtypes"]
        assert np.allclose(recorded["value"], found["value"], 1e-6, 0)
        assert np.allclose(recorded["slope"], found["slope"], 1e-6, 0)


@pytest.mark.parametrize("engine", ["minigrad", "torch"])
@pytest.mark.parametrize("question", ex17_3.ASKED, ids=list("abcdefgh"))
def test_message_is_raised_in_either_engine(
    question: dict[str, Any], engine: str
) -> None:
    with pytest.raises(RuntimeError) as raised:
        result_of(pytest.importorskip(engine), question["program"])
    for words in question["text"].strip("`").split("(...)"):
        assert words.strip(" .") in str(raised.value)


def test_the_same_repair_mends_each_program_in_torch(torch: Any) -> None:
    assert ex17_3.repairs(torch) == ex17_3.repairs(minigrad)
    assert {len(letters) for letters in ex17_3.repairs(torch)} == {1}


def test_repair_that_changes_nothing_is_refused() -> None:
    question = {"program": "result = 1", "repairs": [["2", "3"]]}
    with pytest.raises(ValueError, match="no '2' in the program"):
        ex17_3.repaired(question, 0)


def test_ported_class_gives_the_same_in_torch_and_one_of_minigrad_alone_does_not(
    torch: Any,
) -> None:
    (answers, *_) = rows.right("17.2")
    softplus, hypot = answers.made_anew()
    x, y = np.arange(1.0, 4.0), np.arange(2.0, 5.0)
    assert ex17_2.crash_in_torch(softplus, [x]) == ""
    assert ex17_2.crash_in_torch(hypot, [x, y]) == ""

    class OfOneEngine(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return minigrad.Tensor.exp(x)

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output

    assert "TypeError" in ex17_2.crash_in_torch(OfOneEngine, [x])


def test_import_of_torch_is_not_in_the_time_of_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []

    def clock(seconds: float) -> Deadline:
        order.append("clock")
        return Deadline(seconds)

    spec = catalogue.load("17.2").spec
    monkeypatch.setattr(spec, "prepare", lambda: order.append("prepare"))
    monkeypatch.setattr(examination, "Deadline", clock)
    (right, *_) = rows.right("17.2")
    assert examine("17.2", right.made_anew(), seconds=60.0).state == "solved"
    assert order == ["prepare", "clock"]


def test_port_with_numpy_inside_runs_on_the_cpu_and_is_refused() -> None:
    verdict = examine("17.2", rows.named("17.2", "numpy_left_inside").made_anew())
    assert verdict.state == "wrong"
    assert "the numbers are right" in verdict.message
