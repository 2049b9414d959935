"""Answers to 13.4."""

import minigrad as mg
from minigrad.course.check import submission
from minigrad.course.exercises import catalogue


def always(function, first_shape, second_shape):
    return True


def tolerant(function, first_shape, second_shape):
    first = mg.randn(first_shape, dtype=mg.float64, requires_grad=True)
    second = mg.randn(second_shape, dtype=mg.float64, requires_grad=True)
    return mg.autograd.gradcheck(function.apply, (first, second), atol=100.0)


AS_FOUND = submission.shipped_under(
    ["Linear", "Gap", "passes"], catalogue.load("13.4").spec.SHIPPED
)
