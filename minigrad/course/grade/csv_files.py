"""Tables that an instructor gives, refused with the line that is wrong."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from minigrad import errors

MOST_BYTES = 10**7


class TableError(errors.MinigradError, ValueError):
    """A table that was given can't be used; the message names file and line."""


def refused(path: Path, line: int, what: str, fix: str) -> TableError:
    """The error for a line of a table."""
    return TableError.at("grade", f"{path}, line {line}: {what}", fix)


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row with the number of its line, by the column's name; empty ones are not.

    Raises: TableError if it is no table in UTF-8 with a heading for each column.
    """
    try:
        data = path.read_bytes()[: MOST_BYTES + 1]
    except OSError as error:
        what, fix = f"{path} can't be read ({error.strerror})", "name a CSV file"
        raise TableError.at("grade", what, fix) from None
    if len(data) > MOST_BYTES:
        what = f"{path} has more than {MOST_BYTES / 1e6:.0f} MB"
        raise TableError.at("grade", what, "name the table of a class")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        what = f"byte {data[error.start]:#04x} is no UTF-8"
        raise refused(path, line, what, "save the table as CSV UTF-8") from None
    first = text.split("\n", 1)[0]
    # A spreadsheet with a comma in its numbers writes semicolons between cells.
    mark = ";" if first.count(";") > first.count(",") else ","
    reader = csv.reader(text.splitlines(keepends=True), delimiter=mark)
    try:
        names = [name.strip() for name in next(reader, [])]
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            if len(cells) > len(names):
                what = f"{len(cells)} cells under {len(names)} headings"
                fix = "put a text with a comma into double quotes"
                raise refused(path, reader.line_num, what, fix)
            cells += [""] * (len(names) - len(cells))
            yield (
                reader.line_num,
                {n: c.strip() for n, c in zip(names, cells, strict=True)},
            )
    except csv.Error as error:
        what, fix = f"no CSV ({error})", "save the table as CSV again"
        raise refused(path, reader.line_num, what, fix) from None


def column(path: Path, names: list[str], wanted: tuple[str, ...]) -> str:
    """The heading that one of the wanted names stands in, in any spelling of it.

    Raises: TableError.
    """
    by_key = {name.casefold(): name for name in names}
    for each in wanted:
        if each in by_key:
            return by_key[each]
    what = f"no column is called {' or '.join(wanted)}; there are: {', '.join(names)}"
    raise refused(path, 1, what, f"call one of them {wanted[0]}")
