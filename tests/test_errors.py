"""The one form of all messages, and the classes they come in."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from minigrad import errors

ROOT = Path(__file__).resolve().parent.parent

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, errors.MinigradError)
]


def test_message_has_where_what_fix_and_lesson() -> None:
    assert errors.message("Halve.backward", "returned 1", "return 2", "01") == (
        "Halve.backward: returned 1\n  fix: return 2\n  see: lesson 01"
    )


@pytest.mark.parametrize("lesson", ["", "99"])
def test_lesson_that_does_not_exist_is_left_out(lesson: str) -> None:
    text = errors.message("F.forward", "went wrong", "mend it", lesson)
    assert text == "F.forward: went wrong\n  fix: mend it"


def test_error_at_a_place_says_what_went_wrong_there() -> None:
    error = errors.ShapeError.at("diag", "has 3 dimensions", "give a matrix", "06")
    assert type(error) is errors.ShapeError
    assert str(error) == errors.message(
        "diag", "has 3 dimensions", "give a matrix", "06"
    )


def test_lessons_are_those_that_exist() -> None:
    sources = (ROOT / "notebooks" / "src").glob("[0-9][0-9]_*.py")
    assert {path.name[:2] for path in sources} == errors.LESSONS


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 gradients"), (1, "1 gradient"), (2, "2 gradients")]
)
def test_count_agrees_with_its_noun(number: int, text: str) -> None:
    assert errors.count_of(number, "gradient") == text


@pytest.mark.parametrize("kind", [c for c in CLASSES if c is not errors.MinigradError])
def test_error_is_also_one_built_in(kind: type[Exception]) -> None:
    ours, builtin = kind.__bases__
    assert ours is errors.MinigradError
    assert builtin.__module__ == "builtins"
    assert issubclass(builtin, Exception)
    assert kind.__doc__


def raised_names() -> dict[str, set[str]]:
    """The error classes that the package names in its code, by file."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "minigrad").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"errors\.(\w+Error)(?:\.at)?\(", text):
            found.setdefault(name, set()).add(path.name)
    return found


def test_every_error_class_is_raised_somewhere_and_exists() -> None:
    assert set(raised_names()) == {
        kind.__name__ for kind in CLASSES if kind is not errors.MinigradError
    }


CORE = ["engine", "ops", "autograd", "kernels"]


@pytest.mark.parametrize("layer", CORE)
def test_engine_never_guards_with_assert(layer: str) -> None:
    for path in (ROOT / "minigrad" / layer).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        assert not asserts, path


def test_lesson_numbers_in_messages_are_two_digits() -> None:
    for layer in CORE:
        for path in (ROOT / "minigrad" / layer).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                called = getattr(node, "func", None)
                if getattr(called, "attr", "") not in ("message", "at"):
                    continue
                if len(node.args) < 4:
                    continue
                lesson = node.args[3]
                if isinstance(lesson, ast.Constant):
                    assert re.fullmatch(r"\d\d", lesson.value), path
