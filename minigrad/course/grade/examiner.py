"""Grade one exercise of one submission: ask the worker, judge out here."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from minigrad.course.check import (
    CRASHED,
    NOT_TRIED,
    SOLVED,
    WRONG,
    Case,
    CaseFile,
    Contract,
    Exercise,
    Facts,
    References,
    Verdict,
    examination,
    forbidden_api,
    questions,
)
from minigrad.course.exercises import catalogue
from minigrad.course.grade import expected, quotas, rules, suspicious_names
from minigrad.course.grade import messages as say
from minigrad.course.grade.frames import FrameError, GoneError, TooLateError
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.remote_function import stand_in
from minigrad.course.grade.sandbox import Box, BoxError, TooMuchError, Worker

PARTIAL = 0.5
"""The share of the points for right numbers, where something else is not right."""

_BY_STAND_IN = """
00.2 01.3 01.5 02.4 02.5 03.3 03.4 04.2 04.3 05.3 05.4 05.5 06.2 06.4 06.5 07.3
07.5 07.6 08.4 08.6 10.5 10.6 11.2 11.3 11.5 12.2 12.3 12.5 12.6 13.2 13.3 13.4
13.5 13.6 14.2 14.3 14.4 14.5 15.2 15.3 15.4 15.6 16.2 16.3 16.4 16.5 16.6 17.2 17.4
17.5
"""
STAND_INS = frozenset(_BY_STAND_IN.split())
"""Exercises whose own module has been seen to judge by a stand-in as it does itself.

Others look at live objects of the answer, of which nothing plain can be said.
"""

_ASKS_THE_ENGINE = """
05.5 08.4 10.5 10.6 12.3 12.5 13.5 15.2 15.3 15.4 15.6 16.3 16.4 17.5
"""
WITH_RULES = frozenset(_ASKS_THE_ENGINE.split())
"""Exercises whose answer, or whose look at it, has to differentiate."""

OWN_APPLY = "an apply of its own"
ASKED = "a derivative asked of the engine"
CHANGED = "a gradient changed after backward"

BY_HAND_STATE = "by hand"

NOT_GRADED = "could not be graded"
"""The state of what the judge failed at, or never came to; a person has to look."""

_judging = threading.Lock()
"""To judge changes what belongs to the whole process: where output goes, its clock."""

_GRACE = 2.0
"""More seconds for a worker to say itself that its time was up."""

_PRIVATE_ROWS = ("numbers", "see it")


@dataclass(frozen=True)
class Work:
    """One exercise of one submission; ``said`` is what was answered in a form."""

    student: str
    exercise: str
    sha256: str
    file: str
    cells: tuple[str, ...] = field(repr=False)
    trouble: str = ""
    said: Any = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What a result is known by."""
        return self.student, self.exercise, self.sha256


@dataclass(frozen=True)
class Result:
    """What is kept of one exercise of one submission.

    ``rows`` is the message, a label and a text each. Two are for the instructor:
    ``trouble`` says that the file could not be read, or that the judge could not cope
    with what was reported; ``flags`` are names in it that no answer needs. ``seconds``
    is how long it took, without the time in which others were judged. ``judged_by`` is
    the stamp of the judge and the exercise (stamps.py).
    """

    student: str
    exercise: str
    sha256: str
    file: str
    heading: str
    state: str
    points: float
    of: int
    mistakes: tuple[str, ...] = ()
    note: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    trouble: str = ""
    seconds: float = 0.0
    flags: tuple[str, ...] = ()
    judged_by: str = ""


class _Stopped(Exception):
    """The verdict is made already: the worker did not go on to the end."""

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.note = note


def grade(work: Work, box: Box, secret: bytes, limits: Limits | None = None) -> Result:
    """Grade it. Raises: BoxError if this machine has no box for it."""
    if work.trouble:
        return not_graded(work, work.trouble)
    began = time.monotonic()
    exercise = catalogue.load(work.exercise)
    waiting = _Waiting()
    with contextlib.ExitStack() as workers:
        limits = limits or box.limits
        grading = _Grading(work, exercise, box, limits, secret, waiting, workers)
        try:
            verdict, points, trouble = grading.run()
            grading.see_that_they_kept_their_share()
        except _Stopped as stopped:
            verdict = examination.verdict_of(exercise, CRASHED, note=stopped.note)
            points, trouble = 0.0, ""
        except FrameError as error:
            note = f"Your code broke off: {_said_of(error)}."
            verdict = examination.verdict_of(exercise, CRASHED, note=note)
            points, trouble = 0.0, ""
    seconds = time.monotonic() - began - waiting.seconds
    rows = [row for row in verdict.rows() if row[0] not in _PRIVATE_ROWS]
    return Result(
        *work.key,
        file=work.file,
        heading=exercise.heading,
        state=verdict.state,
        points=points,
        of=exercise.points,
        mistakes=verdict.mistakes or tuple(filter(None, [verdict.told])),
        note=verdict.note,
        rows=tuple([(label, text[: quotas.MESSAGE]) for label, text in rows]),
        trouble=trouble,
        seconds=round(seconds, 3),
        flags=(*suspicious_names.flags(work.cells), *grading.flags(verdict)),
    )


def not_graded(work: Work, why: str, seconds: float = 0.0) -> Result:
    """The result of what the judge failed at, or never came to."""
    exercise = catalogue.load(work.exercise)
    return Result(
        *work.key,
        file=work.file,
        heading=exercise.heading,
        state=NOT_GRADED,
        points=0.0,
        of=exercise.points,
        note=why,
        trouble=why,
        seconds=round(seconds, 3),
    )


def _said_of(error: FrameError) -> str:
    if isinstance(error, TooLateError):
        return "it was still running when its time was up"
    if isinstance(error, TooMuchError):
        return f"it took {error}"
    if isinstance(error, GoneError):
        return "its process ended before it had answered"
    return f"what it answered was no answer ({error!s:.200})"


def is_by_hand(exercise: Exercise) -> bool:
    """Whether a person has to look, because only live objects would show it."""
    looks = ("look_at", "look_also", "look_at_rest")
    own = any(hasattr(exercise.spec, look) for look in looks)
    return own and exercise.id not in STAND_INS


class _Waiting:
    """How long one grading has waited for others to be judged."""

    seconds = 0.0

    @contextlib.contextmanager
    def judging(self) -> Iterator[None]:
        """The turn of this one."""
        began = time.monotonic()
        with _judging:
            self.seconds += time.monotonic() - began
            yield


class _Grading:
    """The workers and what they are asked, one message after the other.

    There are up to two, and each loads the submission for itself: one in which the
    engine has no rules, so that there is nothing to borrow for an answer, and one in
    which it has them, for what nobody else can say.
    """

    def __init__(
        self,
        work: Work,
        exercise: Exercise,
        box: Box,
        limits: Limits,
        secret: bytes,
        waiting: _Waiting,
        workers: contextlib.ExitStack,
    ) -> None:
        self.waiting = waiting
        self.work, self.exercise = work, exercise
        self.box, self.limits = box, limits
        self.stack, self.workers = workers, dict[bool, Worker]()
        self.seed = number_from(secret, "cases", *work.key[1:])
        # The worker draws from another one, from which nothing follows for the cases.
        self.open_seed = number_from(secret, "open", *work.key[1:]) % 2**32
        self.seconds = limits.seconds
        self.left = self.seconds
        self.no_box: BoxError | None = None
        self.facts: dict[int, tuple[Exercise, list[Case], Sequence[Facts]]] = {}
        self.broken_off = ""
        self.found: tuple[say.Found, ...] = ()
        self.asked = False

    def run(self) -> tuple[Verdict, float, str]:
        """The verdict, the points, and what the instructor should know."""
        loaded = self.load(self.needs_rules)
        self.found = loaded.found
        if not hasattr(self.exercise.spec, "SHIPPED"):
            loaded = replace(loaded, as_shipped=False)
        asks = bool(self.exercise.questions or self.exercise.lines)
        if asks and loaded.found[0].kind == "missing" and self.work.said is not None:
            said = say.Found("value", "form", self.work.said)
            loaded = replace(loaded, found=(said,))
        if loaded.as_shipped or loaded.found[0].kind == "missing":
            note = "It is as it was shipped." if loaded.as_shipped else ""
            note = note or "There is no answer yet."
            if loaded.errors and not loaded.as_shipped and not asks:
                note += " " + "; ".join(loaded.errors)[: quotas.TEXT]
            stopped = loaded.out_of_time and not loaded.as_shipped
            state = CRASHED if stopped else NOT_TRIED
            return examination.verdict_of(self.exercise, state, note=note), 0.0, ""
        if is_by_hand(self.exercise):
            note = "This one is looked at by hand."
            verdict = examination.verdict_of(self.exercise, WRONG, note=note)
            return replace(verdict, state=BY_HAND_STATE), 0.0, ""
        answers = [
            stand_in(found, place, self.ask, self.ask_rule, self.ask_alone)
            for place, found in enumerate(loaded.found)
        ]
        self.look_ahead(loaded.found)
        answer: Any = answers[0] if len(answers) == 1 else answers
        with self.waiting.judging():
            try:
                judged = self.judge(answer, answers)
            except (FrameError, _Stopped, BoxError):
                raise
            except Exception as error:
                # A report may be well formed and yet such as no answer would give.
                trouble = quotas.said_of(error)
                note = "What your code reported could not be judged."
                crashed = examination.verdict_of(self.exercise, CRASHED, note=note)
                return replace(crashed, state=NOT_GRADED), 0.0, trouble
        if self.no_box is not None:
            # To the exercise's own module it looked like an exception of the answer.
            raise self.no_box
        return judged

    @property
    def needs_rules(self) -> bool:
        """Whether what looks at the answer, or the answer, has to differentiate."""
        return self.exercise.id in WITH_RULES

    def load(self, with_rules: bool) -> say.Loaded:
        """Have the notebook run in a new worker, and find the answer in it."""
        exercise = self.exercise
        without = forbidden_api.of(exercise.id)
        made = self.box.worker(self.limits, with_rules=with_rules, without=without)
        worker = self.stack.enter_context(made)
        self.workers[with_rules] = worker
        asks = bool(exercise.questions or exercise.lines)
        names = () if asks else tuple(exercise.answer.split(", "))
        shipped = getattr(exercise.spec, "SHIPPED", "")
        message = say.Load(
            self.work.cells,
            exercise.id,
            names,
            shipped,
            self.open_seed,
            self.seconds,
        )
        loaded = worker.ask(message, say.Loaded, self.seconds + _GRACE)
        if len(loaded.found) != max(len(names), 1):
            raise FrameError("another number of answers than was asked for")
        return loaded

    def ask(self, message: object, kind: Any) -> Any:
        """What the worker says that is asked for anything but a rule."""
        return self.ask_one(self.needs_rules, message, kind)

    def ask_rule(self, message: object, kind: Any) -> Any:
        """What the worker says that has no rules but those of the answer."""
        return self.ask_one(False, message, kind)

    def ask_one(self, with_rules: bool, message: object, kind: Any) -> Any:
        """What one of the workers says, in what is left of the time for the exercise.

        If it has not come up yet it loads the submission first.
        """
        if with_rules not in self.workers:
            self.load(with_rules)
        began = time.monotonic()
        try:
            return self.workers[with_rules].ask(message, kind, self.left + _GRACE)
        except FrameError as error:
            self.broken_off = f"Your code broke off: {_said_of(error)}."
            raise
        except BoxError as error:
            self.no_box = error
            raise
        finally:
            self.left -= time.monotonic() - began

    def flags(self, verdict: Verdict) -> list[str]:
        """What a person should know of how the points were asked for."""
        said = " ".join([text for _, text in verdict.rows()])
        trials = [
            t for _, _, facts in self.facts.values() for f in facts for t in f.trials
        ]
        changed = any(map(expected.changed_on_the_way, trials))
        found = {
            OWN_APPLY: any(found.own_apply for found in self.found),
            ASKED: self.asked or rules.REFUSED in said,
            CHANGED: changed,
        }
        return [flag for flag, is_so in found.items() if is_so]

    def see_that_they_kept_their_share(self) -> None:
        """Raises: TooMuchError if one of the workers has not."""
        for worker in self.workers.values():
            worker.see_that_it_kept_its_share()

    def ask_alone(self, message: object, kind: Any) -> Any:
        """What a worker says that has no submission: it is alone in its process."""
        try:
            with self.box.worker(self.limits) as alone:
                return alone.ask(message, kind, self.seconds)
        except BoxError as error:
            self.no_box = error
            raise

    def look_ahead(self, found: Sequence[say.Found]) -> None:
        """Have the Functions looked at, before anybody waits for the judge."""
        exercise = self.exercise
        parts = exercise.parts
        if not parts and hasattr(exercise.spec, "CONTRACT"):
            parts = [exercise]
        for place, part in enumerate(parts):
            if found[place].kind != "Function":
                return
            cases = part.cases(np.random.default_rng(self.seed))
            seen = self.look_at(place, part.contract, cases, found[place].name)
            facts = expected.completed(seen.facts, part.contract, cases)
            self.facts[place] = part, cases, facts
            with self.waiting.judging():
                is_right = not part.contract.random and self.numbers_are_right(place)
            if is_right and not hasattr(exercise.spec, "look_at"):
                # Only where there are rules can it be said how its gradients change.
                name = found[place].name
                seen = self.look_at(place, part.contract, cases, name, second=True)
                facts = expected.derived(facts, seen.seconds, cases)
                self.facts[place] = part, cases, facts

    def look_at(
        self,
        place: int,
        contract: Contract,
        cases: list[Case],
        name: str,
        *,
        second: bool = False,
    ) -> say.Observed:
        """What is seen of a Function. Raises: _Stopped if that had no end."""
        left = max(self.left, 0.0)
        message = say.Observe(
            place, contract, tuple(cases), self.open_seed, left, second
        )
        seen: say.Observed = self.ask_one(second, message, say.Observed)
        self.asked = self.asked or seen.asked
        if seen.phase:
            where = seen.case[:100]
            raise _Stopped(
                f"For {where}, {name}.{seen.phase[:40]} was still running when the"
                f" {self.seconds:g} seconds for the exercise were over."
            )
        return seen

    def judge(self, answer: Any, answers: list[Any]) -> tuple[Verdict, float, str]:
        """The verdict on what was seen, and the points for it."""
        exercise = self.exercise
        if exercise.questions or exercise.lines:
            return self.judge_said(answer)

        def look(one: Any, *_: object) -> Sequence[Facts]:
            return self.facts[answers.index(one)][2]

        verdict = examination.examine(
            exercise, answer, seed=self.seed, seconds=3600.0, look=look
        )
        if self.broken_off:
            # To the exercise's own module it looks like an exception of the answer.
            note = self.broken_off
            verdict = examination.verdict_of(exercise, CRASHED, note=note)
        # A report that cannot be judged gets nothing, whatever the verdict.
        lacking = [each for each in map(self.lacking, self.facts) if each]
        if verdict.state == SOLVED:
            if not lacking:
                return verdict, float(exercise.points), ""
            note = f"The report of your code lacks {lacking[0]}."
            wrong = examination.verdict_of(exercise, WRONG, note=note)
            return wrong, 0.0, note
        if verdict.findings and all(f.values_right for f in verdict.findings):
            return verdict, exercise.points * PARTIAL, ""
        if verdict.state == NOT_TRIED or not self.facts:
            return verdict, 0.0, ""
        if hasattr(exercise.spec, "look_at"):
            return verdict, 0.0, ""  # its numbers may be right as it was shipped
        parts = len(exercise.parts) or 1
        right = sum(self.numbers_are_right(place) for place in self.facts)
        return verdict, exercise.points * PARTIAL * right / parts, ""

    def lacking(self, place: int) -> str:
        """What the report lacks that solved answers have; empty if nothing."""
        return expected.unproven(*self.report(place))

    def numbers_are_right(self, place: int) -> bool:
        """Whether values and gradients are right in the ordinary call of each case."""
        return expected.numbers_are_right(*self.report(place))

    def report(self, place: int) -> tuple[CaseFile, list[Case]]:
        """What was seen of the Function in this place, and the cases it was given."""
        part, cases, facts = self.facts[place]
        return CaseFile(facts, part, References(part)), cases

    def judge_said(self, answer: Any) -> tuple[Verdict, float, str]:
        """Answers to questions: a prediction counts, the rest counts if it is right."""
        exercise = self.exercise
        try:
            verdict = examination.examine(exercise, answer, seed=self.seed)
        except Exception as error:
            note = str(error)[:500]
            return examination.verdict_of(exercise, WRONG, note=note), 0.0, ""
        if verdict.state == SOLVED:
            return verdict, float(exercise.points), ""
        if not exercise.questions:
            return verdict, 0.0, ""
        found = questions.outcomes(exercise, questions.answers_of(exercise, answer))
        right = sum(outcome.right for outcome in found)
        return verdict, exercise.points * right / len(found), ""


def number_from(secret: bytes, *words: str) -> int:
    """A number that nobody can tell who does not know the secret."""
    text = "\n".join(words).encode()
    return int.from_bytes(hmac.digest(secret, text, hashlib.sha256)[:7], "big")
