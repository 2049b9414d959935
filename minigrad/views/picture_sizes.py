"""The room that a part of a picture takes, and where in it everything stands."""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]
Point = tuple[float, float]
Spot = list[float]
"""A place: left, top, width, height."""

CHIP, SLOT, CORD, TRAY = 46, 34, 28, 26  # heights
GAP = 8
HANGING: Final = {"chip": 0, "slot": 14, "tray": GAP}
"""What hangs on a leaf or on data, from top to bottom: how far below what is above."""
OUT = 20  # from a card to what comes out of it
TABLE: Final = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">'


def table_of(part: Json, values: int, wires: int) -> str:
    """The room of a part as an HTML-like label, with a port at each end of a line.

    Values come to its card at the left, one below the other, and leave at its chips;
    wires come to its box.
    """
    if part["k"] != "call":
        ports = {"chip": "v0", "slot": "s", "tray": ""}
        cells = [(ports[key], part[key][1]) for key in HANGING if key in part]
        gaps = [("", HANGING[key]) for key in HANGING if key in part]
        rows = [row for pair in zip(gaps, cells, strict=True) for row in pair]
        return _column(part["chip"][0], rows)
    wide, high, above = _room(part)
    chips = [(f"v{slot}", chip[1]) for slot, chip in enumerate(part["chips"])]
    outs = [chips[0], *[row for chip in chips[1:] for row in (("", GAP), chip)]]
    outs = [("", above), *outs, ("", above)]
    ins = [(f"i{place}", part["card"][1] / values) for place in range(values)]
    edge = (high - part["card"][1]) / 2
    left = _column(wide / 2, [("", edge), *ins, ("", edge)])
    halves = f"<TD>{left}</TD><TD>{_column(wide / 2, outs)}</TD>"
    box = [(f"b{place}", part["box"][1] / wires) for place in range(wires)]
    below = _column(wide, [("", _cord(part)), *box, ("", GAP), ("", part["tray"][1])])
    return f'{TABLE}<TR>{halves}</TR><TR><TD COLSPAN="2">{below}</TD></TR></TABLE>'


def _column(wide: float, rows: list[tuple[str, float]]) -> str:
    """Cells one below the other."""
    cells = "".join(
        f'<TR><TD PORT="{port or "_"}" FIXEDSIZE="TRUE" WIDTH="{wide:.0f}"'
        f' HEIGHT="{tall:.0f}"></TD></TR>'
        for port, tall in rows
        if tall >= 0.5
    )
    return f"{TABLE}{cells}</TABLE>"


def _room(part: Json) -> tuple[float, float, float]:
    """How wide a call is, how high above its box, and how much is above its chips."""
    chips = part["chips"]
    wide = part["card"][0] + OUT + max([chip[0] for chip in chips])
    tall = sum([chip[1] for chip in chips]) + GAP * (len(chips) - 1)
    high = max(part["card"][1], tall)
    return max(wide, part["box"][0]), high, (high - tall) / 2


def size_of(part: Json) -> tuple[float, float]:
    """How wide and how high a part is with all that hangs on it."""
    if part["k"] == "call":
        wide, high, _ = _room(part)
        return wide, high + _cord(part) + part["box"][1] + GAP + part["tray"][1]
    tall = [gap + part[key][1] for key, gap in HANGING.items() if key in part]
    return part["chip"][0], sum(tall)


def _cord(part: Json) -> float:
    """From a result to its box, if it ever has one."""
    return CORD if part["box"][1] else 0


def spread(part: Json, x: float, y: float) -> Json:
    """A part whose sizes have become spots around its middle."""
    shown = dict(part)
    wide, high = size_of(part)
    left, top = x - wide / 2, y - high / 2
    if part["k"] != "call":
        for key, gap in HANGING.items():
            if key in part:
                shown[key] = _spot(left, top + gap, *part[key])
                top += gap + part[key][1]
        return shown
    right = x + wide / 2
    _, high, above = _room(part)
    shown["card"] = _spot(left, top + (high - part["card"][1]) / 2, *part["card"])
    shown["chips"] = []
    widest = max([chip[0] for chip in part["chips"]])
    at = top + above
    for chip in part["chips"]:
        shown["chips"].append(_spot(right - (widest + chip[0]) / 2, at, *chip))
        at += chip[1] + GAP
    box = right - part["box"][0]
    low = top + high + _cord(part)
    shown["box"] = _spot(box, low, *part["box"])
    # A tangent takes the place of a box that is thrown away.
    low += 0 if "keys" in part else part["box"][1]
    shown["tray"] = _spot(box, low + GAP, *part["tray"])
    return shown


def _spot(*numbers: float) -> Spot:
    return [round(one, 1) for one in numbers]


def side(part: Json, port: str, right: int, of: int = 1) -> tuple[float, float]:
    """Where a line meets a part, of so many."""
    kind, number = port[0], int(port[1:] or 0)
    if kind in "sb":
        spot = part["slot" if kind == "s" else "box"]
    elif kind == "i":
        spot = part["card"]
    else:
        spot = part["chips"][number] if "chips" in part else part["chip"]
    share = 0.5 if right else (number + 0.5) / of
    return round(spot[0] + right * spot[2], 1), round(spot[1] + share * spot[3], 1)
