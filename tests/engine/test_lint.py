"""Teaching mode: what it warns about, when, and in which words."""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine import lint
from tests.engine.support import FORM, leaf, rule


@pytest.fixture(autouse=True)
def teaching() -> Iterator[None]:
    """Teaching mode is on in these tests, and as it was after them."""
    with minigrad.teaching_mode():
        yield


def warnings_of(function: Any) -> list[str]:
    """What one call of ``function`` makes teaching mode say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function.apply(leaf(minigrad, 2.0))
    assert all(issubclass(one.category, minigrad.TeachingWarning) for one in caught)
    assert all(FORM.fullmatch(str(one.message)) for one in caught)
    return [str(one.message) for one in caught]


def leaving(note: Any) -> Any:
    """A Function that does ``note(ctx, x, y)`` on the way."""

    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        note(ctx, x, y)
        return y

    return rule(minigrad, forward, lambda ctx, grad: grad * 2)


def test_good_function_is_left_in_peace() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.save_for_backward(x, y)
        ctx.factor = 2.0
        ctx.shape = x.shape

    assert warnings_of(leaving(note)) == []


def test_input_on_ctx_is_noticed() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = x

    (text,) = warnings_of(leaving(note))
    assert text.startswith("F.forward: ctx.kept is a Tensor kept as an attribute")
    assert "fix: use ctx.save_for_backward(kept)" in text


def test_array_on_ctx_is_noticed() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.values = np.ones(2)

    (text,) = warnings_of(leaving(note))
    assert "ctx.values is a ndarray kept as an attribute" in text


def test_output_on_ctx_is_noticed_as_a_cycle() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.y = y

    (text,) = warnings_of(leaving(note))
    assert "ctx.y is an output of this call: the output holds ctx" in text


def test_tensor_on_the_class_is_noticed() -> None:
    function = leaving(lambda *_: None)
    function.saved = minigrad.tensor(1.0)
    (text,) = warnings_of(function)
    assert text.startswith("F: F.saved is a Tensor on the class: all calls share it")


@pytest.mark.parametrize("result", [[1.0], np.ones(2), np.float64(1.0)])
def test_result_that_carries_no_gradient_is_noticed(result: Any) -> None:
    (text,) = warnings_of(rule(minigrad, lambda ctx, x: result))
    kind = type(result).__name__
    assert f"F.forward: returned a {kind}, which can carry no gradient" in text


def test_missing_staticmethod_is_noticed_with_the_methods() -> None:
    class Plain(minigrad.autograd.Function):
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    (text,) = warnings_of(Plain)
    assert text.startswith("Plain: without @staticmethod: forward.")
    assert "backward" not in text.split("forward.")[1].split("\n")[0]


def test_same_habit_is_told_once_for_each_class() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = x

    first, second = leaving(note), leaving(note)
    assert len(warnings_of(first)) == 1
    assert warnings_of(first) == []
    assert len(warnings_of(second)) == 1


def test_warning_points_at_the_learners_forward() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = x

    function = leaving(note)
    with pytest.warns(minigrad.TeachingWarning) as caught:
        function.apply(leaf(minigrad, 2.0))
    code = function.forward.__code__
    assert caught[0].filename == code.co_filename
    assert caught[0].lineno == code.co_firstlineno


def test_teaching_mode_off_says_nothing() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = x

    with minigrad.teaching_mode(False):
        assert warnings_of(leaving(note)) == []
        assert not lint.enabled
    assert lint.enabled


def test_teaching_mode_tells_whether_it_is_on() -> None:
    mode = minigrad.teaching_mode(True)
    assert repr(mode) == "teaching mode is on"
    assert re.search("off", repr(minigrad.teaching_mode(False)))
    minigrad.teaching_mode(True)
