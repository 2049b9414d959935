"""What the browser edition is made of: the lock, its wheels, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad.course import site
from minigrad.course.site import pyodide, wheels
from minigrad.course.site.pyodide import SiteError

NUMPY = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"


def entry(name: str, content: bytes, *depends: str) -> dict[str, Any]:
    return {
        "name": name,
        "file_name": NUMPY if name == "numpy" else f"{name}-1-py3-none-any.whl",
        "sha256": hashlib.sha256(content).hexdigest(),
        "depends": list(depends),
    }


def archive_of(packages: dict[str, Any], path: Path) -> Path:
    """An archive in the form of npm's, with a lock of these packages."""
    files = dict.fromkeys(pyodide.CORE, b"core")
    files[pyodide.LOCK] = json.dumps({"packages": packages}).encode()
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the core and two wheels; the kernel needs no more of Pyodide's."""
    place = tmp_path / "wheels"
    place.mkdir()
    entries = {
        "numpy": entry("numpy", b"numpy", "small_one"),
        "small-one": entry("small-one", b"small"),
        "unasked": entry("unasked", b"unasked"),
    }
    archive = archive_of(entries, place / pyodide.ARCHIVE)
    sha512 = hashlib.sha512(archive.read_bytes()).digest()
    monkeypatch.setattr(pyodide, "SHA512", base64.b64encode(sha512).decode())
    monkeypatch.setattr(pyodide, "OURS", {"minigrad-course": ("minigrad", ["numpy"])})
    monkeypatch.setattr(pyodide, "STARTS_WITH", ("minigrad-course",))
    (place / NUMPY).write_bytes(b"numpy")
    (place / "small-one-1-py3-none-any.whl").write_bytes(b"small")
    return place


def lock_in(target: Path) -> dict[str, Any]:
    packages: dict[str, Any] = json.loads((target / pyodide.LOCK).read_text())
    return packages["packages"]


def test_lock_holds_what_the_folder_has_and_the_course(
    folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "pyodide"
    pyodide.write_pyodide(target, folder)
    packages = lock_in(target)
    assert set(packages) == {"numpy", "small-one", "minigrad-course"}
    for one in packages.values():
        content = (target / one["file_name"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(content).hexdigest()
    assert packages["minigrad-course"]["imports"] == ["minigrad"]


def test_without_a_folder_wheels_come_from_the_cdn_and_keep_their_hashes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = folder / pyodide.ARCHIVE
    monkeypatch.setattr(pyodide, "fetched", lambda _: archive)
    target = tmp_path / "pyodide"
    pyodide.write_pyodide(target, None)
    packages = lock_in(target)
    assert packages["numpy"]["file_name"] == pyodide.CDN + NUMPY
    assert packages["numpy"]["sha256"] == hashlib.sha256(b"numpy").hexdigest()
    assert "unasked" in packages  # what a learner imports besides
    assert "/" not in packages["minigrad-course"]["file_name"]


def test_wheel_that_is_another_one_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / NUMPY).write_bytes(b"tampered")
    with pytest.raises(SiteError, match=f"{NUMPY} isn't the file of Pyodide 0.27.7"):
        pyodide.write_pyodide(tmp_path / "pyodide", folder)


def test_core_that_is_another_one_is_refused(folder: Path, tmp_path: Path) -> None:
    with (folder / pyodide.ARCHIVE).open("ab") as archive:
        archive.write(b"more")
    with pytest.raises(SiteError, match="SHA-512 is another one"):
        pyodide.write_pyodide(tmp_path / "pyodide", folder)


def test_wheel_that_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "small-one-1-py3-none-any.whl").unlink()
    with pytest.raises(SiteError, match=r"lacks 1 package .*: small-one\n  fix: fetch"):
        pyodide.write_pyodide(tmp_path / "pyodide", folder)


@pytest.mark.parametrize("has_npm", [True, False])
def test_core_that_cannot_be_fetched_is_said(
    has_npm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho E404 >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(npm) if has_npm else None)
    words = "can't fetch pyodide@0.27.7: E404" if has_npm else "npm, which isn't here"
    with pytest.raises(SiteError, match=words):
        pyodide.write_pyodide(tmp_path / "pyodide", None)


def test_failure_leaves_nothing_behind_and_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / NUMPY).write_bytes(b"tampered")
    out = tmp_path / "deep" / "out"
    assert site.main([str(out), "--pyodide", str(folder)]) == 2
    assert list(out.parent.iterdir()) == []
    said = capsys.readouterr().err
    assert "site: " in said
    assert "\n  fix: " in said


def test_what_would_be_overwritten_or_is_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SiteError, match="isn't empty"):
        site.write_site(tmp_path)
    with pytest.raises(SiteError, match="isn't empty"):
        site.write_site(tmp_path / "mine.txt")
    with pytest.raises(SiteError, match="there is no folder"):
        site.write_site(tmp_path / "out", tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_missing_jupyterlite_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SiteError, match="jupyterlite_core isn't installed"):
        site.write_site(tmp_path / "out")


def test_another_jupyterlite_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    script = tmp_path / "build" / "1.js"
    script.write_text("another")
    with pytest.raises(SiteError, match="drops waiting cells in another way"):
        site.let_cells_raise(tmp_path)
    script.write_text("|".join(site.PLACES))
    site.let_cells_raise(tmp_path)
    assert "goesOn=" in script.read_text()
    assert "!e.parent_header.goesOn&&h.cancel()" in script.read_text()


def test_wheel_of_the_course_holds_what_learners_run(tmp_path: Path) -> None:
    path = wheels.write_wheel("minigrad-course", tmp_path)
    assert path.name == f"minigrad_course-{minigrad.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(path).namelist())
    package = Path(minigrad.__file__).parent
    for inside in ("engine/core/function.py", "views/forms.js", "course/__init__.py"):
        assert (package / inside).is_file()
        assert f"minigrad/{inside}" in names
    assert not [name for name in names if "/grade/" in name or ".pyc" in name]
    assert f"minigrad_course-{minigrad.__version__}.dist-info/METADATA" in names


def test_same_files_make_the_same_wheel(tmp_path: Path) -> None:
    hashes = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        path = wheels.write_wheel("minigrad-course", tmp_path / name)
        hashes.add(wheels.sha256(path))
    assert len(hashes) == 1


def test_compiled_copies_are_left_out_and_compiled_modules_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_packages = tmp_path / "site-packages"
    info = site_packages / "half-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1\n")
    files = ["half.py", "half.cpython-311.so", "aa__mypyc.cpython-311.so"]
    for file in files:
        (site_packages / file).write_text("")
    record = info / "RECORD"
    record.write_text("".join([f"{file},,\n" for file in files]))
    monkeypatch.syspath_prepend(str(site_packages))
    path = wheels.write_wheel("half", tmp_path)
    assert zipfile.ZipFile(path).namelist() == ["half.py"]
    record.write_text("half.cpython-311.so,,\n")
    with pytest.raises(wheels.NotPureError, match=r"half holds compiled code here"):
        wheels.write_wheel("half", tmp_path)
