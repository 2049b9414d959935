"""What torch has and minigrad has not, by name: the text of ``minigrad/MISSING.md``.

``torch_names.tsv`` holds the public names of torch 2.13, written from torch itself by
``python -m minigrad.course.coverage``. What is missing is seen anew in each build.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

from minigrad.course.coverage.groups import grouped

HERE = Path(__file__).parent
RECORDED: Final = HERE / "torch_names.tsv"
BUILT: Final = "minigrad/MISSING.md"

PLACES: Final = {
    "torch": "Functions",
    "torch.Tensor": "Methods and attributes of Tensor",
    "torch.nn.functional": "Functions of layers",
    "torch.nn": "Layers and losses as modules",
    "torch.nn.init": "Initial values",
    "torch.nn.utils": "Helpers of modules",
    "torch.optim": "Optimizers",
    "torch.optim.lr_scheduler": "Schedules of learning rates",
    "torch.utils.data": "Data",
    "torch.autograd": "Autograd",
    "torch.func": "Transforms of functions",
    "torch.linalg": "Linear algebra",
    "torch.special": "Special functions",
    "torch.fft": "Fourier transforms",
    "torch.dtype": "Dtypes",
}
"""Where names were taken from, and what stands above them."""

ELSEWHERE: Final = {
    "torch": ("torch.Tensor", "As a method only (`x.abs_()`)"),
    "torch.Tensor": ("torch", "As a function only (`minigrad.bernoulli`)"),
    "torch.nn.functional": ("torch", "In `minigrad` itself (`minigrad.relu`)"),
    "torch.linalg": ("torch", "In `minigrad` itself (`minigrad.matmul`)"),
    "torch.special": ("torch", "In `minigrad` itself (`minigrad.erf`)"),
}
"""Where a name may be instead, and how a reader is told so."""

IN_GROUPS: Final = frozenset(
    {"torch", "torch.Tensor", "torch.nn.functional", "torch.nn"}
)
"""Places with so many names that a reader needs groups."""

INTRODUCTION: Final = """\
# What torch has and minigrad has not

Written by `python -m minigrad build` from the names of torch {version} and of minigrad:
a name is listed as long as minigrad has nothing of that name in that place. A name that
is not listed may still lack an option of torch's; an error says so when it is given.

| place | in torch | here | missing |
|---|---:|---:|---:|
"""


def missing_file() -> dict[str, str]:
    """The built file: its path and its text."""
    return {BUILT: text()}


def recorded() -> tuple[str, dict[str, list[str]]]:
    """The version of torch, and the names in each place."""
    first, *lines = RECORDED.read_text("utf8").splitlines()
    names: dict[str, list[str]] = {}
    for line in lines:
        place, name = line.split("\t")
        names.setdefault(place, []).append(name)
    return first, names


def ours(place: str) -> Any:
    """What stands for a place of torch in minigrad; None if nothing does.

    >>> ours("torch.optim").__name__
    'minigrad.optim'
    """
    name = "minigrad" + ("" if place == "torch.dtype" else place[len("torch") :])
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        found: Any = importlib.import_module("minigrad")
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        return found


def missing_in(place: str, names: list[str]) -> list[str]:
    """Those names that minigrad has not.

    >>> missing_in("torch", ["add", "a_name_of_nothing"])
    ['a_name_of_nothing']
    """
    where = ours(place)
    return [name for name in names if not hasattr(where, name)]


def text() -> str:
    """The whole document: a table of counts, then the names, in groups."""
    version, places = recorded()
    counts, sections = [], []
    for place, title in PLACES.items():
        names = places[place]
        missing = missing_in(place, names)
        link = f"[{title}](#{title.lower().replace(' ', '-')}), `{place}`"
        here = len(names) - len(missing)
        counts.append(f"| {link} | {len(names)} | {here} | {len(missing)} |")
        sections.append(section(place, title, missing))
    return INTRODUCTION.format(version=version) + "\n".join([*counts, *sections])


def section(place: str, title: str, missing: list[str]) -> str:
    """The missing names of a place; in groups where there are many."""
    lines = [f"\n## {title}\n"]
    if not missing:
        return "\n".join([*lines, "Nothing is missing.\n"])
    if place in ELSEWHERE:
        other, said = ELSEWHERE[place]
        absent = missing_in(other, missing)
        there = [name for name in missing if name not in absent]
        lines += [f"* {said}: {listed(there)}"] if there else []
        missing = absent
    if place not in IN_GROUPS:
        return "\n".join([*lines, f"* {listed(missing)}", ""])
    for group, names in grouped(missing).items():
        lines.append(f"* {group}: {listed(names)}")
    return "\n".join([*lines, ""])


def listed(names: list[str]) -> str:
    """Names as code, in a row."""
    return " ".join([f"`{name}`" for name in names])
