"""A folder that a submission may write in where it gets no file system of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator

MOST_FILES = 2048
"""In one folder, with all that is below it; as many as a box has room for."""

DEEPEST = 32


def taken(folder: str) -> int:
    """The bytes on disk of all files in it. Raises: OSError if nobody can tell.

    Nothing can be removed from it or moved meanwhile, so nothing is overlooked.
    """
    total, count, waiting = 0, 0, [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        if depth > DEEPEST:
            raise OSError(f"more than {DEEPEST} folders inside one another")
        with os.scandir(path) as entries:
            for entry in entries:
                count += 1
                if count > MOST_FILES:
                    raise OSError(f"more than {MOST_FILES} files")
                total += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, depth + 1))
    return total


def remove(folder: str) -> None:
    """Remove it, however deep it is and whatever its owner has done to its rights."""
    fresh = (os.path.join(folder, f"{n}.up") for n in itertools.count())
    with contextlib.suppress(OSError):
        while names := os.listdir(folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    _lift(path, fresh)
                else:
                    os.unlink(path)
        os.rmdir(folder)


def _lift(inner: str, fresh: Iterator[str]) -> None:
    """Move what is in a folder beside it, so that no path gets long; remove it."""
    os.chmod(inner, 0o700)
    for name in os.listdir(inner):
        place = next(fresh)
        while os.path.lexists(place):
            place = next(fresh)
        path = os.path.join(inner, name)
        if os.path.isdir(path) and not os.path.islink(path):
            # To be moved elsewhere a folder has to be writable itself.
            os.chmod(path, 0o700)
        os.rename(path, place)
    os.rmdir(inner)
