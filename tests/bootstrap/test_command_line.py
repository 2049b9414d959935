"""What the command line says before it does anything."""

import ast
import os
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from minigrad import _bootstrap
from tests.bootstrap.conftest import Clone, base_python

MAIN = _bootstrap.ROOT / "minigrad" / "__main__.py"
OLD = ["2.7", "3.6", "3.7", "3.8", "3.9", "3.10"]


def old_pythons() -> list[Path]:
    """Every Python of this machine that is too old to run the course."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [each for v in OLD for each in pyenv.glob(f"versions/{v}.*/bin/python")]
    for version in OLD:
        path = shutil.which(f"python{version}")
        if path and Path(path).parent.name != "shims":
            found.append(Path(path))
    return found


@pytest.mark.parametrize("python", old_pythons(), ids=lambda path: path.parts[-3])
def test_old_python_is_told_which_versions_run(python: Path) -> None:
    done = subprocess.run(
        [python, _bootstrap.ROOT / "minigrad", "lab"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "needs Python 3.11 to 3.14; this is Python" in done.stderr
    assert "fix: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("version", [(2, 7), (3, 10), (3, 15), (4, 0)])
def test_version_out_of_range_is_refused(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    says = "needs Python 3.11 to 3.14; this is Python {}.{} ".format(*version)
    with pytest.raises(SystemExit, match=says):
        runpy.run_path(str(MAIN), run_name="__main__")


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_version_in_range_is_let_in(
    minor: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, minor, 0, "final", 0))
    monkeypatch.setattr(sys, "argv", ["minigrad", "--help"])
    with pytest.raises(SystemExit) as exit_:
        runpy.run_path(str(MAIN), run_name="__main__")
    assert exit_.value.code == 0
    assert capsys.readouterr().out == _bootstrap.USAGE


def test_gate_and_pyproject_name_the_same_versions() -> None:
    text = (_bootstrap.ROOT / "pyproject.toml").read_text()
    requires = tomllib.loads(text)["project"]["requires-python"]
    assert requires == ">=3.11,<3.15"
    assert "(3, 11) <= sys.version_info[:2] <= (3, 14)" in MAIN.read_text()


def test_gate_needs_no_syntax_that_old_pythons_lack() -> None:
    tree = ast.parse(MAIN.read_text(), feature_version=(3, 0))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Match)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_command(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _bootstrap.main(arguments, as_package=False) == 0
    said = capsys.readouterr().out
    assert all(f"\n  {command} " in said for command in _bootstrap.COMMANDS)


@pytest.mark.parametrize("command", ["lab", "test", "workspace"])
@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_with_a_command_installs_nothing(
    command: str,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_bootstrap, "run", lambda *_: pytest.fail("it ran"))
    assert _bootstrap.main([command, word], as_package=True) == 0
    own = {"workspace": _bootstrap.WORKSPACE}
    assert capsys.readouterr().out == own.get(command, _bootstrap.USAGE)


def test_unknown_command_lists_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _bootstrap.main(["labb"], as_package=False) == 2
    said = capsys.readouterr().err
    assert "minigrad labb: there is no such command" in said
    assert "fix: use one of these: lab, workspace, test, doctor, build, new" in said


def test_package_without_a_clone_around_it_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_bootstrap, "ROOT", tmp_path)
    assert _bootstrap.main(["lab"], as_package=True) == 2
    assert "is not a clone of the course" in capsys.readouterr().err


def test_folder_run_hides_our_modules_from_the_standard_library(clone: Clone) -> None:
    (clone.root / "minigrad" / "json.py").write_text("raise RuntimeError('ours')\n")
    assert clone.run("--help").stdout == _bootstrap.USAGE


def test_folder_run_does_not_load_the_package(clone: Clone) -> None:
    (clone.root / "minigrad" / "__init__.py").write_text("raise RuntimeError\n")
    assert clone.run("--help").stdout == _bootstrap.USAGE


def test_run_as_a_module_works_too(clone: Clone) -> None:
    done = subprocess.run(
        [base_python(), "-m", "minigrad", "--help"],
        cwd=clone.root,
        env={},
        capture_output=True,
        text=True,
    )
    assert done.stdout == _bootstrap.USAGE
