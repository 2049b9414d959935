"""What built-in operations save, and under which names: the same as torch's."""

from typing import Any

import pytest
import torch

import minigrad
from minigrad.ops import OPS
from tests.ops.laws import arguments, variables
from tests.parity.test_ops import call

WITH_RECORDED_STEPS = {"argsort", "einsum", "isclose", "isfinite"} | {
    "linear",
    "scaled_dot_product_attention",
}
"""torch computes these by other operations, which save what they need."""

WITH_VECTORS = {"dot", "matmul", "mv"}
"""One node stands for all products; torch's have orders of their own."""

NO_SUCH_NAME = {
    "matmul": {"_raw_saved_vec"},
    "mv": {"_raw_saved_vec"},
    "dot": {"_raw_saved_tensor"},
    "index_put": {"_raw_saved_indices"},
}
"""Names in torch of what minigrad saves as another, or one by one."""


def packed(
    module: Any, name: str, sample: tuple[Any, ...], wanted: set[int]
) -> tuple[list[str], Any]:
    """What the call saves in its order (inputs by number), and the node.

    The inputs in ``wanted`` require grad.
    """
    inputs = [module.tensor(a, dtype=module.float64) for a in variables(sample)]
    for number in wanted:
        inputs[number].requires_grad_()
    log = []

    def pack(tensor: Any) -> Any:
        numbers = [f"input {i}" for i, x in enumerate(inputs) if x is tensor]
        kind = "output" if tensor.requires_grad else "constant"
        log.append(numbers[0] if numbers else f"{kind} {tuple(tensor.shape)}")
        return tensor

    with module.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = call(module, name, arguments(sample, inputs, lambda array: array))
    first = output[0] if isinstance(output, tuple) else output
    return log, first.grad_fn


def choices(number: int) -> list[set[int]]:
    """All inputs together, and each by itself."""
    return [set(range(number)), *[{one} for one in range(number) if number > 1]]


@pytest.mark.rule("S15")
@pytest.mark.parametrize("name", sorted(set(OPS) - WITH_RECORDED_STEPS))
def test_operation_saves_what_torch_saves(name: str) -> None:
    for sample in OPS[name].samples[:2]:
        for wanted in choices(len(variables(sample))):
            ours, _ = packed(minigrad, name, sample, wanted)
            theirs, _ = packed(torch, name, sample, wanted)
            if name in WITH_VECTORS:
                ours, theirs = sorted(ours), sorted(theirs)
            assert ours == theirs, (sample, wanted)


@pytest.mark.rule("R07")
@pytest.mark.parametrize("name", sorted(set(OPS) - WITH_RECORDED_STEPS))
def test_saved_values_have_the_names_they_have_in_torch(name: str) -> None:
    for sample in OPS[name].samples[:2]:
        everything = set(range(len(variables(sample))))
        _, ours = packed(minigrad, name, sample, everything)
        _, theirs = packed(torch, name, sample, everything)
        names = {one for one in dir(theirs) if one.startswith("_raw_saved_")}
        assert names - NO_SUCH_NAME.get(name, set()) <= set(dir(ours)), sample


def test_the_comparison_sees_a_difference() -> None:
    sample = ([1.0, 2.0],)
    assert packed(minigrad, "exp", sample, {0})[0] == ["output (2,)"]
    assert packed(torch, "log", sample, {0})[0] == ["input 0"]
