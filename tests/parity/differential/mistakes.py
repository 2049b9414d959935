"""Deliberate mistakes: each ends a program with an exception, or should."""

from __future__ import annotations

from collections.abc import Callable

from tests.parity.differential.writer import Var, Writer


def requiring(w: Writer) -> Var:
    """A tensor that requires grad; made anew if there is none."""
    found = w.pick(lambda var: var.requires and var.floating and var.shape != ())
    if found is not None:
        return found
    text = w.constant((3,))[:-1] + ", requires_grad=True)"
    return w.make(text, Var(w.fresh(), (3,), "float64", True, leaf=True))


def leaf(w: Writer) -> Var:
    """A leaf that requires grad."""
    text = w.constant((2,))[:-1] + ", requires_grad=True)"
    return w.make(text, Var(w.fresh(), (2,), "float64", True, leaf=True))


def wrong_function(
    w: Writer,
    x: Var | None = None,
    forward: str = "return x * 2",
    backward: str = "return g",
    more: str = "",
    call: str = "",
    grads: str = "g",
) -> None:
    """A Function with one mistake, applied and run backward."""
    x = x or requiring(w)
    name = f"F{next(w.classes)}"
    lines = [f"class {name}(torch.autograd.Function):", "    @staticmethod"]
    lines += [f"    def forward(ctx, x{more}):"]
    lines += ["        " + part for part in forward.splitlines()]
    lines += ["", "    @staticmethod", f"    def backward(ctx, {grads}):"]
    lines += ["        " + part for part in backward.splitlines()]
    w.line("\n".join(lines))
    w.line(f"wrong = {name}.apply({x.name}{call})")
    w.line("wrong = wrong[0] if isinstance(wrong, (tuple, list)) else wrong")
    w.line("wrong.sum().backward()")


def too_few_gradients(w: Writer) -> None:
    wrong_function(w, more=", k", call=", 2")


def too_many_gradients(w: Writer) -> None:
    wrong_function(w, backward="return g, g")


def gradient_for_a_number(w: Writer) -> None:
    wrong_function(w, backward="return g, g", more=", k", call=", 2")


def list_of_gradients(w: Writer) -> None:
    wrong_function(w, backward="return [g]")


def number_as_gradient(w: Writer) -> None:
    wrong_function(w, backward="return 1.0")


def wrong_shape(w: Writer) -> None:
    wrong_function(w, backward="return g.sum()")


def list_of_outputs(w: Writer) -> None:
    wrong_function(w, forward="return [x * 2]")


def saved_number(w: Writer) -> None:
    wrong_function(w, forward="ctx.save_for_backward(x, 2)\nreturn x * 2")


def saved_number_without_a_record(w: Writer) -> None:
    """No mistake yet: only what is recorded is looked at."""
    w.line("torch.set_grad_enabled(False)")
    wrong_function(w, forward="ctx.save_for_backward(x, 2)\nreturn x * 2")


def forward_saved_number(w: Writer) -> None:
    wrong_function(w, forward="ctx.save_for_forward(x, 2)\nreturn x * 2")


def saved_list(w: Writer) -> None:
    wrong_function(w, forward="ctx.save_for_backward([x])\nreturn x * 2")


def dirty_leaf(w: Writer) -> None:
    wrong_function(w, leaf(w), "x.mul_(2)\nctx.mark_dirty(x)\nreturn x")


def dirty_not_returned(w: Writer) -> None:
    wrong_function(w, leaf(w), "y = x * 2\nctx.mark_dirty(x)\nreturn y")


def marked_number(w: Writer) -> None:
    method = w.random.choice(["mark_dirty", "mark_non_differentiable"])
    wrong_function(w, forward=f"ctx.{method}(2)\nreturn x * 2")


def materialize_number(w: Writer) -> None:
    wrong_function(w, forward="ctx.set_materialize_grads(1)\nreturn x * 2")


def read_materialize(w: Writer) -> None:
    wrong_function(w, forward="ctx.materialize_grads\nreturn x * 2")


def raising_forward(w: Writer) -> None:
    wrong_function(w, forward='raise Boom("forward")')


def raising_backward(w: Writer) -> None:
    wrong_function(w, backward='raise Boom("backward")')


def too_few_parameters(w: Writer) -> None:
    wrong_function(w, forward="return x * 2, x * 3", grads="g")


def two_rules(w: Writer) -> None:
    x = requiring(w)
    name = f"F{next(w.classes)}"
    body = w.random.choice(["vjp = backward = staticmethod(lambda ctx, g: g)", "pass"])
    w.line(
        f"class {name}(torch.autograd.Function):\n"
        f"    forward = staticmethod(lambda ctx, x: x * 2)\n    {body}"
    )
    w.line(f"{name}.apply({x.name}).sum().backward()")


def no_forward(w: Writer) -> None:
    x = requiring(w)
    w.line(f"torch.autograd.Function.apply({x.name})")


def late_exception(w: Writer) -> None:
    """One branch has arrived when the other one fails."""
    wrong_function(w, backward='note("raises", g)\nraise Boom("late")')


def second_backward(w: Writer) -> None:
    x = requiring(w)
    w.line(f"twice = ({x.name} * {x.name}).sum()")
    w.line("twice.backward()")
    w.line("twice.backward()")


def leaf_in_place(w: Writer) -> None:
    w.line(f"{leaf(w).name}.mul_(2)")


def view_of_leaf_in_place(w: Writer) -> None:
    w.line(f"{leaf(w).name}.view(2, 1).mul_(2)")


def saved_changed(w: Writer) -> None:
    x = requiring(w)
    function = w.random.choice(["sin", "exp", "tanh", "sigmoid"])
    w.line(f"old = {x.name} * 1.5")
    w.line(f"new = old.{function}()")
    w.line(w.random.choice(["old.add_(1)", "new.add_(1)", "new.mul_(2)"]))
    w.line("new.sum().backward()")


def several_views_in_place(w: Writer) -> None:
    x = requiring(w)
    w.line(f"part, *_ = ({x.name} * 1).unbind()")
    w.line("part.mul_(2)")


def view_without_grad_in_place(w: Writer) -> None:
    x = requiring(w)
    w.line(f"whole = {x.name} * 1")
    w.line("with torch.no_grad():\n    quiet = whole.view(-1)")
    w.line("quiet.mul_(2)")


def custom_view_in_place(w: Writer) -> None:
    x = requiring(w)
    name = f"F{next(w.classes)}"
    w.line(
        f"class {name}(torch.autograd.Function):\n"
        f"    forward = staticmethod(lambda ctx, x: x)\n"
        f"    backward = staticmethod(lambda ctx, g: g)"
    )
    w.line(f"{name}.apply({x.name}).mul_(2)")


def no_scalar(w: Writer) -> None:
    w.line(f"({leaf(w).name} * 2).backward()")


def wrong_gradient_shape(w: Writer) -> None:
    w.line(f"({leaf(w).name} * 2).backward(torch.tensor([1.0, 2.0, 3.0]))")


def gradient_is_a_number(w: Writer) -> None:
    w.line(f"({leaf(w).name} * 2).sum().backward(1.0)")


def count_of_gradients(w: Writer) -> None:
    w.line(f"torch.autograd.backward([{leaf(w).name}.sum()] * 2, [torch.tensor(1.0)])")


def no_graph(w: Writer) -> None:
    w.line("torch.tensor(1.0).backward()")


def not_used(w: Writer) -> None:
    x, y = leaf(w), leaf(w)
    w.line(f"torch.autograd.grad({x.name}.sum(), [{x.name}, {y.name}])")


def needs_no_grad(w: Writer) -> None:
    x = leaf(w)
    w.line(f"torch.autograd.grad({x.name}.sum(), [torch.tensor(1.0)])")


def no_inputs(w: Writer) -> None:
    x = leaf(w)
    how = w.random.choice(
        ["torch.autograd.grad({}.sum(), [])", "{}.sum().backward(inputs=[])"]
    )
    w.line(how.format(x.name))


def flags_that_exclude(w: Writer) -> None:
    x = leaf(w)
    flags = "allow_unused=False, materialize_grads=True"
    w.line(f"torch.autograd.grad({x.name}.sum(), [{x.name}], {flags})")


def integers_require_grad(w: Writer) -> None:
    how = [
        "torch.tensor([1], requires_grad=True)",
        "torch.tensor([1]).requires_grad_()",
    ]
    w.line(w.random.choice(how))


def flag_of_non_leaf(w: Writer) -> None:
    w.line(f"({leaf(w).name} * 2).requires_grad = False")


def wrong_assigned_grad(w: Writer) -> None:
    x = leaf(w)
    value = ["torch.tensor(1.0)", "1.0", x.name, "torch.tensor([1, 2])"]
    w.line(f"{x.name}.grad = {w.random.choice(value)}")


def numpy_of_graph(w: Writer) -> None:
    w.line(f"{leaf(w).name}.numpy()")


def not_one_number(w: Writer) -> None:
    how = w.random.choice(["float({})", "{}.item()", "bool({})"])
    w.line(how.format(leaf(w).name))


def shapes_that_do_not_fit(w: Writer) -> None:
    x = leaf(w)
    how = ["{} + torch.ones(3)", "{} @ torch.ones(3)", "{}.view(3)", "{}.expand(3)"]
    how += ["{}.sum(2)", "{}.transpose(0, 1)", "{}[2]", "{}[0, 0]"]
    w.line(w.random.choice(how).format(x.name))


def in_place_grows(w: Writer) -> None:
    w.line(f"({leaf(w).name} * 1).add_(torch.ones(3, 2))")


def in_place_widens(w: Writer) -> None:
    w.line("torch.tensor([1, 2]).mul_(0.5)")


def expanded_in_place(w: Writer) -> None:
    w.line(f"({leaf(w).name} * 1).expand(3, 2).mul_(2)")


def copy_of_non_leaf(w: Writer) -> None:
    w.line(f"__import__('copy').deepcopy({leaf(w).name} * 2)")


def once_twice(w: Writer) -> None:
    x = leaf(w)
    name = f"F{next(w.classes)}"
    w.line(
        f"class {name}(torch.autograd.Function):\n"
        "    forward = staticmethod(lambda ctx, x: x * 2)\n"
        "    backward = staticmethod(\n"
        "        torch.autograd.function.once_differentiable(lambda ctx, g: g * 2)\n"
        "    )",
        "once_differentiable",
    )
    w.line(f"y = ({name}.apply({x.name}) ** 2).sum()")
    w.line(f"first, = torch.autograd.grad(y, [{x.name}], create_graph=True)")
    w.line("first.sum().backward()")


def hook_without_grad(w: Writer) -> None:
    how = ["register_hook(print)", "retain_grad()"]
    how.append("register_post_accumulate_grad_hook(print)")
    w.line(f"torch.tensor([1.0]).{w.random.choice(how)}")


def hook_of_wrong_kind(w: Writer) -> None:
    x = leaf(w)
    value = ["1.0", "torch.ones(5)", "g.to(torch.float32)"]
    w.line(f"y = {x.name} * 2")
    w.line(f"y.register_hook(lambda g: {w.random.choice(value)})", "tensor hooks")
    w.line("y.sum().backward()")


def hook_raises(w: Writer) -> None:
    x = leaf(w)
    w.line('def raising(*grads):\n    raise Boom("hook")')
    w.line(f"y = {x.name} * 2")
    how = ["y.register_hook(raising)", "y.grad_fn.register_prehook(raising)"]
    how.append("y.grad_fn.register_hook(raising)")
    how.append(f"{x.name}.register_post_accumulate_grad_hook(raising)")
    w.line(w.random.choice(how))
    w.line("y.sum().backward()")


def node_hook_count(w: Writer) -> None:
    x = leaf(w)
    w.line(f"y = {x.name} * 2")
    how = ["register_prehook(lambda gs: gs * 2)"]
    how.append("register_hook(lambda gi, go: go * 5)")
    w.line(f"y.grad_fn.{w.random.choice(how)}")
    w.line("y.sum().backward()")


def accumulate_hook_answers(w: Writer) -> None:
    x = leaf(w)
    value = w.random.choice(["t", "1"])
    w.line(f"{x.name}.register_post_accumulate_grad_hook(lambda t: {value})")
    w.line(f"{x.name}.sum().backward()")


def dual_outside(w: Writer) -> None:
    ad = "torch.autograd.forward_ad"
    w.line(f"{ad}.make_dual(torch.tensor(1.0), torch.tensor(1.0))", "forward mode")


def dual_of_wrong_kind(w: Writer) -> None:
    ad = "torch.autograd.forward_ad"
    pairs = [
        "torch.tensor(1), torch.tensor(1.0)",
        "torch.tensor(1.0), torch.tensor([1.0])",
    ]
    with w.block(f"with {ad}.dual_level():", "forward mode"):
        w.line(f"{ad}.make_dual({w.random.choice(pairs)})")


def wrong_jvp(w: Writer) -> None:
    name = f"F{next(w.classes)}"
    jvps = ["", "jvp = staticmethod(lambda ctx, t: (t, t))"]
    jvps += ["jvp = staticmethod(lambda ctx, t: 1.0)"]
    jvps += ["jvp = staticmethod(lambda ctx, t: t.sum())"]
    jvps += ["jvp = staticmethod(lambda ctx: 1.0)"]
    w.line(
        f"class {name}(torch.autograd.Function):\n"
        "    forward = staticmethod(lambda ctx, x: x * 2)\n"
        f"    {w.random.choice(jvps) or 'pass'}"
    )
    ad = "torch.autograd.forward_ad"
    with w.block(f"with {ad}.dual_level():", "forward mode"):
        w.line(f"{name}.apply({ad}.make_dual(torch.ones(2), torch.ones(2)))")


MISTAKES: list[Callable[[Writer], None]] = [
    too_few_gradients,
    too_many_gradients,
    gradient_for_a_number,
    list_of_gradients,
    number_as_gradient,
    wrong_shape,
    list_of_outputs,
    saved_number,
    saved_number_without_a_record,
    forward_saved_number,
    saved_list,
    dirty_leaf,
    dirty_not_returned,
    marked_number,
    materialize_number,
    read_materialize,
    raising_forward,
    raising_backward,
    too_few_parameters,
    two_rules,
    no_forward,
    late_exception,
    second_backward,
    leaf_in_place,
    view_of_leaf_in_place,
    saved_changed,
    several_views_in_place,
    view_without_grad_in_place,
    custom_view_in_place,
    no_scalar,
    wrong_gradient_shape,
    gradient_is_a_number,
    count_of_gradients,
    no_graph,
    not_used,
    needs_no_grad,
    no_inputs,
    flags_that_exclude,
    integers_require_grad,
    flag_of_non_leaf,
    wrong_assigned_grad,
    numpy_of_graph,
    not_one_number,
    shapes_that_do_not_fit,
    in_place_grows,
    in_place_widens,
    expanded_in_place,
    copy_of_non_leaf,
    once_twice,
    hook_without_grad,
    hook_of_wrong_kind,
    hook_raises,
    node_hook_count,
    accumulate_hook_answers,
    dual_outside,
    dual_of_wrong_kind,
    wrong_jvp,
]


def make_one(w: Writer, without: frozenset[str] = frozenset()) -> None:
    """Write one mistake, chosen by chance."""
    mistake = w.random.choice([m for m in MISTAKES if m.__name__ not in without])
    w.program.features.add("mistake")
    w.program.mistake = mistake.__name__
    mistake(w)
