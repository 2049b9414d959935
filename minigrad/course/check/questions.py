"""Judge predictions, investigations and lines put in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import minigrad
from minigrad import errors
from minigrad.course.check.exercise import Exercise, Question
from minigrad.course.check.findings import Finding

Answers = Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """One question with what was said, what is so, and why.

    ``fits``: the answer is another one than ``is_so``, and as good.
    """

    question: Question
    said: str
    is_so: str
    fits: bool = False

    @property
    def right(self) -> bool:
        """Whether the answer is what really happens."""
        return self.fits or same(self.said, self.is_so)

    @property
    def text(self) -> str:
        """The outcome in a sentence or two."""
        if self.right:
            return f"{self.said}: yes. {self.question.why}".strip()
        thought = self.looks_like.rstrip(".")
        story = f"That looks like: {thought}. " if thought else ""
        said = f"you said: {self.said}. In fact: {self.is_so}."
        return f"{said} {story}{self.question.why}".strip()

    @property
    def looks_like(self) -> str:
        """What somebody thinks who says this; empty where nobody has noted it."""
        wrong = self.question.wrong.items()
        known = [text for said, text in wrong if same(said, self.said)]
        return known[0] if known else ""


def answers_of(exercise: Exercise, answer: object) -> Answers:
    """What was said to each question, from a mapping, a sequence or a single text.

    A choice may be given by its letter (a, b, c, ...) or in full.
    Raises: ArgumentValueError for a question that does not exist, for an answer that is
    none of the choices, and if one is missing.
    """
    questions = exercise.questions
    if isinstance(answer, str):
        answer = [answer]
    if isinstance(answer, Mapping):
        given = {str(key): str(value) for key, value in answer.items()}
    elif isinstance(answer, Sequence):
        if len(answer) != len(questions):
            raise unusable(
                exercise,
                f"got {errors.count_of(len(answer), 'answer')} for "
                f"{errors.count_of(len(questions), 'question')}",
            )
        given = {q.id: str(v) for q, v in zip(questions, answer, strict=True)}
    else:
        raise unusable(exercise, f"got a {type(answer).__name__}")
    known = [question.id for question in questions]
    for key in given:
        if key not in known:
            raise unusable(exercise, f"there's no question {key!r}")
    missing = [key for key in known if not given.get(key, "").strip()]
    if missing:
        raise unusable(exercise, f"no answer to question {missing[0]}")
    return {q.id: choice_of(exercise, q, given[q.id]) for q in questions}


def choice_of(exercise: Exercise, question: Question, said: str) -> str:
    """The choice that was meant, in full."""
    if not question.choices:
        return said.strip()
    letters = "abcdefghijklmnop"[: len(question.choices)]
    for letter, choice in zip(letters, question.choices, strict=True):
        if same(said, choice) or said.strip().lower() == letter:
            return choice
    listed = ", ".join(
        [f"{a}: {c}" for a, c in zip(letters, question.choices, strict=True)]
    )
    raise unusable(
        exercise, f"{said!r} is no answer to question {question.id} ({listed})"
    )


def unusable(exercise: Exercise, what: str) -> errors.ArgumentValueError:
    """The error for answers that cannot be read."""
    example = ", ".join([f'"{question.id}": ...' for question in exercise.questions])
    return errors.ArgumentValueError(
        errors.message(
            f'check("{exercise.id}")',
            what,
            f'answer all at once: check("{exercise.id}", {{{example}}})',
        )
    )


def same(said: str, wanted: str) -> bool:
    """Whether two short answers are the same but for case, blanks and a full stop.

    A number may be written as anybody would, or as a tensor prints it.

    >>> same("tensor(12.)", "12.0"), same("12", "12.0"), same("6", "12.0")
    (True, True, False)
    """
    said, wanted = plain(said), plain(wanted)
    if said == wanted:
        return True
    try:
        return float(number_of(said)) == float(number_of(wanted))
    except ValueError:
        return False


def is_number(text: str) -> bool:
    """Whether it can be read as a number."""
    try:
        float(number_of(plain(text)))
    except ValueError:
        return False
    return True


def number_of(text: str) -> str:
    """What stands in the brackets of a printed tensor; other text as it is."""
    return text.removeprefix("tensor(").removesuffix(")")


def plain(text: str) -> str:
    """A short answer without what does not matter."""
    return "".join(text.split()).lower().rstrip(".").replace("`", "")


def outcomes(exercise: Exercise, answers: Answers) -> tuple[Outcome, ...]:
    """Each answer beside what really happens, which is found out by running it.

    Where more than one answer is right, the exercise's own ``fits`` says which are.
    """
    truth: Mapping[str, str] = exercise.spec.truth()
    fits = getattr(exercise.spec, "fits", lambda question, said: False)
    return tuple(
        [
            Outcome(q, answers[q.id], truth[q.id], fits(q.id, answers[q.id]))
            for q in exercise.questions
        ]
    )


def mistakes(found: Sequence[Outcome]) -> list[Finding]:
    """A finding for each answer that is not so; it does not say what is so."""
    findings = []
    for outcome in found:
        if outcome.right:
            continue
        question = outcome.question
        is_text = is_number(outcome.is_so) and not is_number(outcome.said)
        findings.append(
            Finding(
                (),
                f"{outcome.said!r} isn't {'a number' if is_text else 'right'}",
                f"question {question.id}: {question.text}",
                looks_like=outcome.looks_like,
                hint="Write a number alone, in digits." if is_text else question.hint,
            )
        )
    return findings


def misplaced_lines(exercise: Exercise, order: Sequence[str]) -> Finding | None:
    """What is wrong with lines in this order, found out by running them.

    A distractor is named first: what follows from it would only confuse.
    """
    lines = {line.id: line for line in exercise.lines}
    for name in order:
        if name not in lines:
            return Finding(
                (),
                f"there's no line {name!r}; the lines are {', '.join(lines)}",
                "the list of line ids",
                hint="Write the ids in the order in which the lines are to run.",
            )
        if lines[name].mistake:
            return Finding(
                (),
                f"line {name}, {lines[name].text.strip()!r}, doesn't belong here",
                f"line {name}",
                looks_like=lines[name].mistake,
                hint=lines[name].hint,
            )
    twice = [name for name in order if list(order).count(name) > 1]
    if twice:
        return Finding((), f"line {twice[0]} is there twice", f"line {twice[0]}")
    missing = [n for n, line in lines.items() if not line.mistake and n not in order]
    if missing:
        return Finding(
            (),
            f"{errors.count_of(len(order), 'line')} so far; something is missing",
            "the list of line ids",
            hint=exercise.when_missing,
        )
    found: Finding | None = exercise.spec.run_lines([lines[n].text for n in order])
    return found


def methods_of(
    class_name: str, methods: Sequence[str], lines: Sequence[str], names: dict[str, Any]
) -> Any:
    """A Function whose methods the lines define; why Python can't run them, if so."""
    try:
        exec(compile("\n".join(lines) + "\n", f"your {class_name}", "exec"), names)
    except (SyntaxError, NameError) as error:
        said = getattr(error, "msg", str(error))
        return re.sub(r" \(?on line [0-9]+\)?$", "", said)
    body = {name: staticmethod(names[name]) for name in methods if name in names}
    return type(class_name, (minigrad.autograd.Function,), body)


def defined_by(
    head: str, lines: Sequence[str], names: dict[str, Any]
) -> tuple[str, str] | None:
    """Run ``lines`` under ``head``; if Python cannot read them, why, and which line."""
    try:
        exec(compile(head + "\n".join(lines) + "\n", "your lines", "exec"), names)
    except SyntaxError as error:
        # The head, which Python counts, is not among the lines of the list.
        said = re.sub(r" on line [0-9]+$", "", error.msg)
        return said, lines[max((error.lineno or 2) - 2, 0)].strip()
    return None
