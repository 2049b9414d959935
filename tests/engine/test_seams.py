"""Who knows that observers listen: the engine's few seams, and nobody else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import minigrad

PACKAGE = Path(minigrad.__file__).parent
FLAG = "observed"
ASKS = {"_observers", "has", "may_keep", "who_observes"}
"""What the module ``observe`` knows of observers, besides telling them."""

READERS = {
    "engine/core/backward.py": {
        "GraphTask.start",
        "GraphTask.run",
        "GraphTask._capture",
        "run_task",
    },
    "engine/builtin.py": {"create_builtin_ctx"},
    "engine/creation.py": {"leaf"},
    "engine/core/ctx.py": {
        "BackwardCFunction._run_backward",
        "BackwardCFunction._take_what_was_saved",
        "BackwardCFunction._link_outputs",
        "FunctionCtx.save_for_backward",
    },
    "engine/core/function.py": {"Function.apply"},
    "engine/core/node.py": {
        "AccumulateGrad.__init__",
        "AccumulateGrad._run_backward",
        "first_grad",
    },
    "engine/fast_path.py": {
        "of_any_number",
        "of_one.apply",
        "of_two.apply",
        "record",
    },
    "engine/core/tensor.py": {"Tensor._bump_version"},
    "nn/module.py": {"Module.__call__"},
    "engine/tensor_grad.py": {"TensorGrad.grad"},
    "transforms/replay_guard.py": {"refuse_listeners"},
}
"""The functions that test the flag: apply, the loop, and what has events of its own."""

OWNERS = {
    "engine/anomaly.py": {"has"},
    "engine/core/node.py": {"may_keep"},
    "lint/__init__.py": {"has"},
    "tracing/edits.py": {"has"},
    "tracing/recorder.py": {"has"},
    "transforms/replay_guard.py": {"who_observes"},
}
"""Who asks for observers: mostly those who add one, whether it is there."""

SEAM = {"engine/observe.py", "engine/grad_mode.py", "bench/unheard.py"}


def functions_in(tree: ast.AST, name: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node of a module, with the function or class that it stands in."""
    for node in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            inner = f"{name}.{node.name}" if name else node.name
        yield inner, node
        yield from functions_in(node, inner)


def readers_in(source: str, attribute: str = FLAG) -> set[str]:
    """The functions that read the flag of a mode, or another attribute."""
    return {
        name
        for name, node in functions_in(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr == attribute
    }


def asks_in(source: str) -> set[str]:
    """What a module asks of ``observe`` that is not telling, adding or removing."""
    found = set()
    for _, node in functions_in(ast.parse(source)):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "minigrad.engine.observe"
        ):
            found |= {alias.name for alias in node.names} & ASKS
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "observe":
            found |= {node.attr} & ASKS
    return found


def sources(word: str) -> Iterator[tuple[str, str]]:
    """The modules that have this word: to parse all of them takes seconds."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name, text = path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8")
        if name not in SEAM and word in text:
            yield name, text


def test_only_the_seam_tests_the_flag() -> None:
    found = {name: readers_in(source) for name, source in sources(FLAG)}
    assert {name: readers for name, readers in found.items() if readers} == READERS


def test_references_are_counted_in_one_function() -> None:
    word = "getrefcount"
    found = {name: readers_in(source, word) for name, source in sources(word)}
    counting = {name: readers for name, readers in found.items() if readers}
    assert counting == {"engine/core/node.py": {"first_grad"}}


def test_only_who_adds_an_observer_asks_for_it() -> None:
    found = {name: asks_in(source) for name, source in sources("observe")}
    assert {name: asked for name, asked in found.items() if asked} == OWNERS


def test_another_reader_is_found() -> None:
    source = "def look(self):\n    if this_mode().observed:\n        pass\n"
    assert readers_in(source) == {"look"}
    assert readers_in("class A:\n    def f(self): return self.observes") == set()


def test_another_question_is_found() -> None:
    line = "from minigrad.engine.observe import has, notify\n"
    assert asks_in(line) == {"has"}
    assert asks_in("x = observe._observers") == {"_observers"}
    assert asks_in("observe.notify('ctx_created')") == set()
