"""A recording that kept its values runs again, and finds what does not come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine import observe
from minigrad.engine.core.backward import GraphTask
from minigrad.ops.arithmetic import Mul
from minigrad.ops.elementwise import Exp
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.hearing import Hearing
from minigrad.tracing.kept import exact_copy
from minigrad.tracing.replay import ReplayError
from tests.engine.support import rewritten
from tests.parity.recorded import PROGRAMS, Program
from tests.tracing.programs import Scale


def kept(program: Any = None, **options: Any) -> Trace:
    """A recording with its values: of ``program``, or of one with a bit of all."""
    trace = Trace()
    with Recorder(trace, lines=False, keep_values=True, **options):
        if program is not None:
            program()
            return trace
        x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = Scale.apply(x, 0.5)
        ((y * y).exp() + y).sum().backward()
    return trace


def test_everything_runs_again_and_is_counted() -> None:
    found = kept().replay()
    assert found.counts == {
        "forward": 7,
        "arrival": 6,
        "backward": 5,
        "sum": 2,
        "accumulate": 1,
    }
    assert repr(found).startswith("<Replayed bit for bit: 7 forward calls, 6 arrivals")


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_program_replays(program: Program) -> None:
    trace = Trace()
    try:
        with Recorder(trace, keep_values=True):
            program(mg)
    except (KeyError, RuntimeError):
        pass
    assert trace.replay().counts["forward"] > 0


def test_views_changed_in_place_replay() -> None:
    def program() -> None:
        x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
        base = x * 2
        base[1:].mul_(base[:2] * 1.0)
        base.sum().backward()

    assert kept(program).replay().counts["backward"] == 5


def test_nothing_is_kept_unless_asked_for() -> None:
    trace = Trace()
    with Recorder(trace):
        mg.ones(2) * 2
    assert trace.kept is None
    with pytest.raises(ReplayError, match="did not keep its values in full"):
        trace.replay()


def test_file_has_no_full_values_and_says_so(tmp_path: Path) -> None:
    trace = kept()
    json.dumps(trace.data, allow_nan=False)
    loaded = Trace.load(trace.save(tmp_path / "trace.json"))
    with pytest.raises(ReplayError, match="replay before saving"):
        loaded.replay()


def test_values_that_need_too_much_memory_are_not_kept() -> None:
    def program() -> None:
        x = mg.ones(100, requires_grad=True)
        x.exp().sum().backward()

    assert kept(program, most_bytes=100_000).replay()
    trace = kept(program, most_bytes=1000)
    with pytest.raises(ReplayError, match="more memory than 1,000 bytes"):
        trace.replay()
    assert trace.kept is not None
    assert trace.kept.runs == []


def test_rule_that_has_changed_is_named_with_step_node_and_element(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = kept()
    rule = Mul.backward

    def changed(ctx: Any, grad: Any) -> Any:
        first, second = rule(ctx, grad)
        return first, second + np.array([0, 0, 1e-3], np.float32) * second

    monkeypatch.setattr(Mul, "backward", staticmethod(changed))
    with pytest.raises(ReplayError) as caught:
        trace.replay()
    events = trace.data["events"]
    said = str(caught.value)
    (mul,) = [n["id"] for n in trace.data["graph"]["nodes"] if n["label"][:3] == "Mul"]
    entered = [e for e in events if e["k"] == "node.enter" and e["n"] == mul]
    step = events.index(entered[0]) + 1
    start = f"replay: step {step}, MulBackward0 ({mul}), backward rule: "
    assert said.startswith(f"{start}the gradient for argument 1: element [2]: ")


def test_forward_that_was_wrong_while_recording_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Exp.forward

    def wrong(x: Any) -> Any:
        return np.nextafter(right(x), np.float32(0))

    with monkeypatch.context() as planted:
        planted.setattr(Exp, "forward", staticmethod(wrong))
        trace = kept()
    says = r"step \d+, ExpBackward0 \(n\d+\), forward call: element \[0\]: "
    with pytest.raises(ReplayError, match=says):
        trace.replay()


def test_sum_that_lost_a_term_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    add = "gradient if total is None else total + gradient"
    monkeypatch.setattr(GraphTask, "run", rewritten(GraphTask.run, add, "gradient"))
    trace = kept()
    with pytest.raises(ReplayError, match="sum where gradients meet: element"):
        trace.replay()


def test_gradient_that_was_changed_while_it_waited_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pick = "gradients = self.waiting.pop(node)"
    double = "gradients = [g if g is None else g * 2 for g in self.waiting.pop(node)]"
    monkeypatch.setattr(GraphTask, "run", rewritten(GraphTask.run, pick, double))
    trace = kept()
    with pytest.raises(ReplayError, match=r"arrival at a node: 2\.0 was recorded"):
        trace.replay()


def test_grad_that_was_overwritten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def overwrite(old: Any, gradient: Any, *more: Any) -> Any:
        return mg.tensor(np.array(gradient))

    def program() -> None:
        x = mg.ones(2, requires_grad=True)
        for factor in (2.0, 3.0):
            (x * factor).sum().backward()

    assert kept(program).replay().counts["accumulate"] == 2
    monkeypatch.setattr("minigrad.engine.core.node.sum_of", overwrite)
    trace = kept(program)
    says = r"AccumulateGrad \(n\d+\), addition to .grad: element \[0\]: 3.0 was"
    with pytest.raises(ReplayError, match=says):
        trace.replay()


def test_rule_that_reads_something_else_is_found_and_explained() -> None:
    factors = iter([2.0, 3.0])

    class Moody(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * next(factors)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    trace = kept(lambda: Moody.apply(mg.ones(2)))
    says = "MoodyBackward, forward call: .*2.0 was recorded, 3.0 is found\n.*reads any"
    with pytest.raises(ReplayError, match=says):
        trace.replay()


def test_what_changes_after_the_recording_does_not_matter() -> None:
    x = mg.ones(3, requires_grad=True)

    def program() -> None:
        (x * x).sum().backward()

    trace = kept(program)
    with mg.no_grad():
        x.mul_(5)
    x.grad.zero_()
    assert trace.replay().counts["backward"] == 2


def test_random_numbers_and_transforms_are_left_out_and_said() -> None:
    def program() -> None:
        x = mg.ones(3, requires_grad=True) * 1.0
        x.normal_()
        mg.func.vmap(lambda x: x * 2)(mg.ones(2, 3))

    found = kept(program).replay()
    assert found.left_out["it draws random numbers"] == 1
    assert found.left_out["it ran inside vmap or another function transform"] > 0
    assert "left out: 1 node, for it draws random numbers" in repr(found)


def test_replay_is_not_heard_by_another_recording() -> None:
    trace = kept()
    with mg.record() as other:
        trace.replay()
        assert observe.has(Hearing)
    assert [e for e in other.data["events"] if e["k"] != "line"] == []


WHOLE = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize(
    "array",
    [
        WHOLE,
        WHOLE.T,
        WHOLE[::-1, ::2],
        np.broadcast_to(WHOLE[:, :1], (4, 6)),
        WHOLE[2, 3:4],
        np.lib.stride_tricks.sliding_window_view(WHOLE[0], 3),
        WHOLE[:0],
        np.array(3.0),
        np.float32(3.0),
    ],
)
def test_copy_lies_in_memory_as_the_array_does(array: Any) -> None:
    copy = exact_copy(array)
    assert np.array_equal(copy, array)
    assert array.size == 0 or copy.strides == array.strides
    assert not np.may_share_memory(copy, array)
