"""``python -m minigrad.course.coverage [--check]``: write torch's names from torch."""

from __future__ import annotations

import argparse
import importlib
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.course.coverage import PLACES, RECORDED

Wanted = Callable[[Any, Any], bool]

LEFTOVERS = frozenset({"typing", "torch.overrides", "torch._jit_internal", "builtins"})
"""Modules whose functions torch's own files have imported for themselves."""


def is_function(torch: Any, value: Any) -> bool:
    """Whether it can be called, and is neither a class nor somebody else's."""
    home = getattr(value, "__module__", None)
    return callable(value) and not isinstance(value, type) and home not in LEFTOVERS


def subclass_of(*path: str) -> Wanted:
    """Whether a value is a class below the one that a path names."""

    def wanted(torch: Any, value: Any) -> bool:
        base = torch
        for part in path:
            base = getattr(base, part)
        return isinstance(value, type) and issubclass(value, base)

    return wanted


def is_torchs(torch: Any, value: Any) -> bool:
    """Whether a class or a function is torch's, and public."""
    home = str(getattr(value, "__module__", None) or "")
    return callable(value) and home.startswith("torch") and "._C" not in home


WANTED: dict[str, Wanted] = {
    "torch.Tensor": lambda torch, value: True,
    "torch.dtype": lambda torch, value: isinstance(value, torch.dtype),
    "torch.nn": subclass_of("nn", "Module"),
    "torch.optim": subclass_of("optim", "Optimizer"),
    "torch.optim.lr_scheduler": subclass_of("optim", "lr_scheduler", "LRScheduler"),
    "torch.utils.data": is_torchs,
    "torch.autograd": is_torchs,
    "torch.func": is_torchs,
}
"""What counts in a place; functions, where nothing else is said."""


ALL_ONLY = frozenset({"torch.utils.data", "torch.autograd", "torch.func"})
"""Places whose ``__all__`` says what is public; the others have none, or not all."""


def names_in(torch: Any, place: str) -> list[str]:
    """The public names of a place of torch."""
    where: Any = torch.Tensor if place == "torch.Tensor" else torch
    if place not in ("torch.Tensor", "torch.dtype"):
        where = importlib.import_module(place)
    wanted = WANTED.get(place, is_function)
    names = where.__all__ if place in ALL_ONLY else dir(where)
    with warnings.catch_warnings():
        # Some names of torch warn as soon as they are looked at.
        warnings.simplefilter("ignore")
        return sorted(
            [
                name
                for name in set(names)
                if not name.startswith("_")
                and not isinstance(getattr(where, name), types.ModuleType)
                and wanted(torch, getattr(where, name))
            ]
        )


def text() -> str:
    """What ``torch_names.tsv`` should hold."""
    torch = importlib.import_module("torch")
    lines = [torch.__version__.split("+")[0]]
    for place in PLACES:
        lines += [f"{place}\t{name}" for name in names_in(torch, place)]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the names, or with ``--check`` only compare."""
    parser = argparse.ArgumentParser(prog="python -m minigrad.course.coverage")
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args(arguments)
    wanted = text()
    if options.check:
        if RECORDED.read_text("utf8") == wanted:
            return 0
        sys.stderr.write(
            f"stale: {RECORDED.name}\nfix: python -m minigrad.course.coverage, "
            "then python -m minigrad build\n"
        )
        return 1
    RECORDED.write_text(wanted, encoding="utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
