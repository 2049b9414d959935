"""conv1d, conv2d and their layers; tests/parity runs all with torch."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.func import grad, vmap
from tests.engine.support import raises
from tests.nn.test_normalization import normal


def test_conv2d_by_hand(torch: Any) -> None:
    layer = torch.nn.Conv2d(1, 1, 2)
    kernel = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    layer.load_state_dict({"weight": kernel, "bias": torch.tensor([0.5])})
    x = torch.tensor([[[[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]]], requires_grad=True)
    y = layer(x)
    assert y.tolist() == [[[[5.5, 7.5]]]]
    y.backward(torch.tensor([[[[1.0, 10.0]]]]))
    assert x.grad.tolist() == [[[[1.0, 12.0, 20.0], [3.0, 34.0, 40.0]]]]
    assert layer.weight.grad.tolist() == [[[[1.0, 20.0], [10.0, 1.0]]]]
    assert layer.bias.grad.tolist() == [11.0]


def test_conv1d_by_hand(torch: Any) -> None:
    x = torch.tensor([[[1.0, 2.0, 4.0]]])
    kernel = torch.tensor([[[1.0, -1.0]]])
    conv1d = torch.nn.functional.conv1d
    assert conv1d(x, kernel).tolist() == [[[-1.0, -2.0]]]
    assert conv1d(x, kernel, padding=1, stride=3).tolist() == [[[-1.0, 4.0]]]
    assert conv1d(x, kernel, dilation=2).tolist() == [[[-3.0]]]
    assert conv1d(x[0], kernel).tolist() == [[-1.0, -2.0]]


def test_slopes_of_images_that_no_place_sees_are_zero(torch: Any) -> None:
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    weight = torch.ones(1, 1, 1, 2)
    torch.nn.functional.conv2d(x, weight, stride=(3, 4)).sum().backward()
    seen, unseen = [1.0, 1.0, 0.0, 0.0], [0.0] * 4
    assert x.grad[0, 0].tolist() == [seen, unseen, unseen, seen]


def test_convolution_starts_within_its_bounds(torch: Any) -> None:
    layer = torch.nn.Conv2d(8, 50, 5, groups=2)
    for parameter in (layer.weight, layer.bias):
        most = parameter.abs().max().item()
        assert 0.07 < most <= 0.1


def test_conv2d_refuses_in_torchs_words(torch: Any) -> None:
    conv2d = torch.nn.functional.conv2d
    x, w = torch.ones(2, 4, 6, 6), torch.ones(6, 4, 3, 3)

    def refused(says: str, *args: Any, **options: Any) -> None:
        with raises(torch, errors.ShapeError, says):
            conv2d(*args, **options)

    refused("Expected 3D (unbatched) or 4D (batched) input to conv2d, but", x[0, 0], w)
    refused("to be a single integer value or a list of 1 values to match", x, w[0])
    refused("or a list of 2 values to match the convolution", x, w, stride=(1, 1, 1))
    refused("negative padding is not supported", x, w, padding=-1)
    refused("non-positive stride is not supported", x, w, stride=0)
    refused("non-positive dilation is not supported", x, w, dilation=0)
    refused("non-positive groups is not supported", x, w, groups=0)
    refused("padding='same' is not supported for st", x, w, stride=2, padding="same")
    refused("Invalid padding string: 'full'", x, w, padding="full")
    refused("expected weight to be at least 1 at dimension 0, but got", x, w[:0])
    refused(
        "to be divisible by 2 at dimension 0, but got weight of size [[5, 2, 3, 3]]",
        x,
        torch.ones(5, 2, 3, 3),
        groups=2,
    )
    refused("expected input[2, 3, 6, 6] to have 4 channels, but got 3", x[:, :3], w)
    refused(
        "expected bias to be 1-dimensional with 6 elements, but got bias of size [5]",
        x,
        w,
        torch.ones(5),
    )
    refused(
        "input size per channel: (4 x 2). Kernel size: (5 x 3). Kernel size can't be",
        x[:, :, :4, :2],
        w,
        dilation=(2, 1),
    )


def test_convolutions_refuse_other_kinds_in_torchs_words(torch: Any) -> None:
    conv2d = torch.nn.functional.conv2d
    x, w = torch.ones(2, 4, 6, 6), torch.ones(6, 4, 3, 3)
    says = "expected scalar type Double but found Float"
    with raises(torch, errors.OperandError, says):
        conv2d(x.double(), w)
    says = "Input type (float) and bias type (double) should be the same"
    with raises(torch, errors.OperandError, says):
        conv2d(x, w, torch.ones(6).double())
    says = "conv2d() received an invalid combination of arguments - got"
    for options in ({"stride": "a"}, {"padding": 1.5}):
        with raises(torch, errors.ArgumentTypeError, says):
            conv2d(x, w, **options)


def test_convolution_layers_refuse_in_torchs_words(torch: Any) -> None:
    def refused(says: str, *args: Any, **options: Any) -> None:
        with raises(torch, errors.ArgumentValueError, says):
            torch.nn.Conv2d(*args, **options)

    refused("in_channels must be divisible by groups", 3, 6, 3, groups=2)
    refused("out_channels must be divisible by groups", 4, 5, 3, groups=2)
    refused("groups must be a positive integer", 4, 6, 3, groups=0)
    refused("Invalid padding string 'full', should be on", 4, 6, 3, padding="full")
    refused("is not supported for strided con", 4, 6, 3, padding="same", stride=2)


def test_layer_has_zeros_around_its_input_only() -> None:
    says = "padding_mode='reflect' is not there"
    with pytest.raises(errors.UnsupportedOptionError, match=says):
        minigrad.nn.Conv2d(1, 1, 3, padding=1, padding_mode="reflect")


def test_same_with_an_even_kernel_pads_more_behind() -> None:
    # torch pads so too, and warns that it may need a copy for it.
    x = minigrad.tensor([[[1.0, 2.0, 4.0]]])
    kernel = minigrad.tensor([[[1.0, -1.0]]])
    y = minigrad.conv1d(x, kernel, padding="same")
    assert y.tolist() == [[[-1.0, -2.0, 4.0]]]


@pytest.mark.parametrize("dtype", ["int64", "float16"])
def test_other_dtypes_are_convolved_too(torch: Any, dtype: str) -> None:
    kind = getattr(torch, dtype)
    x = torch.tensor([[[1, 2, 4]]], dtype=kind)
    y = torch.nn.functional.conv1d(x, torch.tensor([[[1, -1]]], dtype=kind))
    assert y.dtype == kind
    assert y.tolist() == [[[-1, -2]]]


def test_no_images_give_no_results(torch: Any) -> None:
    layer = torch.nn.Conv2d(4, 6, 3)
    y = layer(torch.ones(0, 4, 6, 6))
    assert y.shape == (0, 6, 4, 4)
    y.sum().backward()
    assert float(layer.weight.grad.abs().sum()) == 0.0


def test_gradient_of_each_example(torch: Any) -> None:
    x, w = normal(torch, 3, 2, 5, 4).detach(), normal(torch, 4, 1, 2, 3).detach()

    def loss(weight: Any, image: Any) -> Any:
        y = torch.nn.functional.conv2d(image, weight, padding=1, groups=2)
        return (y**2).sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(w, x)
    for got, image in zip(each, x, strict=True):
        wanted = torch.func.grad(loss)(w, image)
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-12)


def test_all_examples_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from minigrad.kernels import convolution

    calls = []
    for name in ("convolve", "convolve_images", "convolve_weight"):
        inner = getattr(convolution, name)

        def counted(*args: Any, inner: Any = inner, name: str = name) -> Any:
            calls.append(name)
            return inner(*args)

        monkeypatch.setattr(convolution, name, counted)

    def loss(image: Any, weight: Any) -> Any:
        return minigrad.conv1d(image, weight).sum()

    slopes = vmap(grad(loss, (0, 1)), (0, None))
    slopes(minigrad.ones(3, 2, 5), minigrad.ones(4, 2, 3))
    assert calls == ["convolve", "convolve_images", "convolve_weight"]
