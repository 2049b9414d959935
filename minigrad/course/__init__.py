"""The course: exercises and their checks, progress, recall, and the doctor."""

from minigrad.course.asked import answers
from minigrad.course.checking import Hint, check, examine, hint
from minigrad.course.diagnosis import Diagnosis, diagnose
from minigrad.course.health import doctor
from minigrad.course.lifetimes import peak_bytes, watch
from minigrad.course.predictions import predict
from minigrad.course.remember import ask as cards
from minigrad.course.remember import recall, review
from minigrad.course.replay import step_through
from minigrad.course.restart import reset
from minigrad.course.rulebook import rules
from minigrad.course.sheet import because, exercise
from minigrad.course.standing import gym, progress
from minigrad.course.verdict import CheckFailed, Verdict
from minigrad.course.vocabulary import terms

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
