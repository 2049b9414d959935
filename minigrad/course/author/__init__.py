"""For authors: build the notebooks, begin an exercise and check it, make slides."""

from minigrad.course.author import build, slides

__all__ = [
    "build",
    "slides",
]
