"""How heavy and how quick the player is: ``python -m tests.browser.figures``.

First the budgets, each with its goal and spread; with ``budgets`` these alone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import nbformat
from playwright.sync_api import Browser, Page, sync_playwright

import minigrad
from minigrad import _bootstrap
from minigrad.autograd import Function
from minigrad.bench.engine import builtin_chain, custom_chain
from minigrad.tracing import Recorder, Trace
from minigrad.views import graph, page, picture
from minigrad.views.recording import Recording, record
from tests.browser.laboratory import FLAGS, Lab, Notebook, running_lab
from tests.browser.pictures import recorded

# A truth and no player: a player that is handed out would never be let go.
READY = "() => Boolean(document.getElementById('player').player)"

# The time of moves, with the layout that they call for, and without animation.
MOVES = """
([kind, count]) => {
  const { player } = document.getElementById("player");
  player.still = { matches: true };
  const half = player.stops[player.stops.length >> 1];
  player.go(half);
  const took = [];
  for (let index = 0; index < count; index++) {
    const place = Math.floor(player.story.length * ((index * 0.618034) % 1));
    const begin = performance.now();
    if (kind === "step") player.step();
    else player.go(place);
    player.root.getBoundingClientRect();
    took.push(performance.now() - begin);
  }
  return took;
}
"""


LOOK = """
async (most) => {
  const frames = [...document.querySelectorAll("iframe")].slice(0, most);
  for (const frame of frames) {
    frame.scrollIntoView({ block: "nearest" });
    const root = () => frame.contentDocument.getElementById("player");
    while (!root()?.player) await new Promise((go) => setTimeout(go, 10));
  }
}
"""

LIVE = """\
import minigrad as mg

class Times(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x

def program(x, n=2):
    y = x
    for _ in range(n):
        y = Times.apply(y, x)
    y.backward()

player = mg.live(program, x=mg.tensor(1.0, requires_grad=True), n=(1, 6))
player"""

# Moves a slider; milliseconds from each move until the new player is on the screen.
SLIDE = """
async ([name, values]) => {
  const live = document.getElementById("player").live;
  const { slider } = live.fields.get(name);
  const soon = (go) => setTimeout(go, 1);
  const times = [];
  for (const value of values) {
    const before = live.player;
    const start = performance.now();
    slider.value = String(value);
    slider.dispatchEvent(new Event("input"));
    while (live.player === before) await new Promise(soon);
    await new Promise((go) => requestAnimationFrame(() => soon(go)));
    times.push(performance.now() - start);
  }
  return times;
}
"""


class Halve(Function):
    """A learner's own Function: its lines are in the recording."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x / 2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output / 2


def recurrence(rounds: int) -> None:
    """A loop forward, and back."""
    x = minigrad.tensor([1.0, -2.0, 0.5], requires_grad=True)
    weight = minigrad.tensor([0.9, 1.1, 1.0], requires_grad=True)
    state = x
    for place in range(rounds):
        state = ((state * weight).tanh() * 2 - 1) * 0.5 + x
        if place % 4 == 0:
            state = Halve.apply(state)
    state.sum().backward()


def long_recording(rounds: int = 166) -> Recording:
    """166 rounds are about 18,500 steps and 1,000 nodes, 2 are about 300 steps."""
    with record("a long recurrence") as trace:
        recurrence(rounds)
    return trace


def event_times(program: Callable[[], Any], rounds: int = 15) -> list[float]:
    """Microseconds of this thread that an event of the story adds to a program.

    Each round runs it alone and then recorded without lines, from before the recording
    starts until it has ended, and no garbage is collected meanwhile.
    """

    def timed(trace: Trace | None) -> float:
        recorder = (
            contextlib.nullcontext() if trace is None else Recorder(trace, lines=False)
        )
        gc.collect()
        gc.disable()
        try:
            begin = time.thread_time()
            with recorder:
                program()
            return time.thread_time() - begin
        finally:
            gc.enable()

    times = []
    for _ in range(rounds):
        trace = Trace()
        alone, heard = timed(None), timed(trace)
        times.append(1e6 * (heard - alone) / len(trace))
    return times


def sizes(trace: Recording) -> dict[str, float]:
    """Of a recording: steps, nodes, seconds to draw it, kilobytes of its page."""
    begin = time.perf_counter()
    data = trace._pictured()
    drawn = time.perf_counter() - begin
    text = page.page_of(data)
    written = time.perf_counter() - begin - drawn
    return {
        "steps": len(trace),
        "nodes": len(data["graph"]["nodes"]),
        "drawn in ms": 1e3 * drawn,
        "page made in ms": 1e3 * written,
        "page in kB": len(text.encode()) / 1e3,
    }


def mounted(browser: Browser, file: Path) -> tuple[Page, float]:
    """The page of a recording, and the milliseconds until its player stood."""
    context = browser.new_context(viewport={"width": 1200, "height": 820})
    shown = context.new_page()
    shown.goto(file.as_uri())
    shown.wait_for_function(READY, polling=10)
    took: float = shown.evaluate("performance.getEntriesByName('mounted')[0].startTime")
    return shown, took


def worked_to_mount(browser: Browser, file: Path) -> float:
    """The milliseconds that a page's main thread works until its player stands."""
    context = browser.new_context(viewport={"width": 1200, "height": 820})
    shown = context.new_page()
    shown.goto("about:blank")
    worked = clock_of(shown)
    shown.goto(file.as_uri())
    shown.wait_for_function(READY, polling=10)
    took = worked()
    context.close()
    return took


def moves(shown: Page, kind: str, count: int = 60) -> list[float]:
    """Milliseconds of single steps, or of jumps to anywhere."""
    took: list[float] = shown.evaluate(MOVES, [kind, count])
    return sorted(took)


def clock_of(shown: Page) -> Callable[[], float]:
    """Tells how many milliseconds a page's main thread has worked from now on.

    Others on the machine add little to that.
    """
    session = shown.context.new_cdp_session(shown)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return 1e3 * next(one["value"] for one in found if one["name"] == "ThreadTime")

    return worked


def notebook_of(trace: Recording, players: int) -> str:
    """A page with the outputs of many cells."""
    outputs = (trace._repr_mimebundle_()["text/html"] for _ in range(players))
    return f"<!doctype html><body>{''.join(outputs)}</body>"


def seconds_of_children() -> float:
    """The CPU time of the programs that were run: others on the machine add nothing."""
    import resource  # not on Windows, where the tests borrow other parts of this module

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(name: str, times: Sequence[float], goal: str, unit: str = "ms") -> str:
    """A row: the median, the fastest and the slowest, and what is wanted."""
    middle, low, high = median(times), min(times), max(times)
    return f"{name:<44}{middle:9.1f} {unit}  ({low:.1f} to {high:.1f})   {goal}"


def budgets(browser: Browser, folder: Path, repeats: int = 5) -> Iterator[str]:
    """What the player has promised, one a line."""
    chains = {"own nodes": custom_chain, "built-in": builtin_chain}
    for name, chain in chains.items():
        times = event_times(chain(minigrad, size=1, length=100))
        yield told(f"event of 100 {name}, CPU", times, "5 us", "us")
    product = recorded()._pictured()
    size = len(page.page_of(product).encode()) / 1e3
    yield told("page of one product", [size], "60 kB", "kB")
    file = long_recording().save_html(folder / "budget.html")
    shown = [mounted(browser, file) for _ in range(repeats)]
    yield told("18,000 steps: mounted", [took for _, took in shown], "600 ms")
    one = shown[-1][0]
    one.wait_for_timeout(1000)  # until its keyframes are there
    yield told("18,000 steps: a step", moves(one, "step"), "5 ms")
    for opened, _ in shown:
        opened.context.close()
    times, count = layouts(16, repeats)
    yield told(f"layout of {count} nodes, CPU", times, "60 ms at 100 nodes")
    yield from slides(browser, folder)


def layouts(rounds: int, repeats: int) -> tuple[list[float], int]:
    """Milliseconds of CPU to lay a picture out, and how many nodes it has."""
    trace = long_recording(rounds)
    took = []
    for _ in range(repeats):
        graph.run.cache_clear()
        begin = time.process_time() + seconds_of_children()
        picture.pictures_of(trace.data)
        took.append(1e3 * (time.process_time() + seconds_of_children() - begin))
    return took, len(trace.data["graph"]["nodes"])


def rows(browser: Browser, folder: Path, repeats: int = 5) -> Iterator[str]:
    """All figures, one a line."""
    for rounds, goal in ((2, "60 kB"), (166, "2000 kB")):
        trace = long_recording(rounds)
        found = {key: round(value, 1) for key, value in sizes(trace).items()}
        yield f"{found}   goal for the page: {goal}"
        file = trace.save_html(folder / f"{rounds}.html")
        mounts = [mounted(browser, file) for _ in range(repeats)]
        name = f"{found['steps']:,} steps"
        yield told(f"{name}: mounted", [took for _, took in mounts], "600 ms")
        busy = [worked_to_mount(browser, file) for _ in range(repeats)]
        yield told(f"{name}: mounted, CPU of its thread", busy, "")
        shown = mounts[-1][0]
        shown.wait_for_timeout(1000)  # until its keyframes are there
        worked = clock_of(shown)
        for kind, goal in (("step", "5 ms"), ("jump", "50 ms")):
            begin = worked()
            took = moves(shown, kind)
            busy = [(worked() - begin) / len(took)]
            yield told(f"{name}: a {kind}", took, goal)
            yield told(f"{name}: a {kind}, CPU of its thread", busy, "")
        for one, _ in mounts:
            one.context.close()
    for rounds in (1, 166):
        times, count = layouts(rounds, repeats)
        yield told(f"layout of {count} nodes, CPU", times, "")
    many = [twenty(browser, folder) for _ in range(3)]
    times, sizes_at_first, sizes_of_all, sizes_kept = zip(*many, strict=True)
    yield told("20 players on a page: those in view stand", times, "1400 ms")
    for name, found in (
        ("at first", sizes_at_first),
        ("all seen", sizes_of_all),
        ("all seen, garbage collected", sizes_kept),
    ):
        megabytes_told = ", ".join(f"{size:.0f}" for size in found)
        yield f"20 players on a page: memory, {name}    + {megabytes_told} MB   61 MB"
    yield from live_rows()


def twenty(browser: Browser, folder: Path) -> tuple[float, float, float, float]:
    """A page of twenty players: milliseconds until those on the screen stand, the
    megabytes that they add to a page of their pictures, those that all add when each
    has been looked at, and of these the ones that are in use: when a browser collects
    its garbage is its own affair."""
    file = folder / "notebook.html"
    if not file.is_file():
        file.write_text(notebook_of(long_recording(2), 20), encoding="utf-8")
    # Any page costs about 30 MB in a renderer that had none: that is not the players'.
    plain = folder / "plain.html"
    without = re.sub(
        "<iframe.*?</iframe>", "", file.read_text("utf-8"), flags=re.DOTALL
    )
    plain.write_text(without, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1200, "height": 820})
    shown = context.new_page()
    shown.goto(plain.as_uri())
    shown.wait_for_timeout(2000)  # until its renderer, and the spare one, are at rest
    before = megabytes(browser)
    begin = time.perf_counter()
    shown.goto(file.as_uri())
    look_at_all(shown, 2)
    took = 1e3 * (time.perf_counter() - begin)
    size = megabytes(browser) - before
    look_at_all(shown)
    whole = megabytes(browser) - before
    shown.wait_for_timeout(1500)  # until those left behind are let go
    context.new_cdp_session(shown).send("HeapProfiler.collectGarbage")
    shown.wait_for_timeout(500)
    kept = megabytes(browser) - before
    context.close()
    return took, size, whole, kept


def look_at_all(shown: Page, most: int = 20) -> None:
    """Scroll to each player, until it stands.

    That is asked of the page around them: in each frame in which something is asked,
    playwright leaves a third of a megabyte.
    """
    shown.evaluate(LOOK, most)


def megabytes(browser: Browser) -> float:
    """The memory of all pages, what they share counted once; 0 where it is not told."""
    if not Path("/proc/self/smaps_rollup").is_file():
        return 0.0
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    total = 0
    for process in found:
        if process["type"] == "renderer":
            told = Path(f"/proc/{process['id']}/smaps_rollup").read_text()
            total += int(told.split("Pss:")[1].split()[0])
    return total / 1e3


def live_rows() -> Iterator[str]:
    """A change of a live player, in Python alone."""
    names: dict[str, Any] = {}
    exec(LIVE, names)
    player = names["player"]
    for name, change in (
        ("the same graph", lambda i: {"x": i / 10}),
        ("a new graph", lambda i: {"n": 1 + i % 6}),
    ):
        took = []
        for number in range(20):
            if "n" in change(number):
                graph.run.cache_clear()
            begin = time.perf_counter()
            player._changed({"values": change(number), "by": ""})
            took.append(1e3 * (time.perf_counter() - begin))
        yield told(f"live, {len(player.recording)} steps, Python: {name}", took, "")


def slides(browser: Browser, folder: Path) -> Iterator[str]:
    """From a slider in JupyterLab to the picture on the screen."""
    with running_lab(folder / "lab") as lab:
        notebook = Notebook(browser.new_page(), lab, live_notebook(lab))
        notebook.run(0)
        frame = notebook.player(0)
        for name, slider, values in (
            ("the same graph", "x", [i / 10 for i in range(20)]),
            ("a new graph", "n", [3, 4, 5, 6]),
        ):
            took = frame.evaluate(SLIDE, [slider, values])
            yield told(f"live, JupyterLab: slider to screen, {name}", took, "100 ms")


def live_notebook(lab: Lab) -> str:
    """A notebook with a live player and its recording; its path."""
    sources = [LIVE, "player.recording"]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(made, lab.folder / "live.ipynb")
    return "live.ipynb"


def main() -> int:
    """Measure and print; never a test, so nothing fails."""
    path = _bootstrap.find_browser(os.environ)
    if path is None:
        print("no Chromium or Chrome found; MINIGRAD_CHROMIUM can name one")
        return 1
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        parts = [budgets] if sys.argv[1:] == ["budgets"] else [budgets, rows]
        for part in parts:
            for row in part(browser, Path(folder)):
                print(row, flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
