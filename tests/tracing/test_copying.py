"""A copy of what a program starts from: all of it, and nothing shared that changes."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.core.node import NOT_A_TENSOR
from minigrad.tracing.copies import CannotCopyError, Copier, copied_anew, exact_copy

HOME = globals()


def copied(value: Any, most: float = 1e6) -> Any:
    copier = Copier(HOME, most)
    copier.take({"it": value})
    values = {name: HOME[name] for name in copier.asked if name in HOME}
    home, made, _ = copied_anew(copier.started(values, value))
    home |= made[0]
    return made[1]


class Plain:
    """Something of the learner's, with a method that needs its own class."""

    def __init__(self) -> None:
        self.numbers = [1, 2]
        self.other: Any = self

    def add(self, number: int) -> None:
        counted.append(number)
        self.numbers.append(number)


class Child(Plain):
    def add(self, number: int) -> None:
        super().add(number + 100)


class Doubled(mg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        counted.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        counted.append("backward")
        return grad_output * 2


class Slotted:
    __slots__ = ("x",)


counted: list[Any] = []


def test_parts_of_one_memory_stay_parts_of_one_memory() -> None:
    base = np.arange(12.0).reshape(3, 4)
    parts = [base, base[1], base.T[::-1], base[:, 1:2]]
    copies = copied(parts)
    for part, copy in zip(parts, copies, strict=True):
        np.testing.assert_array_equal(part, copy)
        assert part.strides == copy.strides
        assert not np.shares_memory(base, copy)
    copies[0][1, 1] = 99
    assert copies[1][1] == 99
    assert copies[3][1, 0] == 99
    again = copied(copies)
    again[1][0] = -1
    assert again[0][1, 0] == -1
    assert base[1, 1] == 5


def test_array_that_repeats_one_place_does_so_in_the_copy() -> None:
    wide = np.broadcast_to(np.array([1.0, 2.0]), (3, 2))
    copy = copied(wide)
    assert copy.strides == wide.strides
    np.testing.assert_array_equal(copy, wide)
    assert not copy.flags.writeable


def test_tensor_comes_with_its_history_and_its_view() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = Doubled.apply(x)
    view = y[1:]
    view.mul_(3)
    x2, y2, view2 = copied([x, y, view])
    assert (y2._version, view2._version) == (y._version, view._version)
    assert view2._base is y2
    y2.sum().backward()
    assert x2.grad.tolist() == [2, 6]
    assert x.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [2, 6]


def test_functions_and_classes_see_the_copies_of_their_variables() -> None:
    counted.clear()
    child = Child()
    method = child.add
    append = child.numbers.append
    copies = copied([child, method, append, Child])
    copies[1](3)
    copies[2](4)
    assert copies[0].numbers == [1, 2, 103, 4]
    assert copies[0].other is copies[0]
    assert type(copies[0]) is copies[3]
    assert copies[3] is not Child
    assert child.numbers == [1, 2]
    assert counted == []
    child.add(1)
    assert counted == [101]


def test_function_of_autograd_keeps_its_node() -> None:
    counted.clear()
    function = copied(Doubled)
    x = mg.ones(1, requires_grad=True)
    y = function.apply(x)
    y.backward()
    assert y.grad_fn.name() == "DoubledBackward"
    assert counted == []
    assert x.grad.item() == 2


def test_model_and_optimizer_go_on_together() -> None:
    model = mg.nn.Linear(2, 1)
    optimizer = mg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    before = model.weight.tolist()
    model2, optimizer2 = copied([model, optimizer])
    model2(mg.ones(1, 2)).sum().backward()
    optimizer2.step()
    assert model2.weight.tolist() != before
    assert model.weight.tolist() == before
    assert model.weight.grad is None


def test_what_there_is_one_of_stays_the_one() -> None:
    lock = threading.Lock()
    same = [NOT_A_TENSOR, mg.float32, np.float32, np, len, lock, mg.nn.Linear, 3]
    for value, copy in zip(same, copied(same), strict=True):
        assert value is copy


def test_references_lead_to_copies() -> None:
    plain = Plain()
    reference, copy = copied([weakref.ref(plain), plain])
    assert reference() is copy
    slotted = Slotted()
    slotted.x = [1]
    other = copied(slotted)
    other.x.append(2)
    assert slotted.x == [1]


def test_closures_are_shared_by_those_that_share_them() -> None:
    count = 0

    def more() -> int:
        nonlocal count
        count += 1
        return count

    def now() -> int:
        return count

    more2, now2 = copied([more, now])
    assert (more2(), more2(), now2(), now()) == (1, 2, 2, 0)


def test_what_moves_on_when_it_is_used_and_what_is_too_large_is_refused() -> None:
    with pytest.raises(CannotCopyError, match="generator, which cannot be taken back"):
        copied([1, (letter for letter in "ab")])
    with pytest.raises(CannotCopyError, match="too much memory"):
        copied(np.zeros(200), most=1000)
    assert copied(np.zeros(100), most=1000).size == 100


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
