"""A class of thirty that nobody was in.

``python -m tests.course.grade.made_up_class FOLDER`` writes what it handed in: two
lessons each, as they come back from people: right, wrong in ways that have a name
and in ways that have none, half done, not tried, broken, hostile, in many scripts.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LESSONS = ("01_where_ctx_comes_from", "02_what_should_ctx_remember")

Change = Callable[[str], str]


def replaced(old: str, new: str) -> Change:
    def change(source: str) -> str:
        return source.replace(old, new)

    return change


EXCHANGED = replaced(
    "return grad_output * y, grad_output * x", "return grad_output * x, grad_output * y"
)
NO_UPSTREAM = replaced("return grad_output * y, grad_output * x", "return y, x")
ONE_TOO_FEW = replaced("return grad_output * y, grad_output * x", "return grad_output")
TWICE = replaced("grad_output * result", "2 * grad_output * result")
INPUT_KEPT = replaced("ctx.save_for_backward(result)", "ctx.save_for_backward(x)")
BOUNDS_OUT = replaced("(x >= ctx.lo) & (x <= ctx.hi)", "(x > ctx.lo) & (x < ctx.hi)")
STILL_LEAKY = replaced("ctx.factor = factor\n        return x", "return x")
MISSPELT = replaced("ctx.saved_tensors", "ctx.saved_tensor")
ENDLESS = replaced("        return x * y\n", "        while True: pass\n")
HOSTILE = replaced(
    "        return x * y\n",
    '        raise ValueError("<script>alert(1)</script>\\u202e\\x1b[2J`<img src=x>` "'
    ' "多くの言葉 " * 9)\n',
)
OTHER_ANSWERS = replaced('["false", "true", "true"', '["true", "true", "false"')
OTHER_ORDER = replaced('["f", "m", "b", "k"', '["m", "f", "b", "k"')
NO_ANSWER = replaced('["false", "true", "true"', '["perhaps", "<i>", "true"')

STUDENTS: dict[str, tuple[Change, ...]] = {
    "Ada Lovelace": (),
    "Alan Turing": (EXCHANGED,),
    "Barbara Liskov": (),
    "Bjarne": (NO_UPSTREAM, TWICE),
    "Çiğdem Yılmaz": (OTHER_ANSWERS,),  # noqa: RUF001  that is her name
    "Dorothy Vaughan": (INPUT_KEPT,),
    "Edsger": (),
    "Émilie du Châtelet": (BOUNDS_OUT, OTHER_ORDER),
    "Frances Allen": (),
    "Grace Hopper": (ONE_TOO_FEW,),
    "Hedy": (EXCHANGED, INPUT_KEPT),
    "I" * 70: (TWICE,),
    "Jean Bartik": (),
    "Katherine Johnson": (STILL_LEAKY,),
    "Lê Thị Hồng": (EXCHANGED, BOUNDS_OUT),
    "Margaret Hamilton": (),
    "Niklaus": (MISSPELT,),
    "O'Brien & Sons": (HOSTILE,),
    "Přemysl Žáček": (),
    "Radia Perlman": (NO_UPSTREAM,),
    "Søren Ångström": (OTHER_ANSWERS, BOUNDS_OUT),
    "Tony Hoare": (),
    "<b>Ursula<script>alert(1)<|script>": (HOSTILE, NO_ANSWER),
    "Valentina": (EXCHANGED,),
    "=1+cmd|' |C calc'!A1": (),
    "Ξενοφών": (INPUT_KEPT, OTHER_ORDER),
    "יעל": (ENDLESS,),
    "王小明": (),
    "محمد": (BOUNDS_OUT,),
    "😀": (),
}
BROKEN_SECOND = "Barbara Liskov"
NOTHING_DONE = "Tony Hoare"
ONLY_THE_FIRST_DONE = ("Edsger", "Jean Bartik")
ONLY_THE_FIRST_HANDED_IN = "Frances Allen"


def make(folder: Path) -> Path:
    """A folder a student below ``folder``, with a notebook for each lesson."""
    for student in STUDENTS:
        own = folder / student
        own.mkdir(parents=True, exist_ok=True)
        for lesson in LESSONS:
            if student != ONLY_THE_FIRST_HANDED_IN or lesson == LESSONS[0]:
                text = notebook(student, lesson)
                (own / f"{lesson}.ipynb").write_text(text, encoding="utf-8")
    return folder


def notebook(student: str, lesson: str) -> str:
    """What this student made of it, which need not be a notebook."""
    is_second = lesson == LESSONS[1]
    if is_second and student == BROKEN_SECOND:
        return '{"cells": [{"cell_type": "code", "sour'
    as_shipped = student == NOTHING_DONE or (
        is_second and student in ONLY_THE_FIRST_DONE
    )
    place = "exercises" if as_shipped else "solutions"
    found: dict[str, Any] = json.loads(built(place, lesson))
    for cell in found["cells"]:
        source = "".join(cell["source"])
        for change in STUDENTS[student]:
            source = change(source)
        cell["source"] = source.splitlines(keepends=True)
    found["metadata"]["of"] = student
    return json.dumps(found, ensure_ascii=False)


def built(place: str, lesson: str) -> str:
    """The notebook of a lesson as it is, in ``exercises`` or in ``solutions``."""
    (path,) = (ROOT / place / lesson).glob("*.ipynb")
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    print(make(parser.parse_args().folder))
