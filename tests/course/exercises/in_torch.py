"""What torch does in the exercises of lesson 17, to be kept for where it isn't.

``python -m tests.course.exercises.in_torch`` writes it anew, with torch installed.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from minigrad.course.exercises import ex17_1, ex17_4
from minigrad.course.exercises.ex17_2 import in_other_engine
from tests.answers import rows

FILE = Path(ex17_1.__file__).with_name("in_torch.json")


def solution(torch: Any) -> Any:
    """The solution of 17.4, in torch."""
    (right, *_) = rows.right("17.4")
    return in_other_engine(right.made_anew(), torch)


def everything(torch: Any) -> dict[str, Any]:
    answer = solution(torch)
    return {
        "17.1": ex17_1.results(torch),
        "17.4": [ex17_4.run(torch, answer, case) for case in ex17_4.CASES],
    }


def main() -> None:
    torch: Any = importlib.import_module("torch")
    text = json.dumps(everything(torch), separators=(",", ":"))
    FILE.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
