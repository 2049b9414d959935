"""The recordings of torch that lesson 17 shows where torch isn't installed.

``python -m tests.notebooks.torch_recordings`` writes them anew, with torch installed.
"""

from __future__ import annotations

import ast
import linecache
from pathlib import Path
from typing import Any

from minigrad.course.author import build
from minigrad.course.notebook import two_engines

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks/src/17_to_pytorch_and_back.py"
NAMES = ("scale", "weighted", "seeded")


def program(name: str) -> Any:
    """A program of the lesson, as its cell defines it."""
    for cell in build.read_cells(LESSON.read_text("utf8"), LESSON.name):
        code = "" if cell.markdown else build.code(cell, solved=True)
        tree = ast.parse(code if f"def {name}(torch):" in code else "")
        if tree.body:
            tree.body = [n for n in tree.body if not isinstance(n, ast.Expr)]
            file, lines = f"<{name}>", code.splitlines(keepends=True)
            linecache.cache[file] = (len(code), None, lines, file)
            names: dict[str, Any] = {}
            exec(compile(tree, file, "exec"), names)
            return names[name]
    raise LookupError(name)


def main() -> None:
    two_engines.RECORDINGS.mkdir(exist_ok=True)
    for name in NAMES:
        file = two_engines.RECORDINGS / f"{name}.json"
        two_engines.live(program(name)).save(file)
        print(f"wrote {file.relative_to(ROOT)}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
