"""The engine without the places where a recorder may listen, to time what they cost."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from minigrad.bench.programs import Program

TELLS = frozenset({"attended", "tell"})
"""The names that stand where the engine tells an observer something."""


class WithoutListening(ast.NodeTransformer):
    """Leaves out what runs only if somebody listens, and the question whether."""

    def visit_If(self, node: ast.If) -> Any:
        """Nothing, in place of ``if mode.attended: ...``."""
        is_question = isinstance(node.test, (ast.Attribute, ast.Name, ast.Compare))
        if is_question and names_in(node.test) & TELLS and not node.orelse:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Nothing, in place of ``tell(...)``."""
        call = node.value
        is_told = isinstance(call, ast.Call) and names_in(call.func) & TELLS
        return ast.copy_location(ast.Pass(), node) if is_told else node


def names_in(tree: ast.AST) -> set[str]:
    """The variables and attributes that an expression names."""
    found = [getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(tree)]
    return set(found)


class ListeningPoints:
    """The functions of the engine that ask for a listener, each in two forms."""

    def __init__(self) -> None:
        self.codes: list[tuple[FunctionType, CodeType, CodeType]] = []
        for name, module in list(sys.modules.items()):
            if name.startswith("minigrad.engine."):
                self.codes += two_forms(module)

    def ask(self) -> None:
        """The engine as it is."""
        for function, code, _ in self.codes:
            function.__code__ = code

    def do_not_ask(self) -> None:
        """The engine as if nobody could listen."""
        for function, _, code in self.codes:
            function.__code__ = code

    def unheard(self, program: Program) -> Program:
        """``program`` on an engine without the questions."""
        return self._with(self.do_not_ask, program)

    def heard(self, program: Program) -> Program:
        """``program`` on the engine as it is, after as much preparation."""
        return self._with(self.ask, program)

    def _with(self, choose: Callable[[], None], program: Program) -> Program:
        def run() -> Any:
            choose()
            try:
                return program()
            finally:
                self.ask()

        return run


def two_forms(module: ModuleType) -> Iterator[tuple[FunctionType, CodeType, CodeType]]:
    """The functions of a module that ask: their code, and the code without that."""
    if module.__name__ == "minigrad.engine.observe":
        return
    functions = list(functions_of(module))
    if not any([TELLS & {*function.__code__.co_names} for function in functions]):
        return
    file = str(module.__file__)
    tree = WithoutListening().visit(ast.parse(inspect.getsource(module)))
    whole = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    bare = {code.co_qualname: code for code in codes_in(whole)}
    for function in functions:
        code = function.__code__
        if TELLS & {*code.co_names} and code.co_qualname in bare:
            yield function, code, bare[code.co_qualname]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all those inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines."""
    for thing in vars(module).values():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        values = vars(thing).values() if isinstance(thing, type) else [thing]
        for value in values:
            function = getattr(value, "__func__", value)
            if isinstance(function, FunctionType):
                yield function
