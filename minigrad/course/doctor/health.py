"""Does everything that the course needs work on this computer? Each thing is tried."""

from __future__ import annotations

import html
import importlib.metadata
import locale
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad import _bootstrap, _installer, _workspace

INSTALL = (
    "run: minigrad lab   (it installs what is missing)"
    if _bootstrap.is_installed()
    else "in the clone, run: python3 minigrad lab   (it installs what is missing)"
)
USAGE = """\
usage: python3 minigrad doctor   (it takes no arguments)

Tries what the course needs on this computer, and installs nothing: Python, packages,
graph drawing, Numba, a folder to write in, text, memory, and JupyterLab's widgets. Each
has a line; below a ✗ you read how to mend it. The exit code is 1 if there is one.
"""
ENOUGH_MEMORY = 10**9
ENOUGH_DISK = 5 * 10**8
PATIENCE = 15.0


class UnwellError(Exception):
    """One thing that does not work; ``fix`` is what mends it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


@dataclass(frozen=True)
class Item:
    """One line of the report."""

    name: str
    good: bool
    found: str
    fix: str = ""


class Report(list[Item]):
    """All items; shows itself in a notebook and in a terminal."""

    @property
    def good(self) -> bool:
        """Whether everything works."""
        return all([item.good for item in self])

    def __repr__(self) -> str:
        return "\n".join([line_of(item) for item in self] + [self.summary])

    @property
    def summary(self) -> str:
        """The last line."""
        bad = [item.name for item in self if not item.good]
        if not bad:
            return "Everything the course needs works here."
        return f"To be mended: {', '.join(bad)}."

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td>{sign_of(item)}</td><td style='text-align:left'>"
            f"{html.escape(item.name)}</td><td style='text-align:left'>"
            f"{html.escape(item.found)}{fix_in_html(item)}</td></tr>"
            for item in self
        ]
        return f"<table>{''.join(rows)}</table><p>{html.escape(self.summary)}</p>"


def doctor(quiet: bool = False) -> Report | None:
    """Try everything that the course needs, from inside this kernel.

    With ``quiet``, a report is given only if something has to be mended.

    >>> minigrad.course.doctor(quiet=True)
    """
    report = Report([examined(name, look) for name, look in LOOKS.items()])
    return None if quiet and report.good else report


def main(arguments: Sequence[str]) -> int:
    """``python -m minigrad doctor``: a line an item; exit code 1 if one is unwell."""
    if arguments:
        print(USAGE, end="")
        return 0 if arguments[0] in ("-h", "--help") else 2
    report = Report()
    for name, look in (LOOKS | OUTSIDE).items():
        report.append(examined(name, look))
        print(line_of(report[-1]), flush=True)
    print(report.summary)
    return 0 if report.good else 1


def examined(name: str, look: Callable[[], str]) -> Item:
    """What a look found; an unexpected exception counts as unwell, and is named."""
    try:
        return Item(name, True, look())
    except UnwellError as unwell:
        return Item(name, False, str(unwell), unwell.fix)
    except Exception as error:
        return Item(name, False, f"{type(error).__name__}: {error}", INSTALL)


def sign_of(item: Item) -> str:
    """A sign that needs no colour."""
    return "✓" if item.good else "✗"


def line_of(item: Item) -> str:
    """One line; a second one below it says how to mend what is unwell."""
    line = f"{sign_of(item)} {item.name + ':':<12} {item.found}"
    return line if item.good else f"{line}\n  fix: {item.fix}"


def fix_in_html(item: Item) -> str:
    """The repair, below what was found."""
    return "" if item.good else f"<br>fix: <code>{html.escape(item.fix)}</code>"


def python() -> str:
    """The version, against what the course asks for."""
    from packaging.specifiers import SpecifierSet

    version = ".".join(map(str, sys.version_info[:3]))
    allowed = needed()[0]
    if not SpecifierSet(allowed).contains(version):
        raise UnwellError(
            f"{version}, the course needs {allowed}",
            "run the command with another Python: python3.13 minigrad lab",
        )
    return f"{version} ({sys.executable})"


def needed() -> tuple[str, list[str]]:
    """The Pythons and the packages of a lab: from the wheel, or a clone's pyproject."""
    if _bootstrap.is_installed():
        about = importlib.metadata.metadata(_installer.COURSE)
        return about["Requires-Python"], about.get_all("Requires-Dist") or []
    project = _bootstrap.project()
    lab = project["optional-dependencies"]["lab"]
    return project["requires-python"], [*project["dependencies"], *lab]


def packages() -> str:
    """Every package that the course asks for is there, and recent enough."""
    from packaging.requirements import Requirement

    asked = [Requirement(text) for text in needed()[1]]
    here = {"extra": "lab"}
    wanted = [each for each in asked if not each.marker or each.marker.evaluate(here)]
    wrong = []
    for requirement in wanted:
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} {version} ({requirement.specifier})")
    if wrong:
        raise UnwellError("; ".join(wrong), INSTALL)
    return f"{len(wanted)} packages, all recent enough"


def graph() -> str:
    """A graph is recorded and really drawn."""
    import minigrad
    from minigrad.views.graph import dot_of, svg_of

    with minigrad.record("doctor") as trace:
        (minigrad.tensor(2.0, requires_grad=True) * 3).backward()
    drawn = svg_of(dot_of(trace.data))
    if drawn is None or "MulBackward0" not in drawn[0]:
        raise UnwellError(
            "no picture came back from Graphviz",
            f"{sys.executable} -m pip install graphviz-pure",
        )
    return f"drawn by {drawn[1]}"


def kernel() -> str:
    """A Numba kernel is compiled and gives what NumPy gives."""
    import numpy as np

    from minigrad.kernels import elementwise

    numbers = np.linspace(-3, 3, 7, dtype=np.float32)
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled = elementwise.sigmoid(numbers)
    seconds = time.perf_counter() - began
    if said:
        raise UnwellError(
            f"{said[0].message}", f"{sys.executable} -m pip install --upgrade numba"
        )
    if not np.allclose(compiled, elementwise.sigmoid_in_numpy(numbers), rtol=1e-5):
        raise UnwellError(
            "the compiled kernel and NumPy give different numbers",
            "set MINIGRAD_JIT=0 (the course runs, more slowly) and tell us",
        )
    return f"sigmoid compiled and run in {seconds:.1f} s"


def write_permission() -> str:
    """The workspace, or the folder in which it will be made, can be written."""
    chosen = _workspace.folder(_bootstrap.ROOT, os.environ)
    place = _workspace.around(Path.cwd()) or chosen
    if not place.exists():
        place = place.parent
    probe = place / f".minigrad-doctor-{time.time_ns()}"
    try:
        probe.write_text("can this be written?", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        raise UnwellError(
            f"{place} cannot be written ({error})",
            "set MINIGRAD_HOME to a folder of yours and start the lab again",
        ) from None
    free = shutil.disk_usage(place).free
    if free < ENOUGH_DISK:
        raise UnwellError(
            f"{place} has {free / 1e6:.0f} MB left",
            f"free some space: {ENOUGH_DISK / 1e6:.0f} MB are enough",
        )
    return f"{place}, {free / 1e9:.0f} GB free"


def text() -> str:
    """Text goes in and out as UTF-8."""
    encodings = {
        "files": locale.getpreferredencoding(False),
        "file names": sys.getfilesystemencoding(),
        "output": getattr(sys.stdout, "encoding", None) or "utf-8",
    }
    wrong = [
        f"{what}: {name}"
        for what, name in encodings.items()
        if name.lower().replace("-", "").replace("_", "") not in ("utf8", "cp65001")
    ]
    if wrong:
        raise UnwellError(
            "not UTF-8 (" + ", ".join(wrong) + ")",
            "set the variable PYTHONUTF8=1 and start again",
        )
    return "UTF-8"


def memory() -> str:
    """There is room for the notebooks."""
    free = free_memory()
    if free is None:
        return "this system does not say how much is free"
    if free < ENOUGH_MEMORY:
        raise UnwellError(
            f"{free / 1e9:.1f} GB free", "close other programs: 1 GB should be free"
        )
    return f"{free / 1e9:.1f} GB free"


def free_memory() -> int | None:
    """Bytes that a program may still take, where /proc tells it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def kernel_is_ours() -> str:
    """The Python of the notebooks' kernel is the one that has the course."""
    from jupyter_client.manager import KernelManager

    # The first word of what would be started; a bare "python" stands for this one.
    first = KernelManager(kernel_name="python3").format_kernel_cmd()[0]
    program = shutil.which(first) or first
    answer = _bootstrap.answer([program, "-c", "import sys; print(sys.prefix)"])
    if answer is None or Path(answer).resolve() != Path(sys.prefix).resolve():
        raise UnwellError(
            f"the kernel 'Python 3' runs {program}, not {sys.executable}",
            f"{sys.executable} -m ipykernel install --sys-prefix",
        )
    return f"runs {program}"


def widgets() -> str:
    """A kernel starts; a widget is made in it, moved from outside, and answers."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    # What the kernel says about itself is not for the reader of the report.
    manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        began = time.perf_counter()
        move_a_slider(client)
        seconds = time.perf_counter() - began
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return f"a slider was moved and answered in {seconds:.1f} s"


def move_a_slider(client: Any) -> None:
    """Make a slider in the kernel, send it a new value, and read the value there."""
    client.execute("import ipywidgets; slider = ipywidgets.IntSlider(value=1)")
    opened = None
    while opened is None:
        message = client.get_iopub_msg(timeout=PATIENCE)
        if message["msg_type"] == "error":
            raise UnwellError("\n".join(message["content"]["traceback"]), INSTALL)
        state = message["content"].get("data", {}).get("state", {})
        if message["msg_type"] == "comm_open" and "value" in state:
            opened = message["content"]["comm_id"]
    data = {"method": "update", "state": {"value": 7}, "buffer_paths": []}
    moved = client.session.msg("comm_msg", {"comm_id": opened, "data": data})
    client.shell_channel.send(moved)
    reply = client.execute(
        "", user_expressions={"value": "slider.value"}, reply=True, timeout=PATIENCE
    )
    value = reply["content"]["user_expressions"]["value"]["data"]["text/plain"]
    if value != "7":
        raise UnwellError(f"the slider stayed at {value} after a move to 7", INSTALL)


LOOKS: dict[str, Callable[[], str]] = {
    "Python": python,
    "packages": packages,
    "graph": graph,
    "Numba": kernel,
    "writing": write_permission,
    "text": text,
    "memory": memory,
    "kernel": kernel_is_ours,
}
OUTSIDE: dict[str, Callable[[], str]] = {"widgets": widgets}
"""What can only be tried from outside a kernel: it would wait for itself."""
