"""The browser edition: served from loopback alone, and a notebook that is open in it.

``python -m tests.browser.browser_edition SITE`` runs all lessons, and all exercises as
they are shipped, of a site that ``python -m minigrad site SITE`` has built.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright

from minigrad import _bootstrap
from tests.browser.laboratory import FLAGS, ROOT, Notebook


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web server that knows nothing but files, as a static host."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder, on loopback."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def refuse_others(page: Page, base: str) -> list[str]:
    """Let nothing out of this machine; the list fills with what wanted to go."""
    asked: list[str] = []

    def handle(route: Route) -> None:
        if route.request.url.startswith(f"{base}/"):
            route.continue_()
        else:
            asked.append(route.request.url)
            route.abort()

    page.context.route("**/*", handle)
    return asked


class InBrowser(Notebook):
    """A notebook that is open in the browser edition: by itself, the first lesson."""

    def __init__(self, page: Page, base: str, path: str = "") -> None:
        self.page = page
        page.goto(f"{base}/lab/index.html?path={path}&reset" if path else f"{base}/")
        self.wait_until_ready()


def faults(book: Notebook) -> list[str]:
    """Code cells that did not run, or that raised where they should not, or not."""
    found = []
    for cell in book.cells():
        if cell["type"] != "code":
            continue
        errors = [one for one in cell["outputs"] if one["output_type"] == "error"]
        begins = cell["source"][:70]
        if not cell["count"]:
            found.append(f"not run: {begins}")
        elif bool(errors) != ("raises-exception" in cell["tags"]):
            said = "; ".join([f"{one['ename']}: {one['evalue']}" for one in errors])
            found.append(f"{said or 'raised nothing'}: {begins}")
    return found


def said_by(book: Notebook, index: int, source: str) -> str:
    """What a cell says that holds ``source`` instead."""
    book.type_into(index, source)
    book.run(index)
    outputs = book.cells()[index]["outputs"]
    return "".join([str(one.get("data", one.get("text"))) for one in outputs])


def main() -> int:
    """Run each notebook from top to bottom; 1 if any does what it should not."""
    (out,) = sys.argv[1:]
    places = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb")]
    wrong = 0
    with served(Path(out)) as base, sync_playwright() as playwright:
        chromium = _bootstrap.find_browser(os.environ)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for path in sorted(places):
            page = browser.new_context().new_page()
            page.set_default_timeout(120_000)
            asked = refuse_others(page, base)
            name = path.relative_to(ROOT).as_posix()
            begin = time.monotonic()
            book = InBrowser(page, base, name)
            ready = time.monotonic()
            book.run_all()
            found = [*faults(book), *[f"asks for {url}" for url in asked]]
            ran = time.monotonic() - ready
            print(f"{name}: ready {ready - begin:.1f} s, ran {ran:.1f} s", flush=True)
            for one in found:
                print(f"  {one}", flush=True)
            wrong += bool(found)
            page.context.close()
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
