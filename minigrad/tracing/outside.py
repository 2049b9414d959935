"""What a program that runs again must not do: ask a person, write files and such."""

from __future__ import annotations

import builtins
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, NoReturn

Refuse = Callable[[str], NoReturn]
"""Is told what the program is about to do, and raises."""

DOES: Final = {
    "os.mkdir": "makes a folder",
    "os.remove": "removes a file",
    "os.rename": "renames a file",
    "os.rmdir": "removes a folder",
    "os.system": "runs a command",
    "os.truncate": "writes to a file",
    "socket.connect": "opens a connection",
    "subprocess.Popen": "starts another program",
}
"""By the audit event."""
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
UNSEEN: Final = ("__pycache__", os.devnull)

_here = threading.local()


@contextmanager
def refused_outside(refuse: Refuse) -> Iterator[None]:
    """Let ``refuse`` raise in the block before this thread does any of it."""
    _listen()
    asks = builtins.input
    builtins.input = lambda *_: refuse("asks for input()")
    _here.refuse = refuse
    try:
        yield
    finally:
        _here.refuse = None
        builtins.input = asks


@cache
def _listen() -> None:
    sys.addaudithook(_heard)  # for good: Python cannot take one back


def _heard(event: str, args: tuple[Any, ...]) -> None:
    refuse = getattr(_here, "refuse", None)
    if refuse is None:
        return
    does = DOES.get(event)
    if event == "open" and args[2] & WRITES:
        path = str(args[0])
        does = "" if any([one in path for one in UNSEEN]) else f"writes to {path}"
    if does:
        refuse(does)
