"""The course from its wheel, in an environment that has no clone."""

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from minigrad import _bootstrap, _workspace
from minigrad._workspace import PATTERNS

ROOT = _bootstrap.ROOT
LESSON = "notebooks/00_start_here.ipynb"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with the wheel and its dependencies; a clone installed here is not seen."""
    place = tmp_path_factory.mktemp("installed")
    venv.create(place, symlinks=os.name != "nt")
    environment = _bootstrap.Environment(place, ours=False)
    variables = {"base": str(place), "platbase": str(place)}
    site = Path(sysconfig.get_path("purelib", "venv", variables))
    # Packages in a folder that a .pth file names are found, its own .pth are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", environment.python, "install"]
    flags = ["--quiet", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run([*pip, *flags, wheel], check=True)
    return environment.python


@pytest.fixture
def run(python: Path, tmp_path: Path):
    """``minigrad ...`` as a learner types it, whose home folder is the test's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    program = python.with_name("minigrad.exe" if os.name == "nt" else "minigrad")

    def run(*arguments: object, **environ: str) -> subprocess.CompletedProcess[str]:
        home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
        first = [python, "-c"] if arguments[0] == "-c" else [program]
        return subprocess.run(
            [*first, *map(str, arguments[first[1:] == ["-c"] :])],
            cwd=tmp_path,
            env={**kept, **home, **environ},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_wheel_holds_the_notebooks_of_a_workspace_and_no_answers(wheel: Path) -> None:
    files = zipfile.ZipFile(wheel)
    names = set(files.namelist())
    shipped = [path for pattern in PATTERNS for path in ROOT.glob(pattern)]
    assert len(shipped) > 30
    for path in shipped:
        name = path.relative_to(ROOT).as_posix()
        assert files.read(f"minigrad/_shipped/{name}") == path.read_bytes()
        names.remove(f"minigrad/_shipped/{name}")
    assert not [name for name in names if "_shipped" in name]
    # With it the notebooks have their style sheet wherever the wheel is installed.
    place = "share/jupyter/labextensions/minigrad-course/index.js"
    (extension,) = [name for name in names if name.endswith(place)]
    assert files.read(extension) == (_bootstrap.JUPYTER / place[14:]).read_bytes()
    assert not [name for name in names if name.endswith((".ipynb", "answers.py"))]
    assert not [name for name in names if name.startswith("minigrad/course/grade")]
    tops = {name.partition("/")[0].split("-")[0] for name in names}
    assert tops == {"minigrad", "minigrad_course"}
    assert "minigrad/course/check/judge.py" in names
    assert wheel.stat().st_size < 3_000_000


def test_every_module_of_the_wheel_can_be_imported_without_the_judge(run) -> None:
    program = """
import pkgutil, sys, minigrad
found = [each.name for each in pkgutil.walk_packages(minigrad.__path__, "minigrad.")]
names = [name for name in found if "__main__" not in name and ".torch" not in name]
for name in names:
    __import__(name)
print(len(names), minigrad.__file__)
"""
    done = run("-c", program)
    assert done.returncode == 0, done.stderr
    number, file = done.stdout.split(" ", 1)
    assert int(number) > 400
    assert not Path(file.strip()).is_relative_to(ROOT)


@pytest.fixture
def jupyter(tmp_path: Path) -> dict[str, str]:
    """Variables with which a JupyterLab runs that only says how it was started."""
    program = tmp_path / "fake/jupyterlab/__main__.py"
    program.parent.mkdir(parents=True)
    told = "sys.argv[1:], os.environ['JUPYTER_CONFIG_PATH']"
    (program.parent / "__init__.py").touch()
    program.write_text(f"import os, sys; print({told}, sep='\\n')")
    return {"PYTHONPATH": str(program.parents[1])}


def test_lab_lays_the_course_out_in_the_home_folder(
    run, tmp_path: Path, jupyter: dict[str, str]
) -> None:
    done = run("lab", "--no-browser", **jupyter)
    home = tmp_path / "minigrad"
    said, options, settings = done.stdout.splitlines()
    assert said == f"[minigrad] Opening JupyterLab on your copies in {home}."
    assert f"--ServerApp.root_dir={home}" in options
    assert f"/lab/tree/{LESSON}" in options
    assert (Path(settings) / "labconfig/page_config.json").is_file()
    assert (home / LESSON).read_bytes() == (ROOT / LESSON).read_bytes()
    assert _workspace.around(home / "notebooks") == home


def test_lab_takes_the_folder_that_is_named(
    run, tmp_path: Path, jupyter: dict[str, str]
) -> None:
    done = run("lab", **jupyter, MINIGRAD_HOME=str(tmp_path / "x y"))
    assert f"--ServerApp.root_dir={tmp_path / 'x y'}" in done.stdout
    assert (tmp_path / "x y" / LESSON).is_file()
    assert not (tmp_path / "minigrad").exists()


def test_what_was_edited_stays_when_the_wheel_is_newer(
    run, python: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    assert run("workspace", mine).stdout == f"[minigrad] The notebooks are in {mine}.\n"
    (mine / LESSON).write_text("the learner's")
    asked = run("-c", "import minigrad; print(minigrad.__path__[0])").stdout
    shipped = Path(asked.strip(), "_shipped", LESSON)
    old = shipped.read_bytes()
    shipped.write_text("a new version")
    said = run("workspace", mine).stdout
    shipped.write_bytes(old)
    assert "New version beside yours, which stays as it is" in said
    assert (mine / LESSON).read_text() == "the learner's"
    beside = (mine / LESSON).with_name("00_start_here (updated).ipynb")
    assert beside.read_text() == "a new version"


def test_grading_without_a_clone_says_what_it_needs(run) -> None:
    done = run("grade", "submissions")
    assert done.returncode == 2
    assert done.stderr == (
        "minigrad grade: it needs a clone of the course: the judge, the solutions and "
        "the known answers are not in what pip installs\n"
        "  fix: run it in a clone: python3 minigrad grade\n"
    )


@pytest.mark.parametrize("command", _bootstrap.COMMANDS)
def test_only_what_needs_a_clone_asks_for_one(
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_bootstrap, "is_installed", lambda: True)
    monkeypatch.setattr(_bootstrap, "run_installed", lambda *_: 0)
    _bootstrap.main([command], as_package=False)
    refused = "it needs a clone of the course" in capsys.readouterr().err
    works = {"lab", "workspace", "doctor", "slides", "bench", "room", "site"}
    assert refused == (command not in works)


@pytest.mark.parametrize("rest", [[], ["a", "b"], ["--all"]])
def test_workspace_asks_for_one_folder(
    rest: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _bootstrap.main(["workspace", *rest], as_package=True) == 2
    said = capsys.readouterr().err
    assert "fix: name one folder: python -m minigrad workspace" in said


def test_doctor_knows_what_the_wheel_asks_for(run) -> None:
    program = """
from minigrad.course.doctor import health
print(health.python(), health.packages(), health.write_permission(), health.INSTALL)
"""
    said = run("-c", program).stdout
    lab = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    number = len(lab["dependencies"]) + len(lab["optional-dependencies"]["lab"])
    assert f"{number} packages, all recent enough" in said
    assert "run: minigrad lab " in said


def test_system_python_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_bootstrap, "is_installed", lambda: True)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(_bootstrap._installer, "lacking", lambda *_: ["jupyterlab"])
    assert _bootstrap.main(["lab"], as_package=True) == 2
    said = capsys.readouterr().err
    assert f"{sys.prefix} lacks jupyterlab" in said
    assert 'python -m pip install "minigrad-course[lab]"' in said


ANSWER = """
import minigrad
from minigrad import course
from minigrad.autograd import Function

class Scaled(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output{times}, None

print(course.check("01.3", Scaled, strict=False).state)
"""


def test_exercise_fails_then_passes_and_lab_opens_home(
    run, tmp_path: Path, jupyter: dict[str, str]
) -> None:
    home = tmp_path / "minigrad"
    run("workspace", home)
    inside = f"import os; os.chdir({str(home)!r})\n"
    wrong = run("-c", inside + ANSWER.format(times=""))
    right = run("-c", inside + ANSWER.format(times=" * ctx.factor"))
    assert wrong.stdout.endswith("wrong\n"), wrong.stderr
    assert right.stdout.endswith("solved\n"), right.stderr
    assert "/lab/tree/home.ipynb" in run("lab", **jupyter).stdout
    assert (home / _bootstrap.HOME).is_file()
