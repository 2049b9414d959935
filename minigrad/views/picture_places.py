"""Where the parts of a picture stand, and the ways of its lines.

Graphviz finds the places of a small one. A large one, and any where no Graphviz is at
hand, stands in plain columns.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import count, cycle
from typing import Any, Final

import numpy as np

from minigrad.views import graph
from minigrad.views.picture_sizes import Point, Spot, side, size_of, spread, table_of

Json = dict[str, Any]
Curves = defaultdict[tuple[str, str], list[list[Point]]]
Layout = tuple[dict[str, Point], Point, Curves]
"""The middles of parts, how wide and high all is, and curves by their ends."""

MOST_ASKED: Final = 60  # parts; of more than these Graphviz is not asked
NEAR, FAR = 36, 200  # points between the columns, at least and at most
SHAPE: Final = 2.3  # of a pane: its width by its height
PANE: Final = 1085  # points that a pane of 944 pixels shows
ROW = 24  # between two parts of a column
LANE = 14  # between two lines that go side by side
WEIGHTS: Final = {"value": 4, "wire": 1}


class Places:
    """The places of ``parts``, for which ``lines`` tell who reads whom.

    Those that are ``upper`` stand above all others.
    """

    def __init__(
        self,
        parts: Mapping[str, Json],
        lines: Mapping[str, Json],
        upper: Container[str] = (),
    ) -> None:
        self._parts, self._lines, self._upper = parts, lines, upper
        self._sizes = {name: size_of(part) for name, part in parts.items()}
        self._ends = Counter[tuple[str, str]]()
        self._places: dict[str, int] = {}
        for name, line in lines.items():
            end = line["to"], line["k"]
            self._places[name] = self._ends[end]
            self._ends[end] += 1

    def found(self) -> Json:
        """The picture with all of its places."""
        asked = graph.renderers() if len(self._parts) <= MOST_ASKED else []
        answers = (graph.run(program, self._dot(), "plain") for program in asked)
        plain = next(filter(None, answers), "")
        middles, size, curves = self._read(plain) if plain else self._in_columns()
        down, tall, lanes = self._apart(middles, size[1], 0 if plain else ROW)
        columns = Columns(
            [(*self._sizes[n], x, y + down[n]) for n, (x, y) in middles.items()],
            [
                (middles[line["of"]][0], middles[line["to"]][0], line.get("room", 0))
                for line in self._lines.values()
            ],
            SHAPE * size[1],
        )
        at = {
            name: spread(self._parts[name], columns.moved(x), y + down[name])
            for name, (x, y) in middles.items()
        }
        lines = []
        for name, line in self._lines.items():
            of, to, lane = line["of"], line["to"], None
            start = side(at[of], line["at"], 1)
            count, place = self._ends[to, line["k"]], self._places[name]
            end = side(at[to], f"{_port(line)}{place}", 0, count)
            gaps, share = columns.gaps(start[0], end[0]), 0.5
            curve = curves[of, to].pop(0) if curves[of, to] else []
            if len(gaps) > 1 and down[of] != down[to]:
                lane, share = next(lanes)
            elif len(gaps) > 1 and not plain:
                lane = columns.beyond(start[0], end[0], line["k"] == "wire")
            if len(gaps) == 1 or lane is not None:
                way = _across(start, gaps, end, lane, share)
            else:
                moved = [(columns.moved(x), y + down[to]) for x, y in curve]
                way = _path(start, moved, end)
            kept = {key: line[key] for key in line if key not in ("at", "room")}
            lines.append({"id": name, **kept, "d": way})
        parts = [{"id": name, **at[name]} for name in self._parts]
        wide = columns.moved(size[0])
        return {"size": [round(wide), round(tall)], "parts": parts, "lines": lines}

    def _dot(self) -> str:
        """The picture as Graphviz is asked for its places."""
        lines = [f"digraph {{rankdir=LR nodesep=0.25 ranksep={NEAR / 72} splines=true"]
        lines.append('node [shape=plain,label=""] edge [dir=none]')
        short = {name: f"p{place}" for place, name in enumerate(self._parts)}
        for name, part in self._parts.items():
            ends = [max(1, self._ends[name, kind]) for kind in WEIGHTS]
            lines.append(f"{short[name]} [label=<{table_of(part, *ends)}>]")
        for name, line in self._lines.items():
            at = line["at"]
            if at == "b":  # its middle
                at = f"b{max(0, self._ends[line['of'], 'wire'] - 1) // 2}"
            start, end = f"{short[line['of']]}:{at}:e", short[line["to"]]
            end = f"{end}:{_port(line)}{self._places[name]}:w"
            lines.append(f"{start}->{end} [weight={WEIGHTS[line['k']]}]")
        return "\n".join([*lines, "}"])

    def _read(self, plain: str) -> Layout:
        """What Graphviz has answered."""
        rows = [line.split(" ") for line in plain.splitlines()]
        wide, tall = 72 * float(rows[0][2]), 72 * float(rows[0][3])
        names = list(self._parts)
        middles: dict[str, Point] = {}
        curves: Curves = defaultdict(list)

        def points(numbers: list[str]) -> list[Point]:
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            return [(72 * float(x), tall - 72 * float(y)) for x, y in pairs]

        for row in rows[1:]:
            if row[0] == "node":
                (middles[names[int(row[1][1:])]],) = points(row[2:4])
            elif row[0] == "edge":
                ends = names[int(row[1][1:])], names[int(row[2][1:])]
                curves[ends].append(points(row[4 : 4 + 2 * int(row[3])]))
        return middles, (wide, tall), curves

    def _apart(
        self, middles: Mapping[str, Point], tall: float, margin: float
    ) -> tuple[dict[str, float], float, Iterator[tuple[float, float]]]:
        """How far each part moves down, until upper ones are above; the new height.

        And for lines that go between both, one after the other, how high they go and at
        which share of a gap between columns they turn.
        """
        spans: dict[bool, list[Point]] = {True: [], False: []}
        for name, (_, y) in middles.items():
            half = self._sizes[name][1] / 2
            spans[name in self._upper].append((y - half, y + half))
        above, below = spans[True], spans[False]
        if not above or not below:
            return dict.fromkeys(middles, 0.0), tall, iter(())
        top = min(above)[0] - margin
        bottom = max([low for _, low in above]) - top
        ends = [(line["of"], line["to"]) for line in self._lines.values()]
        between = sum([(of in self._upper) != (to in self._upper) for of, to in ends])
        lower = bottom + ROW + LANE * between - min(below)[0]
        down = {name: -top if name in self._upper else lower for name in middles}
        shares = cycle((0.5, 0.35, 0.65, 0.2, 0.8))
        lanes = zip(count(bottom + ROW, LANE), shares, strict=False)
        return down, max([low for _, low in below]) + lower + margin, lanes

    def _in_columns(self) -> Layout:
        """Each part in its column, beside what it reads; with room for lines around.

        A call stands as far right as its longest way, a leaf, or data, before the first
        that reads it.
        """
        columns = dict.fromkeys(self._parts, 0)
        for line in self._lines.values():  # in the order of the calls
            columns[line["to"]] = max(columns[line["to"]], columns[line["of"]] + 1)
        first: dict[str, int] = {}
        reads = defaultdict(list)
        for line in self._lines.values():
            of, before = line["of"], columns[line["to"]] - 1
            first[of] = min(first.get(of, before), before)
            reads[line["to"]].append(of)
        members = defaultdict(list)
        for name, part in self._parts.items():
            column = columns[name] if part["k"] == "call" else first.get(name, 0)
            members[column].append(name)
        middles: dict[str, Point] = {}
        left = 0.0
        for _, names in sorted(members.items()):
            wide = max([self._sizes[name][0] for name in names])
            known = {
                one: [middles[of][1] for of in reads[one] if of in middles]
                for one in names
            }
            wanted = {one: sum(ys) / (len(ys) or 1) for one, ys in known.items()}
            low = min([wanted[one] - self._sizes[one][1] / 2 for one in names])
            for name in sorted(wanted, key=lambda one: wanted[one]):
                tall = self._sizes[name][1]
                y = max(wanted[name], low + tall / 2)
                middles[name] = left + wide / 2, y
                low = y + tall / 2 + ROW
            left += wide + 2 * NEAR
        halves = [(y, self._sizes[name][1] / 2) for name, (_, y) in middles.items()]
        high = min([y - half for y, half in halves]) - ROW
        low = max([y + half for y, half in halves]) + ROW
        middles = {name: (x, y - high) for name, (x, y) in middles.items()}
        return middles, (left - 2 * NEAR, low - high), defaultdict(list)


class Columns:
    """The columns in which parts stand, from left to right; how far they move apart.

    As far as lines between neighbours ``need`` room for, if a pane has it; and where
    they would leave the sides of a pane that is so ``wide`` empty.
    """

    def __init__(
        self,
        parts: Iterable[tuple[float, float, float, float]],
        needs: Iterable[tuple[float, float, float]],
        wide: float,
    ) -> None:
        """Of parts that are so wide and so high around a place."""
        self._spots: list[Spot] = []
        for left, top, right, bottom in sorted(
            [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]
            for wide, high, x, y in parts
        ):
            if not self._spots or left > self._spots[-1][2]:
                self._spots.append([left, top, right, bottom])
            last = self._spots[-1]
            last[1:] = min(last[1], top), max(last[2], right), max(last[3], bottom)
        starts, ends = np.array(self._spots)[:, [0, 2]].T
        gaps = starts[1:] - ends[:-1]
        wanted = gaps.copy()
        for left, right, room in needs:
            before, at = bisect(starts, left) - 1, bisect(starts, right) - 1
            if at == before + 1:
                wanted[before] = max(wanted[before], min(room, FAR))
        room = max(wide, PANE) - ends[-1]
        more = (wanted - gaps) * min(1.0, max(room, 0) / (sum(wanted - gaps) or 1))
        rest = max(wide - ends[-1] - sum(more), 0) / (len(gaps) or 1)
        more += np.clip(FAR - gaps - more, 0, rest)
        by = np.cumsum([0, *more])
        self._knots, self._by = np.ravel([starts, ends], "F"), np.repeat(by, 2)
        self._starts, self._ends = starts + by, ends + by

    def moved(self, x: float) -> float:
        """Where a place is then."""
        return x + float(np.interp(x, self._knots, self._by))

    def _gaps(self, left: float, right: float) -> range:
        """The columns behind the gaps between the columns of two places."""
        of, to = (bisect(self._starts, x + 1) for x in (left, right))  # they're rounded
        return range(of, to)

    def gaps(self, left: float, right: float) -> list[Point]:
        """Those between the columns of two places."""
        between = self._gaps(left, right)
        return [(self._ends[one - 1], self._starts[one]) for one in between]

    def beyond(self, left: float, right: float, below: bool) -> float:
        """The height of a line above all columns between two places, or below them."""
        between = [self._spots[one] for one in self._gaps(left, right)[:-1]]
        if below:
            return max([bottom for *_, bottom in between]) + ROW
        return min([top for _, top, *_ in between]) - ROW


def _port(line: Json) -> str:
    """The side of a part to which a line comes: that of its card or of its box."""
    return "i" if line["k"] == "value" else "b"


def _path(left: Point, points: list[Point], right: Point) -> str:
    """A curve from the side of one part to that of another."""
    if not points:
        by = max(30, (right[0] - left[0]) / 2)
        points = [left, (left[0] + by, left[1]), (right[0] - by, right[1]), right]
    first, *rest = points
    start = f"L{_written(first)}" if abs(left[0] - first[0]) > 1 else ""
    end = f"L{_written(right)}" if abs(right[0] - points[-1][0]) > 1 else ""
    return f"M{_written(left)}{start}C{_written(*rest)}{end}"


def _across(
    start: Point, gaps: list[Point], end: Point, lane: float | None, share: float
) -> str:
    """A curve that turns only between columns; by a lane, if others are in between."""
    way, high = f"M{_written(start)}", start[1]
    heights = [end[1]] if lane is None else [lane, end[1]]
    for (left, right), y in zip((gaps[0], gaps[-1]), heights, strict=False):
        x = left + (right - left) * share
        way += f"L{_written((left, high))}C{_written((x, high), (x, y), (right, y))}"
        high = y
    return f"{way}L{_written(end)}"


def _written(*points: Point) -> str:
    return " ".join([f"{one:.1f}".removesuffix(".0") for p in points for one in p])
