"""From a fresh clone to a running command, with the standard library alone.

A command picks an environment (the active one, else ``.venv`` in the clone), brings
it up to date if it is not, and hands over to the Python in it. Installed from a wheel,
the course has its notebooks with it, and stays in the environment that it is in.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any


def _beside(name: str) -> Any:
    """A module of this folder, where NumPy may be missing for the package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # it is None only for a file that Python cannot load
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __package__ or TYPE_CHECKING:
    from minigrad import _installer, _workspace
else:
    _installer, _workspace = _beside("_installer"), _beside("_workspace")

ROOT = Path(__file__).resolve().parent.parent
JUPYTER = ROOT / "minigrad/course/notebook/jupyter"
"""Settings and a style sheet for JupyterLab."""
FIRST_LESSON = "notebooks/00_start_here.ipynb"
HOME = "home.ipynb"

USAGE = """\
usage: python3 minigrad <command> [arguments]

  lab    open the course in JupyterLab; arguments go to JupyterLab
         (for example: --no-browser --port 8899). You work on copies, in the folder
         workspace of the clone (without a clone: minigrad in your home folder), or
         in the folder that MINIGRAD_HOME names
  workspace  only lay the copies out, or bring them up to date: workspace DIR
  test   run the tests, in several processes; arguments go to pytest
         (for example: -k saved tests/engine, or -n 0 for a single process)
  doctor look whether everything the course needs works here; installs nothing
  build  write the notebooks and what else is generated; with --check, only compare
  new    begin a lesson: new 09 "Forward without ctx" PRCBW; or an exercise: new 02.4 B
  check-exercise  say what an exercise still lacks: check-exercise 02.4
  slides write the slides of a lesson, one HTML file that works offline: slides 05
  bench  time it beside torch, NumPy, jax and others, where they are installed;
         with --quick in about a minute
  site   build the browser edition, a static folder for any web server: site OUT;
         or with it a website of the lessons, for who only reads: site --pages OUT
  grade  grade a class, each submission in a box: grade SUBMISSIONS --out DIR;
         or compare two concept tests: grade --concepts BEFORE AFTER
  room   show a class on one board, by ids and counts: room, or room --lan

The first run installs what the command needs: into the active virtual or conda
environment (conda's base does not count), else into .venv in the clone.
After `pip install minigrad-course`, type minigrad instead of python3 minigrad.
"""

WORKSPACE = """\
usage: python3 minigrad workspace DIR

Copies the lessons and exercises into the folder DIR, and opens nothing. In a folder
that has them already, it brings up to date what you haven't changed; a new version of
what you have changed lands beside yours. `lab` does the same in its own folder first.
"""

EXTRAS = {
    "lab": frozenset({"lab"}),
    "test": frozenset({"lab", "site", "test"}),
    "build": frozenset({"lab", "test"}),
    "new": frozenset({"lab", "test"}),
    "check-exercise": frozenset({"lab", "test"}),
    "slides": frozenset({"lab"}),
    "site": frozenset({"lab", "site"}),
    "bench": frozenset({"lab"}),
    "grade": frozenset({"lab"}),
    "room": frozenset({"lab"}),
}

MODULES = {
    "doctor": "minigrad.course.doctor.health:main",
    "build": "minigrad.course.author.build:main",
    "new": "minigrad.course.author.new_lesson:main",
    "check-exercise": "minigrad.course.author.authoring:main_check",
    "slides": "minigrad.course.author.slides:main",
    "site": "minigrad.course.site:main",
    "bench": "minigrad.bench.__main__:main",
    "grade": "minigrad.course.grade.command:main",
    "room": "minigrad.course.room.server:main",
}
"""What runs a command inside an environment that is there already."""

COMMANDS = ("lab", "workspace", "test", *MODULES)

NEED_A_CLONE = {
    "test": "the tests are",
    "build": "the sources of the notebooks are",
    "new": "the sources of the notebooks are",
    "check-exercise": "the exercises' known answers are",
    "grade": "the judge, the solutions and the known answers are",
}
"""What cannot run from a wheel, and what of the repository is not in it."""

PROCESSES = ("--numprocesses", "logical", "--maxprocesses", "4")
# A module's tests share a browser. In the order of the folders, the long ones of
# tests/browser do not come last.
PARALLEL = (*PROCESSES, "--dist", "loadfile", "--no-loadscope-reorder")
"""What pytest is given ahead of the user's own arguments, which win."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""The course's arrays are small: the threads of BLAS cost more than they bring."""


class BootstrapError(Exception):
    """What stopped a command, with the words to mend it."""


@dataclass(frozen=True)
class Environment:
    """A folder with its own Python; ``ours`` if the bootstrap may make it anew."""

    prefix: Path
    ours: bool

    @property
    def python(self) -> Path:
        if os.name != "nt":
            return self.prefix / "bin" / "python"
        return self.prefix / ("python.exe" if is_conda(self) else "Scripts/python.exe")

    @property
    def stamp(self) -> Path:
        return self.prefix / "minigrad-course.json"


@dataclass(frozen=True)
class Stamp:
    """What an environment holds of the course; ``whole`` once pip has finished."""

    whole: bool
    extras: frozenset[str] = frozenset()
    fingerprint: str = ""


def main(arguments: Sequence[str], *, as_package: bool) -> int:
    """Run one command; return its exit code unless another program took over."""
    for stream in (sys.stdout, sys.stderr):
        # Windows writes into files and pipes in a code page that has no check mark.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    command, *rest = arguments
    try:
        if command not in COMMANDS:
            known = ", ".join(COMMANDS)
            fix = f"\n  fix: use one of these: {known}; or --help"
            raise BootstrapError("there is no such command" + fix)
        if command not in MODULES and rest in (["-h"], ["--help"]):
            # A question is not worth an installation.
            print(WORKSPACE if command == "workspace" else USAGE, end="")
            return 0
        if is_installed() and command in NEED_A_CLONE:
            raise BootstrapError(
                f"it needs a clone of the course: {NEED_A_CLONE[command]} not in what "
                f"pip installs\n  fix: run it in a clone: python3 minigrad {command}"
            )
        if command == "workspace":
            return lay_out_named(rest)
        if command in MODULES and as_package:
            # Whoever says -m has chosen the environment already.
            name, function = MODULES[command].split(":")
            return int(getattr(importlib.import_module(name), function)(rest) or 0)
        return run(command, rest)
    except BootstrapError as error:
        print(f"minigrad {command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nminigrad {command}: stopped", file=sys.stderr)
        return 130


def console() -> int:
    """What the command ``minigrad`` runs, which pip makes."""
    return main(sys.argv[1:], as_package=True)


def is_installed() -> bool:
    """Whether this is the package of a wheel, with its notebooks, and no clone."""
    return _workspace.shipped(ROOT) != ROOT


def run(command: str, rest: list[str]) -> int:
    """Prepare the environment of ``command`` and hand over to it."""
    if is_installed():
        return run_installed(command, rest)
    if not (ROOT / "pyproject.toml").is_file():
        fix = f"\n  fix: run it in a clone: python3 minigrad {command}"
        raise BootstrapError(f"{ROOT} is not a clone of the course" + fix)
    environment = choose_environment(os.environ)
    if command == "doctor":
        see_that_it_is_there(environment)
        command_line = [str(environment.python), "-m", "minigrad", command, *rest]
        return hand_over(command_line, lab_environ(os.environ))
    bring_up_to_date(environment, EXTRAS[command])
    python = str(environment.python)
    if command == "lab":
        return open_lab(python, rest)
    if command == "test":
        provide_browser(os.environ)
        environ = {**ONE_THREAD, **os.environ}
        return hand_over([python, "-m", "pytest", *PARALLEL, *rest], environ)
    # Paths among the arguments are meant from where they were typed.
    command_line = [python, "-m", "minigrad", command, *rest]
    return hand_over(command_line, os.environ, Path.cwd())


def run_installed(command: str, rest: list[str]) -> int:
    """Run a command from a wheel, in the Python that has the wheel."""
    if command != "lab":
        command_line = [sys.executable, "-m", "minigrad", command, *rest]
        return hand_over(command_line, os.environ)
    wanted = importlib.metadata.requires(_installer.COURSE) or []
    missing = _installer.lacking(wanted, EXTRAS["lab"])
    if missing:
        install_missing(missing)
    return open_lab(sys.executable, rest)


def install_missing(packages: Sequence[str]) -> None:
    """Bring what a lab needs beside the course, unless this Python is the system's.

    Raises: BootstrapError.
    """
    environment = Environment(Path(sys.prefix), ours=False)
    lacks = f"{sys.prefix} lacks {', '.join(packages)}"
    if sys.prefix == sys.base_prefix and not is_conda(environment):
        fix = "make an environment (python3 -m venv course), activate it, and there run"
    elif not is_writable(environment):
        fix = "ask who looks after it to run"
    else:
        say(f"Missing here: {', '.join(packages)}.")
        return fetch(environment, packages)
    command = f'python -m pip install "{_installer.COURSE}[lab]"'
    raise BootstrapError(f"{lacks}\n  fix: {fix}: {command}")


def open_lab(python: str, rest: Sequence[str]) -> int:
    """Lay the workspace out and become JupyterLab in it."""
    workspace = lay_out_workspace(_workspace.folder(ROOT, os.environ))
    arguments = lab_arguments(workspace, opens_first(python, workspace), rest)
    say(f"Opening JupyterLab on your copies in {workspace}.")
    return hand_over([python, *arguments], lab_environ(os.environ))


def lay_out_named(rest: Sequence[str]) -> int:
    """``workspace DIR``: the notebooks in a folder, as ``lab`` lays them out."""
    if len(rest) != 1 or rest[0].startswith("-"):
        fix = "\n  fix: name one folder: python -m minigrad workspace ~/minigrad"
        raise BootstrapError(f"it takes one folder, not {len(rest)} arguments" + fix)
    place = lay_out_workspace(Path(rest[0]).expanduser().resolve())
    if __package__:
        opens_first(sys.executable, place)  # which brings home up to date
    say(f"The notebooks are in {place}.")
    return 0


def choose_environment(environ: Mapping[str, str]) -> Environment:
    """The environment of this Python, else the activated one, else ``.venv``.

    Conda's ``base`` is left alone: most shells activate it unasked.
    """
    local = Environment(ROOT / ".venv", ours=True)
    if not os.access(ROOT, os.W_OK):
        stamp = read_stamp(local)
        if stamp is None or not stamp.whole:  # a shared clone, to read only
            local = Environment(_workspace.folder(ROOT, environ) / ".venv", ours=True)
    active = [environ.get("VIRTUAL_ENV")]
    if environ.get("CONDA_DEFAULT_ENV") != "base":
        active.append(environ.get("CONDA_PREFIX"))
    if sys.prefix != sys.base_prefix:
        active.insert(0, sys.prefix)
    prefix = next(filter(None, active), None)
    if prefix is None or os.path.realpath(prefix) == os.path.realpath(local.prefix):
        return local
    return Environment(Path(prefix), ours=False)


def see_that_it_is_there(environment: Environment) -> None:
    """Refuse an environment in which nothing was installed yet.

    Raises: BootstrapError.
    """
    fix = "\n  fix: run this, which installs what is missing: python3 minigrad lab"
    if python_version(environment) is None:
        raise BootstrapError(f"{environment.prefix} has no Python that runs" + fix)
    stamp = read_stamp(environment)
    if stamp is None or not stamp.whole:
        raise BootstrapError(f"{environment.prefix} does not hold the course" + fix)


def bring_up_to_date(environment: Environment, extras: frozenset[str]) -> None:
    """Install the course with ``extras`` unless all of it is there.

    An environment whose installation was cut short does not know which of its files
    are whole: ours is made anew, anybody else's gets its installer run again.
    """
    version = python_version(environment)
    stamp = read_stamp(environment)
    cut_short = stamp is not None and not stamp.whole
    if stamp and stamp.whole:
        if stamp.fingerprint == fingerprint(version) and extras <= stamp.extras:
            return
        extras |= stamp.extras
    missing = None if cut_short or version is None else lacks(environment, extras)
    if missing == []:
        # A later start is spared the question; where that cannot be kept, it is asked.
        with suppress(OSError):
            write_stamp(environment, Stamp(True, extras, fingerprint(version)))
        return
    if missing and not is_writable(environment):
        if missing == [_installer.COURSE]:
            # All else is there: let the notebooks import the course from the clone.
            paths = [str(ROOT), os.environ.get("PYTHONPATH")]
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
            return
        fix = "deactivate it, and run the command again: it then makes one of its own"
        if environment.ours:
            fix = "ask the owner of the clone to run in it: python3 minigrad lab"
        lacking = f"{environment.prefix} lacks {', '.join(missing)}"
        raise BootstrapError(f"{lacking}, and cannot be written\n  fix: {fix}")
    if stamp and stamp.whole:
        say("What is installed is not what the course needs now.")
    if cut_short:
        say(f"An earlier installation into {environment.prefix} was cut short.")
    if environment.ours:
        see_that_there_is_room(environment)
    if version is None and not environment.ours:
        fix = "\n  fix: deactivate it, or make it anew, and run the command again"
        raise BootstrapError(f"{environment.prefix} has no Python that runs" + fix)
    if environment.ours and (version is None or cut_short):
        make_environment(environment)
    install(environment, extras)


def lacks(environment: Environment, extras: frozenset[str]) -> list[str] | None:
    """What is not there of what the course needs; None if that cannot be told."""
    program = str(Path(__file__).with_name("_installer.py"))
    wanted = project()["dependencies"]
    for extra in sorted(extras):
        wanted = wanted + project()["optional-dependencies"][extra]
    command = [str(environment.python), "-I", program, str(ROOT), ",".join(extras)]
    said = answer([*command, *wanted])
    return None if said is None else said.split("\n") if said else []


def is_writable(environment: Environment) -> bool:
    """Whether this user may install into an environment."""
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = answer([str(environment.python), "-I", "-c", program])
    places = [packages, environment.prefix]
    return all([place is not None and os.access(place, os.W_OK) for place in places])


def is_conda(environment: Environment) -> bool:
    """Whether an environment is one of conda's."""
    return (environment.prefix / "conda-meta").is_dir()


def see_that_there_is_room(environment: Environment) -> None:
    """Refuse, with numbers, a folder that cannot hold the environment.

    Raises: BootstrapError.
    """
    place = environment.prefix.parent
    try:
        place.mkdir(parents=True, exist_ok=True)
        writable = os.access(place, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        fix = "\n  fix: set MINIGRAD_HOME to a folder of yours, and run it again"
        raise BootstrapError(f"{place} cannot be written" + fix)
    free = shutil.disk_usage(place).free
    if free < ROOM:
        needs = f"{free / 1e6:.0f} MB are free in {place}, {ROOM / 1e6:.0f} are needed"
        fix = "\n  fix: free some space, or move the clone to a larger disk"
        raise BootstrapError(needs + fix)


PROMISE = {
    "uv": "ten seconds, on a fast network",
    "pip": "half a minute, on a fast network",
}
"""How long the first installation was measured to take; later starts skip it."""

ROOM = 1_500_000_000
"""Bytes that the environment takes, with what pip needs meanwhile."""


def make_environment(environment: Environment) -> None:
    """Make the environment anew, empty, from the Python that runs this."""
    say(f"Making the environment {environment.prefix} (some seconds).")
    # Run from the old environment, sys.executable is one of the files to go.
    python = getattr(sys, "_base_executable", None) or sys.executable
    make = [python, "-m", "venv", "--clear", str(environment.prefix)]
    if shutil.which("uv"):
        make.append("--without-pip")  # which takes Python longer than uv all the rest
    failure = "Python could not make the environment"
    fix = "on Debian and Ubuntu, first run: apt-get install python3-venv"
    lean = "--without-pip" in make or can_import(python, "ensurepip")
    if not lean and can_import(python, "pip"):
        # Debian keeps ensurepip in a package of its own; pip itself does as well.
        call([*make, "--without-pip"], failure, fix)
        into = ["--python", str(environment.python)]
        call([python, "-m", "pip", *into, "install", "pip"], failure, fix)
        return
    if not lean and is_debian() and is_root():
        say("Installing Debian's python3-venv, which makes environments.")
        apt_get_install("python3-venv", os.environ)
    call(make, failure, fix)


def install(environment: Environment, extras: frozenset[str]) -> None:
    """Install the clone, editable, with ``extras``; stamp the environment after."""
    write_stamp(environment, Stamp(whole=False))
    # uv does without pip; a learner who types %pip does not.
    pip = [] if has_pip(environment) else ["pip"]
    fetch(environment, ["-e", f".[{','.join(sorted(extras))}]", *pip])
    version = python_version(environment)
    write_stamp(environment, Stamp(True, extras, fingerprint(version)))


def fetch(environment: Environment, packages: Sequence[str]) -> None:
    """Install packages with uv, or with pip where uv is missing or cannot.

    Raises: BootstrapError.
    """
    python = str(environment.python)
    for command in _installer.commands(python, packages):
        name = "pip" if command[0] == python else "uv"
        if name == "pip" and not has_pip(environment):
            say(f"Adding pip to {environment.prefix} (a few seconds).")
            call(
                [python, "-m", "ensurepip"],
                "Python could not add pip",
                "add pip to the active environment, or deactivate it",
            )
        say(f"Downloading what the course needs, with {name}: {PROMISE[name]}.")
        last = _installer.run(command, ROOT, say)
        if last is None:
            return
        print("\n".join(last), file=sys.stderr)
        if name == "uv":
            say("uv could not. Now pip, which has settings of its own.")
    raise BootstrapError(
        "pip could not install the course; its own words are above"
        "\n  fix: see that the network is up (and that the disk is not full), then run "
        "the same command again: it goes on from there"
    )


def python_version(environment: Environment) -> str | None:
    """Such as "3.11"; None if there is no Python, or none that starts."""
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    return answer([str(environment.python), "-I", "-S", "-c", program])


def can_import(python: str, module: str) -> bool:
    """Whether a Python has ``module``."""
    return answer([python, "-c", f"import {module}; print(1)"]) is not None


def has_pip(environment: Environment) -> bool:
    """Whether the Python of the environment starts and can import pip."""
    program = "import pip; print(pip.__version__)"
    return answer([str(environment.python), "-I", "-c", program]) is not None


def fingerprint(version: str | None) -> str:
    """Changes with the dependency tables, the Python and the place of the clone."""
    tables = [project()["dependencies"], project()["optional-dependencies"]]
    text = json.dumps([*tables, version, str(ROOT)])
    return hashlib.sha256(text.encode()).hexdigest()


def project() -> dict[str, Any]:
    """The table ``[project]`` of the clone's pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def read_stamp(environment: Environment) -> Stamp | None:
    """The stamp; None if there is none, and not whole if it cannot be read."""
    try:
        record = json.loads(environment.stamp.read_text(encoding="utf-8"))
        return Stamp(True, frozenset(record["extras"]), str(record["fingerprint"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        return Stamp(whole=False)


def write_stamp(environment: Environment, stamp: Stamp) -> None:
    """Replace the stamp in one step, so that it is never half-written."""
    record: object = "installing"
    if stamp.whole:
        record = {"extras": sorted(stamp.extras), "fingerprint": stamp.fingerprint}
    new = environment.stamp.with_suffix(".new")
    new.write_text(json.dumps(record), encoding="utf-8")
    new.replace(environment.stamp)


def lay_out_workspace(workspace: Path) -> Path:
    """The folder with the learner's own copies, brought up to date; says what came."""
    try:
        laid = _workspace.lay_out(ROOT, workspace)
    except OSError as error:
        raise BootstrapError(
            f"the notebooks cannot be copied to {workspace} ({error})"
            "\n  fix: set MINIGRAD_HOME to a folder that you can write to"
        ) from None
    for one in laid:
        if one.why == _workspace.UPDATED:
            say(f"Updated (you had not changed it): {one.path}")
        elif one.why == _workspace.RENAMED:
            say(f"New name, with all you did in it: {one.path}")
        elif one.why == _workspace.BESIDE:
            say(f"New version beside yours, which stays as it is: {one.path}")
    return workspace


def opens_first(python: str, workspace: Path) -> str:
    """Home, brought up to date, for who has begun; before that the first lesson."""
    if not (workspace / "progress.jsonl").is_file():
        return FIRST_LESSON
    program = "from minigrad.course.notebook import write_home; write_home()"
    # -P: a file of the learner's, such as numpy.py, must not be taken for a module.
    done = subprocess.run([python, "-P", "-c", program], cwd=workspace, check=False)
    return HOME if done.returncode == 0 else FIRST_LESSON


def lab_arguments(workspace: Path, opens: str, rest: Sequence[str]) -> list[str]:
    """How Python starts JupyterLab on a notebook; ``rest`` is the user's."""
    arguments = [
        "-m",
        "jupyterlab",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={workspace}",
        # What pip has put into the environment may be older than this clone.
        f"--LabApp.extra_labextensions_path={JUPYTER / 'labextensions'}",
    ]
    if (workspace / opens).is_file():
        arguments.append(f"--LabApp.default_url=/lab/tree/{opens}")
    if is_root():
        # Jupyter refuses root otherwise; in a container there is often no one else.
        arguments.append("--allow-root")
    return [*arguments, *rest]


def lab_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables JupyterLab starts with."""
    # Its settings for the course: no question about Jupyter news over the lesson.
    paths = [str(JUPYTER), environ.get("JUPYTER_CONFIG_PATH")]
    return {
        **ONE_THREAD,
        # A kernel of the same name in the home folder must not win.
        "JUPYTER_PREFER_ENV_PATH": "1",
        **environ,
        "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths)),
    }


def find_browser(environ: Mapping[str, str]) -> str | None:
    """Path of a Chromium or Chrome; MINIGRAD_CHROMIUM, if set, decides alone."""
    chosen = environ.get("MINIGRAD_CHROMIUM")
    if chosen:
        return shutil.which(chosen)
    candidates = ["chromium", "chromium-browser", "google-chrome"]
    candidates += ["google-chrome-stable", "chrome"]
    for name in ("Chromium", "Google Chrome"):
        candidates.append(f"/Applications/{name}.app/Contents/MacOS/{name}")
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        for name in ("Google/Chrome", "Chromium"):
            if environ.get(variable):
                folder = environ[variable]
                candidates.append(f"{folder}/{name}/Application/chrome.exe")
    found = (shutil.which(each, path=environ.get("PATH")) for each in candidates)
    return next(filter(None, found), None)


def provide_browser(environ: Mapping[str, str]) -> None:
    """See that the browser tests have a browser, or say that they will not run."""
    if find_browser(environ):
        return
    if not environ.get("MINIGRAD_CHROMIUM") and is_debian() and is_root():
        say("Installing Debian's chromium for the browser tests (about a minute).")
        apt_get_install("chromium", environ)
        if find_browser(environ):
            return
    chosen = environ.get("MINIGRAD_CHROMIUM")
    lacking = f"MINIGRAD_CHROMIUM={chosen} is no program" if chosen else "none found"
    say(f"NO BROWSER ({lacking}): the tests in tests/browser will NOT run.")
    say("To run them, install Chromium or Chrome, or set MINIGRAD_CHROMIUM to its")
    say("path, and run the command again.")


def apt_get_install(package: str, environ: Mapping[str, str]) -> None:
    """Install a Debian package in full view; whether it worked is for others to see."""
    quiet = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", package]):
        subprocess.run(["apt-get", *words], env=quiet, check=False)


def is_root() -> bool:
    """Whether this user may do anything (never so on Windows)."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def is_debian() -> bool:
    """Whether this is Debian itself; on Ubuntu ``chromium`` is a snap."""
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return "ID=debian" in lines


def say(line: str) -> None:
    """One line about what happens now, ahead of what the step itself prints."""
    print(f"[minigrad] {line}", flush=True)


def answer(command: Sequence[str]) -> str | None:
    """What a short program prints; None if it cannot be run or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def call(command: Sequence[str], failure: str, fix: str) -> None:
    """Run a step in the clone, in full view."""
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BootstrapError(f"{failure}\n  fix: {fix}") from error


def hand_over(
    command: list[str], environ: Mapping[str, str], folder: Path = ROOT
) -> int:
    """Become ``command``, started in ``folder``; Windows can only wait for it."""
    os.chdir(folder)
    if os.name != "nt":
        os.execve(command[0], command, environ)
    return subprocess.run(command, env=environ, check=False).returncode
