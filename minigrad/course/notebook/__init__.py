"""What a learner uses in a notebook: forms, checks, hints, progress, recall, search."""

from minigrad.course.notebook import concepts, faq, journal, map_of_ctx, paths
from minigrad.course.notebook.checking import Hint, check, examine, hint
from minigrad.course.notebook.concepts import concept_test
from minigrad.course.notebook.faq import answers
from minigrad.course.notebook.glossary import terms
from minigrad.course.notebook.home import home, write_home
from minigrad.course.notebook.map_of_ctx import ctx_map
from minigrad.course.notebook.predictions import predict
from minigrad.course.notebook.progress import gym, progress
from minigrad.course.notebook.replay import step_through
from minigrad.course.notebook.report_card import costs, report_card
from minigrad.course.notebook.restore import reset
from minigrad.course.notebook.rulebook import rules, table_file
from minigrad.course.notebook.spaced_repetition import ask, recall, review
from minigrad.course.notebook.two_engines import in_torch, side_by_side
from minigrad.course.notebook.widgets import because, exercise

__all__ = [
    "Hint",
    "answers",
    "ask",
    "because",
    "check",
    "concept_test",
    "concepts",
    "costs",
    "ctx_map",
    "examine",
    "exercise",
    "faq",
    "gym",
    "hint",
    "home",
    "in_torch",
    "journal",
    "map_of_ctx",
    "paths",
    "predict",
    "progress",
    "recall",
    "report_card",
    "reset",
    "review",
    "rules",
    "side_by_side",
    "step_through",
    "table_file",
    "terms",
    "write_home",
]
