"""What an environment lacks, and what is said while uv or pip brings it."""

import sys
from pathlib import Path

import pytest

from minigrad import _bootstrap, _installer

LAB = frozenset({"lab"})


@pytest.mark.parametrize(
    ("requirement", "missing"),
    [
        ("numpy>=2.0", False),
        ("numpy", False),
        ("numpy>=2.0,<2.1", True),
        ("numpy>=1000", True),
        ("numpy!=1.0", True),
        ("no-such-package>=1", True),
        ('no-such-package>=1; extra == "lab"', True),
        ("no-such-package>=1; extra == 'test'", False),
        ('numpy>=2.0; sys_platform != "emscripten"', False),
    ],
)
def test_requirement_is_lacking(requirement: str, missing: bool) -> None:
    bare = requirement.partition(";")[0]
    assert _installer.lacking([requirement], LAB) == ([bare] if missing else [])


def test_every_bound_of_pyproject_is_understood() -> None:
    project = _bootstrap.project()
    wanted = [*project["dependencies"]]
    for each in project["optional-dependencies"].values():
        wanted += each
    bounds = [text.strip() for text in wanted]
    assert len(bounds) > 15
    # No installed version is below them all, so each line is either met or missing.
    assert set(_installer.lacking(bounds, LAB)) <= set(bounds)
    assert "numba>=0.61" not in _installer.lacking(bounds, LAB)


def test_course_is_the_one_of_its_clone(tmp_path: Path) -> None:
    assert _installer.has_course(str(_bootstrap.ROOT))
    assert not _installer.has_course(str(tmp_path))


@pytest.mark.parametrize(("uv", "names"), [(None, ["py"]), ("/uv", ["/uv", "py"])])
def test_uv_comes_first_where_it_is(
    uv: str | None, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_installer.shutil, "which", lambda name: uv)
    commands = list(_installer.commands("py", ["course"]))
    assert [command[0] for command in commands] == names
    assert all([command[-1] == "course" for command in commands])
    assert all([":all:" in command for command in commands])


def installer(lines: list[str], code: int) -> list[str]:
    """A program that talks as pip does, and then ends with a code."""
    return [sys.executable, "-c", f"print(*{lines!r}, sep='\\n'); exit({code})"]


def test_hundreds_of_lines_become_a_step(tmp_path: Path) -> None:
    lines = [f"Collecting p{number}>=1" for number in range(100)]
    lines += ["Installing collected packages: p0, p1", "Successfully installed p0 p1"]
    said: list[str] = []
    assert _installer.run(installer(lines, 0), tmp_path, said.append) is None
    assert said == ["Unpacking what was downloaded."]


def test_last_words_of_a_failed_installer_are_given(tmp_path: Path) -> None:
    lines = [*map(str, range(50)), "ERROR: no space left"]
    last = _installer.run(installer(lines, 1), tmp_path, lambda line: None)
    assert last is not None
    assert last[-1] == "ERROR: no space left"
    assert len(last) == _installer.TAIL


def test_installer_that_fails_without_a_word_has_failed(tmp_path: Path) -> None:
    silent = [sys.executable, "-c", "exit(1)"]
    assert _installer.run(silent, tmp_path, print) is not None
    assert _installer.run([str(tmp_path / "none")], tmp_path, print) is not None


def test_watcher_of_a_terminal_sees_packages_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["Collecting numpy>=2 (from x)", "  Downloading numpy-2.4-cp311.whl (1 MB)"]
    words.append("Collecting tqdm")
    _installer.show(words, print)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(_installer.sys.stdout, "isatty", lambda: True, raising=False)
    _installer.show(words, print)
    assert capsys.readouterr().out == "[minigrad] 2 packages\r"
