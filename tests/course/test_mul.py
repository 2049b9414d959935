# ruff: noqa: RUF059  (answers unpack what they save, as learners do)
"""Exercise 01.4: every known wrong answer is refused by name, right ones pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function
from minigrad.course import examine
from minigrad.mistakes import TABLE

WRONG: list[tuple[str, type[Function]]] = []
RIGHT: list[tuple[set[str], type[Function]]] = []


def wrong(*ids: str) -> Callable[[Any], Any]:
    """Note a wrong answer and the mistake it makes."""

    def note(answer: Any) -> Any:
        WRONG.extend((name, answer) for name in ids)
        return answer

    return note


def right(*remarks: str) -> Callable[[Any], Any]:
    """Note a right answer and the remarks it earns."""

    def note(answer: Any) -> Any:
        RIGHT.append((set(remarks), answer))
        return answer

    return note


class Saves(Function):
    """forward as it should be; the answers below differ in backward."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y


# Right answers, in the ways that people write them.


@right()
class InForward(Saves):
    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


@right()
class SetupContext(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return y * g, x * g


@right()
class OtherOrder(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b, a)
        return b * a

    @staticmethod
    def backward(ctx, g):
        b, a = ctx.saved_tensors
        first = b
        first = first * g
        return first, a.clone() * g


@right()
class Indexed(Saves):
    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[1] * g, ctx.saved_tensors[0] * g


@right()
class OnlyWhatIsAsked(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = g * y if ctx.needs_input_grad[0] else None
        gy = g * x if ctx.needs_input_grad[1] else None
        return gx, gy


@right()
class TrailingNone(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x, None


@right()
class Vjp(Saves):
    @staticmethod
    def vjp(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


def times(a, b):
    return a * b


@right()
class WithHelpers(Saves):
    @staticmethod
    def both(ctx, g):
        x, y = ctx.saved_tensors
        return times(g, y), times(g, x)

    @staticmethod
    def backward(ctx, g):
        return WithHelpers.both(ctx, g)


@right()
class ThroughNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = (t.numpy() for t in ctx.saved_tensors)
        return mg.tensor(g.numpy() * y), mg.tensor(g.numpy() * x)


@right()
class SavesWhatItDoesNotNeed(Function):
    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.calls = 1
        ctx.save_for_backward(x, y, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, y, _ = ctx.saved_tensors
        return g * y, g * x


@right()
class InPlaceOnItsOwn(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        first, second = g.clone(), g.clone()
        first.mul_(y)
        second.mul_(x)
        return first, second


@right()
class CounterOnTheClass(Saves):
    calls = 0

    @staticmethod
    def backward(ctx, g):
        CounterOnTheClass.calls += 1
        x, y = ctx.saved_tensors
        return g * y, g * x


@right()
class AsksForItsCtxClass(Saves):
    @staticmethod
    def backward(ctx, g):
        assert isinstance(ctx, AsksForItsCtxClass._backward_cls)
        assert type(ctx).__name__ == "AsksForItsCtxClassBackward"
        x, y = ctx.saved_tensors
        return g * y, g * x


@right("A08")
class NotStatic(Function):
    def forward(self, x, y):
        self.save_for_backward(x, y)
        return x * y

    def backward(self, g):
        x, y = self.saved_tensors
        return g * y, g * x


@right("S06")
class TensorsAsAttributes(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x, y
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y, g * ctx.x


@right("S08", "D02")
class ArraysThatShareMemory(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x.numpy(), y.numpy()
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.y), g * mg.tensor(ctx.x)


@right("D02")
class CopiesOfArrays(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.x, ctx.y = x.numpy().copy(), y.numpy().copy()
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g * mg.tensor(ctx.y), g * mg.tensor(ctx.x)


@right("A15")
class SavesTwiceTheSame(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@right("T03")
class AlwaysDouble(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = (t.to(mg.float64) for t in ctx.saved_tensors)
        return g.to(mg.float64) * y, g.to(mg.float64) * x


@right("D02")
class UpstreamThroughNumpy(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        g = mg.tensor(g.detach().numpy())
        return g * y, g * x


@right()
class SaysThatItIsDifferentiableOnce(Saves):
    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@right("S04")
class LogsOnTheClass(Saves):
    log: ClassVar[list[object]] = []

    @staticmethod
    def backward(ctx, g):
        LogsOnTheClass.log.append(g)
        x, y = ctx.saved_tensors
        return g * y, g * x


# Values kept by call, yet not on ctx.


@wrong("S04")
class StoreOnTheClass(Function):
    store: ClassVar[dict[int, object]] = {}

    @staticmethod
    def forward(ctx, x, y):
        StoreOnTheClass.store[id(ctx)] = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = StoreOnTheClass.store[id(ctx)]
        return g * y, g * x


STORE: dict[int, object] = {}


@wrong("S05")
class StoreInTheModule(Function):
    @staticmethod
    def forward(ctx, x, y):
        STORE[id(ctx)] = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = STORE[id(ctx)]
        return g * y, g * x


# Chain rule.


@wrong("C01")
class NoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return y, x


@wrong("C01")
class NoUpstreamOneSlot(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, x


@wrong("C01")
class NoUpstreamWrongOperand(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return x, y


@wrong("C02")
class UpstreamTwice(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * g * y, g * g * x


@wrong("C02")
class UpstreamTwiceWrongOperand(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * g * x, g * g * y


@wrong("C03")
class Passes(Saves):
    @staticmethod
    def backward(ctx, g):
        return g, g


@wrong("C04")
class MeanUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.mean() * y, g.mean() * x


@wrong("C04")
class SummedUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.sum() * y, g.sum() * x


@wrong("C05")
class OutputForUpstream(Function):
    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.save_for_backward(x, y, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, y, out = ctx.saved_tensors
        return out * y, out * x


@wrong("C05")
class OutputAlone(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return x * y, x * y


@wrong("C06")
class AddedTwice(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y + g * y, g * x + g * x


# Local derivative.


@wrong("L01")
class Negative(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return -g * y, -g * x


@wrong("L01")
class NegativeOneSlot(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, -g * x


@wrong("L02")
class Halved(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * 0.5, g * x * 0.5


@wrong("L04")
class OwnOperandOneSlot(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x, g * x


@wrong("L04", "A03")
class OwnOperands(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x, g * y


@wrong("L05")
class UsesOutput(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * x * y, g * x * y


@wrong("L05", "S01")
class SavesOutput(Function):
    @staticmethod
    def forward(ctx, x, y):
        out = x * y
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


# What backward returns, and the signatures.


@wrong("A01")
class OneGradient(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y


@wrong("A01")
class TupleOfOne(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (g * y,)


@wrong("A04")
class ListOfTwo(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return [g * y, g * x]


@wrong("A05")
class NoneForTheSecond(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, None


@wrong("A06")
class FlagsExchanged(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = g * y if ctx.needs_input_grad[1] else None
        gy = g * x if ctx.needs_input_grad[0] else None
        return gx, gy


@wrong("A09")
class ForwardWithoutCtx(Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("A09")
class BothStyles(Saves):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("A11")
class UnpacksTooMany(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y, z = ctx.saved_tensors
        return g * y, g * x


@wrong("A11")
class TakesTheTuple(Saves):
    @staticmethod
    def backward(ctx, g):
        saved = ctx.saved_tensors
        return g * saved.y, g * saved.x


@wrong("A11")
class CallsTheTuple(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors()
        return g * y, g * x


@wrong("A12")
class ReturnsArrays(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g.numpy() * y.numpy(), g.numpy() * x.numpy()


@wrong("A12")
class ReturnsNumbers(Saves):
    @staticmethod
    def backward(ctx, g):
        return 1.0, 2.0


@wrong("A13")
class BackwardWithTwoUpstreams(Saves):
    @staticmethod
    def backward(ctx, gx, gy):
        x, y = ctx.saved_tensors
        return gx * y, gy * x


@wrong("A13")
class BackwardWithoutUpstream(Saves):
    @staticmethod
    def backward(ctx):
        x, y = ctx.saved_tensors
        return y, x


@wrong("A14")
class SavesAList(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward([x, y])
        return x * y

    @staticmethod
    def backward(ctx, g):
        ((x, y),) = ctx.saved_tensors
        return g * y, g * x


@wrong("A14")
class SavesAShape(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y, x.shape)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y, _ = ctx.saved_tensors
        return g * y, g * x


@wrong("A15")
class SavesOneByOne(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        ctx.save_for_backward(y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("A16")
class ReturnsNothing(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        _ = g * y, g * x


@wrong("A17")
class ForwardReturnsList(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return [x * y]

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("A17")
class ForwardReturnsArray(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.numpy() * y.numpy()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("A17")
class ForwardReturnsNothing(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


# State between forward and backward.


@wrong("S01")
class SavesTheSameTwice(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, x)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("S02")
class ReadsInOtherOrder(Saves):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        y, x = ctx.saved_tensors
        return g * y, g * x


@wrong("S04")
class StateOnTheClass(Function):
    @staticmethod
    def forward(ctx, x, y):
        StateOnTheClass.kept = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = StateOnTheClass.kept
        return g * y, g * x


@wrong("S04")
class StateOnTheNodeClass(Function):
    @staticmethod
    def forward(ctx, x, y):
        type(ctx).kept = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = type(ctx).kept
        return g * y, g * x


LAST: dict[str, Any] = {}


@wrong("S05")
class StateInAGlobal(Function):
    @staticmethod
    def forward(ctx, x, y):
        LAST["inputs"] = (x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = LAST["inputs"]
        return g * y, g * x


BUFFERS: dict[tuple[Any, ...], Any] = {}


def buffer(like, key):
    return BUFFERS.setdefault((like.shape, like.dtype, key), mg.zeros_like(like))


@wrong("S05")
class OneBufferForAll(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx, gy = buffer(g, "x"), buffer(g, "y")
        gx.mul_(0.0)
        gx.add_(g * y)
        gy.mul_(0.0)
        gy.add_(g * x)
        return gx, gy


@wrong("S10")
class ForgetsOnItsWay(Saves):
    @staticmethod
    def forward(ctx, x, y):
        ctx.kept = [x, y]
        return x * y

    @staticmethod
    def backward(ctx, g):
        y, x = ctx.kept.pop(), ctx.kept.pop()
        return g * y, g * x


@wrong("S10")
class CountsItsBackwards(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        ctx.runs = getattr(ctx, "runs", 0) + 1
        return g * y * ctx.runs, g * x * ctx.runs


# In place, and dtypes.


@wrong("M01")
class WritesIntoUpstream(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gy = g * x
        g.mul_(y)
        return g, gy


@wrong("M02")
class WritesIntoInput(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.clone(), y)
        x.mul_(y)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@wrong("M05")
class WritesIntoSaved(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx = g * y
        x.mul_(g)
        return gx, x.clone()


@wrong("T01")
class SinglePrecision(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = (t.to(mg.float32) for t in ctx.saved_tensors)
        g = g.to(mg.float32)
        return g * y, g * x


@wrong("T01")
class SinglePrecisionForward(Saves):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.to(mg.float32) * y.to(mg.float32)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


@pytest.mark.parametrize(
    ("name", "answer"), WRONG, ids=[f"{n}-{a.__name__}" for n, a in WRONG]
)
def test_known_wrong_answer_is_refused_by_name(
    name: str, answer: type[Function]
) -> None:
    for seed in (0, 1, 2):
        verdict = examine("01.4", answer, seed=seed)
        assert verdict.state in ("wrong", "crashed")
        assert name in verdict.mistakes, verdict.message
        assert verdict.points == 0


@pytest.mark.parametrize(
    ("remarks", "answer"), RIGHT, ids=[a.__name__ for _, a in RIGHT]
)
def test_right_answer_passes_with_its_remarks(
    remarks: set[str], answer: type[Function]
) -> None:
    for seed in (0, 1, 2):
        verdict = examine("01.4", answer, seed=seed)
        assert verdict.state == "solved", verdict.message
        assert {r.id for r in verdict.remarks} == remarks
        assert verdict.points == 4


def test_every_mistake_that_mul_can_show_has_a_wrong_answer() -> None:
    refused = {name for name, _ in WRONG}
    remarked = set().union(*(remarks for remarks, _ in RIGHT))
    can_show = """
        C01 C02 C03 C04 C05 C06 L01 L02 L04 L05 A01 A03 A04 A05 A06 A09 A11 A12 A13
        A14 A15 A16 A17 S01 S02 S04 S05 S10 M01 M02 M05 T01 A08 S06 S08 T03 D02
    """
    assert refused | remarked == set(re.findall(r"\w+", can_show)) <= set(TABLE)


def test_slots_differ_in_their_mistakes_and_both_are_named() -> None:
    class TwoMistakes(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return y, -g * x

    verdict = examine("01.4", TwoMistakes)
    assert verdict.mistakes == ("C01", "L01")


def test_wrong_forward_is_shown_with_its_inputs() -> None:
    class Sum(Saves):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x + y

    verdict = examine("01.4", Sum)
    (seen,) = verdict.evidence
    assert (verdict.state, verdict.mistakes) == ("wrong", ())
    assert seen.of == "result"
    assert f"it should be {seen.expected:.6g}" in verdict.message


class OneTensorTwice(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, mg.zeros_like(g) if x is y else g * x


class NotInThreeAxes(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g if g.ndim == 3 else g * x


class NotWithoutNumbers(Saves):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        y.numpy().max()
        return g * y, g * x


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (OneTensorTwice, "after OneTensorTwice.apply(x, x) is not the sum"),
        (NotInThreeAxes, "for a block with three axes"),
        (NotWithoutNumbers, "zero-size array"),
    ],
)
def test_answer_wrong_in_one_kind_of_case_only(
    answer: type[Function], says: str
) -> None:
    verdict = examine("01.4", answer)
    assert verdict.state in ("wrong", "crashed")
    assert says in verdict.message


def test_wrong_rule_without_a_name_still_shows_the_element() -> None:
    class Odd(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * (x + y), g * x

    verdict = examine("01.4", Odd)
    (seen,) = verdict.evidence
    assert verdict.mistakes == ()
    assert (seen.of, seen.case) == ("x", "three numbers")
    assert seen.got != pytest.approx(seen.expected)


def test_gradient_of_zeros_is_wrong_and_has_no_name() -> None:
    class Zeros(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return mg.zeros_like(x), mg.zeros_like(y)

    verdict = examine("01.4", Zeros)
    assert (verdict.state, verdict.mistakes) == ("wrong", ())


def test_crash_names_the_learners_line() -> None:
    class Typo(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * z, g * x  # noqa: F821

    verdict = examine("01.4", Typo)
    assert verdict.state == "crashed"
    assert "NameError: name 'z' is not defined" in verdict.message
    assert "Typo.backward, line" in verdict.message
    assert "return g * z, g * x" in verdict.message


def test_answer_untouched_is_not_tried() -> None:
    class Mul(Function):
        @staticmethod
        def forward(ctx, x, y):
            raise NotImplementedError("TODO: write forward")

        @staticmethod
        def backward(ctx, grad_output):
            raise NotImplementedError("TODO: write backward")

    verdict = examine("01.4", Mul)
    assert verdict.state == "not tried"
    assert verdict.findings == ()


def test_answer_with_half_a_todo_says_what_is_left() -> None:
    class Mul(Saves):
        @staticmethod
        def backward(ctx, grad_output):
            raise NotImplementedError("TODO: write backward")

    verdict = examine("01.4", Mul)
    assert verdict.state == "wrong"
    assert "forward is right; backward still has its 'TODO: write" in verdict.message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (InForward.apply, "not a class"),
        (None, "not a class"),
        (int, "int is a class, but not a Function"),
    ],
)
def test_answer_that_is_no_function_class_is_explained(
    answer: object, says: str
) -> None:
    verdict = examine("01.4", answer)
    assert verdict.state == "wrong"
    assert says in verdict.message


def test_other_seeds_give_other_numbers() -> None:
    first, second = (examine("01.4", NoUpstream, seed=s).evidence[0] for s in (0, 1))
    assert first.expected != second.expected


def test_evidence_is_the_upstream_times_the_other_input() -> None:
    (seen,) = examine("01.4", NoUpstream).evidence
    assert seen.of == "x"
    assert seen.upstream is not None
    assert seen.expected == pytest.approx(seen.got * seen.upstream)


def test_check_leaves_class_grad_mode_and_random_state_alone() -> None:
    before = dict(vars(InForward)), dict(vars(InForward._backward_cls))
    mg.manual_seed(3)
    expected = mg.rand(2).array
    mg.manual_seed(3)
    np.random.seed(3)
    legacy = np.random.get_state()[1].copy()
    with mg.no_grad():
        assert examine("01.4", InForward).state == "solved"
        assert not mg.is_grad_enabled()
    assert (dict(vars(InForward)), dict(vars(InForward._backward_cls))) == before
    assert np.array_equal(mg.rand(2).array, expected)
    assert np.array_equal(np.random.get_state()[1], legacy)


def test_prints_and_warnings_of_the_answer_are_dropped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Talks(Saves):
        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            print("hello")
            return g * y, g * x

    with mg.teaching():
        assert examine("01.4", Talks).state == "solved"
        assert examine("01.4", NotStatic).state == "solved"
    assert capsys.readouterr().out == ""
