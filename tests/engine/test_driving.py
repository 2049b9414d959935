"""Driving the engine: edges, dicts, callbacks, nested backward, the order of nodes."""

import types
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import Boom, leaf, logged, raises, rule


def f64(torch: Any, value: Any) -> Any:
    return torch.tensor(value, dtype=torch.float64)


@pytest.mark.rule("N16")
def test_inputs_in_a_dict_are_answered_in_a_dict(torch: Any) -> None:
    x, unused = leaf(torch, 2.0), leaf(torch, 1.0)
    got = torch.autograd.grad(x * 3, {"x": x, "no": unused}, allow_unused=True)
    assert type(got) is dict
    assert (list(got), got["x"].item(), got["no"]) == (["x", "no"], 3.0, None)


@pytest.mark.rule("N16")
def test_backward_takes_a_dict_of_inputs_too(torch: Any) -> None:
    x, w = leaf(torch, 2.0), leaf(torch, 5.0)
    (x * w).backward(inputs={"x": x})
    assert (x.grad.item(), w.grad) == (5.0, None)


@pytest.mark.rule("N16")
def test_other_mappings_of_inputs_are_refused(torch: Any) -> None:
    x = leaf(torch, 2.0)
    inputs = types.MappingProxyType({"x": x})
    says = "`inputs` argument to `grad()` must be a dict, not mappingproxy"
    with raises(torch, errors.GradientArgumentTypeError, says):
        torch.autograd.grad(x * 3, inputs)
    says = "`inputs` argument to `backward()` must be a dict, not mappingproxy"
    with raises(torch, errors.GradientArgumentTypeError, says):
        (x * 3).backward(inputs=inputs)


@pytest.mark.rule("N17")
def test_edge_stands_for_a_tensor_as_root_and_as_input(torch: Any) -> None:
    edge = torch.autograd.graph.get_gradient_edge
    x = leaf(torch, 2.0)
    h = x * 4
    y = h * 3
    (g,) = torch.autograd.grad(edge(h), edge(x), retain_graph=True)
    assert g.item() == 4.0
    got = torch.autograd.grad(edge(y), [edge(h), x], retain_graph=True)
    assert [g.item() for g in got] == [3.0, 12.0]
    (g,) = torch.autograd.grad([y, edge(h)], x, [f64(torch, 1.0), f64(torch, 5.0)])
    assert g.item() == 12.0 + 5 * 4


@pytest.mark.rule("N17")
def test_backward_takes_edges(torch: Any) -> None:
    edge = torch.autograd.graph.get_gradient_edge
    x = leaf(torch, 2.0)
    h = x * 4
    torch.autograd.backward(edge(h), retain_graph=True)
    assert x.grad.item() == 4.0
    h.backward(inputs=edge(x), retain_graph=True)
    assert x.grad.item() == 8.0
    (h * 1).backward(inputs=[edge(h)])
    assert (x.grad.item(), h.retains_grad) == (8.0, False)


@pytest.mark.rule("N17")
def test_edge_made_by_hand_will_do(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = x * 3
    by_hand = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
    assert torch.autograd.grad(by_hand, x)[0].item() == 3.0
    beyond = torch.autograd.graph.GradientEdge((x * 3).grad_fn, 5)
    with raises(torch, errors.DimensionError, "tuple index out of range"):
        torch.autograd.grad(beyond, x)


@pytest.mark.rule("N17", "N01", "N02")
def test_gradient_for_an_edge_is_checked_as_for_its_tensor(torch: Any) -> None:
    x = leaf(torch, 2.0, 3.0)
    root = torch.autograd.graph.get_gradient_edge(x * 2)
    says = "grad can be implicitly created only for scalar outputs"
    with raises(torch, errors.GradientArgumentError, says):
        torch.autograd.grad(root, x)
    with raises(torch, errors.GradientArgumentError, "Mismatch in shape: grad_output"):
        torch.autograd.grad(root, x, torch.ones(3))


@pytest.mark.rule("N17", "N09")
def test_unused_edge_is_an_error_or_none_and_never_zeros(torch: Any) -> None:
    x = leaf(torch, 2.0)
    stranger = torch.autograd.graph.get_gradient_edge(leaf(torch, 1.0))
    says = "The differentiated Tensor at index 0 appears to not have been used"
    with raises(torch, errors.GraphError, says):
        torch.autograd.grad(x * 3, stranger)
    assert torch.autograd.grad(x * 3, stranger, allow_unused=True) == (None,)
    says = "materialize_grads cannot be used when the given input is a GradientEdge"
    with raises(torch, errors.GradientArgumentError, says):
        torch.autograd.grad(x * 3, stranger, materialize_grads=True)


@pytest.mark.rule("R09")
def test_edge_is_the_node_and_the_output_of_a_tensor(torch: Any) -> None:
    edge = torch.autograd.graph.get_gradient_edge
    x = leaf(torch, 2.0)
    two = rule(torch, lambda ctx, x: (x * 1, x * 2))
    _, second = two.apply(x)
    node, output_nr, token = edge(second)
    assert (node is second.grad_fn, output_nr) == (True, 1)
    assert isinstance(token, torch.autograd.graph.Node)
    product = x * 3
    assert edge(product) == (product.grad_fn, 0, None)
    assert edge(x).node is product.grad_fn.next_functions[0][0]
    assert edge(x).node.variable is x


@pytest.mark.rule("R09")
def test_tensor_without_grad_has_no_edge(torch: Any) -> None:
    says = (
        "It is not possible to get the gradient edge for a Tensor that does not "
        "require gradients"
    )
    with raises(torch, errors.GraphError, says):
        torch.autograd.graph.get_gradient_edge(torch.tensor(1.0))


@pytest.mark.rule("R09", "R11")
def test_edge_alone_keeps_the_graph(torch: Any) -> None:
    x = leaf(torch, 2.0)
    edge = torch.autograd.graph.get_gradient_edge(logged(torch, "F", [])(x * 3))
    assert torch.autograd.grad(edge, x)[0].item() == 6.0


@pytest.mark.rule("D15")
def test_node_knows_shape_dtype_and_device_of_its_outputs(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1, 3, x.sum().to(torch.float32)

    first, _, _ = rule(torch, forward).apply(torch.ones((2, 3), requires_grad=True))
    known = [
        (list(one.shape), one.dtype, str(one.device))
        for one in first.grad_fn._input_metadata
    ]
    assert known[0] == ([2, 3], torch.float32, "cpu")
    assert known[1][0] == []
    assert known[2] == ([], torch.float32, "cpu")
    ((one,),) = [(leaf(torch, 2.0, 3.0) * 1).grad_fn._input_metadata]
    assert (list(one.shape), one.dtype) == ([2], torch.float64)


@pytest.mark.rule("N12")
def test_backward_with_a_non_leaf_input_retains_its_grad_from_then_on(
    torch: Any,
) -> None:
    log: list[Any] = []
    x = leaf(torch, 2.0)
    h = logged(torch, "H", log)(x)
    h.register_hook(lambda grad: grad * 10)
    for _ in range(2):
        (h * 3).backward(inputs=[h], retain_graph=True)
    assert (h.grad.item(), h.retains_grad, x.grad) == (60.0, True, None)
    assert log == ["H", "H"]


@pytest.mark.rule("N12")
def test_backward_with_a_non_leaf_and_a_leaf_fills_both(torch: Any) -> None:
    x = leaf(torch, 2.0)
    h = x * 2
    (h * 3).backward(inputs=[h, x])
    assert (h.grad.item(), x.grad.item()) == (3.0, 6.0)


@pytest.mark.rule("N23")
def test_callback_runs_once_when_backward_has_ended(torch: Any) -> None:
    log: list[Any] = []
    engine = torch.autograd.Variable._execution_engine
    x = leaf(torch, 2.0)

    def last() -> None:
        log.append("last")

    def end() -> None:
        log.append(("end", x.grad.item(), torch.is_grad_enabled()))
        engine.queue_callback(last)

    def hook(grad: Any) -> None:
        log.append("node")
        engine.queue_callback(end)
        engine.queue_callback(lambda: log.append("second"))

    y = x * 3
    y.register_hook(hook)
    y.backward()
    (x * 3).backward()
    assert log == ["node", ("end", 3.0, False), "second", "last"]


@pytest.mark.rule("N23")
def test_callback_belongs_to_the_innermost_backward(torch: Any) -> None:
    log: list[str] = []
    engine = torch.autograd.Variable._execution_engine
    z = leaf(torch, 1.0)
    z.register_hook(lambda grad: engine.queue_callback(lambda: log.append("inner")))

    def hook(grad: Any) -> None:
        engine.queue_callback(lambda: log.append("outer"))
        with torch.enable_grad():
            inner = z * 1
        inner.backward()
        log.append("hook")

    y = leaf(torch, 2.0) * 3
    y.register_hook(hook)
    y.backward()
    assert log == ["inner", "hook", "outer"]


@pytest.mark.rule("N23")
def test_callback_outside_of_backward_is_an_error(torch: Any) -> None:
    says = "Final callbacks can only be installed during backward pass."
    with raises(torch, errors.GraphError, says):
        torch.autograd.Variable._execution_engine.queue_callback(print)


@pytest.mark.rule("N23")
def test_callback_does_not_run_after_an_error_and_its_own_error_passes(
    torch: Any,
) -> None:
    log: list[str] = []
    queue = torch.autograd.Variable._execution_engine.queue_callback

    def boom(*_: Any) -> None:
        raise Boom

    x = leaf(torch, 2.0)
    y = x * 3
    handle = x.register_hook(boom)
    y.register_hook(lambda grad: queue(lambda: log.append("no")))
    with pytest.raises(Boom):
        y.backward()
    handle.remove()
    x.register_hook(lambda grad: queue(boom))
    with pytest.raises(Boom):
        (x * 3).backward()
    assert (log, x.grad.item(), torch.is_grad_enabled()) == ([], 3.0, True)


@pytest.mark.rule("P04")
def test_sequence_number_can_be_changed(torch: Any) -> None:
    log: list[Any] = []
    x = leaf(torch, 1.0)
    a, b = logged(torch, "A", log)(x), logged(torch, "B", log)(x)
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 10)
    (a + b).backward()
    assert log == ["A", "B"]


def test_edge_is_what_a_traversal_goes_by_and_not_a_tuple_of_tensors() -> None:
    x = leaf(minigrad, 2.0)
    edge = minigrad.autograd.graph.get_gradient_edge(x * 3)
    assert isinstance(edge, tuple)
    minigrad.autograd.backward(edge)
    assert x.grad.item() == 3.0


def nesting(torch: Any) -> Any:
    """A Function whose backward counts down by a backward of itself."""

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.inner = x.detach().requires_grad_() - 1
            return ctx.inner.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if ctx.inner.item() > 0:
                with torch.enable_grad():
                    inner = Nested.apply(ctx.inner)
                inner.backward()
            return grad

    return Nested


@pytest.mark.rule("N19")
def test_backwards_nest_far_beyond_the_recursion_limit(torch: Any) -> None:
    x = leaf(torch, 1500.0)
    nesting(torch).apply(x).backward()
    assert x.grad.item() == 1.0
    assert torch.is_grad_enabled()


@pytest.mark.rule("N19")
def test_error_deep_inside_nested_backwards_comes_out_as_it_is(torch: Any) -> None:
    depth: list[int] = []

    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            depth.append(len(depth))
            if len(depth) == 50:
                raise Boom("at 50")
            with torch.enable_grad():
                inner = Failing.apply(leaf(torch, 1.0))
            inner.backward()
            return grad

    x = leaf(torch, 1.0)
    with pytest.raises(Boom, match="at 50"):
        Failing.apply(x).backward()
    assert torch.is_grad_enabled()
    (x * 2).backward()
    assert (len(depth), x.grad.item()) == (50, 2.0)


@pytest.mark.rule("N19", "Z04")
def test_deeply_nested_backward_has_the_modes_of_its_caller(torch: Any) -> None:
    packed: list[Any] = []

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, left: int) -> Any:
            ctx.left = left
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if ctx.left:
                with torch.enable_grad():
                    inner = Nested.apply(leaf(torch, 1.0).exp(), ctx.left - 1)
                inner.backward()
            return grad, None

    def pack(tensor: Any) -> Any:
        packed.append(None)
        return tensor

    y = Nested.apply(leaf(torch, 1.0), 70)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y.backward()
    assert len(packed) == 70


@pytest.mark.rule("N19", "N20")
def test_nested_backward_keeps_the_modes_of_the_outer_one(torch: Any) -> None:
    modes: list[bool] = []

    def hook(grad: Any) -> None:
        with torch.enable_grad():
            inner = leaf(torch, 1.0) * 2
        inner.register_hook(lambda grad: modes.append(torch.is_grad_enabled()))
        inner.backward()
        modes.append(torch.is_grad_enabled())

    x = leaf(torch, 2.0)
    y = x * x
    y.register_hook(hook)
    torch.autograd.grad(y, x, create_graph=True)
    assert modes == [False, True]


def test_interrupt_reaches_a_backward_in_another_thread() -> None:
    from minigrad.engine import fresh_thread as running

    stopped: list[str] = []

    class Waiting(running.threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            if not stopped:
                stopped.append("yes")
                raise KeyboardInterrupt
            super().join(timeout)

    x = leaf(minigrad, 100.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running.threading, "Thread", Waiting)
        with pytest.raises(KeyboardInterrupt):
            nesting(minigrad).apply(x).backward()
    assert (stopped, minigrad.is_grad_enabled()) == (["yes"], True)
    x.grad = None
    nesting(minigrad).apply(x).backward()
    assert x.grad.item() == 1.0


PHASES = [
    "forward",
    "setup_context",
    "pack",
    "unpack",
    "backward",
    "tensor hook",
    "prehook",
    "post hook",
    "post accumulate",
    "multi-grad hook",
    "callback",
]


@pytest.mark.rule("N18", "Q17", "A25", "A26", "S12")
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kind", [Boom, KeyboardInterrupt])
def test_whatever_is_raised_wherever_leaves_all_as_it_was(
    torch: Any, phase: str, kind: type[BaseException]
) -> None:
    failing: list[str] = []
    raised: list[BaseException] = []
    graph = torch.autograd.graph
    queue = torch.autograd.Variable._execution_engine.queue_callback

    def at(place: str) -> None:
        if failing == [place]:
            raised.append(kind(place))
            raise raised[-1]

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            at("forward")
            return x * 1

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            at("setup_context")
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            at("backward")
            queue(lambda: at("callback"))
            return grad * ctx.saved_tensors[0]

    def pack(tensor: Any) -> Any:
        at("pack")
        return tensor.detach()

    def unpack(tensor: Any) -> Any:
        at("unpack")
        return tensor

    x = leaf(torch, 3.0)
    x.register_post_accumulate_grad_hook(lambda x: at("post accumulate"))
    graph.register_multi_grad_hook([x], lambda grads: at("multi-grad hook"))

    def program() -> Any:
        with graph.saved_tensors_hooks(pack, unpack):
            y = F.apply(x)
        y.register_hook(lambda grad: at("tensor hook"))
        y.grad_fn.register_prehook(lambda grads: at("prehook"))
        y.grad_fn.register_hook(lambda *grads: at("post hook"))
        y.backward(retain_graph=True)
        return y

    y = program()
    version = x._version
    failing.append(phase)
    with pytest.raises(kind, match=phase) as caught:
        program()
    failing.clear()
    assert [caught.value] == raised
    assert torch.is_grad_enabled()
    assert x._version == version
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed"):
        queue(print)
    x.grad = None
    y.backward(retain_graph=True)
    program()
    assert x.grad.item() == 6.0
