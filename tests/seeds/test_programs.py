"""What newcomers read about ctx elsewhere runs here with one changed import."""

from typing import Any

import pytest

import minigrad as torch
from minigrad.autograd import Function, forward_ad
from minigrad.autograd.function import once_differentiable


class MulConstant(Function):
    def forward(tensor, constant):
        return tensor * constant

    def setup_context(ctx, inputs, output):
        _, constant = inputs
        print(ctx, type(ctx), ctx.__class__.__name__, sep="\n")
        ctx.constant = constant

    def backward(ctx, grad_output):
        return grad_output * ctx.constant, None


def test_mul_constant_prints_where_ctx_comes_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tensor = torch.ones((5, 1), requires_grad=True)
    result = MulConstant.apply(tensor, 10)
    ctx, kind, name = capsys.readouterr().out.splitlines()
    assert ctx.startswith(
        "<minigrad.autograd.function.MulConstantBackward object at 0x"
    )
    assert kind == "<class 'minigrad.autograd.function.MulConstantBackward'>"
    assert name == "MulConstantBackward"

    result.sum().backward()
    assert tensor.grad.tolist() == [[10.0]] * 5


class LinearModule(torch.nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super(LinearModule, self).__init__()  # noqa: UP008  as older programs write it
        self.linear = torch.nn.Linear(in_features, out_features)

    def forward(self, x: Any) -> Any:
        return self.linear(x)


def test_module_keeps_its_layer_on_self() -> None:
    model = LinearModule(5, 3)
    x = torch.randn(2, 5)
    output = model.forward(x)
    assert output.shape == (2, 3)
    assert torch.equal(output, model(x))
    output.sum().backward()
    assert torch.equal(model.linear.weight.grad, x.sum(0).expand(3, 5))
    assert model.linear.bias.grad.tolist() == [2.0] * 3
    assert [name for name, _ in model.named_parameters()] == [
        "linear.weight",
        "linear.bias",
    ]


class Doubled(torch.autograd.Function):
    def forward(ctx, input):
        return input * 2

    def backward(ctx, grad_output):
        return grad_output * 2


def test_function_without_decorators_and_with_nothing_saved() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    doubled = Doubled.apply
    z = doubled(x) * 3
    z.backward()
    assert x.grad.tolist() == [6.0]


def test_backward_that_unpacks_what_was_never_saved_says_so() -> None:
    class Forgetful(Doubled):
        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (input,) = ctx.saved_tensors
            return grad_output * input

    y = Forgetful.apply(torch.tensor([1.0], requires_grad=True))
    with pytest.raises(ValueError, match="not enough values to unpack"):
        y.backward()


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.shape = x.shape
        return x * x

    @staticmethod
    def backward(ctx: Any, grad_out: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * grad_out


def test_square_keeps_a_tensor_and_an_attribute() -> None:
    x = torch.tensor([1.0, -3.0], requires_grad=True)
    y = Square.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, -6.0]
    assert y.grad_fn.shape == (2,)


class Inplace(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        x_npy = x.numpy()
        x_npy += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output


def test_marked_change_in_place_is_noticed_by_what_saved_the_old_value() -> None:
    a = torch.tensor(1.0, requires_grad=True, dtype=torch.float64).clone()
    b = a * a
    Inplace.apply(a)
    assert a.item() == 2.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        b.backward()


class Mixed(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, z: int) -> Any:
        w = x * z
        out = x * y + y * z + w * y
        ctx.save_for_backward(x, y, w, out)
        ctx.z = z
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Any) -> Any:
        x, y, w, _ = ctx.saved_tensors
        z = ctx.z
        return grad_out * (y + y * z), grad_out * (x + z + w), None


def test_inputs_an_intermediate_and_the_output_are_saved_together() -> None:
    a = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
    b = torch.tensor(2.0, requires_grad=True, dtype=torch.float64)
    d = Mixed.apply(a, b, 4)
    d.backward()
    assert d.item() == 18.0
    assert (a.grad.item(), b.grad.item()) == (10.0, 9.0)


class Copies(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone(), x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g1: Any, g2: Any) -> Any:
        return g1 + g2


class CopiesWithNone(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x.clone(), x.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g1: Any, g2: Any) -> Any:
        (x,) = ctx.saved_tensors
        ctx.got_none = g2 is None
        grad_input = torch.zeros_like(x)
        if g1 is not None:
            grad_input += g1
        if g2 is not None:
            grad_input += g2
        return grad_input


@pytest.mark.parametrize("function", [Copies, CopiesWithNone])
def test_unused_output_is_zeros_or_none(function: Any) -> None:
    a = torch.tensor(1.0, requires_grad=True)
    b, _ = function.apply(a)
    b.backward()
    assert a.grad.item() == 1.0
    assert getattr(b.grad_fn, "got_none", False) == (function is CopiesWithNone)


class Power(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, input: torch.Tensor, n: int
    ) -> torch.Tensor:
        ctx.save_for_backward(input)
        ctx.n = n
        return input**n

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, grad_output: torch.Tensor
    ) -> tuple[torch.Tensor, None]:
        (input,) = ctx.saved_tensors
        n = ctx.n
        return grad_output * (n * input ** (n - 1)), None


def test_power_with_type_hints_is_differentiable_twice() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (first,) = torch.autograd.grad(Power.apply(x, 3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3.0, 12.0]
    assert second.tolist() == [6.0, 12.0]


class Matrices(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Any, weight: Any) -> Any:
        ctx.save_for_backward(input, weight)
        return input @ weight

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        input, weight = ctx.saved_tensors
        return grad_output @ weight.T, input.T @ grad_output


def test_product_of_matrices_by_its_own_rule_is_the_built_in_one() -> None:
    gradients = []
    for product in (Matrices.apply, torch.matmul):
        torch.manual_seed(0)
        a = torch.randn(2, 3, requires_grad=True)
        w = torch.randn(3, 4, requires_grad=True)
        (product(a, w) * torch.arange(8.0).reshape(2, 4)).sum().backward()
        gradients.append((a.grad, w.grad))
    for own, built_in in zip(*gradients, strict=True):
        assert torch.allclose(own, built_in)


class ThreeInputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any, z: Any) -> Any:
        ctx.save_for_backward(x, y, z)
        return x * y + z

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, y, _ = ctx.saved_tensors
        print(f"Saved tensors: {len(ctx.saved_tensors)}")
        for i, tensor in enumerate(ctx.saved_tensors):
            print(f"Tensor {i}: shape={tensor.shape}, device={tensor.device}")
        return grad_output * y, grad_output * x, grad_output


def test_saved_tensors_can_be_printed_in_backward(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x, y, z = (torch.tensor([v, v], requires_grad=True) for v in (1.0, 2.0, 3.0))
    ThreeInputs.apply(x, y, z).sum().backward()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Saved tensors: 3"
    assert printed[1] == "Tensor 0: shape=minigrad.Size([2]), device=cpu"
    assert (x.grad.tolist(), y.grad.tolist()) == ([2.0, 2.0], [1.0, 1.0])


class NoneSafe(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Any, scale_factor: float) -> Any:
        ctx.set_materialize_grads(False)
        ctx.debug_info = f"Forward called with input shape: {input.shape}"
        ctx.scale_factor = scale_factor
        return input * scale_factor

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        if grad_output is None:
            return None, None
        return grad_output * ctx.scale_factor, None


def test_attributes_of_ctx_are_there_in_backward_and_after() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = NoneSafe.apply(x, 0.5)
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 0.5]
    assert y.grad_fn.debug_info.startswith("Forward called with input shape: ")


class KeepsOnTheClass(torch.autograd.Function):
    saved_input: Any = None

    @staticmethod
    def forward(ctx: Any, input: Any) -> Any:
        KeepsOnTheClass.saved_input = input
        return input**2

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 2 * KeepsOnTheClass.saved_input * grad_output


def test_tensor_on_the_class_is_that_of_the_last_call() -> None:
    first = torch.tensor(1.0, requires_grad=True)
    second = torch.tensor(5.0, requires_grad=True)
    y = KeepsOnTheClass.apply(first)
    KeepsOnTheClass.apply(second)
    y.backward()
    assert first.grad.item() == 10.0  # 2 was right
    KeepsOnTheClass.saved_input = None


class Sorted(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        sorted, idx = x.sort()
        ctx.mark_non_differentiable(idx)
        ctx.save_for_backward(x, idx)
        return sorted, idx

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g1: Any, g2: Any) -> Any:
        x, idx = ctx.saved_tensors
        ctx.second_gradient = g2
        grad_input = torch.zeros_like(x)
        grad_input.index_add_(0, idx, g1)
        return grad_input


def test_sorting_gives_back_gradients_in_the_old_order() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, indices = Sorted.apply(x)
    assert values.tolist() == [1.0, 2.0, 3.0]
    assert indices.tolist() == [1, 2, 0]
    assert values.requires_grad
    assert not indices.requires_grad
    values.backward(torch.tensor([10.0, 20.0, 30.0]))
    assert x.grad.tolist() == [30.0, 10.0, 20.0]
    assert values.grad_fn.second_gradient.tolist() == [0, 0, 0]


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any, z: int) -> Any:
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.z = z
        return x * y * z

    @staticmethod
    def jvp(ctx: Any, x_t: Any, y_t: Any, _: Any) -> Any:
        x, y = ctx.saved_tensors
        z = ctx.z
        return z * (y * x_t + x * y_t)

    @staticmethod
    def vjp(ctx: Any, grad_out: Any) -> Any:
        x, y = ctx.saved_tensors
        z = ctx.z
        return z * grad_out * y, z * grad_out * x, None


def test_values_are_saved_for_forward_and_backward_mode() -> None:
    a = torch.tensor(1.0, requires_grad=True, dtype=torch.double)
    t = torch.tensor(1.0, dtype=torch.double)
    b = torch.tensor(2.0, requires_grad=True, dtype=torch.double)
    with forward_ad.dual_level():
        a_dual = forward_ad.make_dual(a, t)
        d = Triple.apply(a_dual, b, 4)
        assert forward_ad.unpack_dual(d).tangent.item() == 8.0
        d.backward()
    assert (a.grad.item(), b.grad.item()) == (8.0, 4.0)


def test_ctx_is_called_by_its_methods_backward_and_forward() -> None:
    node = torch.autograd.function.BackwardCFunction
    assert {"apply", "apply_jvp", "mark_dirty", "save_for_forward"} <= set(dir(node))
    y = Triple.apply(torch.tensor(3.0, requires_grad=True), torch.tensor(5.0), 2)
    one = torch.tensor(1.0)
    assert [g.item() for g in y.grad_fn.apply(one)[:2]] == [10.0, 6.0]
    assert y.grad_fn.apply_jvp(one, one, None).item() == 16.0


def test_device_of_a_tensor_is_the_processor() -> None:
    tensor = torch.ones((5, 1), requires_grad=True)
    assert str(tensor.device) == "cpu"
    assert tensor.to(tensor.device) is tensor
