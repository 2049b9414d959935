"""The statements that random programs are made of, each with its weight."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.parity.differential import functions, mistakes
from tests.parity.differential.writer import (
    SHAPES,
    Program,
    Var,
    Writer,
    broadcast,
)


def new_leaf(w: Writer) -> None:
    shape = w.random.choice(SHAPES)
    dtype = w.random.choices(["float64", "float32", "int64"], [10, 3, 1])[0]
    requires = dtype != "int64" and w.chance(0.7)
    text = w.constant(shape, dtype)
    if requires:
        text = text[:-1] + ", requires_grad=True)"
    w.make(text, Var(w.fresh(), shape, dtype, requires, leaf=True))


def elementwise(w: Writer) -> None:
    x = w.float_var()
    name = w.random.choice(["sin", "cos", "tanh", "sigmoid", "exp", "relu", "abs"])
    text = f"{x.name}.tanh().exp()" if name == "exp" else f"{x.name}.{name}()"
    y = w.make(text, w.result(x.shape, x), "built-ins")
    w.keep(*[x] if name in ("sin", "cos", "abs") else [y])


def arithmetic(w: Writer) -> None:
    x = w.pick(lambda var: var.dtype != "bool") or w.float_var()
    if w.chance(0.25):
        sign = w.random.choice("+-*")
        if x.dtype != "int64":
            w.make(f"{x.name} {sign} {w.number()}", w.result(x.shape, x), "built-ins")
        return
    y = w.pick(lambda var: broadcast(var.shape, x.shape) is not None)
    if y is None or (x.dtype == "bool" and y.dtype == "bool"):
        return
    sign = w.random.choice("+-**/")
    if "bool" in (x.dtype, y.dtype) or (not x.floating and not y.floating):
        sign = "*"
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    divisor = f"({y.name} * {y.name} + 1)" if sign == "/" else y.name
    features = ["built-ins"]
    features += ["broadcasting"] * (x.shape != y.shape)
    features += ["mixed dtypes"] * (x.dtype != y.dtype)
    w.make(f"{x.name} {sign} {divisor}", w.result(shape, x, y), *features)
    if sign in "*/":
        w.keep(x, y)


def product_of_matrices(w: Writer) -> None:
    x = w.pick(lambda var: len(var.shape) == 2 and var.floating)
    if x is None:
        return
    y = w.pick(
        lambda var: (
            len(var.shape) == 2 and var.shape[0] == x.shape[1] and var.dtype == x.dtype
        )
    )
    if y is None:
        return
    shape = (x.shape[0], y.shape[1])
    w.make(f"{x.name} @ {y.name}", w.result(shape, x, y), "built-ins")
    w.keep(x, y)


def reduction(w: Writer) -> None:
    x = w.float_var()
    name = w.random.choice(["sum", "mean"])
    if x.shape and w.chance(0.4):
        dim = w.random.randrange(len(x.shape))
        shape = x.shape[:dim] + x.shape[dim + 1 :]
        w.make(f"{x.name}.{name}({dim})", w.result(shape, x), "built-ins")
    else:
        w.make(f"{x.name}.{name}()", w.result((), x), "built-ins")


def cast(w: Writer) -> None:
    x = w.float_var()
    other = "float32" if x.dtype == "float64" else "float64"
    var = w.result(x.shape, x, dtype=other)
    w.make(f"{x.name}.to(torch.{other})", var, "mixed dtypes")


def copied(w: Writer) -> None:
    """clone and detach."""
    x = w.float_var()
    if w.chance(0.5):
        w.make(f"{x.name}.clone()", w.result(x.shape, x), "built-ins")
    else:
        var = w.view_of(x, x.shape)
        var.requires, var.leaf, var.refuses = False, True, "detached"
        w.make(f"{x.name}.detach()", var, "detach")


def view(w: Writer) -> None:
    """A view, by any of the ways to get one."""
    x = w.float_var()
    rank = len(x.shape)
    size = math.prod(x.shape)
    ways = ["unsqueeze", "squeeze"]
    if x.contiguous:
        ways += ["view", "reshape"]
    if rank >= 2:
        ways += ["transpose", "permute"]
    if rank >= 1:
        ways += ["select", "index", "narrow"]
    if rank <= 2:
        ways.append("expand")
    way = w.random.choice(ways)
    contiguous = True
    features = ["views"]
    if way == "unsqueeze":
        text, shape = ".unsqueeze(0)", (1, *x.shape)
    elif way == "squeeze":
        text, shape = ".squeeze()", tuple(n for n in x.shape if n != 1)
    elif way in ("view", "reshape"):
        shape = w.random.choice([(size,), (1, size), (size, 1)])
        text = f".{way}{shape}"
    elif way == "transpose":
        text, shape = ".transpose(0, 1)", (x.shape[1], x.shape[0], *x.shape[2:])
        contiguous = 1 in x.shape
    elif way == "permute":
        order = tuple(range(rank))[::-1]
        text, shape = f".permute{order}", x.shape[::-1]
        contiguous = False
    elif way == "select":
        dim = w.random.randrange(rank)
        place = w.random.randrange(x.shape[dim])
        text = f".select({dim}, {place})"
        shape = x.shape[:dim] + x.shape[dim + 1 :]
        contiguous = dim == 0
    elif way == "index":
        text, shape, contiguous = index(w, x.shape)
        features.append("index reads")
    elif way == "narrow":
        dim = w.random.randrange(rank)
        length = w.random.randint(1, x.shape[dim])
        text = f".narrow({dim}, {x.shape[dim] - length}, {length})"
        shape = (*x.shape[:dim], length, *x.shape[dim + 1 :])
        contiguous = dim == 0
    else:
        text, shape = f".expand(2, {', '.join('-1' * rank)})", (2, *x.shape)
        text = f".expand{(2, *x.shape)}"
        contiguous = False
    var = w.view_of(x, shape, contiguous)
    if way == "expand":
        var.refuses = var.refuses or "expanded"
    w.make(f"{x.name}{text}", var, *features)


def index(w: Writer, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...], bool]:
    """A basic index: its text, the shape of what it reads, whether that is in a row."""
    kind = w.random.randrange(4)
    if kind == 0:
        place = w.random.randrange(-shape[0], shape[0])
        return f"[{place}]", shape[1:], True
    if kind == 1:
        start = w.random.randrange(shape[0])
        return f"[{start}:]", (shape[0] - start, *shape[1:]), True
    if kind == 2:
        place = w.random.randrange(shape[-1])
        return f"[..., {place}]", shape[:-1], False
    return "[None, ::2]", (1, (shape[0] + 1) // 2, *shape[1:]), False


def advanced_index(w: Writer) -> None:
    """Reading by a list of positions makes a copy."""
    x = w.pick(lambda var: var.floating and len(var.shape) >= 1)
    if x is None:
        return
    places = [w.random.randrange(x.shape[0]) for _ in range(w.random.randint(1, 4))]
    shape = (len(places), *x.shape[1:])
    w.make(f"{x.name}[{places}]", w.result(shape, x), "index reads")


def several_views(w: Writer) -> None:
    """unbind, split and chunk: views that cannot be changed in place."""
    x = w.pick(lambda var: var.floating and var.shape and var.shape[0] == 2)
    x = x or w.pick(lambda var: var.floating and var.shape and var.shape[0] == 3)
    if x is None:
        return
    way = w.random.choice(["unbind()", "split(1)", "chunk(2)"])
    if x.shape[0] == 3 and way == "chunk(2)":
        shapes = [(2, *x.shape[1:]), (1, *x.shape[1:])]
    else:
        part = x.shape[1:] if way == "unbind()" else (1, *x.shape[1:])
        shapes = [part] * x.shape[0]
    made = [w.view_of(x, shape, why="several views") for shape in shapes]
    names = ", ".join(var.name for var in made)
    w.line(f"{names} = {x.name}.{way}", "several views", "views")
    for var in made:
        w.add(var)


def in_place(w: Writer) -> None:
    """Change a tensor, a view or a base in place."""
    x = w.pick(w.changeable)
    if x is None:
        return
    if w.chance(0.6) and x.shape:
        # Change a part of it, or all of it after a part has been taken.
        text, shape, contiguous = index(w, x.shape)
        var = w.make(f"{x.name}{text}", w.view_of(x, shape, contiguous), "views")
        x = var if w.chance(0.6) else x
    has_views = any(v.memory == x.memory and v.view for v in w.vars if v is not x)
    feature = "in place: view" if x.view else "in place: tensor"
    features = [feature] + ["in place: base"] * (has_views and not x.view)
    way = w.random.choice(["mul", "add", "var", "var", "tanh", "zero", "fill", "copy"])
    y = w.pick(
        lambda v: (
            broadcast(v.shape, x.shape) == x.shape
            and v.dtype == x.dtype
            and v.memory != x.memory
        )
    )
    if way in ("var", "copy") and y is not None:
        name = "copy" if way == "copy" else w.random.choice(["mul", "add", "sub"])
        w.line(f"{x.name}.{name}_({y.name})", *features)
        w.changed(x, y)
        if name == "mul":
            w.keep(y)
        return
    if way == "tanh":
        w.line(f"{x.name}.tanh_()", *features)
        w.keep(x)
    elif way in ("zero", "fill"):
        w.line(f"{x.name}.{'zero_()' if way == 'zero' else 'fill_(0.5)'}", *features)
    else:
        way = way if way in ("mul", "add") else "mul"
        w.line(f"{x.name}.{way}_({w.number()})", *features)
    w.changed(x)


def index_write(w: Writer) -> None:
    x = w.pick(w.changeable, lambda var: len(var.shape) >= 1)
    if x is None:
        return
    text, shape, _ = index(w, x.shape)
    y = w.pick(
        lambda v: (
            broadcast(v.shape, shape) == shape and v.floating and v.memory != x.memory
        )
    )
    if y is None or w.chance(0.3):
        w.line(f"{x.name}{text} = {w.number()}", "index writes")
        w.changed(x)
    else:
        w.line(f"{x.name}{text} = {y.name}", "index writes")
        w.changed(x, y)


def changeable_copy(w: Writer) -> None:
    """A tensor that the statements after it may change in place."""
    x = w.float_var()
    w.make(f"{x.name} * {w.number()}", w.result(x.shape, x), "built-ins")


def custom(w: Writer) -> None:
    """Apply a custom Function, an old one or a new one."""
    known = w.functions
    if not known or w.chance(0.6):
        known.append(functions.define(w))
        function = known[-1]
    else:
        function = w.random.choice(known)
    for _ in range(3):
        inputs = functions.fitting(w, function)
        if inputs is not None:
            functions.call(w, function, inputs)
            return
    if "dirty 0" in function.template.outputs:
        changeable_copy(w)
        functions.call(w, function, [w.vars[-1]])


def nested_tensors(w: Writer) -> None:
    """Tensors inside a list are not seen: what comes out has no graph."""
    x = w.float_var()
    w.line(
        "class Listed(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, xs):\n"
        "        return xs[0] * 2"
    )
    var = w.result(x.shape, x)
    var.requires = False
    w.make(f"Listed.apply([{x.name}])", var)


def without_grad(w: Writer) -> None:
    with w.block("with torch.no_grad():", "no_grad"):
        w.recording = False
        for _ in range(w.random.randint(1, 3)):
            w.random.choice([elementwise, arithmetic, view, in_place, custom])(w)
        w.recording = True


def tensor_hook(w: Writer) -> None:
    x = w.pick(lambda var: var.requires)
    if x is None:
        return
    if x.view:
        # torch 2.13 itself crashes if the base was changed in place and nobody has
        # looked at the view's history since.
        w.line(f"{x.name}.grad_fn")
    name = w.fresh("h")
    label = f'note("hook {name}", g)'
    kind = w.random.randrange(4)
    if kind == 0:
        w.line(f"{name} = {x.name}.register_hook(lambda g: {label})", "tensor hooks")
    elif kind == 1:
        answer = f"{label} or g * {w.number()}"
        w.line(f"{name} = {x.name}.register_hook(lambda g: {answer})", "tensor hooks")
    elif kind == 2:
        w.line(f"{name} = {x.name}.register_hook(lambda g: {label})", "tensor hooks")
        w.line(f"{name}.remove()")
    else:
        w.line(f"{x.name}.retain_grad()", "retain_grad")


def node_hook(w: Writer) -> None:
    x = w.pick(lambda var: var.requires, lambda var: not var.leaf)
    if x is None:
        return
    name = w.fresh("h")
    if w.chance(0.5):
        again = "or tuple(None if g is None else g * 2 for g in gs)"
        answer = f'note("prehook {name}", *gs) {again if w.chance(0.5) else ""}'
        text = f"{x.name}.grad_fn.register_prehook(lambda gs: {answer.strip()})"
        w.line(f"{name} = {text}", "node prehooks")
    else:
        again = "or tuple(None if g is None else g * 2 for g in gi)"
        answer = f'note("posthook {name}", gi, go) {again if w.chance(0.5) else ""}'
        text = f"{x.name}.grad_fn.register_hook(lambda gi, go: {answer.strip()})"
        w.line(f"{name} = {text}", "node post hooks")


def post_accumulate_hook(w: Writer) -> None:
    x = w.pick(lambda var: var.requires and var.leaf)
    if x is None:
        return
    name = w.fresh("h")
    w.line(
        f"{name} = {x.name}.register_post_accumulate_grad_hook("
        f'lambda t: note("accumulated {name}", t.grad))',
        "post-accumulate hooks",
    )


def forward_mode(w: Writer) -> None:
    """A dual level: tangents go forward through built-ins and custom Functions."""
    ad = "torch.autograd.forward_ad"
    with w.block(f"with {ad}.dual_level():", "forward mode"):
        before = len(w.vars)
        for _ in range(w.random.randint(1, 2)):
            x = w.pick(
                lambda var: (
                    var.floating and var not in w.vars[before:] and var.contiguous
                )
            )
            assert x is not None
            var = w.view_of(x, x.shape, why="dual")
            tangent = w.constant(x.shape, x.dtype)
            w.make(f"{ad}.make_dual({x.name}, {tangent})", var)
            # torch 2.13 itself crashes when such memory is changed in place later.
            w.keep(var)
        duals = w.vars[before:]
        for _ in range(w.random.randint(1, 4)):
            ways = [elementwise, arithmetic, arithmetic, view, reduction, dual_custom]
            w.random.choice(ways)(w)
        last = [var for var in w.vars[before:] if var.floating and var not in duals]
        for var in last[-3:]:
            w.line(f'note("tangent", {ad}.unpack_dual({var.name}).tangent)')
    for var in w.vars[before:]:
        var.refuses = var.refuses or "was dual"


def dual_custom(w: Writer) -> None:
    known = [f for f in w.functions if f.template.jvp]
    if not known:
        function = functions.define(w)
        w.functions.append(function)
        known = [function] if function.template.jvp else []
    for function in known[:1]:
        inputs = functions.fitting(w, function)
        if inputs is not None:
            functions.call(w, function, inputs)
            w.program.features.add("jvp")


def a_loss(w: Writer, name: str) -> bool:
    """Write a scalar that surely requires grad."""
    sure = w.pick(lambda var: var.requires and var.floating)
    if sure is None:
        return False
    others = [w.float_var() for _ in range(w.random.randint(0, 3))]
    terms = [
        f"{var.name}.{w.random.choice(['sum', 'mean'])}()" for var in [sure, *others]
    ]
    w.line(f"{name} = {' + '.join(terms)}")
    return True


def some_leaves(w: Writer) -> list[Var]:
    leaves = [var for var in w.vars if var.leaf and var.requires]
    w.random.shuffle(leaves)
    return leaves[: w.random.randint(1, 3)]


def ask(w: Writer) -> None:
    """grad() for leaves and for tensors in the middle; the graph stays."""
    name = w.fresh("g")
    wanted = [v for v in (w.pick(lambda v: v.requires) for _ in range(3)) if v]
    if not wanted or not a_loss(w, name):
        return
    names = ", ".join(dict.fromkeys(var.name for var in wanted))
    how = w.random.choice(["allow_unused", "materialize_grads"])
    text = f"torch.autograd.grad({name}, [{names}], retain_graph=True, {how}=True)"
    w.line(f'note("grad", *{text})', "grad(inputs)", how, "retain_graph")


def go_back(w: Writer) -> None:
    """backward() in the middle of a program; the graph stays."""
    name = w.fresh("g")
    if a_loss(w, name):
        w.line(f"{name}.backward(retain_graph=True)", "retain_graph")


def second_order(w: Writer) -> None:
    """Gradients that are part of the graph and of the pool."""
    name = w.fresh("g")
    leaves = some_leaves(w)
    if not leaves or not a_loss(w, name):
        return
    made = []
    for leaf in leaves:
        made.append(Var(w.fresh(), leaf.shape, leaf.dtype, None, refuses="gradient"))
    targets = ", ".join(var.name for var in made)
    names = ", ".join(leaf.name for leaf in leaves)
    w.line(
        f"{targets}, = torch.autograd.grad({name}, [{names}], create_graph=True, "
        "materialize_grads=True)",
        "create_graph",
        "materialize_grads",
    )
    for var in made:
        w.add(var)
    total = Var(w.fresh(), (), "float64", None, refuses="gradient")
    squares = " + ".join(f"({var.name} * {var.name}).sum()" for var in made)
    w.keep(*made)
    w.line(f"{total.name} = {squares} + {leaves[0].name}.sum()", "double backward")
    total.requires = True
    w.add(total)


def change_grad(w: Writer) -> None:
    """Reset what has been accumulated."""
    x = w.pick(lambda var: var.leaf and var.requires)
    if x is not None:
        w.line(f"{x.name}.grad = None")


def the_end(w: Writer) -> None:
    """The last backward, in one of its forms."""
    kind = w.random.randrange(7)
    if kind == 0:
        roots = [v for v in (w.pick(lambda v: v.requires) for _ in range(2)) if v]
        if roots:
            names = ", ".join(var.name for var in roots)
            given = ", ".join(w.constant(var.shape, var.dtype) for var in roots)
            w.line(f"torch.autograd.backward([{names}], [{given}])")
            return
    if not a_loss(w, "loss"):
        return
    if kind == 1:
        w.line("loss.backward(retain_graph=True)", "retain_graph")
        w.line("loss.backward()")
    elif kind == 2:
        wanted = [v for v in (w.pick(lambda v: v.requires) for _ in range(3)) if v]
        names = ", ".join(dict.fromkeys(var.name for var in wanted))
        w.line(f"loss.backward(inputs=[{names}])", "backward(inputs)")
    elif kind == 3:
        leaves = some_leaves(w)
        names = ", ".join(leaf.name for leaf in leaves)
        text = f"torch.autograd.grad(loss, [{names}], allow_unused=True)"
        w.line(f'note("grad", *{text})', "grad(inputs)", "allow_unused")
    elif kind == 4:
        w.line("loss.backward(create_graph=True)", "create_graph")
    else:
        w.line("loss.backward()")


STATEMENTS: list[tuple[float, Callable[[Writer], None]]] = [
    (1.0, new_leaf),
    (1.5, elementwise),
    (2.5, arithmetic),
    (0.4, product_of_matrices),
    (0.7, reduction),
    (0.6, cast),
    (0.7, copied),
    (2.0, view),
    (0.4, advanced_index),
    (0.6, several_views),
    (2.0, in_place),
    (1.0, index_write),
    (1.2, changeable_copy),
    (3.5, custom),
    (0.1, nested_tensors),
    (0.5, without_grad),
    (1.5, tensor_hook),
    (1.5, node_hook),
    (0.6, post_accumulate_hook),
    (0.7, forward_mode),
    (0.5, ask),
    (0.5, go_back),
    (0.6, second_order),
    (0.2, change_grad),
]


def write_program(seed: int, without: frozenset[str] = frozenset()) -> Program:
    """The program of ``seed``."""
    w = Writer(seed)
    for _ in range(2):
        shape = w.random.choice(SHAPES)
        text = w.constant(shape)[:-1] + ", requires_grad=True)"
        w.make(text, Var(w.fresh(), shape, "float64", True, leaf=True))
    allowed = [(n, s) for n, s in STATEMENTS if s.__name__ not in without]
    count = w.random.randint(4, 16)
    wrong = w.random.randrange(2 * count) if w.chance(0.22) else -1
    for place in range(count):
        if place == wrong:
            mistakes.make_one(w)
            break
        w.random.choices(
            [statement for _, statement in allowed], [weight for weight, _ in allowed]
        )[0](w)
    the_end(w)
    if wrong >= count:
        mistakes.make_one(w)
    return w.program
