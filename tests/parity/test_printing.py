"""How tensors print, against torch, character by character."""

from typing import Any

import numpy as np
import pytest

import minigrad

# Besides those in tests/engine/test_printing.py, which torch prints, too.
VALUES: list[Any] = [
    -3.25,
    1e-5,
    123456.0,
    1e10,
    True,
    [1.0, 2.0],
    [0.5, -2.0, 1000.0],
    [0.1, 12345.678],
    [1.0, 1e9],
    [0.0, 0.0],
    [1, -20, 300],
    [float("inf"), -1.5],
    [float("nan"), float("inf")],
    [[1.0, 2.0], [3.5, -4.0]],
    [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
    [[1.0], [20.0]],
    list(range(30)),
    [x / 7 for x in range(25)],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value)[:30])
def test_values_print_as_in_torch(torch: Any, value: Any) -> None:
    assert repr(minigrad.tensor(value)) == repr(torch.tensor(value))


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 2), (1001,), (40, 40), (1, 1, 1)])
@pytest.mark.parametrize(
    "kind",
    [
        "float32",
        "float64",
        "float16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
    ],
)
def test_shapes_and_dtypes_print_as_in_torch(
    torch: Any, shape: tuple[int, ...], kind: str
) -> None:
    array = (np.random.default_rng(0).standard_normal(shape) * 3).astype(kind)
    ours = repr(minigrad.tensor(array)).replace("minigrad.", "torch.")
    assert ours == repr(torch.tensor(array))


def test_histories_print_as_in_torch(torch: Any) -> None:
    def texts(module: Any) -> list[str]:
        x = module.tensor([1.5, 2.0], requires_grad=True)
        wide = module.tensor([0.5], dtype=module.float64, requires_grad=True)
        shown = [x, x * 2, (x * 2).sum(), wide, wide.exp(), (x * 2).detach()]
        return [repr(one).replace("minigrad.", "torch.") for one in shown]

    assert texts(minigrad) == texts(torch)


def test_print_options_are_torchs(torch: Any) -> None:
    def texts(module: Any) -> list[str]:
        shown = []
        values = module.tensor([1 / 3, 1000.5]), module.arange(2000.0)
        for options in (
            {"precision": 2},
            {"sci_mode": True},
            {"threshold": 5, "edgeitems": 1},
            {"linewidth": 40},
            {"profile": "short"},
            {"profile": "default"},
        ):
            module.set_printoptions(**options)
            shown += [repr(value) for value in values]
        return shown

    assert texts(minigrad) == texts(torch)


def test_named_results_print_as_in_torch(torch: Any) -> None:
    def text(module: Any) -> str:
        x = module.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
        shown = [repr(x.max(0)), repr(x.sort()), repr(x.shape), str(x.device)]
        return " ".join(shown).replace("minigrad.", "torch.")

    assert text(minigrad) == text(torch)
