"""06.3: ``Add`` of any two shapes, with no array on ctx."""

from __future__ import annotations

from minigrad.course.check import Contract
from minigrad.course.exercises.gym import broadcast_add

CONTRACT = Contract(name="Add", arguments=("a", "b"), keeps=())

reference = broadcast_add.reference
gradients = broadcast_add.gradients
cases = broadcast_add.cases
wrong_gradients = broadcast_add.wrong_gradients
