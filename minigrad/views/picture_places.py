"""Where the parts of a picture stand, and the ways of its lines.

Graphviz finds the places of a small one. A large one, and any where no Graphviz is at
hand, stands in plain columns.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import count, cycle
from typing import Any, Final

from minigrad.views import graph
from minigrad.views.picture_sizes import Point, Spot, side, size_of, spread, table_of

Json = dict[str, Any]
Way = Callable[[Json, Point, Point], str]
"""The curve of a line between two points."""
Lanes = Iterator[tuple[float, float]]

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
        if len(self._parts) <= MOST_ASKED:
            for program in graph.renderers():
                plain = graph.run(program, self._dot(), "plain")
                if plain is not None:
                    return self._by_graphviz(plain)
        return self._in_columns()

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

    def _by_graphviz(self, plain: str) -> Json:
        rows = [line.split(" ") for line in plain.splitlines()]
        tall = 72 * float(rows[0][3])
        names = list(self._parts)
        middles: dict[str, Point] = {}
        curves: dict[tuple[str, str], list[list[Point]]] = defaultdict(list)

        def points(numbers: list[str]) -> list[Point]:
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            return [(72 * float(x), tall - 72 * float(y)) for x, y in pairs]

        for row in rows[1:]:
            if row[0] == "node":
                (middles[names[int(row[1][1:])]],) = points(row[2:4])
            elif row[0] == "edge":
                ends = names[int(row[1][1:])], names[int(row[2][1:])]
                curves[ends].append(points(row[4 : 4 + 2 * int(row[3])]))
        halves = {name: self._sizes[name][0] / 2 for name in middles}
        columns = Columns(
            [(x - halves[n], x + halves[n]) for n, (x, _) in middles.items()]
        )
        for line in self._lines.values():
            left, right = (middles[line[end]][0] for end in ("of", "to"))
            columns.need(left, right, line.get("room", 0))
        columns.fill(SHAPE * tall)
        down, tall, lanes = self._apart(middles, tall)

        def way(line: Json, left: Point, right: Point) -> str:
            of, to = line["of"], line["to"]
            known = curves[of, to].pop(0) if curves[of, to] else []
            gaps = columns.gaps(left[0], right[0])
            if len(gaps) == 1:
                return _across(left, *gaps[0], right)
            if down[of] == down[to] or not gaps:
                moved = [(columns.moved(x), y + down[to]) for x, y in known]
                return _path(left, moved, right)
            (start, begin), (over, end) = gaps[0], gaps[-1]
            lane, share = next(lanes)
            return _across(left, start, end, right, lane, (begin, over), share)

        middles = {
            name: (columns.moved(x), y + down[name]) for name, (x, y) in middles.items()
        }
        return self._shown(middles, (columns.moved(72 * float(rows[0][2])), tall), way)

    def _apart(
        self, middles: Mapping[str, Point], tall: float
    ) -> tuple[dict[str, float], float, Lanes]:
        """How far each part moves down, until upper ones are above; the new height.

        And for lines that go between both, one after the other, how high they go and at
        which share of a gap between columns they turn.
        """
        spans: dict[bool, list[Point]] = {True: [], False: []}
        for name, (_, y) in middles.items():
            half = self._sizes[name][1] / 2
            spans[name in self._upper].append((y - half, y + half))
        above, below = spans[True], spans[False]
        shares = cycle((0.5, 0.35, 0.65, 0.2, 0.8))
        if not above or not below:
            return dict.fromkeys(middles, 0.0), tall, zip(count(), shares, strict=False)
        top = min(above)[0]
        bottom = max([low for _, low in above]) - top
        ends = [(line["of"], line["to"]) for line in self._lines.values()]
        between = sum([(of in self._upper) != (to in self._upper) for of, to in ends])
        lower = bottom + ROW + LANE * between - min(below)[0]
        down = {name: -top if name in self._upper else lower for name in middles}
        lanes = zip(count(bottom + ROW, LANE), shares, strict=False)
        return down, max([low for _, low in below]) + lower, lanes

    def columns(self) -> dict[str, int]:
        """In which column a part stands: as far right as its longest way, from 0 on.

        A leaf, or data, stands before the first that reads it.
        """
        columns = dict.fromkeys(self._parts, 0)
        for line in self._lines.values():  # in the order of the calls
            columns[line["to"]] = max(columns[line["to"]], columns[line["of"]] + 1)
        first: dict[str, int] = {}
        for line in self._lines.values():
            of, before = line["of"], columns[line["to"]] - 1
            first[of] = min(first.get(of, before), before)
        for name, part in self._parts.items():
            if part["k"] != "call":
                columns[name] = first.get(name, 0)
        return columns

    def _in_columns(self) -> Json:
        columns = self.columns()
        members = defaultdict(list)
        for name, column in columns.items():
            members[column].append(name)
        reads = defaultdict(list)
        for line in self._lines.values():
            reads[line["to"]].append(line["of"])
        middles: dict[str, Point] = {}
        edges: dict[int, Spot] = {}  # of a column: left, top, right, bottom
        left = 0.0
        for column in sorted(members):
            wide = max([self._sizes[name][0] for name in members[column]])
            wanted = {one: self._wanted(reads[one], middles) for one in members[column]}
            low = min(
                [wanted[one] - self._sizes[one][1] / 2 for one in members[column]]
            )
            for name in sorted(wanted, key=lambda one: wanted[one]):
                tall = self._sizes[name][1]
                y = max(wanted[name], low + tall / 2)
                middles[name] = left + wide / 2, y
                low = y + tall / 2 + ROW
            edges[column] = [left, 0, left + wide, 0]
            left += wide + 2 * NEAR
        down, *_ = self._apart(middles, 0)
        middles = {name: (x, y + down[name]) for name, (x, y) in middles.items()}
        for column, names in members.items():
            halves = [(middles[one][1], self._sizes[one][1] / 2) for one in names]
            edges[column][1] = min([y - half for y, half in halves])
            edges[column][3] = max([y + half for y, half in halves])
        high = min([top for _, top, *_ in edges.values()]) - ROW
        low = max([bottom for *_, bottom in edges.values()]) + ROW
        middles = {name: (x, y - high) for name, (x, y) in middles.items()}

        def way(line: Json, start: Point, end: Point) -> str:
            first, last = columns[line["of"]], columns[line["to"]]
            between = [edges[column] for column in range(first + 1, last)]
            lane = None
            if between and line["k"] == "wire":
                lane = max([bottom for *_, bottom in between]) + ROW - high
            elif between:
                lane = min([top for _, top, *_ in between]) - ROW - high
            return _across(start, edges[first][2], edges[last][0], end, lane)

        return self._shown(middles, (left - 2 * NEAR, low - high), way)

    def _wanted(self, reads: list[str], middles: Mapping[str, Point]) -> float:
        """The height at which a part stands beside those that it reads."""
        known = [middles[name][1] for name in reads if name in middles]
        return sum(known) / len(known) if known else 0.0

    def _shown(self, middles: Mapping[str, Point], size: Point, way: Way) -> Json:
        """The picture, as the page has it."""
        at = {
            name: spread(self._parts[name], *middle) for name, middle in middles.items()
        }
        lines = []
        for name, line in self._lines.items():
            left = side(at[line["of"]], line["at"], 1)
            count, place = self._ends[line["to"], line["k"]], self._places[name]
            right = side(at[line["to"]], f"{_port(line)}{place}", 0, count)
            kept = {key: line[key] for key in line if key not in ("at", "room")}
            lines.append({"id": name, **kept, "d": way(line, left, right)})
        parts = [{"id": name, **at[name]} for name in self._parts]
        return {"size": list(map(round, size)), "parts": parts, "lines": lines}


class Columns:
    """The columns in which parts stand, from left to right."""

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        for start, end in sorted(spans):
            if not self._starts or start > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)
            self._ends[-1] = max(self._ends[-1], end)
        self._wide = [
            start - end
            for start, end in zip(self._starts[1:], self._ends, strict=False)
        ]
        self._needs = self._wide.copy()

    def need(self, left: float, right: float, room: float) -> None:
        """So much room is wanted between two places, if one gap is all there is."""
        first, last = (bisect(self._starts, x) - 1 for x in (left, right))
        if last == first + 1:
            self._needs[first] = max(self._needs[first], min(room, FAR))

    def fill(self, wide: float) -> None:
        """Move them apart: as far as is needed, if a pane has room for that.

        And where they would leave the sides of the pane empty.
        """
        wanted = [need - gap for need, gap in zip(self._needs, self._wide, strict=True)]
        room = max(wide, PANE) - self._ends[-1]
        share = min(1.0, max(room, 0) / (sum(wanted) or 1))
        self._more = [share * one for one in wanted]
        rest = wide - self._ends[-1] - sum(self._more)
        for gap, more in enumerate(self._more):
            most = max(FAR - self._wide[gap] - more, 0)
            self._more[gap] += min(max(rest, 0) / len(self._more), most)

    def moved(self, x: float) -> float:
        """Where a place is then."""
        column = max(0, bisect(self._starts, x) - 1)
        over = 0.0
        if column + 1 < len(self._starts) and x > self._ends[column]:
            gap = self._starts[column + 1] - self._ends[column]
            over = (x - self._ends[column]) / gap
        more = self._more[column] * over if over else 0.0
        return x + sum(self._more[:column]) + more

    def gaps(self, left: float, right: float) -> list[Point]:
        """Those between the columns of two places."""
        starts = [self.moved(x) - 1 for x in self._starts]  # places are rounded
        between = range(bisect(starts, left), bisect(starts, right))
        return [(self.moved(self._ends[one - 1]), starts[one] + 1) for one in between]


def _port(line: Json) -> str:
    """The side of a part to which a line comes: that of its card or of its box."""
    return "i" if line["k"] == "value" else "b"


def _path(left: Point, points: list[Point], right: Point) -> str:
    """A curve from the side of one part to that of another."""
    start = f"M{_written(left)}"
    if not points:
        by = max(30, (right[0] - left[0]) / 2)
        points = [(left[0] + by, left[1]), (right[0] - by, right[1]), right]
        return f"{start}C{' '.join(map(_written, points))}"
    first, *rest = points
    start += f"L{_written(first)}" if abs(left[0] - first[0]) > 1 else ""
    end = f"L{_written(right)}" if abs(right[0] - points[-1][0]) > 1 else ""
    return f"{start}C{' '.join(map(_written, rest))}{end}"


def _across(
    start: Point,
    right: float,
    left: float,
    end: Point,
    lane: float | None = None,
    turns: Point | None = None,
    share: float = 0.5,
) -> str:
    """A curve that turns only between columns; by a lane, if others are in between."""
    way = f"M{_written(start)}L{_written((right, start[1]))}"
    if lane is None:
        way += _turn((right, start[1]), (left, end[1]))
    else:
        begin, over = turns or (right + 2 * NEAR, left - 2 * NEAR)
        way += _turn((right, start[1]), (begin, lane), share)
        way += f"L{_written((over, lane))}"
        way += _turn((over, lane), (left, end[1]), share)
    return f"{way}L{_written(end)}"


def _turn(start: Point, end: Point, share: float = 0.5) -> str:
    middle = start[0] + (end[0] - start[0]) * share
    turns = [(middle, start[1]), (middle, end[1]), end]
    return f"C{' '.join(map(_written, turns))}"


def _written(point: Point) -> str:
    return " ".join([f"{one:.1f}".removesuffix(".0") for one in point])
