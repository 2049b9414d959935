"""For authors: build the notebooks, begin an exercise and check it, make slides."""

from minigrad.course.author import build

__all__ = [
    "build",
]
