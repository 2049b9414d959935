"""The browser edition for the tests: built once, served from loopback alone."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route

from tests.browser.laboratory import Notebook


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
