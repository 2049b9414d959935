"""The programs of torch's page on transforms and autograd.Function; and indexing."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from tests.engine.support import raises
from tests.engine.transformed import batch


def numpy_functions(torch: Any) -> Any:
    """Sort and take on NumPy, each with a vmap staticmethod; one uses the other."""

    def to_numpy(tensor: Any) -> Any:
        return tensor.detach().numpy()

    class NumpySort(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, dim: int) -> Any:
            array = to_numpy(x)
            order = np.argsort(array, axis=dim)
            back = np.argsort(order, axis=dim)
            values = np.take_along_axis(array, order, axis=dim)
            return tuple([torch.tensor(one) for one in (values, order, back)])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            _, dim = inputs
            _, order, back = output
            ctx.mark_non_differentiable(order, back)
            ctx.save_for_backward(order, back)
            ctx.dim = dim

        @staticmethod
        def backward(ctx: Any, grad: Any, _0: Any, _1: Any) -> Any:
            order, back = ctx.saved_tensors
            return NumpyTake.apply(grad, back, order, ctx.dim), None

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, dim: int) -> Any:
            x_bdim, _ = in_dims
            x = x.movedim(x_bdim, 0)
            dim = dim if dim >= 0 else dim + x.dim() - 1
            return NumpySort.apply(x, dim + 1), (0, 0, 0)

    class NumpyTake(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, order: Any, back: Any, dim: int) -> Any:
            return torch.tensor(
                np.take_along_axis(to_numpy(x), to_numpy(order), axis=dim)
            )

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            _, order, back, dim = inputs
            ctx.save_for_backward(order, back)
            ctx.dim = dim

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            order, back = ctx.saved_tensors
            return NumpyTake.apply(grad, back, order, ctx.dim), None, None, None

        @staticmethod
        def vmap(
            info: Any, in_dims: Any, x: Any, order: Any, back: Any, dim: int
        ) -> Any:
            x_bdim, order_bdim, back_bdim, _ = in_dims
            logical = x.dim() if x_bdim is None else x.dim() - 1
            dim = dim if dim >= 0 else dim + logical

            def first(one: Any, bdim: Any) -> Any:
                if bdim is None:
                    return one.expand(info.batch_size, *one.shape)
                return one.movedim(bdim, 0)

            x, order = first(x, x_bdim), first(order, order_bdim)
            back = first(back, back_bdim)
            return NumpyTake.apply(x, order, back, dim + 1), 0

    return NumpySort


@pytest.mark.rule("M06")
def test_sort_on_numpy_under_every_transform(torch: Any) -> None:
    sort = numpy_functions(torch)
    x = torch.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]], dtype=torch.float64)
    weights = torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)

    def f(x: Any) -> Any:
        values, _, _ = sort.apply(x, -1)
        return (values * values * weights).sum() / 2

    wanted = [[300.0, 1.0, 20.0], [4.0, 600.0, 50.0]]
    assert torch.vmap(f)(x).tolist() == [470.5, 1933.0]
    assert torch.func.grad(lambda x: torch.vmap(f)(x).sum())(x).tolist() == wanted
    assert torch.vmap(torch.func.grad(f))(x).tolist() == wanted
    rows = torch.func.jacrev(lambda x: sort.apply(x, 0)[0])(x)
    assert rows.shape == (2, 3, 2, 3)


def test_cube_that_saves_an_intermediate_as_an_output(torch: Any) -> None:
    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            (x,) = inputs
            _, slope = output
            ctx.save_for_backward(x, slope)

        @staticmethod
        def backward(ctx: Any, grad: Any, grad_of_slope: Any) -> Any:
            x, slope = ctx.saved_tensors
            return grad * slope + grad_of_slope * 6 * x

    def cube(x: Any) -> Any:
        return Cube.apply(x)[0]

    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    assert torch.vmap(cube)(x).tolist() == [1.0, 8.0, 27.0]
    grad = torch.func.grad
    assert torch.vmap(grad(grad(cube)))(x).tolist() == [6.0, 12.0, 18.0]


def test_index_that_differs_from_example_to_example(torch: Any) -> None:
    x = batch(torch)
    which = torch.tensor([0, 1, 0])
    assert torch.vmap(lambda x, i: x[i])(x, which).tolist() == [1.0, 4.0, 5.0]
    assert torch.vmap(lambda i: x[i])(which).tolist() == [[1, 2], [3, 4], [1, 2]]

    def put(x: Any, i: Any) -> Any:
        y = x.clone()
        y[i] = 0.0
        return y

    assert torch.vmap(put)(x, which).tolist() == [[0, 2], [3, 0], [0, 6]]


def test_slope_through_an_index_that_differs() -> None:
    # torch refuses this one: under grad its index becomes a Python number.
    def f(x: Any, i: Any) -> Any:
        y = x * x
        y[i] = 0.0
        return y.sum()

    slopes = minigrad.vmap(minigrad.func.grad(f))(
        batch(minigrad), minigrad.tensor([0, 1, 0])
    )
    assert slopes.tolist() == [[0.0, 4.0], [6.0, 0.0], [0.0, 12.0]]


def test_parts_of_an_example_can_be_read_and_written(torch: Any) -> None:
    def f(x: Any) -> Any:
        first, second = x
        y = torch.zeros_like(x)
        y[0] = second
        y[1:] = torch.stack([first, second])[:1]
        y.view(2)[1].mul_(10.0)
        return y

    assert torch.vmap(f)(batch(torch)).tolist() == [[2, 10], [4, 30], [6, 50]]
    slopes = torch.vmap(torch.func.grad(lambda x: f(x).sum()))(batch(torch))
    assert slopes.tolist() == [[10.0, 1.0]] * 3


def test_mask_that_differs_from_example_to_example_is_refused(torch: Any) -> None:
    says = "We do not support batching operators that can support dynamic shape"
    with raises(torch, errors.TransformError, says):
        torch.vmap(lambda x: x[x > 2])(batch(torch))


@pytest.mark.parametrize("fill", ["normal_", "uniform_"])
def test_random_numbers_in_place_are_an_error_unless_allowed(
    torch: Any, fill: str
) -> None:
    def f(x: Any) -> Any:
        return getattr(torch.zeros_like(x), fill)()

    says = "vmap: called random operation while in randomness error mode"
    with raises(torch, errors.TransformError, says):
        torch.vmap(f)(batch(torch))
    found = torch.vmap(f, randomness="different")(batch(torch)).tolist()
    assert found[0] != found[1] != found[2]
