"""Where the parts of a picture stand, and the ways of its lines.

Graphviz finds the places of a small one. A large one, and any where no Graphviz is at
hand, stands in plain columns.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from minigrad.views import graph
from minigrad.views.picture_sizes import Point, Spot, side, size_of, spread, table_of

Json = dict[str, Any]
Way = Callable[[Json, Point, Point], str]
"""The curve of a line between two points."""

MOST_ASKED: Final = 60  # parts; of more than these Graphviz is not asked
NEAR, FAR = 36, 200  # points between the columns, at least and at most
SHAPE: Final = 2.3  # of a pane: its width by its height
ROW = 24  # between two parts of a column
WEIGHTS: Final = {"value": 4, "wire": 1}


class Places:
    """The places of ``parts``, for which ``lines`` tell who reads whom."""

    def __init__(self, parts: Mapping[str, Json], lines: Mapping[str, Json]) -> None:
        self._parts, self._lines = parts, lines
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
        curves: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
        for row in rows[1:]:
            if row[0] == "node":
                x, y = (72 * float(one) for one in row[2:4])
                middles[names[int(row[1][1:])]] = x, tall - y
            elif row[0] == "edge":
                ends = names[int(row[1][1:])], names[int(row[2][1:])]
                numbers = [72 * float(one) for one in row[4 : 4 + 2 * int(row[3])]]
                numbers[1::2] = [tall - one for one in numbers[1::2]]
                curves[ends].append(numbers)
        spans = []
        for name, (x, _) in middles.items():
            half = self._sizes[name][0] / 2
            spans.append((x - half, x + half))
        columns = Columns(spans)
        columns.fill(SHAPE * tall)

        def way(line: Json, left: Point, right: Point) -> str:
            known = curves[line["of"], line["to"]]
            points = known.pop(0) if known else []
            points[::2] = [columns.moved(x) for x in points[::2]]
            gap = columns.gap(left[0], right[0])
            return _across(left, *gap, right) if gap else _path(left, points, right)

        middles = {name: (columns.moved(x), y) for name, (x, y) in middles.items()}
        return self._shown(middles, (columns.moved(72 * float(rows[0][2])), tall), way)

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
            top = low = min(
                [wanted[one] - self._sizes[one][1] / 2 for one in members[column]]
            )
            for name in sorted(wanted, key=lambda one: wanted[one]):
                tall = self._sizes[name][1]
                y = max(wanted[name], low + tall / 2)
                middles[name] = left + wide / 2, y
                low = y + tall / 2 + ROW
            edges[column] = [left, top, left + wide, low - ROW]
            left += wide + 2 * NEAR
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
            kept = {key: line[key] for key in line if key != "at"}
            lines.append({"id": name, **kept, "d": way(line, left, right)})
        parts = [{"id": name, **at[name]} for name in self._parts]
        return {"size": list(map(round, size)), "parts": parts, "lines": lines}


class Columns:
    """The columns in which parts stand, from left to right."""

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        self._more = 0.0
        for start, end in sorted(spans):
            if not self._starts or start > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)
            self._ends[-1] = max(self._ends[-1], end)

    def fill(self, wide: float) -> None:
        """Move them apart, where they would leave the sides of a pane empty.

        So there is more room for what stands at the wires.
        """
        gaps = len(self._starts) - 1
        more = (wide - self._ends[-1]) / gaps if gaps else 0
        self._more = min(max(more, 0), FAR - NEAR)

    def moved(self, x: float) -> float:
        """Where a place is then."""
        column = max(0, bisect(self._starts, x) - 1)
        over = 0.0
        if column + 1 < len(self._starts) and x > self._ends[column]:
            gap = self._starts[column + 1] - self._ends[column]
            over = (x - self._ends[column]) / gap
        return x + self._more * (column + over)

    def gap(self, left: float, right: float) -> Point | None:
        """The gap between two places, if they are in columns beside each other."""
        starts = [self.moved(x) - 1 for x in self._starts]  # places are rounded
        column = bisect(starts, left) - 1
        if column != bisect(starts, right) - 2:
            return None
        return self.moved(self._ends[column]), starts[column + 1] + 1


def _port(line: Json) -> str:
    """The side of a part to which a line comes: that of its card or of its box."""
    return "i" if line["k"] == "value" else "b"


def _path(
    left: tuple[float, float], points: list[float], right: tuple[float, float]
) -> str:
    """A curve from the side of one part to that of another."""
    start = f"M{left[0]:g} {left[1]:g}"
    if not points:
        by = max(30, (right[0] - left[0]) / 2)
        middle = f"{left[0] + by:g} {left[1]:g} {right[0] - by:g} {right[1]:g}"
        return f"{start}C{middle} {right[0]:g} {right[1]:g}"
    x, y, *rest = [f"{one:.1f}".removesuffix(".0") for one in points]
    start += f"L{x} {y}" if abs(left[0] - points[0]) > 1 else ""
    end = f"L{right[0]:g} {right[1]:g}" if abs(right[0] - points[-2]) > 1 else ""
    return f"{start}C{' '.join(rest)}{end}"


def _across(
    start: Point, right: float, left: float, end: Point, lane: float | None = None
) -> str:
    """A curve that turns only between columns; by a lane, if others are in between."""
    way = f"M{_written(start)}L{_written((right, start[1]))}"
    if lane is None:
        way += _turn((right, start[1]), (left, end[1]))
    else:
        begin, over = (right + 2 * NEAR, lane), (left - 2 * NEAR, lane)
        way += _turn((right, start[1]), begin) + f"L{_written(over)}"
        way += _turn(over, (left, end[1]))
    return f"{way}L{_written(end)}"


def _turn(start: Point, end: Point) -> str:
    middle = (start[0] + end[0]) / 2
    turns = [(middle, start[1]), (middle, end[1]), end]
    return f"C{' '.join(map(_written, turns))}"


def _written(point: Point) -> str:
    return " ".join([f"{one:.1f}".removesuffix(".0") for one in point])
