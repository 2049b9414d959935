"""The concept test: twelve programs, what does each print? In two forms, A and B.

The items are ``concepts.toml``. A choice that isn't right belongs to a mistake of
``mistakes.toml``. Nothing that a learner gets to see says which choice is right, and a
results file holds the answers alone; ``grade --concepts`` knows the rest.
"""

from __future__ import annotations

import json
import re
import secrets
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from minigrad import _workspace, errors
from minigrad.course.check import SOLVED, panel
from minigrad.course.notebook import journal
from minigrad.course.notebook.links import link
from minigrad.course.notebook.widgets import Sheet
from minigrad.mistakes import TABLE
from minigrad.views import forms

HERE = Path(__file__).parent
BUILT_PAGE = "exercises/concept_test/concept_test.html"
NOTEBOOK = "exercises/concept_test/concept_test.ipynb"
MINUTES = 15

FORMS = ("A", "B")
TEST = "minigrad concept test"
ERROR, UNKNOWN = "an error", "I don't know"
ASKED = "What does this print?"
SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
"""What a code is drawn from: no signs that look alike."""


@dataclass(frozen=True)
class Choice:
    """What may be printed, in A and in B; wrong ones name a mistake and a belief.

    ``becomes``: how the program changes if the belief were true. ``error`` is in the
    message of one that stops.
    """

    says: Sequence[str]
    mistake: str = ""
    thinks: str = ""
    becomes: Sequence[Sequence[str]] = ()
    error: str = ""


@dataclass(frozen=True)
class Item:
    """One program in two forms, and what may come out."""

    id: str
    feature: str
    lesson: str
    text: str
    values: Mapping[str, Mapping[str, str]]
    choices: Sequence[Choice]

    def program(self, form: str, belief: Choice | None = None) -> str:
        """The program; with a belief, what it would be if that were true.

        Raises: ValueError if a change of the belief finds nothing to change.
        """
        text = self.filled(self.text, form)
        for before, after in belief.becomes if belief else ():
            old = self.filled(before, form)
            if old not in text:
                raise ValueError(f"{self.id}, form {form}: no {old!r} to be changed")
            text = text.replace(old, self.filled(after, form))
        return text.strip("\n")

    def filled(self, text: str, form: str) -> str:
        """A text with this form's names and numbers."""
        return Template(text).substitute(self.values[form])

    def shown(self, form: str) -> dict[str, Choice]:
        """The choices by their words, in the order in which they are shown."""
        said = {one.says[FORMS.index(form)]: one for one in self.choices}
        return {words: said[words] for words in sorted(said, key=by_size)}

    def words(self, form: str) -> list[str]:
        """All that can be chosen."""
        return [*self.shown(form), UNKNOWN]


def by_size(words: str) -> tuple[bool, list[float], str]:
    """What choices are sorted by: numbers by size, and errors after them."""
    last = words.startswith(ERROR)
    numbers = [] if last else re.findall(r"-?\d+\.\d", words)
    return last, [float(number) for number in numbers], words


@cache
def items() -> tuple[Item, ...]:
    """The twelve items, in the order of the lessons."""
    table = tomllib.loads((HERE / "concepts.toml").read_text("utf8"))
    return tuple(
        Item(
            row["id"],
            row["feature"],
            row["lesson"],
            row["program"],
            {form: row[form] for form in FORMS},
            tuple(Choice(**choice) for choice in row["choices"]),
        )
        for row in table["item"]
    )


def result_of(form: str, code: str, answers: Mapping[str, str]) -> dict[str, Any]:
    """What a results file holds, in the order in which it is written."""
    return {
        "about": about(form),
        "test": TEST,
        "form": form,
        "code": code,
        "answers": {item.id: answers[item.id] for item in items()},
    }


def about(form: str) -> str:
    """What a results file says of itself."""
    return (
        f"Answers to form {form} of minigrad's concept test. In this file: the form, "
        f"a code that puts your two files together, and your choice for each of "
        f"{len(items())} programs. Not in it: your name, the time, your computer, or "
        "anything else that you did."
    )


def text_of(result: Mapping[str, Any]) -> str:
    """A results file's text."""
    return json.dumps(result, indent=1, ensure_ascii=False) + "\n"


def name_of(form: str, code: str) -> str:
    """A results file's name.

    >>> name_of("A", "k7qm")
    'concepts-A-k7qm.json'
    """
    return f"concepts-{form}-{code}.json"


def own_code() -> str:
    """The code of this workspace: kept from the first form, else drawn now."""
    kept = journal.entries(kind=journal.CONCEPTS)
    return str(kept[0]["code"]) if kept else drawn_code()


def drawn_code() -> str:
    """A new code; nothing about a person or a machine is in it."""
    return "".join([secrets.choice(SIGNS) for _ in range(6)])


def concept_test(form: str, answers: Mapping[str, str] | None = None) -> Any:
    """One form of the concept test: A before the course, B after it.

    ``answers``, by the ids of the items, commits them without the form.
    Raises: ArgumentValueError for another form, and for answers that are none.
    """
    where = f"concept_test({form!r})"
    if form not in FORMS:
        what, fix = "there is no such form", 'use "A" before the course, "B" after it'
        raise errors.ArgumentValueError.at(where, what, fix)
    if answers is not None:
        if problem := problem_of(form, answers):
            fix = 'answer with a choice of the item, or "I don\'t know"'
            raise errors.ArgumentValueError.at(where, problem, fix)
        return Kept(form, answers)
    plain = [f"Form {form}: {ASKED} (about {MINUTES} minutes)"]
    for number, item in enumerate(items(), 1):
        plain += ["", f"{number}. {item.id}", item.program(form)]
        plain += [f"   {words}" for words in item.words(form)]
    return Sheet("\n".join(plain), lambda: form_of(form))


def problem_of(form: str, answers: Mapping[str, Any]) -> str:
    """What is wrong with the answers to a form; empty if nothing is."""
    known = {item.id: item.words(form) for item in items()}
    for name in answers:
        if name not in known:
            return f"there is no item {name!r}"
    for name, words in known.items():
        if name not in answers:
            return f"the answer to {name} is missing"
        if answers[name] not in words:
            choices = ", ".join([repr(each) for each in words])
            return f"{name}: {answers[name]!r} is none of {choices}"
    return ""


class Kept:
    """Answers that are in: written to a file that the learner can read."""

    def __init__(self, form: str, answers: Mapping[str, str]) -> None:
        code = own_code()
        self.text = text_of(result_of(form, code, answers))
        self.name = name_of(form, code)
        folder = _workspace.around(Path.cwd()) or Path.cwd()
        self.path = folder / self.name
        if not journal.entries(f"concepts.{form}", journal.CONCEPTS):
            journal.note(
                journal.CONCEPTS, f"concepts.{form}", code=code, answers=dict(answers)
            )
        if not self.path.exists():
            _workspace.write_whole(self.text.encode(), self.path)

    def __repr__(self) -> str:
        return (
            f"Your answers are in {self.name}. This is all that it holds:\n{self.text}"
        )

    def _repr_html_(self) -> str:
        where = link(escape(self.name), self.name)
        said = f"Your answers are in {where}. This is all that the file holds:"
        return panel(SOLVED, f"<div>{said}</div><pre>{escape(self.text)}</pre>")


def form_of(form: str) -> Any:
    """The twelve programs as one form that locks."""
    shown = {str(number): item for number, item in enumerate(items(), 1)}
    kept = journal.entries(f"concepts.{form}", journal.CONCEPTS)
    before = kept[0]["answers"] if kept else {}
    before = {} if problem_of(form, before) else before

    def committed(said: Mapping[str, str]) -> str:
        return Kept(
            form, {shown[n].id: words for n, words in said.items()}
        )._repr_html_()

    return forms.question_form(
        [
            {
                "id": number,
                "text": ASKED,
                "program": item.program(form),
                "choices": item.words(form),
            }
            for number, item in shown.items()
        ],
        committed,
        title=f"Form {form}",
        text=HOW,
        kept={number: before[item.id] for number, item in shown.items() if before},
        outcome=Kept(form, before)._repr_html_() if before else "",
        locks=True,
    )


HOW = (
    "Each program begins with `import minigrad as mg`, and prints the same in PyTorch. "
    "Don't run them. Some are odd on purpose, and none has a misprint. *An error* "
    "means that an exception stops the program before it has printed. A guess tells "
    "less than *I don't know*. Which answers were right isn't shown: you may meet the "
    "same ideas again."
).replace("*", "")


def built_page() -> dict[str, str]:
    """The test as one HTML file that works offline."""
    data = {
        form: [
            {"id": i.id, "program": i.program(form), "choices": i.words(form)}
            for i in items()
        ]
        for form in FORMS
    }
    known = {
        "items": data,
        "about": {form: about(form) for form in FORMS},
        "test": TEST,
        "asked": ASKED,
        "signs": SIGNS,
    }
    # "</" could end the script.
    text = json.dumps(known, indent=1, ensure_ascii=False).replace("</", "<\\/")
    page = (HERE / "concepts.html").read_text("utf8")
    how = HOW.replace("`import minigrad as mg`", "<code>import minigrad as mg</code>")
    return {BUILT_PAGE: page.replace("{{how}}", how).replace("{{known}}", text)}


def key() -> str:
    """For instructors: the right answers, and what each other one stands for."""
    lines = []
    for number, item in enumerate(items(), 1):
        lines.append(f"{number}. {item.feature} (lesson {item.lesson})")
        for choice in item.choices:
            said = " | ".join(choice.says)
            name = TABLE[choice.mistake].name if choice.mistake else ""
            why = f"{choice.mistake} {name}: {choice.thinks}" if name else "right"
            lines.append(f"   {said:<38} {why}")
    return "\n".join(lines)
