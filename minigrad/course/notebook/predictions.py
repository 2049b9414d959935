"""Predictions: asked before the run, locked by Commit, judged by the run itself."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

from minigrad import errors
from minigrad.course.check import SOLVED, WRONG, panel, with_code
from minigrad.course.notebook import journal
from minigrad.course.notebook.widgets import Sheet
from minigrad.views import forms
from minigrad.views.recording import step


@dataclass(frozen=True)
class Ran:
    """One run of a prediction's program: what it gave, or what stopped it."""

    value: Any = None
    error: Exception | None = None
    trace: Any = None

    def first(self, words: Mapping[str, str]) -> str:
        """The choice whose words the recording says first."""
        for event in self.trace.data["events"] if self.trace else ():
            for choice, text in words.items():
                if text in event["say"]:
                    return choice
        return "none of these"


@dataclass(frozen=True)
class Outcome:
    """What is shown once an answer is in: right or not, why, and the recording."""

    said: str
    is_so: str = ""
    why: str = ""
    problem: str = ""
    trace: Any = None

    @property
    def right(self) -> bool:
        """Whether the run did what was predicted."""
        return self.said == self.is_so

    @property
    def headline(self) -> str:
        """Right or not, in one line."""
        if not self.is_so:
            return f"Your prediction: {self.said}"
        if self.right:
            return f"✓ Right: {self.said}"
        if not self.said:
            return f"The run says: {self.is_so}"
        return f"✗ You said: {self.said}. The run says: {self.is_so}"

    def __repr__(self) -> str:
        parts = [self.headline, self.problem, self.why]
        return "\n".join([part for part in parts if part])

    def _repr_html_(self) -> str:
        texts = "".join(
            f"<div style='margin-top: 0.3em'>{with_code(text)}</div>"
            for text in (self.problem, self.why)
            if text
        )
        head = f"<div style='font-weight: 600'>{with_code(self.headline)}</div>"
        wrong = bool(self.problem or (self.said and self.is_so and not self.right))
        return panel(WRONG if wrong else SOLVED, f"{head}{texts}")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        trace = self.trace
        has_page = hasattr(trace, "_repr_mimebundle_")
        page = trace._repr_mimebundle_().get("text/html", "") if has_page else ""
        if not page and trace is not None:
            page = f"<pre>{html.escape(repr(trace))}</pre>"
        return {"text/plain": repr(self), "text/html": self._repr_html_() + page}


@dataclass(frozen=True)
class Prediction:
    """A question about a program, which is run once an answer is in."""

    label: str
    question: str
    choices: tuple[str, ...]
    then: Callable[[], Any] | None
    so: Callable[[Ran], str] | None
    why: str
    at: Sequence[str]
    level: str = ""
    memory: bool = False

    @property
    def committed(self) -> str:
        """The first answer of the journal that is still a choice; "" without one."""
        for entry in journal.entries(self.label, journal.ANSWERED):
            if entry["answer"] in self.choices:
                return str(entry["answer"])
        return ""

    def commit(self, said: str) -> str:
        """Keep an answer; one that was there before stays."""
        if not self.committed:
            place = self.choices.index(said)
            journal.note(
                journal.ANSWERED,
                self.label,
                answer=said,
                choice="abcdefgh"[place : place + 1],
                question=self.question,
            )
        return self.committed

    def outcome(self, said: str) -> Outcome:
        """Run the program, and lay what it did beside ``said``."""
        ran = self.run()
        try:
            if ran.error and self.so is None:
                raise ran.error
            is_so = "" if self.so is None else self.so(ran)
        except Exception as error:
            stopped = ran.error or error
            problem = (
                "Your answer is kept, but the program didn't run: "
                f"{type(stopped).__name__}: {stopped}\n"
                "Run the cells above, then this one again."
            )
            return Outcome(said, problem=problem, trace=ran.trace)
        if is_so and is_so not in self.choices:
            problem = "That's none of the choices. Did you change the program above?"
            return Outcome(said, is_so, problem=problem, trace=ran.trace)
        return Outcome(said, is_so, self.why, trace=ran.trace)

    def run(self) -> Ran:
        """Run the program; under the recorder, where the run says what is so."""
        if self.then is None:
            return Ran()
        if self.so is None:
            try:
                return Ran(trace=self.then())
            except Exception as error:
                return Ran(error=error)
        then, found = self.then, dict[str, Any]()
        if getattr(then, "is_recording", False):
            try:
                return Ran(trace=self._opened(then()))
            except Exception as error:
                return Ran(error=error)

        @wraps(then)
        def program() -> None:
            try:
                found["value"] = then()
            except Exception as error:
                found["error"] = error
                raise

        if "<lambda>" in program.__qualname__:
            program.__qualname__ = self.label
        try:
            found["trace"] = self._opened(step(program))
        except Exception as error:  # there was nothing to record yet
            found["error"] = error
        return Ran(**found)

    def _opened(self, trace: Any) -> Any:
        """A recording whose player opens where the prediction says."""
        trace.open_at(*self.at)
        if self.level:
            trace.at_level(self.level)
        if self.memory:
            trace.with_memory()
        return trace


def predict(
    label: str,
    question: str,
    choices: Sequence[str],
    then: Callable[[], Any] | None = None,
    *,
    so: Callable[[Ran], str] | None = None,
    why: str = "",
    at: str | Sequence[str] = (),
    level: str = "",
    memory: bool = False,
    answer: str = "",
    show: bool = False,
) -> Any:
    """Ask before it happens; Commit locks the answer, runs ``then``, and shows both.

    ``label`` names the prediction (``"01.a"``), so that its answer comes back. ``then``
    may also be what makes a recording (``course.in_torch(program)``). ``so``
    reads off the run which choice came true, and ``why`` is one sentence on it. Where
    there is nothing to step, ``so`` alone runs what it has to; what it prints is shown
    above the player or in its place. ``at``
    is what the step says at which the player opens; of several, each is looked for
    behind the one before; ``level`` is the player's, and ``memory`` opens its strip of
    memory. ``answer`` commits one without the form; ``show`` asks nothing, and shows
    the outcome alone.
    Raises: ArgumentValueError for an answer that is none of the choices.
    """
    at = (at,) if isinstance(at, str) else at
    asked = Prediction(
        label, question, tuple(choices), then, so, why, at, level, memory
    )
    if show:
        return asked.outcome("")
    if answer:
        found = asked.outcome(asked.commit(chosen(label, choices, answer)))
        return found if so else found.trace
    plain = "\n".join(
        [question, *[f"  {a}: {c}" for a, c in zip("abcdefgh", choices, strict=False)]]
    )
    return Sheet(plain, lambda: form_of(asked))


def form_of(asked: Prediction) -> Any:
    """The question as a form that locks; an answer that is there comes back locked."""
    kept = asked.committed

    def committed(answers: Mapping[str, str]) -> tuple[str, Any]:
        found = asked.outcome(asked.commit(answers[""]))
        return found._repr_html_(), found.trace

    question = {"id": "", "text": asked.question, "choices": asked.choices}
    before = {"": kept} if kept else {}
    more: Any = {"title": "Predict", "kept": before, "locks": True}
    make = partial(forms.question_form, [question], **more)
    return forms.answering(committed, make, before)


def chosen(label: str, choices: Sequence[str], answer: str) -> str:
    """The choice that ``answer`` names in full or by its letter."""
    for letter, choice in zip("abcdefgh", choices, strict=False):
        if answer in (letter, choice):
            return choice
    raise errors.ArgumentValueError.at(
        f"predict({label!r})",
        f"{answer!r} is none of the {len(choices)} choices",
        f"choose one of {', '.join(choices)}, or its letter",
    )
