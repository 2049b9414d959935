"""What stands on the stage of a worker in place of what nobody looks at there."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import minigrad
from minigrad import course

ABSENT = (
    "IPython",
    "anywidget",
    "graphviz",
    "graphviz_pure",
    "ipykernel",
    "ipywidgets",
    "matplotlib",
    "minigrad.views",
    "tqdm",
)
"""What shows things; a notebook may import it, and gets nothing for it."""

handed_over: dict[str, Any] = {}
"""What was given to check, by exercise; the last time counts."""


class Nothing:
    """Takes every question and gives itself as the answer."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # As a decorator it leaves a class or function what it was.
        first = arguments[0] if len(arguments) == 1 and not options else None
        is_defined = isinstance(first, type | types.FunctionType)
        return first if is_defined else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: object) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None


NOTHING = Nothing()


def check(
    exercise_id: object, *answers: Any, strict: object = None, **named: Any
) -> None:
    """Note the answer; the verdict is made elsewhere, ``strict`` or not."""
    given = [*answers, *named.values()]
    if given:
        handed_over[str(exercise_id)] = given[0]


def set_up() -> None:
    """Replace what a notebook shows, and what it asks a learner."""
    for name in course.__all__:
        if name not in ("CheckFailed", "Verdict", "peak_bytes", "watch"):
            setattr(course, name, NOTHING)
    course.check = check  # type: ignore[assignment]  # it gives no verdict
    sys.meta_path.insert(0, _Absent())
    for name in ("step", "compare", "player", "draw", "show", "record"):
        if hasattr(minigrad, name):
            setattr(minigrad, name, NOTHING)


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module of nothing for what is not there."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if any(fullname == n or fullname.startswith(n + ".") for n in ABSENT):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__["__getattr__"] = lambda name: getattr(NOTHING, name)
