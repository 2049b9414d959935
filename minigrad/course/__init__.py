"""The course: exercises and their checks, progress, recall, and the doctor."""

from minigrad.course.check import (
    CheckFailed,
    Diagnosis,
    Verdict,
    diagnose,
    peak_bytes,
    watch,
)
from minigrad.course.doctor import doctor
from minigrad.course.notebook import (
    Hint,
    answers,
    because,
    check,
    examine,
    exercise,
    gym,
    hint,
    home,
    predict,
    progress,
    recall,
    reset,
    review,
    rules,
    step_through,
    terms,
)
from minigrad.course.notebook import ask as cards

__all__ = [
    "CheckFailed",
    "Diagnosis",
    "Hint",
    "Verdict",
    "answers",
    "because",
    "cards",
    "check",
    "diagnose",
    "doctor",
    "examine",
    "exercise",
    "gym",
    "hint",
    "home",
    "peak_bytes",
    "predict",
    "progress",
    "recall",
    "reset",
    "review",
    "rules",
    "step_through",
    "terms",
    "watch",
]
