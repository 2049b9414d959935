"""Load the engine so that each of its rules asks first who calls it, or is not there.

Where they are not there, what is computed has no derivative, and there is nothing that
an answer could borrow. An operation that an exercise asks for is missing altogether.
That is decided when the engine is imported: nothing is taken from it, or put into its
place, once it runs. So this is the first part of minigrad that such a process knows,
and needs none of the others.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import threading
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import NoReturn

REFUSED = (
    "the engine was asked for a derivative, and where an answer is graded it has none: "
    "write the formula"
)

asked: list[bool] = []
"""Is not empty once somebody has asked for one that is not there."""


class Guard:
    """Whether rules are guarded, and whom they run for.

    Only the judge's own calls of the engine come from the main thread, from no cell,
    and from those places that are ``asking``; they do not pass those that are
    ``entering`` code of an answer, and at most one ``traversal``. ``home`` is the
    process of the worker.
    """

    def __init__(self) -> None:
        self.on = False
        self.home = os.getpid()
        self.asking: set[CodeType] = set()
        self.entering: set[CodeType] = set()
        self.traversal: CodeType | None = None

    def watches(self) -> bool:
        """Whether it is on; in a process that an answer has made it always is.

        One that was made while the notebook ran could differentiate later.
        """
        return self.on or os.getpid() != self.home

    def is_judges(self) -> bool:
        """Whether it is one of the judge's questions that a rule runs for.

        What an answer borrows from the engine has no frame of its own. Then whoever has
        called it is somebody else: who iterates a list, or a traversal that has ended.
        """
        if threading.current_thread() is not threading.main_thread():
            return False
        asks: bool | None = None
        traversals = 0
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_back is not None:
            code = frame.f_code
            # Cells, and what they compile, have no file; nor has the first frame.
            if code.co_filename.startswith("<"):
                return False
            if asks is None:
                if code in self.entering:
                    return False
                traversals += code is self.traversal
                if code.co_filename.startswith(_COURSE):
                    asks = code in self.asking and traversals <= 1
            frame = frame.f_back
        return bool(asks)


guard = Guard()
are_there = True
"""Whether the rules are there, in this process."""


def check() -> None:
    """What each rule does first, where the engine was loaded for a judge."""
    if are_there and (not guard.watches() or guard.is_judges()):
        return
    refuse()


def refuse() -> NoReturn:
    """Say no, and note it."""
    asked.append(True)
    raise RuntimeError(REFUSED)


_COURSE = str(Path(__file__).parents[1]) + os.sep
_PACKAGE = Path(__file__).parents[2]
_WITH_RULES = ("ops/*.py", "kernels/*.py")
_OPERATIONS = ("examples", "strides", "structural")
"""The modules of the engine itself that have operations."""

_BEGINNINGS = {
    "engine/core/backward.py": "run",
    "transforms/forward_ad_interpreter.py": "enter_level",
}
"""What begins a derivative: where there are rules, it asks as they do."""

_ROOMS = (
    *("engine", "kernels", "ops", "transforms", "autograd", "func", "utils", "nn"),
    "optim",
)
"""Where somebody could need the same helpers as a rule."""

_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "cross_entropy": ("of_chances", "of_all_classes"),
    "dropout": ("drop",),
    "nll_loss": ("nll",),
}
"""What an operation is called in its kernel, and where it is one of several."""

_HERE = f"__import__('sys').modules[{__name__!r}]"
_SLOPE = re.compile("slope|backward|tangent|jvp", re.IGNORECASE)

Rule = ast.FunctionDef | ast.Lambda
Place = tuple[str, int, str]
"""A file, a line and a name."""


def load(*, with_rules: bool, without: Sequence[str] = ()) -> None:
    """From now on the modules that have rules are imported so, ``without`` these."""
    global are_there
    are_there = with_rules
    files = [path for each in _WITH_RULES for path in _PACKAGE.glob(each)]
    files += [_PACKAGE / "engine" / f"{name}.py" for name in _OPERATIONS]
    programs = {path: ast.parse(path.read_bytes(), str(path)) for path in files}
    found = found_among(programs)
    for place, name in _BEGINNINGS.items() if with_rules else ():
        path = _PACKAGE / place
        programs[path] = ast.parse(path.read_bytes(), str(path))
        every = ast.walk(programs[path])
        found += [n for n in every if isinstance(n, ast.FunctionDef) and n.name == name]
    for rule in found:
        _begin(rule, "check()", goes_on=with_rules)
    if without:
        files = [*(_PACKAGE / "nn").glob("*.py")]
        programs |= {path: ast.parse(path.read_bytes(), str(path)) for path in files}
    for name in without:
        for function in computing(name, programs):
            _begin(function, f"is_missing({name!r})")
    sys.meta_path.insert(0, _Finder({str(path): programs[path] for path in programs}))


def _begin(function: Rule, says: str, *, goes_on: bool = False) -> None:
    """Have it ask this module first, and end there unless it ``goes_on``."""
    (asks,) = ast.parse(f"{_HERE}.{says}").body
    assert isinstance(asks, ast.Expr)
    if isinstance(function, ast.Lambda):
        either = ast.BoolOp(ast.Or(), [asks.value, function.body])
        function.body = either if goes_on else asks.value
    else:
        function.body = [asks, *(function.body if goes_on else [])]


def is_missing(name: str) -> NoReturn:
    """What is left of an operation: it says why."""
    raise RuntimeError(
        f"{name} does the work that this exercise asks for, so the engine's own was"
        " taken away while it is graded: write it with the operations that it's made of"
    )


def computing(name: str, programs: Mapping[Path, ast.Module]) -> Iterator[Rule]:
    """What computes this operation in its kernel, its class, and what calls them.

    A class is called like it; a slope that is an operation itself, as NllSlope.
    """
    words = (name, f"reference_{name}", *_OTHER_NAMES.get(name, ()))
    begins = tuple([f"{word}_" for word in words])
    title = name.title().replace("_", "")
    for path, program in programs.items():
        is_rule = path.parent.name == "ops"
        classes = {title, title.removesuffix("Loss") + "Slope"} if is_rule else set()
        every = list(ast.walk(program))
        functions = [node for node in every if isinstance(node, ast.FunctionDef)]
        outer: list[ast.AST] = [
            f for f in functions if f.name in words or f.name.startswith(begins)
        ]
        outer += [c for c in every if isinstance(c, ast.ClassDef) and c.name in classes]
        keywords = [k for o in outer for k in ast.walk(o) if isinstance(k, ast.keyword)]
        asked = [k.value for k in keywords if k.arg == "reference"]
        references = {value.id for value in asked if isinstance(value, ast.Name)}
        outer += [f for f in functions if f.name in references]
        yield from [f for o in outer for f in ast.walk(o) if isinstance(f, Rule)]


class _Finder(importlib.abc.MetaPathFinder):
    """Imports the modules whose ``programs`` were changed, and no others."""

    def __init__(self, programs: dict[str, ast.Module]) -> None:
        self.programs = programs

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin not in self.programs:
            return None
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, loader=_Loader(fullname, spec.origin, self.programs)
        )


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, programs: dict[str, ast.Module]) -> None:
        super().__init__(name, path)
        self.programs = programs

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed program, which then is forgotten."""
        program = ast.fix_missing_locations(self.programs.pop(self.path))
        return compile(program, self.path, "exec", dont_inherit=True)


def found_among(programs: dict[Path, ast.Module]) -> list[Rule]:
    """The rules of all operations, and what works for rules alone."""
    found: dict[Place, Rule] = {}
    helpers: dict[str, dict[Place, Rule]] = {}
    for path, program in programs.items():
        of_engine = path.parent.name == "engine"
        for node in program.body:
            rules = _rules_in(node, of_engine)
            found |= {_place_of(path, rule): rule for rule in rules}
            if isinstance(node, ast.FunctionDef) and not of_engine:
                same = helpers.setdefault(node.name, {})
                same[_place_of(path, node)] = node
    files = [path for room in _ROOMS for path in (_PACKAGE / room).rglob("*.py")]
    codes = list(map(_code_of, files))
    public = set(re.findall(r"\w+", (_PACKAGE / "ops" / "_homes.py").read_text()))
    while True:
        in_rules, elsewhere = set[str](), set[str]()
        for code in codes:
            _sort_names(code, found, in_rules, elsewhere)
        alone = helpers.keys() & (in_rules - elsewhere - public)
        if not alone:
            return list(found.values())
        for name in alone:
            found |= helpers.pop(name)


def _rules_in(
    node: ast.AST, of_engine: bool, inner: bool = False, slope: bool = False
) -> Iterator[Rule]:
    """The outermost rules in ``node``; in a class of slopes each method is one."""
    if isinstance(node, ast.FunctionDef):
        is_rule = inner and node.name in ("backward", "jvp")
        if is_rule or (not of_engine and (slope or _SLOPE.search(node.name))):
            yield node
            return
    elif isinstance(node, ast.ClassDef):
        slope = bool(_SLOPE.search(node.name)) and not of_engine
    elif isinstance(node, ast.Lambda) and _first_of(node) == "g":
        yield node  # of the gradient that comes in
        return
    inner = inner or isinstance(node, ast.FunctionDef | ast.ClassDef)
    for each in ast.iter_child_nodes(node):
        yield from _rules_in(each, of_engine, inner, slope)


def _first_of(function: ast.Lambda) -> str:
    names = [each.arg for each in function.args.args]
    return names[0] if names else ""


def _code_of(path: Path) -> CodeType:
    """A module's code, as Python keeps it in a file."""
    code = importlib.machinery.SourceFileLoader("", str(path)).get_code("")
    assert code is not None
    return code


def _sort_names(
    code: CodeType, rules: Container[Place], in_rules: set[str], elsewhere: set[str]
) -> None:
    """Add what the functions in there ask for by name to one of the two sets."""
    if (code.co_filename, code.co_firstlineno, code.co_name) in rules:
        elsewhere = in_rules
    if code.co_flags & inspect.CO_OPTIMIZED:  # a function: neither module nor class
        elsewhere |= {*code.co_names}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            _sort_names(each, rules, in_rules, elsewhere)


def _place_of(path: Path, rule: Rule) -> Place:
    """How its code is known again."""
    if isinstance(rule, ast.Lambda):
        return str(path), rule.lineno, "<lambda>"
    line = min([rule.lineno, *[each.lineno for each in rule.decorator_list]])
    return str(path), line, rule.name
