"""What a text of JavaScript is made of: a strict reader, to compare programs by.

It knows as much of the language as the player is written in, and stops at the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

TOKEN: Final = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<space> \s+ )
    | (?P<text> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
    | (?P<template> ` )
    | (?P<number> \d(?:[\w.]|(?<=[eE])[+-])* | \.\d[\w]* )
    | (?P<word> \#?[A-Za-z_$][\w$]* )
    | (?P<sign> =>|\.\.\.|\*\*=?|\?\?=?|\?\.(?!\d)|&&=?|\|\|=?|>>>=?|<<=?|>>=?
        |[=!]==?|\+\+|--|[-+*%&|^<>]=?|[][{}();,:?~.=!] )
    | (?P<slash> / )
    """,
    re.VERBOSE | re.DOTALL,
)
PATTERN: Final = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
BEFORE_PATTERN: Final = frozenset({"return", "typeof", "case", "of", "in", "await"})
"""Words after which a slash begins a pattern; after others it divides."""

WORDLIKE: Final = re.compile(r"[\w$#]")


class ScriptError(ValueError):
    """Something that this reader of JavaScript does not know."""


def program(source: str) -> list[str]:
    """The tokens of a program, without what is for readers alone."""
    return [one for kind, one in tokens(source) if kind not in ("space", "comment")]


def tokens(source: str) -> Iterator[tuple[str, str]]:
    """What a program is made of, one after the other; comments and spaces as well.

    Raises: ScriptError for what is no token.
    """
    at, before = 0, ""
    while at < len(source):
        kind, end = token_at(source, at, before)
        yield kind, source[at:end]
        if kind not in ("space", "comment"):
            before = source[at:end]
        at = end


def token_at(source: str, at: int, before: str) -> tuple[str, int]:
    """The kind and the end of the token at a place; ``before`` is the one before it."""
    found = TOKEN.match(source, at)
    if found is None:
        raise ScriptError(f"no token: {source[at : at + 30]!r}")
    kind = str(found.lastgroup)
    if kind == "template":
        return "text", end_of_template(source, at)
    if kind != "slash":
        return kind, found.end()
    is_value = WORDLIKE.match(before[-1:]) or before[-1:] in (*")]}\"'`",)
    if is_value and before not in BEFORE_PATTERN:
        return "sign", found.end() + (source[found.end()] == "=")
    pattern = PATTERN.match(source, at)
    if pattern is None:
        raise ScriptError(f"no pattern: {source[at : at + 30]!r}")
    return "text", pattern.end()


def end_of_template(source: str, start: int) -> int:
    """Where the text between backticks ends, with all that is filled into it."""
    at = start + 1
    while source[at] != "`":
        if source[at] == "\\":
            at += 2
        elif source.startswith("${", at):
            at = end_of_filling(source, at + 2)
        else:
            at += 1
    return at + 1


def end_of_filling(source: str, at: int) -> int:
    """Where what is filled into a template ends, behind its brace."""
    depth, before = 1, "{"
    while depth:
        kind, end = token_at(source, at, before)
        token = source[at:end]
        depth += (token == "{") - (token == "}")
        if kind not in ("space", "comment"):
            before = token
        at = end
    return at
