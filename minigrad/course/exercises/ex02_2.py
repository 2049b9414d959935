"""02.2: ``Exp``, which keeps its result and nothing else."""

from __future__ import annotations

from minigrad.course.check import Contract
from minigrad.course.exercises.gym import exp

CONTRACT = Contract(name="Exp", arguments=("x",), keeps=("result",))

reference = exp.reference
gradients = exp.gradients
cases = exp.cases
wrong_gradients = exp.wrong_gradients
wrong_results = exp.wrong_results
