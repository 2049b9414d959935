"""Optimizers: how far a step goes, what is kept, what is refused."""

import copy
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf, raises


def descend(torch: Any, make: Any, steps: int = 3) -> Any:
    """The parameter after some steps down x**2, from 1 and -2."""
    x = leaf(torch, 1.0, -2.0)
    optimizer = make([x])
    for _ in range(steps):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
    return x


def near(x: Any, *numbers: float) -> bool:
    return x.detach().tolist() == pytest.approx(list(numbers), rel=1e-5)


def test_step_goes_lr_times_the_gradient_downwards(torch: Any) -> None:
    x = descend(torch, lambda params: torch.optim.SGD(params, lr=0.25), 1)
    assert x.tolist() == [0.5, -1.0]
    assert x.grad.tolist() == [2.0, -4.0]
    assert x.is_leaf
    assert x.requires_grad


def test_momentum_adds_up_what_was(torch: Any) -> None:
    x = descend(torch, lambda p: torch.optim.SGD(p, lr=0.25, momentum=0.5), 2)
    # Gradients 2, then 1; so the buffer is 2, then 0.5 * 2 + 1.
    assert x.tolist() == [1 - 0.25 * 2 - 0.25 * 2, -2 + 0.25 * 4 + 0.25 * 4]


def test_nesterov_looks_one_step_ahead(torch: Any) -> None:
    def make(params: Any) -> Any:
        return torch.optim.SGD(params, lr=0.25, momentum=0.5, nesterov=True)

    assert descend(torch, make, 1).tolist() == [1 - 0.25 * 3, -2 + 0.25 * 6]


def test_weight_decay_pulls_towards_zero(torch: Any) -> None:
    x = descend(torch, lambda p: torch.optim.SGD(p, lr=0.25, weight_decay=1.0), 1)
    assert x.tolist() == [0.25, -0.5]


def test_maximize_goes_upwards(torch: Any) -> None:
    x = descend(torch, lambda p: torch.optim.SGD(p, lr=0.25, maximize=True), 1)
    assert x.tolist() == [1.5, -3.0]


def test_adam_goes_lr_at_its_first_step_whatever_the_gradient(torch: Any) -> None:
    x = descend(torch, lambda params: torch.optim.Adam(params, lr=0.5), 1)
    assert near(x, 0.5, -1.5)


def test_decay_of_adamw_stands_beside_the_gradient(torch: Any) -> None:
    def make(params: Any) -> Any:
        return torch.optim.AdamW(params, lr=0.5, weight_decay=0.2)

    assert near(descend(torch, make, 1), 0.9 - 0.5, -1.8 + 0.5)
    assert near(descend(torch, lambda p: torch.optim.Adam(p, lr=0.5), 1), 0.5, -1.5)


def test_parameter_without_a_gradient_stays(torch: Any) -> None:
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    optimizer = torch.optim.SGD([x, y], lr=0.5, momentum=0.9, weight_decay=0.1)
    x.sum().backward()
    optimizer.step()
    assert y.tolist() == 2.0
    assert y not in optimizer.state
    assert x in optimizer.state


def test_step_counts_as_a_change_in_place(torch: Any) -> None:
    x = leaf(torch, 1.0)
    optimizer = torch.optim.SGD([x], lr=0.5)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    before = x._version
    optimizer.step()
    assert x._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_zero_grad_forgets_or_fills_with_zeros(torch: Any) -> None:
    x = leaf(torch, 1.0)
    optimizer = torch.optim.SGD([x])
    x.sum().backward()
    grad = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is grad
    assert grad.tolist() == 0.0
    optimizer.zero_grad()
    assert x.grad is None


def test_groups_have_options_of_their_own(torch: Any) -> None:
    x, y = leaf(torch, 1.0), leaf(torch, 1.0)
    groups = [{"params": [x]}, {"params": y, "lr": 0.5}]
    optimizer = torch.optim.SGD(groups, lr=0.25)
    (x + y).sum().backward()
    optimizer.step()
    assert (x.item(), y.item()) == (0.75, 0.5)
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer.step()
    assert (x.item(), y.item()) == (0.75, 0.0)


def test_closure_is_run_with_gradients_and_its_loss_returned(torch: Any) -> None:
    x = leaf(torch, 1.0)
    optimizer = torch.optim.SGD([x], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert x.item() == 0.5


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_training_goes_on_from_a_saved_state(torch: Any, name: str) -> None:
    def make(params: Any, lr: float = 0.1) -> Any:
        extra = {"momentum": 0.9} if name == "SGD" else {"amsgrad": True}
        return getattr(torch.optim, name)(params, lr=lr, **extra)

    def step(x: Any, optimizer: Any) -> None:
        x.grad = 2 * x.detach()
        optimizer.step()

    x, y = leaf(torch, 1.0, -2.0), leaf(torch, 0.0, 0.0)
    first, second = make([x]), make([y], lr=0.7)
    step(x, first)
    saved = copy.deepcopy(first.state_dict())
    with torch.no_grad():
        y.copy_(x)
    second.load_state_dict(saved)
    assert second.param_groups[0]["lr"] == 0.1
    step(x, first)
    step(y, second)
    assert x.tolist() == y.tolist()
    assert saved["param_groups"][0]["params"] == [0]


def test_another_number_of_parameters_is_not_loaded(torch: Any) -> None:
    x, y = leaf(torch, 1.0), leaf(torch, 1.0)
    saved = torch.optim.SGD([x, y]).state_dict()
    with raises(torch, errors.ArgumentValueError, "parameter group that doesn't match"):
        torch.optim.SGD([x]).load_state_dict(saved)
    groups = torch.optim.SGD([{"params": [x]}, {"params": [y]}])
    with raises(torch, errors.ArgumentValueError, "different number of parameter gro"):
        groups.load_state_dict(saved)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lr": -1.0}, "Invalid learning rate: -1.0"),
        ({"momentum": -0.5}, "Invalid momentum value: -0.5"),
        ({"weight_decay": -2.0}, "Invalid weight_decay value: -2.0"),
        ({"nesterov": True}, "Nesterov momentum requires a momentum and zero damp"),
    ],
)
def test_options_that_cannot_work_are_refused(
    torch: Any, options: dict[str, Any], says: str
) -> None:
    with raises(torch, errors.ArgumentValueError, says):
        torch.optim.SGD([leaf(torch, 1.0)], **options)


def test_options_of_adam_that_cannot_work_are_refused(torch: Any) -> None:
    for options, says in [
        ({"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ({"betas": (0.9, -0.1)}, "Invalid beta parameter at index 1: -0.1"),
        ({"eps": -1.0}, "Invalid epsilon value: -1.0"),
    ]:
        with raises(torch, errors.ArgumentValueError, says):
            torch.optim.Adam([leaf(torch, 1.0)], **options)


def test_what_cannot_be_optimized_is_refused(torch: Any) -> None:
    x = leaf(torch, 1.0)
    with raises(torch, errors.ArgumentTypeError, "should be an iterable of Tensors"):
        torch.optim.SGD(x)
    with raises(torch, errors.ArgumentValueError, "got an empty parameter list"):
        torch.optim.SGD([])
    with raises(torch, errors.ArgumentTypeError, "optimizer can only optimize Tensors"):
        torch.optim.SGD([[1.0]])
    with raises(torch, errors.ArgumentValueError, "can't optimize a non-leaf Tensor"):
        torch.optim.SGD([x * 2])
    with raises(torch, errors.ArgumentValueError, "more than one parameter group"):
        torch.optim.SGD([{"params": [x]}, {"params": [x]}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        torch.optim.SGD([x, x])
