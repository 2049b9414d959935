"""The dtypes: torch's names, NumPy's meaning."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad


def test_dtype_prints_its_module_and_name(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float64)
    name = f"{torch.__name__}.float64"
    assert f"{x.dtype} {x.dtype!r}" == f"{name} {name}"


def test_dtype_is_one_object_under_all_its_names(torch: Any) -> None:
    assert torch.ones(1).dtype is torch.float32
    assert torch.float32 is torch.float
    assert torch.long is torch.tensor([1]).dtype
    assert isinstance(torch.bool, torch.dtype)
    assert torch.get_default_dtype() is torch.float32
    assert torch.result_type(torch.tensor([1]), 1.0) is torch.float32


def test_dtype_is_compared_by_what_it_is(torch: Any) -> None:
    kinds = {torch.float32: "single", torch.float64: "double"}
    assert kinds[torch.ones(1).double().dtype] == "double"
    assert torch.float32 != torch.float64
    for other in (float, "float32", 4, None):
        assert torch.float32 != other


def test_dtype_says_what_numbers_it_holds(torch: Any) -> None:
    assert torch.float16.is_floating_point
    assert not torch.int64.is_floating_point
    assert torch.int8.is_signed
    assert not torch.uint8.is_signed
    assert not torch.float64.is_complex
    assert torch.float64.itemsize == 8


def test_dtype_stays_itself_in_copies_and_files(torch: Any) -> None:
    assert copy.deepcopy(torch.float32) is torch.float32
    assert pickle.loads(pickle.dumps(torch.int64)) is torch.int64


@pytest.mark.parametrize("name", ["float32", "float64", "int64", "uint8", "bool"])
def test_dtype_equals_that_of_numpy(name: str) -> None:
    ours, numpys = getattr(minigrad, name), np.dtype(name)
    assert ours == numpys
    assert numpys == ours
    assert ours == numpys.type
    assert numpys.type == ours
    assert {numpys: "found"}[ours] == "found"
    assert ours != np.dtype("complex64")


def test_numpy_takes_a_dtype_for_its_own() -> None:
    x = minigrad.ones(2, dtype=minigrad.float64)
    assert np.zeros(3, x.dtype).dtype == np.float64
    assert np.ones(3, np.float32).astype(x.dtype).dtype == np.float64
    assert np.finfo(minigrad.float32).eps == minigrad.finfo(np.float32).eps
    assert minigrad.tensor([1.0], dtype=np.float64).dtype is minigrad.float64


def test_dtype_without_a_name_of_ours_still_prints() -> None:
    x = minigrad.from_numpy(np.ones(1, np.complex64))
    assert (repr(x.dtype), x.dtype.is_complex) == ("minigrad.complex64", True)
