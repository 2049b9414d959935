"""Change one token of the engine and see a test fail.

``python -m tests.engine.token_mutants`` does it for each token of ``apply``, of the
loop of backward, and of what these call in their phases.
Each mutant runs in a process of its own: first the short programs of tests/engine and
tests/tracing, and if none of them fails, all tests of these. A mutant that survives
both has to be explained in token_survivors.py. With ``--results FILE`` a run that was
broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
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
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tests.engine.short_programs import (
    FOLDERS,
    LEFT_OUT,
    Program,
    is_killed,
    let_the_killer_go_first,
    quick_and_green,
    short_programs,
)
from tests.engine.token_survivors import REASONS

HERE = Path(__file__).resolve().parent

TARGETS = [
    ("minigrad.engine.function", "Function.apply"),
    ("minigrad.engine.function", "Function._create_ctx"),
    ("minigrad.engine.function", "BackwardCFunction._take_what_was_saved"),
    ("minigrad.engine.function", "BackwardCFunction._wire_edges"),
    ("minigrad.engine.node", "collect_edges"),
    ("minigrad.engine.outputs", "wrap_outputs"),
    ("minigrad.engine.outputs", "wrap_each"),
    ("minigrad.engine.outputs", "wrap_output"),
    ("minigrad.engine.returned", "wrap_gradients"),
    ("minigrad.engine.returned", "check_gradients"),
    ("minigrad.engine.returned", "cut_surplus"),
    ("minigrad.engine.backward", "GraphTask.run"),
    ("minigrad.engine.backward", "GraphTask.start"),
    ("minigrad.engine.backward", "GraphTask._check_returned"),
    ("minigrad.engine.backward", "GraphTask._make_ready"),
    ("minigrad.engine.backward", "count_dependencies"),
    ("minigrad.engine.backward", "GraphTask._on_a_path"),
    ("minigrad.engine.backward", "senders_of"),
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
        text = self.line.strip() + " (again)" * self.repeats
        return f"{self.function} | {text} | {self.mark}"

    @property
    def repeats(self) -> int:
        """How many lines of the function before this one read the same."""
        first = function_of(self).__code__.co_firstlineno
        before = lines_of(self.module)[first - 1 : self.number - 1]
        return [line.strip() for line in before].count(self.line.strip())

    @property
    def mark(self) -> str:
        """The change; for one of several equal tokens in the line, which of them."""
        before = self.line[: self.column].count(self.old)
        return f"{self.old or 'nothing'} -> {self.new or 'nothing'} #{before}"


@functools.cache
def lines_of(module: str) -> list[str]:
    """The source of a module, as it was when it was first asked for."""
    return Path(path_of(module)).read_text(encoding="utf-8").splitlines()


def path_of(module: str) -> str:
    """Where a module's source lies."""
    path = importlib.import_module(module).__file__
    assert path
    return path


@functools.cache
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
            code = compile("\n".join(lines) + "\n", path_of(mutant.module), "exec")
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


def put_in_place(function: FunctionType, code: CodeType) -> None:
    """Give a function other code, by which the recorder shall know it as before."""
    from minigrad.tracing import codes, recorder

    old = function.__code__
    if old in codes.ENGINE_CODES:
        codes.ENGINE_CODES[code] = codes.ENGINE_CODES.pop(old)
    for module in (codes, recorder):
        if vars(module)["APPLY_CODE"] is old:
            vars(module)["APPLY_CODE"] = code
    function.__code__ = code


def all_tests_fail() -> bool:
    """Whether pytest finds a failure in the tests of the engine and of the recorder."""
    import pytest

    chosen = ["-x", "-q", "-p", "no:cacheprovider", "--no-header"]
    chosen += [f"--ignore={HERE / name}.py" for name in LEFT_OUT]
    return pytest.main([*chosen, *map(str, FOLDERS)]) != 0


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


def after(mutant: Mutant, question: Callable[[], bool]) -> Callable[[], bool]:
    """The question, asked once the function has the mutant's code."""

    def ask() -> bool:
        code = mutated(mutant)
        assert code
        put_in_place(function_of(mutant), code)
        return question()

    return ask


def check_control(mutant: Mutant, seconds: int, question: Callable[[], bool]) -> None:
    """Stop if the tests fail with code that is new, and says the same as before."""
    unchanged = dataclasses.replace(mutant, new=mutant.old)
    if in_a_process(seconds, after(unchanged, question)):
        raise SystemExit("the engine fails its tests without any mutant")


def verdict(mutant: Mutant, programs: list[Program], short: bool = False) -> str:
    """What becomes of a mutant: who killed it, or that it survived."""
    code = mutated(mutant)
    if code is None or code.co_freevars != function_of(mutant).__code__.co_freevars:
        return "no Python"
    if in_a_process(SHORT, after(mutant, lambda: is_killed(programs))):
        let_the_killer_go_first(programs)
        return "killed by the short programs"
    if mutant.name in REASONS:
        return "explained"
    if not short and in_a_process(LONG, after(mutant, all_tests_fail)):
        # A change of the sources while this runs would fail some tests, too.
        check_control(mutant, LONG, all_tests_fail)
        return "killed by all tests"
    return "SURVIVED"


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
    parser = argparse.ArgumentParser(prog="python -m tests.engine.token_mutants")
    parser.add_argument("--today", type=int, metavar="N", help="only N of this day")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--short", action="store_true", help="short programs only")
    parser.add_argument("--results", type=Path, help="note each; skip killed ones")
    options = parser.parse_args()
    mutants = all_mutants(options.only)
    if options.today:
        mutants = of_the_day(options.today)
    known = known_results(options.results)
    left = [mutant for mutant in mutants if mutant.name not in known]
    programs = quick_and_green(short_programs())

    started = time.monotonic()
    with bar(left) as shown:
        for number, mutant in enumerate(shown):
            if number % 100 == 0:
                check_control(mutant, SHORT, lambda: is_killed(programs))
            known[mutant.name] = verdict(mutant, programs, options.short)
            line = f"{known[mutant.name]}: {mutant.name}\n"
            if options.today or known[mutant.name] == "SURVIVED":
                print(line, end="", flush=True)
            if options.results:
                with options.results.open("a", encoding="utf-8") as file:
                    file.write(line)
    took = time.monotonic() - started
    counts = Counter(known[mutant.name] for mutant in mutants)
    print(f"{len(mutants)} mutants, {len(left)} of them run now in {took:.0f} s:")
    for word, number in counts.most_common():
        print(f"{number:6} {word}")
    return bool(counts["SURVIVED"])


def known_results(path: Path | None) -> dict[str, str]:
    """What earlier runs noted in ``path``, but for survivors: these run again."""
    if path is None or not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [line.split(": ", 1) for line in lines]
    return {name: word for word, name in pairs if word != "SURVIVED"}


if __name__ == "__main__":
    sys.exit(main())
