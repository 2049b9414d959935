"""The course as a static folder: to run in the browser, and as pages to read.

The browser edition runs without a server of its own. The pages are in ``pages``.
JupyterLite is JupyterLab as a page; its Python is Pyodide. Given a folder with
Pyodide's wheels, the page asks no other host for anything. Without one it takes them
from Pyodide's CDN. Either way the browser compares each with the hash in the lock.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minigrad import _bootstrap, _workspace, errors
from minigrad.course.site.pyodide import STARTS_WITH, SiteError, write_pyodide

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "MINIGRAD_PYODIDE"
FIRST_LESSON = "notebooks/00_start_here.ipynb"
FRONT_PAGE = f"""\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>minigrad</title>
<meta http-equiv="refresh" content="0; url=lab/index.html?path={FIRST_LESSON}">
SETTINGS
<a href="lab/index.html?path={FIRST_LESSON}">The course</a>
</html>
"""
KERNEL = "@jupyterlite/pyodide-kernel-extension"
EXTENSIONS = (KERNEL, "@jupyter-widgets/jupyterlab-manager", "anywidget")
"""What is added to JupyterLab: Python, and the widgets of forms and live players."""

LINES = {
    "name": "jsonl",
    "extensions": [".jsonl"],
    "fileFormat": "text",
    "mimeTypes": ["text/plain"],
}

PLACES = (
    "async e=>{try{await h.runExclusive(",
    '"error"===e.content.status&&h.cancel()',
)
"""Where JupyterLite receives a cell, and where it drops those that wait."""


def main(argv: Sequence[str]) -> int:
    """``python -m minigrad site OUT``: build the browser edition."""
    parser = argparse.ArgumentParser(
        prog="python -m minigrad site",
        description="Build the course as a static folder that runs in the browser; "
        "with --pages, as a website to read, with that folder inside it.",
        epilog="To look at it: python -m http.server --directory OUT, then open "
        "http://localhost:8000.",
    )
    parser.add_argument("out", type=Path, help="a new or an empty folder")
    parser.add_argument(
        "--pyodide",
        type=Path,
        default=os.environ.get(FOLDER),
        metavar="FOLDER",
        help="Pyodide's wheels, to be put into the site; without, the page takes them "
        f"from Pyodide's CDN (default: what {FOLDER} names)",
    )
    parser.add_argument(
        "--pages",
        action="store_true",
        help="write a website of the lessons, and the browser edition into OUT/edition",
    )
    parser.add_argument(
        "--edition",
        metavar="URL",
        help="of a browser edition that is there already: --pages builds none then",
    )
    chosen = parser.parse_args(list(argv))
    try:
        if chosen.pages:
            write_website(chosen.out, chosen.pyodide, chosen.edition)
        else:
            write_site(chosen.out, chosen.pyodide)
    except errors.MinigradError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    files = [path for path in chosen.out.rglob("*") if path.is_file()]
    size = sum([path.stat().st_size for path in files]) / 1e6
    print(f"Wrote {chosen.out}: {len(files)} files, {size:.0f} MB.")
    return 0


def write_website(out: Path, wheels: Path | None, edition: str | None) -> None:
    """Write the pages, and the browser edition that they lead to, if none is named.

    Raises: SiteError.
    """
    from minigrad.course.site import pages

    see_that_it_is_empty(out)
    if edition is None:
        see_that_it_can_be_built(out / "edition", wheels)
    pages.write_pages(out, edition or "edition")
    if edition is None:
        write_site(out / "edition", wheels)
        pages.write_python(out, out / "edition" / "static" / "pyodide")


def write_site(out: Path, wheels: Path | None = None) -> None:
    """Build the site beside ``out`` and move it there when it is whole.

    Raises: SiteError.
    """
    see_that_it_can_be_built(out, wheels)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=out.parent) as folder:
        source, built = Path(folder) / "source", Path(folder) / "built"
        write_pyodide(source / "static" / "pyodide", wheels)
        _workspace.lay_out(ROOT, source / "files")
        write_settings(source)
        run_jupyterlite(source, built)
        let_cells_raise(built)
        open_first_lesson(built / "index.html")
        if out.exists():
            out.rmdir()
        built.rename(out)


def see_that_it_can_be_built(out: Path, wheels: Path | None) -> None:
    """Refuse before anything is written. Raises: SiteError."""
    see_that_it_is_empty(out)
    if wheels is not None and not wheels.is_dir():
        fix = (
            f"name a folder with Pyodide's wheels, or leave --pyodide and {FOLDER} out"
        )
        raise SiteError.at("site", f"there is no folder {wheels}", fix)
    for module in ("jupyterlite_core", "jupyterlite_pyodide_kernel"):
        if importlib.util.find_spec(module) is None:
            fix = "run python3 minigrad site, which installs it, or: pip install "
            fix += '"minigrad-course[site]"'
            raise SiteError.at("site", f"{module} isn't installed", fix)


def see_that_it_is_empty(out: Path) -> None:
    """Raises: SiteError if there's something at ``out``."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise SiteError.at(
            "site", f"{out} isn't empty", "name a new or an empty folder"
        )


def write_settings(source: Path) -> None:
    """Say to JupyterLite what to build, and to the page how to start."""
    extensions = Path(sys.prefix) / "share/jupyter/labextensions"
    build = {
        "LiteBuildConfig": {
            "apps": ["lab"],
            "contents": ["files"],
            # Taken for JSON, a second line of the journal would hang the kernel.
            "extra_file_types": {"jsonl": LINES},
            "federated_extensions": [
                *[str(extensions / name) for name in EXTENSIONS],
                str(_bootstrap.JUPYTER / "labextensions/minigrad-course"),
            ],
            "ignore_sys_prefix": True,
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
        },
        # A reset takes the notebook's first form from a hidden folder.
        "ContentsManager": {"allow_hidden": True},
    }
    page: dict[str, Any] = {
        "appName": "minigrad",
        "exposeAppInBrowser": True,
        "litePluginSettings": {
            f"{KERNEL}:kernel": {
                "disablePyPIFallback": True,
                "loadPyodideOptions": {"packages": STARTS_WITH},
            }
        },
    }
    lite = {"jupyter-lite-schema-version": 0, "jupyter-config-data": page}
    for name, content in (
        ("jupyter_lite_config.json", build),
        ("jupyter-lite.json", lite),
    ):
        (source / name).write_text(json.dumps(content), "utf8")


def run_jupyterlite(source: Path, built: Path) -> None:
    """Raises: SiteError, with JupyterLite's own words."""
    command = [sys.executable, "-m", "jupyterlite_core", "build"]
    done = subprocess.run(
        [*command, "--lite-dir", ".", "--output-dir", str(built)],
        cwd=source,
        capture_output=True,
        text=True,
    )
    if done.returncode or not (built / "lab" / "index.html").is_file():
        said = "\n    ".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        version = importlib.metadata.version("jupyterlite-core")
        raise SiteError.at(
            "site",
            f"JupyterLite {version} couldn't build it:\n    {said}",
            'install the versions that fit: pip install "minigrad-course[site]"',
        )


def open_first_lesson(page: Path) -> None:
    """Let the site's first page lead to lesson 00.

    All others read their settings from it, too, so its script stays.
    Raises: SiteError if it has none.
    """
    script = re.search(
        r'<script id="jupyter-config-data".*?</script>',
        page.read_text("utf8"),
        re.DOTALL,
    )
    if script is None:
        raise another_jupyterlite("has no settings in its first page")
    page.write_text(FRONT_PAGE.replace("SETTINGS", script[0]), "utf8")


def let_cells_raise(built: Path) -> None:
    """Go on after a cell that is tagged ``raises-exception``, as JupyterLab does.

    JupyterLite drops all cells that wait when one fails, whatever was asked for it.
    Raises: SiteError if it is another JupyterLite than this was written for.
    """
    asks = "e.header.goesOn=!1===e.content.stop_on_error;"
    for script in (built / "build").glob("*.js"):
        text = script.read_text("utf8")
        if all([text.count(place) == 1 for place in PLACES]):
            receives, cancels = PLACES
            text = text.replace(receives, receives.replace("try{", f"{asks}try{{"))
            goes_on = "&&!e.parent_header.goesOn&&"
            text = text.replace(cancels, cancels.replace("&&", goes_on))
            script.write_text(text, "utf8")
            return
    raise another_jupyterlite("drops waiting cells in another way than 0.6.4 did")


def another_jupyterlite(does: str) -> SiteError:
    """The error that another JupyterLite is installed than this was written for."""
    version = importlib.metadata.version("jupyterlite-core")
    fix = 'install the versions that fit: pip install "minigrad-course[site]"'
    return SiteError.at("site", f"JupyterLite {version} {does}", fix)
