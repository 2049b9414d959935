"""04.4: ``Scale``, a tensor times a plain number."""

from __future__ import annotations

from dataclasses import replace

from minigrad.course.exercises.gym import mul_constant

CONTRACT = replace(
    mul_constant.CONTRACT,
    name="Scale",
    arguments=("x", "k"),
    second_derivative="any",
)

reference = mul_constant.reference
gradients = mul_constant.gradients
cases = mul_constant.cases
wrong_gradients = mul_constant.wrong_gradients
wrong_results = mul_constant.wrong_results
factors = mul_constant.factors
