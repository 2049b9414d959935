"""What a tensor says of itself, and the names of dtypes, devices and shapes."""

import operator
import pickle
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import raises

TWICE_NAMED = [
    ("half", "float16"),
    ("float", "float32"),
    ("double", "float64"),
    ("short", "int16"),
    ("int", "int32"),
    ("long", "int64"),
]


@pytest.mark.parametrize(("name", "dtype"), TWICE_NAMED)
def test_second_name_of_a_dtype_is_also_a_method(
    torch: Any, name: str, dtype: str
) -> None:
    assert getattr(torch, name) == getattr(torch, dtype)
    converted = getattr(torch.tensor([1.0, 2.0]), name)()
    assert converted.dtype == getattr(torch, dtype)


def test_shape_is_a_tuple_that_stays_a_size(torch: Any) -> None:
    shape = torch.ones(2, 3).shape
    assert shape == (2, 3)
    assert isinstance(shape, torch.Size)
    assert shape.numel() == torch.Size([2, 3]).numel() == 6
    two, three = (2,), (3,)
    for made in (shape[:1] + three, two + shape[1:], torch.Size(two) + three):
        assert isinstance(made, torch.Size)
        assert made == shape
    assert repr(shape).endswith(".Size([2, 3])")
    assert f"{shape}" == repr(shape)
    assert torch.ones(2, 3).size() == shape
    assert torch.ones(2, 3).size(-1) == 3


def test_size_survives_pickling() -> None:
    again = pickle.loads(pickle.dumps(minigrad.ones(2, 3).shape))
    assert repr(again) == "minigrad.Size([2, 3])"


def test_length_along_a_dimension_that_is_not_there(torch: Any) -> None:
    for ask in (lambda: torch.ones(2).size(1), lambda: torch.ones(2).stride(-2)):
        with raises(torch, errors.DimensionError, "Dimension out of range"):
            ask()


def test_device_is_the_processor(torch: Any) -> None:
    x = torch.ones(2, device="cpu")
    assert x.device == torch.device("cpu")
    assert (str(x.device), x.device.type, x.device.index) == ("cpu", "cpu", None)
    assert repr(x.device) == "device(type='cpu')"
    assert x.to("cpu") is x.cpu() is x.to(x.device) is x
    assert not x.is_cuda
    assert {x.device: 1}[torch.device("cpu")] == 1
    assert torch.zeros_like(x, device=x.device).device == x.device


def test_device_that_nobody_knows(torch: Any) -> None:
    with raises(torch, errors.DeviceError, "device type at start of device string"):
        torch.device("nonsense")


def test_other_device_is_not_there() -> None:
    assert not minigrad.cuda.is_available()
    for use in (
        lambda: minigrad.ones(2, device="cuda"),
        lambda: minigrad.ones(2).to("cuda:0"),
        lambda: minigrad.ones(2).cuda(),
    ):
        with raises(minigrad, errors.DeviceMissingError, "not compiled with CUDA"):
            use()


def test_to_takes_a_dtype_a_device_or_a_tensor(torch: Any) -> None:
    x = torch.ones(2)
    assert x.to(torch.float64).dtype == torch.float64
    assert x.to("cpu", torch.int64).dtype == torch.int64
    assert x.to(torch.ones(1, dtype=torch.bool)).dtype == torch.bool
    assert x.to(dtype=torch.float64, device="cpu").dtype == torch.float64
    assert x.to(torch.float32) is x
    assert x.to(torch.float32, copy=True) is not x
    assert x.type_as(torch.tensor(1)).dtype == torch.int64


def test_conversion_is_recorded(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.double()
    assert y.grad_fn.name() == "ToCopyBackward0"
    assert x.float() is x
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert x.grad.dtype == torch.float32


def test_type_names_the_kind_or_converts(torch: Any) -> None:
    x = torch.ones(2)
    assert x.type() == "torch.FloatTensor"
    assert x.type("torch.DoubleTensor").dtype == torch.float64
    assert x.type(torch.int64).type() == "torch.LongTensor"


def test_memory_of_a_tensor(torch: Any) -> None:
    x = torch.ones(2, 3)
    assert (x.element_size(), x.itemsize, x.nbytes) == (4, 4, 24)
    assert (x.stride(), x.stride(0), x.storage_offset()) == ((3, 1), 3, 0)
    assert x.is_contiguous()
    assert x.contiguous() is x
    turned = x.t()
    assert not turned.is_contiguous()
    assert turned.contiguous().is_contiguous()
    assert turned.data_ptr() == x.data_ptr() != turned.contiguous().data_ptr()
    assert (x.nelement(), x.ndimension(), x.numel()) == (6, 2, 6)


def test_questions_of_kind(torch: Any) -> None:
    x = torch.ones(1)
    assert torch.is_tensor(x)
    assert not torch.is_tensor([1.0])
    assert x.is_floating_point()
    assert torch.is_floating_point(x)
    assert not torch.is_complex(x)
    assert x.is_signed()
    assert not x.bool().is_signed()
    assert torch.numel(x) == 1
    assert torch.is_nonzero(x)


def test_limits_of_dtypes(torch: Any) -> None:
    assert torch.finfo(torch.float32).eps == 1.1920928955078125e-07
    assert torch.finfo().max == torch.finfo(torch.float32).max
    assert torch.finfo(torch.float64).tiny == 2.2250738585072014e-308
    assert torch.iinfo(torch.int8).min == -128
    assert torch.iinfo(torch.int64).bits == 64
    with raises(torch, errors.ArgumentTypeError, "input type"):
        torch.finfo(torch.int32)


def test_element_is_found_by_in(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert 2 in x
    assert torch.tensor(1.0) in x
    assert 3.0 not in x
    with raises(torch, errors.ShapeError, "only supports Tensor or scalar"):
        _ = "a" in x


def test_integer_tensor_is_an_index(torch: Any) -> None:
    assert [10, 20][torch.tensor(1)] == 20
    assert complex(torch.tensor(2.5)) == 2.5
    with raises(torch, errors.ArgumentTypeError, "only integer tensors of a single"):
        operator.index(torch.tensor(1.5))


def test_matrices_are_transposed_by_property(torch: Any) -> None:
    x = torch.ones(4, 2, 3)
    assert x.mT.shape == (4, 3, 2)
    assert torch.ones(2, 3).T.shape == (3, 2)
    with raises(torch, errors.ShapeError, "only supported on matrices"):
        _ = torch.ones(3).mT


def test_variable_is_a_tensor(torch: Any) -> None:
    x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    assert x.requires_grad
    assert isinstance(x, torch.Tensor)
    assert isinstance(torch.ones(1), torch.autograd.Variable)


def test_dtype_is_not_named_by_text(torch: Any) -> None:
    with raises(torch, errors.ArgumentTypeError, "argument 'dtype' must be"):
        torch.ones(2, dtype="float32")
    assert torch.ones(2, dtype=float).dtype == torch.float64
    assert torch.ones(2, dtype=int).dtype == torch.int64


def test_casts_and_promotions_of_dtypes(torch: Any) -> None:
    assert torch.promote_types(torch.uint8, torch.int8) == torch.int16
    assert torch.promote_types(torch.int64, torch.float16) == torch.float16
    assert torch.result_type(torch.tensor([1, 2]), 1.0) == torch.float32
    assert torch.result_type(torch.tensor(1), torch.tensor([1.0])) == torch.float32
    kinds = ["bool", "uint8", "int8", "int64", "float16", "float32", "float64"]
    table = [
        [torch.can_cast(getattr(torch, a), getattr(torch, b)) for b in kinds]
        for a in kinds
    ]
    assert [sum(row) for row in table] == [7, 6, 6, 6, 3, 3, 3]
