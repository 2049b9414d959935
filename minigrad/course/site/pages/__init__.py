"""The website of the course: lessons to read, whose players play without Python.

Each lesson is run, and its exercises with it; Sphinx makes pages of them. What players
and predictions need is written once, as scripts in ``_static/shared``, and a page loads
it when it is near.
Relative addresses and plain scripts alone: it works from a file, and below any URL.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import mimetypes
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from minigrad import _workspace
from minigrad.course.author import slides
from minigrad.course.site import wheels
from minigrad.course.site.pages import lessons, reference
from minigrad.course.site.pages.addresses import Addresses
from minigrad.course.site.pages.shared import Shared
from minigrad.course.site.pyodide import CORE, SiteError
from minigrad.views import forms

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
STATIC = HERE / "static"


def write_pages(out: Path, edition: str, only: Sequence[str] = ()) -> None:
    """Run the lessons, all or those with these numbers, and write the website.

    ``edition`` is the address of the browser edition, as seen from the front page.
    Raises: SiteError.
    """
    for module in ("sphinx", "myst_nb", "furo"):
        if importlib.util.find_spec(module) is None:
            fix = "run python3 minigrad site --pages, which installs it, or: "
            fix += 'pip install "minigrad-course[site]"'
            raise SiteError.at("site", f"{module} isn't installed", fix)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pages-", dir=out.parent) as folder:
        source, built = Path(folder) / "source", Path(folder) / "built"
        source.mkdir()
        static = source / "static"
        static.mkdir()
        sheets = (forms.HERE / "forms.css", STATIC / "site.css")
        sheet = "\n".join([path.read_text("utf8") for path in sheets])
        (static / "site.css").write_text(sheet, "utf8")
        (static / "site.js").write_text(script(), "utf8")
        shutil.copy(STATIC / "playground_worker.js", static)
        shared = Shared(static / "shared")
        paths = lesson_files(only)
        pairs = [[path, exercises_of(path)] for path in paths]
        books = [*pairs, *([] if only else [[gym()]])]
        addresses = Addresses(
            {path.stem: title_of(path) for path in paths},
            [book[-1].stem for book in books],
            edition,
        )
        write_notebooks(books, source, shared, addresses)
        pages = reference.ctx_pages(shared, addresses)
        at_top = replace(addresses, up="")
        pages |= {
            "glossary.md": reference.glossary_page(at_top),
            "questions.md": reference.questions_page(at_top),
            "playground.md": reference.playground_page(shared, edition),
            "index.md": front_page(paths, shared, whole=not only),
        }
        if not only:
            pages |= reference.api_pages()
        for name, text in pages.items():
            (source / name).parent.mkdir(exist_ok=True)
            (source / name).write_text(text, "utf8")
        shutil.copy(HERE / "conf.py", source)
        run_sphinx(source, built)
        write_texts(built)
        if out.exists():
            out.rmdir()
        built.rename(out)


def lesson_files(only: Sequence[str]) -> list[Path]:
    """The built notebooks of the lessons, or of some of them."""
    if only:
        return [slides.lesson_file(number) for number in only]
    return sorted((_workspace.shipped(ROOT) / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def title_of(lesson: Path) -> str:
    """The first line of a lesson."""
    first = json.loads(lesson.read_text("utf8"))["cells"][0]["source"][0]
    return str(first).lstrip("# ").rstrip()


def exercises_of(lesson: Path) -> Path:
    """The notebook with the exercises of a lesson."""
    (found,) = (lesson.parents[1] / "exercises" / lesson.stem).glob("*.ipynb")
    return found


def gym() -> Path:
    """The notebook with the exercises that belong to no lesson."""
    return _workspace.shipped(ROOT) / "exercises/gym/gym.ipynb"


def write_notebooks(
    books: Sequence[Sequence[Path]], source: Path, shared: Shared, addresses: Addresses
) -> None:
    """Each notebook as Sphinx reads it, and as it's downloaded.

    A lesson and its exercises are run together, and lead to each other.
    """
    for folder in ("lessons", "exercises", "extra/download"):
        (source / folder).mkdir(parents=True)
    for paths in books:
        print(f"Running {paths[0].name}.", flush=True)
        for path, book in zip(paths, lessons.executed(paths), strict=True):
            page = lessons.page_of(book, path, shared, addresses)
            for other in set(paths) - {path}:
                lessons.lead_on(page, other, addresses)
            place = source / addresses.of(str(path)).removeprefix(addresses.up)
            place.with_suffix(".ipynb").write_text(json.dumps(page, indent=1), "utf8")
            shutil.copy(path, source / "extra" / "download")


def front_page(paths: Sequence[Path], shared: Shared, whole: bool) -> str:
    """The page that leads to all others."""
    names = "\n".join([f"lessons/{path.stem}" for path in paths])
    names += "\nexercises/gym" if whole else ""
    api = "\n".join(reference.api_pages()) if whole else ""
    text = (HERE / "index.md").read_text("utf8")
    player, _ = reference.player_of("save_for_backward", shared, up="")
    text = text.replace("PLAYER", player)
    return text.replace("LESSONS", names).replace("MODULES", api.replace(".md", ""))


def write_texts(built: Path) -> None:
    """What a search shows around its words, as a script, for one from a file."""
    texts = {}
    for path in built.rglob("*.html"):
        found = re.search(r"<article .*</article>", path.read_text("utf8"), re.DOTALL)
        if found:
            text = re.sub(r"(?s)<(style|script).*?</\1>", "", found[0])
            text = re.sub(r"<(?!/?(article|section)\b)[^>]*>|¶", "", text)
            texts[path.relative_to(built).as_posix()] = text
    script = f"(window.minigrad ??= {{}}).texts = {json.dumps(texts)};\n"
    (built / "_static" / "shared" / "texts.js").write_text(script, "utf8")


def write_python(out: Path, pyodide: Path) -> None:
    """What the playground loads, as a script, for a page that's opened from a file.

    ``pyodide`` is the folder of the browser edition that the pages lead to.
    """
    names = [*CORE, wheels.name_of(wheels.COURSE)]
    files = [pyodide / name for name in names] + list(pyodide.glob("numpy-*.whl"))
    files.append(STATIC / "playground_worker.js")
    brought = {
        path.name: (
            mimetypes.guess_type(path)[0] or "application/octet-stream",
            base64.b64encode(path.read_bytes()).decode(),
        )
        for path in files
    }
    text = f"(window.minigrad ??= {{}}).python = {json.dumps(brought)};\n"
    (out / "_static" / "shared" / "python.js").write_text(text, "utf8")


def script() -> str:
    """What runs in a page: the notebooks' forms, and what brings pages to life.

    Not a module: a browser loads none from a file.
    """
    code = (forms.HERE / "forms.js").read_text("utf8")
    code = code.replace("export default { render };", "")
    for name in ("site.js", "playground.js"):
        code += (STATIC / name).read_text("utf8")
    return f"(() => {{\n{code}}})();\n"


def run_sphinx(source: Path, out: Path) -> None:
    """Raises: SiteError, with Sphinx's own words, also where it only warns."""
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going"]
    command += ["-b", "html", "-d", str(source / ".doctrees"), str(source), str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = "\n    ".join(done.stderr.strip().splitlines()[-8:])
        fix = 'install the versions that fit: pip install "minigrad-course[site]"'
        raise SiteError.at("site", f"Sphinx couldn't build it:\n    {said}", fix)
