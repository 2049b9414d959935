"""One kernel for all notebooks of a module: to start it takes longer than most of them.

Names, modes and random numbers are fresh for each notebook; modules stay imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]
FRESH = """\
%reset -f
import os
os.chdir({folder!r})
del os
from tests.sealing import put_back, seed
put_back(), seed()
del put_back, seed
"""


class Kernel:
    """Runs notebook after notebook; the files on disk stay as they are."""

    def __init__(self, ipython: Path) -> None:
        self.client = NotebookClient(new_notebook(), timeout=120)
        self.environ = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(ipython)}

    def run(
        self, book: NotebookNode, folder: Path, errors: bool = False, asks: bool = False
    ) -> NotebookNode:
        """Run every cell in a folder, up to one that raises; with ``errors`` all.

        ``asks``: as in a frontend, which says that somebody could answer ``input()``.
        """
        client = self.client
        client.nb = new_notebook(
            cells=[new_code_cell(FRESH.format(folder=str(folder)))]
        )
        client.allow_errors = False
        client.execute(cleanup_kc=False, env=os.environ | self.environ)
        client.nb, client.allow_errors, client.kc.allow_stdin = book, errors, asks
        return client.execute(cleanup_kc=False)

    def close(self) -> None:
        """End the process; the next notebook starts another one."""
        self.client.nb = new_notebook()
        self.client.execute()


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """The kernel of a module."""
    kernel = Kernel(tmp_path_factory.mktemp("ipython"))
    yield kernel
    kernel.close()
