"""Who knows that observers listen: the engine's few seams, and nobody else."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
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


Named = tuple[str, ast.Attribute | ast.ImportFrom]


def named_in(tree: ast.AST, name: str = "") -> Iterator[Named]:
    """Each attribute and import, with the function or class that it stands in."""
    for node in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            inner = f"{name}.{node.name}" if name else node.name
        if isinstance(node, (ast.Attribute, ast.ImportFrom)):
            yield inner, node
        yield from named_in(node, inner)


def read(source: str) -> list[Named]:
    return list(named_in(ast.parse(source)))


@cache
def package() -> dict[str, list[Named]]:
    """What each file of the package names, by its path."""
    return {
        path.relative_to(PACKAGE).as_posix(): read(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def readers_in(named: list[Named], attribute: str = FLAG) -> set[str]:
    """The functions that read the flag of a mode, or another attribute."""
    return {
        name
        for name, node in named
        if isinstance(node, ast.Attribute) and node.attr == attribute
    }


def asks_in(named: list[Named]) -> set[str]:
    """What a module asks of ``observe`` that is not telling, adding or removing."""
    found = set()
    for _, node in named:
        if isinstance(node, ast.Attribute):
            if ast.unparse(node.value) == "observe":
                found |= {node.attr} & ASKS
        elif node.module == "minigrad.engine.observe":
            found |= {alias.name for alias in node.names} & ASKS
    return found


def outside(find: Callable[..., set[str]], *more: str) -> dict[str, set[str]]:
    """What is found in each file that is no part of the seam, if there is any."""
    files = {path: named for path, named in package().items() if path not in SEAM}
    found = {path: find(named, *more) for path, named in files.items()}
    return {path: what for path, what in found.items() if what}


def test_only_the_seam_tests_the_flag() -> None:
    assert outside(readers_in) == READERS


def test_references_are_counted_in_one_function() -> None:
    counting = outside(readers_in, "getrefcount")
    assert counting == {"engine/core/node.py": {"first_grad"}}


def test_only_who_adds_an_observer_asks_for_it() -> None:
    assert outside(asks_in) == OWNERS


def test_another_reader_is_found() -> None:
    source = "def look(self):\n    if this_mode().observed:\n        pass\n"
    assert readers_in(read(source)) == {"look"}
    assert readers_in(read("class A:\n    def f(self): return self.observes")) == set()


def test_another_question_is_found() -> None:
    line = "from minigrad.engine.observe import has, notify\n"
    assert asks_in(read(line)) == {"has"}
    assert asks_in(read("x = observe._observers")) == {"_observers"}
    assert asks_in(read("observe.notify('ctx_created')")) == set()
