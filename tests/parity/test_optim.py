"""Six steps of every optimizer with other options, beside torch's."""

from typing import Any

import numpy as np
import pytest

import minigrad

OPTIMIZERS = [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.2}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.5}),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_parameters_go_where_torch_sends_them(
    torch: Any, name: str, options: dict[str, Any], dtype: str
) -> None:
    def end(module: Any) -> tuple[Any, list[str]]:
        random = np.random.default_rng(0)
        x = module.tensor(random.normal(size=(3, 4)), dtype=getattr(module, dtype))
        optimizer = getattr(module.optim, name)([x.requires_grad_()], **options)
        for _ in range(6):
            x.grad = module.tensor(random.normal(size=(3, 4)), dtype=x.dtype)
            optimizer.step()
        return x.detach().numpy(), sorted(optimizer.state[x])

    (ours, kept), (theirs, kept_by_torch) = end(minigrad), end(torch)
    near = 1e-6 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(ours, theirs, rtol=near, atol=near)
    assert ours.dtype == theirs.dtype
    assert kept == kept_by_torch
