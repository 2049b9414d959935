"""Frames: a length, a small header in JSON, and the bytes of arrays. Never a pickle."""

from __future__ import annotations

import contextlib
import json
import os
import select
import struct
import time
from typing import NoReturn

from minigrad.course.grade import quotas

_HEAD = struct.Struct("<4sII")
_MAGIC = b"mgr1"
_EVERY = 0.1
"""Seconds from one look at the clock to the next."""


class FrameError(Exception):
    """What came is no frame, or no answer; whoever sent it is to blame."""


class GoneError(FrameError):
    """Nobody is there any more who could answer."""


class TooLateError(FrameError):
    """The time was up before the answer was whole."""


def write(
    number: int,
    header: object,
    body: bytes,
    *,
    until: float | None = None,
) -> None:
    """Send one frame through a pipe; with ``until`` through one that does not block.

    Raises: GoneError, TooLateError.
    """
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    left = memoryview(_HEAD.pack(_MAGIC, len(text), len(body)) + text + body)
    turns = _Turns(number, select.POLLOUT, until)
    try:
        while left:
            if until is not None and not turns.is_ready():
                continue
            with contextlib.suppress(BlockingIOError):
                left = left[os.write(number, left) :]
    except (BrokenPipeError, ConnectionResetError):
        raise GoneError("the process had ended") from None


def read(
    number: int,
    *,
    until: float | None = None,
    header_bytes: int = quotas.HEADER,
    body_bytes: int = quotas.BODY,
) -> tuple[object, bytes]:
    """The next frame: what its header says, and its arrays in one piece.

    Raises: FrameError for a stranger's answer that is none.
    """

    turns = _Turns(number, select.POLLIN, until)

    def exactly(count: int) -> bytes:
        return _exactly(number, count, turns)

    magic, header_size, body_size = _HEAD.unpack(exactly(_HEAD.size))
    if magic != _MAGIC:
        raise FrameError("an answer did not begin like one")
    if header_size > header_bytes or body_size > body_bytes:
        raise FrameError(f"an answer of {header_size + body_size} bytes")
    text = exactly(header_size)
    return _parsed(text), exactly(body_size)


class _Turns:
    """Waits for a pipe, and looks at the clock however often the pipe is ready."""

    def __init__(self, number: int, event: int, until: float | None) -> None:
        self._until = until
        self._waiting = select.poll()
        self._waiting.register(number, event)

    def is_ready(self) -> bool:
        """Whether the pipe is, after a tenth of a second at most.

        Raises: TooLateError.
        """
        left = _EVERY
        if self._until is not None:
            left = min(left, self._until - time.monotonic())
        if left <= 0:
            raise TooLateError("the time was up")
        return bool(self._waiting.poll(left * 1000))


def _exactly(number: int, count: int, turns: _Turns) -> bytes:
    found = bytearray()
    while len(found) < count:
        if not turns.is_ready():
            continue
        try:
            piece = os.read(number, min(count - len(found), 1 << 20))
        except BlockingIOError:
            continue  # somebody else has read what was there
        if not piece:
            raise GoneError("the process ended before it had answered")
        found += piece
    return bytes(found)


def _parsed(text: bytes) -> object:
    try:
        header = json.loads(text.decode("utf-8"), parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"an answer that cannot be read ({error!s:.80})") from None
    if _depth(header) > quotas.DEPTH:
        raise FrameError("an answer that is nested too deeply")
    return header


def _depth(value: object) -> int:
    """How many containers lie within each other, without a recursion of our own."""
    depth, level = 0, [value]
    while level:
        inner: list[object] = []
        for each in level:
            if isinstance(each, list):
                inner += each
            elif isinstance(each, dict):
                inner += each.values()
        level = inner
        depth += bool(inner)
        if depth > quotas.DEPTH:
            break
    return depth


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
