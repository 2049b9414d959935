"""03.5: ReLU with a mask of one byte a number."""

from __future__ import annotations

from minigrad.course.check import Contract
from minigrad.course.exercises.gym import relu

CONTRACT = Contract(name="Relu", arguments=("x",), bytes_a_number=1)

reference = relu.reference
gradients = relu.gradients
cases = relu.cases
wrong_gradients = relu.wrong_gradients
wrong_results = relu.wrong_results
