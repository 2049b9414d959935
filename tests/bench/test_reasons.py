"""The reasons that the rows of models give: from times, and from the profiler."""

import re

import minigrad
from minigrad.bench import models, reasons
from minigrad.bench.harness import Measured


def test_reason_is_the_phase_that_makes_the_difference() -> None:
    turns = object()

    def phase(ours: float, theirs: float) -> dict[str, Measured]:
        pair = {"minigrad": ours, "torch": theirs}
        return {side: Measured((time,), turns) for side, time in pair.items()}

    times = {
        "forward": phase(3.0, 2.0),
        "backward": phase(4.0, 4.5),
        "step": phase(1.0, 9.0),
    }
    assert reasons.because(times, ahead=True) == (
        "because of step (1.00 s, torch's 9.00 s) and backward (4.00 s, torch's 4.50 s)"
        ", in spite of forward (3.00 s, torch's 2.00 s)"
    )
    assert reasons.because(times, ahead=False).startswith("because of forward")
    assert models.Trained(times, {}).step("minigrad").rounds == (8.0,)


def test_profile_names_where_a_step_spends_its_time() -> None:
    _, convolutional, _ = models.models()
    start = models.parameters_of(convolutional.make(minigrad))
    step = models.step_of(minigrad, convolutional, start)
    layers, functions = reasons.most_of_a_step(step, steps=1).split("; ")
    assert {"engine", "kernels"} <= {one.split()[0] for one in layers.split(", ")}
    for most in (layers, functions):
        shares = [int(share) for share in re.findall(r"(\d+)%", most)]
        assert len(shares) == 4
        assert shares == sorted(shares, reverse=True)
        assert 10 < sum(shares) <= 100
