"""Finding a browser for the browser tests, and saying so when there is none."""

import subprocess
from pathlib import Path

import pytest

from minigrad import _bootstrap


def program(folder: Path, name: str) -> str:
    """Put an empty program into a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return str(path)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_browser_on_the_path_is_found(tmp_path: Path, name: str) -> None:
    path = program(tmp_path, name)
    assert _bootstrap.find_browser({"PATH": str(tmp_path)}) == path


def test_no_browser_is_none(tmp_path: Path) -> None:
    assert _bootstrap.find_browser({"PATH": str(tmp_path)}) is None


def test_named_browser_decides_alone(tmp_path: Path) -> None:
    program(tmp_path, "chromium")
    mine = program(tmp_path, "mine")
    environ = {"PATH": str(tmp_path), "MINIGRAD_CHROMIUM": mine}
    assert _bootstrap.find_browser(environ) == mine
    environ["MINIGRAD_CHROMIUM"] = str(tmp_path / "absent")
    assert _bootstrap.find_browser(environ) is None


def test_windows_program_folders_are_searched(tmp_path: Path) -> None:
    chrome = program(tmp_path, "Google/Chrome/Application/chrome.exe")
    environ = {"PATH": "", "LOCALAPPDATA": str(tmp_path)}
    assert _bootstrap.find_browser(environ) == chrome


@pytest.fixture
def apt_get(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Debian as root; the list gets the commands that would have run."""
    ran: list[list[str]] = []
    monkeypatch.setattr(_bootstrap, "is_debian", lambda: True)
    monkeypatch.setattr(_bootstrap, "is_root", lambda: True)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(command))
    return ran


def test_root_on_debian_gets_chromium(apt_get: list[list[str]], tmp_path: Path) -> None:
    _bootstrap.provide_browser({"PATH": str(tmp_path)})
    assert apt_get == [
        ["apt-get", "update"],
        ["apt-get", "install", "--yes", "chromium"],
    ]


def test_nothing_is_said_of_a_browser_that_could_be_installed(
    apt_get: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def install(command: list[str], **_: object) -> None:
        program(tmp_path, "chromium")

    monkeypatch.setattr(subprocess, "run", install)
    _bootstrap.provide_browser({"PATH": str(tmp_path)})
    assert "NO BROWSER" not in capsys.readouterr().out


def test_browser_that_is_there_is_not_installed(
    apt_get: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(tmp_path, "chromium")
    _bootstrap.provide_browser({"PATH": str(tmp_path)})
    assert apt_get == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("lacking", ["is_debian", "is_root"])
def test_nothing_is_installed_for_anyone_else(
    apt_get: list[list[str]],
    lacking: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_bootstrap, lacking, lambda: False)
    _bootstrap.provide_browser({"PATH": str(tmp_path)})
    assert apt_get == []
    said = capsys.readouterr().out
    assert "NO BROWSER (none found): the tests in tests/browser will NOT run" in said
    assert "install Chromium or Chrome" in said


def test_named_browser_that_is_absent_is_named_and_replaced_by_none(
    apt_get: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    _bootstrap.provide_browser({"MINIGRAD_CHROMIUM": "absent/browser"})
    assert apt_get == []
    assert "MINIGRAD_CHROMIUM=absent/browser is no program" in capsys.readouterr().out
