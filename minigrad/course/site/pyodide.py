"""Python in the browser: Pyodide's core, its lock, and the wheels that the lock names.

The core is a package of npm's. The lock of the release names each wheel with its hash,
which the browser compares; our own packages join it, so that ``import minigrad`` loads
them. No cell installs anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from minigrad import errors
from minigrad.course.site.wheels import COURSE, sha256, write_wheel

VERSION = "0.27.7"
ARCHIVE = f"pyodide-{VERSION}.tgz"
SHA512 = (
    "RUSVJlhQdfWfgO9hVHCiXoG+nVZQRS5D9FzgpLJ/VcgGBLSAKoPL8kTiOikxbHQm1kRISeWUBdulEgO2"
    "6qpSRA=="
)
"""Of the archive, as the registry of npm has it."""

CDN = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
LOCK = "pyodide-lock.json"
CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)

Entry = dict[str, Any]

OURS: dict[str, tuple[str, list[str]]] = {
    COURSE: ("minigrad", ["numpy", "matplotlib", "anywidget", "graphviz", "tqdm"]),
    "anywidget": ("anywidget", ["ipywidgets", "psygnal", "typing-extensions"]),
    "ipywidgets": ("ipywidgets", ["comm", "ipython", "traitlets"]),
    "comm": ("comm", []),
    "graphviz": ("graphviz", []),
    "psygnal": ("psygnal", []),
    "tqdm": ("tqdm", []),
    "typing-extensions": ("typing_extensions", []),
}
"""What comes from here: its module, and what that needs."""

STARTS_WITH = ("micropip", "ssl", "sqlite3", "jedi", "ipython", "comm", COURSE)
"""What the kernel loads before its first cell, in one go."""


class SiteError(errors.MinigradError, RuntimeError):
    """What keeps the browser edition from being built."""


def write_pyodide(target: Path, wheels: Path | None) -> None:
    """Fill a folder with all that a kernel loads.

    ``wheels`` is a folder with Pyodide's; without it they come from the CDN.
    Raises: SiteError.
    """
    target.mkdir(parents=True)
    unpack_core(target, wheels)
    lock = json.loads((target / LOCK).read_text("utf8"))
    packages: dict[str, Entry] = lock["packages"]
    if wheels is None:
        for entry in packages.values():
            entry["file_name"] = CDN + entry["file_name"]
    else:
        packages = dict(copied(packages, wheels, target))
    packages |= dict(our_entries(target))
    lock["packages"] = packages
    see_that_nothing_lacks(packages, wheels)
    (target / LOCK).write_text(json.dumps(lock, sort_keys=True), "utf8")


def unpack_core(target: Path, wheels: Path | None) -> None:
    """Lay out the core from npm. Raises: SiteError."""
    with tempfile.TemporaryDirectory() as folder:
        archive = None if wheels is None else wheels / ARCHIVE
        if archive is None or not archive.is_file():
            archive = fetched(Path(folder))
        found = hashlib.sha512(archive.read_bytes()).digest()
        if base64.b64encode(found).decode() != SHA512:
            raise SiteError.at(
                "site",
                f"{archive.name} isn't what npm published: its SHA-512 is another one",
                "delete it and run this again; if it comes back, don't use it",
            )
        with tarfile.open(archive) as tar:
            for name in CORE:
                content = tar.extractfile(f"package/{name}")
                assert content is not None  # the hash says what is in there
                with (target / name).open("wb") as file:
                    shutil.copyfileobj(content, file)


def fetched(folder: Path) -> Path:
    """The archive, from the registry of npm. Raises: SiteError."""
    npm = shutil.which("npm")
    fix = (
        f"install Node.js, which has npm, or put {ARCHIVE} into the folder of --pyodide"
    )
    if npm is None:
        raise SiteError.at(
            "site", "Pyodide's core comes from npm, which isn't here", fix
        )
    command = [npm, "pack", "--silent", f"pyodide@{VERSION}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it doesn't say why"])[-1]
        raise SiteError.at("site", f"npm can't fetch pyodide@{VERSION}: {said}", fix)
    return folder / ARCHIVE


def copied(
    packages: dict[str, Entry], wheels: Path, target: Path
) -> Iterator[tuple[str, Entry]]:
    """The entries whose file the folder has. Raises: SiteError on a wrong one."""
    for name, entry in packages.items():
        file = wheels / entry["file_name"]
        if not file.is_file():
            continue
        if sha256(file) != entry["sha256"]:
            raise SiteError.at(
                "site",
                f"{file.name} isn't the file of Pyodide {VERSION}: its SHA-256 begins "
                f"with {sha256(file)[:12]}, the lock says {entry['sha256'][:12]}",
                f"fetch it again from {CDN}{file.name}",
            )
        shutil.copyfile(file, target / file.name)
        yield name, entry


def our_entries(target: Path) -> Iterator[tuple[str, Entry]]:
    """The wheels from here, written into the folder, as entries of the lock."""
    for name, (module, needs) in OURS.items():
        wheel = write_wheel(name, target)
        yield (
            name,
            {
                "name": name,
                "version": wheel.name.split("-")[1],
                "file_name": wheel.name,
                "sha256": sha256(wheel),
                "install_dir": "site",
                "package_type": "package",
                "imports": [module],
                "depends": needs,
                "unvendored_tests": False,
            },
        )


def see_that_nothing_lacks(packages: dict[str, Entry], wheels: Path | None) -> None:
    """Follow what the kernel needs. Raises: SiteError for what no file is there."""
    lacking = sorted(set(needed(STARTS_WITH, packages)) - set(packages))
    if lacking:
        raise SiteError.at(
            "site",
            f"{wheels} lacks {errors.count_of(len(lacking), 'package')} of Pyodide "
            f"{VERSION}: {', '.join(lacking)}",
            f"fetch the wheels from {CDN}, or leave --pyodide out: the page then takes "
            "them from there",
        )


def needed(names: Iterable[str], packages: dict[str, Entry]) -> Iterator[str]:
    """Packages and all that they need, each once."""
    waiting, seen = [*names], set[str]()
    while waiting:
        name = waiting.pop().replace("_", "-")  # the lock writes either
        if name not in seen:
            seen.add(name)
            yield name
            waiting += packages.get(name, {}).get("depends", [])
