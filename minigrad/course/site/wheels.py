"""Wheels made from what is installed here, so that the browser runs the same code."""

from __future__ import annotations

import hashlib
import importlib.metadata
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import minigrad
from minigrad import errors

PACKAGE = Path(__file__).resolve().parents[2]
COURSE = "minigrad-course"
AT_HOME_ONLY = ("course/author", "course/grade", "course/site")
"""What of the package no learner needs: it makes the course, or judges a class."""

NEVER = ("__pycache__", "RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
OLD_ENOUGH = (1980, 1, 1, 0, 0, 0)
"""One date for all files, for the same bytes give the same hash."""


class NotPureError(errors.MinigradError, RuntimeError):
    """A package that holds compiled code, which a browser cannot run."""


def write_wheel(distribution: str, folder: Path) -> Path:
    """The wheel of an installed distribution, or of minigrad itself."""
    path = folder / name_of(distribution)
    files = own_files if distribution == COURSE else installed_files
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for inside, content in sorted(files(distribution)):
            entry = zipfile.ZipInfo(inside, OLD_ENOUGH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return path


def name_of(distribution: str) -> str:
    """What its wheel is called."""
    name, version = distribution.replace("-", "_"), version_of(distribution)
    return f"{name}-{version}-py3-none-any.whl"


def installed_files(distribution: str) -> Iterator[tuple[str, bytes]]:
    """What pip has put into site-packages. Raises: NotPureError.

    Of a module that mypyc has compiled the Python file is there too, and taken.
    """
    files = importlib.metadata.files(distribution) or []
    modules = {file.with_suffix("") for file in files if file.suffix == ".py"}
    for file in files:
        if ".." in file.parts or set(file.parts) & set(NEVER):
            continue  # a program, or data of Jupyter's
        if file.suffix in (".so", ".pyd"):
            module = file.with_name(file.name.split(".")[0])
            if module in modules or module.name.endswith("__mypyc"):
                continue
            raise NotPureError.at(
                "site",
                f"{distribution} holds compiled code here ({file})",
                f"install a version in Python alone: pip install {distribution}==...",
            )
        yield file.as_posix(), Path(str(file.locate())).read_bytes()


def own_files(distribution: str) -> Iterator[tuple[str, bytes]]:
    """The package, wherever it is run from, and the metadata of its distribution."""
    for path in PACKAGE.rglob("*"):
        inside = PurePosixPath(path.relative_to(PACKAGE).as_posix())
        left_out = any(map(inside.is_relative_to, AT_HOME_ONLY))
        if path.is_dir() or left_out or set(inside.parts) & set(NEVER):
            continue
        if inside.suffix not in (".pyi", ".pyc"):
            yield f"minigrad/{inside}", path.read_bytes()
    version = version_of(distribution)
    about = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    name = distribution.replace("-", "_")
    yield f"{name}-{version}.dist-info/METADATA", about.encode()


def version_of(distribution: str) -> str:
    """The version of what runs here; ours need not be installed."""
    if distribution == COURSE:
        return minigrad.__version__
    return importlib.metadata.version(distribution)


def sha256(path: Path) -> str:
    """The hash of a file, as the lock writes it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
