"""Asking a number of a gradient: the sum that it is, and its terms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import errors
from minigrad.views.recording import Recording, load_trace


class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: mg.Tensor) -> mg.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * g


def fan_in() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    y = Square.apply(x)
    (y * 2 + y + y.exp() * 0).backward()


def products() -> None:
    a = mg.tensor([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0]], requires_grad=True)
    b = mg.tensor([[0.5, 1.0], [1.0, 3.0], [0.0, 2.0]], requires_grad=True)
    (a @ b).mul(mg.tensor([[2.0, 3.0], [1.0, -1.0]])).sum().backward()


def test_sum_over_consumers_names_each_of_them() -> None:
    told = mg.step(fan_in).explain("SquareBackward")
    assert told.value == 3
    assert str(told).splitlines() == [
        "Arrived at SquareBackward: 3 = 0 (from ExpBackward0) + 1 (from AddBackward0) "
        "+ 2 (from MulBackward0).",
        "  ExpBackward0: 0: none of its terms differs from 0 (1 in all)",
        "  AddBackward0: 1 = 1·1",
        "  MulBackward0: 2 = 1·2",
    ]


def test_element_of_a_product_is_told_with_its_factors(tmp_path: Path) -> None:
    trace = mg.step(products)
    told = trace.explain("a.grad", (0, 1))
    (addend,) = told.addends
    assert addend.said == "11 = 2·1 + 3·3, and 2 terms that are 0"
    assert addend.terms == [(2, 1), (3, 3)]
    assert addend.value == told.value == 11
    (other,) = trace.explain("b", (1, 1)).addends
    assert other.said == "1 = 3·2 + (-1)·5, and 2 terms that are 0"
    loaded = load_trace(trace.save(tmp_path / "trace.json"))
    g = np.array([[2.0, 3.0], [1.0, -1.0]])
    b = np.array([[0.5, 1.0], [1.0, 3.0], [0.0, 2.0]])
    for place in np.ndindex(2, 3):
        (one,) = trace.explain("a.grad", place).addends
        assert sum(arrived * slope for arrived, slope in one.terms) == (g @ b.T)[place]
    assert str(loaded.explain("a", (0, 1))) == str(told)


def test_whole_gradient_is_told_without_terms() -> None:
    told = mg.step(products).explain("a.grad")
    assert told.value is None
    assert told.addends[0].said == "choose an element for its terms"
    assert "a.grad is now [2\u00d73] -2 … 11." in told.sentence


def test_one_node_that_sends_twice_is_told_by_argument() -> None:
    def twice() -> None:
        x = mg.tensor(3.0, requires_grad=True)
        (x * x).backward()

    assert mg.step(twice).explain("x.grad").sentence == (
        "Arrived at AccumulateGrad of x: 6 = 3 (from MulBackward0 for its argument 0) "
        "+ 3 (from MulBackward0 for its argument 1). x.grad is now 6."
    )


def test_second_backward_adds_to_what_grad_was() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    said = []
    for factor in (2, 5):
        with mg.record() as trace:
            (x * factor).backward()
        said.append(trace.explain("x").sentence)
    assert [one.partition("alone. ")[2] for one in said] == [
        "x.grad is now 2.",
        "x.grad was 2, and is now 7.",
    ]
    accumulated = next(e for e in trace.data["events"] if "old" in e)
    del accumulated["old"]  # as an older recording has it
    assert "what x.grad held before: now 7." in trace.explain("x").sentence


def test_hook_that_takes_a_gradient_away_is_told_of_its_elements_too() -> None:
    def hooked() -> None:
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3
        assert y.grad_fn is not None
        y.grad_fn.register_prehook(lambda given: (None,))
        y.sum().backward()

    told = mg.step(hooked).explain("MulBackward0", (1,))
    assert told.sentence.endswith("from SumBackward0 alone. A hook made it None.")


def test_hook_that_changes_the_sum_is_told() -> None:
    def hooked() -> None:
        x = mg.tensor(3.0, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: g * 10)
        (y + 0).backward()

    told = mg.step(hooked).explain("MulBackward0")
    assert told.sentence == (
        "Arrived at MulBackward0: 1, from AddBackward0 alone. A hook made it 10."
    )


def test_gradient_that_does_not_come_is_told() -> None:
    class Stops(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: mg.Tensor) -> mg.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> None:
            return None

    def program() -> None:
        x = mg.tensor(3.0, requires_grad=True)
        (Stops.apply(x) + x).backward()

    trace = mg.step(program)
    said = trace.explain("x.grad").sentence
    assert "Nothing came from StopsBackward." in said
    assert "1, from AddBackward0 alone" in said
    root = trace.explain("AddBackward0").sentence
    assert root.endswith(": 1, from where backward began alone.")
    with mg.record() as trace:
        mg.tensor(3.0, requires_grad=True) * 2
    said = trace.explain("MulBackward0").sentence
    assert said == "No gradient has come to MulBackward0 so far."


def above_the_leaf(trace: Recording) -> str:
    """The id of the node that sends to the one leaf."""
    kinds = {one["id"]: one["kind"] for one in trace.data["graph"]["nodes"]}
    edges = trace.data["graph"]["edges"]
    (node,) = {e["from"] for e in edges if kinds[e["to"]] == "accumulate"}
    return str(node)


def test_node_of_an_inner_backward_and_of_the_outer_one_are_told_apart() -> None:
    def look(given: mg.Tensor) -> None:
        handle.remove()
        mg.autograd.grad(y, x, mg.tensor(100.0), retain_graph=True)

    x = mg.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * y
    handle = z.register_hook(look)
    with mg.record(keep_values=True) as trace:
        z.backward(inputs=[y])
    assert "300, from MulBackward0 alone" in trace.explain("x").sentence
    assert ": 12 = 6 (from" in trace.explain(above_the_leaf(trace)).sentence


def test_backward_that_an_error_ended_is_not_told_instead_of_a_later_one() -> None:
    def fail(given: mg.Tensor) -> None:
        handle.remove()
        raise ValueError("stop")

    x = mg.tensor(2.0, requires_grad=True)
    y = x * 3
    handle = y.register_hook(fail)
    with mg.record(keep_values=True) as trace:
        with pytest.raises(ValueError, match="stop"):
            (y * 5).backward()
        (y * 7).backward()
    told = trace.explain(above_the_leaf(trace)).sentence
    assert ": 7, from MulBackward0 alone." in told


def test_rounded_numbers_are_said_to_be_about() -> None:
    def thirds() -> None:
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        (x / 3 + x / 7).sum().backward()

    told = mg.step(thirds).explain("x.grad", (0,))
    assert "0.4762 ≈ 0." in told.sentence
    assert told.addends[0].said.startswith("0.")
    assert " ≈ 1·0." in told.addends[0].said


def test_terms_beyond_twelve_are_added_up() -> None:
    def many() -> None:
        x = mg.tensor([2.0], requires_grad=True)
        weights = mg.tensor([[1.0, 2, 3, 4, 5, 6, 7, 8], [1.0, 1, 1, 1, 1, 1, 1, 1]])
        (x * weights).sum().backward()

    (addend,) = mg.step(many).explain("x.grad", (0,)).addends
    assert len(addend.terms) == 16
    assert addend.said.endswith("and 4 more terms, together 4")
    assert sum(g * slope for g, slope in addend.terms) == 44


def test_terms_that_were_not_kept_are_said_and_the_sum_is_told() -> None:
    with mg.record() as trace:
        fan_in()
    told = trace.explain("SquareBackward")
    assert told.value == 3
    assert all("recording: %%step" in one.said for one in told.addends)


def test_several_outputs_have_numbers_of_their_own() -> None:
    def program() -> None:
        x = mg.tensor([1.0, 5.0, 2.0, 4.0], requires_grad=True)
        one, other = x.split(2)
        (one * 2 + other * 3).sum().backward()

    trace = mg.step(program)
    first, second = [trace.explain("SplitBackward0", output=at) for at in (0, 1)]
    assert "SplitBackward0, output 0: [2, 2]" in first.sentence
    assert "SplitBackward0, output 1: [3, 3]" in second.sentence
    (addend,) = trace.explain("x", (3,)).addends
    assert addend.said == "3 = 3·1, and 3 terms that are 0"


@pytest.mark.parametrize(
    ("what", "element", "says"),
    [
        ("w.grad", None, "no node is called 'w.grad'"),
        ("a.grad", (2, 0), r"no element \(2, 0\) in a gradient of shape \(2, 3\)"),
        ("a.grad", (1,), r"no element \(1,\)"),
        ("AccumulateGrad", None, "is the name of 2 nodes"),
    ],
)
def test_what_is_not_there_is_said(what: str, element: Any, says: str) -> None:
    with pytest.raises(errors.ArgumentValueError, match=says):
        mg.step(products).explain(what, element)


def test_element_beyond_the_first_rows_is_not_kept() -> None:
    def large() -> None:
        x = mg.ones(20, requires_grad=True)
        (x * 2).sum().backward()

    trace = mg.step(large)
    assert trace.explain("x", (7,)).value == 2
    with pytest.raises(errors.ArgumentValueError, match=r"element \(8,\) isn't kept"):
        trace.explain("x", (8,))
