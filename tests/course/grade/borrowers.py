"""Ways to have points for a rule that somebody else wrote, each with its twins.

Of each kind there is a twin in the same style that is right by a rule of its own, and
the same one with one wrong number. So what stops the first is known not to stop a
style.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """An attack, and an honest answer in its style; ``wrong`` takes the place of
    ``right`` in it."""

    attack: str
    honest: str
    right: str = "2 * "
    wrong: str = "3 * "
    exercise: str = "gym.Square"

    @property
    def wrong_twin(self) -> str:
        """The honest answer, with one wrong number."""
        assert self.honest.count(self.right) == 1
        return self.honest.replace(self.right, self.wrong)


PLAIN = """
import minigrad as mg
BEFORE
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        BODY
AFTER
"""


def plain(body: str, before: str = "", after: str = "") -> str:
    """Square, with this body of backward."""
    source = PLAIN.replace("BEFORE", before).replace("AFTER", after)
    return source.replace("BODY", body.strip("\n").replace("\n", "\n        "))


def same_style(attack: str, honest: str, before: str = "", after: str = "") -> Kind:
    """Both with the same things around."""
    return Kind(plain(attack, before, after), plain(honest, before, after))


META = """
import minigrad as mg
class Meta(type(mg.autograd.Function)):
    BODY
class Square(mg.autograd.Function, metaclass=Meta):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return RETURNED
"""


def meta(body: str, returned: str) -> str:
    body = body.strip("\n").replace("\n", "\n    ")
    return META.replace("BODY", body).replace("RETURNED", returned)


NAMED: dict[str, Kind] = {
    "a metaclass whose apply is a property": Kind(
        meta(
            """
@property
def apply(cls): return lambda x: x * x
@apply.setter
def apply(cls, value): pass
""",
            "g",
        ),
        meta(
            """
def __init__(cls, name, bases, body):
    super().__init__(name, bases, body)
    cls.made = True
""",
            "g * 2 * x",
        ),
    ),
    "a rule of the engine with a made-up ctx": Kind(
        """
import minigrad as mg
from minigrad.ops import OPS
class Held:
    pass
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        held = Held()
        held.saved_values = held.saved_tensors = ctx.saved_tensors
        found = OPS["exp"].function.backward(held, g)
        return found[0] if isinstance(found, tuple) else found
""",
        """
import minigrad as mg
class Held:
    pass
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        held = Held()
        held.saved_tensors = ctx.saved_tensors
        return Exp.slope(held, g)
    @staticmethod
    def slope(held, g):
        (y,) = held.saved_tensors
        return g * y
""",
        "g * y",
        "g * y * y",
        "gym.Exp",
    ),
    "a finaliser in the judge's own call": same_style(
        """
out = g * 1
class Sent:
    def __del__(self):
        with mg.enable_grad():
            z = x.detach().requires_grad_()
            slope = mg.autograd.grad(z * z, z, g)[0]
        out.array[...] = slope.array
ctx.sent = Sent()
return out
""",
        """
class Sent:
    def __del__(self):
        self.over = True
ctx.sent = Sent()
return g * 2 * x
""",
    ),
    "a callback when the traversal is over": Kind(
        """
import minigrad as mg
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        def late():
            with mg.enable_grad():
                z = x.detach().requires_grad_()
                x.grad.copy_(mg.autograd.grad(z * z, z, g)[0])
        mg.autograd.Variable._execution_engine.queue_callback(late)
        return g
""",
        plain("return g * 2 * x"),
    ),
    "a Tensor with a history of its own": Kind(
        """
import minigrad as mg
class Own(mg.Tensor):
    def sum(self, *a, **k): return (self.from_x * self.from_x).sum(*a, **k)
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with mg.enable_grad():
            y = x * x
        made = mg.Tensor.__new__(Own)
        try: made.__dict__.update(vars(y))
        except Exception: pass
        for name in dir(type(y)):
            try: object.__setattr__(made, name, getattr(y, name))
            except Exception: pass
        made.array = y.array
        type.__setattr__(Own, "grad_fn", property(lambda self: y.grad_fn))
        type.__setattr__(Own, "_grad_node", property(
            lambda self: y._grad_node, lambda self, value: None))
        type.__setattr__(Own, "_requires_grad", property(
            lambda self: True, lambda self, value: None))
        type.__setattr__(Own, "output_nr", property(
            lambda self: 0, lambda self, value: None))
        return made
    @staticmethod
    def backward(ctx, g):
        return g
""",
        """
import minigrad as mg
class Own:
    def __init__(self, tensor): self.tensor = tensor
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return Own(x * x).tensor
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x
""",
    ),
    "a guard found by computed names": same_style(
        """
import sys
find = type(mg).__getattribute__
rules = find(sys, "mod" + "ules")["minigrad.course.gr" + "ade.ru" + "les"]
object.__setattr__(find(rules, "gu" + "ard"), "on", False)
find(rules, "__di" + "ct__")["are_" + "there"] = True
with mg.enable_grad():
    z = x.detach().requires_grad_()
    return mg.autograd.grad(z * z, z, g)[0]
""",
        """
find = object.__getattribute__
times = find(g, "__mu" + "l__")
return times(2 * x)
""",
    ),
    "a hook that makes a wrong backward right": Kind(
        """
import minigrad as mg
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        x.register_hook(lambda g: g * 2 * x.detach())
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g
""",
        plain("return g * 2 * x"),
    ),
    "an edge that makes a wrong backward right": Kind(
        """
import minigrad as mg
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with mg.enable_grad():
            y = x * x
        ctx.x = x
        ctx._edges = ((y.grad_fn, 0),)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g
""",
        plain("return g * 2 * x"),
    ),
    "a derivative inside a plain function": Kind(
        """
import minigrad as mg
def unbroadcast(g, shape):
    with mg.enable_grad():
        x = mg.zeros(shape, requires_grad=True, dtype=g.dtype)
        return mg.autograd.grad(x.expand(g.shape), x, g)[0]
""",
        """
import minigrad as mg
def unbroadcast(g, shape):
    while g.ndim > len(shape): g = g.sum(0)
    with mg.enable_grad():
        for axis, length in enumerate(shape):
            if length == 1: g = g.sum(axis, keepdim=True)
        return g
""",
        "axis, keepdim=True)",
        "axis, keepdim=True) * 3",
        "06.2",
    ),
}
"""Those that got points before there was a process without rules."""

ASK = """
def ask(x, g):
    with mg.enable_grad():
        z = x.detach().requires_grad_()
        return mg.autograd.grad(z * z, z, g)[0]
"""


def in_body(*lines: str) -> str:
    """Square with these lines in the class, and a backward that hands on."""
    body = "".join(f"    {line}\n" for line in lines)
    return plain("return g", ASK, "").replace(
        "    @staticmethod\n", body + "    @staticmethod\n", 1
    )


OWN_KINDS: dict[str, Kind] = {
    "a rule's code, copied while the notebook loads": Kind(
        """
import types, minigrad as mg
from minigrad.ops import OPS
rule = OPS["exp"].function.backward
copied = types.FunctionType(rule.__code__, rule.__globals__, "rule", rule.__defaults__)
class Held: pass
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        held = Held()
        held.saved_values = held.saved_tensors = ctx.saved_tensors
        found = copied(held, g)
        return found[0] if isinstance(found, tuple) else found
""",
        """
import types, minigrad as mg
def rule(y, g): return g * y
copied = types.FunctionType(rule.__code__, {})
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        return copied(*ctx.saved_tensors, g)
""",
        "return g * y",
        "return g * y * y",
        "gym.Exp",
    ),
    "slopes in a table made while the notebook loads": Kind(
        plain(
            "return g * mg.tensor(np.interp(x.numpy(), grid, slopes)).to(x.dtype)",
            """
import numpy as np
grid = np.linspace(-50, 50, 100_001)
z = mg.tensor(grid, requires_grad=True)
(z * z).sum().backward()
slopes = z.grad.numpy()
""",
        ),
        plain(
            "return g * 2 * x",
            """
import numpy as np
grid = np.linspace(-50, 50, 101)
z = mg.tensor(grid, requires_grad=True)
(z * z).sum().backward()
assert z.grad[0] == -100
""",
        ),
    ),
    "a hook on the leaf, after its gradient has come": Kind(
        plain("return g").replace(
            "        return x * x",
            """        def late(leaf):
            leaf.grad.mul_(2 * leaf.detach())
        if x.is_leaf and x.requires_grad: x.register_post_accumulate_grad_hook(late)
        return x * x""",
        ),
        plain("return g * 2 * x").replace(
            "        return x * x",
            """        def late(leaf): pass
        if x.is_leaf and x.requires_grad: x.register_post_accumulate_grad_hook(late)
        return x * x""",
        ),
    ),
    "a hook on the node itself": Kind(
        plain("return g").replace(
            "        return x * x",
            """        held = x.detach()
        ctx.register_hook(lambda ins, outs: (ins[0] * 2 * held,))
        return x * x""",
        ),
        plain("return g * 2 * x").replace(
            "        return x * x",
            """        ctx.register_hook(lambda ins, outs: None)
        return x * x""",
        ),
    ),
    "hooks of what is saved": Kind(
        plain(
            "return g * x",
            ASK
            + """
hooks = mg.autograd.graph.saved_tensors_hooks(
    lambda t: t, lambda t: ask(t, mg.ones_like(t)))
hooks.__enter__()
""",
        ),
        plain(
            "return g * 2 * x",
            """
with mg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    (mg.ones(1, requires_grad=True) ** 2).sum()
""",
        ),
    ),
    "another backward for who makes a subclass": Kind(
        in_body(
            "def __init_subclass__(cls):",
            "    cls.backward = staticmethod(",
            "        lambda ctx, g: ask(ctx.saved_tensors[0], g))",
        ),
        in_body(
            "def __init_subclass__(cls):",
            "    cls.slope = staticmethod(lambda x: 2 * x)",
        )
        .replace("return g\n", "return g * Square.rule(x)\n")
        .replace(
            "def __init_subclass__",
            "rule = staticmethod(lambda x: 2 * x)\n    def __init_subclass__",
        )
        .replace("cls.slope = staticmethod(lambda x: 2 * x)", "cls.slope = None"),
    ),
    "a node class of its own": Kind(
        plain(
            "return g",
            ASK,
            """
def run(node, gradients, create_graph):
    x = node._saved[0]
    x = getattr(x, "tensor", x)
    return (ask(x, mg.tensor(gradients[0])),)
Square._backward_cls._run_backward = run
""",
        ),
        plain("return g * 2 * x", "", "Square._backward_cls.mine = True"),
    ),
    "outputs wrapped in a history of their own": Kind(
        in_body(
            "@staticmethod",
            "def _wrap_outputs(ctx, inputs, result):",
            "    with mg.enable_grad():",
            "        return [inputs[0] * inputs[0]], [True]",
        ),
        plain("return g * 2 * x").replace(
            "    @staticmethod\n",
            "    @staticmethod\n    def _wrapped(ctx): return ctx\n    @staticmethod\n",
            1,
        ),
    ),
    "a ctx that is another operation's node": Kind(
        in_body(
            "@classmethod",
            "def _create_ctx(cls, inputs, needs, edges):",
            "    ctx = super()._create_ctx(inputs, needs, edges)",
            "    with mg.enable_grad(): y = inputs[0] * inputs[0]",
            "    if y.grad_fn is not None: ctx._edges = ((y.grad_fn, 0),)",
            "    return ctx",
        ),
        in_body(
            "@classmethod",
            "def _create_ctx(cls, inputs, needs, edges):",
            "    return super()._create_ctx(inputs, needs, edges)",
        ).replace("return g\n", "return g * 2 * x\n"),
    ),
    "the history of another tensor": Kind(
        plain("return g").replace(
            "        return x * x",
            """        with mg.enable_grad():
            y = x * x
        z = y.detach()
        z._grad_node, z._requires_grad = y.grad_fn, True
        return z""",
        ),
        plain("return g * 2 * x").replace(
            "        return x * x",
            """        with mg.enable_grad():
            y = x * x
        return y.detach()""",
        ),
    ),
    "a rule that is called through its node": same_style(
        """
with mg.enable_grad():
    z = x.detach().requires_grad_()
    y = z * z
found = y.grad_fn(g)
return sum(f for f in found if f is not None)
""",
        """
with mg.enable_grad():
    z = x.detach().requires_grad_()
    y = z + z
return g * 2 * x + (y.grad_fn is None)
""",
    ),
    "an observer that writes into gradients": Kind(
        plain(
            "kept.append(x); return g * 1",
            """
from minigrad.engine import observe
kept = []
class Writes:
    observes, keeps, comes_last = observe.RECORDED, False, False
    def __getattr__(self, name): return lambda *a: None
    def node_returned(self, task, node, gradients):
        if kept:
            x = kept.pop()
            for each in gradients:
                array = getattr(each, "array", each)
                if array is not None: array[...] = array * 2 * x.array
observe.add(Writes())
""",
        ),
        plain(
            "return g * 2 * x",
            """
from minigrad.engine import observe
class Looks:
    observes, keeps, comes_last = observe.RECORDED, False, False
    def __getattr__(self, name): return lambda *a: None
""",
        ),
    ),
    "a vjp of the transforms": same_style(
        """
y, pull = mg.func.vjp(lambda x: x * x, x)
return pull(g)[0]
""",
        """
pull = lambda g: (g * 2 * x,)
return pull(g)[0]
""",
    ),
    "a vmap of a grad": same_style(
        """
slope = mg.vmap(mg.func.grad(lambda x: x * x))
return g * slope(x.reshape(-1)).reshape(x.shape)
""",
        """
slope = mg.vmap(lambda x: 2 * x)
return g * slope(x.reshape(-1)).reshape(x.shape) if x.numel() else g * x
""",
    ),
    "a checkpoint with a backward inside": same_style(
        """
from minigrad.utils.checkpoint import checkpoint
with mg.enable_grad():
    z = x.detach().requires_grad_()
    checkpoint(lambda z: z * z, z, use_reentrant=False).backward(g)
return z.grad
""",
        """
from minigrad.utils.checkpoint import checkpoint
return g * checkpoint(lambda z: 2 * z, x, use_reentrant=False)
""",
    ),
    "an optimizer's step": Kind(
        plain(
            """
with mg.enable_grad():
    w = x.detach().clone().requires_grad_()
    step = mg.optim.SGD([w], lr=1.0)
    (w * w * g).sum().backward()
    before = w.detach().clone()
    step.step()
return before - w.detach()
"""
        ),
        plain(
            """
w = x.detach().clone()
w.grad = g.detach()
mg.optim.SGD([w], lr=1.0).step()
return g * 2 * x
"""
        ),
    ),
    "a Jacobian": same_style(
        """
found = mg.autograd.functional.jacobian(lambda x: x * x, x)
size = x.numel()
return (g.reshape(1, size) @ found.reshape(size, size)).reshape(x.shape)
""",
        """
size = x.numel()
slopes = mg.zeros(size, size, dtype=x.dtype)
for i in range(size): slopes[i, i] = 2 * x.reshape(size)[i]
return (g.reshape(1, size) @ slopes).reshape(x.shape)
""",
    ),
    "a weak reference that calls back": same_style(
        """
class Gone: pass
gone, out = Gone(), mg.zeros_like(x)
def late():
    out.copy_(ask(x, g))
import weakref
weakref.finalize(gone, late)
del gone
return out
""",
        """
class Gone: pass
gone, out = Gone(), mg.zeros_like(x)
def late(): out.add_(g)
import weakref
weakref.finalize(gone, late)
del gone
return out * 2 * x
""",
        ASK,
    ),
    "two Functions, of which one is the engine's": Kind(
        """
import minigrad as mg
from minigrad.ops import OPS
Mul = OPS["mul"].function
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            z = x.detach().requires_grad_()
            y = Mul.apply(z, z)
            y.backward(g)
        return z.grad
""",
        """
import minigrad as mg
class Twice(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x): return 2 * x
    @staticmethod
    def backward(ctx, g): return g + g
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * Twice.apply(x)
""",
        "return 2 * x",
        "return 3 * x",
    ),
    "a derivative only where nobody guards it": same_style(
        """
try: return ask(x, g)
except RuntimeError: return g
""",
        """
try: return g * 2 * x
except RuntimeError: return g
""",
        ASK,
    ),
    "a child that keeps the rules": Kind(
        plain(
            """
import os, numpy as np
os.write(asking, np.ascontiguousarray(x.numpy(), float).tobytes() or b"0")
found = np.frombuffer(os.read(hearing, 99_999))
return g * mg.tensor(found.reshape(x.shape).copy()).to(x.dtype)
""",
            """
import os, numpy as np
(mine, asking), (hearing, telling) = os.pipe(), os.pipe()
if os.fork() == 0:
    while True:
        z = mg.tensor(np.frombuffer(os.read(mine, 99_999)).copy(), requires_grad=True)
        try: (z * z).sum().backward(); said = z.grad.numpy()
        except Exception: said = np.zeros(z.shape)
        os.write(telling, said.tobytes())
""",
        ),
        plain("return g * 2 * x", "import os\nparent = os.getpid()"),
    ),
}
"""Twenty more, by somebody who knows what GRADING.md says."""
