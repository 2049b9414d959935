"""One page of a learner's own run: what it reached, what it cost, what went wrong."""

from __future__ import annotations

import gc
import html
import os
import platform
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

import minigrad
from minigrad import errors
from minigrad.course.check import SOLVED, last_report_card
from minigrad.course.notebook import journal
from minigrad.engine import observe
from minigrad.lint import teaching
from minigrad.mistakes import TABLE
from minigrad.tracing.memory import held_by, root_of
from minigrad.tracing.trace import write_whole
from minigrad.views import page, plots
from minigrad.views.recording import step

ASKED: Final = (
    "Where did the loss begin, and why there?",
    "Where did it end, on what hadn't been seen?",
    "Which Function keeps most, or takes longest, and why?",
    "Which mistake was made on the way, or would be hard to notice? How does it show?",
    "What would you change next, and what do you expect?",
)

TIMES: Final = 7
"""So often a step is run to take its times, after once for nothing."""

POINTS: Final = 50

STYLE: Final = """
:root { color-scheme: light dark; --line: #0003; --soft: #555; }
@media (prefers-color-scheme: dark) { :root { --line: #fff4; --soft: #bbb; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60em; margin: 2em auto;
  padding: 0 1em; background: Canvas; color: CanvasText; }
h1 { margin-bottom: 0; } h2 { margin-top: 1.6em; font-size: 1.2em; }
.soft { color: var(--soft); } figure { margin: 0; } figure svg { max-width: 44em; }
section { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: 0.25em 1em 0.25em 0;
  border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
dt { font-weight: 600; margin-top: 0.7em; } dd { margin: 0; }
"""


@dataclass
class Cost:
    """What one Function took in a step: calls, bytes kept, seconds each way.

    ``shared`` are those of the kept bytes that another Function keeps as well.
    """

    calls: int = 0
    kept: int = 0
    shared: int = 0
    forward: float = 0.0
    backward: float = 0.0


@dataclass
class Costs:
    """The observer that takes the times of Functions, and weighs what they keep.

    An array is counted once for each Function that keeps it; what a parameter or the
    data hold anyway isn't counted.
    """

    by_name: dict[str, Cost] = field(default_factory=dict)
    given: set[int] = field(default_factory=set)
    keepers: dict[int, set[str]] = field(default_factory=dict)
    begun: dict[int, float] = field(default_factory=dict)

    observes = observe.RECORDED
    keeps = False
    comes_last = False

    def of(self, node: Any) -> Cost:
        """The costs of a node's operation."""
        return self.by_name.setdefault(node.operation_name(), Cost())

    def ctx_created(self, ctx: Any, function: Any, inputs: tuple[Any, ...]) -> None:
        self.of(ctx).calls += 1
        held = [one for one in inputs if isinstance(one, minigrad.Tensor)]
        self.given |= {id(root_of(one.array)) for one in held if one.is_leaf}
        self.begun[id(ctx)] = time.perf_counter()

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        begun = self.begun.pop(id(ctx), None)
        if begun is not None:
            self.of(ctx).forward += time.perf_counter() - begun
            self.weigh(ctx, held_by(ctx).values())  # a built-in one has saved by now

    def saved_taken(self, ctx: Any, saved: tuple[Any, ...]) -> None:
        self.weigh(ctx, held_by(ctx).values())

    def weigh(self, ctx: Any, values: Iterable[Any]) -> None:
        """Add what these hold, and what of it others hold, too."""
        name = ctx.operation_name()
        for value in values:
            array = value.array if isinstance(value, minigrad.Tensor) else value
            if isinstance(array, np.ndarray):
                root = root_of(array)
                keepers = self.keepers.setdefault(id(root), set())
                if id(root) in self.given or name in keepers:
                    continue
                keepers.add(name)
                self.of(ctx).kept += root.nbytes
                if len(keepers) > 1:
                    for each in keepers if len(keepers) == 2 else {name}:
                        self.by_name[each].shared += root.nbytes

    def node_picked(self, task: Any, node: Any, gradients: list[Any]) -> None:
        if node.operation_name() in self.by_name:
            self.begun[id(node)] = time.perf_counter()

    def node_returned(self, task: Any, node: Any, gradients: list[Any]) -> None:
        begun = self.begun.pop(id(node), None)
        if begun is not None:
            self.of(node).backward += time.perf_counter() - begun


def costs_of(run: Callable[[], Any]) -> dict[str, Cost]:
    """What each operation takes in one step: the medians of several."""
    every: list[dict[str, Cost]] = []
    with teaching(False):
        run()
        for _ in range(TIMES):
            gc.collect()
            costs = Costs()
            observe.add(costs)
            try:
                run()
            finally:
                observe.remove(costs)
            every.append(costs.by_name)
    found = every[-1]
    for name, cost in found.items():
        ways = ("forward", "backward")
        for way in ways:
            taken = [getattr(each[name], way) for each in every if name in each]
            setattr(cost, way, statistics.median(taken))
    return found


HEADS: Final = (
    *("Function", "calls", "bytes kept", "of them shared"),
    *("ms forward", "ms backward"),
)


@dataclass(frozen=True)
class CostTable:
    """Bytes and time of each Function in one step, as a table."""

    by_name: Mapping[str, Cost]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row of texts for each Function."""
        return [
            (
                name,
                f"{cost.calls}",
                f"{cost.kept:,}",
                f"{cost.shared:,}",
                f"{cost.forward * 1e3:.3f}",
                f"{cost.backward * 1e3:.3f}",
            )
            for name, cost in self.by_name.items()
        ]

    def __repr__(self) -> str:
        wide = [max(map(len, column)) for column in zip(HEADS, *self.rows, strict=True)]
        return "\n".join(
            [
                "  ".join([row[0].ljust(wide[0]), *map(str.rjust, row[1:], wide[1:])])
                for row in (HEADS, *self.rows)
            ]
        )

    def _repr_html_(self) -> str:
        return table(HEADS, self.rows) + (
            '<p class="soft">Kept for backward, parameters and data left out. An '
            "array that two Functions keep takes memory once, and is counted for both: "
            f"it's shared. Times are medians of {TIMES} steps.</p>"
        )


def costs(step_of: Callable[[], Any]) -> CostTable:
    """A table of what each Function keeps and takes in one step.

    ``step_of()`` is as in ``report_card``. Raises: ArgumentValueError for a step that
    records nothing.
    """
    return CostTable(recorded_costs("costs", step_of))


def recorded_costs(where: str, step_of: Callable[[], Any]) -> dict[str, Cost]:
    """The costs of a step that records something."""
    found = costs_of(step_of)
    if not found:
        what, fix = "the step recorded nothing", "give a function that computes a loss"
        raise errors.ArgumentValueError.at(where, what, fix, "16")
    return found


@dataclass(frozen=True)
class ReportCard:
    """A page of its own: shown in a notebook, and saved as one HTML file."""

    title: str
    losses: Sequence[float]
    costs: Mapping[str, Cost]
    trace: Any
    mistakes: Sequence[tuple[str, int, str]]
    solved: int
    sentences: Sequence[str]
    about: str

    def __repr__(self) -> str:
        return f'{self.title}. {self._says} Save it with .save("report_card.html")'

    def _repr_html_(self) -> str:
        document = html.escape(self.document(), quote=True)
        return (
            f'<iframe srcdoc="{document}" title="{html.escape(self.title)}" '
            'style="width:100%;height:640px;border:1px solid #8886"></iframe>'
        )

    def save(self, path: str | os.PathLike[str] = "report_card.html") -> Path:
        """Write the page as one file that needs no network and no Python."""
        return write_whole("ReportCard.save", path, self.document())

    def document(self) -> str:
        """The whole page."""
        parts = [
            f"<h1>{html.escape(self.title)}</h1>",
            f'<p class="soft">{html.escape(self.about)}</p>',
            section("In five sentences", self._told()),
            section("The loss", self._curve()),
            section(
                "What each Function costs in one step",
                CostTable(self.costs)._repr_html_(),
            ),
            section("One step", self._graph()),
            section("Mistakes on the way", self._met()),
        ]
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(self.title)}</title><style>{STYLE}</style></head>"
            f"<body>{''.join(parts)}</body></html>"
        )

    def _told(self) -> str:
        if not self.sentences:
            return '<p class="soft">They are still to be written.</p>'
        pairs = zip(ASKED, self.sentences, strict=True)
        listed = [
            f"<dt>{html.escape(asked)}</dt><dd>{html.escape(told)}</dd>"
            for asked, told in pairs
        ]
        return f"<dl>{''.join(listed)}</dl>"

    def _curve(self) -> str:
        ends = [int(group[-1]) + 1 for group in self._groups]
        lines = plots.plot_lines(
            ends, {"loss": self._means}, x="steps", y="loss", says=self._says
        )
        label = html.escape(self._says)
        return (
            f'<figure role="img" aria-label="{label}">{lines.svg()}'
            f'<figcaption class="soft">{label}</figcaption></figure>'
        )

    @property
    def _groups(self) -> list[Any]:
        """Steps whose losses are one point of the curve; first of all the first one."""
        steps = np.arange(len(self.losses))
        split = np.array_split(steps, min(POINTS, len(steps)))
        return [steps[:1], *split] if len(split[0]) > 1 else split

    @property
    def _means(self) -> list[float]:
        return [float(np.mean([self.losses[i] for i in g])) for g in self._groups]

    @property
    def _says(self) -> str:
        """Where the curve begins and ends, in words: the same wherever it's said."""
        first, last, size = self._means[0], self._means[-1], len(self._groups[-1])
        of_last = f", the mean of the last {size}" if size > 1 else ""
        steps = errors.count_of(len(self.losses), "step")
        return f"{steps}: the loss went from {first:.3g} to {last:.3g}{of_last}."

    def _graph(self) -> str:
        return page.output_of(self.trace._pictured(), 640)

    def _met(self) -> str:
        solved = f"{errors.count_of(self.solved, 'exercise')} solved so far."
        if not self.mistakes:
            return f"<p>None that a check has named. {solved}</p>"
        heads = "mistake", "times", "in"
        rows = [(name, str(times), where) for name, times, where in self.mistakes]
        return table(heads, rows) + f'<p class="soft">{solved}</p>'


def section(title: str, content: str) -> str:
    """A heading and what is below it."""
    return f"<section><h2>{html.escape(title)}</h2>{content}</section>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    top = "".join([f'<th scope="col">{html.escape(head)}</th>' for head in heads])
    body = "".join(
        [
            f"<tr>{''.join([f'<td>{html.escape(cell)}</td>' for cell in row])}</tr>"
            for row in rows
        ]
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def met(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str]]:
    """The mistakes that checks have named: how often, and in which exercises."""
    times: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    for entry in entries:
        for name in names_in(entry):
            times[name] += 1
            places.setdefault(name, set()).add(str(entry["exercise"]))
    return [
        (name, count, ", ".join(sorted(places[name])))
        for name, count in times.most_common()
    ]


def names_in(entry: Mapping[str, Any]) -> list[str]:
    """What a check has called the mistakes in one answer, remarks included.

    Some have no entry in the table: then it's what the answer looked like, up to the
    first colon, stop or comma.
    """
    told = [*(entry.get("mistakes") or ()), *(entry.get("remarks") or ())]
    ids = [id for id in told if id in TABLE]
    if ids:
        return [TABLE[id].name for id in ids]
    looks_like = "" if told else str(entry.get("diagnosis") or "")
    is_told = " " in looks_like.strip()
    return [re.split(r"[:.,]", looks_like.strip())[0].lower()] if is_told else []


def report_card(
    step_of: Callable[[], Any],
    losses: Sequence[Any],
    sentences: Sequence[str] = (),
    *,
    title: str = "My first training run",
) -> ReportCard:
    """Make one page of your run, which ``.save("report_card.html")`` writes.

    ``step_of()`` goes forward and backward once, on one batch: it's run a few times,
    so it shouldn't move the parameters. ``losses`` are those of your run, and
    ``sentences`` five about it. What it says of mistakes is from your own journal.
    Raises: ArgumentValueError without a loss, or for another number of sentences.
    """
    numbers = [float(loss) for loss in losses]
    if not numbers:
        raise refused("there is no loss", 'give run.noted["loss"] of your training')
    if len(sentences) not in (0, len(ASKED)):
        raise refused(
            f"got {errors.count_of(len(sentences), 'sentence')}, not {len(ASKED)}",
            "write one for each question, or leave them out for now",
        )
    checked = journal.entries(kind=journal.CHECKED)
    solved = {e["exercise"] for e in checked if e.get("state") == SOLVED}
    found = recorded_costs("report_card", step_of)
    last_report_card.BEGAN[:] = numbers[:1]
    about = (
        f"Made with minigrad {minigrad.__version__}, Python "
        f"{platform.python_version()} and NumPy {np.__version__}, on "
        f"{journal.now()[:10]}."
    )
    return ReportCard(
        title,
        numbers,
        found,
        step(step_of).at_level("picture"),
        met(checked),
        len(solved),
        [str(one) for one in sentences],
        about,
    )


def refused(what: str, fix: str) -> errors.ArgumentValueError:
    """The error for what no page can be made of."""
    return errors.ArgumentValueError.at("report_card", what, fix, "16")
