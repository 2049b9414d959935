"""Exercises of the course: check an answer, ask for a hint."""

from minigrad.course.checking import Hint, check, examine, hint
from minigrad.course.verdict import CheckFailed, Verdict

__all__ = ["CheckFailed", "Hint", "Verdict", "check", "examine", "hint"]
