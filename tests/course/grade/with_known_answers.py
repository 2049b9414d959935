"""All known answers to the gym, handed in to the judge.

``python -m tests.course.grade.with_known_answers``: the right ones, in whatever
style, have to get all points, and the wrong ones less. It takes a while; words after
the command choose exercises.
"""

import collections
import sys
from collections.abc import Iterator

from minigrad.course.exercises import catalogue
from minigrad.course.grade.examiner import Result, Work, grade
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.sandbox import Box, best_mode
from tests.answers import rows

DELEGATES = {("gym.Softmax", "SetupSavesTheOutput")}
"""Right by the numbers, and made with the operation that the exercise asks for."""

Cells = tuple[str, ...]


def main() -> None:
    """Hand all of them in, and say what was not as it should be."""
    counts: collections.Counter[str] = collections.Counter()
    strange: list[str] = []
    box = Box(best_mode(), Limits())
    for exercise in catalogue.gym_names():
        if sys.argv[1:] and not any(word in exercise for word in sys.argv[1:]):
            continue
        for answer, cells in handed_in(exercise):
            work = Work("ada", exercise, answer.label, "a.ipynb", cells)
            result = grade(work, box, b"any secret does")
            counts[kind_of(exercise, answer)] += 1
            if not is_as_it_should_be(exercise, answer, result):
                said = f"{exercise} {answer.label}: {result.points} of {result.of}"
                strange.append(f"{said}, {result.state} {result.mistakes}")
    box.close()
    print(*strange, sep="\n")
    print(f"{dict(counts)}, not as they should be: {len(strange)}")
    sys.exit(bool(strange))


def handed_in(exercise: str) -> Iterator[tuple[rows.Answer, Cells]]:
    """The known answers to an exercise, and a notebook for each."""
    for answer in rows.answers_to(exercise):
        check = f"check({exercise!r}, {answer.hands})"
        yield answer, (answer.source, f"from minigrad.course import check\n{check}")


def kind_of(exercise: str, answer: rows.Answer) -> str:
    if (exercise, answer.row.get("name")) in DELEGATES:
        return "delegates"
    return "right" if answer.state == "solved" else "wrong"


def is_as_it_should_be(exercise: str, answer: rows.Answer, result: Result) -> bool:
    """All points for what is right; at most half for what is wrong; else nothing."""
    kind = kind_of(exercise, answer)
    if kind == "right":
        return (result.state, result.points) == ("solved", result.of)
    most = result.of / 2 if kind == "wrong" else 0
    return result.state != "solved" and result.points <= most


if __name__ == "__main__":
    main()
