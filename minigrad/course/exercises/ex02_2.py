"""02.2: ``Exp``, which keeps its result and nothing else."""

from __future__ import annotations

from minigrad.course.exercises.gym import exp

reference = exp.reference
gradients = exp.gradients
cases = exp.cases
wrong_gradients = exp.wrong_gradients
wrong_results = exp.wrong_results
