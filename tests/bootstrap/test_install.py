"""When the bootstrap installs, what it leaves, and what it hands over to."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from minigrad import _bootstrap, _installer
from minigrad._bootstrap import Environment
from tests.bootstrap.conftest import Clone, base_python

PIP = " ".join(["-m pip install", *_installer.PIP])
LAB = f"{PIP} -e .[lab]"
BOTH = f"{PIP} -e .[lab,site,test]"
TEST = " ".join(["-m pytest", *_bootstrap.PARALLEL])


def test_first_start_installs_and_second_does_not(clone: Clone) -> None:
    clone.run("test", "-k", "saved")
    clone.run("test", "-k", "saved")
    assert clone.calls() == [BOTH, f"{TEST} -k saved", f"{TEST} -k saved"]


def test_each_step_is_announced_before_it_starts(clone: Clone) -> None:
    assert "Downloading what the course needs, with pip" in clone.run("test").stdout
    assert "Downloading" not in clone.run("test").stdout


def test_another_command_adds_what_it_needs_to_what_is_there(clone: Clone) -> None:
    clone.run("lab")
    clone.run("test")
    clone.run("lab")
    assert [call for call in clone.calls() if "pip" in call] == [LAB, BOTH]


def change_a_dependency(clone: Clone) -> None:
    pyproject = clone.root / "pyproject.toml"
    text = pyproject.read_text()
    pyproject.write_text(text.replace('"numpy>=2.0"', '"numpy>=2.1"'))


def test_changed_dependency_is_installed(clone: Clone) -> None:
    clone.run("test")
    change_a_dependency(clone)
    clone.run("test")
    assert clone.calls().count(BOTH) == 2


def test_change_is_installed_for_every_command_used_before(clone: Clone) -> None:
    clone.run("test")
    change_a_dependency(clone)
    clone.run("lab")
    assert [call for call in clone.calls() if "pip" in call] == [BOTH, BOTH]


def test_other_changes_of_pyproject_install_nothing(clone: Clone) -> None:
    clone.run("test")
    with (clone.root / "pyproject.toml").open("a") as file:
        file.write("\n[tool.other]\nkey = 1\n")
    clone.run("test")
    assert clone.calls().count(BOTH) == 1


def test_moved_clone_is_installed_again(clone: Clone) -> None:
    clone.run("test")
    clone.root = clone.root.rename(clone.root.with_name("moved"))
    clone.run("test")
    assert clone.calls().count(BOTH) == 2


def test_failed_install_stops_with_words_and_is_tried_again(clone: Clone) -> None:
    failed = clone.run("test", PIP_EXIT="1")
    assert failed.returncode == 2
    assert "pip could not install the course" in failed.stderr
    assert "fix: see that the network is up" in failed.stderr
    assert json.loads(clone.stamp.read_text()) == "installing"
    again = clone.run("test")
    assert "was cut short" in again.stdout
    assert clone.calls() == [BOTH, BOTH, TEST]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"extras": 1}', '"installing"'])
def test_unreadable_stamp_counts_as_cut_short(clone: Clone, text: str) -> None:
    clone.stamp.write_text(text)
    assert "was cut short" in clone.run("test").stdout
    assert clone.calls() == [BOTH, TEST]


def test_fresh_clone_gets_an_environment_of_its_own(clone: Clone) -> None:
    done = clone.run("lab", VIRTUAL_ENV="", PIP_NO_INDEX="1")
    ours = Environment(clone.root / ".venv", ours=True)
    assert "Making the environment" in done.stdout
    assert _bootstrap.has_pip(ours)
    assert "pip could not install the course" in done.stderr
    assert _bootstrap.read_stamp(ours) == _bootstrap.Stamp(whole=False)


def test_python_without_ensurepip_gets_pip_from_pip(
    clone: Clone, tmp_path: Path
) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError('as on Debian')")
    missing = {"PYTHONPATH": str(tmp_path), "VIRTUAL_ENV": "", "PIP_NO_INDEX": "1"}
    done = clone.run("lab", **missing)
    assert (clone.root / ".venv/bin/python").exists()
    assert "No matching distribution found for pip" in done.stdout + done.stderr
    assert "fix: on Debian and Ubuntu, first run: apt-get install" in done.stderr


def test_environment_without_python_is_named(clone: Clone, tmp_path: Path) -> None:
    done = clone.run("lab", VIRTUAL_ENV=str(tmp_path / "gone"))
    assert done.returncode == 2
    assert f"{tmp_path / 'gone'} has no Python that runs" in done.stderr


def test_lab_starts_on_the_first_lesson_on_loopback_without_news(clone: Clone) -> None:
    lesson = clone.root / _bootstrap.FIRST_LESSON
    lesson.parent.mkdir()
    lesson.touch()
    clone.run("lab", "--no-browser", "--port", "8899")
    started = clone.calls()[-1]
    assert started.startswith("-m jupyterlab --ServerApp.ip=127.0.0.1 ")
    assert f"--ServerApp.root_dir={clone.root / 'workspace'} " in started
    assert f"--LabApp.default_url=/lab/tree/{_bootstrap.FIRST_LESSON} " in started
    settings = clone.root / "minigrad/course/notebook/jupyter"
    log = (clone.prefix / "bin/python.environ").read_text()
    assert f"JUPYTER_CONFIG_PATH={settings}\n" in log
    assert started.endswith(" --no-browser --port 8899")


def test_lab_opens_home_for_who_has_begun(clone: Clone) -> None:
    (clone.root / "workspace").mkdir()
    (clone.root / "workspace/progress.jsonl").touch()
    (clone.root / "workspace/home.ipynb").touch()
    clone.run("lab")
    *_, written, started = clone.calls()
    assert written.startswith("-P -c from minigrad.course.notebook import write_home")
    assert "--LabApp.default_url=/lab/tree/home.ipynb" in started
    lesson = clone.root / "workspace" / _bootstrap.FIRST_LESSON
    lesson.parent.mkdir()
    lesson.touch()
    clone.run("lab", HOME_EXIT="1")
    assert f"/lab/tree/{_bootstrap.FIRST_LESSON}" in clone.calls()[-1]


def test_lab_opens_copies_and_leaves_those_that_are_there(clone: Clone) -> None:
    exercise = clone.root / "exercises/01_first/01_exercises.ipynb"
    exercise.parent.mkdir(parents=True)
    exercise.write_text("shipped")
    copy = clone.root / "workspace/exercises/01_first/01_exercises.ipynb"
    clone.run("lab")
    assert copy.read_text() == "shipped"
    copy.write_text("the learner's")
    exercise.write_text("shipped anew")
    clone.run("lab")
    assert copy.read_text() == "the learner's"
    beside = copy.with_name("01_exercises (updated).ipynb")
    assert beside.read_text() == "shipped anew"
    assert sorted(copy.parent.iterdir()) == [beside, copy]


def test_lab_takes_the_workspace_that_is_named(clone: Clone, tmp_path: Path) -> None:
    lesson = clone.root / _bootstrap.FIRST_LESSON
    lesson.parent.mkdir()
    lesson.touch()
    home = tmp_path / "my course"
    clone.run("lab", MINIGRAD_HOME=str(home))
    assert (home / _bootstrap.FIRST_LESSON).is_file()
    assert not (clone.root / "workspace").exists()
    assert f"--ServerApp.root_dir={home} " in clone.calls()[-1]


def test_workspace_that_cannot_be_written_is_named(
    clone: Clone, tmp_path: Path
) -> None:
    lesson = clone.root / _bootstrap.FIRST_LESSON
    lesson.parent.mkdir()
    lesson.touch()
    file = tmp_path / "a file"
    file.touch()
    done = clone.run("lab", MINIGRAD_HOME=str(file / "folder"))
    assert done.returncode == 2
    assert f"the notebooks cannot be copied to {file / 'folder'}" in done.stderr
    assert "fix: set MINIGRAD_HOME" in done.stderr


def test_lab_keeps_blas_to_one_thread_unless_told_otherwise(clone: Clone) -> None:
    log = clone.prefix / "bin/python.environ"
    clone.run("lab")
    assert "OPENBLAS_NUM_THREADS=1\n" in log.read_text()
    clone.run("lab", OPENBLAS_NUM_THREADS="3")
    assert "OPENBLAS_NUM_THREADS=3\n" in log.read_text()


def test_tests_run_in_the_clone_and_other_commands_where_they_are_typed(
    clone: Clone,
) -> None:
    log = clone.prefix / "bin/python.environ"
    clone.run("test")
    assert f"PWD={clone.root}" in log.read_text().splitlines()
    clone.run("slides", "05", "--out", "five.html")
    assert f"PWD={Path.cwd()}" in log.read_text().splitlines()


def test_build_runs_in_the_environment(clone: Clone) -> None:
    clone.run("build", "--check")
    assert clone.calls() == [f"{PIP} -e .[lab,test]", "-m minigrad build --check"]


def test_doctor_of_an_empty_clone_says_how_to_install(clone: Clone) -> None:
    done = clone.run("doctor")
    assert done.returncode == 2
    assert "does not hold the course" in done.stderr
    assert "python3 minigrad lab" in done.stderr
    assert clone.calls() == []


def test_doctor_runs_in_the_environment_and_installs_nothing(clone: Clone) -> None:
    clone.run("lab")
    clone.run("doctor")
    assert clone.calls()[-1] == "-m minigrad doctor"
    assert len([call for call in clone.calls() if "pip install" in call]) == 1


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process seems to run outside any environment, in a clone at the path."""
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(_bootstrap, "ROOT", tmp_path)
    return tmp_path


def test_running_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "base_prefix", "elsewhere")
    chosen = _bootstrap.choose_environment({"VIRTUAL_ENV": "activated"})
    assert chosen.prefix == Path(sys.prefix)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, ".venv"),
        ({"VIRTUAL_ENV": "v", "CONDA_PREFIX": "c"}, "v"),
        ({"CONDA_PREFIX": "c", "CONDA_DEFAULT_ENV": "course"}, "c"),
        ({"CONDA_PREFIX": "c", "CONDA_DEFAULT_ENV": "base"}, ".venv"),
        ({"VIRTUAL_ENV": "", "CONDA_PREFIX": ""}, ".venv"),
    ],
)
def test_active_environment_is_used(
    outside: Path, environ: dict[str, str], name: str
) -> None:
    chosen = _bootstrap.choose_environment(environ)
    assert chosen.prefix.name == name
    assert chosen.ours == (name == ".venv")


def test_local_environment_is_ours_even_when_active(outside: Path) -> None:
    local = str(outside / ".venv")
    assert _bootstrap.choose_environment({"VIRTUAL_ENV": local}).ours


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, outside: Path) -> list[str]:
    """The steps that would run for an environment of ours; venv makes a Python."""
    source = Path(__file__).parents[2] / "pyproject.toml"
    (outside / "pyproject.toml").write_text(source.read_text())
    ours = Environment(outside / ".venv", ours=True)
    taken: list[str] = []

    def call(command: list[str], failure: str, fix: str) -> None:
        taken.append(command[2])
        if command[2] == "venv":
            ours.python.parent.mkdir(parents=True, exist_ok=True)
            ours.python.unlink(missing_ok=True)
            ours.python.symlink_to(sys.executable)

    def run(command: list[str], folder: Path, say: object) -> None:
        taken.append(command[2])

    monkeypatch.setattr(_bootstrap, "call", call)
    monkeypatch.setattr(_bootstrap._installer, "run", run)
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setattr(_bootstrap, "has_pip", lambda env: env.python.exists())
    return taken


@pytest.mark.parametrize(
    ("damage", "repair"),
    [
        (lambda ours: None, []),
        (lambda ours: ours.stamp.unlink(), ["pip"]),
        (lambda ours: ours.python.unlink(), ["venv", "pip"]),
        (lambda ours: ours.stamp.write_text('"installing"'), ["venv", "pip"]),
        (
            lambda ours: (
                ours.python.unlink(),
                ours.python.symlink_to("/vanished/python"),
            ),
            ["venv", "pip"],
        ),
    ],
    ids=["none", "no stamp", "no Python", "interrupted", "Python vanished"],
)
@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_damaged_local_environment_is_mended(
    outside: Path, steps: list[str], damage: object, repair: list[str]
) -> None:
    ours = Environment(outside / ".venv", ours=True)
    _bootstrap.bring_up_to_date(ours, frozenset({"lab"}))
    assert steps == ["venv", "pip"]
    steps.clear()
    assert callable(damage)
    damage(ours)
    _bootstrap.bring_up_to_date(ours, frozenset({"lab"}))
    assert steps == repair


def test_ctrl_c_during_install_leaves_it_marked(
    outside: Path,
    steps: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ours = Environment(outside / ".venv", ours=True)
    _bootstrap.make_environment(ours)

    def interrupt(*step: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_bootstrap._installer, "run", interrupt)
    monkeypatch.setattr(os, "environ", {})
    assert _bootstrap.main(["lab"], as_package=False) == 130
    assert "minigrad lab: stopped" in capsys.readouterr().err
    assert _bootstrap.read_stamp(ours) == _bootstrap.Stamp(whole=False)


def test_interrupted_installation_stops_with_130_and_is_done_again(
    clone: Clone,
) -> None:
    stopped = clone.run("test", INTERRUPTED="1")
    assert stopped.returncode == 130
    assert "minigrad test: stopped" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    again = clone.run("test")
    assert "was cut short" in again.stdout
    assert clone.calls() == [BOTH, BOTH, TEST]


@pytest.mark.parametrize(
    "step",
    [
        "choose_environment",
        "bring_up_to_date",
        "python_version",
        "write_stamp",
        "lay_out_workspace",
        "lab_arguments",
        "hand_over",
    ],
)
def test_interruption_of_any_step_is_said_in_one_line(
    step: str,
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(Path(_bootstrap.__file__).parents[1] / "pyproject.toml", outside)
    for name in ("make_environment", "fetch"):
        monkeypatch.setattr(_bootstrap, name, lambda *_: None)
    monkeypatch.setattr(_bootstrap, "has_pip", lambda environment: True)
    (outside / ".venv").mkdir()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_bootstrap, step, interrupted)
    assert _bootstrap.main(["lab"], as_package=False) == 130
    assert capsys.readouterr().err == "\nminigrad lab: stopped\n"


def test_full_disk_is_said_with_numbers_before_anything_is_made(
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (outside / "pyproject.toml").touch()
    usage = _bootstrap.shutil.disk_usage(outside)._replace(free=3 * 10**8)
    monkeypatch.setattr(_bootstrap.shutil, "disk_usage", lambda place: usage)
    assert _bootstrap.main(["lab"], as_package=False) == 2
    said = capsys.readouterr().err
    assert f"300 MB are free in {outside}, 1500 are needed" in said
    assert "fix: free some space" in said
    assert [path.name for path in outside.iterdir()] == ["pyproject.toml"]


def test_nowhere_to_write_is_said_before_anything_is_made(
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (outside / "pyproject.toml").touch()
    monkeypatch.setenv("MINIGRAD_HOME", str(outside / "mine"))
    monkeypatch.setattr(_bootstrap.os, "access", lambda place, mode: False)
    assert _bootstrap.main(["lab"], as_package=False) == 2
    said = capsys.readouterr().err
    assert f"{outside / 'mine'} cannot be written" in said
    assert "fix: set MINIGRAD_HOME to a folder of yours" in said


def test_lab_says_that_exercises_have_a_new_name(clone: Clone) -> None:
    exercise = clone.root / "exercises/01_first/01_exercises.ipynb"
    exercise.parent.mkdir(parents=True)
    exercise.write_text("shipped")
    clone.run("lab")
    workspace = clone.root / "workspace"
    name = Path("exercises/01_first/01_first.ipynb")
    for folder in (workspace, workspace / ".minigrad/shipped"):
        (folder / name).with_name("01_exercises.ipynb").rename(folder / name)
    (workspace / name).write_text("the learner's")
    done = clone.run("lab")
    assert "New name, with all you did in it: exercises/01_first/01_exercises" in (
        done.stdout
    )
    assert (workspace / "exercises/01_first/01_exercises.ipynb").read_text() == (
        "the learner's"
    )


def test_environment_that_has_all_is_taken_as_it_is(clone: Clone) -> None:
    done = clone.run("lab", LACKS=" ")
    assert [call for call in clone.calls() if "pip" in call] == []
    assert "Downloading" not in done.stdout
    assert _bootstrap.read_stamp(Environment(clone.prefix, ours=False)) is not None
    assert clone.run("lab", LACKS="numpy>=2.0").stdout == done.stdout  # it is stamped


def mere_reader() -> list[str]:
    """What makes a root that permissions bind, as they bind any other user."""
    if os.geteuid():
        return []
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def read_only(clone: Clone) -> Iterator[Clone]:
    """A clone and an environment that nobody may write; the log is switched off."""
    lesson = clone.root / _bootstrap.FIRST_LESSON
    lesson.parent.mkdir()
    lesson.write_text("shipped")
    python = clone.prefix / "bin/python"
    silent = python.read_text().replace('echo "$@" >>"$0.log"', ":")
    python.write_text(silent.replace('"$0.environ"', '"$HOME/environ"'))
    folders = [clone.root, *filter(Path.is_dir, clone.root.rglob("*"))]
    folders += [clone.prefix, clone.prefix / "bin"]
    for folder in folders:
        folder.chmod(0o555)
    yield clone
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
@pytest.mark.parametrize("lacks", [" ", "minigrad-course"])
def test_shared_clone_is_only_read(
    read_only: Clone, tmp_path: Path, lacks: str
) -> None:
    command = [*mere_reader(), base_python(), str(read_only.root / "minigrad")]
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "LACKS": lacks}
    environ["VIRTUAL_ENV"] = str(read_only.prefix)
    done = subprocess.run(
        [*command, "lab"], capture_output=True, text=True, env=environ
    )
    home = tmp_path / "minigrad"
    assert done.stdout == f"[minigrad] Opening JupyterLab on your copies in {home}.\n"
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / _bootstrap.FIRST_LESSON).read_text() == "shipped"
    environ_of_lab = (tmp_path / "environ").read_text()
    from_the_clone = f"PYTHONPATH={read_only.root}\n" in environ_of_lab
    assert from_the_clone == (lacks == "minigrad-course")


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_shared_environment_that_lacks_something_is_named(
    read_only: Clone, tmp_path: Path
) -> None:
    command = [*mere_reader(), base_python(), str(read_only.root / "minigrad")]
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "LACKS": "jupyterlab>=4.4"}
    environ["VIRTUAL_ENV"] = str(read_only.prefix)
    done = subprocess.run(
        [*command, "lab"], capture_output=True, text=True, env=environ
    )
    assert done.returncode == 2
    assert f"{read_only.prefix} lacks jupyterlab>=4.4, and cannot be" in done.stderr
    assert "fix: deactivate it, and run the command again" in done.stderr
    assert not (tmp_path / "minigrad").exists()
