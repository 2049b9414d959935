"""A room without a network: each machine adds to a file of its own in a shared folder.

A line is the body of a request: ``{"name": ...}`` first, then ``{"events": [...]}``, as
over a network. The room reads what is new, and deletes the folder when it closes.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

SCHEME = "folder:"
FILE = re.compile(r"[0-9a-f]{16}\.jsonl")
MOST_FILES = 300
AT_ONCE = 100_000
"""Bytes that are read of a file at once; no line is longer."""


def folder_of(url: str, code: str) -> Path:
    """Where the room of this code has its files."""
    return Path(url.removeprefix(SCHEME), f"room-{code}")


def new_member() -> str:
    """A name for a file, which nothing else tells."""
    return secrets.token_hex(8)


class Folder:
    """A room's folder, of which each byte is read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: dict[str, int] = {}

    def create(self) -> None:
        """Make the folder, in which all may add a file, and delete no other's."""
        self.path.mkdir(exist_ok=True)
        self.path.chmod(0o1777)

    def news(self) -> tuple[set[str], list[tuple[str, bytes]]]:
        """Whose files are there, and the lines that are new, each with its member.

        Raises: OSError while the folder can't be reached.
        """
        names = sorted([name for name in os.listdir(self.path) if FILE.fullmatch(name)])
        names = names[:MOST_FILES]
        found = [
            (name.removesuffix(".jsonl"), line)
            for name in names
            for line in self._lines(name)
        ]
        return {name.removesuffix(".jsonl") for name in names}, found

    def _lines(self, name: str) -> list[bytes]:
        # A pipe would make the room wait, a link lead it elsewhere.
        flags = (
            os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        )
        try:
            number = os.open(self.path / name, flags | getattr(os, "O_BINARY", 0))
        except OSError:
            return []  # a link, another's, or just gone: the next look tells
        try:
            about = os.fstat(number)
            if not stat.S_ISREG(about.st_mode):
                return []
            begun = self._read.get(name, 0)
            if begun > about.st_size:
                begun = 0  # another file than before
            os.lseek(number, begun, os.SEEK_SET)
            text = os.read(number, AT_ONCE)
        finally:
            os.close(number)
        whole = text.rfind(b"\n") + 1
        if not whole and len(text) == AT_ONCE:
            whole = len(text)  # part of a line that is too long to be one of ours
        self._read[name] = begun + whole
        return text[:whole].splitlines()
