"""Packages for an environment: what it lacks, and uv or pip to bring that.

With the standard library alone, because it runs before anything is installed; the
Python of another environment runs this file to say what that one lacks.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

COURSE = "minigrad-course"

# A package without a wheel for this computer would need a compiler: better say so at
# once. What no lesson imports need not be compiled to bytecode.
PIP = ("--no-compile", "--only-binary", ":all:", "--progress-bar", "off")
UV = ("--only-binary", ":all:")

COUNTED = ("Collecting ", "Downloading ")
"""How the lines of pip and of uv begin that tell of one more package."""
LAST_STEP = ("Installing collected packages", "Prepared ")
"""How the line begins after which all is downloaded."""
TAIL = 12
"""How many lines of a failed installer are shown."""


def lacking(wanted: Iterable[str], extras: frozenset[str]) -> list[str]:
    """Those requirements that this Python's packages do not meet, without markers.

    Of markers only ``extra`` is looked at: a computer that opens a lab has no other
    that keeps a package of the course away.
    """
    missing = []
    for text in wanted:
        requirement, _, marker = text.partition(";")
        extra = re.search(r"extra\s*==\s*['\"](\w+)['\"]", marker)
        if (extra is None or extra[1] in extras) and not is_met(requirement):
            missing.append(requirement.strip())
    return missing


def is_met(requirement: str) -> bool:
    """Whether a package is installed within its bounds.

    >>> is_met("pytest>=9,<10"), is_met("pytest>=1000"), is_met("no-such-package")
    (True, False, False)
    """
    name = re.split(r"[^\w.-]", requirement.strip())[0]
    bounds = requirement.strip()[len(name) :]
    try:
        version = release(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False
    return all([is_within(version, bound) for bound in filter(None, bounds.split(","))])


def is_within(version: tuple[int, ...], bound: str) -> bool:
    """Whether a release meets one bound, such as ``>=2.0``.

    >>> is_within((2, 0), ">=2.0"), is_within((3, 15), "<3.15"), is_within((2,), "==2")
    (True, False, True)
    """
    operator = re.match(r"\s*(>=|==|<)\s*", bound)
    if operator is None:
        return False  # an installer knows what it means
    edge = release(bound[operator.end() :])
    length = max(len(version), len(edge))
    mine, edge = padded(version, length), padded(edge, length)
    return {">=": mine >= edge, "==": mine == edge, "<": mine < edge}[operator[1]]


def release(version: str) -> tuple[int, ...]:
    """The numbers at the beginning of a version.

    >>> release("0.2.2"), release("5.0rc1")
    ((0, 2, 2), (5, 0))
    """
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    """The same release with as many numbers as another has."""
    return numbers + (0,) * (length - len(numbers))


def has_course(root: str) -> bool:
    """Whether ``import minigrad`` takes the package in the folder ``root``."""
    found = importlib.util.find_spec("minigrad")
    if found is None or found.origin is None:
        return False
    return os.path.samefile(Path(found.origin).parents[1], root)


def commands(python: str, packages: Sequence[str]) -> Iterator[list[str]]:
    """How to install, best first: uv is ten times as fast, and need not know pip's
    settings (mirrors, certificates), so pip comes after it."""
    uv = shutil.which("uv")
    if uv:
        yield [uv, "pip", "install", "--python", python, *UV, *packages]
    yield [python, "-m", "pip", "install", *PIP, *packages]


def run(
    command: Sequence[str], folder: Path, say: Callable[[str], None]
) -> list[str] | None:
    """Run an installer, a line a step; give its last words if it fails, else None."""
    words: list[str] = []
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        return [str(error)]
    assert process.stdout is not None  # it was asked for
    try:
        for line in process.stdout:
            words.append(line.rstrip())
            show(words, say)
        failed = process.wait() != 0
    except BaseException:
        process.kill()
        raise
    finally:
        process.stdout.close()
    return words[-TAIL:] if failed else None


def show(words: Sequence[str], say: Callable[[str], None]) -> None:
    """Tell of a new step; where somebody watches a terminal, count the packages."""
    line = words[-1].lstrip()
    told = [each.lstrip() for each in words if each.lstrip().startswith(COUNTED)]
    if line.startswith(LAST_STEP):
        say("Unpacking what was downloaded.")
    elif line.startswith(COUNTED) and sys.stdout.isatty():
        packages = len({name_in(each) for each in told})
        print(f"[minigrad] {packages} packages", end="\r", flush=True)


def name_in(line: str) -> str:
    """The package that a line of pip or uv is about."""
    return re.split(r"[^\w.]", line.split()[1])[0].lower()


if __name__ == "__main__":
    root, extras, *wanted = sys.argv[1:]
    print(*lacking(wanted, frozenset(extras.split(","))), sep="\n")
    if not has_course(root):
        print(COURSE)
