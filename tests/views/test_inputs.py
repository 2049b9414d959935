"""Inputs of a live player: what becomes of an argument, and of what is typed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import errors
from minigrad.views.inputs import InputError, input_for, problem_of, round_step


def made(given: Any, start: Any = None) -> Any:
    return input_for("x", given, start)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (2.0, "slider"),
        (3, "slider"),
        ((0.0, 5.0), "slider"),
        (mg.tensor(2.0), "slider"),
        (np.float64(2.0), "slider"),
        (True, "switch"),
        ("relu", "words"),
        ([1, 2], "numbers"),
        (mg.tensor([[1.0, 2.0]]), "numbers"),
        (np.arange(3), "numbers"),
        (["a", "b"], None),
        (None, None),
        (mg.nn.Linear(2, 1), None),
    ],
)
def test_kind_of_an_argument_gives_the_kind_of_its_input(given: Any, kind: Any) -> None:
    one = made(given)
    assert (one and one.spec["kind"]) == kind


@pytest.mark.parametrize(
    ("given", "start", "ends", "text"),
    [
        ((0.0, 5.0), None, (0.0, 5.0, 0.05), "2.5"),
        ((0, 5), None, (0, 5, 1), "2"),
        ((0, 10, 5), None, (0, 10, 5), "5"),
        ((0.0, 5.0), 1.0, (0.0, 5.0, 0.05), "1.0"),
        ((0.0, 5.0), 9.0, (0.0, 5.0, 0.05), "5.0"),
        ((0, 5), 1.5, (0, 5, 0.05), "1.5"),
        (2.0, None, (-4.0, 4.0, 0.05), "2.0"),
        (0.0, None, (-1.0, 1.0, 0.02), "0.0"),
        (3, None, (0, 10, 1), "3"),
        (-3, None, (-6, 10, 1), "-3"),
        (mg.tensor(0.1), None, (-0.2, 0.2, 0.002), "0.1"),
    ],
)
def test_slider_has_round_steps_and_starts_where_it_was_told(
    given: Any, start: Any, ends: tuple[float, float, float], text: str
) -> None:
    slider = made(given, start)
    spec = slider.spec
    assert (spec["low"], spec["high"], spec["step"]) == pytest.approx(ends)
    assert slider.text == text


@pytest.mark.parametrize("wrong", [(5.0, 0.0), (1,), ("a", "b"), (0, 1, 2, 3), ()])
def test_tuple_that_is_no_range_is_refused_with_what_to_give(wrong: Any) -> None:
    with pytest.raises(errors.ArgumentValueError, match="range of a slider"):
        made(wrong)


def test_more_numbers_than_one_types_are_refused() -> None:
    with pytest.raises(errors.ArgumentValueError, match="has 101 numbers"):
        made(mg.zeros(101))


def test_what_is_typed_becomes_an_argument_of_the_same_kind() -> None:
    assert made(2.0).read("1e-3") == 0.001
    assert made(2.0).read(" inf ") == float("inf")
    assert made(3).read("-7") == -7
    assert type(made(3).read("7")) is int
    assert made([1, 2]).read("(3, 4, 5)") == [3, 4, 5]
    array = made(np.array([1.0, 2.0])).read("[[3], [4]]")
    assert (array.dtype, array.shape) == (np.dtype("float64"), (2, 1))
    assert made(True).read(False) is False
    assert made("a").read("[1]") == "[1]"


def test_tensor_is_a_new_leaf_each_time_with_dtype_and_flag() -> None:
    given = mg.tensor([1.0, 2.0], requires_grad=True, dtype=mg.float64)
    one = made(given)
    first, second = one.read(one.text), one.read("[[0.5]]")
    assert first is not given
    assert first.tolist() == given.tolist()
    assert (second.dtype, second.shape) == (mg.float64, (1, 1))
    assert second.requires_grad
    assert second.is_leaf
    assert made(mg.tensor(2.0)).read("3").requires_grad is False


def test_text_of_a_tensor_is_as_short_as_its_dtype_lets_it() -> None:
    assert made(mg.tensor([[0.1, 2.0]])).text == "[[0.1, 2.0]]"


@pytest.mark.parametrize(
    ("given", "typed", "says"),
    [
        (2.0, "two", "“two” isn't a number."),
        (3, "2.5", "“2.5” isn't a whole number."),
        ([1], "[1, 2", "“[1, 2” isn't a list of numbers, such as [1.0, 2.0]."),
        ([1], "__import__('os')", "isn't a list of numbers"),
        ([1], "[" * 400, "isn't a list of numbers"),
        ([1], "9" * 6000, "isn't a list of numbers"),
        ([1], "[1, [2, 3]]", "The rows have different lengths."),
        ([1], "['a']", "Only numbers can go here, in brackets."),
        ([1], "[True]", "Only numbers"),
        ([1], "{1, 2}", "Only numbers"),
        ([1], "[1+2j]", "Only numbers"),
        ([1], "7", "put brackets around"),
        ([1], str([0] * 101), "more than 100 numbers"),
        (mg.tensor([1, 2]), "[1.5]", "Only whole numbers"),
        (np.array([1], dtype=np.int8), "[1000]", "doesn't fit into its dtype"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(
    given: Any, typed: str, says: str
) -> None:
    problem = problem_of(made(given), typed)
    assert problem is not None
    assert says in problem
    assert "\n" not in problem
    assert len(problem) < 120


def test_nothing_that_is_typed_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getcwd", lambda: pytest.fail("it was run"))
    for typed in ("__import__('os').getcwd()", "[x for x in [1]]", "[(lambda: 1)()]"):
        with pytest.raises(InputError):
            made([1.0]).read(typed)


@pytest.mark.parametrize(
    ("step", "rounded"), [(0.05, 0.05), (0.013, 0.01), (7, 5), (0.0299, 0.02)]
)
def test_step_is_one_two_or_five_times_a_power_of_ten(
    step: float, rounded: float
) -> None:
    assert round_step(step) == rounded
