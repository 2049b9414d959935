"""The repository as a whole: its folders, its names, its two lists of packages."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from minigrad._workspace import PATTERNS
from minigrad.course.grade.sandbox import visible

ROOT = Path(__file__).resolve().parent.parent

FOLDERS = {
    ".binder",
    "minigrad",
    "notebooks",
    "exercises",
    "solutions",
    "tests",
    ".ci",
    ".github",
}
FILES = {
    ".gitattributes",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "environment.yml",
    "nbgrader_config.py",
    "pyproject.toml",
}


@cache
def tracked() -> list[Path]:
    """Files that git knows, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git clone")
    paths = [Path(name) for name in listed.stdout.split("\0") if name]
    return [path for path in paths if (ROOT / path).is_file()]


def pyproject() -> dict[str, dict[str, object]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_root_holds_only_what_the_layout_names() -> None:
    assert {path.parts[0] for path in tracked() if len(path.parts) > 1} <= FOLDERS
    assert {path.name for path in tracked() if len(path.parts) == 1} <= FILES


def test_no_module_of_ours_hides_one_of_the_standard_library() -> None:
    names = {path.stem for path in (ROOT / "minigrad").iterdir()}
    assert "engine" in names
    assert not names & sys.stdlib_module_names


MACHINE = re.compile(r"(?<![\w.])/(root|home|work|tmp|Users|opt)/[\w.]|\.pypi\.org")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /home/me/x", True),
        ("'/tmp/dev'", True),
        ("/lab/tree/notebooks", False),
        ("https://x.org/home/page", False),
    ],
)
def test_machine_path_pattern(text: str, found: bool) -> None:
    assert bool(MACHINE.search(text)) == found


def test_no_file_names_a_path_of_one_machine() -> None:
    named = []
    for path in tracked():
        no_text = path.suffix in {".png", ".gif", ".npz", ".xz"}
        if no_text or path == Path(__file__).relative_to(ROOT):
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        named += [f"{path}: {found.group()}" for found in MACHINE.finditer(text)]
    assert not named


def test_known_answers_are_in_no_workspace_and_no_box() -> None:
    names = {"answers.toml", "answers.py"}
    known = [path for path in tracked() if path.name in names]
    assert len(known) > 70
    assert {path.parts[:2] for path in known} == {("tests", "answers")}
    assert {pattern.partition("/")[0] for pattern in PATTERNS}.isdisjoint({"tests"})
    answers = ROOT / "tests" / "answers"
    assert not [place for place in visible() if answers.is_relative_to(place)]
    assert ROOT / "minigrad" in visible()


def requirement(text: str) -> tuple[str, str]:
    """A requirement as name and bounds, wherever it holds."""
    found = re.fullmatch(r"([\w.-]+)([^;]*)(?:;.*)?", text)
    assert found, text
    return found[1], found[2]


def test_conda_environment_asks_for_what_pyproject_asks() -> None:
    project = pyproject()["project"]
    wanted = dict(map(requirement, project["dependencies"]))
    wanted |= dict(map(requirement, project["optional-dependencies"]["lab"]))
    wanted["python"] = project["requires-python"]
    # conda splits graphviz into the program and its Python face, and pip brings
    # graphviz-pure, pip and the course.
    wanted["python-graphviz"] = wanted["graphviz"]
    wanted |= {"graphviz": "", "pip": ""}
    del wanted["graphviz-pure"]

    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    *packages, pip = conda["dependencies"]
    assert dict(map(requirement, packages)) == wanted
    assert pip == {"pip": ["-e .[lab]"]}
    assert conda["variables"] == {"OPENBLAS_NUM_THREADS": "1"}


def test_commit_hooks_are_local_and_the_same_as_in_ci() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    stages = (ROOT / ".ci/run").read_text().splitlines()
    for repository in config["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert any(line.endswith(" " + hook["entry"]) for line in stages), hook


ROOMS = ROOT / "minigrad" / "course"
OPEN = "minigrad.course.check.probes"
"""A room in the room: each of its modules is known by its own name."""


def imports_across_rooms() -> Iterator[tuple[str, str, str]]:
    """Of each import from another room: the file, the module, and the name."""
    for path in ROOMS.rglob("*.py"):
        room = path.relative_to(ROOMS).parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")
                if parts[:2] == ["minigrad", "course"] and parts[2:3] not in (
                    [],
                    [room],
                ):
                    for name in node.names:
                        yield str(path.relative_to(ROOMS)), node.module, name.name


def test_rooms_of_the_course_are_entered_by_their_front_doors() -> None:
    found = [each for each in imports_across_rooms() if not each[1].startswith(OPEN)]
    assert len(found) > 200
    for file, module, name in found:
        door = importlib.import_module(".".join(module.split(".")[:3]))
        assert (module, name in door.__all__) == (door.__name__, True), (
            f"{file}: {name}"
        )
