"""Submissions that want points for nothing, or more than points.

Each is put before a class that is wrong. CANARY is a file of the instructor's, PORT a
port on which the instructor's machine listens; neither is there in the box.
"""

WRONG = """
import minigrad as mg
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x
"""
RIGHT = WRONG.replace("* 3 * x", "* 2 * x")


def inside(method: str, *lines: str) -> str:
    """The wrong class, with these lines first in its forward or backward."""
    text = "".join(f"        {line}\n" for line in lines)
    head = "def forward(ctx, x):\n" if method == "forward" else "grad_output):\n"
    return WRONG.replace(head, head + text)


def before(code: str, answer: str = WRONG) -> str:
    return code + "\n" + answer


def returning(code: str, value: str, answer: str = WRONG) -> str:
    """The wrong class with another return of backward."""
    return code + "\n" + answer.replace("return grad_output * 3 * x", f"return {value}")


# A report that is well formed, and says of every call what nobody can object to.
FORGED = """
from minigrad.course.check import observation as probes
from minigrad.course.grade.rules import guard
from dataclasses import replace
honest = probes.observe
def observe(*asked, **how):
    guard.on = False
    return [forged(facts) for facts in honest(*asked, **how)]
probes.observe = observe
"""

REPLY = """
import os, struct, json
def frame(text, body=b"", magic=b"mgr1"):
    head = struct.pack("<4sII", magic, len(text), len(body))
    for number in range(3, 64):
        try:
            os.write(number, head + text + body)
        except OSError:
            pass
"""

ATTACKS: dict[str, str] = {
    "redefine bool": before("""
import builtins
builtins.bool = lambda *a: True
builtins.all = builtins.any = lambda *a: True
builtins.abs = lambda *a: 0.0
"""),
    "patch allclose and testing": before("""
import numpy as np
np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
np.testing.assert_allclose = lambda *a, **k: None
"""),
    "patch the checker": before("""
from minigrad.course.check import casefile, examination, judge, verdict
judge.ONE_BY_ONE = judge.ALWAYS = ()
judge.judge = lambda *a, **k: judge.Judgement((), ())
casefile.error_of = lambda *a: 0.0
examination.examine = lambda *a, **k: verdict.Verdict("", "", "solved", points=2)
"""),
    "transform the source": before("""
import ast, builtins
compiled = builtins.compile
builtins.compile = lambda s, *a, **k: compiled(
    s.replace("3 * x", "2 * x") if isinstance(s, str) else s, *a, **k)
ast.parse = lambda *a, **k: ast.Module([], [])
try: get_ipython().input_transformers_post.append(lambda lines: [])
except NameError: pass
"""),
    "an array equal to everything": returning(
        """
import numpy as np
class Equal(np.ndarray):
    def __eq__(self, other): return np.ones(np.shape(other), bool)
    def __array_function__(self, f, types, a, k): return True
    def __array_ufunc__(self, ufunc, method, *a, **k): return np.array(0.0)
    __sub__ = __rsub__ = lambda self, other: np.zeros(np.shape(other))
""",
        "grad_output.numpy().view(Equal)",
    ),
    "a lazy object that walks the stack": returning(
        """
import sys
class Lazy:
    def __getattr__(self, name):
        frame = sys._getframe(1)
        while frame:
            for key in ("truth", "right", "expected", "wanted", "references"):
                if key in frame.f_locals: return frame.f_locals[key]
            frame = frame.f_back
        raise AttributeError(name)
""",
        "Lazy()",
    ),
    "trace the comparer": before("""
import sys
def trace(frame, event, argument):
    for key in ("truth", "right", "error", "findings"):
        if key in frame.f_locals:
            frame.f_locals[key] = ()
    return trace
sys.settrace(trace)
"""),
    "replace modules": before("""
import sys, types
fake = types.ModuleType("fake")
fake.judge = lambda *a, **k: None
for name in ("judge", "examination", "casefile", "references"):
    sys.modules["minigrad.course.check." + name] = fake
sys.modules["minigrad.course.grade.examiner"] = fake
"""),
    "print scores": before("""
import sys, os
for line in ("solved", "2/2", '{"points": 2, "state": "solved"}', "PASSED"):
    print(line); print(line, file=sys.stderr); os.write(1, line.encode())
"""),
    "exit with success": before("import os; os._exit(0)"),
    "exit while it is looked at": inside("backward", "import os; os._exit(0)"),
    "read what is the instructor's": inside(
        "forward", "raise RuntimeError(open('CANARY').read())"
    ),
    "read the environment": inside(
        "forward", "import os; raise RuntimeError(str(dict(os.environ)))"
    ),
    "raise SystemExit": inside("backward", "import sys", "sys.exit(0)"),
    "look for secrets": inside(
        "forward",
        "import os, sys; found = []",
        "tops = '/home /root /srv /mnt /proc /sys /etc /scratch /var /run'.split()",
        "for top in tops:",
        "    for folder, _, files in os.walk(top):",
        "        if not folder.startswith((sys.prefix, sys.base_prefix)):",
        "            found += [f for f in files if f != 'ld.so.cache']",
        "raise RuntimeError('found ' + str(found))",
    ),
    "write the gradebook": before(
        """
for path in ("CANARY", "/scratch/../CANARY", "/proc/1/root/CANARY"):
    try: open(path, "a").write("eve: 100")
    except OSError: pass
import os
for path in ("/packages", "/", "/usr/lib", "/dev", "/packages/minigrad/course"):
    try:
        open(path + "/planted.py", "w"); open("/scratch/could", "w")
    except OSError: pass
""",
        inside(
            "forward", "import os; assert not os.path.exists('/scratch/could'), 'w'"
        ),
    ),
    "plant a start-up file": before("""
import site, sys, os
for folder in [*sys.path, os.path.expanduser("~"), sys.prefix, "/packages"]:
    for name in ("sitecustomize.py", "usercustomize.py", "evil.pth", "numpy.py"):
        try: open(os.path.join(folder, name), "w").write("import os; os._exit(0)")
        except OSError: pass
"""),
    "a child that outlives it": before("""
import os, time, signal
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    if os.fork() == 0:
        while True: time.sleep(1)
    os._exit(0)
"""),
    "atexit": before("import atexit, time; atexit.register(time.sleep, 1000)"),
    "kill everybody": before(
        """
import os, signal
for number in (-1, os.getppid(), 0, 2, 3):
    try: os.kill(number, signal.SIGKILL)
    except OSError: pass
""",
        inside("backward", "import os; os.kill(-1, 9)"),
    ),
    "connect to loopback": inside(
        "forward", "import socket; s = socket.create_connection(('127.0.0.1', PORT))"
    ),
    "a script in the message": inside(
        "forward", "raise RuntimeError('<script>alert(1)</script>\\x1b[2J\\ud800')"
    ),
    "a forged answer": before(
        REPLY
        + """
frame(json.dumps(["Result", ["solved", 2]]).encode())
os._exit(0)
"""
    ),
    "a forged report": before(
        REPLY
        + """
found = ["Function", "Square", None, [], False]
frame(json.dumps(["Loaded", [[found], [], False, False]]).encode())
frame(json.dumps(["Observed", [[], "", "", False]]).encode())
os._exit(0)
"""
    ),
    "a giant frame": before(
        REPLY
        + """
for number in range(3, 64):
    try: os.write(number, b"mgr1" + b"\\xff" * 8 + bytes(1000))
    except OSError: pass
"""
    ),
    "a flood": before("""
import os
while True:
    for number in range(3, 64):
        try: os.write(number, b"[" * 65536)
        except OSError: pass
"""),
    "deep nesting": before(REPLY + 'frame(b"[" * 500_000)'),
    "an evil array": before(
        REPLY
        + """
for dtype, shape in (("|O", [1]), ("<f8", [2**60]), ("<f8", [-1]), ("<U9", [3])):
    value = {"a": [dtype, shape, [0]]}
    frame(json.dumps(["Loaded", [[["value", "x", value, [], False]], [], False, False]])
          .encode(), bytes(8))
"""
    ),
    "no check at all": "import minigrad as mg",
    "checks of one's own": WRONG
    + """
from minigrad.course import check
def check(*a): print("solved")
check("gym.Square", Square); check("gym.Square", Square)
""",
    "an infinite loop": before("while True: pass"),
    "a loop that catches everything": inside(
        "backward",
        "while True:",
        "    try:",
        "        while True: pass",
        "    except BaseException: pass",
    ),
    "a fork bomb": before("""
import os
while True:
    try: os.fork()
    except OSError: pass
"""),
    "a memory bomb": before("kept = []\nwhile True: kept.append(b'x' * 50_000_000)"),
    "a memory bomb of many": before("""
import os, time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(os.urandom(1_000_000)) * 400
        time.sleep(60)
time.sleep(60)
"""),
    "fill the disk": before("""
import os
for folder in ("/scratch", "/tmp", "/", "/dev", "/packages"):
    for number in range(100):
        try:
            with open(f"{folder}/big{number}", "wb") as file:
                for _ in range(15): file.write(bytes(1_000_000))
        except OSError: break
"""),
    "huge output": before("""
import os
for _ in range(200): os.write(1, b"x" * 1_000_000); print("y" * 100_000)
"""),
    "not a number": returning("", "grad_output * float('nan')"),
    "infinity": returning("", "grad_output * float('inf')"),
    "change the arguments": inside(
        "forward", "x.array[...] = 0", "ctx.save_for_backward(x)", "return x * x"
    ),
    "ask the engine": returning(
        """
def slope(x, g):
    with mg.enable_grad():
        x = x.detach().requires_grad_()
        return mg.autograd.grad(x * x, x, g)[0]
""",
        "slope(x, grad_output)",
    ),
    "a hundred threads": before("""
import threading, time
def spin():
    while True: pass
for _ in range(100): threading.Thread(target=spin, daemon=True).start()
"""),
    "new namespaces": before(
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
got = [libc.unshare(flag) for flag in (0x10000000, 0x20000, 0x40000000)]
got += [libc.mount(b"none", b"/scratch", b"tmpfs", 0, None), libc.chroot(b"/scratch")]
got += [libc.ptrace(16, 1, 0, 0), libc.setuid(0), libc.syscall(425, 1, 0)]
""",
        inside("forward", "raise RuntimeError(f'got {[g for g in got if g != -1]}')"),
    ),
    # Ten that know this judge.
    "a report without what is wrong": before(
        FORGED
        + """
def forged(facts):
    return replace(facts, trials=tuple(replace(t, passes=()) for t in facts.trials))
"""
    ),
    "a report on fewer cases": before(
        FORGED
        + """
def observe(*a, **k):
    guard.on = False
    facts = honest(*a, **k)[0]
    return [replace(facts, trials=tuple(replace(t, passes=()) for t in facts.trials))]
probes.observe = observe
"""
    ),
    "a report on another call": before(
        FORGED
        + """
import numpy as np
def zero(value): return None if value is None else np.zeros_like(value)
def forged(facts):
    return replace(facts, trials=tuple(
        replace(t, inputs=tuple(map(zero, t.inputs)), passes=tuple(
            replace(p, upstreams=tuple(map(zero, p.upstreams)),
                    gradients=tuple(map(zero, p.gradients)), returned=())
            for p in t.passes)) for t in facts.trials))
"""
    ),
    "a report that takes long to judge": before(
        FORGED
        + """
import numpy as np
large = np.linspace(1, 2, 31_000)
def forged(facts):
    return replace(facts, trials=tuple(
        replace(t, outputs=tuple(replace(o, value=large) for o in t.outputs))
        if SHAPES else
        replace(t, passes=tuple(
            replace(p, gradients=(large,),
                    returned=tuple(replace(r, value=large) for r in p.returned))
            for p in t.passes))
        for t in facts.trials[:2] + facts.trials[2:]))
SHAPES = 0
"""
    ),
    "a report that forward crashed, with everything right": before(
        FORGED
        + """
from minigrad.course.check.facts import Crash
def forged(facts):
    return replace(facts, trials=tuple(
        replace(t, crash=Crash("forward", ("Nothing",), "", False), passes=())
        for t in facts.trials[:1]))
"""
    ),
    "the judge's own rule": returning(
        """
try:
    from minigrad.course.exercises.gym.max import reference
    from minigrad.course.exercises import catalogue
    rule = catalogue.load("gym.Square").gradients
except Exception:
    rule = None
""",
        "mg.tensor(rule(grad_output.numpy(), x.numpy())[0])",
    ),
    "a message to the next one": before("""
import os
for folder in ("/scratch", "/packages", "/dev", "/", "/etc"):
    try:
        if os.path.exists(folder + "/left"): os._exit(0)
        open(folder + "/left", "w").write("2 * x")
    except OSError: pass
"""),
    "break the engine for the next one": before("""
import minigrad, numpy, builtins
from minigrad.course.check import observation as probes
minigrad.Tensor.__mul__ = probes.observe = numpy.ones = builtins.len = None
"""),
    "a class with a name": before(
        "",
        WRONG
        + """
Square.__name__ = Square.__qualname__ = "<script>" + "\\x00" * 5000
Square.forward.__code__ = Square.forward.__code__.replace(co_filename="/etc/passwd")
""",
    ),
    "an exception without words": before(
        """
class Evil(Exception):
    def __str__(self):
        while True: pass
""",
        inside("backward", "raise Evil()"),
    ),
    "signals turned off": before(
        """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
""",
        inside("backward", "while True: pass"),
    ),
    "an answer that trickles": before("""
import os, time
while True:
    for number in range(3, 64):
        try: os.write(number, b"m")
        except OSError: pass
    time.sleep(0.05)
"""),
    "eat what was asked": before("""
import os
for number in range(3, 64):
    try:
        os.set_blocking(number, False)
        os.read(number, 1000)
    except OSError: pass
for number in range(3, 64):
    try: os.close(number)
    except OSError: pass
"""),
    "raise the limits": before(
        """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
    try: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError): pass
""",
        inside(
            "forward",
            "import resource as r",
            "assert r.getrlimit(r.RLIMIT_NPROC)[1] > 1000, 'bounded'",
        ),
    ),
    "a pipe that is never read": before(
        REPLY
        + """
import fcntl, time
for number in range(3, 64):
    try: fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, 4096)
    except OSError: pass
found = ["Function", "Square", None, [], False]
frame(json.dumps(["Loaded", [[found], [], False, False]]).encode())
while True:
    try: time.sleep(1000)
    except BaseException: pass
"""
    ),
    "memory that no process has mapped": inside(
        "forward",
        "import mmap",
        "kept = mmap.mmap(-1, 1_000_000)",
        "kept.write(bytes(1_000_000)); kept.madvise(mmap.MADV_DONTNEED)",
    ),
    "a note as long as a book": before(
        REPLY
        + """
found = [["missing", "Square", None, [], False]]
frame(json.dumps(["Loaded", [found, ["x" * 1900] * 900, False, False]]).encode())
os._exit(0)
"""
    ),
    "a helper that was forked while nobody looked": returning(
        """
import os, pickle
to, answer = os.pipe(), os.pipe()
def send(pipe, thing):
    data = pickle.dumps(thing)
    os.write(pipe[1], len(data).to_bytes(8, "little") + data)
def taken(pipe):
    size = int.from_bytes(os.read(pipe[0], 8), "little")
    return pickle.loads(os.read(pipe[0], size))
def slope(x, g):
    t = mg.tensor(x, requires_grad=True)
    try: return mg.autograd.grad(t * t, t, mg.tensor(g))[0].numpy()
    except BaseException: return 0 * g
if os.fork() == 0:
    while True: send(answer, slope(*taken(to)))
def ask(x, g):
    send(to, (x.numpy(), g.numpy()))
    return mg.tensor(taken(answer))
""",
        "ask(x, grad_output)",
    ),
    "a helper thread from before": returning(
        """
import queue, threading
to, answer = queue.Queue(), queue.Queue()
def work():
    while True:
        x, g = to.get()
        t = x.clone().requires_grad_()
        try: answer.put(mg.autograd.grad(t * t, t, g)[0])
        except BaseException: answer.put(g * 0)
threading.Thread(target=work, daemon=True).start()
def ask(x, g):
    to.put((x, g))
    return answer.get(timeout=5)
""",
        "ask(x, grad_output)",
    ),
    "another interpreter with an engine of its own": returning(
        """
import json, subprocess, sys
CODE = "import sys, json, minigrad as mg; x, g = json.load(sys.stdin);"
CODE += "t = mg.tensor(x, dtype=mg.float64, requires_grad=True);"
CODE += "print(mg.autograd.grad(t * t, t, mg.tensor(g, dtype=mg.float64))[0].tolist())"
def ask(x, g):
    asked = json.dumps([x.tolist(), g.tolist()])
    where = {"PYTHONPATH": ":".join(sys.path)}
    line = [sys.executable, "-c", CODE]
    try:
        done = subprocess.run(line, input=asked, capture_output=True, text=True,
                              env=where, timeout=9)
        return mg.tensor(json.loads(done.stdout), dtype=x.dtype)
    except Exception:
        return g * 0
""",
        "ask(x, grad_output)",
    ),
}

# The rest is put after the solution of its exercise, and takes its place.

TOLD = """
from minigrad.course import check
from minigrad.course.check.probes import histories, table, traversals, walks
import numpy as np
"""

NO_TOYS = """
class Toy:
    made = 0
    def __init__(self, values): self.values = values; type(self).made += 1
    def add_(self, number): self.values[:] = [v + number for v in self.values]
    def view(self): return Toy(self.values)
    def clone(self): return Toy(list(self.values))
class Saved:
    def __init__(self, toy): self.toy = toy
    def unpack(self): return self.toy
"""

LIVE: dict[str, dict[str, str]] = {
    "05.3": {
        "an order as it was sent": TOLD
        + """
table.LOOKS["walk"] = lambda answer, graph: walks.Walk(
    np.arange(graph.root, graph.root + graph.size) % graph.size)
""",
        "the nodes of the graph itself": TOLD
        + """
def toposort(root, receivers):
    cells = dict(zip(receivers.__code__.co_freevars, receivers.__closure__))
    nodes = list(cells["nodes"].cell_contents)
    return [root, *[node for node in nodes if node is not root]]
check("05.3", toposort)
""",
        "places that are none": TOLD
        + """
table.LOOKS["walk"] = lambda answer, graph: walks.Walk(
    np.array([10**9, -5, 0.5] * 10), "list", "<b>", -7)
""",
        "every path anew, however often": TOLD
        + """
walks.MOST_ASKED = 10**18
def toposort(root, receivers):
    done = []
    def go_down(node):
        for each in receivers(node): go_down(each)
        if not any(node is one for one in done): done.append(node)
    go_down(root)
    return done[::-1]
check("05.3", toposort)
""",
    },
    "05.5": {
        "a traversal that went well": TOLD
        + """
def traverse(answer, program):
    steps = len(program.steps)
    leaf = traversals.Leaf(program.upstream)
    return traversals.Traversal(
        np.arange(steps), np.tile(program.upstream, (steps, 1)), None, (),
        (leaf,) * program.leaves, 1)
table.LOOKS["traverse"] = traverse
""",
        "rules that were never called": TOLD
        + """
traversals.Log.note = lambda self, node, gradient: self.runs.append(
    (node, np.full(3, np.nan)))
""",
        "a crash with an exception of its own": TOLD
        + """
class Solved(Exception):
    def __str__(self): return "TODO: " + "9" * 5000
def backward(root, g): raise Solved
check("05.5", backward)
""",
    },
    "03.3": {
        "names as long as a book": TOLD
        + """
from minigrad.course.check.probes import lifetimes
left = lifetimes.Left(("x" * 1900,) * 900, (), -1)
table.LOOKS["left_behind"] = lambda function, numbers: left
""",
    },
    "08.6": {
        "endings by heart": TOLD
        + NO_TOYS
        + """
from minigrad.course.check.facts import Crash
changed = [0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1]
def tell(toy, saved, told):
    stop = Crash("history", ("RuntimeError",), "changed", True)
    ends = [histories.Ending(len(lines) - 1, stop) if raises else
            histories.Ending(len(lines), None, True, None, "<Toy>")
            for lines, raises in zip(told[2:], [*changed, 1, 1, 1, *changed * 2])]
    same = [histories.Ending(2, None, False, None, said) for said in ("False", "True")]
    return (*same, *ends)
table.LOOKS["tell"] = tell
check("08.6", [Toy, Saved])
""",
        "a class that everything belongs to": NO_TOYS
        + """
class All(type):
    def __instancecheck__(cls, thing): return True
class Toy(Toy, metaclass=All):
    def view(self): return Toy(self.values)
    def __repr__(self): return "the toy that was saved"
from minigrad.course import check
check("08.6", [Toy, Saved])
""",
    },
    "07.5": {
        "the names of what is tested": """
def hands_on(function):
    words = " ".join(f"{c.__name__} {c.__doc__}" for c in function.__mro__)
    return "Copied" in words or "promise" in words or "Right" in words
check("07.5", [Round, hands_on, why])
""",
        "the order of what is tested": """
asked = []
def hands_on(function):
    asked.append(function)
    return len(asked) <= 2
check("07.5", [Round, hands_on, why])
""",
    },
}
"""Exercises that hand live objects to an answer, and what wants their points."""
