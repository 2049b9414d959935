"""Check an answer: run it, write down facts, find the mistakes, say them in words."""

from minigrad.course.check import (
    calls,
    crossing,
    examination,
    facts,
    forbidden_api,
    formulas,
    last_report_card,
    observation,
    probes,
    questions,
    side_effects,
    submission,
    ten_questions,
    traits,
    trials,
    verdict,
)
from minigrad.course.check.calls import Call
from minigrad.course.check.casefile import (
    CaseFile,
    error_of,
    first_line,
    pass_on_todo,
    says_todo,
    thrown,
    tolerance,
)
from minigrad.course.check.crossing import Crossing
from minigrad.course.check.declared import declare
from minigrad.course.check.diagnosis import Diagnosis, diagnose
from minigrad.course.check.engines import MINIGRAD
from minigrad.course.check.examination import NO_ANSWER, SECONDS
from minigrad.course.check.exercise import Exercise, Line, Part, Question
from minigrad.course.check.facts import (
    Array,
    Arrays,
    Case,
    Contract,
    Crash,
    Facts,
    Output,
    Pass,
    Returned,
    Second,
    Tangent,
    Trial,
)
from minigrad.course.check.findings import Faults, Finding, lost_digits
from minigrad.course.check.forward_checks import question_about, story_about
from minigrad.course.check.lifetimes import peak_bytes, watch
from minigrad.course.check.limits import (
    Deadline,
    OutOfTimeError,
    as_imported,
    own_random_numbers,
    silence,
)
from minigrad.course.check.own_functions import only_my_functions
from minigrad.course.check.questions import Outcome, answers_of
from minigrad.course.check.references import References
from minigrad.course.check.side_effects import Lent, left_behind
from minigrad.course.check.spy import Watch, crash_of
from minigrad.course.check.ten_questions import SelfReview, self_review
from minigrad.course.check.trials import Planned
from minigrad.course.check.verdict import (
    CRASHED,
    NOT_TRIED,
    SIGNS,
    SOLVED,
    WRONG,
    CheckFailed,
    Verdict,
    panel,
    with_code,
)
from minigrad.course.check.wording import told_apart

__all__ = [
    "CRASHED",
    "MINIGRAD",
    "NOT_TRIED",
    "NO_ANSWER",
    "SECONDS",
    "SIGNS",
    "SOLVED",
    "WRONG",
    "Array",
    "Arrays",
    "Call",
    "Case",
    "CaseFile",
    "CheckFailed",
    "Contract",
    "Crash",
    "Crossing",
    "Deadline",
    "Diagnosis",
    "Exercise",
    "Facts",
    "Faults",
    "Finding",
    "Lent",
    "Line",
    "OutOfTimeError",
    "Outcome",
    "Output",
    "Part",
    "Pass",
    "Planned",
    "Question",
    "References",
    "Returned",
    "Second",
    "SelfReview",
    "Tangent",
    "Trial",
    "Verdict",
    "Watch",
    "answers_of",
    "as_imported",
    "calls",
    "crash_of",
    "crossing",
    "declare",
    "diagnose",
    "error_of",
    "examination",
    "facts",
    "first_line",
    "forbidden_api",
    "formulas",
    "last_report_card",
    "left_behind",
    "lost_digits",
    "observation",
    "only_my_functions",
    "own_random_numbers",
    "panel",
    "pass_on_todo",
    "peak_bytes",
    "probes",
    "question_about",
    "questions",
    "says_todo",
    "self_review",
    "side_effects",
    "silence",
    "story_about",
    "submission",
    "ten_questions",
    "thrown",
    "told_apart",
    "tolerance",
    "traits",
    "trials",
    "verdict",
    "watch",
    "with_code",
]
