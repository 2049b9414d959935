"""vmap: its arguments, what the mapped function sees, and custom Functions under it."""

import threading
from typing import Any

import pytest

import minigrad
from minigrad import errors
from minigrad.engine import interpreters
from minigrad.engine.builtin import Builtin
from minigrad.func import vmap
from tests.engine.support import Boom, leaf, raises, rule
from tests.engine.transformed import BATCH, batch, square


def test_function_sees_one_example_and_runs_once(torch: Any) -> None:
    seen: list[Any] = []

    def total(x: Any) -> Any:
        seen.append((tuple(x.shape), x.ndim, x.dim(), x.numel(), len(x), x.dtype))
        return x.sum()

    assert torch.vmap(total)(batch(torch)).tolist() == [3.0, 7.0, 11.0]
    assert seen == [((2,), 1, 1, 2, 2, torch.float64)]


def test_dimensions_in_and_out_can_be_chosen(torch: Any) -> None:
    x = batch(torch)
    row = torch.tensor([10.0, 20.0], dtype=torch.float64)
    columns = torch.vmap(lambda x: x.sum(), in_dims=1)(x)
    last = torch.vmap(lambda x: x.sum(), in_dims=-1)(x)
    shared = torch.vmap(lambda x, y: x + y, in_dims=(0, None))(x, row)
    turned = torch.vmap(lambda x: x * 2, out_dims=1)(x)
    assert columns.tolist() == last.tolist() == [9.0, 12.0]
    assert shared.tolist() == [[11.0, 22.0], [13.0, 24.0], [15.0, 26.0]]
    assert turned.tolist() == [[2.0, 6.0, 10.0], [4.0, 8.0, 12.0]]


def test_arguments_and_outputs_may_be_nested(torch: Any) -> None:
    x, y = batch(torch), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)

    def f(both: Any, extra: Any) -> Any:
        return {"a": both["x"] * 2, "b": [both["y"] + extra[0], extra[1]]}

    found = torch.vmap(
        f, in_dims=({"x": 0, "y": 0}, None), out_dims={"a": 1, "b": [0, None]}
    )({"x": x, "y": y}, (1.0, "text"))
    assert found["a"].tolist() == [[2.0, 6.0, 10.0], [4.0, 8.0, 12.0]]
    assert found["b"][0].tolist() == [2.0, 3.0, 4.0]
    assert found["b"][1] == "text"


def test_keywords_are_the_same_for_all_examples(torch: Any) -> None:
    row = torch.tensor([10.0, 20.0], dtype=torch.float64)
    got = torch.vmap(lambda x, y: (x * y).sum())(batch(torch), y=row)
    assert got.tolist() == [50.0, 110.0, 170.0]


def test_output_that_no_example_changes_is_repeated(torch: Any) -> None:
    got = torch.vmap(lambda x: torch.ones(2))(batch(torch))
    assert got.tolist() == [[1.0, 1.0]] * 3


def test_vmaps_nest(torch: Any) -> None:
    x = batch(torch)
    y = torch.tensor([1.0, 10.0], dtype=torch.float64)
    inner = torch.vmap(lambda a, b: a * b)
    assert torch.vmap(inner, in_dims=(0, None))(x, y).tolist() == (x * y).tolist()
    outer = torch.vmap(torch.vmap(lambda a, b: a + b, (0, None)), (None, 0))
    assert outer(y, x).shape == (3, 2, 2)
    assert outer(y, x).tolist()[2] == [[6.0, 7.0], [15.0, 16.0]]


def test_gradients_pass_through_vmap(torch: Any) -> None:
    x = batch(torch).requires_grad_()
    w = leaf(torch, 2.0, 3.0)
    torch.vmap(lambda x: (x * x * w).sum(), in_dims=0)(x).sum().backward()
    assert x.grad.tolist() == [[4.0, 12.0], [12.0, 24.0], [20.0, 36.0]]
    assert w.grad.tolist() == [35.0, 56.0]


def test_example_has_no_graph_that_the_function_could_see(torch: Any) -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        y = x * 2
        seen.extend([x.requires_grad, y.requires_grad, y.grad_fn, x.is_leaf])
        return y

    out = torch.vmap(f)(batch(torch).requires_grad_())
    assert seen == [False, False, None, True]
    assert out.requires_grad
    with raises(torch, errors.GraphError, "does not require grad"):
        torch.vmap(lambda x: torch.autograd.grad(x.sum(), x))(out)


def test_examples_broadcast_as_one_of_them_would(torch: Any) -> None:
    numbers = torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
    got = torch.vmap(lambda x, n: x * n)(batch(torch), numbers)
    assert got.tolist() == [[1.0, 2.0], [30.0, 40.0], [500.0, 600.0]]
    rows = torch.vmap(lambda n, m: n + m, (0, None))(numbers, batch(torch))
    assert rows.shape == (3, 3, 2)


def test_single_number_of_an_example_does_not_decide_the_dtype(torch: Any) -> None:
    wide = torch.tensor([1.0, 2.0], dtype=torch.float64)
    vector = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float32)
    whole = torch.tensor([1, 2])
    vmap = torch.vmap
    assert vmap(lambda n: n * vector)(wide).dtype == torch.float32
    assert vmap(lambda n: n + vector)(whole).dtype == torch.float32
    assert vmap(lambda n: n + wide.sum())(whole).dtype == torch.float64
    single = torch.tensor(1.0, dtype=torch.float64)
    assert vmap(lambda n: n * single)(vector).dtype == torch.float64


REFUSED = [
    (lambda x: x.item(), "vmap: It looks like you're calling .item() on a Tensor"),
    (lambda x: float(x), "vmap: It looks like you're calling .item() on a Tensor"),
    (lambda x: bool(x > 0), "use a Tensor in some data-dependent control flow"),
    (lambda x: x.data, "accessing `data` under vmap transform is not allowed"),
    (lambda x: x.requires_grad_(), "You are attempting to call Tensor.requires_grad_"),
    (lambda x: x.backward(), "backward() called inside a functorch transform"),
]


@pytest.mark.parametrize(("use", "says"), REFUSED)
def test_what_needs_a_single_example_is_refused(
    torch: Any, use: Any, says: str
) -> None:
    with raises(torch, errors.TransformError, says):
        torch.vmap(lambda x: use(x.sum()))(batch(torch))


@pytest.mark.parametrize("use", [lambda x: x.numpy(), lambda x: x.tolist()])
def test_example_has_no_array(torch: Any, use: Any) -> None:
    says = "Cannot access data pointer of Tensor that doesn't have storage"
    with raises(torch, errors.NoStorageError, says):
        torch.vmap(use)(batch(torch))


def test_writing_all_examples_into_one_tensor_is_refused(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    says = "vmap: inplace arithmetic(self, *extra_args) is not possible"
    with raises(torch, errors.TransformError, says):
        torch.vmap(lambda n: torch.zeros(()).mul_(n))(x)


def test_change_in_place_reaches_the_whole_batch(torch: Any) -> None:
    x = batch(torch)
    version = x._version
    torch.vmap(lambda x, n: x.mul_(n).add_(1.0))(x, torch.tensor([1.0, 2.0, 3.0]))
    assert x.tolist() == [[2.0, 3.0], [7.0, 9.0], [16.0, 19.0]]
    assert x._version > version


def test_zeros_like_an_example_can_be_written(torch: Any) -> None:
    def f(x: Any) -> Any:
        like, new = torch.zeros_like(x), x.new_zeros(2)
        return like.add_(x), new.add_(x)

    for found in torch.vmap(f)(batch(torch)):
        assert found.tolist() == BATCH


UNFIT = [
    ({}, lambda torch: (), "got no inputs"),
    ({}, lambda torch: (3.0,), "We cannot vmap over non-Tensor arguments"),
    ({"in_dims": None}, lambda torch: (batch(torch),), "expected `in_dims` to be int"),
    ({"in_dims": [0]}, lambda torch: (batch(torch),), "expected `in_dims` to be int"),
    (
        {"in_dims": (None,)},
        lambda torch: (batch(torch),),
        "Expected at least one Tensor to vmap over",
    ),
    (
        {"in_dims": (0, 0)},
        lambda torch: (batch(torch),),
        "in_dims is not compatible with the structure of `inputs`",
    ),
    (
        {"in_dims": (1.5,)},
        lambda torch: (batch(torch),),
        "in_dim must be either an integer dimension or None",
    ),
    (
        {"in_dims": 2},
        lambda torch: (batch(torch),),
        "expected in_dim to satisfy -2 <= in_dim < 2",
    ),
    (
        {},
        lambda torch: (batch(torch), torch.ones(2)),
        "Expected all tensors to have the same size in the mapped dimension, got "
        "sizes [3, 2] for the mapped dimension",
    ),
]


@pytest.mark.parametrize(("options", "args", "says"), UNFIT)
def test_arguments_that_do_not_fit_are_refused(
    torch: Any, options: Any, args: Any, says: str
) -> None:
    with raises(torch, errors.MappingError, says):
        torch.vmap(lambda *args: args[0], **options)(*args(torch))


UNFIT_OUTPUTS = [
    (0, lambda x: 3, "must only return Tensors, got type <class 'int'>"),
    (None, lambda x: x, "can not return a BatchedTensor when out_dim is None"),
    ((0, 1, 0), lambda x: (x, x), "out_dims is not compatible with the structure of"),
    ("first", lambda x: x, "`out_dims` must be an int, None or a python collection"),
]


@pytest.mark.parametrize(("out_dims", "function", "says"), UNFIT_OUTPUTS)
def test_outputs_that_do_not_fit_are_refused(
    torch: Any, out_dims: Any, function: Any, says: str
) -> None:
    with raises(torch, errors.MappingError, says):
        torch.vmap(function, out_dims=out_dims)(batch(torch))


def test_out_dim_that_is_not_there_is_refused(torch: Any) -> None:
    with raises(torch, errors.DimensionError, "Dimension out of range"):
        torch.vmap(lambda x: x, out_dims=2)(batch(torch))


def test_chunks_give_what_the_whole_gives(torch: Any) -> None:
    sizes: list[int] = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            sizes.append(info.batch_size)
            return x.sum(1 - in_dims[0]), 0

    got = torch.vmap(Seen.apply, chunk_size=2)(batch(torch))
    assert (got.tolist(), sizes) == ([3.0, 7.0, 11.0], [2, 1])
    with raises(torch, errors.MappingError, "chunk_size should be None or greater"):
        torch.vmap(Seen.apply, chunk_size=0)


def test_batch_without_examples_gives_a_result_without_any(torch: Any) -> None:
    got = torch.vmap(lambda x: (x * 2).sum())(torch.zeros((0, 3)))
    assert got.shape == (0,)


def test_randomness_is_an_error_unless_allowed(torch: Any) -> None:
    x = batch(torch)
    says = "vmap: called random operation while in randomness error mode"
    for draw in (lambda x: torch.randn(2), torch.rand_like, torch.bernoulli):
        with raises(torch, errors.TransformError, says):
            torch.vmap(lambda x, draw=draw: draw(x))(x / 10)
    with raises(torch, errors.TransformError, "'error', 'different', or 'same'"):
        torch.vmap(lambda x: x, randomness="any")(x)


def test_randomness_same_or_different_for_the_examples(torch: Any) -> None:
    def f(x: Any) -> Any:
        return x * 0 + torch.randn(2, dtype=torch.float64)

    same = torch.vmap(f, randomness="same")(batch(torch)).tolist()
    different = torch.vmap(f, randomness="different")(batch(torch)).tolist()
    assert same[0] == same[1] == same[2]
    assert different[0] != different[1] != different[2]


@pytest.mark.parametrize("name", ["vmap", "grad", "vjp", "jacrev"])
@pytest.mark.rule("M01")
def test_forward_with_ctx_is_refused_under_a_transform(torch: Any, name: str) -> None:
    F = rule(torch, lambda ctx, x: x * 2, lambda ctx, grad: grad * 2)
    x = torch.tensor([1.0, 2.0])
    runs = {
        "vmap": lambda: torch.vmap(F.apply)(x),
        "grad": lambda: torch.func.grad(lambda x: F.apply(x).sum())(x),
        "vjp": lambda: torch.func.vjp(F.apply, x),
        "jacrev": lambda: torch.func.jacrev(F.apply)(x),
    }
    says = (
        "In order to use an autograd.Function with functorch transforms (vmap, grad, "
        "jvp, jacrev, ...), it must override the setup_context staticmethod"
    )
    with raises(torch, errors.TransformError, says):
        runs[name]()
    assert F.apply(x).tolist() == [2.0, 4.0]


def test_refusal_under_a_transform_names_the_class_of_the_learner() -> None:
    F = rule(minigrad, lambda ctx, x: x * 2)
    with pytest.raises(errors.TransformError, match=r"^F\.apply: "):
        minigrad.vmap(F.apply)(minigrad.ones(2))


@pytest.mark.rule("M03")
def test_function_that_says_nothing_of_batches_is_refused(torch: Any) -> None:
    F = square(torch)
    says = "You tried to vmap over Square, but it does not have vmap support"
    with raises(torch, errors.TransformError, says):
        torch.vmap(F.apply)(batch(torch))
    with raises(torch, errors.TransformError, says):
        torch.vmap(lambda x: F.apply(torch.tensor(2.0)) * x)(batch(torch))


@pytest.mark.rule("M04")
def test_generated_rule_runs_the_methods_on_examples(torch: Any) -> None:
    shapes: list[Any] = []

    class Square(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            shapes.append(("forward", tuple(x.shape)))
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.shape = tuple(inputs[0].shape)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            shapes.append(("backward", ctx.shape, tuple(x.shape), tuple(grad.shape)))
            return 2 * x * grad

    x = batch(torch).requires_grad_()
    y = torch.vmap(Square.apply)(x)
    assert y.tolist() == [[1.0, 4.0], [9.0, 16.0], [25.0, 36.0]]
    assert y.grad_fn.name() == "VmappedSquareBackward"
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]
    assert shapes == [("forward", (2,)), ("backward", (2,), (2,), (2,))]


@pytest.mark.rule("M04")
def test_generated_rule_under_grad_and_nested(torch: Any) -> None:
    F = square(torch, generate_vmap_rule=True)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert torch.vmap(F.apply)(x).tolist() == [1.0, 4.0]
    assert torch.vmap(torch.func.grad(F.apply))(x).tolist() == [2.0, 4.0]
    assert torch.vmap(torch.func.grad(torch.func.grad(F.apply)))(x).tolist() == [2, 2]
    assert torch.vmap(torch.vmap(F.apply))(batch(torch)).tolist()[2] == [25.0, 36.0]
    y, z = x.clone().requires_grad_(), torch.vmap(F.apply)
    (first,) = torch.autograd.grad(z(y).sum(), y, create_graph=True)
    assert torch.autograd.grad(first.sum(), y)[0].tolist() == [2.0, 2.0]


@pytest.mark.rule("M04")
def test_generated_rule_sums_the_gradient_of_what_all_examples_share(
    torch: Any,
) -> None:
    class Product(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any, y: Any, power: int) -> Any:
            return x * y, x.sum()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs[:2])

        @staticmethod
        def backward(ctx: Any, grad: Any, grad_of_sum: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y + grad_of_sum, grad * x, None

    x, y = batch(torch).requires_grad_(), leaf(torch, 10.0, 20.0)
    product, total = torch.vmap(lambda x: Product.apply(x, y, 3))(x)
    assert total.tolist() == [3.0, 7.0, 11.0]
    (slope,) = torch.autograd.grad(product.sum(), y, create_graph=True)
    assert (tuple(slope.shape), slope.tolist()) == ((2,), [9.0, 12.0])
    (product.sum() + 100 * total.sum()).backward()
    assert x.grad.tolist() == [[110.0, 120.0]] * 3
    assert y.grad.tolist() == [9.0, 12.0]


@pytest.mark.rule("M04")
def test_generated_rule_reduces_a_gradient_to_the_shape_of_the_example(
    torch: Any,
) -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        return torch.ones((4, 1), dtype=torch.float64) * grad

    more = {"generate_vmap_rule": True, "backward": staticmethod(backward)}
    x = batch(torch).requires_grad_()
    torch.vmap(square(torch, **more).apply, in_dims=1)(x).sum().backward()
    assert x.grad.tolist() == [[4.0, 4.0]] * 3


class Kept:
    """What a setup_context keeps besides saved tensors."""


def keep(ctx: Any, how: str, x: Any, output: Any, torch: Any) -> None:
    """Put on ctx what ``slope_kept`` needs, in one of several ways."""
    if how == "saved too":
        ctx.save_for_backward(x)
    if how == "number":
        ctx.factor = 2.0
    if how == "constant":
        ctx.factor = torch.tensor(2.0, dtype=torch.float64)
    if how == "output":
        ctx.y = output
    if how == "made":
        ctx.slope = x * 2
    if how == "list":
        ctx.list = []
        ctx.list.append(x)
    if how == "object":
        ctx.kept = Kept()
        ctx.kept.x = x
    ctx.x = x


def slope_kept(ctx: Any, how: str) -> Any:
    """2 * x, from what ``keep`` has put on ctx."""
    return {
        "input": lambda: 2 * ctx.x,
        "saved too": lambda: ctx.saved_tensors[0] + ctx.x,
        "number": lambda: ctx.factor * ctx.x,
        "constant": lambda: ctx.factor * ctx.x,
        "output": lambda: 2 * ctx.y / ctx.x,
        "made": lambda: ctx.slope,
        "list": lambda: 2 * ctx.list[0],
        "object": lambda: 2 * ctx.kept.x,
    }[how]()


KEPT = ("input", "saved too", "number", "constant", "output", "made", "list", "object")


def keeping(torch: Any, how: str) -> Any:
    """x * x with a generated rule, which keeps x in an attribute of ctx."""

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        keep(ctx, how, inputs[0], output, torch)

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * slope_kept(ctx, how)

    own = {"setup_context": setup_context, "backward": backward, "jvp": backward}
    if how == "saved too":
        del own["jvp"]  # torch gives jvp what save_for_forward has saved
    static = {name: staticmethod(method) for name, method in own.items()}
    return square(torch, generate_vmap_rule=True, **static)


@pytest.mark.rule("M04")
@pytest.mark.parametrize("how", KEPT)
def test_generated_rule_keeps_attributes_of_ctx_as_examples(
    torch: Any, how: str
) -> None:
    F, (vmap, grad) = keeping(torch, how), (torch.vmap, torch.func.grad)
    x, xs = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64), batch(torch)
    slopes = (2 * xs).tolist()

    def total(x: Any) -> Any:
        return F.apply(x).sum()

    assert vmap(grad(F.apply))(x).tolist() == [2.0, 4.0, 6.0]
    assert vmap(grad(total), in_dims=1, out_dims=1)(xs).tolist() == slopes
    assert vmap(vmap(grad(F.apply)))(xs).tolist() == slopes
    assert grad(lambda x: vmap(total, in_dims=1)(x).sum())(xs).tolist() == slopes
    assert grad(lambda x: vmap(vmap(F.apply))(x).sum())(xs).tolist() == slopes
    assert vmap(grad(lambda x: vmap(F.apply)(x).sum()))(xs).tolist() == slopes
    diagonal = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    assert torch.func.jacrev(vmap(F.apply))(x).tolist() == diagonal
    if how != "made":
        assert vmap(grad(grad(F.apply)))(x).tolist() == [2.0, 2.0, 2.0]
    if how != "saved too":
        _, tangents = torch.func.jvp(vmap(F.apply), (x,), (x,))
        assert tangents.tolist() == [2.0, 8.0, 18.0]
    y = x.clone().requires_grad_()
    vmap(F.apply)(y).sum().backward()
    assert y.grad.tolist() == [2.0, 4.0, 6.0]


def test_attribute_of_ctx_is_an_example_in_a_backward_inside_of_other_vmaps() -> None:
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.x = inputs[0]

    def backward(ctx: Any, grad: Any) -> Any:
        return minigrad.func.grad(lambda x: x * x * grad)(ctx.x)

    static = {"setup_context": setup_context, "backward": backward}
    own = {name: staticmethod(method) for name, method in static.items()}
    F = square(minigrad, generate_vmap_rule=True, **own)
    x = minigrad.tensor([1.0, 2.0, 3.0])
    _, pull_back = minigrad.func.vjp(vmap(F.apply), x)
    grads = minigrad.arange(24.0).reshape(2, 2, 2, 3)
    slopes = vmap(vmap(vmap(lambda grad: pull_back(grad)[0])))(grads)
    assert slopes.tolist() == (2 * x * grads).tolist()


def test_attribute_of_ctx_is_an_example_in_two_backwards_at_once() -> None:
    first_is_in, second_is_over = threading.Event(), threading.Event()

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.x = inputs[0]

    def backward(ctx: Any, grad: Any) -> Any:
        if not first_is_in.is_set():
            first_is_in.set()
            assert second_is_over.wait(30)
        return grad * 2 * ctx.x

    static = {"setup_context": setup_context, "backward": backward}
    own = {name: staticmethod(method) for name, method in static.items()}
    x = leaf(minigrad, 1.0, 2.0, 3.0)
    y = vmap(square(minigrad, generate_vmap_rule=True, **own).apply)(x).sum()
    found: list[Any] = []

    def run() -> None:
        (slope,) = minigrad.autograd.grad(y, x, retain_graph=True)
        found.append(slope.tolist())

    first = threading.Thread(target=run)
    first.start()
    assert first_is_in.wait(30)
    run()
    second_is_over.set()
    first.join()
    assert found == [[2.0, 4.0, 6.0]] * 2
    assert not interpreters.active


@pytest.mark.rule("M05")
def test_two_rules_for_batches_are_refused(torch: Any) -> None:
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return x * x, in_dims[0]

    F = square(torch, generate_vmap_rule=True, vmap=staticmethod(vmap))
    says = (
        "You tried to vmap over Square, but it has both generate_vmap_rule=True and an "
        "overridden vmap staticmethod"
    )
    with raises(torch, errors.TransformError, says):
        torch.vmap(F.apply)(batch(torch))


@pytest.mark.rule("M06")
def test_vmap_staticmethod_is_given_the_whole_batch(torch: Any) -> None:
    calls: list[Any] = []

    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        calls.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
        return F.apply(x), in_dims[0]

    F = square(torch, vmap=staticmethod(vmap))
    x = batch(torch).requires_grad_()
    y = torch.vmap(F.apply, in_dims=1, out_dims=1, randomness="same")(x)
    assert calls == [(2, "same", (1,), (3, 2))]
    assert y.tolist() == [[1.0, 4.0], [9.0, 16.0], [25.0, 36.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]


@pytest.mark.rule("M06")
def test_vmap_staticmethod_sees_none_for_what_is_not_batched(torch: Any) -> None:
    calls: list[Any] = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any, k: float) -> Any:
            return x * y * k, x * k

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, y: Any, k: float) -> Any:
            calls.append((in_dims, k))
            return Scaled.apply(x, y, k), (0, None)

    row = torch.tensor([1.0, 2.0], dtype=torch.float64)
    product, same = torch.vmap(lambda y: Scaled.apply(row, y, 3.0))(batch(torch))
    assert calls == [((None, 0, None), 3.0)]
    assert product.tolist() == [[3.0, 12.0], [9.0, 24.0], [15.0, 36.0]]
    assert same.tolist() == [[3.0, 6.0]] * 3
    calls.clear()
    torch.vmap(lambda y: Scaled.apply(row, row, 3.0)[0] + y)(batch(torch))
    assert calls == []


RETURNS = [
    (lambda x: x, "Expected the vmap staticmethod to have two returns"),
    (lambda x: (x, 0, 1), "Got 3 returns instead"),
]


@pytest.mark.parametrize(("returned", "says"), RETURNS)
@pytest.mark.rule("M07")
def test_vmap_staticmethod_returns_output_and_out_dims(
    torch: Any, returned: Any, says: str
) -> None:
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return returned(x)

    F = square(torch, vmap=staticmethod(vmap))
    with raises(torch, errors.TransformError, "to have two returns"):
        torch.vmap(F.apply)(batch(torch))
    with raises(torch, errors.TransformError, says):
        torch.vmap(F.apply)(batch(torch))


@pytest.mark.rule("M07")
def test_out_dims_have_the_structure_of_the_output(torch: Any) -> None:
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return x, (0, 0)

    F = square(torch, vmap=staticmethod(vmap))
    says = "returned an incompatible (output, out_dims) tuple"
    with raises(torch, errors.TransformError, says):
        torch.vmap(F.apply)(batch(torch))


def test_dirty_input_comes_back_as_itself(torch: Any) -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return Exp.apply(x), in_dims[0]

    same: list[bool] = []

    def f(x: Any) -> Any:
        y = Exp.apply(x)
        same.append(y is x)
        return y

    x = batch(torch)
    assert torch.vmap(f)(x).tolist() == x.tolist() == [[2.0, 4.0], [6, 8], [10, 12]]
    assert same == [True]


def test_exception_leaves_vmap_behind(torch: Any) -> None:
    def f(x: Any) -> Any:
        raise Boom

    x = batch(torch)
    for run in (torch.vmap(f), torch.vmap(torch.vmap(f)), torch.func.grad(f)):
        with pytest.raises(Boom):
            run(x)
    F = rule(torch, lambda ctx, x: x * 2)
    assert F.apply(x).sum().item() == 42.0
    assert torch.vmap(lambda x: x.sum())(x).tolist() == [3.0, 7.0, 11.0]


@pytest.mark.rule("N15")
def test_batch_of_gradients_gives_a_batch_of_results(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    w = leaf(torch, 5.0)
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    jacobian, slopes = torch.autograd.grad(
        x * x * w, (x, w), grad_outputs=rows, is_grads_batched=True
    )
    assert jacobian.tolist() == [[20.0, 0.0], [0.0, 30.0]]
    assert slopes.tolist() == [4.0, 9.0]
    assert not jacobian.requires_grad
    assert x.grad is None


@pytest.mark.rule("N15")
def test_batch_of_gradients_through_a_learners_backward(torch: Any) -> None:
    shapes: list[Any] = []

    def backward(ctx: Any, grad: Any) -> Any:
        shapes.append(tuple(grad.shape))
        return grad * 3

    x = leaf(torch, 2.0, 3.0)
    y = rule(torch, lambda ctx, x: x * 3, backward).apply(x)
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    (got,) = torch.autograd.grad(y, x, rows, is_grads_batched=True)
    assert got.tolist() == [[3.0, 0.0], [0.0, 3.0], [3.0, 3.0]]
    assert shapes == [(2,)]


@pytest.mark.rule("N15")
def test_batch_of_gradients_can_be_differentiated_again(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    (first,) = torch.autograd.grad(
        x * x * x, x, rows, create_graph=True, is_grads_batched=True
    )
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [12.0, 18.0]


@pytest.mark.rule("N15")
def test_gradient_of_a_batch_has_the_shape_of_the_output(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    says = "If `is_grads_batched=True`, we interpret the first dimension of each"
    with raises(torch, errors.GradientArgumentError, says):
        torch.autograd.grad(x * 2, x, torch.ones(2, 3), is_grads_batched=True)


def test_nothing_is_open_after_use() -> None:
    minigrad.vmap(minigrad.vmap(lambda x: x * 2))(minigrad.ones(2, 2))
    assert not interpreters.active
    assert interpreters.opened_here() == ()


def test_tensor_that_outlives_its_vmap_is_the_whole_batch() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        return x

    minigrad.vmap(f)(minigrad.ones(3))
    assert (kept[0] + 1).tolist() == [3.0, 3.0, 3.0]


class Doubled(Builtin):
    """2 * x, with no word about batches."""

    linear = True

    @staticmethod
    def forward(input: Any) -> Any:
        return input * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


class DoubledOneByOne(Doubled):
    """The same, for one example after the other."""

    one_by_one = True


@pytest.mark.parametrize(
    "along",
    [
        lambda x: x.softmax(0),
        lambda x: x.sum(-1),
        lambda x: x.max(0).values,
        lambda x: x.sort(0).values,
        lambda x: x.var(),
        lambda x: minigrad.cat([x, x]),
        lambda x: x[[0, 1]],
    ],
)
def test_operation_along_a_dimension_runs_once_for_all_examples(along: Any) -> None:
    def operations(function: Any, examples: int) -> int:
        with minigrad.record() as trace:
            vmap(function)(minigrad.ones(examples, 3, requires_grad=True))
        return len(trace.data["graph"]["nodes"])

    assert operations(along, 5) == operations(along, 2)
    looped = DoubledOneByOne.apply
    assert operations(looped, 5) == operations(looped, 2) + 3


def test_loop_is_only_where_an_operation_says_so() -> None:
    x = minigrad.ones(3, 2)
    assert vmap(DoubledOneByOne.apply)(x).tolist() == [[2.0, 2.0]] * 3
    says = "Batching rule not implemented for doubled"
    with pytest.raises(errors.TransformError, match=says):
        vmap(Doubled.apply)(x)
