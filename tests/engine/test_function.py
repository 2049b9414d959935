"""The Function class, its ctx, and apply: rules A."""

import types
from typing import Any

import pytest

from minigrad import errors
from tests.engine.support import Boom, leaf, raises, rule, triple


@pytest.mark.rule("A01")
def test_defining_a_function_makes_its_backward_class(torch: Any) -> None:
    class Foo(torch.autograd.Function):
        pass

    assert Foo._backward_cls.__name__ == "FooBackward"
    assert Foo._backward_cls._forward_cls is Foo
    assert type(Foo).__name__ == "FunctionMeta"
    assert torch.autograd.function.FunctionMeta is type(Foo)


@pytest.mark.rule("A02")
def test_ctx_is_an_instance_of_the_backward_class(torch: Any) -> None:
    seen: list[Any] = []
    Triple = triple(torch, seen)
    Triple.apply(leaf(torch, 2.0))
    assert type(seen[0]) is Triple._backward_cls
    assert [cls.__name__ for cls in type(seen[0]).__mro__] == [
        "TripleBackward",
        "BackwardCFunction",
        "_FunctionBase",
        "FunctionCtx",
        "_HookMixin",
        "object",
    ]


@pytest.mark.rule("A03")
def test_apply_makes_one_ctx_a_call_recorded_or_not(torch: Any) -> None:
    seen: list[Any] = []
    Triple = triple(torch, seen)
    Triple.apply(leaf(torch, 2.0))
    Triple.apply(leaf(torch, 2.0))
    Triple.apply(torch.tensor(2.0))
    with torch.no_grad():
        Triple.apply(leaf(torch, 2.0))
    assert len({id(ctx) for ctx in seen}) == len(seen) == 4


@pytest.mark.rule("A04")
def test_ctx_is_the_grad_fn_of_every_differentiable_output(torch: Any) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        seen.append(ctx)
        return x * 2, x * 3

    y, z = rule(torch, forward).apply(leaf(torch, 2.0))
    assert y.grad_fn is z.grad_fn is seen[0]
    assert (y.output_nr, z.output_nr) == (0, 1)


@pytest.mark.rule("A05")
def test_one_ctx_goes_through_setup_context_and_backward(torch: Any) -> None:
    seen: list[Any] = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.note = "kept"
            seen.append(ctx)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            assert ctx.note == "kept"
            seen.append(ctx)
            return grad * 2

    y = F.apply(leaf(torch, 2.0))
    y.backward()
    assert seen[0] is seen[1] is y.grad_fn


@pytest.mark.rule("A06")
def test_recorded_needs_grad_mode_and_an_input_that_requires_grad(torch: Any) -> None:
    Triple = triple(torch, [])
    x = leaf(torch, 2.0)
    assert Triple.apply(x).requires_grad

    with torch.no_grad():
        unrecorded = Triple.apply(x)
    for y in (unrecorded, Triple.apply(torch.tensor(2.0))):
        assert y.requires_grad is False
        assert y.grad_fn is None


@pytest.mark.rule("A07")
def test_forward_and_setup_context_run_with_grad_mode_off(torch: Any) -> None:
    modes: list[bool] = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            modes.append(torch.is_grad_enabled())
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            modes.append(torch.is_grad_enabled())

    F.apply(leaf(torch, 2.0))
    assert modes == [False, False]
    assert torch.is_grad_enabled()


@pytest.mark.rule("A08")
@pytest.mark.parametrize("create_graph", [False, True])
def test_grad_mode_inside_backward_is_create_graph(
    torch: Any, create_graph: bool
) -> None:
    modes: list[bool] = []

    def backward(ctx: Any, grad: Any) -> Any:
        modes.append(torch.is_grad_enabled())
        return grad

    x = leaf(torch, 2.0)
    y = rule(torch, lambda ctx, x: x * 1, backward).apply(x)
    torch.autograd.grad(y, x, create_graph=create_graph)
    assert modes == [create_graph]


@pytest.mark.rule("A10")
def test_function_without_forward_fails_at_apply(torch: Any) -> None:
    class F(torch.autograd.Function):
        pass

    says = "You must implement the forward function for custom autograd.Function"
    with raises(torch, errors.ForwardMissingError, says):
        F.apply(leaf(torch, 2.0))


@pytest.mark.rule("A11")
def test_function_without_backward_fails_when_the_node_runs(torch: Any) -> None:
    y = rule(torch, lambda ctx, x: x * 2).apply(leaf(torch, 2.0))
    says = "You must implement either the backward or vjp method"
    with raises(torch, errors.BackwardMissingError, says):
        y.backward()


@pytest.mark.rule("A12")
def test_vjp_is_another_name_for_backward(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 5

        @staticmethod
        def vjp(ctx: Any, grad: Any) -> Any:
            return grad * 5

    x = leaf(torch, 2.0)
    F.apply(x).backward()
    assert x.grad.item() == 5.0


@pytest.mark.rule("A13")
def test_backward_and_vjp_together_fail_when_the_node_runs(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 5

        @staticmethod
        def vjp(ctx: Any, grad: Any) -> Any:
            return grad * 5

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 5

    y = F.apply(leaf(torch, 2.0))
    says = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed"
    with raises(torch, errors.BackwardAmbiguousError, says):
        y.backward()


@pytest.mark.rule("A14")
def test_forward_without_staticmethod_gets_ctx_as_self(torch: Any) -> None:
    class F(torch.autograd.Function):
        def forward(self, x: Any) -> Any:
            self.factor = 3.0
            return x * 3

        def backward(self, grad: Any) -> Any:
            return grad * self.factor

    x = leaf(torch, 2.0)
    F.apply(x).backward()
    assert x.grad.item() == 3.0


@pytest.mark.rule("A15")
def test_ctx_starts_with_nothing_saved_and_takes_attributes(torch: Any) -> None:
    found: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        found.extend([ctx.to_save, ctx.saved_for_forward, ctx.non_differentiable])
        found.extend([ctx.dirty_tensors, ctx.needs_input_grad, ctx.saved_tensors])
        ctx.anything = "at all"
        return x * 2

    y = rule(torch, forward).apply(leaf(torch, 2.0))
    assert found == [None, None, None, None, (True,), ()]
    assert y.grad_fn.anything == "at all"


@pytest.mark.rule("A16")
def test_ctx_methods_only_note_what_they_are_given(torch: Any) -> None:
    noted: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward("junk", 1)
        ctx.mark_dirty("junk")
        ctx.mark_non_differentiable(2)
        noted.extend([ctx.to_save, ctx.dirty_tensors, ctx.non_differentiable])
        raise Boom

    with pytest.raises(Boom):
        rule(torch, forward).apply(leaf(torch, 2.0))
    assert noted == [("junk", 1), ("junk",), (2,)]


@pytest.mark.rule("A17")
def test_apply_takes_the_notes_off_ctx(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        z = x * 3
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(z)
        return x.mul_(2), z

    y, _ = rule(torch, forward).apply(leaf(torch, 2.0) * 1)
    ctx = y.grad_fn
    assert ctx.to_save is ctx.saved_for_forward is None
    assert ctx.dirty_tensors is ctx.non_differentiable is None
    assert len(ctx.saved_tensors) == 1


@pytest.mark.rule("A17")
def test_vars_of_ctx_are_what_the_learner_set() -> None:
    import minigrad

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = 2.0
        ctx.set_materialize_grads(False)
        return x * 2

    y = rule(minigrad, forward).apply(leaf(minigrad, 2.0))
    assert vars(y.grad_fn) == {"factor": 2.0}


@pytest.mark.rule("A18")
def test_materialize_grads_cannot_be_read(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        with pytest.raises(AttributeError, match="not readable"):
            _ = ctx.materialize_grads
        return x * 2

    rule(torch, forward).apply(leaf(torch, 2.0))


@pytest.mark.rule("A19")
def test_set_materialize_grads_refuses_all_but_bools(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(0)
        return x * 2

    with raises(torch, errors.ArgumentTypeError, "set_materialize_grads"):
        rule(torch, forward).apply(leaf(torch, 2.0))


@pytest.mark.rule("A20")
def test_ctx_has_a_name_and_a_constant_requires_grad(torch: Any) -> None:
    ctx = triple(torch, []).apply(leaf(torch, 2.0)).grad_fn
    assert ctx.requires_grad is True
    assert ctx.name() == type(ctx).__name__ == "TripleBackward"


@pytest.mark.rule("A21")
def test_every_grad_fn_is_a_node(torch: Any) -> None:
    x = leaf(torch, 2.0)
    Node = torch.autograd.graph.Node
    assert isinstance(triple(torch, []).apply(x).grad_fn, Node)
    assert isinstance((x * 2).grad_fn, Node)
    assert isinstance((x * 2).grad_fn.next_functions[0][0], Node)
    assert not isinstance(x, Node)


@pytest.mark.rule("A22")
def test_ctx_knows_its_edges_inside_forward(torch: Any) -> None:
    found: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        found.append((ctx.name(), len(ctx.next_functions)))
        return x * 2

    F = rule(torch, forward)
    F.apply(leaf(torch, 2.0))
    with torch.no_grad():
        F.apply(leaf(torch, 2.0))
    assert found == [("FBackward", 1), ("FBackward", 0)]


@pytest.mark.rule("A23")
def test_ctx_stays_usable_after_its_tensors_died(torch: Any) -> None:
    seen: list[Any] = []
    triple(torch, seen).apply(leaf(torch, 2.0))
    triple(torch, seen).apply(torch.tensor(2.0))
    assert [len(ctx.next_functions) for ctx in seen] == [1, 0]
    assert {ctx.name() for ctx in seen} == {"TripleBackward"}
    assert [len(ctx._input_metadata) for ctx in seen] == [1, 0]


@pytest.mark.rule("A24")
def test_ctx_supports_weak_references_and_is_hashable(torch: Any) -> None:
    import weakref

    y = triple(torch, []).apply(leaf(torch, 2.0))
    ctx = y.grad_fn
    assert weakref.ref(ctx)() is ctx
    assert {ctx: 1}[ctx] == 1


@pytest.mark.rule("A27")
def test_grad_fn_apply_runs_the_bare_rule(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = rule(torch, lambda ctx, x: x * 2, lambda ctx, grad: "raw").apply(x)
    assert y.grad_fn.apply(torch.tensor(1.0)) == "raw"
    with pytest.raises(TypeError, match="not callable"):
        y.grad_fn(torch.tensor(1.0))


@pytest.mark.rule("A28")
def test_subclass_inherits_the_rule_and_gets_its_own_backward_class(
    torch: Any,
) -> None:
    class A(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    class B(A):
        pass

    x = leaf(torch, 2.0)
    y = B.apply(x)
    y.backward()
    assert (y.grad_fn.name(), x.grad.item()) == ("BBackward", 2.0)
    assert B._backward_cls is not A._backward_cls


@pytest.mark.rule("A29")
def test_overwritten_needs_input_grad_changes_nothing_in_the_routing(
    torch: Any,
) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.needs_input_grad = ("patched",)
        return x * 1

    def backward(ctx: Any, grad: Any) -> Any:
        seen.append(ctx.needs_input_grad)
        return grad

    x = leaf(torch, 2.0)
    rule(torch, forward, backward).apply(x).backward()
    assert (seen, x.grad.item()) == ([("patched",)], 1.0)


@pytest.mark.rule("A31")
def test_forward_and_backward_are_plain_functions(torch: Any) -> None:
    Triple = triple(torch, [])
    ctx = types.SimpleNamespace()
    assert Triple.forward(ctx, torch.tensor(2.0)).item() == 6.0
    assert Triple.backward(ctx, torch.tensor(1.0)).item() == 3.0


@pytest.mark.rule("A15")
def test_plain_names_on_ctx_are_the_learners_to_take(torch: Any) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.edges, ctx.sequence_nr, ctx.output_metadata = [(0, 1)], 7, "mesh"
        return x * 2

    y = rule(torch, forward, lambda ctx, grad: grad * 2).apply(leaf(torch, 3.0))
    y.backward()
    assert y.grad_fn.edges == [(0, 1)]
    assert (y.grad_fn.sequence_nr, y.grad_fn.output_metadata) == (7, "mesh")
