"""Learning-rate schedules: which rate each step has, and going on with one."""

import math
import warnings
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import leaf


def rates(torch: Any, make: Any, steps: int, lr: float = 0.5) -> list[float]:
    """The rate of each step, the first one included."""
    x = leaf(torch, 1.0)
    optimizer = torch.optim.SGD([x], lr=lr)
    schedule = make(torch.optim.lr_scheduler, optimizer)
    found = [schedule.get_last_lr()[0]]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        assert schedule.get_last_lr() == [optimizer.param_groups[0]["lr"]]
        found.append(schedule.get_last_lr()[0])
    return found


def test_step_lr_falls_after_each_group_of_steps(torch: Any) -> None:
    found = rates(torch, lambda s, o: s.StepLR(o, step_size=2, gamma=0.5), 5, lr=8.0)
    assert found == [8, 8, 4, 4, 2, 2]


def test_cosine_goes_down_to_its_end_and_up_again(torch: Any) -> None:
    found = rates(torch, lambda s, o: s.CosineAnnealingLR(o, 4, eta_min=0.1), 9)
    right = [0.1 + 0.4 * (1 + math.cos(math.pi * n / 4)) / 2 for n in range(10)]
    assert found == pytest.approx(right, abs=1e-12)


def test_lambda_multiplies_the_first_rate(torch: Any) -> None:
    found = rates(torch, lambda s, o: s.LambdaLR(o, lambda n: min(1, n / 2)), 3)
    assert found == [0, 0.25, 0.5, 0.5]


def test_lambda_for_each_group(torch: Any) -> None:
    groups = [{"params": [leaf(torch, 1.0)], "lr": lr} for lr in (1.0, 10.0)]
    optimizer = torch.optim.SGD(groups)
    lambdas = [lambda n: 1 / (n + 1), lambda n: n]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambdas)
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.5, 10.0]
    with pytest.raises(ValueError, match="Expected 2 lr_lambdas, but got 1"):
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambdas[:1])


def test_rate_that_somebody_else_has_set_is_what_the_next_one_begins_from(
    torch: Any,
) -> None:
    optimizer = torch.optim.SGD([leaf(torch, 1.0)], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.125]


MAKERS = {
    "StepLR": lambda s, o, **more: s.StepLR(o, 3, 0.5, **more),
    "CosineAnnealingLR": lambda s, o, **more: s.CosineAnnealingLR(o, 5, **more),
    "LambdaLR": lambda s, o, **more: s.LambdaLR(o, lambda n: 0.9**n, **more),
}


@pytest.mark.parametrize("name", MAKERS)
def test_state_that_is_loaded_goes_on_where_it_was(torch: Any, name: str) -> None:
    def made(lr: float) -> tuple[Any, Any]:
        optimizer = torch.optim.SGD([leaf(torch, 1.0)], lr=lr)
        return optimizer, MAKERS[name](torch.optim.lr_scheduler, optimizer)

    def walk(pair: tuple[Any, Any], steps: int) -> list[float]:
        for _ in range(steps):
            pair[0].step()
            pair[1].step()
        return list(pair[1].get_last_lr())

    first = made(0.5)
    walk(first, 4)
    kept = [one.state_dict() for one in first]
    kept[1] = {key: value for key, value in kept[1].items() if key != "optimizer"}
    second = made(7.0)
    for one, state in zip(second, kept, strict=True):
        one.load_state_dict(state)
    assert walk(second, 3) == walk(first, 3)


@pytest.mark.parametrize("name", MAKERS)
def test_last_epoch_goes_on_from_a_loaded_optimizer(torch: Any, name: str) -> None:
    optimizer = torch.optim.SGD([leaf(torch, 1.0)], lr=0.5)
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified") as caught:
        MAKERS[name](torch.optim.lr_scheduler, optimizer, last_epoch=2)
    assert "param_groups[0]" in str(caught.value)
    optimizer.param_groups[0]["initial_lr"] = 0.5
    schedule = MAKERS[name](torch.optim.lr_scheduler, optimizer, last_epoch=2)
    assert schedule.last_epoch == 3
    # Two of them begin with the rate that the optimizer has: it should be loaded, too.
    right = {"StepLR": 0.25, "CosineAnnealingLR": 0.5, "LambdaLR": 0.5 * 0.9**3}
    assert schedule.get_last_lr() == pytest.approx([right[name]])


def test_step_before_that_of_the_optimizer_is_warned_of_once(torch: Any) -> None:
    optimizer = torch.optim.SGD([leaf(torch, 1.0)], lr=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()


def test_what_is_no_optimizer_is_refused(torch: Any) -> None:
    with pytest.raises(TypeError, match="list is not an Optimizer"):
        torch.optim.lr_scheduler.StepLR([leaf(torch, 1.0)], 2)


def test_schedule_without_a_rule_says_what_is_missing() -> None:
    import minigrad

    optimizer = minigrad.optim.SGD([minigrad.ones(1, requires_grad=True)])
    with pytest.raises(NotImplementedError, match=r"write get_lr\(self\)"):
        minigrad.optim.lr_scheduler.LRScheduler(optimizer)


def test_error_says_how_to_go_on() -> None:
    import minigrad

    optimizer = minigrad.optim.SGD([minigrad.ones(1, requires_grad=True)])
    with pytest.raises(errors.ScheduleResumeError, match="load the optimizer's state"):
        minigrad.optim.lr_scheduler.StepLR(optimizer, 1, last_epoch=0)
