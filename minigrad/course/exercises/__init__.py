"""Exercises as data: a text file each, and a module for what only a program says."""

from minigrad.course.exercises import catalogue
from minigrad.course.exercises.catalogue import flat

__all__ = [
    "catalogue",
    "flat",
]
