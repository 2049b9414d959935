"""Teaching mode: what it warns about, when, and in which words."""

import linecache
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.lint import forward, is_teaching
from minigrad.mistakes import TABLE
from tests.engine.support import FORM, Boom, leaf, rule

Said = list[tuple[str, str]]
"""What teaching mode said: the ids and the texts."""


@pytest.fixture(autouse=True)
def teaching() -> Iterator[None]:
    """Teaching mode is on in these tests, and as it was after them."""
    with minigrad.teaching():
        yield


def said(run: Any) -> Said:
    """What teaching mode says while ``run`` runs, all of it in our form."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    heard = []
    for one in caught:
        assert isinstance(one.message, minigrad.TeachingWarning)
        text = str(one.message)
        assert FORM.fullmatch(text)
        assert ".." not in text
        if one.message.id:
            assert TABLE[one.message.id].looks_like.rstrip(".") in text
        heard.append((one.message.id, text))
    return heard


def of_call(function: Any, *inputs: Any) -> Said:
    """What one call of ``function`` makes teaching mode say."""
    return said(lambda: function.apply(*(inputs or (leaf(minigrad, 2.0, 3.0),))))


def of_backward(function: Any, *inputs: Any) -> Said:
    """What a call and its backward make teaching mode say."""

    def run() -> None:
        output = function.apply(*(inputs or (leaf(minigrad, 2.0, 3.0),)))
        outputs = output if isinstance(output, tuple) else (output,)
        minigrad.autograd.backward([value.sum() for value in outputs])

    return said(run)


def leaving(note: Any) -> Any:
    """A Function that does ``note(ctx, x, y)`` on the way."""

    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        note(ctx, x, y)
        return y

    return rule(minigrad, forward, lambda ctx, grad: grad * 2)


def returning(*gradients: Any) -> Any:
    """A Function of two tensors whose rule returns ``gradients``."""
    return rule(minigrad, lambda ctx, a, b: a * b, lambda ctx, g: gradients)


def test_good_function_is_left_in_peace() -> None:
    def forward(ctx: Any, x: Any, k: float) -> Any:
        y = x * k
        ctx.save_for_backward(x, y)
        ctx.k = k
        ctx.shape = x.shape
        ctx.positive = (x > 0).numpy()
        return y

    def backward(ctx: Any, grad: Any) -> Any:
        _, _ = ctx.saved_tensors
        return grad * ctx.k, None

    function = rule(minigrad, forward, backward)
    assert of_backward(function, leaf(minigrad, 2.0, 3.0), 2.0) == []


S06 = "a Tensor kept as an attribute"
LEFT: dict[str, tuple[Any, str, str]] = {
    "input": (lambda x, y: x, "S06", f"F.forward: ctx.kept is {S06}."),
    "list": (lambda x, y: [x], "S06", f"ctx.kept holds {S06}"),
    "tuple": (lambda x, y: (1, x), "S06", f"ctx.kept holds {S06}"),
    "dict": (lambda x, y: {0: x}, "S06", f"ctx.kept holds {S06}"),
    "array": (
        lambda x, y: x.detach().numpy()[:1],
        "S08",
        "ctx.kept is a ndarray on the memory of argument 1 (x).",
    ),
    "output": (
        lambda x, y: y,
        "S07",
        "ctx.kept is an output of this call. The output holds ctx",
    ),
}


@pytest.mark.parametrize(("kept", "mistake", "says"), LEFT.values(), ids=LEFT)
def test_what_should_not_be_left_on_ctx_is_noticed(
    kept: Any, mistake: str, says: str
) -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = kept(x, y)

    ((id, text),) = of_call(leaving(note))
    assert id == mistake
    assert says in text
    if mistake == "S06":
        assert "fix: use ctx.save_for_backward(kept)" in text


def test_array_of_its_own_on_ctx_is_a_plain_value() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.values = np.ones(2)
        ctx.copied = x.detach().numpy().copy()

    assert of_call(leaving(note)) == []


def test_tensor_on_the_class_is_noticed() -> None:
    function = leaving(lambda *_: None)
    function.saved = minigrad.tensor(1.0)
    ((id, text),) = of_call(function)
    assert id == "S04"
    assert text.startswith("F: F.saved is a Tensor on the class: all calls share it.")


@pytest.mark.parametrize("result", [[1.0], np.ones(2), np.float64(1.0), 1.0])
def test_result_that_carries_no_gradient_is_noticed(result: Any) -> None:
    ((id, text),) = of_call(rule(minigrad, lambda ctx, x: result))
    kind = type(result).__name__
    assert id == "A17"
    assert f"F.forward: returned a {kind}, which can carry no gradient" in text


def test_list_among_the_results_is_noticed() -> None:
    ((_, text),) = of_call(rule(minigrad, lambda ctx, x: (x * 2, [x])))
    assert "returned a list" in text


def test_number_beside_a_tensor_is_a_plain_result() -> None:
    assert of_call(rule(minigrad, lambda ctx, x: (x * 2, 7))) == []


def test_missing_staticmethod_is_noticed_with_the_methods() -> None:
    class Plain(minigrad.autograd.Function):
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    ((id, text),) = of_call(Plain)
    assert id == "A08"
    assert text.startswith("Plain: without @staticmethod: forward.")
    assert "backward" not in text.split("forward.")[1].split("\n")[0]


def test_missing_staticmethod_is_told_truly_where_forward_takes_no_ctx() -> None:
    class Plain(minigrad.autograd.Function):
        def forward(tensor: Any, k: float) -> Any:  # type: ignore[override]
            first.append(tensor)
            return tensor * k

        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.k = inputs[1]

        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.k, None

    first: list[Any] = []
    x = leaf(minigrad, 2.0)
    ((id, text),) = of_call(Plain, x, 3.0)
    assert id == "A08"
    assert first[0] is x
    assert "its first argument is ctx or an input, never an object of the class" in text


def test_unmarked_change_of_an_input_is_noticed() -> None:
    def forward(ctx: Any, k: Any, x: Any) -> Any:
        x.mul_(k)
        return x * 1

    function = rule(minigrad, forward, lambda ctx, grad: (None, grad))
    ((id, text),) = of_call(function, 2.0, leaf(minigrad, 0.0, 3.0).detach())
    assert id == "M02"
    assert "F.forward: changed argument 2 (x) in place: 1 of 2 elements" in text
    assert "version 0 before and 1 now" in text


def test_change_through_numpy_is_noticed_by_the_values() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        x.numpy()[0] = np.nan
        return x * 1

    function = rule(minigrad, forward, lambda ctx, grad: grad)
    ((id, text),) = of_call(function, minigrad.tensor([1.0, np.nan]))
    assert id == "M02"
    assert "1 of 2 elements changed; version 0 before and 0 now" in text


def test_marked_change_of_an_input_is_fine() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return grad * y

    function = rule(minigrad, forward, backward)
    assert of_backward(function, leaf(minigrad, 1.0, 2.0) * 1) == []


def test_saved_input_overwritten_under_mark_dirty_is_noticed() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        x.mul_(x)
        return x

    function = rule(minigrad, forward, lambda ctx, grad: grad * 2)
    ((id, text),) = of_call(function, leaf(minigrad, 1.0, 3.0) * 1)
    assert id == "M04"
    assert "saved value #1 is marked dirty and changed after: 1 of 2 elements" in text
    # Saving later saves the same tensor: it would only silence the warning.
    assert "fix: keep the old value in a tensor of its own if backward needs it" in text
    assert "only if it needs the new one, save after the change" in text


@pytest.mark.parametrize(("keeps", "slope"), [("a copy", 6.0), ("it later", 18.0)])
def test_old_value_needs_a_tensor_of_its_own_and_not_a_later_save(
    keeps: str, slope: float
) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        if keeps == "a copy":
            ctx.save_for_backward(x.clone())
            return x.mul_(x)
        x.mul_(x)
        ctx.save_for_backward(x)
        return x

    def backward(ctx: Any, grad: Any) -> Any:
        (saved,) = ctx.saved_tensors
        return grad * 2 * saved

    x = leaf(minigrad, 3.0)
    y = []
    heard = said(lambda: y.append(rule(minigrad, forward, backward).apply(x.clone())))
    assert "M04" not in [id for id, _ in heard]
    assert minigrad.autograd.grad(y[0], x)[0].item() == slope


def test_value_overwritten_after_it_was_saved_is_noticed() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.save_for_backward(x, y)
        y.add_(1)
        return y

    ((id, text),) = of_call(rule(minigrad, forward, lambda ctx, grad: grad * 2))
    assert id == "S03"
    assert "saved value #2 was changed after it was saved: 2 of 2 elements" in text


def test_value_overwritten_before_it_is_saved_is_fine() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 2
        y.add_(1)
        ctx.save_for_backward(y)
        return y

    assert of_call(rule(minigrad, forward, lambda ctx, grad: grad * 2)) == []


def intermediate(kept: Any, backward: Any) -> Any:
    """A Function that saves ``kept(x)``."""

    def forward(ctx: Any, x: Any) -> Any:
        y = kept(x)
        ctx.save_for_backward(y)
        return x * 2

    return rule(minigrad, forward, backward)


def doubled(ctx: Any, grad: Any) -> Any:
    """A rule that reads what was saved."""
    _ = ctx.saved_tensors
    return grad * 2


def test_saved_intermediate_is_noticed() -> None:
    ((id, text),) = of_backward(intermediate(lambda x: x.exp(), doubled))
    assert id == "D01"
    assert "saved value #1, of shape (2,), is neither an input nor an output" in text


def test_saved_intermediate_is_fine_where_nothing_is_lost() -> None:
    once = minigrad.autograd.function.once_differentiable(doubled)
    assert of_backward(intermediate(lambda x: x.exp(), once)) == []
    assert of_backward(intermediate(lambda x: x > 0, doubled)) == []
    untracked = minigrad.tensor([1.0, 2.0])
    assert of_call(intermediate(lambda x: x.exp(), doubled), untracked) == []


def test_none_for_an_input_that_needs_a_gradient_is_noticed() -> None:
    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0, 4.0)
    ((id, text),) = of_backward(returning(a.detach(), None), a, b)
    assert id == "A05"
    words = "F.backward: returned None for argument 2 (b), which requires grad."
    assert text.startswith(words)


def test_none_for_an_input_that_needs_none_is_fine() -> None:
    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0, 4.0).detach()
    assert of_backward(returning(a.detach(), None), a, b) == []


def test_none_from_none_is_fine() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        return None if a is None else a * 2

    class Cut(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    def run() -> None:
        y = rule(minigrad, forward, backward).apply(leaf(minigrad, 1.0))
        Cut.apply(y[0]).backward()

    assert [id for id, _ in said(run)] == ["A05"]


def test_gradient_that_the_engine_has_to_sum_is_noticed() -> None:
    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0)
    ((id, text),) = of_backward(returning(a.detach(), a.detach()), a, b)
    assert id == "R01"
    assert "returned shape (2,) for argument 2 (b) of shape ()." in text


def test_gradient_of_the_right_shape_is_fine() -> None:
    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0)
    assert of_backward(returning(a.detach(), b.detach()), a, b) == []


def test_gradient_of_lower_precision_is_noticed() -> None:
    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0, 4.0)
    rough = minigrad.tensor([1.0, 2.0], dtype=minigrad.float32)
    ((id, text),) = of_backward(returning(a.detach(), rough), a, b)
    assert id == "T03"
    assert "returned float32 for argument 2 (b), which is float64." in text


def test_gradient_of_higher_precision_is_fine() -> None:
    a = minigrad.tensor([1.0, 2.0], dtype=minigrad.float32, requires_grad=True)
    fine = minigrad.tensor([1.0, 2.0], dtype=minigrad.float64)
    assert of_backward(returning(fine, fine), a, a) == []


def test_writing_into_grad_output_is_noticed() -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        grad.mul_(2)
        return grad

    def run() -> None:
        y = rule(minigrad, lambda ctx, x: x * 2, backward).apply(leaf(minigrad, 1.0))
        y.backward()

    ((id, text),) = said(run)
    assert id == "M01"
    assert "F.backward: wrote into grad_output 1: 1 of 1 elements changed" in text
    assert "not grad_output *= 2 or grad_output.mul_(2)" in text


def test_gradient_handed_on_unchanged_is_fine() -> None:
    assert of_backward(rule(minigrad, lambda ctx, x: x + 2, lambda ctx, g: g)) == []


def saving(backward: Any) -> Any:
    """A Function of two tensors that saves both."""

    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a + b

    return rule(minigrad, forward, backward)


def test_saved_but_never_read_is_noticed() -> None:
    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0, 4.0)
    ((id, text),) = of_backward(saving(lambda ctx, g: (g, g)), a, b)
    assert id == ""
    assert "F.backward: never read ctx.saved_tensors, where forward saved 2" in text


def test_saved_and_read_is_fine_and_so_is_what_nobody_asked_for() -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        if all(ctx.needs_input_grad):
            _ = ctx.saved_tensors
        return grad, grad

    a, b = leaf(minigrad, 1.0, 2.0), leaf(minigrad, 3.0, 4.0)
    assert of_backward(saving(backward), a, b) == []
    assert of_backward(saving(backward), a, b.detach()) == []


def through_data(saved: Any) -> None:
    saved.data.mul_(2)


def through_numpy(saved: Any) -> None:
    saved.detach().numpy()[...] = 7


def exchanged(saved: Any) -> None:
    saved.data = minigrad.zeros(2)


def exp() -> Any:
    """A Function that saves its result, and reads it."""

    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y, None, x)
        return y

    return rule(minigrad, forward, lambda ctx, grad: grad * ctx.saved_tensors[0])


@pytest.mark.parametrize("change", [through_data, through_numpy])
def test_change_that_no_version_counts_is_noticed_in_backward(change: Any) -> None:
    y = exp().apply(leaf(minigrad, 1.0, 2.0))
    assert said(lambda: change(y)) == []
    heard = said(lambda: y.sum().backward(retain_graph=True))
    ((id, text),) = heard
    assert id == ""
    assert "F.backward: saved value #1 holds other numbers than forward saved" in text
    assert "still at version 0" in text
    assert said(lambda: y.sum().backward()) == []


def test_exchanged_data_of_a_saved_input_is_noticed() -> None:
    x = leaf(minigrad, 1.0, 2.0)
    y = exp().apply(x)
    exchanged(x)
    ((_, text),) = said(lambda: y.sum().backward())
    assert "saved value #3 holds other numbers" in text


def test_change_that_the_version_counts_is_left_to_the_error() -> None:
    y = exp().apply(leaf(minigrad, 1.0, 2.0))

    def run() -> None:
        y.detach().mul_(2)
        with pytest.raises(minigrad.errors.SavedModifiedError):
            y.sum().backward()

    assert said(run) == []


def test_saved_values_that_nobody_changes_are_left_in_peace() -> None:
    x = leaf(minigrad, 1.0, float("nan"))
    assert of_backward(exp(), x) == []
    hooks = minigrad.autograd.graph.saved_tensors_hooks(
        lambda t: t.clone(), lambda t: t
    )
    with hooks:
        y = exp().apply(x)
    y.data.zero_()
    assert said(lambda: y.sum().backward()) == []


def test_saved_values_are_as_before_when_the_rule_has_run() -> None:
    function = saving(lambda ctx, g: (*ctx.saved_tensors,))
    y = function.apply(leaf(minigrad, 1.0), leaf(minigrad, 2.0))
    y.backward(retain_graph=True)
    assert type(y.grad_fn._saved) is tuple
    assert [x.item() for x in y.grad_fn.saved_tensors] == [1.0, 2.0]


def test_rule_that_raises_leaves_the_saved_values() -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        raise Boom

    y = saving(backward).apply(leaf(minigrad, 1.0), leaf(minigrad, 2.0))
    with pytest.raises(Boom):
        y.backward()
    assert [x.item() for x in y.grad_fn.saved_tensors] == [1.0, 2.0]


def test_hooks_that_keep_the_memory_are_noticed() -> None:
    x = leaf(minigrad, 1.0, 2.0)

    def packed(tensor: Any) -> Any:
        return tensor

    hooks = minigrad.autograd.graph.saved_tensors_hooks
    with hooks(packed, lambda tensor: tensor):
        ((id, text),) = said(lambda: (x * x, x.exp()))
    assert id == ""
    assert "saved_tensors_hooks: packed keeps the memory of the tensor it" in text
    with hooks(lambda tensor: tensor.numpy(), minigrad.from_numpy):
        assert len(said(lambda: x.detach().requires_grad_().exp())) == 1


def test_hooks_that_copy_are_fine() -> None:
    x = leaf(minigrad, 1.0, 2.0)
    hooks = minigrad.autograd.graph.saved_tensors_hooks
    with hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
        assert said(lambda: x * x) == []


def test_batch_of_gradients_has_no_memory_to_look_at() -> None:
    x = leaf(minigrad, 1.0, 2.0)
    y = rule(minigrad, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    basis = minigrad.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=minigrad.float64)
    (g,) = minigrad.autograd.grad(y, x, basis, is_grads_batched=True)
    assert g.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_same_habit_is_told_once_for_each_class() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = x

    first, second = leaving(note), leaving(note)
    assert len(of_call(first)) == 1
    assert of_call(first) == []
    assert len(of_call(second)) == 1


def test_warning_points_at_the_learners_forward() -> None:
    def note(ctx: Any, x: Any, y: Any) -> None:
        ctx.kept = x

    function = leaving(note)
    with pytest.warns(minigrad.TeachingWarning) as caught:
        function.apply(leaf(minigrad, 2.0))
    code = function.forward.__code__
    assert caught[0].filename == code.co_filename
    assert caught[0].lineno == code.co_firstlineno


def test_warning_points_below_the_decorators() -> None:
    class Keeps(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.kept = x
            return x * 1

    with pytest.warns(minigrad.TeachingWarning) as caught:
        Keeps.apply(leaf(minigrad, 2.0))
    line = linecache.getline(caught[0].filename, caught[0].lineno)
    assert line.strip().startswith("def forward")


def test_warning_about_backward_points_at_backward() -> None:
    class Forgets(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        @minigrad.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return None, grad

    y = Forgets.apply(leaf(minigrad, 2.0), leaf(minigrad, 3.0))
    with pytest.warns(minigrad.TeachingWarning) as caught:
        y.backward(leaf(minigrad, 1.0))
    line = linecache.getline(caught[0].filename, caught[0].lineno)
    assert line.strip().startswith("def backward")


def test_arguments_without_a_name_have_their_number() -> None:
    function = rule(minigrad, lambda ctx, *xs: xs[0] * 2, lambda ctx, g: (None, None))
    heard = of_backward(function, leaf(minigrad, 1.0), leaf(minigrad, 2.0))
    assert "returned None for argument 2, which" in heard[1][1]


def test_arguments_are_named_in_setup_context_style_too() -> None:
    class Setup(minigrad.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    ((_, text),) = of_backward(Setup)
    assert "returned None for argument 1 (x), which requires grad" in text


def test_teaching_mode_off_says_nothing() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        y.add_(1)
        ctx.kept = x
        return x * 2

    function = rule(minigrad, forward, lambda ctx, g: None)
    with minigrad.teaching(False):
        assert of_backward(function) == []
        assert not is_teaching()
    assert is_teaching()
    assert {id for id, _ in of_backward(function)} == {"S06", "S03", "D01", "A05", ""}


def test_teaching_mode_tells_whether_it_is_on() -> None:
    mode = minigrad.teaching(True)
    assert repr(mode) == "teaching mode is on"
    assert re.search("off", repr(minigrad.teaching(False)))
    minigrad.teaching(True)


def test_nothing_is_remembered_when_a_call_is_over() -> None:
    y = saving(doubled_twice).apply(leaf(minigrad, 1.0), leaf(minigrad, 2.0))
    y.backward()
    assert not forward._inputs_before
    assert not forward._saved_then


def doubled_twice(ctx: Any, grad: Any) -> Any:
    """A right rule of two inputs."""
    _ = ctx.saved_tensors
    return grad * 2, grad * 2
