"""What a learner sees of an exception, in a real IPython shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell

from minigrad import lint
from minigrad.views import magics

START = """\
import minigrad as mg
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x * k
    @staticmethod
    def backward(ctx, grad_output):
        if mg.tensor(1.0).item() == WRONG:
            raise ValueError("mine")
        return grad_output
x = mg.ones(2, requires_grad=True)
WRONG = 0
"""
COUNT = "Scale.apply(x, 2.0).sum().backward()"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    shell = InteractiveShell(colors="nocolor")
    shell.history_manager.enabled = False
    magics.register_magics(shell)
    shell.run_cell(START)
    yield shell
    shell.history_manager.end_session()


def said(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What running a cell prints, without colours."""
    capsys.readouterr()
    shell.run_cell(cell)
    return re.sub(r"\x1b\[[\d;]*m", "", "".join(capsys.readouterr()))


@pytest.mark.parametrize("cell", [COUNT, f"%%step\n{COUNT}"])
def test_message_of_the_engine_stands_under_the_learners_line(
    cell: str, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with lint.teaching():
        text = said(shell, cell, capsys)
    assert COUNT in text
    assert "GradientCountError: Scale.backward" in text
    assert "minigrad/engine" not in text
    assert "run_cell_magic" not in text
    assert re.search(r"\(\d+ calls in minigrad left out: %tb shows all\)", text)


def test_changed_tensor_is_told_by_its_shape_and_found_by_torchs_words(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with lint.teaching():
        text = said(shell, "y = x.exp()\ny.add_(1)\ny.sum().backward()", capsys)
    assert "has been modified by an inplace operation: a tensor of shape (2,), " in text
    assert "is at version 1; expected version 0 instead" in text
    assert "[torch." not in text


def test_learners_own_exception_shows_both_of_their_lines(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with lint.teaching():
        text = said(shell, f"WRONG = 1\n{COUNT}", capsys)
    assert 'raise ValueError("mine")' in text
    assert text.index(COUNT) < text.index('raise ValueError("mine")')
    assert "minigrad/engine" not in text


def test_whole_traceback_is_there_on_request(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with lint.teaching():
        said(shell, COUNT, capsys)
        assert "minigrad/engine/core/backward.py" in said(shell, "%tb", capsys)


def test_without_teaching_mode_everything_is_shown(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(shell, COUNT, capsys)
    assert "minigrad/engine/core/backward.py" in text
    assert "left out" not in text


def test_exceptions_that_have_nothing_to_do_with_us_are_as_ever(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with lint.teaching():
        text = said(shell, "1 / 0", capsys)
    assert "ZeroDivisionError" in text
    assert "left out" not in text


def test_failed_check_shows_itself_as_ever(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    with lint.teaching():
        text = said(shell, "mg.course.check('01.4', strict=True)", capsys)
    assert "CheckFailed" in text
    assert "left out" not in text
    assert "Traceback" not in text


def test_fault_of_ours_shows_our_lines(
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("minigrad.engine.core.backward.heappop", None)
    with lint.teaching():
        text = said(shell, "(x * 2).sum().backward()", capsys)
    assert "TypeError: 'NoneType' object is not callable" in text
    assert "minigrad/engine/core/backward.py" in text


def test_handler_of_somebody_else_stays() -> None:
    shell = InteractiveShell(colors="nocolor")
    shell.history_manager.enabled = False
    heard: list[BaseException] = []
    shell.set_custom_exc((ValueError,), lambda self, kind, e, tb, **_: heard.append(e))
    magics.register_magics(shell)
    shell.run_cell("raise ValueError")
    assert len(heard) == 1
    shell.history_manager.end_session()
