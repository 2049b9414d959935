"""What was handed to ``check``: is it a Function at all, and is it still as shipped?"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

import minigrad
from minigrad import errors
from minigrad.course.check.findings import Finding

METHODS = ("forward", "setup_context", "backward", "jvp", "vmap")


def no_function(answer: object, name: str) -> Finding | None:
    """Why this is no function that can be called, or None."""
    if callable(answer):
        return None
    what = f"check was given {answer!r:.60}, not the function {name}"
    hint = f"Hand over the function itself: {name}, no brackets."
    return Finding((), what, "the call of check", hint=hint)


def unusable(answer: object, name: str) -> Finding | None:
    """Why this is no answer at all, or None."""
    function = minigrad.autograd.Function
    if isinstance(answer, type) and issubclass(answer, function):
        return None
    if isinstance(answer, type):
        what = f"{answer.__name__} is a class, but not a Function"
        hint = f"Begin it with 'class {name}(mg.autograd.Function):'."
    else:
        what = f"check was given a {type(answer).__name__}, not a class"
        hint = f"Hand over the class itself: its name {name}, nothing after it."
    return Finding((), what, "the call of check", hint=hint)


KINDS = {"function": no_function, "Function": unusable}
"""What an exercise may say of the things that are handed over, by their names."""


def handed(
    kinds: Mapping[str, str], answer: object, exercise_id: str
) -> tuple[Any, list[Finding]]:
    """What was handed over, each of its kind; else a finding."""
    answers, found = one_for_each([*kinds], answer, exercise_id)
    for given, (name, kind) in zip(answers, kinds.items(), strict=True):
        if kind in KINDS and not found:
            found = [each for each in [KINDS[kind](given, name)] if each]
    return answers if len(kinds) > 1 else answers[0], found


def of_another_kind(answer: object, name: str, shipped: object) -> Finding | None:
    """Why this cannot stand for a class, or a function, that was shipped; or None."""
    if isinstance(shipped, type):
        return unusable(answer, name)
    return no_function(answer, name) if callable(shipped) else None


def one_for_each(
    names: Sequence[str], answer: object, exercise_id: str
) -> tuple[list[Any], list[Finding]]:
    """What was handed over under each name; a finding if number or order is another."""
    answers: list[Any] = [answer]
    if isinstance(answer, (list, tuple)) and len(names) > 1:
        answers = list(answer)
    call = f'check("{exercise_id}", [{", ".join(names)}])'
    what = f"check was given {errors.count_of(len(answers), 'thing')}, not {len(names)}"
    hint = f"Hand over all of them: {call}"
    if len(answers) == len(names):
        stray = in_anothers_place(names, answers)
        if stray is None:
            return answers, []
        what = f"check was given {stray}"
        hint = f"Hand them over in this order: {call}"
    return [None] * len(names), [Finding((), what, "the call of check", hint=hint)]


def in_anothers_place(names: Sequence[str], answers: Sequence[Any]) -> str | None:
    """The first answer that has the name of another one, and where it stands."""
    for name, answer in zip(names, answers, strict=True):
        own = getattr(answer, "__name__", name)
        if own != name and own in names:
            return f"{own} in the place of {name}"
    return None


def shipped_under(names: Sequence[str], source: str) -> list[Any]:
    """What the shipped source defines under each name."""
    defined: dict[str, Any] = {"mg": minigrad}
    exec(source, defined)
    return [defined[name] for name in names]


def are_as_shipped(answers: Sequence[Any], shipped: Sequence[Any]) -> bool:
    """Whether all methods and functions are those that were shipped, line for line.

    What is neither has to be equal.
    """
    return all(
        [is_as_shipped(*pair) for pair in zip(answers, shipped, strict=True)],
    )


def is_as_shipped(answer: Any, shipped: Any) -> bool:
    """The same of one class, one function, or one value."""
    if inspect.isfunction(shipped):
        return code_of(answer) == code_of(shipped)
    if not isinstance(shipped, type):
        return bool(answer == shipped)
    return all(
        [
            code_of(inspect.getattr_static(answer, method))
            == code_of(inspect.getattr_static(shipped, method))
            for method in METHODS
        ]
    )


def code_of(function: Any) -> tuple[Any, ...]:
    """What a function does, whatever file and line it stands in."""
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    return (type(function),) if code is None else what_runs(code)


def what_runs(code: CodeType) -> tuple[Any, ...]:
    """The same of its code, and of the functions that are defined inside."""
    inside = [what_runs(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, tuple(inside)
