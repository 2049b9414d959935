"""07.4: rows in ascending order, and where each number came from."""

from __future__ import annotations

from dataclasses import replace

from minigrad.course.exercises.gym import sort_with_indices

CONTRACT = replace(sort_with_indices.CONTRACT, name="Sort")

reference = sort_with_indices.reference
gradients = sort_with_indices.gradients
cases = sort_with_indices.cases
wrong_gradients = sort_with_indices.wrong_gradients
