"""Random custom Functions: templates with options that do not change their value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.parity.differential.writer import Var, Writer, any_requires, broadcast


@dataclass
class Template:
    """The parts of a Function, from which either style is written.

    ``outputs`` holds a word for each output: "new", "plain" (no gradient), "same n"
    (input n as it is), "view n", "dirty n" or "other" (no tensor).
    """

    arguments: str
    body: list[str]
    result: str
    grads: str
    backward: list[str]
    returns: list[str]
    context: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=lambda: ["new"])
    more: list[str] = field(default_factory=list)
    jvp: list[str] = field(default_factory=list)
    forward_saved: str = ""
    keeps: str = ""
    shape: Callable[..., tuple[int, ...] | None] = lambda *shapes: shapes[0]
    features: list[str] = field(default_factory=list)
    only_ctx: bool = False
    once: bool = False
    plain_dtype: str = ""

    @property
    def tensors(self) -> int:
        return len(self.arguments.split(", ")) - len(self.more)


@dataclass
class Function:
    """A class that the program has defined."""

    name: str
    template: Template
    keywords: dict[str, str]


def scaled(w: Writer) -> Template:
    return Template(
        "x, k",
        ["y = x * k"],
        "y",
        "g",
        [],
        ["g * ctx.k", "None"],
        ["ctx.k = k"],
        more=[str(w.number())],
        jvp=["return None if x_t is None else x_t * ctx.k"],
        features=["non-tensor arguments"],
    )


def product(w: Writer) -> Template:
    return Template(
        "x, y",
        ["z = x * y"],
        "z",
        "g",
        ["x, y = ctx.saved_tensors"],
        ["g * y", "g * x"],
        ["ctx.save_for_backward(x, y)"],
        forward_saved="x, y",
        jvp=[
            "x, y = ctx.saved_tensors",
            "one = None if x_t is None else x_t * y",
            "return plus(one, None if y_t is None else x * y_t)",
        ],
        keeps="inputs",
        shape=broadcast,
        features=["saved inputs"],
    )


def squashed(w: Writer) -> Template:
    return Template(
        "x",
        ["y = x.tanh()"],
        "y",
        "g",
        ["y, = ctx.saved_tensors"],
        ["g * (1 - y * y)"],
        ["ctx.save_for_backward(y)"],
        forward_saved="y",
        jvp=["y, = ctx.saved_tensors", "return x_t * (1 - y * y)"],
        keeps="outputs",
        features=["saved outputs"],
    )


def cubed(w: Writer) -> Template:
    once = w.chance(0.3)
    return Template(
        "x",
        ["square = x * x", "y = square * x"],
        "y",
        "g",
        ["x, square = ctx.saved_tensors"],
        ["3 * g * square"],
        ["ctx.save_for_backward(x, square)"],
        keeps="inputs",
        features=["saved intermediates"] + ["once_differentiable"] * once,
        only_ctx=True,
        once=once,
    )


def sine_and_cosine(w: Writer) -> Template:
    return Template(
        "x",
        ["s, c = x.sin(), x.cos()"],
        "s, c",
        "g, h",
        ["x, = ctx.saved_tensors"],
        [
            "plus(None if g is None else g * x.cos(), "
            "None if h is None else -h * x.sin())"
        ],
        ["ctx.save_for_backward(x)"],
        ["new", "new"],
        forward_saved="x",
        jvp=["x, = ctx.saved_tensors", "return x_t * x.cos(), -x_t * x.sin()"],
        keeps="inputs",
        features=["several outputs"],
    )


def mixed_outputs(w: Writer) -> Template:
    return Template(
        "x",
        ["y = x * 2", "positive = x > 0"],
        "y, positive, 7, None",
        "g, h, i, j",
        [],
        ["None if g is None else g * 2"],
        outputs=["new", "plain", "other", "other"],
        plain_dtype="bool",
        features=["several outputs", "outputs that are no tensors"],
    )


def as_it_is(w: Writer) -> Template:
    k = w.number()
    return Template(
        "x",
        [],
        "x",
        "g",
        [],
        [f"g * {k}"],
        outputs=["same 0"],
        jvp=["return x_t.view_as(x_t)"] if w.chance(0.7) else ["return x_t"],
        features=["returned inputs"],
    )


def swapped(w: Writer) -> Template:
    return Template(
        "x, y",
        [],
        "y, x",
        "g, h",
        [],
        ["None if h is None else h * 2", "None if g is None else g * 3"],
        outputs=["same 1", "same 0"],
        features=["returned inputs", "several outputs"],
    )


def viewed(w: Writer) -> Template:
    return Template(
        "x",
        ["y = x.unsqueeze(0)"],
        "y",
        "g",
        [],
        ["g.squeeze(0)"],
        outputs=["view 0"],
        shape=lambda shape: (1, *shape),
        jvp=["return x_t.unsqueeze(0)"],
        features=["views of inputs"],
    )


def in_place(w: Writer) -> Template:
    several = w.chance(0.25)
    k = w.number()
    change = w.random.choice([f"x.mul_({k})", f"x.copy_(x * {k})"])
    return Template(
        "x",
        [change] + ["y = x * 3"] * several,
        "x, y" if several else "x",
        "g, h" if several else "g",
        [],
        [f"plus(g * {k}, h * {3 * k})" if several else f"g * {k}"],
        ["ctx.mark_dirty(x)"],
        ["dirty 0", "new"] if several else ["dirty 0"],
        features=["mark_dirty"] + ["several outputs"] * several,
    )


def marked(w: Writer) -> Template:
    return Template(
        "x",
        ["y = x * x", "s = x.detach() + 1"],
        "y, s",
        "g, h",
        ["x, = ctx.saved_tensors"],
        ["None if g is None else 2 * g * x"],
        ["ctx.save_for_backward(x)", "ctx.mark_non_differentiable(s)"],
        ["new", "plain"],
        keeps="inputs",
        features=["mark_non_differentiable", "several outputs"],
    )


def given_twice(w: Writer) -> Template:
    return Template(
        "x",
        ["y = x * 2"],
        "y, y",
        "g, h",
        [],
        ["plus(None if g is None else g * 5, None if h is None else h * 2)"],
        outputs=["new", "new"],
        features=["several outputs"],
    )


def other_gradients(w: Writer) -> Template:
    """backward answers in another shape or dtype that the engine has to fit."""
    answer = w.random.choice(
        ["g.to(torch.float32) * 0.5", "g.expand(2, *g.shape) * 0.5", "None"]
    )
    return Template("x", ["y = x * 0.5"], "y", "g", [], [answer])


def delegating(w: Writer) -> Template:
    """The slope of this Function is computed by another one."""
    return Template(
        "x",
        ["y = x.sin()"],
        "y",
        "g",
        ["x, = ctx.saved_tensors"],
        ["Cosine.apply(g, x)"],
        ["ctx.save_for_backward(x)"],
        keeps="inputs",
        features=["saved inputs", "Function in backward"],
    )


COSINE = """\
class Cosine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return g * x.cos()

    @staticmethod
    def backward(ctx, h):
        g, x = ctx.saved_tensors
        note("Cosine", h)
        return h * x.cos(), -h * g * x.sin()"""


def recomputed(w: Writer) -> Template:
    """backward runs forward again and a backward of its own."""
    return Template(
        "x",
        ["y = x.sin() * x"],
        "y",
        "g",
        [
            "again = ctx.saved_tensors[0].detach().requires_grad_()",
            "with torch.enable_grad():",
            "    y = again.sin() * again",
            "y.backward(g.detach())",
        ],
        ["again.grad"],
        ["ctx.save_for_backward(x)"],
        keeps="inputs",
        features=["backward in backward", "saved inputs"],
    )


def through_numpy(w: Writer) -> Template:
    return Template(
        "x",
        ["y = torch.tensor(x.detach().numpy() * 2.0)"],
        "y",
        "g",
        [],
        ["torch.tensor(g.detach().numpy() * 2.0)"],
        once=True,
        features=["once_differentiable"],
    )


def summed(w: Writer) -> Template:
    return Template(
        "x",
        ["y = x.sum()"],
        "y",
        "g",
        [],
        ["g.expand(ctx.shape)"],
        ["ctx.shape = x.shape"],
        shape=lambda shape: (),
    )


def unread(w: Writer) -> Template:
    """What is saved and never read may be changed, and backward run twice."""
    return Template(
        "x",
        ["y = x * 2"],
        "y",
        "g",
        [],
        ["g * 2"],
        ["ctx.save_for_backward(x, y)"],
        features=["saved and not read"],
    )


TEMPLATES = [
    (3, unread),
    (5, scaled),
    (5, product),
    (4, squashed),
    (3, cubed),
    (3, sine_and_cosine),
    (4, mixed_outputs),
    (3, as_it_is),
    (1, swapped),
    (3, viewed),
    (5, in_place),
    (4, marked),
    (1, given_twice),
    (2, other_gradients),
    (3, delegating),
    (3, recomputed),
    (2, through_numpy),
    (1, summed),
]


def define(w: Writer) -> Function:
    """Write a new class, in either style, with random options."""
    weights = [weight for weight, _ in TEMPLATES]
    ((_, make),) = w.random.choices(TEMPLATES, weights)
    template = make(w)
    name = f"F{next(w.classes)}"
    if "Cosine" in str(template.returns) and COSINE not in w.program.statements:
        w.line(COSINE)
    takes_ctx = template.only_ctx or w.chance(0.5)
    features = list(template.features)
    features.append("ctx style" if takes_ctx else "setup_context style")

    context = list(template.context)
    if any("save_for_backward" in line for line in context) and w.chance(0.15):
        context.insert(0, "ctx.save_for_backward(None)")
        features.append("saved twice")
    if w.chance(0.3):
        context.append(f'note("{name} forward", ctx.needs_input_grad)')
    if template.tensors == 1 and w.chance(0.15):
        context.append("ctx.set_materialize_grads(False)")
        features.append("set_materialize_grads")
    if template.jvp and template.forward_saved:
        context.append(f"ctx.save_for_forward({template.forward_saved})")
    returns = list(template.returns)
    if w.chance(0.3):
        returns[0] = f"{returns[0]} if ctx.needs_input_grad[0] else None"
        features.append("needs_input_grad")
    if w.chance(0.15):
        returns.append("None")
    once = template.once or w.chance(0.03)
    method = "vjp" if w.chance(0.1) else "backward"

    head = "ctx, " if takes_ctx else ""
    lines = [f"class {name}(torch.autograd.Function):", "    @staticmethod"]
    lines.append(f"    def forward({head}{template.arguments}):")
    body = template.body + (context if takes_ctx else [])
    lines += ["        " + part for part in [*body, f"return {template.result}"]]
    if not takes_ctx:
        lines += [
            "",
            "    @staticmethod",
            "    def setup_context(ctx, inputs, output):",
        ]
        unpack = [f"({template.arguments},) = inputs"]
        names = [n if n.isidentifier() else "_" for n in template.result.split(", ")]
        names = ["_" if n == "None" else n for n in names]
        unpack.append(f"{', '.join(names)} = output")
        lines += ["        " + part for part in [*unpack, *context]]
    lines += ["", "    @staticmethod"]
    if once:
        lines.append("    @torch.autograd.function.once_differentiable")
        features.append("once_differentiable")
    lines.append(f"    def {method}(ctx, {template.grads}):")
    seen = f'note("{name}", {template.grads}, ctx.needs_input_grad, '
    lines.append(f"        {seen}torch.is_grad_enabled())")
    if "set_materialize_grads" in features and template.grads == "g":
        empty = ", ".join(["None"] * len(returns))
        lines += ["        if g is None:", f"            return {empty}"]
    lines += ["        " + part for part in template.backward]
    lines.append(f"        return {', '.join(returns)}")
    if template.jvp:
        tangents = ", ".join(f"{a}_t" for a in template.arguments.split(", "))
        lines += ["", "    @staticmethod", f"    def jvp(ctx, {tangents}):"]
        lines.append(f'        note("{name}.jvp", {tangents})')
        lines += ["        " + part for part in template.jvp]
    w.line("\n".join(lines), *features)
    return Function(name, template, {})


def call(w: Writer, function: Function, inputs: list[Var]) -> list[Var]:
    """Write ``function.apply(...)``; the tensors it makes join the pool."""
    template = function.template
    names = template.arguments.split(", ")
    given = [var.name for var in inputs] + template.more
    if w.chance(0.35) and len(given) > 1:
        first = w.random.randrange(1, len(given))
        named = [f"{n}={v}" for n, v in zip(names, given, strict=True)][first:]
        w.random.shuffle(named)
        given = given[:first] + named
        w.program.features.add("keyword arguments")
    shape = template.shape(*[var.shape for var in inputs])
    assert shape is not None
    targets = []
    made = []
    for output in template.outputs:
        kind, *which = output.split()
        source = inputs[int(which[0])] if which else inputs[0]
        if kind == "other" or kind == "dirty":
            targets.append(w.fresh("o"))
            continue
        if kind in ("same", "view"):
            wanted = source.shape if kind == "same" else shape
            var = w.view_of(source, wanted, why="view of a custom Function")
            var.refuses = var.refuses or "view of a custom Function"
            var.requires = any_requires(*inputs)
        else:
            dtype = template.plain_dtype if kind == "plain" else ""
            var = w.result(shape, *inputs, dtype=dtype)
            if kind == "plain":
                var.requires = False
        made.append(var)
        targets.append(var.name)
    if template.keeps == "inputs":
        w.keep(*inputs)
    w.line(f"{', '.join(targets)} = {function.name}.apply({', '.join(given)})")
    if "dirty 0" in template.outputs:
        w.changed(inputs[0])
    for var in made:
        w.add(var)
        if template.keeps == "outputs":
            w.keep(var)
    return made


def fitting(w: Writer, function: Function) -> list[Var] | None:
    """Tensors of the pool that ``function`` can be applied to."""
    template = function.template
    if "dirty 0" in template.outputs:
        several = len(template.outputs) > 1
        found = w.pick(w.changeable, lambda var: not (several and var.view))
        return None if found is None else [found]
    inputs = [w.float_var() for _ in range(template.tensors)]
    if template.shape(*[var.shape for var in inputs]) is None:
        return None
    return inputs
