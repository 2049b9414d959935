"""Make a program that shows a difference as short as it goes."""

from __future__ import annotations

from collections.abc import Callable


def shrink(
    statements: list[str], shows: Callable[[str], bool], tries: int = 400
) -> list[str]:
    """The statements without those that the difference does not need.

    Drops runs of statements, long ones first, then unpacks ``with`` blocks.
    """
    current = list(statements)
    length = max(1, len(current) // 2)
    while length and tries > 0:
        start = len(current) - length
        while start >= 0 and tries > 0:
            shorter = current[:start] + current[start + length :]
            tries -= 1
            if shows("\n".join(shorter) + "\n"):
                current = shorter
            start -= length
        length //= 2
    return without_lines(current, shows, tries)


def without_lines(
    statements: list[str], shows: Callable[[str], bool], tries: int
) -> list[str]:
    """Drop single lines inside statements, such as a method of a class."""
    lines = "\n".join(statements).splitlines()
    place = len(lines) - 1
    while place >= 0 and tries > 0:
        for length in (4, 2, 1):
            shorter = lines[:place] + lines[place + length :]
            tries -= 1
            if shows("\n".join(shorter) + "\n"):
                lines = shorter
                break
        place -= 1
    return [line for line in lines if line.strip()]
