"""Random programs, recorded with their values: each node runs again as it did."""

from typing import Any

import numpy as np
import pytest

from minigrad.ops.arithmetic import Mul
from tests.parity.differential.replayed import replayed

SHARE = 2
"""Groups of 25 programs that CI runs; ``python -m`` the module runs 1,000."""


@pytest.mark.parametrize("group", range(SHARE))
def test_random_programs_replay_bit_for_bit(group: int) -> None:
    done = 0
    for seed in range(25 * group, 25 * (group + 1)):
        counts, _, difference = replayed(seed)
        assert difference == ""
        done += counts["backward"]
    assert done > 50


def test_rule_that_does_not_do_the_same_twice_is_found_in_random_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule, calls = Mul.backward, iter(range(10**6))

    def moody(ctx: Any, grad: Any) -> Any:
        first, second = rule(ctx, grad)
        return None if first is None else first * (1 + 1e-15 * next(calls)), second

    monkeypatch.setattr(Mul, "backward", staticmethod(moody))
    with np.errstate(all="ignore"):
        found = (replayed(seed)[2] for seed in range(50))
        # A CopySlices that wraps the rule may be found first.
        text = next(text for text in found if "MulBackward0" in text)
    assert "the gradient for argument 0" in text
