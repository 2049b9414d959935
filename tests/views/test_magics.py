"""``%%step`` in a real IPython shell."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from minigrad.views import magics
from minigrad.views.recording import Recording


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    magics.register_magics(shell)
    shell.run_cell("import minigrad as mg")
    yield shell
    shell.history_manager.end_session()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Recording]:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    return shown


def test_step_runs_the_cell_in_the_namespace_and_shows_the_player(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    before = {*shell.user_ns}
    shell.run_cell("%%step A title\ny = mg.tensor(3.0, requires_grad=True) * 2")
    assert shell.user_ns["y"].item() == 6.0
    assert [one.data["meta"]["title"] for one in shown] == ["A title"]
    names = {name for name in shell.user_ns if not name.startswith("_")}
    assert names - before == {"y"}
    assert magics.SESSION not in shell.user_ns


def test_lines_are_numbered_as_in_the_cell(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    shell.run_cell("%%step\nx = mg.tensor(3.0)\ny = x * 2")
    cell = shown[0].data["sources"][0]
    assert cell["role"] == "driver"
    assert cell["tokens"][3 - cell["first"]] == [["", "y = x * "], ["n", "2"]]


def test_error_shows_the_player_and_fails_the_cell(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    result = shell.run_cell("%%step\nx = 1\nx.no_such_thing")
    assert isinstance(result.error_in_exec, AttributeError)
    assert shown[0].data["events"][-1]["k"] in ("exception", "return")
    assert "no_such_thing" in shown[0].data["meta"]["error"]


def test_syntax_error_is_told_without_a_player_and_without_our_frames(
    shell: InteractiveShell,
    shown: list[Recording],
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = shell.run_cell("%%step\nx = = 1")
    told = capsys.readouterr().out
    assert isinstance(result.error_in_exec, magics.CellError)
    assert "x = = 1" in told
    assert "SyntaxError: invalid syntax" in told
    assert "magics.py" not in told
    assert shown == []


def test_cell_that_a_transformer_refuses_is_told_without_our_frames(
    shell: InteractiveShell,
    shown: list[Recording],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(lines: list[str]) -> list[str]:
        if "%%step" not in "".join(lines):
            raise SyntaxError("no tabs here")
        return lines

    shell.input_transformers_cleanup.append(refuse)
    result = shell.run_cell("%%step\nx = 1")
    assert isinstance(result.error_in_exec, magics.CellError)
    assert "SyntaxError: no tabs here" in capsys.readouterr().out
    assert shown == []


@pytest.mark.parametrize(
    "cell", ["await pause()", "async with a: pass", "[v async for v in a]"]
)
def test_await_outside_a_function_is_refused_with_the_reason(
    shell: InteractiveShell, shown: list[Recording], cell: str
) -> None:
    result = shell.run_cell(f"%%step\n{cell}")
    assert "await outside a function" in str(result.error_in_exec)
    assert shown == []


def test_await_inside_a_function_is_no_matter(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    assert shell.run_cell("%%step\nasync def f(): await g()\nx = 1").success
    assert len(shown) == 1


def test_future_import_stays_at_the_top(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    cell = "%%step\n'doc'\nfrom __future__ import annotations\ndef f(x: nowhere): pass"
    assert shell.run_cell(cell).success
    assert shell.user_ns["f"].__annotations__ == {"x": "nowhere"}
    assert len(shown) == 1


def test_recording_is_the_variable_that_was_named(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    shell.run_cell("w = mg.tensor(3.0, requires_grad=True)")
    cell = "%%step --as trace A title\nseen = w * w\nseen.backward()"
    assert shell.run_cell(cell).success
    trace = shell.user_ns["trace"]
    assert trace is shown[0]
    assert trace.data["meta"]["title"] == "A title"
    assert trace.explain("w.grad").value == 6.0
    edited = trace.what_if("MulBackward0 is ready", saved={0: 5.0})
    assert "w.grad is 8 instead of 6" in edited.outcome
    assert shell.user_ns["w"].grad.item() == 6.0


def test_class_that_a_later_cell_defines_anew_shows_the_lines_of_its_own_cell(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    define = (
        "class Times(mg.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n        return x * {factor}\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad):\n        return grad * {factor}\n"
    )
    for factor in (2, 3):
        shell.run_cell(define.format(factor=factor), store_history=True)
        cell = "%%step\ny = Times.apply(mg.tensor(1.0, requires_grad=True))"
        assert shell.run_cell(cell, store_history=True).success
    lines = []
    for recording in shown:
        (source,) = [
            one for one in recording.data["sources"] if one["name"] == "Times.forward"
        ]
        lines.append("".join(text for _, text in source["tokens"][-1]).strip())
    assert lines == ["return x * 2", "return x * 3"]


def test_recording_of_a_cell_that_fails_has_its_name_too(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    result = shell.run_cell("%%step --as trace\nx = 1\nx.no_such_thing")
    assert isinstance(result.error_in_exec, AttributeError)
    assert "no_such_thing" in shell.user_ns["trace"].data["meta"]["error"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--as", "'' isn't a name for a variable"),
        ("--as 3x title", "'3x' isn't a name for a variable"),
        ("--as for title", "'for' isn't a name for a variable"),
        ("--name trace", "there is no option --name"),
        ("--level story", "there is no level 'story'; use one of picture, phases"),
    ],
)
def test_option_that_cannot_be_is_refused_before_anything_runs(
    shell: InteractiveShell, shown: list[Recording], line: str, words: str
) -> None:
    result = shell.run_cell(f"%%step {line}\nran = True")
    assert words in str(result.error_in_exec)
    assert "fix: write %%step --as trace" in str(result.error_in_exec)
    assert "ran" not in shell.user_ns
    assert shown == []


@pytest.mark.parametrize("option", ["--level phases", "--memory"])
def test_options_of_the_player_stand_before_the_title_in_any_order(
    shell: InteractiveShell, shown: list[Recording], option: str
) -> None:
    assert shell.run_cell(f"%%step {option} --as trace Kept so\nx = 1").success
    assert shell.run_cell(f"%%step --as other {option}\nx = 1").success
    assert shown == [shell.user_ns["trace"], shell.user_ns["other"]]
    key, value = ("memory", True) if option == "--memory" else ("level", 2)
    told = [one.data["meta"] for one in shown]
    assert [one[key] for one in told] == [value, value]
    assert told[0]["title"] == "Kept so"
    assert len({"memory", "level"} & {*told[0]}) == 1


def test_help_of_the_magic_says_what_may_stand_behind_it(
    shell: InteractiveShell,
) -> None:
    told = shell.find_cell_magic("step").__doc__
    assert "%%step --as trace" in told
    assert "trace.what_if" in told


def test_step_in_a_step_is_refused_and_the_outer_one_goes_on(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    result = shell.run_cell(
        "%%step outer\n"
        "try:\n    get_ipython().run_cell_magic('step', 'inner', 'y = 1')\n"
        "except RuntimeError as error:\n    told = str(error)\n"
        "z = mg.tensor(1.0, requires_grad=True) * 2"
    )
    assert result.success
    assert "a recording is under way already" in shell.user_ns["told"]
    assert [one.data["meta"]["title"] for one in shown] == ["outer"]
    assert magics.SESSION not in shell.user_ns


def test_empty_cell_is_no_error(
    shell: InteractiveShell, shown: list[Recording]
) -> None:
    assert shell.run_cell("%%step\n# nothing\n").success
