"""What torch keeps for old programs: Functions as objects, boxed gradients."""

import warnings
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, logged, raises, rule


@pytest.mark.rule("A09")
def test_function_is_not_made_into_an_object(torch: Any) -> None:
    F = rule(torch, lambda ctx, x: x * 1)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = F()
    says = "Legacy autograd function with non-static forward method is deprecated"
    with raises(torch, errors.FunctionUseError, says):
        made(leaf(torch, 1.0))


@pytest.mark.rule("A33")
@pytest.mark.filterwarnings("ignore:(?s).*should not be instantiated")
def test_function_made_by_hand_is_like_a_node(torch: Any) -> None:
    made = rule(torch, lambda ctx, x: x * 1, name="Mine")()
    assert (made.name(), made.next_functions, made.metadata) == ("Mine", (), {})
    assert made.saved_tensors == ()
    made.register_hook(print).remove()
    made.register_prehook(print).remove()


@pytest.mark.rule("A30")
def test_boxed_gradients_are_one_list_that_may_be_emptied(torch: Any) -> None:
    seen: list[Any] = []

    class Boxed(torch.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, grads: Any) -> Any:
            seen.append((type(grads), len(grads)))
            second, first = grads.pop(), grads.pop()
            return first + second * 2

    x = leaf(torch, 3.0)
    first, second = Boxed.apply(x)
    (first * 5 + second * 7).backward()
    assert x.grad.item() == 5 + 7 * 2
    one = torch.tensor(1.0, dtype=torch.float64)
    assert first.grad_fn.apply(one, one).item() == 3.0
    assert seen == [(list, 2), (list, 2)]


@pytest.mark.rule("A32")
@pytest.mark.filterwarnings("ignore:(?s).*should not be instantiated")
def test_old_base_class_and_old_mark_are_still_there(torch: Any) -> None:
    old = torch.autograd.function.InplaceFunction
    assert issubclass(old, torch.autograd.Function)
    assert old(True).inplace is True

    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_shared_storage((x, x))
        return x * 1

    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        rule(torch, forward).apply(leaf(torch, 1.0))


def test_nothing_warns_of_old_ways_in_a_new_program(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        logged(torch, "F", [])(leaf(torch, 1.0)).backward()
