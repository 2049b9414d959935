"""Change one token of the engine and see a test fail.

``python -m tests.engine.token_mutants`` does it for each token of ``apply``, of the
loop of backward, and of what these call in their phases.
Each mutant runs in a process of its own: first the short programs of tests/engine, and
if none of them fails, all tests of tests/engine and tests/autograd. A mutant that
survives both has to be explained in token_survivors.py.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import datetime
import functools
import importlib
import inspect
import io
import keyword
import os
import random
import resource
import signal
import sys
import time
import tokenize
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent

TARGETS = [
    ("minigrad.engine.function", "Function.apply"),
    ("minigrad.engine.function", "Function._create_ctx"),
    ("minigrad.engine.function", "BackwardCFunction._take_what_was_saved"),
    ("minigrad.engine.function", "BackwardCFunction._wire_edges"),
    ("minigrad.engine.function", "look_back"),
    ("minigrad.engine.outputs", "wrap_outputs"),
    ("minigrad.engine.outputs", "wrap_output"),
    ("minigrad.engine.returned", "wrap_gradients"),
    ("minigrad.engine.returned", "check_gradients"),
    ("minigrad.engine.returned", "cut_surplus"),
    ("minigrad.engine.backward", "GraphTask.run"),
    ("minigrad.engine.backward", "GraphTask.start"),
    ("minigrad.engine.backward", "GraphTask._pick_newest_ready"),
    ("minigrad.engine.backward", "GraphTask._check_returned"),
    ("minigrad.engine.backward", "GraphTask._send"),
    ("minigrad.engine.backward", "GraphTask._add"),
    ("minigrad.engine.backward", "GraphTask._make_ready"),
    ("minigrad.engine.backward", "count_dependencies"),
    ("minigrad.engine.backward", "fit"),
]
"""``apply``, the loop of backward, and what they call in their phases."""

OTHER_WORD = {
    "and": ["or"],
    "or": ["and"],
    "not": [""],
    "is": ["is not"],
    "in": ["not in"],
    "True": ["False"],
    "False": ["True"],
    "None": ["0"],
    "==": ["!="],
    "!=": ["=="],
    "<": ["<=", ">"],
    ">": [">=", "<"],
    "<=": ["<"],
    ">=": [">"],
    "+": ["-"],
    "-": ["+"],
    "*": ["+"],
    "continue": ["break"],
    "break": ["continue"],
}

SHORT, LONG = 15, 120
"""Seconds of CPU time that the programs, and all tests, may take."""


@dataclass(frozen=True)
class Mutant:
    """One change: ``line`` of a function, with ``old`` at ``column`` made ``new``."""

    module: str
    function: str
    number: int
    column: int
    line: str
    old: str
    new: str

    @property
    def name(self) -> str:
        """What the mutant is called; it stays the same when lines move."""
        return f"{self.function} | {self.line.strip()} | {self.mark}"

    @property
    def mark(self) -> str:
        """The change; for one of several equal tokens in the line, which of them."""
        before = self.line[: self.column].count(self.old)
        return f"{self.old or 'nothing'} -> {self.new or 'nothing'} #{before}"


@functools.cache
def lines_of(module: str) -> list[str]:
    """The source of a module, as it was when it was first asked for."""
    path = importlib.import_module(module).__file__
    assert path
    return Path(path).read_text(encoding="utf-8").splitlines()


def mutants_of(module: str, function: str) -> list[Mutant]:
    """Every mutant of one function."""
    lines = lines_of(module)
    tree = definition(ast.parse("\n".join(lines)), function)
    body = [node for node in tree.body if not is_docstring(node)]
    first, last = body[0].lineno, body[-1].end_lineno or 0
    found = []
    names = local_names(tree)
    attributes = attribute_names(tree)
    text = "\n".join(lines) + "\n"
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        if first <= row <= last and token.end[0] == row:
            for new in replacements(token, before, names, attributes):
                line = lines[row - 1]
                place = (row, column, line, token.string, new)
                found.append(Mutant(module, function, *place))
        if token.string.strip():
            before = token.string
    for node in ast.walk(tree):
        if not isinstance(node, SIMPLE) or is_docstring(node) or node.lineno < first:
            continue
        if node.lineno == node.end_lineno:
            line = lines[node.lineno - 1]
            old = line[node.col_offset : node.end_col_offset]
            place = (node.lineno, node.col_offset, line, old, "pass")
            found.append(Mutant(module, function, *place))
    return found


SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Delete)


def definition(tree: ast.Module, function: str) -> ast.FunctionDef:
    """The syntax tree of a function, by its qualified name."""
    scope: Any = tree
    for part in function.split("."):
        scope = next(n for n in scope.body if getattr(n, "name", None) == part)
    assert isinstance(scope, ast.FunctionDef)
    return scope


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def local_names(tree: ast.FunctionDef) -> list[str]:
    """Parameters and variables of a function, in the order of the text."""
    names = [argument.arg for argument in tree.args.args]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return list(dict.fromkeys(names))


def attribute_names(tree: ast.FunctionDef) -> list[str]:
    """The attributes that a function uses."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return list(dict.fromkeys(node.attr for node in nodes))


def replacements(
    token: tokenize.TokenInfo, before: str, names: list[str], attributes: list[str]
) -> list[str]:
    """What may stand in the place of a token."""
    word = token.string
    if word in OTHER_WORD and before != "[":
        return OTHER_WORD[word]
    if token.type == tokenize.NUMBER:
        return [str(int(word) + 1)]
    if token.type != tokenize.NAME or keyword.iskeyword(word):
        return []
    if before == ".":
        return neighbours(word, attributes)
    return neighbours(word, names) if word in names else []


def neighbours(word: str, words: list[str]) -> list[str]:
    """The words before and after one in a list: likely confusions, and not too many."""
    place = words.index(word)
    around = [words[place - 1], words[(place + 1) % len(words)]]
    return [other for other in dict.fromkeys(around) if other != word]


def mutated(mutant: Mutant) -> CodeType | None:
    """The code of the function with the change; None if it is no Python."""
    lines = list(lines_of(mutant.module))
    line = lines[mutant.number - 1]
    end = mutant.column + len(mutant.old)
    lines[mutant.number - 1] = line[: mutant.column] + mutant.new + line[end:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile("\n".join(lines) + "\n", mutant.module, "exec")
    except SyntaxError:
        return None
    for part in mutant.function.split("."):
        inner = [c for c in code.co_consts if isinstance(c, CodeType)]
        code = next(c for c in inner if c.co_name == part)
    return code


def function_of(mutant: Mutant) -> FunctionType:
    """The living function that the mutant changes."""
    found: Any = importlib.import_module(mutant.module)
    for part in mutant.function.split("."):
        found = inspect.getattr_static(found, part)
    return getattr(found, "__func__", found)


def short_programs() -> list[Callable[[], None]]:
    """The tests of tests/engine that need nothing but minigrad under torch's name."""
    import minigrad

    found: list[Callable[[], None]] = []
    for path in sorted(HERE.glob("test_*.py")):
        if path.stem == "test_token_mutants":
            continue
        module = importlib.import_module(f"tests.engine.{path.stem}")
        for name, test in vars(module).items():
            if name.startswith("test_") and callable(test):
                found += calls_of(test, minigrad)
    return found


def calls_of(test: Any, torch: Any) -> list[Callable[[], None]]:
    """One call for each case of a test; none if it needs other fixtures."""
    marks = [m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"]
    if len(marks) > 1:
        return []
    cases: list[dict[str, Any]] = [{}]
    if marks:
        names, values = marks[0].args[:2]
        names = names.split(",") if isinstance(names, str) else names
        names = [name.strip() for name in names]
        cases = []
        for value in values:
            value = getattr(value, "values", value) if len(names) > 1 else value
            row = value if len(names) > 1 else (getattr(value, "values", value),)
            if len(names) == 1 and hasattr(value, "marks"):
                row = value.values
            cases.append(dict(zip(names, row, strict=True)))
    wanted = set(inspect.signature(test).parameters)
    calls = []
    for case in cases:
        given = case | ({"torch": torch} if "torch" in wanted else {})
        if set(given) == wanted:
            calls.append(lambda given=given: test(**given))
    return calls


def fails(program: Callable[[], None]) -> bool:
    """Whether a program raises, started from the state that every test starts from."""
    import minigrad
    from minigrad.engine import observe

    np.random.seed(0)
    minigrad.manual_seed(0)
    minigrad.set_grad_enabled(True)
    minigrad.set_default_dtype(minigrad.float32)
    minigrad.teaching(False)
    minigrad.autograd.set_detect_anomaly(False)
    observe.observer = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            program()
        except BaseException:
            return True
    return False


def is_killed(programs: list[Callable[[], None]]) -> bool:
    """Whether one of the programs fails."""
    return any(fails(program) for program in programs)


def quick_and_green(programs: list[Callable[[], None]]) -> list[Callable[[], None]]:
    """Without the programs that need fixtures of their own, or long."""
    kept = []
    for program in programs:
        started = time.perf_counter()
        if not fails(program) and time.perf_counter() - started < 0.1:
            kept.append(program)
    return kept


def all_tests_fail() -> bool:
    """Whether pytest finds a failure in the tests of the engine and its face."""
    import pytest

    folders = [str(HERE), str(HERE.parent / "autograd"), str(HERE.parent / "tracing")]
    chosen = ["-x", "-q", "-p", "no:cacheprovider", "--no-header"]
    chosen += ["--ignore", str(HERE / "test_token_mutants.py")]
    chosen += ["--ignore", str(HERE / "test_mutants.py")]
    return pytest.main([*chosen, *folders]) != 0


def in_a_process(seconds: int, question: Callable[[], bool]) -> bool:
    """The answer of a child process; no answer in time counts as yes."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(5 * seconds)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os._exit(1 if question() else 0)
    _, status = os.waitpid(child, 0)
    return status != 0


def survives(
    mutant: Mutant, programs: list[Callable[[], None]], short: bool = False
) -> bool | None:
    """Whether no test notices the mutant; None if it is no Python at all."""
    code = mutated(mutant)
    function = function_of(mutant)
    if code is None or code.co_freevars != function.__code__.co_freevars:
        return None

    def killed_by(question: Callable[[], bool]) -> Callable[[], bool]:
        def ask() -> bool:
            function.__code__ = code
            return question()

        return ask

    if in_a_process(SHORT, killed_by(lambda: is_killed(programs))):
        return False
    return short or not in_a_process(LONG, killed_by(all_tests_fail))


def all_mutants(wanted: str = "") -> list[Mutant]:
    """Every mutant of every target whose name contains ``wanted``."""
    found = []
    for module, function in TARGETS:
        found += [m for m in mutants_of(module, function) if wanted in m.name]
    return found


def of_the_day(count: int) -> list[Mutant]:
    """A few mutants, other ones every day."""
    day = datetime.date.today().toordinal()
    return random.Random(day).sample(all_mutants(), count)


@contextlib.contextmanager
def bar(mutants: list[Mutant]) -> Iterator[Any]:
    """A progress bar, where tqdm is installed."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        yield mutants
    else:
        yield tqdm(mutants, mininterval=5)


def main() -> int:
    """Run mutants; fail if one survives that nobody explained."""
    from tests.engine.token_survivors import reason_for

    parser = argparse.ArgumentParser(prog="python -m tests.engine.token_mutants")
    parser.add_argument("--today", type=int, metavar="N", help="only N of this day")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--short", action="store_true", help="short programs only")
    options = parser.parse_args()
    mutants = all_mutants(options.only)
    if options.today:
        mutants = of_the_day(options.today)
    programs = quick_and_green(short_programs())

    started = time.monotonic()
    counts = {"killed": 0, "explained": 0, "no Python": 0}
    unexplained = []
    with bar(mutants) as shown:
        for number, mutant in enumerate(shown):
            if number % 100 == 0 and in_a_process(SHORT, lambda: is_killed(programs)):
                raise SystemExit("the engine fails its tests without any mutant")
            if options.today:
                print(mutant.name)
            reason = reason_for(mutant.name)
            lives = survives(mutant, programs, options.short)
            if lives is None:
                counts["no Python"] += 1
            elif not lives:
                counts["killed"] += 1
            elif reason:
                counts["explained"] += 1
            else:
                unexplained.append(mutant.name)
                print(f"SURVIVED {mutant.name}", flush=True)
    took = time.monotonic() - started
    print(f"{len(mutants)} mutants in {took:.0f} s:", end=" ")
    print(", ".join(f"{number} {word}" for word, number in counts.items()), end="")
    print(f", {len(unexplained)} survived without a reason")
    return bool(unexplained)


if __name__ == "__main__":
    sys.exit(main())
