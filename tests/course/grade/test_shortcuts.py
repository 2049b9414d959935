"""Ways to have the engine do the work of an answer: closed, or seen by a person."""

import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad.course.check import forbidden_api
from minigrad.course.grade import examiner, pages, results, sandbox
from minigrad.course.grade.suspicious_names import flags
from tests.course.grade.attacks import RIGHT
from tests.course.grade.conftest import Grade
from tests.course.grade.test_examiner import cells_of

SIGMOID = """
import minigrad as mg
class Sigmoid(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = own(x)
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)
"""

OWN = """
def own(x):
    return 1 / (1 + (-x.clamp(-700, 700)).exp())
"""

SECOND_HAND = {
    "a second import": """
import importlib, sys, minigrad as mg
names = [n for n in sys.modules if n.partition(".")[0] == "minigrad"]
kept = {n: sys.modules.pop(n) for n in names}
try: fresh = importlib.import_module("minigrad")
finally: sys.modules.update(kept)
def own(x): return mg.tensor(fresh.tensor(x.detach().numpy()).sigmoid().numpy())
""",
    "the module from its file": """
import importlib.util, minigrad as mg
path = mg.__path__[0] + "/kernels/elementwise.py"
spec = importlib.util.spec_from_file_location("again", path)
again = importlib.util.module_from_spec(spec)
spec.loader.exec_module(again)
def own(x): return mg.tensor(again.sigmoid_in_numpy(x.detach().numpy()))
""",
    "its source": """
import minigrad as mg
text, names = open(mg.__path__[0] + "/kernels/elementwise.py").read(), {}
exec(text, names)
def own(x): return mg.tensor(names["sigmoid_in_numpy"](x.detach().numpy()))
""",
    "its kernel": """
import minigrad as mg, minigrad.kernels.elementwise as kernels
def own(x): return mg.tensor(kernels.sigmoid_in_numpy(x.detach().numpy()))
""",
    "a subclass of all operations": """
from minigrad.engine.builtin import Builtin
def below(cls): return [cls, *[c for s in cls.__subclasses__() for c in below(s)]]
Op = [c for c in below(Builtin) if c.__name__ == "Sigmoid"][0]
def own(x): return Op.of(x)
""",
    "its slot in a table": """
from minigrad.ops import _registry
def own(x): return _registry.OPS["sigmoid"].call(x)
""",
    "an operation made of it": """
import minigrad.nn.functional as F
def own(x): return F.silu(x) / x
""",
    "all that can be reached": """
import gc, sys, types, minigrad as mg
seen, waiting, found = set(), list(sys.modules.values()), []
while waiting:
    thing = waiting.pop()
    if id(thing) in seen: continue
    seen.add(id(thing))
    if isinstance(thing, types.CodeType):
        if thing.co_name.startswith("sigmoid"): found.append(thing)
        waiting += thing.co_consts
    else: waiting += gc.get_referents(thing)
def own(x):
    for code in found:
        function = types.FunctionType(code, {"np": __import__("numpy")})
        try: return mg.tensor(function(x.detach().numpy()))
        except Exception: pass
    raise RuntimeError("sigmoid is what this exercise asks for")
""",
}


@pytest.mark.parametrize("way", SECOND_HAND)
def test_what_is_taken_from_the_engine_is_not_found_again(
    way: str, graded: Grade
) -> None:
    result = graded("gym.Sigmoid", SECOND_HAND[way], SIGMOID)
    assert (result.points, result.state) == (0, "crashed"), result
    honest = graded("gym.Sigmoid", OWN, SIGMOID)
    assert (honest.points, honest.flags) == (honest.of, ()), honest


EVERY_DOOR = """
import minigrad as mg
from minigrad.course.grade import worker
from minigrad.ops import _registry, embedding
F = mg.nn.functional
worker.prepare()
taken = without.split()
doors = [("dropout", embedding.Dropout.forward), ("dropout", F.Dropout.backward)]
for name in taken:
    for where in (mg, F, mg.Tensor, _registry.CALLS, _registry.METHODS):
        found = where.get(name) if isinstance(where, dict) else vars(where).get(name)
        doors += [(name, found)] if found else []
    for row in _registry.OPS.values():
        if row.public_name == name:
            doors += [(name, row.call), (name, row.reference)]
        if row.public_name == name and row.function:
            doors += [(name, row.function.forward), (name, row.function.backward)]
x = mg.ones(3, 3)
GIVEN = {"embedding": [x.long()] * 2, "layer_norm": [x, (3,)]}
def said_by(door, *first):
    for count in range(8):
        try: return door(*first, *[mg.ones(3)] * count)
        except RuntimeError as error: return str(error)
        except TypeError: pass  # it has more arguments
for name, door in doors:
    said = said_by(door, *GIVEN.get(name, [x]))
    assert str(said).startswith(f"{name} does the work"), (name, said)
mg.tanh(mg.ones(3)), F.silu
print(len(doors))
"""


def test_no_door_of_an_operation_is_left_open() -> None:
    program = sandbox.LOADED + EVERY_DOOR
    where = str(Path(minigrad.__file__).parents[1])
    words = "0", "True", " ".join(forbidden_api.EVERY), where
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 60


def test_what_else_is_in_files_is_there_without_them(graded: Grade) -> None:
    source = """
import minigrad as mg
images, labels = mg.nn.data.digits()
assert len(mg.nn.data.names()) > 5000 and images.shape == (1797, 1, 8, 8)
mg.teaching(True)
class Cubed(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x ** 3
    @staticmethod
    def backward(ctx, grad):
        return 3 * grad * ctx.x ** 2
Cubed.apply(mg.ones(3, requires_grad=True)).sum().backward()
from minigrad.tracing import messages
assert messages.read(messages.ENGLISH)
"""
    assert graded("gym.Square", source + RIGHT).points == 2


HEAD, TAIL = RIGHT.split("        return grad_output * 2 * x\n")
ONCE = "z = x.detach().requires_grad_(); y = z * z"
ENGINE = f"with mg.enable_grad():\n            {ONCE}\n        "
SERVER = """
import os, numpy as np, minigrad as mg
(asked, ask), (told, tell) = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(told)
    try:
        while True:
            z = mg.tensor(np.frombuffer(os.read(asked, 99_999)[8:]).copy())
            z.requires_grad_()
            (z * z).sum().backward()
            os.write(tell, bytes(8) + z.grad.numpy().tobytes())
    finally: os._exit(0)
os.close(tell)
"""
BORROWED = {
    "a tangent": (
        "",
        "return grad_output * mg.func.jvp(lambda x: x * x, (x,), (x / x,))[1]",
    ),
    "another thread": (
        "import concurrent.futures as f\npool = f.ThreadPoolExecutor(1)",
        ENGINE + "ask = pool.submit(mg.autograd.grad, y, z, grad_output)\n"
        "        return ask.result()[0]",
    ),
    "code without a cell": (
        "exec(compile('def engine(*a): return mg.autograd.grad(*a)[0]', '/a', 'exec'))",
        ENGINE + "return engine(y, z, grad_output)",
    ),
    "a node asked by itself": (
        "",
        ENGINE + "found = y.grad_fn._run_backward([grad_output.numpy()], False)\n"
        "        return mg.tensor(2 * found[0])",
    ),
    "the rule of a node": (
        "",
        ENGINE + "rule = type(y.grad_fn)._forward_cls.backward\n"
        "        return mg.tensor(2 * rule(y.grad_fn, grad_output.numpy())[0])",
    ),
    "a child that was there before": (
        SERVER,
        "numbers = x.detach().numpy().astype(float)\n"
        "        os.write(ask, bytes(8) + numbers.tobytes())\n"
        "        found = os.read(told, 99_999)\n"
        "        assert found, 'it was told: write the formula'\n"
        "        found = np.frombuffer(found[8:]).reshape(x.shape).copy()\n"
        "        return grad_output * mg.tensor(found).to(x.dtype)",
    ),
    "a level made by hand": (
        "import minigrad as mg\nfa = mg.autograd.forward_ad\n"
        "from minigrad.engine import interpreters\n"
        "from minigrad.transforms import forward_ad_interpreter",
        "level = forward_ad_interpreter.ForwardLevel()\n"
        "        interpreters.put_everywhere(lambda: level)\n"
        "        z = fa.forward_ad_duals.make_dual(x, mg.ones_like(x), level)\n"
        "        slope = fa.forward_ad_duals.unpack_dual(z * z, level)[1]\n"
        "        interpreters.take_away(level)\n"
        "        return grad_output * slope",
    ),
    "a traversal kept from before": (
        "from minigrad.engine.core.backward import GraphTask\nkept = GraphTask.run",
        "GraphTask.run = kept\n        "
        + ENGINE
        + "return mg.autograd.grad(y, z, grad_output)[0]",
    ),
}


@pytest.mark.parametrize("way", BORROWED)
def test_no_rule_of_an_answer_is_worked_out_by_the_engine(
    way: str, graded: Grade
) -> None:
    before, instead = BORROWED[way]
    source = f"{before}\n{HEAD}        {instead}\n{TAIL}"
    result = graded("gym.Square", source)
    assert (result.points, result.state) == (0, "crashed"), result
    assert "write the formula" in dict(result.rows)["what happened"]
    assert graded("gym.Square", RIGHT).points == 2


HOOKED = """
import minigrad as mg
from minigrad.engine import interpreters
from minigrad.transforms import forward_ad_interpreter
fa = mg.autograd.forward_ad
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        def engine(grad):
            HOW
        x.register_hook(engine)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return grad
"""


HOOKS = {
    "reverse mode": """with mg.enable_grad():
                z = x.detach().requires_grad_()
                return mg.autograd.grad(z * z, z, grad)[0]""",
    "a level made by hand": """level = forward_ad_interpreter.ForwardLevel()
            interpreters.put_everywhere(lambda: level)
            try:
                z = fa.forward_ad_duals.make_dual(x.detach(), mg.ones_like(x), level)
                return grad * fa.forward_ad_duals.unpack_dual(z * z, level)[1]
            finally: interpreters.take_away(level)""",
}


@pytest.mark.parametrize("how", HOOKS)
def test_a_hook_is_no_way_around(how: str, graded: Grade) -> None:
    result = graded("gym.Square", HOOKED.replace("HOW", HOOKS[how]))
    assert result.points == 0
    assert graded("gym.Square", RIGHT).points == 2
    assert "write the formula" in dict(result.rows)["what happened"]


WALKED = """
import minigrad as mg
from minigrad.course.grade import rules
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        rules.guard.on = False
        with mg.enable_grad():
            (x,) = ctx.saved_tensors
            z = x if x.requires_grad else x.detach().requires_grad_()
            return mg.autograd.grad(z * z, z, grad, create_graph=True)[0]
"""


def test_whoever_walks_to_the_guard_gets_nothing_and_is_looked_at(
    graded: Grade,
) -> None:
    # It can be turned off; but where the rule is judged there is nothing behind it.
    result = graded("gym.Square", WALKED)
    assert result.points == 0
    assert set(result.flags) == {"grade", examiner.ASKED}
    assert "In it: grade" in pages.of_class([result])
    assert "grade" in results.table([result])
    assert "In it" not in pages.of_student("eve", [result])
    honest = graded("gym.Square", RIGHT)
    assert (honest.flags, honest.points) == ((), 2)
    assert "looked at" not in pages.of_class([honest])


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("import os.path as p, numpy, sys as s", {"os", "sys"}),
        ("from minigrad import (tensor,\n engine as e)", {"engine"}),
        (
            "import minigrad.course.grade.rules as r",
            {"grade"},
        ),
        ("x = \uff53\uff59\uff53", {"sys"}),
        ("getattr(x, y); getattr(x, 'gc'); getattr(x, 'size')", {"getattr"}),
        ("f'{gc.x}'", {"gc"}),
        ("x = '#'; import ctypes, weakref", {"ctypes", "weakref"}),
        ("model.eval(); re = x.compile; e = eval", {"eval"}),
        ("this is no Python: gc", {"gc"}),
        ("import string, unittest.mock", {"string", "unittest"}),
        ("np.load('x.npy', allow_pickle=True)", {"allow_pickle"}),
        ("# gc sys\n'gc'; super().__init__()", set()),
        ("from minigrad.course import check, watch", set()),
        ("from minigrad.course.check import verdict", {"check"}),
        ("raise ValueError from error", set()),
        ("x\\\n.__globals__", {"__globals__"}),
        ("x\n" * 150_001, {"more than 300000 characters"}),
    ],
)
def test_what_no_answer_needs_is_named(source: str, named: set[str]) -> None:
    assert set(flags([source])) == named


@pytest.mark.parametrize("lesson", ["05", "11"])
def test_what_was_shipped_names_nothing_of_its_learner(lesson: str) -> None:
    first, *rest = cells_of("exercises", lesson)
    assert flags([first, *rest]) == ()
    assert flags([f"{first}\nimport threading"]) == ("threading",)
    assert flags([first, *rest, "import threading"]) == ("threading",)


@pytest.mark.parametrize("lesson", ["01", "03", "04", "08", "gym"])
def test_solutions_name_nothing_that_they_do_not_need(lesson: str) -> None:
    assert flags(cells_of("solutions", lesson)) == ()
